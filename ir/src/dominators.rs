//! Dominators of a body's blocks.
//!
//! K. D. Cooper, T. J. Harvey, K. Kennedy: A Simple, Fast Dominance Algorithm, 2001. The figures
//! that are cited are the paper's.

use crate::body::Body;
use crate::depth_first::depth_first;
use crate::ids::{BlockId, InstId, ValueId};
use typed_index_collections::{TiSlice, TiVec};

/// The dominator tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dominators {
    /// Immediate dominator of each block; the entry has none.
    idom: TiVec<BlockId, Option<BlockId>>,
    /// For each block its place in a walk over the tree, parents first, and the place behind those
    /// below it. Nothing is below what cannot be reached.
    below: TiVec<BlockId, (u32, u32)>,
}

/// Computes the dominators of a body in which every block can be reached from the entry.
pub fn dominators(body: &Body) -> Dominators {
    of_graph(&depth_first(body).postorder, &body.predecessors())
}

/// Computes those of a graph, from a postorder of the nodes that can be reached from node 0, and
/// the predecessors of each node. Nodes that cannot be reached neither
/// dominate nor are dominated.
pub fn of_graph(
    postorder: &[BlockId],
    predecessors: &TiSlice<BlockId, Vec<BlockId>>,
) -> Dominators {
    let mut number = TiVec::from(vec![0; predecessors.len()]);
    for (place, &block) in postorder.iter().enumerate() {
        number[block] = place;
    }
    let mut idom: TiVec<BlockId, Option<BlockId>> = vec![None; predecessors.len()].into();
    if let Some(entry) = idom.first_mut() {
        *entry = Some(BlockId::ENTRY);
    }
    // Figure 3: until nothing changes, in reverse postorder.
    let mut changed = true;
    while changed {
        changed = false;
        for &block in postorder.iter().rev().filter(|&&b| b != BlockId::ENTRY) {
            let mut processed = predecessors[block].iter().filter(|&&p| idom[p].is_some());
            let Some(&first) = processed.next() else { continue };
            let new = processed.fold(first, |a, &b| intersect(&idom, &number, a, b));
            if idom[block] != Some(new) {
                idom[block] = Some(new);
                changed = true;
            }
        }
    }
    if let Some(entry) = idom.first_mut() {
        *entry = None;
    }
    let below = below(postorder, &idom);
    Dominators { idom, below }
}

/// The places of blocks in a walk over the tree.
fn below(
    postorder: &[BlockId],
    idom: &TiSlice<BlockId, Option<BlockId>>,
) -> TiVec<BlockId, (u32, u32)> {
    // Dominators come behind what they dominate.
    let mut size = TiVec::from(vec![1; idom.len()]);
    for &block in postorder {
        if let Some(above) = idom[block] {
            size[above] += size[block];
        }
    }
    let mut below = TiVec::from(vec![(u32::MAX, 0); idom.len()]);
    let mut next = TiVec::from(vec![0; idom.len()]);
    for &block in postorder.iter().rev() {
        let place = idom[block].map_or(0, |above| {
            next[above] += size[block];
            next[above] - size[block]
        });
        below[block] = (place, place + size[block]);
        next[block] = place + 1;
    }
    below
}

/// Figure 3, `intersect`: the nearest common dominator so far.
fn intersect(
    idom: &TiSlice<BlockId, Option<BlockId>>,
    number: &TiSlice<BlockId, usize>,
    a: BlockId,
    b: BlockId,
) -> BlockId {
    let (mut a, mut b) = (a, b);
    while a != b {
        while number[a] < number[b] {
            a = idom[a].expect("what is above a processed block is processed");
        }
        while number[b] < number[a] {
            b = idom[b].expect("what is above a processed block is processed");
        }
    }
    a
}

impl Dominators {
    /// True if every path from the entry to `block` leads through `above`; a block dominates
    /// itself.
    #[inline]
    pub fn dominates(&self, above: BlockId, block: BlockId) -> bool {
        let (first, end) = self.below[above];
        (first..end).contains(&self.below[block].0)
    }

    /// True if each path of their body to the point before an instruction defines a value: an
    /// argument, or one whose definition dominates the point. The result of an `invoke` is there on
    /// its first edge only, so it counts if no other edge leads where that one does.
    pub fn is_available(&self, body: &Body, value: ValueId, at: InstId) -> bool {
        let Some(inst) = body.code.definition(value) else { return true };
        let [definition, point] = [inst, at].map(|inst| &body.code.instructions[inst]);
        if !definition.facts.is_terminator() {
            return match definition.block == point.block {
                true => inst < at,
                false => self.dominates(definition.block, point.block),
            };
        }
        let Some(normal) = body.successors(definition.block).next() else { return false };
        let entries = body.blocks.keys().flat_map(|b| body.successors(b)).filter(|&s| s == normal);
        entries.count() == 1 && self.dominates(normal, point.block)
    }

    /// The immediate dominator of a block; none for the entry.
    pub fn immediate(&self, block: BlockId) -> Option<BlockId> {
        self.idom[block]
    }
}
