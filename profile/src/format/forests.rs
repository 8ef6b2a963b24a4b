//! The section of forests: one k-SF for each function and thread.

use super::encoder::{Encoder, Sink};
use super::error::ReadError;
use super::sections::Kind;
use crate::cursor::Cursor;
use crate::leb128;
use crate::max_levels;
use midflight_abi::{MAX_K, Totals};

/// Bytes that a forest takes at least.
pub(super) const LEAST: usize = 15;

/// Bytes that a node takes at least: its label, its count and its number of children.
pub(super) const LEAST_NODE: usize = 3;

/// Levels that a forest has at most.
pub(super) const LEVELS: usize = max_levels(MAX_K) as usize;

/// What precedes the nodes of a forest. Zeroes are a valid value.
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
    /// Number of roots.
    pub roots: u32,
}

impl ForestHeader {
    /// Reads what precedes the nodes of a forest, in a file with so many modules.
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
            pruned: cursor.varint("a forest's pruned events")?,
        };
        let too_many = cursor.malformed("the number of a forest's roots", "is 2^32 or more");
        let roots = cursor.count(LEAST_NODE, "the number of a forest's roots")?;
        let roots = u32::try_from(roots).map_err(|_| too_many)?;
        Ok(ForestHeader { module, key, k, totals, roots })
    }
}

/// A node, and where it stands.
pub(super) struct Visit {
    /// Where in the file
    #[cfg_attr(not(feature = "alloc"), expect(dead_code, reason = "sums have no use for it"))]
    pub at: usize,
    /// On which level of the forest, from 0
    pub level: usize,
    pub label: u32,
    pub count: u64,
}

/// A node on a level, and how many children it has.
fn read_node(cursor: &mut Cursor<'_>, level: usize) -> Result<(Visit, usize), ReadError> {
    let at = cursor.at();
    let label = cursor.varint32("a node's label")?;
    let count = cursor.varint("a node's count")?;
    let children = cursor.count(LEAST_NODE, "the number of a node's children")?;
    Ok((Visit { at, level, label, count }, children))
}

/// Visits the nodes of a forest in preorder; an error of `visit` ends the walk. Their number.
pub(super) fn walk<E: From<ReadError>>(
    cursor: &mut Cursor<'_>,
    forest: &ForestHeader,
    mut visit: impl FnMut(Visit) -> Result<(), E>,
) -> Result<usize, E> {
    // Children to come, of the node that is open on each level.
    let mut open = [forest.roots as usize; LEVELS];
    let (mut level, mut nodes) = (0, 0);
    loop {
        let too_deep = ReadError::TooDeep { at: cursor.at(), k: forest.k };
        let to_come = open.get_mut(level).ok_or(too_deep)?;
        let Some(left) = to_come.checked_sub(1) else {
            match level.checked_sub(1) {
                None => return Ok(nodes),
                Some(above) => level = above,
            }
            continue;
        };
        *to_come = left;
        let (node, children) = read_node(cursor, level)?;
        visit(node)?;
        nodes += 1;
        if children != 0 {
            level += 1;
            let deeper = open.get_mut(level).filter(|_| level < max_levels(forest.k) as usize);
            *deeper.ok_or(too_deep)? = children;
        }
    }
}

impl<S: Sink> Encoder<S> {
    /// Writes what precedes the nodes of a forest.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn forest(&mut self, forest: &ForestHeader) -> Result<(), S::Error> {
        self.begin_item(Kind::Forests);
        self.varint(forest.module.into())?;
        self.put(&forest.key.to_le_bytes())?;
        self.varint(forest.k.into())?;
        let Totals { entries, restarts, lost, pruned } = forest.totals;
        [entries, restarts, lost, pruned].into_iter().try_for_each(|total| self.varint(total))?;
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
            if let Some(room) = bytes.get_mut(len..).and_then(<[u8]>::first_chunk_mut) {
                len += leb128::encode(value, room);
            }
        }
        self.put(bytes.get(..len).unwrap_or_default())
    }
}
