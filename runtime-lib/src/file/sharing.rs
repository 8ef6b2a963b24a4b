//! A profile that many processes write together: each adds what it has counted to what is there.
//!
//! A file is never changed, only replaced as a whole, so that a reader finds all of some processes'
//! counts. Who replaces it holds a lock on the file that is there, and looks whether that still has
//! the name once it has the lock; who finds none gives its own the name, if no other was faster. So
//! nothing is lost, and no file but the profile is left behind.
//!
//! Whoever may read the file may lock it as well, and keep it so. A process that does not get the
//! lock writes a file of its own beside it.

use crate::file::destination;
use crate::file::place::{Leaf, Place, Publish};
use crate::file::text::Text;
use crate::file::{BUFFER, Buffered, Failure, File};
use crate::mapping::{Bytes, Zeroed};
use crate::message;
use crate::sys;
use midflight_profile::format::{AddError, HEADER_SIZE, Pair, Room};

/// How often another process may be faster.
const MAX_ATTEMPTS: u32 = 100_000;

/// Milliseconds that another process may keep the lock.
const PATIENCE: u32 = 5_000;

/// Milliseconds that are waited for all that have the lock one after the other.
const WHOLE_PATIENCE: u32 = 60_000;

/// Names of files beside the one that stays locked that are tried.
const MAX_BESIDE: u64 = 100;

/// Adds the profile that `fill` writes to that of the place, if there is one. `name` is the
/// place's, and finally that of the file that has the counts.
pub fn add<T>(
    place: &Place,
    name: &mut Text,
    buffer: &mut [u8; BUFFER],
    fill: impl FnOnce(&mut Bytes) -> Result<([u8; HEADER_SIZE], T), Failure>,
) -> Result<T, Failure> {
    let mut own = Bytes::new(HEADER_SIZE)?;
    let (header, value) = fill(&mut own)?;
    own.bytes().iter_mut().zip(header).for_each(|(to, from)| *to = from);
    let mut patience = WHOLE_PATIENCE;
    for _ in 0..MAX_ATTEMPTS {
        let Some(there) = place.open()? else {
            match write_new(place, own.bytes()) {
                Err(Failure::System(libc::EEXIST)) => continue,
                result => return result.map(|()| value),
            }
        };
        if there.lock(PATIENCE, &mut patience).is_err() {
            break;
        }
        if is_at(&there, place) {
            let mut before = there.read()?;
            place.write_whole(Publish::InPlace, |file| {
                write_sum(before.bytes(), own.bytes(), file, buffer)
            })?;
            return Ok(value);
        }
    }
    write_beside(place, name, own.bytes()).map(|()| value)
}

/// Whether the file still has the name.
fn is_at(file: &File, place: &Place) -> bool {
    file.identity().is_ok_and(|own| place.identity() == Some(own))
}

fn write_new(place: &Place, profile: &[u8]) -> Result<(), Failure> {
    place.write_whole(Publish::IfNew, |file| file.write_at(profile, 0))
}

/// Writes a file with the process's ID in its name, and reports that.
fn write_beside(place: &Place, name: &mut Text, profile: &[u8]) -> Result<(), Failure> {
    let (mut with_process, mut leaf) = (Leaf::new(), Leaf::new());
    let process = sys::process_id().unsigned_abs().into();
    destination::add_number(place.leaf(), process, &mut with_process)?;
    for number in 0..MAX_BESIDE {
        destination::add_number(&with_process, number, &mut leaf)?;
        match write_new(&place.beside(&leaf)?, profile) {
            Err(Failure::System(libc::EEXIST)) => {}
            result => {
                result?;
                tell_beside(name.bytes(), leaf.bytes());
                name.cut(name.bytes().len().saturating_sub(place.leaf().bytes().len()));
                name.push(leaf.bytes())?;
                return Ok(());
            }
        }
    }
    Err(Failure::System(libc::ETIMEDOUT))
}

fn tell_beside(name: &[u8], leaf: &[u8]) {
    message::print(&[
        b"the profile '",
        name,
        b"' is not added to, since another process keeps it locked: what this process has counted is beside it, in '",
        leaf,
        b"'; `midflight merge` adds them up",
    ]);
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
    let pair = Pair::new(before, own).map_err(|_| Failure::System(libc::EBADMSG))?;
    let needs = pair.needs();
    // SAFETY: zeroes are a valid value of each.
    let (mut modules, mut pieces, mut nodes, mut contexts, mut functions, mut slots) = unsafe {
        (
            Zeroed::new(needs.modules)?,
            Zeroed::new(needs.pieces)?,
            Zeroed::new(needs.nodes)?,
            Zeroed::new(needs.contexts)?,
            Zeroed::new(needs.functions)?,
            Zeroed::new(needs.slots)?,
        )
    };
    let room = Room {
        modules: modules.values(),
        pieces: pieces.values(),
        nodes: nodes.values(),
        contexts: contexts.values(),
        functions: functions.values(),
        slots: slots.values(),
    };
    let mut sink = Buffered::new(file, buffer, HEADER_SIZE as u64);
    let header = pair.write(room, &mut sink).map_err(|error| match error {
        AddError::Read(_) => Failure::System(libc::EBADMSG),
        AddError::Room => Failure::System(libc::ENOMEM),
        AddError::Sink(failure) => failure,
    })?;
    sink.flush()?;
    file.write_at(&header, 0)
}
