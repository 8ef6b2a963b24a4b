//! File names in buffers of fixed size.

use core::ffi::CStr;

/// Longest name, with its terminator.
pub const CAPACITY: usize = libc::PATH_MAX as usize;

/// A text that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// A text of up to [`CAPACITY`] − 1 bytes without a zero byte.
pub struct Text {
    /// All bytes from `len` on are zero.
    bytes: [u8; CAPACITY],
    len: usize,
}

impl Text {
    /// The empty text.
    pub const fn new() -> Self {
        Self { bytes: [0; CAPACITY], len: 0 }
    }

    /// The text's bytes.
    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    /// The text as libc wants it.
    pub fn c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or(c"")
    }

    /// Makes it empty.
    pub fn clear(&mut self) {
        self.bytes.fill(0);
        self.len = 0;
    }

    /// Adds to the end.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        let end = self.len + bytes.len();
        if end >= CAPACITY {
            return Err(TooLong);
        }
        self.bytes.get_mut(self.len..end).ok_or(TooLong)?.copy_from_slice(bytes);
        self.len = end;
        Ok(())
    }

    /// Lets libc fill it with a text that ends with a zero byte; `fill` says whether it did.
    pub fn fill_with(&mut self, fill: impl FnOnce(*mut libc::c_char, usize) -> bool) -> bool {
        self.clear();
        let filled = fill(self.bytes.as_mut_ptr().cast(), CAPACITY - 1);
        self.len = self.bytes.iter().position(|&byte| byte == 0).unwrap_or(0);
        if !filled {
            self.clear();
        }
        filled
    }
}
