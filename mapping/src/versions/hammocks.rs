//! Hammocks: branches whose ways meet again and have no effect between.
//!
//! `simplifycfg` makes selects of such a branch and merges what is before it with what is behind
//! it. So that the versions do not part there, the chain that ends in the branch goes on with the
//! join, and what lies between counts as a part of the segment in which the chain branches: it is
//! run with it, once at most, and nobody sees it. That is so if
//!
//! 1. the branch's block is the join's immediate dominator, and all ways from it lead to the join;
//! 2. they do not go round;
//! 3. there are only operations on values on them, and loads, which read what is in memory behind
//!    the last anchor before the branch: no anchors, no freezes. Stores that only base has
//!    ([`crate::proof::lone`]) are none: the branch stands for them.
//!
//! Where both versions have a branch, or neither needs it to be passed over, chains stay as they
//! are: a chain has points, and landings, of its own.

use crate::versions::chains::{ChainId, Chains, Hammock, chains};
use crate::versions::facts::{Tracked, VersionFacts, Versions};
use crate::versions::version::Version;
use midflight_ir::ids::{BlockId, InstId};
use typed_index_collections::TiVec;

/// There are less blocks on the ways than this.
const MOST_BLOCKS: usize = 64;

/// Finds the chains of both versions, which go on behind the branches that only one of them has.
pub fn find_chains(versions: &mut Versions) {
    for which in Version::BOTH {
        let version = &mut versions.of[which];
        version.chains = chains_with(version, vec![None; version.graph.blocks.len()].into());
    }
    let made = Version::BOTH.map(|which| {
        let other = &versions.of[which.other()];
        contracted(&versions.of[which], other, &versions.tracked, which)
    });
    for (which, made) in Version::BOTH.into_iter().zip(made) {
        let chains = &mut versions.of[which].chains;
        *chains = made.unwrap_or(std::mem::take(chains));
    }
}

/// The chains of a version, if there are hammocks that the other one has not.
fn contracted(
    version: &VersionFacts,
    other: &VersionFacts,
    tracked: &Tracked,
    which: Version,
) -> Option<Chains> {
    let graph = &version.graph;
    let mut found: Vec<(BlockId, Hammock)> = graph
        .blocks
        .keys()
        .filter_map(|join| Some((version.scopes.immediate(join)?, hammock(version, which, join)?)))
        .collect();
    let mut hammocks = TiVec::from(vec![None; graph.blocks.len()]);
    let mut made: Option<Chains> = None;
    loop {
        let chains = made.as_ref().unwrap_or(&version.chains);
        let (now, later): (Vec<_>, Vec<_>) = found.into_iter().partition(|(branch, hammock)| {
            let [before, behind] = [*branch, hammock.join].map(|b| chains.of_block[b]);
            let (Some(before), Some(behind)) = (before, behind) else { return false };
            // A silent chain is passed over anyway, but for what is stored before it.
            let mut between = hammock.between.iter().flat_map(|&b| version.graph.insts(b));
            let stores = between.any(|inst| version.graph.nodes[inst].lone.is_some());
            let is_seen = stores
                || !chains.chains[behind].anchors.is_empty()
                || version.live.taken[chains.last(behind)].is_empty();
            let ends = End { chains, version, other, tracked, which };
            let there = ends.of(before, true);
            let is_one = |behind: Option<ChainId>| match (there, behind) {
                // Where nothing of it is known, it is where the other version stores.
                (Some(there), None) => stores && ends.stores_alone(there),
                (there, behind) => there.is_some() && there == behind,
            };
            is_seen && before != behind && is_one(ends.of(behind, false))
        });
        if now.is_empty() {
            return made;
        }
        found = later;
        now.into_iter().for_each(|(branch, hammock)| hammocks[branch] = Some(hammock));
        made = Some(chains_with(version, hammocks.clone()));
    }
}

fn chains_with(version: &VersionFacts, hammocks: TiVec<BlockId, Option<Hammock>>) -> Chains {
    chains(&version.graph, &version.live, hammocks)
}

/// Where the ends of a version's chains are in the other version.
struct End<'a> {
    chains: &'a Chains,
    version: &'a VersionFacts,
    other: &'a VersionFacts,
    tracked: &'a Tracked,
    which: Version,
}

impl End<'_> {
    /// The chain of the other version that has an end of a chain: its last anchor, or its first
    /// one; or what else there is of it.
    fn of(&self, chain: ChainId, is_last: bool) -> Option<ChainId> {
        let blocks = &self.chains.chains[chain].blocks;
        let graph = &self.version.graph;
        let all = blocks.iter().flat_map(|&b| graph.insts(b));
        let mut all: Vec<InstId> = all.filter(|&i| !graph.nodes[i].facts.is_phi()).collect();
        if is_last {
            all.reverse();
        }
        let anchors = all.iter().filter(|&&i| graph.nodes[i].facts.is_anchor());
        let there = |&inst: &InstId| {
            let now = match self.which {
                Version::Base => self.tracked.kept[inst],
                Version::Opt => self.tracked.origin[inst],
            };
            self.other.chains.of_inst(&self.other.graph, now?)
        };
        let of_block = || {
            let mut blocks = blocks.iter().rev();
            blocks.find_map(|&block| self.other.chains.of_block[self.block(block)?])
        };
        anchors.clone().find_map(there).or_else(of_block).or_else(|| all.iter().find_map(there))
    }

    /// True for a chain of the other version with a store that only that has.
    fn stores_alone(&self, chain: ChainId) -> bool {
        let blocks = self.other.chains.chains[chain].blocks.iter();
        let mut insts = blocks.flat_map(|&block| self.other.graph.insts(block));
        insts.any(|inst| self.other.graph.nodes[inst].lone.is_some())
    }

    fn block(&self, block: BlockId) -> Option<BlockId> {
        match self.which {
            Version::Base => self.tracked.blocks[block],
            Version::Opt => self.tracked.blocks.position(|&b| b == Some(block)),
        }
    }
}

/// The hammock of a join.
fn hammock(version: &VersionFacts, which: Version, join: BlockId) -> Option<Hammock> {
    let live = &version.live;
    let above = version.scopes.immediate(join)?;
    (live.predecessors[join].len() > 1 && live.successors[above].len() > 1).then_some(())?;
    let mut between: Vec<BlockId> = Vec::new();
    let mut work = live.predecessors[join].clone();
    while let Some(block) = work.pop() {
        if block == above || between.contains(&block) {
            continue;
        }
        if block == join || between.len() == MOST_BLOCKS || !is_silent(version, which, block) {
            return None;
        }
        between.push(block);
        work.extend(&live.predecessors[block]);
    }
    let stays = |block: &BlockId| {
        live.successors[*block].iter().all(|to| *to == join || between.contains(to))
    };
    let stays = stays(&above) && between.iter().all(stays);
    (stays && !goes_round(version, &between)).then_some(Hammock { join, between })
}

/// True for a block that only computes values.
fn is_silent(version: &VersionFacts, which: Version, block: BlockId) -> bool {
    let mut nodes = version.graph.insts(block).iter().map(|i| &version.graph.nodes[i]);
    nodes.all(|node| {
        let facts = node.facts;
        let is_lone = which == Version::Base && node.lone.is_some();
        let ends = facts.is_terminator() && !facts.is_anchor() && !facts.reads_memory();
        let computes = facts.is_repeatable() || facts.is_load();
        facts.is_phi() || facts.is_marker() || computes || ends || is_lone
    })
}

/// True if control may come to one of the blocks again without leaving them.
fn goes_round(version: &VersionFacts, blocks: &[BlockId]) -> bool {
    let mut rest = blocks.to_vec();
    loop {
        let count = rest.len();
        let without = rest.clone();
        rest.retain(|&b| version.live.predecessors[b].iter().any(|p| without.contains(p)));
        if rest.len() == count {
            return !rest.is_empty();
        }
    }
}
