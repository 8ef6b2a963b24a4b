//! Which chains of two versions run at the same time, as [`super::bisimulation`] finds it.

use crate::proof::partings::Parting;
use crate::versions::chains::ChainId;
use crate::versions::facts::{VersionFacts, Versions};
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::{BlockId, InstId};
use midflight_ir::index_type;
use typed_index_collections::TiVec;

/// A walk from the end of a chain, over silent chains, to the head of a matched one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Walk {
    /// The edges, each from the last block of a chain to the head of the next
    pub edges: Vec<(BlockId, BlockId)>,
    /// It may go round before it gets there, so that phis on the way may have any of their values.
    pub goes_round: bool,
}

/// The edges of a walk.
type Edges = [(BlockId, BlockId)];

impl Walk {
    /// Where it comes from at an entry, and the edges that it took before; the inner option is none
    /// if it does not cross that. The outer one is if it may cross it again.
    pub(super) fn crossed(&self, entry: BlockId) -> Option<Option<(BlockId, &Edges)>> {
        let Some(place) = self.edges.iter().rposition(|&(_, to)| to == entry) else {
            return (!self.goes_round).then_some(None);
        };
        let is_end = place + 1 == self.edges.len();
        (is_end || !self.goes_round).then_some(())?;
        let before = if self.goes_round { &[] } else { &self.edges[..place] };
        Some(Some((self.edges[place].0, before)))
    }
}

/// An edge that both versions take together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutEdge {
    /// The pair that it leads to
    pub to: PairId,
    /// For each version the walks that it may take
    pub walks: PerVersion<Vec<Walk>>,
}

/// How the terminators of a pair must decide.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The terminators
    pub insts: PerVersion<InstId>,
    /// What their operands must be to each other
    pub relation: Relation,
}

/// How the operands of two terminators decide alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Relation {
    /// They are congruent
    Same,
    /// They are each other's negations
    Opposite,
    /// Those of switches are congruent, but one has cases that the other one has not, which go
    /// where others go
    Values,
    /// Those of switches: one is the other one extended, or with something added
    Cases,
    /// Through the silent chains behind them both versions come to the same pair, whatever is
    /// decided on the way
    Ways,
}

index_type! {
    /// A pair of [`Matching::pairs`].
    PairId
}

/// Two chains that run together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Pair {
    /// The chain of each version
    pub chains: PerVersion<ChainId>,
    /// So many anchors correspond.
    pub prefix: usize,
    /// The edges at its end; none if they do not correspond, or the prefix is not all
    pub out: Option<Vec<OutEdge>>,
    /// For each version the blocks that it goes to at its end where the other one goes elsewhere:
    /// there they part
    pub lost: PerVersion<Vec<BlockId>>,
    /// What must be proved for the edges to be the same ones
    pub condition: Option<Condition>,
    /// The edges that lead to it: pair and place in `out`
    pub incoming: Vec<(PairId, usize)>,
    /// For each version the blocks whose phis make what it is entered with: its head, and the heads
    /// of the silent chains that lead nowhere else and that it is never reached without
    pub entries: PerVersion<Vec<BlockId>>,
}

impl Pair {
    /// True if the versions part on some of its ways.
    pub fn is_lossy(&self) -> bool {
        !self.lost.base.is_empty()
    }
}

/// Chains that run together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Matching {
    /// The pairs; that of the entries is the first, if there is any
    pub pairs: TiVec<PairId, Pair>,
    /// For each version and chain its pair
    pub of_chain: PerVersion<TiVec<ChainId, Option<PairId>>>,
    /// For each version and chain the pair that has its head among its entries
    pub enters: PerVersion<TiVec<ChainId, Option<PairId>>>,
    /// For each version and chain whether it may be entered while the other version is elsewhere
    pub parted: PerVersion<TiVec<ChainId, bool>>,
    /// Where it was found that the versions part, in the order in which it was
    pub partings: Vec<Parting>,
}

impl Matching {
    /// The pair that both versions begin with.
    pub fn entry(&self) -> Option<PairId> {
        self.pairs.position(|pair| pair.chains.iter().all(|&chain| chain == ChainId::ENTRY))
    }

    /// True if versions part: within a pair, or so that one enters a chain while the other one is
    /// elsewhere.
    pub fn has_parted(&self) -> bool {
        self.pairs.iter().any(|pair| pair.out.is_none())
            || self.parted.iter().any(|parted| parted.contains(&true))
    }

    /// True if each version has chains that are not matched: what is copied may be matched with
    /// what it is a copy of.
    pub fn leaves_chains(&self, versions: &Versions) -> bool {
        Version::BOTH.into_iter().all(|which| {
            let version = &versions.of[which];
            let is_reached = |chain: ChainId| version.live.reached[version.chains.head(chain)];
            let chains = self.of_chain[which].iter_enumerated();
            chains.filter(|(_, pair)| pair.is_none()).any(|(chain, _)| is_reached(chain))
        })
    }

    /// The pair that has a block among its entries.
    pub fn entered(&self, versions: &Versions, which: Version, block: BlockId) -> Option<PairId> {
        let chains = &versions.of[which].chains;
        let chain = chains.of_block[block]?;
        self.enters[which][chain].filter(|_| chains.head(chain) == block)
    }

    /// The pair and the segment that an instruction runs in, if both versions do that together.
    pub(super) fn segment(
        &self,
        versions: &Versions,
        which: Version,
        inst: InstId,
    ) -> Option<(PairId, usize)> {
        let VersionFacts { graph, chains, .. } = &versions.of[which];
        let pair = self.of_chain[which][chains.of_inst(graph, inst)?]?;
        let segment = chains.segment[inst];
        (segment <= self.pairs[pair].prefix).then_some((pair, segment))
    }

    /// The phis of a pair's entries.
    pub fn entry_phis<'a>(
        &'a self,
        versions: &'a Versions,
        which: Version,
        pair: PairId,
    ) -> impl Iterator<Item = InstId> + 'a {
        let blocks = self.pairs[pair].entries[which].iter();
        blocks.flat_map(move |&block| versions.graph(which).phis(block))
    }
}
