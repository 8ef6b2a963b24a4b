//! Where control of a version may go: branches that are never taken are left out.
//!
//! LLVM's `sccp` removes the blocks that its solver proves unreachable; the same proof, asked of
//! each version, keeps them from being an obstacle to a matching.

use crate::versions::graph::Graph;
use midflight_ir::ids::BlockId;
use typed_index_collections::TiVec;

/// What a version can do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Live {
    /// For each block the successors that it may go to: their indices among those that its
    /// terminator names
    pub taken: TiVec<BlockId, Vec<usize>>,
    /// For each block whether it may be reached
    pub reached: TiVec<BlockId, bool>,
    /// For each block the blocks that it may go to, each once
    pub successors: TiVec<BlockId, Vec<BlockId>>,
    /// For each block the blocks that may go to it, each once
    pub predecessors: TiVec<BlockId, Vec<BlockId>>,
}

impl Live {
    /// The blocks that are never reached.
    pub fn unreached(&self) -> Vec<BlockId> {
        self.reached.keys().filter(|&block| !self.reached[block]).collect()
    }

    /// The edges between blocks that may be reached of which control takes none.
    pub fn untaken(&self, graph: &Graph) -> Vec<(BlockId, BlockId)> {
        let reached = graph.blocks.keys().filter(|&block| self.reached[block]);
        let edges = reached
            .flat_map(|from| graph.body.blocks[from].edges.iter().map(move |edge| (from, edge.to)));
        let is_untaken = |&(from, to): &(BlockId, BlockId)| {
            self.reached[to] && !self.successors[from].contains(&to)
        };
        edges.filter(is_untaken).collect()
    }
}

/// Follows the edges that may be taken, from the entry.
pub fn live(graph: &Graph) -> Live {
    let count = graph.blocks.len();
    let mut live = Live {
        taken: vec![Vec::new(); count].into(),
        reached: vec![false; count].into(),
        successors: vec![Vec::new(); count].into(),
        predecessors: vec![Vec::new(); count].into(),
    };
    let mut work: Vec<BlockId> = graph.blocks.first_key().into_iter().collect();
    while let Some(block) = work.pop() {
        if std::mem::replace(&mut live.reached[block], true) {
            continue;
        }
        let feasible = &graph.blocks[block].feasible;
        let taken = graph.body.code.successors[block].iter().enumerate();
        live.taken[block] = taken.filter(|(_, edge)| feasible[**edge]).map(|(n, _)| n).collect();
        let edges = graph.body.blocks[block].edges.iter().zip(feasible);
        live.successors[block] =
            edges.filter(|(_, feasible)| **feasible).map(|(e, _)| e.to).collect();
        work.extend(&live.successors[block]);
    }
    for (from, successors) in live.successors.iter_enumerated() {
        successors.iter().for_each(|&to| live.predecessors[to].push(from));
    }
    live
}
