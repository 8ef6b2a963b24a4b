//! Writing a profile file as a stream, without allocating.

use super::sections::{Entry, HEADER_SIZE, Kind, header};
use crate::leb128;
use crc32fast::Hasher;

/// What takes the bytes of a profile's sections.
pub trait Sink {
    /// Why bytes could not be taken.
    type Error;

    /// Takes all of the bytes, after those that it took before.
    ///
    /// # Errors
    /// As the sink has them; the profile is of no use then.
    fn put(&mut self, bytes: &[u8]) -> Result<(), Self::Error>;
}

impl<S: Sink + ?Sized> Sink for &mut S {
    type Error = S::Error;

    fn put(&mut self, bytes: &[u8]) -> Result<(), Self::Error> {
        (**self).put(bytes)
    }
}

/// Writes a profile file.
///
/// The sections go to the sink, which puts them behind room for a header of
/// [`HEADER_SIZE`] bytes; [`finish`](Encoder::finish) returns that header, to be written into that
/// room. Calls must come in the order of the file: all modules, then the windows of each function
/// with their groups, then each k-SF with its nodes in preorder, then the calling contexts of each
/// thread, then the memory that was used, if it is known. Whoever calls vouches for that, and for
/// the numbers of roots and children; a reader refuses a file in which they are wrong.
pub struct Encoder<S> {
    sink: S,
    /// By kind, with the checksum of what each has so far
    sections: [(Entry, Hasher); Kind::ALL.len()],
    current: Kind,
    /// Whether nodes of the tree of contexts begun last have errors, and how many functions it has
    pub(super) has_errors: bool,
    pub(super) has_times: bool,
    pub(super) functions: u32,
}

impl<S: Sink> Encoder<S> {
    /// An encoder that has written nothing.
    pub fn new(sink: S) -> Self {
        let (has_errors, has_times, functions) = (false, false, 0);
        Encoder {
            sink,
            sections: Default::default(),
            current: Kind::Modules,
            has_errors,
            has_times,
            functions,
        }
    }

    /// The header that belongs to what was written, with the given `FLAG_…` bits.
    pub fn finish(self, flags: u32) -> [u8; HEADER_SIZE] {
        header(flags, self.sections.map(|(entry, crc)| Entry { crc: crc.finalize(), ..entry }))
    }

    /// Begins an item of a section, the current one or one behind it.
    #[inline(never)]
    pub(super) fn begin_item(&mut self, kind: Kind) {
        self.current = kind;
        if let Some((entry, _)) = self.sections.get_mut(kind as usize) {
            entry.items = entry.items.saturating_add(1);
        }
    }

    #[inline(never)]
    pub(super) fn varint(&mut self, value: u64) -> Result<(), S::Error> {
        let mut bytes = [0; leb128::MAX_LEN];
        let len = leb128::encode(value, &mut bytes);
        self.put(bytes.get(..len).unwrap_or_default())
    }

    /// Writes several integers at once.
    pub(super) fn varints<const N: usize>(&mut self, values: [u64; N]) -> Result<(), S::Error> {
        const {
            assert!(N <= 3);
        }
        let mut bytes = [0; 3 * leb128::MAX_LEN];
        let mut len = 0;
        for value in values {
            if let Some(room) = bytes.get_mut(len..).and_then(<[u8]>::first_chunk_mut) {
                len += leb128::encode(value, room);
            }
        }
        self.put(bytes.get(..len).unwrap_or_default())
    }

    /// Writes bytes of the item begun last.
    #[inline(never)]
    pub(super) fn put(&mut self, bytes: &[u8]) -> Result<(), S::Error> {
        if let Some((entry, crc)) = self.sections.get_mut(self.current as usize) {
            entry.size = entry.size.saturating_add(bytes.len() as u64);
            crc.update(bytes);
        }
        self.sink.put(bytes)
    }
}
