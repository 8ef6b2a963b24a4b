//! A profile that many processes write together: each adds what it has counted to what is there.
//!
//! A file is never changed, only replaced as a whole, so that a reader finds all of some processes'
//! counts. Who replaces it holds a lock on the file that is there, and looks whether that still has
//! the name once it has the lock; who finds none gives its own the name, if no other was faster. So
//! nothing is lost, and no file but the profile is left behind.

use crate::destination::{self, Publish};
use crate::file::{BUFFER, Buffered, Failure, File};
use crate::mapping::{Bytes, Zeroed};
use crate::text::Text;
use midflight_profile::format::{AddError, HEADER_SIZE, Pair, Room};

/// How often another process may be faster.
const MAX_ATTEMPTS: u32 = 100_000;

/// Adds the profile that `fill` writes to that of the name, if there is one.
pub fn add<T>(
    name: &Text,
    temporary: &mut Text,
    buffer: &mut [u8; BUFFER],
    fill: impl FnOnce(&mut Bytes) -> Result<([u8; HEADER_SIZE], T), Failure>,
) -> Result<T, Failure> {
    let mut own = Bytes::new(HEADER_SIZE)?;
    let (header, value) = fill(&mut own)?;
    own.bytes().iter_mut().zip(header).for_each(|(to, from)| *to = from);
    for _ in 0..MAX_ATTEMPTS {
        let there = match File::open(name.c_str()) {
            Ok(there) => there,
            Err(Failure(libc::ENOENT)) => {
                let write = |file: &File| file.write_at(own.bytes(), 0);
                match destination::write_whole(name, temporary, Publish::IfNew, write) {
                    Err(Failure(libc::EEXIST)) => continue,
                    result => return result.map(|()| value),
                }
            }
            Err(failure) => return Err(failure),
        };
        there.lock()?;
        if there.has_name(name.c_str()) {
            let mut before = there.read()?;
            destination::write_whole(name, temporary, Publish::InPlace, |file| {
                write_sum(before.bytes(), own.bytes(), file, buffer)
            })?;
            return Ok(value);
        }
    }
    Err(Failure(libc::ETIMEDOUT))
}

/// Writes the sum of two profiles; one that is empty is as none.
fn write_sum(
    before: &[u8],
    own: &[u8],
    file: &File,
    buffer: &mut [u8; BUFFER],
) -> Result<(), Failure> {
    if before.is_empty() {
        return file.write_at(own, 0);
    }
    let pair = Pair::new(before, own).map_err(|_| Failure(libc::EBADMSG))?;
    let needs = pair.needs();
    // SAFETY: zeroes are a valid value of each.
    let (mut modules, mut pieces, mut nodes, mut slots) = unsafe {
        (
            Zeroed::new(needs.modules)?,
            Zeroed::new(needs.pieces)?,
            Zeroed::new(needs.nodes)?,
            Zeroed::new(needs.slots)?,
        )
    };
    let room = Room {
        modules: modules.values(),
        pieces: pieces.values(),
        nodes: nodes.values(),
        slots: slots.values(),
    };
    let mut sink = Buffered::new(file, buffer, HEADER_SIZE as u64);
    let header = pair.write(room, &mut sink).map_err(|error| match error {
        AddError::Read(_) => Failure(libc::EBADMSG),
        AddError::Room => Failure(libc::ENOMEM),
        AddError::Sink(failure) => failure,
    })?;
    sink.flush()?;
    file.write_at(&header, 0)
}
