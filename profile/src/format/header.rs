//! What precedes the counters of a function in a file, of whatever kind they are.

use super::encoder::{Encoder, Sink};
use super::error::ReadError;
use super::sections::Kind;
use crate::cursor::Cursor;
use midflight_abi::{MAX_K, Totals};

/// Bytes that a forest takes at least: those of its header, and one.
pub(super) const LEAST: usize = 14;

/// What precedes the counters of a function. Zeroes are a valid value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ForestHeader {
    /// Place of the function's module among those written.
    pub module: u32,
    /// Key of the function's record.
    pub key: u64,
    /// k of the function's record.
    pub k: u32,
    /// What was counted besides paths.
    pub totals: Totals,
}

impl ForestHeader {
    /// Reads what precedes the counters of a function, in a file with so many modules.
    pub(super) fn read(cursor: &mut Cursor<'_>, modules: u32) -> Result<Self, ReadError> {
        let no_module = cursor.malformed("a forest's module", "is not there");
        let module = cursor.varint32("a forest's module")?;
        if module >= modules {
            return Err(no_module.into());
        }
        let key = cursor.fixed64("a forest's key")?;
        let k = cursor.varint32("a forest's k")?;
        if !(1..=MAX_K).contains(&k) {
            return Err(ReadError::K(k));
        }
        let totals = Totals {
            entries: cursor.varint("a forest's entries")?,
            restarts: cursor.varint("a forest's restarts")?,
            lost: cursor.varint("a forest's lost events")?,
        };
        Ok(ForestHeader { module, key, k, totals })
    }
}

impl<S: Sink> Encoder<S> {
    pub(super) fn forest_header(
        &mut self,
        kind: Kind,
        header: &ForestHeader,
    ) -> Result<(), S::Error> {
        self.begin_item(kind);
        self.put_forest_header(header)
    }

    pub(super) fn put_forest_header(&mut self, header: &ForestHeader) -> Result<(), S::Error> {
        self.varint(header.module.into())?;
        self.put(&header.key.to_le_bytes())?;
        self.varint(header.k.into())?;
        header.totals.numbers().into_iter().try_for_each(|total| self.varint(total))
    }
}
