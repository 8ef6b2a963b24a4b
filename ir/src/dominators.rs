//! Dominators of a body's blocks.
//!
//! K. D. Cooper, T. J. Harvey, K. Kennedy: A Simple, Fast Dominance Algorithm, 2001. The figures
//! that are cited are the paper's.

use crate::body::Body;
use crate::depth_first::depth_first;
use crate::ids::BlockId;
use typed_index_collections::{TiSlice, TiVec};

/// The dominator tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dominators {
    /// Immediate dominator of each block; that of the entry is itself.
    idom: TiVec<BlockId, BlockId>,
    /// Number of blocks above it in the tree
    depth: TiVec<BlockId, u32>,
}

/// Computes the dominators of a body in which every block can be reached from the entry.
pub fn dominators(body: &Body) -> Dominators {
    of_graph(&depth_first(body).postorder, &body.predecessors())
}

/// Computes those of a graph, from a postorder of the nodes that can be reached from node 0, and
/// the predecessors of each node. Of nodes that cannot be reached nothing is known: each is alone.
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
    let idom: TiVec<BlockId, BlockId> =
        idom.into_iter_enumerated().map(|(block, idom)| idom.unwrap_or(block)).collect();
    let mut depth = TiVec::from(vec![0; idom.len()]);
    for &block in postorder.iter().rev().filter(|&&b| b != BlockId::ENTRY) {
        depth[block] = depth[idom[block]] + 1;
    }
    Dominators { idom, depth }
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
            a = idom[a].unwrap_or(BlockId::ENTRY);
        }
        while number[b] < number[a] {
            b = idom[b].unwrap_or(BlockId::ENTRY);
        }
    }
    a
}

impl Dominators {
    /// True if every path from the entry to `block` leads through `above`; a block dominates
    /// itself.
    pub fn dominates(&self, above: BlockId, block: BlockId) -> bool {
        let mut block = block;
        while self.depth[block] > self.depth[above] {
            block = self.idom[block];
        }
        block == above
    }

    /// The immediate dominator of a block; none for the entry.
    pub fn immediate(&self, block: BlockId) -> Option<BlockId> {
        (block != BlockId::ENTRY).then(|| self.idom[block])
    }
}
