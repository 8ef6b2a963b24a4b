//! The section of k-slab forests, of functions that count by Algorithm 4 as published: one for each
//! function and thread.

use super::encoder::{Encoder, Sink};
use super::error::ReadError;
use super::header::ForestHeader;
use super::sections::Kind;
use crate::cursor::Cursor;
use crate::max_slab_levels;
use midflight_abi::MAX_K;

/// Bytes that a node takes at least: its label, its count and its number of children.
pub(super) const LEAST_NODE: usize = 3;

/// Levels that a forest has at most.
pub(super) const LEVELS: usize = max_slab_levels(MAX_K) as usize;

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

/// Visits the nodes of a forest in preorder, behind its header; an error of `visit` ends the walk.
/// Their number.
pub(super) fn walk<E: From<ReadError>>(
    cursor: &mut Cursor<'_>,
    k: u32,
    mut visit: impl FnMut(Visit) -> Result<(), E>,
) -> Result<usize, E> {
    let roots =
        cursor.count(LEAST_NODE, "the number of a forest's roots").map_err(ReadError::from)?;
    // Children to come, of the node that is open on each level.
    let mut open = [roots; LEVELS];
    let (mut level, mut nodes) = (0, 0);
    loop {
        let too_deep = ReadError::TooDeep { at: cursor.at(), k };
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
            let deeper = open.get_mut(level).filter(|_| level < max_slab_levels(k) as usize);
            *deeper.ok_or(too_deep)? = children;
        }
    }
}

impl<S: Sink> Encoder<S> {
    /// Begins a k-SF with so many roots. Its nodes follow.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn slabs(&mut self, header: &ForestHeader, roots: u32) -> Result<(), S::Error> {
        self.forest_header(Kind::Slabs, header)?;
        self.varint(roots.into())
    }

    /// Writes a node of the k-SF begun last, in preorder.
    ///
    /// # Errors
    /// Those of the sink.
    pub fn node(&mut self, label: u32, count: u64, children: u32) -> Result<(), S::Error> {
        self.varints([label.into(), count, children.into()])
    }
}
