//! Two versions as they are compared: all that is known of them before anything is proved.

use crate::versions::chains::{ChainId, Chains};
use crate::versions::gates::Gate;
use crate::versions::graph::Graph;
use crate::versions::live::Live;
use crate::versions::scopes::Scopes;
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::{BlockId, InstId, ValueId};
use typed_index_collections::TiVec;

/// What is known of a version before it is matched: its instructions, and what follows from them.
#[derive(Clone, Debug)]
pub struct VersionFacts {
    /// Its instructions
    pub graph: Graph,
    /// What it can do
    pub live: Live,
    /// Its chains
    pub chains: Chains,
    /// What its branches say of values
    pub scopes: Scopes,
    /// For each block the branch that decides its phis, if one does
    pub gates: TiVec<BlockId, Option<Gate>>,
}

/// What tracking says of two versions.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tracked {
    /// For each block of base the block of opt that it became
    pub blocks: TiVec<BlockId, Option<BlockId>>,
    /// For each instruction of base the one of opt that it is
    pub kept: TiVec<InstId, Option<InstId>>,
    /// For each instruction of base the one of opt that came in its place
    pub replaced: TiVec<InstId, Option<InstId>>,
    /// For each instruction of base whether a constant came in its place
    pub folded: TiVec<InstId, bool>,
    /// For each instruction of opt the one of base that it was
    pub origin: TiVec<InstId, Option<InstId>>,
}

/// Two versions of a function.
#[derive(Clone, Debug)]
pub struct Versions {
    /// Base and opt
    pub of: PerVersion<VersionFacts>,
    /// What is said of them
    pub tracked: Tracked,
    /// There are stores that only one version has, at its time.
    pub has_lone: bool,
    /// There are loads that are numbered by what their places have.
    pub has_places: bool,
    /// Landing pads tell their functions' own selectors.
    pub own_selectors: bool,
}

impl VersionFacts {
    /// True if an instruction runs before another one whenever that runs.
    pub fn is_above(&self, inst: InstId, other: InstId) -> bool {
        let (from, to) = (self.graph.block(inst), self.graph.block(other));
        if from == to { inst < other } else { self.scopes.dominates(from, to) }
    }

    /// True if a value is computed in the chain of a block.
    pub fn is_of_chain(&self, value: ValueId, block: BlockId) -> bool {
        let chain = |block: BlockId| self.chains.of_block[block];
        let inst = self.graph.definition(value);
        inst.is_some_and(|inst| chain(self.graph.block(inst)) == chain(block))
    }

    /// The chains that control may go to from the end of a chain.
    pub fn successors(&self, chain: ChainId) -> impl Iterator<Item = ChainId> {
        let blocks = self.live.successors[self.chains.last(chain)].iter();
        blocks.filter_map(|&block| self.chains.of_block[block])
    }

    /// True for a chain that does nothing but end the function, and that may be reached.
    pub fn returns(&self, chain: ChainId) -> bool {
        let last = self.chains.last(chain);
        self.live.reached[last]
            && self.graph.body.blocks[last].edges.is_empty()
            && self.chains.chains[chain].anchors.is_empty()
    }

    /// True if the version cannot go on from the end of a chain.
    pub fn ends(&self, chain: ChainId) -> bool {
        self.live.taken[self.chains.last(chain)].is_empty()
    }
}

impl Versions {
    /// A branch of opt and the one of base that it was, if both depend on a condition.
    pub fn branch_of_base(&self, which: Version, branch: InstId) -> Option<PerVersion<InstId>> {
        let base = if which == Version::Opt { self.tracked.origin[branch]? } else { return None };
        let insts = PerVersion { base, opt: branch };
        let is_conditional = |w: Version| self.graph(w).nodes[insts[w]].facts.is_conditional();
        Version::BOTH.into_iter().all(is_conditional).then_some(insts)
    }

    /// The instructions of a version.
    pub fn graph(&self, which: Version) -> &Graph {
        &self.of[which].graph
    }

    /// True for a chain without anchors that goes on somewhere.
    pub fn is_silent(&self, which: Version, chain: ChainId) -> bool {
        let version = &self.of[which];
        version.chains.chains[chain].anchors.is_empty() && !version.ends(chain)
    }
}
