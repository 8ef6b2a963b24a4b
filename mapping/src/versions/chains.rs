//! Chains: blocks that always run one after the other.
//!
//! Passes split blocks (a preheader, a dedicated exit) and merge them. A chain is a maximal
//! sequence of blocks in which each is the only successor of the one before, and that one its only
//! predecessor; versions are compared chain by chain, so that neither is seen. Branches that are
//! never taken count for nothing. Where [`super::hammocks`] says so, a chain goes on behind a
//! branch whose ways meet again.

use crate::versions::graph::Graph;
use crate::versions::live::Live;
use midflight_ir::ids::{BlockId, InstId};
use midflight_ir::index_type;
use typed_index_collections::TiVec;

index_type! {
    /// A chain of [`Chains::chains`].
    ChainId
}

impl ChainId {
    /// The chain that a version begins with.
    pub const ENTRY: ChainId = ChainId(0);
}

/// Blocks that run one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chain {
    /// The blocks, in order
    pub blocks: Vec<BlockId>,
    /// The instructions that run exactly once and in order
    pub anchors: Vec<InstId>,
}

/// Where a chain goes on behind a branch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hammock {
    /// The block in which the ways meet
    pub join: BlockId,
    /// The blocks on the ways
    pub between: Vec<BlockId>,
}

/// The chains of a version.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Chains {
    /// All of them
    pub chains: TiVec<ChainId, Chain>,
    /// For each block that may be reached its chain; that of what lies in a hammock is the one that
    /// the hammock is in
    pub of_block: TiVec<BlockId, Option<ChainId>>,
    /// For each instruction the number of anchors of its chain before it
    pub segment: TiVec<InstId, usize>,
    /// For each instruction whether a store runs before it, in its segment, that only this version
    /// has
    pub late: TiVec<InstId, bool>,
    /// For each block where the chain goes on behind its branch, if it does
    pub hammocks: TiVec<BlockId, Option<Hammock>>,
}

impl Chains {
    /// The chain of an instruction.
    pub fn of_inst(&self, graph: &Graph, inst: InstId) -> Option<ChainId> {
        self.of_block[graph.block(inst)]
    }

    /// The block that a chain begins with.
    pub fn head(&self, chain: ChainId) -> BlockId {
        self.chains[chain].blocks[0]
    }

    /// The block that it ends with.
    pub fn last(&self, chain: ChainId) -> BlockId {
        self.chains[chain].blocks[self.chains[chain].blocks.len() - 1]
    }

    /// The instructions of a segment of a chain, phis excluded, in order: those behind its anchor
    /// number `segment - 1`, and up to its anchor number `segment`.
    pub fn of_segment(&self, graph: &Graph, chain: ChainId, segment: usize) -> Vec<InstId> {
        let blocks = self.chains[chain].blocks.iter();
        blocks
            .flat_map(|&b| graph.insts(b))
            .filter(|&i| self.segment[i] == segment && !graph.nodes[i].facts.is_phi())
            .collect()
    }

    /// What lies between a branch and its join, if the branch is one behind which its chain goes on.
    pub fn passed<'a>(
        &'a self,
        graph: &'a Graph,
        branch: InstId,
    ) -> impl Iterator<Item = InstId> + 'a {
        let hammock = &self.hammocks[graph.block(branch)];
        let is_branch = graph.nodes[branch].facts.is_terminator();
        let between = hammock.iter().filter(move |_| is_branch).flat_map(|h| &h.between);
        between.flat_map(|&block| graph.insts(block).iter())
    }

    /// True for a block between a branch and its join where a chain goes on behind these.
    pub fn is_passed(&self, block: BlockId) -> bool {
        self.of_block[block].is_some_and(|chain| !self.chains[chain].blocks.contains(&block))
    }

    /// The anchor that a segment of a chain ends with, or the terminator of the chain.
    pub fn end_of_segment(&self, graph: &Graph, chain: ChainId, segment: usize) -> InstId {
        let anchor = self.chains[chain].anchors.get(segment).copied();
        anchor.unwrap_or_else(|| graph.terminator(self.last(chain)))
    }

    /// Its first segments, so many: each as [`Chains::of_segment`] has it.
    pub fn segments(&self, graph: &Graph, chain: ChainId, count: usize) -> Vec<Vec<InstId>> {
        let mut segments = vec![Vec::new(); count];
        for inst in self.chains[chain].blocks.iter().flat_map(|&b| graph.insts(b)) {
            if !graph.nodes[inst].facts.is_phi()
                && let Some(segment) = segments.get_mut(self.segment[inst])
            {
                segment.push(inst);
            }
        }
        segments
    }
}

/// Finds the chains. `hammocks` has for blocks where the chain goes on behind their branches.
pub fn chains(graph: &Graph, live: &Live, hammocks: TiVec<BlockId, Option<Hammock>>) -> Chains {
    let next = |block: BlockId| match live.successors[block].as_slice() {
        &[to] if to != BlockId::ENTRY && to != block && live.predecessors[to].len() == 1 => {
            Some(to)
        }
        _ => hammocks[block].as_ref().map(|hammock| hammock.join),
    };
    let mut continues = TiVec::from(vec![false; graph.blocks.len()]);
    for block in graph.blocks.keys().filter(|&b| live.reached[b]) {
        if let Some(to) = next(block) {
            continues[to] = true;
        }
        for &between in hammocks[block].iter().flat_map(|hammock| &hammock.between) {
            continues[between] = true;
        }
    }
    let mut result = Chains {
        chains: TiVec::new(),
        of_block: vec![None; graph.blocks.len()].into(),
        segment: vec![0; graph.nodes.len()].into(),
        late: vec![false; graph.nodes.len()].into(),
        hammocks: TiVec::new(),
    };
    for head in graph.blocks.keys().filter(|&b| live.reached[b] && !continues[b]) {
        let mut chain = Chain::default();
        let mut late = false;
        let mut block = Some(head);
        while let Some(current) = block {
            result.of_block[current] = Some(result.chains.next_key());
            chain.blocks.push(current);
            for inst in graph.insts(current) {
                result.segment[inst] = chain.anchors.len();
                result.late[inst] = late;
                if graph.is_shared_anchor(inst) {
                    chain.anchors.push(inst);
                    late = false;
                }
                late |= graph.nodes[inst].is_overwritten || graph.nodes[inst].is_grouped;
            }
            for &between in hammocks[current].iter().flat_map(|hammock| &hammock.between) {
                result.of_block[between] = Some(result.chains.next_key());
                for inst in graph.insts(between) {
                    result.segment[inst] = chain.anchors.len();
                    result.late[inst] = late;
                }
            }
            block = next(current);
        }
        result.chains.push(chain);
    }
    result.hammocks = hammocks;
    result
}
