//! The section of modules: the images of the process that have records.

use super::encoder::{Encoder, Sink};
use super::error::ReadError;
use super::sections::Kind;
use crate::cursor::Cursor;

/// Bytes that a module takes at least: its signature and the length of its path.
pub(super) const LEAST: usize = 9;

/// Reads a module: its signature, and the path of its image.
pub(super) fn read<'a>(cursor: &mut Cursor<'a>) -> Result<(u64, &'a [u8]), ReadError> {
    let signature = cursor.fixed64("a module's signature")?;
    let len = cursor.varint("the length of a module's name")?;
    Ok((signature, cursor.bytes(len, "a module's name")?))
}

impl<S: Sink> Encoder<S> {
    /// Writes a module: its signature, and the path of its image, in no particular encoding.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn module(&mut self, signature: u64, name: &[u8]) -> Result<(), S::Error> {
        self.begin_item(Kind::Modules);
        self.put(&signature.to_le_bytes())?;
        self.varint(name.len() as u64)?;
        self.put(name)
    }
}
