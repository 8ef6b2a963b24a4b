//! Writing records, one field after the other.

use crate::leb128;
use alloc::vec::Vec;

/// A variable-length integer.
pub(crate) fn put_varint(out: &mut Vec<u8>, value: u64) {
    let mut buffer = [0; leb128::MAX_LEN];
    let len = leb128::encode(value, &mut buffer);
    out.extend_from_slice(&buffer[..len]);
}

/// A 32-bit integer, as its zigzag difference to `base`.
pub(crate) fn put_delta(out: &mut Vec<u8>, base: u32, value: u32) {
    put_varint(out, leb128::zigzag(i64::from(value) - i64::from(base)));
}

/// A string with its length before it.
pub(crate) fn put_string(out: &mut Vec<u8>, string: &str) {
    put_varint(out, string.len() as u64);
    out.extend_from_slice(string.as_bytes());
}

/// Replaces bytes in place.
pub(crate) fn overwrite(out: &mut [u8], at: usize, bytes: &[u8]) {
    out[at..at + bytes.len()].copy_from_slice(bytes);
}
