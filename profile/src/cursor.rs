//! Reading foreign bytes, one field after the other.

use crate::leb128::{self, LebError};
#[cfg(feature = "alloc")]
use alloc::{string::String, vec::Vec};

/// A field of a record or of a profile that cannot be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{what} at byte {at} {problem}")]
pub struct Malformed {
    /// The field.
    pub what: &'static str,
    /// Where it stands, from the start of the file or record.
    pub at: usize,
    /// What is wrong with it.
    pub problem: &'static str,
}

/// A place in foreign bytes.
pub(crate) struct Cursor<'a> {
    rest: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    /// At the start of `bytes`, which stand `at` bytes into what error messages count from.
    pub(crate) fn new(bytes: &'a [u8], at: usize) -> Self {
        Cursor { rest: bytes, at }
    }

    /// What was not read yet.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Where the field that is next stands.
    pub(crate) fn at(&self) -> usize {
        self.at
    }

    /// An error about the field that is next.
    pub(crate) fn malformed(&self, what: &'static str, problem: &'static str) -> Malformed {
        Malformed { what, at: self.at, problem }
    }

    /// So many bytes.
    #[inline(never)]
    pub(crate) fn bytes(&mut self, len: u64, what: &'static str) -> Result<&'a [u8], Malformed> {
        let len = usize::try_from(len).unwrap_or(usize::MAX);
        let Some((bytes, rest)) = self.rest.split_at_checked(len) else {
            return Err(self.malformed(what, "does not fit in what is left"));
        };
        (self.rest, self.at) = (rest, self.at.saturating_add(len));
        Ok(bytes)
    }

    /// A `u64` of 8 bytes.
    #[inline(never)]
    pub(crate) fn fixed64(&mut self, what: &'static str) -> Result<u64, Malformed> {
        let bytes = self.bytes(8, what)?;
        Ok(bytes.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    }

    /// A variable-length integer.
    #[inline(never)]
    pub(crate) fn varint(&mut self, what: &'static str) -> Result<u64, Malformed> {
        match leb128::decode(self.rest) {
            Ok((value, len)) => {
                let rest = self.rest.get(len..).unwrap_or_default();
                (self.rest, self.at) = (rest, self.at + len);
                Ok(value)
            }
            Err(LebError::Ended) => Err(self.malformed(what, "does not fit in what is left")),
            Err(LebError::Overlong) => Err(self.malformed(what, "is longer than it needs to be")),
        }
    }

    /// A variable-length integer of at most 32 bits.
    #[inline(never)]
    pub(crate) fn varint32(&mut self, what: &'static str) -> Result<u32, Malformed> {
        let start = self.malformed(what, "is 2^32 or more");
        u32::try_from(self.varint(what)?).map_err(|_| start)
    }

    #[cfg(feature = "alloc")]
    /// A 32-bit integer, stored as its zigzag difference to `base`.
    pub(crate) fn delta32(&mut self, base: u32, what: &'static str) -> Result<u32, Malformed> {
        let start = self.malformed(what, "is negative, or 2^32 or more");
        let value = leb128::unzigzag(self.varint(what)?).checked_add(i64::from(base));
        value.and_then(|value| u32::try_from(value).ok()).ok_or(start)
    }

    /// The number of items that follow, each of which takes at least `least` bytes: so no more
    /// memory is ever set aside than the bytes can fill.
    #[inline(never)]
    pub(crate) fn count(&mut self, least: usize, what: &'static str) -> Result<usize, Malformed> {
        let start = self.malformed(what, "is more than what is left can hold");
        let count = usize::try_from(self.varint(what)?).map_err(|_| start)?;
        if count > self.rest.len().checked_div(least).unwrap_or(0) { Err(start) } else { Ok(count) }
    }

    #[cfg(feature = "alloc")]
    /// A string with its length before it.
    pub(crate) fn string(&mut self, what: &'static str) -> Result<String, Malformed> {
        let start = self.malformed(what, "is not UTF-8");
        let len = self.varint(what)?;
        let bytes: Vec<u8> = self.bytes(len, what)?.into();
        String::from_utf8(bytes).map_err(|_| start)
    }
}

#[cfg(feature = "alloc")]
/// A `u16` at a place that is there.
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

#[cfg(feature = "alloc")]
/// A `u32` at a place that is there.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

#[cfg(feature = "alloc")]
/// A `u64` at a place that is there.
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}
