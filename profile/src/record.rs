//! What the records of all sections have in common: the beginning of their headers, the hash of
//! their contents, and the padding behind them (`docs/format.md`).

use crate::checksum::hash64;
use crate::cursor::{Cursor, Malformed, u16_at, u32_at, u64_at};
use crate::put::overwrite;
use alloc::vec::Vec;
use core::mem::offset_of;
use midflight_abi::RecordHeader;
use midflight_abi::osr::OsrMapsHeader;

/// Records are padded to multiples of this, which is also their alignment.
const ALIGNMENT: usize = 8;

const SIZE: usize = offset_of!(RecordHeader, size);
const VERSION: usize = offset_of!(RecordHeader, version);
const KEY: usize = offset_of!(RecordHeader, key);
const AFTER_KEY: usize = KEY + size_of::<u64>();

const _: () = assert!(
    SIZE == offset_of!(OsrMapsHeader, size)
        && VERSION == offset_of!(OsrMapsHeader, version)
        && KEY == offset_of!(OsrMapsHeader, key)
);

/// The key of an encoded record: the hash of all of it but its size and its key.
///
/// `record` is one whole record and nothing else; a shorter slice than a header has no meaning.
pub fn key_of(record: &[u8]) -> u64 {
    let part = |from: usize, to: usize| record.get(from..to.min(record.len())).unwrap_or_default();
    hash64(&[part(VERSION, KEY), part(AFTER_KEY, record.len())])
}

/// Pads a record, and fills in its size and its key. None if it has 4 GiB or more.
pub(crate) fn seal(record: &mut Vec<u8>) -> Option<()> {
    record.resize(record.len().next_multiple_of(ALIGNMENT), 0);
    let size = u32::try_from(record.len()).ok()?;
    overwrite(record, SIZE, &size.to_le_bytes());
    let key = key_of(record);
    overwrite(record, KEY, &key.to_le_bytes());
    Some(())
}

/// Why the bytes of a record are not one.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Damage {
    /// The section ends within it.
    #[error("is cut off: it has {expected} bytes, and {actual} are left")]
    Truncated {
        /// Its size
        expected: usize,
        /// What is there of it
        actual: usize,
    },
    /// No record has such a size.
    #[error("says that it has {0} bytes, which no record has: the section is damaged")]
    Size(u32),
    /// Another version of the compiler made it.
    #[error(
        "has version {found}, and this Midflight reads version {known}: use the Midflight that \
         compiled the program, or compile it anew"
    )]
    Version {
        /// That of the record
        found: u16,
        /// That of this Midflight
        known: u16,
    },
    /// Its contents are not what they were when it was made.
    #[error("does not match its own hash: the section is damaged")]
    Key,
}

/// The bytes of the record at the start of `bytes`, which has a header of that size: of a known
/// version, and undamaged.
pub(crate) fn whole(bytes: &[u8], header_size: usize, known: u16) -> Result<&[u8], Damage> {
    if bytes.len() < header_size {
        return Err(Damage::Truncated { expected: header_size, actual: bytes.len() });
    }
    let size = u32_at(bytes, SIZE);
    let len = size as usize;
    if len < header_size || !len.is_multiple_of(ALIGNMENT) {
        return Err(Damage::Size(size));
    }
    let found = u16_at(bytes, VERSION);
    if found != known {
        return Err(Damage::Version { found, known });
    }
    let truncated = Damage::Truncated { expected: len, actual: bytes.len() };
    let record = bytes.get(..len).ok_or(truncated)?;
    if key_of(record) != u64_at(record, KEY) {
        return Err(Damage::Key);
    }
    Ok(record)
}

/// Reads all records of a section. `decode` gets the place where one begins and what follows from
/// there, and tells it and its size.
pub(crate) fn read_all<T, E>(
    section: &[u8],
    decode: impl Fn(usize, &[u8]) -> Result<(T, usize), E>,
) -> Result<Vec<T>, E> {
    let mut records = Vec::new();
    let mut at = 0;
    while let Some(rest) = section.get(at..).filter(|rest| !rest.is_empty()) {
        // The linker's padding
        if rest.get(..ALIGNMENT).is_some_and(|step| step.iter().all(|&byte| byte == 0)) {
            at += ALIGNMENT;
            continue;
        }
        let (record, size) = decode(at, rest)?;
        records.push(record);
        at += size;
    }
    Ok(records)
}

/// What is left of a record behind its last field.
pub(crate) fn check_padding(body: &Cursor<'_>) -> Result<(), Malformed> {
    let padding = body.rest();
    if padding.len() >= ALIGNMENT || padding.iter().any(|&byte| byte != 0) {
        return Err(body.malformed("the padding", "is longer than it needs to be, or not zero"));
    }
    Ok(())
}
