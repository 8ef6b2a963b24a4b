//! The first 64 bytes of a profile file.

use super::error::ReadError;
use crate::cursor::Malformed;
use core::ops::Range;
use midflight_abi::{MAX_K, PROFILE_HEADER_SIZE, PROFILE_MAGIC, PROFILE_VERSION};

/// Flag of a profile: some counts are lower bounds, because memory ran out.
pub const FLAG_LOWER_BOUNDS: u32 = 1 << 0;

/// Flag of a profile: counting began while activations were under way, in a forked child, after a
/// reset, or where it was paused. What they count has no entry.
pub const FLAG_BEGAN_WITHIN: u32 = 1 << 1;

/// Flag of a profile: other threads may have counted while it was written, so not all of its counts
/// are of one moment.
pub const FLAG_WENT_ON: u32 = 1 << 2;

const FLAGS: u32 = FLAG_LOWER_BOUNDS | FLAG_BEGAN_WITHIN | FLAG_WENT_ON;

/// Size in bytes of the header.
pub const HEADER_SIZE: usize = PROFILE_HEADER_SIZE as usize;

/// Bytes that a node takes at least: its label, its count and its number of children.
pub(super) const LEAST_NODE: usize = 3;

/// Where the fields of the header are.
pub(super) mod at {
    use core::ops::Range;

    pub const MAGIC: Range<usize> = 0..8;
    pub const VERSION: Range<usize> = 8..12;
    pub const HEADER_SIZE: Range<usize> = 12..16;
    pub const K: Range<usize> = 16..20;
    pub const FLAGS: Range<usize> = 20..24;
    pub const MODULES: Range<usize> = 24..28;
    pub const FORESTS: Range<usize> = 28..32;
    pub const PAYLOAD_SIZE: Range<usize> = 32..40;
    pub const PAYLOAD_CRC: Range<usize> = 40..44;
    pub const RESERVED: Range<usize> = 44..60;
    pub const HEADER_CRC: Range<usize> = 60..64;
}

/// What the header says, but for what is the same in every file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Header {
    /// The largest k of any forest; 0 if there is none
    pub k: u32,
    /// `FLAG_…` bits
    pub flags: u32,
    /// Number of modules
    pub modules: u32,
    /// Number of forests
    pub forests: u32,
    /// Bytes after the header
    pub payload_size: u64,
    /// CRC-32 of them
    pub payload_crc: u32,
}

impl Header {
    /// The header as bytes.
    pub fn to_bytes(self) -> [u8; HEADER_SIZE] {
        let mut bytes = [0; HEADER_SIZE];
        bytes[at::MAGIC].copy_from_slice(&PROFILE_MAGIC);
        bytes[at::VERSION].copy_from_slice(&PROFILE_VERSION.to_le_bytes());
        bytes[at::HEADER_SIZE].copy_from_slice(&PROFILE_HEADER_SIZE.to_le_bytes());
        bytes[at::K].copy_from_slice(&self.k.to_le_bytes());
        bytes[at::FLAGS].copy_from_slice(&self.flags.to_le_bytes());
        bytes[at::MODULES].copy_from_slice(&self.modules.to_le_bytes());
        bytes[at::FORESTS].copy_from_slice(&self.forests.to_le_bytes());
        bytes[at::PAYLOAD_SIZE].copy_from_slice(&self.payload_size.to_le_bytes());
        bytes[at::PAYLOAD_CRC].copy_from_slice(&self.payload_crc.to_le_bytes());
        let crc = crc32fast::hash(&bytes[..at::HEADER_CRC.start]);
        bytes[at::HEADER_CRC].copy_from_slice(&crc.to_le_bytes());
        bytes
    }

    /// The header of a file, and the payload that it vouches for.
    ///
    /// # Errors
    /// [`ReadError`] for anything but a whole and undamaged file of a known version.
    pub fn read(file: &[u8]) -> Result<(Header, &[u8]), ReadError> {
        check_kind(file)?;
        let (bytes, payload) = file.split_at_checked(HEADER_SIZE).unwrap_or((file, &[]));
        // The format of a header is only known once the version is.
        let found = field(bytes, at::VERSION) as u32;
        if found > PROFILE_VERSION {
            return Err(ReadError::Newer { found, known: PROFILE_VERSION });
        }
        let checked = bytes.get(..at::HEADER_CRC.start).unwrap_or_default();
        if field(bytes, at::HEADER_CRC) as u32 != crc32fast::hash(checked) {
            return Err(ReadError::HeaderChecksum);
        }
        check_constants(bytes)?;
        let header = Header {
            k: field(bytes, at::K) as u32,
            flags: field(bytes, at::FLAGS) as u32,
            modules: field(bytes, at::MODULES) as u32,
            forests: field(bytes, at::FORESTS) as u32,
            payload_size: field(bytes, at::PAYLOAD_SIZE),
            payload_crc: field(bytes, at::PAYLOAD_CRC) as u32,
        };
        check_payload(&header, payload)?;
        Ok((header, payload))
    }
}

fn check_kind(file: &[u8]) -> Result<(), ReadError> {
    if file.is_empty() {
        return Err(ReadError::Empty);
    }
    if !file.iter().zip(&PROFILE_MAGIC).all(|(byte, magic)| byte == magic) {
        return Err(ReadError::Foreign);
    }
    if file.len() < HEADER_SIZE {
        return Err(ReadError::TooShort { actual: file.len() });
    }
    Ok(())
}

/// Fields that have one value in this version.
fn check_constants(header: &[u8]) -> Result<(), ReadError> {
    let malformed = |what, range: Range<usize>, problem| {
        Err(ReadError::Malformed(Malformed { what, at: range.start, problem }))
    };
    let found = field(header, at::VERSION) as u32;
    if found != PROFILE_VERSION {
        return Err(ReadError::Older { found, known: PROFILE_VERSION });
    }
    if field(header, at::HEADER_SIZE) as u32 != PROFILE_HEADER_SIZE {
        return malformed("the header's size", at::HEADER_SIZE, "is not 64");
    }
    if field(header, at::FLAGS) as u32 & !FLAGS != 0 {
        return malformed("the flags", at::FLAGS, "are unknown");
    }
    if header.get(at::RESERVED).unwrap_or_default().iter().any(|&byte| byte != 0) {
        return malformed("the reserved space", at::RESERVED, "is not zero");
    }
    match field(header, at::K) as u32 {
        k if k > MAX_K => Err(ReadError::K(k)),
        _ => Ok(()),
    }
}

fn check_payload(header: &Header, payload: &[u8]) -> Result<(), ReadError> {
    let expected = header.payload_size.saturating_add(HEADER_SIZE as u64);
    let actual = payload.len() as u64 + HEADER_SIZE as u64;
    if actual < expected {
        return Err(ReadError::Truncated { expected, actual });
    }
    if actual > expected {
        return Err(ReadError::TooLong { expected, actual });
    }
    if crc32fast::hash(payload) != header.payload_crc {
        return Err(ReadError::PayloadChecksum);
    }
    Ok(())
}

/// A field of the header as a number.
fn field(header: &[u8], range: Range<usize>) -> u64 {
    let bytes = header.get(range).unwrap_or_default();
    bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte))
}
