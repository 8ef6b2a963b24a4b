//! Texts of a record as lists of pieces that it has once.

use crate::Malformed;
use crate::cursor::Cursor;
use crate::put::{put_string, put_varint};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

/// Bytes of a piece at most: so a text is at most so many times as long as its list.
pub(super) const LONGEST: usize = 64;

/// The pieces of a text, which are the text if they are put together: each ends behind a space, or
/// where it would be too long.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    text.split_inclusive(' ').flat_map(|mut word| {
        core::iter::from_fn(move || {
            let end =
                (0..=word.len().min(LONGEST)).rev().find(|&end| word.is_char_boundary(end))?;
            let (piece, rest) = word.split_at(end);
            word = rest;
            (!piece.is_empty()).then_some(piece)
        })
    })
}

/// The pieces of some texts, by number.
pub(super) struct Writer<'a>(BTreeMap<&'a str, u64>);

impl<'a> Writer<'a> {
    /// Of all texts of a record, and writes them to it: the most frequent ones have small numbers.
    pub(super) fn new(out: &mut Vec<u8>, texts: impl Iterator<Item = &'a str>) -> Self {
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        texts.flat_map(pieces).for_each(|piece| *counts.entry(piece).or_default() += 1);
        let mut order: Vec<(&str, usize)> = counts.into_iter().collect();
        order.sort_by_key(|&(_, count)| core::cmp::Reverse(count));
        put_varint(out, order.len() as u64);
        order.iter().for_each(|(piece, _)| put_string(out, piece));
        Writer(order.iter().zip(0..).map(|(&(piece, _), number)| (piece, number)).collect())
    }

    /// Writes a text.
    pub(super) fn put(&self, out: &mut Vec<u8>, text: &str) {
        put_varint(out, pieces(text).count() as u64);
        pieces(text).for_each(|piece| put_varint(out, self.0[piece]));
    }
}

/// The pieces of a record.
pub(super) struct Reader(Vec<String>);

impl Reader {
    /// Reads them.
    pub(super) fn new(body: &mut Cursor<'_>) -> Result<Self, Malformed> {
        const WHAT: &str = "a piece of texts";
        let count = body.count(1, "the number of pieces")?;
        let piece = |_| {
            let start = body.malformed(WHAT, "has more than 64 bytes");
            let piece = body.string(WHAT)?;
            if piece.len() > LONGEST { Err(start) } else { Ok(piece) }
        };
        (0..count).map(piece).collect::<Result<_, _>>().map(Reader)
    }

    /// Reads a text.
    pub(super) fn text(
        &self,
        body: &mut Cursor<'_>,
        what: &'static str,
    ) -> Result<String, Malformed> {
        let mut text = String::new();
        for _ in 0..body.count(1, what)? {
            let unknown = body.malformed(what, "names a piece that is not there");
            let number = body.varint(what)?;
            let piece = usize::try_from(number).ok().and_then(|number| self.0.get(number));
            text.push_str(piece.ok_or(unknown)?);
        }
        Ok(text)
    }
}
