//! Addresses of a program, as places in the file that its memory was mapped from.

use crate::cursor::{Malformed, u32_at, u64_at};

/// The file.
pub(super) struct Bytes<'a> {
    file: &'a [u8],
    base: u64,
    /// Bytes that were not asked for yet.
    left: usize,
}

/// Some bytes of the file that stand together.
#[derive(Clone, Copy)]
pub(super) struct Object<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    /// A file whose first byte was mapped to the address `base`, and of which some bytes were asked
    /// for.
    pub(super) fn new(file: &'a [u8], base: u64, asked: usize) -> Self {
        Self { file, base, left: file.len().saturating_sub(asked) }
    }

    /// The place in the file of an address, for messages.
    pub(super) fn offset(&self, address: u64) -> usize {
        usize::try_from(address.wrapping_sub(self.base)).unwrap_or(usize::MAX)
    }

    /// What is at an address: nothing that was asked for before.
    pub(super) fn object(
        &mut self,
        address: u64,
        size: usize,
        what: &'static str,
    ) -> Result<Object<'a>, Malformed> {
        let bytes = self.get(address, size, what)?;
        let twice =
            Malformed { what, at: self.offset(address), problem: "is reached more than once" };
        self.left = self.left.checked_sub(size).ok_or(twice)?;
        Ok(Object(bytes))
    }

    /// What is at an address, which may be a part of what was asked for before.
    pub(super) fn again(
        &self,
        address: u64,
        size: usize,
        what: &'static str,
    ) -> Result<Object<'a>, Malformed> {
        self.get(address, size, what).map(Object)
    }

    fn get(&self, address: u64, size: usize, what: &'static str) -> Result<&'a [u8], Malformed> {
        let at = self.offset(address);
        let bytes = at.checked_add(size).and_then(|end| self.file.get(at..end));
        bytes.ok_or(Malformed { what, at, problem: "is not within the file" })
    }
}

impl<'a> Object<'a> {
    /// All of a file, of which the caller knows that it is long enough for what is read.
    pub(super) fn at_start(file: &'a [u8]) -> Self {
        Self(file)
    }

    /// The bytes.
    pub(super) fn bytes(&self) -> &'a [u8] {
        self.0
    }

    /// The byte at a place within the object.
    pub(super) fn u8(&self, at: usize) -> u8 {
        self.0.get(at).copied().unwrap_or(0)
    }

    /// The 2 bytes at a place within the object.
    pub(super) fn u16(&self, at: usize) -> u16 {
        u16::from(self.u8(at)) | u16::from(self.u8(at + 1)) << 8
    }

    /// The 4 bytes at a place within the object.
    pub(super) fn u32(&self, at: usize) -> u32 {
        u32_at(self.0, at)
    }

    /// The 8 bytes at a place within the object.
    pub(super) fn u64(&self, at: usize) -> u64 {
        u64_at(self.0, at)
    }

    /// The same, as a number of bytes or things.
    pub(super) fn usize(&self, at: usize) -> usize {
        usize::try_from(self.u64(at)).unwrap_or(usize::MAX)
    }

    /// As many bytes as the object begins with, and the rest.
    pub(super) fn split(&self, at: usize) -> (Self, Self) {
        let (head, rest) = self.0.split_at(at.min(self.0.len()));
        (Self(head), Self(rest))
    }

    /// What stands in it one after the other.
    pub(super) fn items(&self, size: usize) -> impl Iterator<Item = Object<'a>> + use<'a> {
        self.0.chunks_exact(size).map(Object)
    }
}
