//! Memory that writing a file needs.

use crate::file::pattern::{self, Values};
use crate::file::text::Text;
use crate::file::{BUFFER, Failure};
use crate::lock::ProcessLock;

/// Used by the holder of the process lock, or of that of the OSR points; both hold theirs across
/// `fork`.
pub static SCRATCH: ProcessLock<Scratch> = ProcessLock::new(Scratch::new());

/// There is one in a process, since stacks may be small.
pub struct Scratch {
    /// Name of the file.
    pub name: Text,
    host: Text,
    /// What is not yet written.
    pub buffer: [u8; BUFFER],
}

impl Scratch {
    const fn new() -> Self {
        Self { name: Text::new(), host: Text::new(), buffer: [0; BUFFER] }
    }

    /// Puts in `name` what a checked pattern stands for in a process.
    pub fn expand(
        &mut self,
        directory: &[u8],
        pattern: &[u8],
        process: i32,
        signature: u64,
    ) -> Result<(), Failure> {
        self.name.clear();
        self.name.push(directory)?;
        // SAFETY: the buffer has the size that is passed.
        self.host.fill_with(|room, size| unsafe { libc::gethostname(room, size) == 0 });
        let process = process.unsigned_abs().into();
        let values = Values { process, host: self.host.bytes(), signature };
        Ok(pattern::expand(pattern, &values, &mut self.name)?)
    }
}
