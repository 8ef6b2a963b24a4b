//! Writing a profile file as a stream, without allocating.

use super::header::{HEADER_SIZE, Header};
use crate::leb128;
use crc32fast::Hasher;

/// What takes the bytes of a profile's payload.
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

/// What precedes the nodes of a forest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ForestHeader {
    /// Place of the function's module among those written.
    pub module: u32,
    /// Key of the function's record.
    pub key: u64,
    /// k of the function's record.
    pub k: u32,
    /// Activations begun.
    pub entries: u64,
    /// Events after which the stream was restarted because memory ran out.
    pub restarts: u64,
    /// Events that could not be counted, because memory ran out.
    pub lost: u64,
    /// Events that were counted at their roots instead of their sequences, since those were rare
    pub pruned: u64,
    /// Number of roots.
    pub roots: u32,
}

/// Writes a profile file.
///
/// The payload goes to the sink, which puts it behind room for a header of
/// [`HEADER_SIZE`] bytes; [`finish`](Encoder::finish) returns that header, to be written into that
/// room. Calls must come in the order of the file: all modules, then each forest with its nodes in
/// preorder. Whoever calls vouches for that, and for the numbers of roots and children; a reader
/// refuses a file in which they are wrong.
pub struct Encoder<S> {
    sink: S,
    header: Header,
    crc: Hasher,
}

impl<S: Sink> Encoder<S> {
    /// An encoder that has written nothing.
    pub fn new(sink: S) -> Self {
        Encoder { sink, header: Header::default(), crc: Hasher::new() }
    }

    /// Writes a module: its signature, and the path of its image, in no particular encoding.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn module(&mut self, signature: u64, name: &[u8]) -> Result<(), S::Error> {
        self.header.modules = self.header.modules.saturating_add(1);
        self.put(&signature.to_le_bytes())?;
        self.varint(name.len() as u64)?;
        self.put(name)
    }

    /// Writes what precedes the nodes of a forest.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn forest(&mut self, forest: &ForestHeader) -> Result<(), S::Error> {
        self.header.forests = self.header.forests.saturating_add(1);
        self.header.k = self.header.k.max(forest.k);
        self.varint(forest.module.into())?;
        self.put(&forest.key.to_le_bytes())?;
        self.varint(forest.k.into())?;
        self.varint(forest.entries)?;
        self.varint(forest.restarts)?;
        self.varint(forest.lost)?;
        self.varint(forest.pruned)?;
        self.varint(forest.roots.into())
    }

    /// Writes a node of the forest begun last, in preorder.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn node(&mut self, label: u32, count: u64, children: u32) -> Result<(), S::Error> {
        let mut bytes = [0; 3 * leb128::MAX_LEN];
        let mut len = 0;
        for value in [label.into(), count, children.into()] {
            len += append_varint(&mut bytes, len, value);
        }
        self.put(bytes.get(..len).unwrap_or_default())
    }

    /// Writes all nodes of the forest begun last, as they stand in a file.
    ///
    /// # Errors
    /// Those of the sink.
    pub(super) fn nodes(&mut self, bytes: &[u8]) -> Result<(), S::Error> {
        self.put(bytes)
    }

    /// The header that belongs to what was written, with the given `FLAG_…` bits.
    pub fn finish(self, flags: u32) -> [u8; HEADER_SIZE] {
        Header { flags, payload_crc: self.crc.finalize(), ..self.header }.to_bytes()
    }

    fn varint(&mut self, value: u64) -> Result<(), S::Error> {
        let mut bytes = [0; leb128::MAX_LEN];
        let len = leb128::encode(value, &mut bytes);
        self.put(bytes.get(..len).unwrap_or_default())
    }

    fn put(&mut self, bytes: &[u8]) -> Result<(), S::Error> {
        self.header.payload_size = self.header.payload_size.saturating_add(bytes.len() as u64);
        self.crc.update(bytes);
        self.sink.put(bytes)
    }
}

/// Writes a varint at `at`, where there is room for the longest, and tells its length.
fn append_varint(bytes: &mut [u8], at: usize, value: u64) -> usize {
    let mut buffer = [0; leb128::MAX_LEN];
    let len = leb128::encode(value, &mut buffer);
    for (to, from) in bytes.iter_mut().skip(at).zip(buffer.iter().take(len)) {
        *to = *from;
    }
    len
}
