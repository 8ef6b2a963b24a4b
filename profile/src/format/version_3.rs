//! Files of version 3, which have no sections: all modules, and then all forests.

use super::error::ReadError;
use super::modules;
use super::sections::{
    Entry, Section, Sections, check_size, field, read_flags, split_header, take,
};
use core::ops::Range;

pub(super) const VERSION: u32 = 3;

const HEADER_SIZE: usize = 64;
const FLAGS: Range<usize> = 20..24;
const MODULES: Range<usize> = 24..28;
const FORESTS: Range<usize> = 28..32;
const PAYLOAD_SIZE: Range<usize> = 32..40;
const PAYLOAD_CRC: Range<usize> = 40..44;

/// The file as if it had sections.
pub(super) fn read(file: &[u8]) -> Result<Sections<'_>, ReadError> {
    let (header, payload) = split_header(file, HEADER_SIZE)?;
    let flags = read_flags(header, FLAGS)?;
    let size = field(header, PAYLOAD_SIZE);
    check_size(file, size.saturating_add(HEADER_SIZE as u64))?;
    let entry = Entry { items: 0, size, crc: field(header, PAYLOAD_CRC) as u32 };
    let (payload, _) = take(payload, HEADER_SIZE, entry)?;
    let (modules, forests) = (field(header, MODULES) as u32, field(header, FORESTS) as u32);
    let mut cursor = payload.part(0..payload.bytes.len());
    for _ in 0..modules {
        modules::read(&mut cursor)?;
    }
    let (at, bytes) = (cursor.at(), payload.bytes.get(..cursor.at() - HEADER_SIZE));
    let modules = Section { items: modules, bytes: bytes.unwrap_or_default(), ..payload };
    let forests = Section { items: forests, bytes: cursor.rest(), at };
    Ok(Sections { flags, known: [Some(modules), Some(forests)] })
}
