//! The first 64 bytes of a profile file.

use midflight_abi::{PROFILE_HEADER_SIZE, PROFILE_MAGIC, PROFILE_VERSION};

/// Flag of a profile: some counts are lower bounds, because memory ran out.
pub const FLAG_LOWER_BOUNDS: u32 = 1 << 0;

/// Size in bytes of the header.
pub const HEADER_SIZE: usize = PROFILE_HEADER_SIZE as usize;

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
    #[cfg(feature = "alloc")]
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
}
