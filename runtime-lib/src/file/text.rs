//! File names in buffers of fixed size.

use core::ffi::CStr;

/// Longest name, with its terminator.
pub const CAPACITY: usize = libc::PATH_MAX as usize;

/// A text that does not fit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong;

/// A text of up to `SIZE` − 1 bytes without a zero byte.
pub struct Text<const SIZE: usize = CAPACITY> {
    /// All bytes from `len` on are zero.
    bytes: [u8; SIZE],
    len: usize,
}

impl<const SIZE: usize> Text<SIZE> {
    pub const fn new() -> Self {
        Self { bytes: [0; SIZE], len: 0 }
    }

    pub fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.len).unwrap_or_default()
    }

    pub fn c_str(&self) -> &CStr {
        CStr::from_bytes_until_nul(&self.bytes).unwrap_or(c"")
    }

    pub fn clear(&mut self) {
        self.cut(0);
    }

    /// Keeps so many bytes of it.
    pub fn cut(&mut self, len: usize) {
        if let Some(gone) = self.bytes.get_mut(len..) {
            gone.fill(0);
            self.len = self.len.min(len);
        }
    }

    pub fn push(&mut self, bytes: &[u8]) -> Result<(), TooLong> {
        let end = self.len + bytes.len();
        if end >= SIZE {
            return Err(TooLong);
        }
        self.bytes.get_mut(self.len..end).ok_or(TooLong)?.copy_from_slice(bytes);
        self.len = end;
        Ok(())
    }

    /// Lets libc fill it with a text that ends with a zero byte, or has none; `fill` says whether
    /// it did.
    pub fn fill_with(&mut self, fill: impl FnOnce(*mut libc::c_char, usize) -> bool) -> bool {
        self.clear();
        let filled = fill(self.bytes.as_mut_ptr().cast(), SIZE - 1);
        self.len = self.bytes.iter().position(|&byte| byte == 0).unwrap_or(0);
        if !filled {
            self.clear();
        }
        filled
    }
}
