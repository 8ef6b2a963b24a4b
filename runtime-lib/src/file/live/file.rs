//! The file that memory is mapped from.

use crate::file::text::Text;
use crate::file::{Failure, File, Identity};
use crate::process::signal::Blocked;
use crate::sys;
use core::ptr::NonNull;

/// Zeroes to write where a file system cannot set room aside.
const ZEROES: [u8; 4096] = [0; 4096];

/// Opens a file by its name; `None` if that cannot be done, or it is another file.
pub fn open(name: &Text, identity: Identity) -> Option<File> {
    // Something else may have the name by now, which is not waited for.
    let flags = libc::O_RDWR | libc::O_NOFOLLOW | libc::O_NONBLOCK | libc::O_NOCTTY;
    let file = File::open_at(None, name.c_str(), flags).ok()?;
    (file.identity() == Ok(identity)).then_some(file)
}

impl File {
    /// Makes the file longer, with room on the disk for what is added.
    pub fn extend(&self, from: usize, size: usize) -> Result<(), Failure> {
        let signals = Blocked::new();
        let result = match self.allocate(from, size) {
            Err(Failure::System(libc::EOPNOTSUPP)) => self.write_zeroes(from, size),
            other => other,
        };
        if let Err(failure) = &result {
            signals.discard_write_signal(failure.number());
        }
        result
    }

    fn allocate(&self, from: usize, size: usize) -> Result<(), Failure> {
        loop {
            // SAFETY: the descriptor is open.
            let result =
                unsafe { libc::syscall(libc::SYS_fallocate, self.descriptor(), 0, from, size) };
            if result == 0 {
                return Ok(());
            }
            if sys::errno() != libc::EINTR {
                return Err(Failure::last());
            }
        }
    }

    fn write_zeroes(&self, from: usize, size: usize) -> Result<(), Failure> {
        (from..from + size).step_by(ZEROES.len()).try_for_each(|at| {
            let most = ZEROES.len().min(from + size - at);
            self.write_at(ZEROES.get(..most).unwrap_or_default(), at as u64)
        })
    }

    /// Maps the file from its beginning, shared: at an address in the place of what is there, or
    /// anywhere.
    pub fn map_shared(&self, at: Option<NonNull<u8>>, size: usize) -> Result<NonNull<u8>, Failure> {
        self.map(at, size, libc::MAP_SHARED)
    }

    /// Maps the file from its beginning at an address, in the place of what is there: with what it
    /// has now, and what is changed from now on is the process's own.
    pub fn map_private(&self, at: NonNull<u8>, size: usize) -> Result<(), Failure> {
        self.map(Some(at), size, libc::MAP_PRIVATE).map(|_| ())
    }

    fn map(&self, at: Option<NonNull<u8>>, size: usize, kind: i32) -> Result<NonNull<u8>, Failure> {
        let fixed = if at.is_some() { libc::MAP_FIXED } else { 0 };
        // SAFETY: what is mapped at a given address is memory of this library, whose contents the
        // caller has taken care of.
        unsafe { sys::map_at(at, size, kind | fixed, self.descriptor()) }.ok_or_else(Failure::last)
    }
}
