//! Which chains of two versions run at the same time: a bisimulation up to blocks without anchors.
//!
//! Two chains are matched if, whenever one version enters its chain, the other one enters its own,
//! with the same anchors run before. That holds if
//!
//! 1. the chains of the two entries are matched;
//! 2. matched chains have congruent anchors in the same order, operands included, as far as the
//!    match is used (`prefix`);
//! 3. where a matched chain ends, both versions take corresponding edges, because their conditions
//!    are congruent, or because all edges lead to the same place, or because what branches on the
//!    way decide leads both to the same place ([`super::round`]); a version may cross *silent*
//!    chains, which have no anchors, on its way. Of the edges of congruent conditions some may be
//!    *lost*: they lead elsewhere in one version than in the other one, and only there they part;
//! 4. every way into a matched chain comes over such edges.
//!
//! The phis of a silent chain that a pair is always entered over make part of what it is entered
//! with (`entries`): `loop-simplify` splits the head of a loop in two, and phis go up or down with
//! it.
//!
//! What a pass copied (unrolled, threaded) stays unmatched here, since one of the copies is
//! entered at other times ([`crate::unfold`] matches that); and so is all that can be reached from
//! where two versions part. The candidates are what tracking says of blocks. It is not believed:
//! the conditions are checked with the congruence of [`super::congruence`], which in turn builds
//! on the matching; what fails is taken out, until nothing fails.

use crate::proof::congruence::Congruence;
use crate::proof::matching::{Condition, Matching, OutEdge, Pair, PairId, Relation, Walk};
use crate::proof::partings::{Parting, parting};
use crate::versions::chains::ChainId;
use crate::versions::facts::{VersionFacts, Versions};
use crate::versions::graph::{Cases, Operand};
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::BlockId;
use rustc_hash::FxHashSet as HashSet;
use typed_index_collections::TiVec;

/// Two chains that may run together, and how many of their anchors correspond
pub(super) type Candidate = (PerVersion<ChainId>, usize);

/// Walks that a silent region may have; with more, nothing is said of it.
const MOST_WALKS: usize = 16;

/// Silent chains that are crossed to see that versions part
const MOST_SILENT: usize = 64;

/// The only one for which something holds, if there is one.
fn only<T: Copy>(of: &mut dyn Iterator<Item = T>, holds: impl Fn(T) -> bool) -> Option<T> {
    let mut all = of.filter(|&one| holds(one));
    all.next().filter(|_| all.next().is_none())
}

impl Versions {
    /// Chains whose first blocks correspond, or else their first anchors, or any of their blocks,
    /// and those in which both versions only return, if there is one left of each, with as many
    /// anchors as both have.
    pub(super) fn candidates(&self) -> Vec<Candidate> {
        let PerVersion { base, opt } = &self.of;
        let mut used: TiVec<ChainId, bool> = TiVec::from(vec![false; opt.chains.chains.len()]);
        let mut found: TiVec<ChainId, Option<ChainId>> =
            TiVec::from(vec![None; base.chains.chains.len()]);
        let first =
            |of: &VersionFacts, chain: ChainId| of.chains.chains[chain].anchors.first().copied();
        // What a silent chain became may have been merged with what another one did.
        let is_anothers = |chain: ChainId, partner: ChainId| {
            let origin = first(opt, partner).and_then(|anchor| self.tracked.origin[anchor]);
            chain != ChainId::ENTRY && first(base, chain).is_none() && origin.is_some()
        };
        for kind in [Partner::Head, Partner::Anchor, Partner::Blocks] {
            for (chain, place) in found.iter_mut_enumerated().filter(|(_, p)| p.is_none()) {
                let blocks = &base.chains.chains[chain].blocks;
                let of_block = |&block: &BlockId| {
                    let partner = opt.chains.of_block[self.tracked.blocks[block]?]?;
                    (!used[partner]).then_some(partner)
                };
                let partner = match kind {
                    Partner::Head => of_block(&blocks[0]).filter(|&p| !is_anothers(chain, p)),
                    Partner::Anchor => first(base, chain).and_then(|anchor| {
                        let anchor = self.tracked.kept[anchor]?;
                        let partner = opt.chains.of_inst(&opt.graph, anchor)?;
                        (first(opt, partner) == Some(anchor) && !used[partner]).then_some(partner)
                    }),
                    Partner::Blocks => blocks.iter().find_map(of_block),
                };
                if let Some(partner) = partner {
                    used[partner] = true;
                    *place = Some(partner);
                }
            }
        }
        let left = found.iter_enumerated().filter(|(_, place)| place.is_none());
        let left_of_base = only(&mut left.map(|(chain, _)| chain), |c| base.returns(c));
        let left_of_opt =
            only(&mut used.keys().filter(|&chain| !used[chain]), |chain| opt.returns(chain));
        if let Some((of_base, of_opt)) = left_of_base.zip(left_of_opt) {
            found[of_base] = Some(of_opt);
        }
        let anchors =
            |version: &VersionFacts, chain: ChainId| version.chains.chains[chain].anchors.len();
        let found = found.into_iter_enumerated().filter_map(|(a, b)| {
            let chains = PerVersion { base: a, opt: b? };
            Some((chains, anchors(base, a).min(anchors(opt, b?))))
        });
        found.collect()
    }

    /// The matching that candidates make, without those that fail whatever values are the same, and
    /// what is behind them. Where the versions part is added to `partings`.
    pub(super) fn settled_structure(
        &self,
        mut candidates: Vec<Candidate>,
        partings: &mut Vec<Parting>,
    ) -> Matching {
        loop {
            let matching = self.structure(&candidates);
            let mut pairs = matching.pairs.iter();
            let count = candidates.len();
            candidates
                .retain(|_| pairs.next().is_some_and(|pair| !self.may_be_silent(&matching, pair)));
            if candidates.len() == count {
                let crossed: HashSet<PairId> =
                    matching.pairs.keys().flat_map(|id| self.crossed(&matching, id)).collect();
                let mut ids = matching.pairs.keys();
                candidates.retain(|_| ids.next().is_some_and(|id| !crossed.contains(&id)));
            }
            if candidates.len() == count {
                let lost = |id: PairId| self.lost_for_good(&matching, id);
                let lost: TiVec<PairId, _> = matching.pairs.keys().map(lost).collect();
                self.note(&matching, None, |id| lost[id].is_some(), partings);
                let parted = PerVersion::from_fn(|which| {
                    self.reached_behind(which, lost.iter().flatten().flat_map(|to| &to[which]))
                });
                candidates
                    .retain(|(chains, _)| !parted.base[chains.base] && !parted.opt[chains.opt]);
            }
            if candidates.len() == count {
                return matching;
            }
        }
    }

    /// Adds why these pairs' versions do not go on alike, if that is not known yet.
    fn note(
        &self,
        matching: &Matching,
        congruence: Option<&Congruence>,
        fails: impl Fn(PairId) -> bool,
        partings: &mut Vec<Parting>,
    ) {
        for id in matching.pairs.keys().filter(|&id| fails(id)) {
            let chains = matching.pairs[id].chains;
            if partings.iter().all(|known| known.chains != chains) {
                partings.push(parting(self, matching, congruence, id));
            }
        }
    }

    /// For a pair at whose end the versions part, whichever of the other pairs turn out to be
    /// silent, the blocks that they go to there; if they part on some ways only, those of these.
    fn lost_for_good(&self, matching: &Matching, id: PairId) -> Option<PerVersion<Vec<BlockId>>> {
        let pair = &matching.pairs[id];
        if (pair.out.is_some() && !pair.is_lossy()) || self.may_be_silent(matching, pair) {
            return None;
        }
        let last = PerVersion::from_fn(|w| self.of[w].chains.last(pair.chains[w]));
        let targets = PerVersion::from_fn(|w| self.targets(w, pair.chains[w]));
        let all = targets.as_ref().map(|targets| targets.to_vec());
        if !self.is_whole(pair) {
            return Some(all);
        }
        let decisions = self.decisions(last);
        let never_meet =
            |&way: &PerVersion<usize>| self.never_meet(matching, self.successors(last, way));
        let part = (pair.is_lossy() || self.never_meet(matching, targets))
            && decisions.iter().all(|decision| decision.ways.iter().any(never_meet))
            && self.reach_others(matching, targets);
        part.then_some(())?;
        if !pair.is_lossy() {
            return Some(all);
        }
        let mut lost = PerVersion::<Vec<BlockId>>::default();
        for to in self.ways_of(pair).into_iter().filter(|&to| self.never_meet(matching, to)) {
            Version::BOTH.into_iter().for_each(|w| lost[w].extend(to[w]));
        }
        Some(lost)
    }

    /// Silent pairs behind the end of a pair that only one version comes to, the other one having
    /// crossed what is the same to it: not being pairs, they are crossed by both.
    fn crossed(&self, matching: &Matching, id: PairId) -> Vec<PairId> {
        let pair = &matching.pairs[id];
        if (pair.out.is_some() && !pair.is_lossy()) || !self.is_whole(pair) {
            return Vec::new();
        }
        let last = PerVersion::from_fn(|w| self.of[w].chains.last(pair.chains[w]));
        let of_ways = self.decisions(last).into_iter().flat_map(|decision| {
            let ways = decision.ways.into_iter();
            ways.map(|way| self.successors(last, way)).collect::<Vec<_>>()
        });
        let all = PerVersion::from_fn(|w| self.targets(w, pair.chains[w]));
        let ways: Vec<_> = if pair.is_lossy() { of_ways.collect() } else { vec![all] };
        let mut crossed = Vec::new();
        for to in ways {
            let next = Version::BOTH.map(|w| self.next_pairs(matching, w, to[w]));
            let [Some(base), Some(opt)] = next else { continue };
            let only: Vec<PairId> = base.symmetric_difference(&opt).copied().collect();
            if only.iter().all(|&pair| self.are_silent(matching.pairs[pair].chains)) {
                crossed.extend(only);
            }
        }
        crossed
    }

    /// The pairs that a version comes to over these blocks and unmatched silent chains; none if it
    /// may come to an unmatched chain that is not.
    fn next_pairs(
        &self,
        matching: &Matching,
        which: Version,
        to: &[BlockId],
    ) -> Option<HashSet<PairId>> {
        let version = &self.of[which];
        let mut pairs = HashSet::default();
        let mut seen: HashSet<ChainId> = HashSet::default();
        let mut work: Vec<BlockId> = to.to_vec();
        while let Some(block) = work.pop() {
            let chain = version.chains.of_block[block]?;
            if let Some(pair) = matching.of_chain[which][chain] {
                pairs.insert(pair);
            } else if seen.insert(chain) {
                (self.is_silent(which, chain) && seen.len() <= MOST_SILENT).then_some(())?;
                work.extend(&version.live.successors[version.chains.last(chain)]);
            }
        }
        Some(pairs)
    }

    /// The blocks that a version goes to at the end of a chain.
    fn targets(&self, which: Version, chain: ChainId) -> &[BlockId] {
        &self.of[which].live.successors[self.of[which].chains.last(chain)]
    }

    /// How the terminators of two blocks may decide so that both versions go on alike: just if
    /// their operands are congruent, or, if they are branches, each other's negations.
    fn decisions(&self, blocks: PerVersion<BlockId>) -> Vec<Decision> {
        let insts = PerVersion::from_fn(|w| self.of[w].graph.terminator(blocks[w]));
        let [a, b] = Version::BOTH.map(|w| &self.of[w].graph.nodes[insts[w]]);
        let [taken, of_opt_taken] = Version::BOTH.map(|w| &self.of[w].live.taken[blocks[w]]);
        let mut decisions = Vec::new();
        let is_same = a.operation == b.operation;
        let mut are_alike = is_same;
        if let (Some(of_base), Some(of_opt)) = (&a.cases, &b.cases)
            && !is_same
        {
            let is_as_wide = of_base.bits == of_opt.bits;
            are_alike = is_as_wide && of_base.values.len() == of_opt.values.len();
            let mut ways = Cases::ways_together(PerVersion { base: of_base, opt: of_opt });
            ways.retain(|way| taken.contains(&way.base) || of_opt_taken.contains(&way.opt));
            let are_taken = |way: &PerVersion<usize>| {
                taken.contains(&way.base) && of_opt_taken.contains(&way.opt)
            };
            if !ways.is_empty() && ways.iter().all(are_taken) {
                let relation = if is_as_wide { Relation::Values } else { Relation::Cases };
                decisions.push(Decision { condition: Condition { insts, relation }, ways });
            }
        }
        if !are_alike || taken != of_opt_taken {
            return decisions;
        }
        let alike = taken.iter().map(|&index| PerVersion { base: index, opt: index });
        let relation = if is_same { Relation::Same } else { Relation::Cases };
        let condition = Condition { insts, relation };
        decisions.push(Decision { condition, ways: alike.collect() });
        if a.facts.is_conditional() && taken[..] == [0, 1] {
            let ways = [0, 1].map(|index| PerVersion { base: index, opt: 1 - index });
            let condition = Condition { insts, relation: Relation::Opposite };
            decisions.push(Decision { condition, ways: ways.into() });
        }
        decisions
    }

    /// A successor of a block of each version, by its index.
    fn successors(
        &self,
        blocks: PerVersion<BlockId>,
        way: PerVersion<usize>,
    ) -> PerVersion<&[BlockId]> {
        PerVersion::from_fn(|w| {
            let body = &self.of[w].graph.body;
            let edge = body.code.successors[blocks[w]][way[w]];
            std::slice::from_ref(&body.blocks[blocks[w]].edges[edge].to)
        })
    }

    /// True if the ways over these blocks lead to different pairs, whichever turn out to be silent.
    fn never_meet(&self, matching: &Matching, to: PerVersion<&[BlockId]>) -> bool {
        let mut met = None;
        for which in Version::BOTH {
            let version = &self.of[which];
            let mut seen: Vec<ChainId> = Vec::new();
            let mut work: Vec<BlockId> = to[which].to_vec();
            if work.is_empty() {
                return true;
            }
            while let Some(chain) = work.pop().map(|block| version.chains.of_block[block]) {
                let Some(chain) = chain.filter(|chain| !seen.contains(chain)) else { continue };
                seen.push(chain);
                let silent =
                    |w: Version, pair: PairId| self.is_silent(w, matching.pairs[pair].chains[w]);
                match matching.of_chain[which][chain] {
                    Some(pair) if silent(Version::Base, pair) && silent(Version::Opt, pair) => {}
                    Some(pair) if met.is_some_and(|met| met != pair) => return true,
                    Some(pair) => met = Some(pair),
                    None if seen.len() > MOST_SILENT => return false,
                    None if !self.is_silent(which, chain) => return true,
                    None => {
                        work.extend(&version.live.successors[version.chains.last(chain)]);
                    }
                }
            }
        }
        false
    }

    /// True if the ways over these blocks lead to other pairs in one version than in the other one,
    /// whichever turn out to be silent.
    fn reach_others(&self, matching: &Matching, to: PerVersion<&[BlockId]>) -> bool {
        let reached = |which: Version| {
            let version = &self.of[which];
            let mut seen: Vec<ChainId> = Vec::new();
            let mut pairs: Vec<PairId> = Vec::new();
            let mut work: Vec<BlockId> = to[which].to_vec();
            while let Some(chain) = work.pop().map(|block| version.chains.of_block[block]) {
                let Some(chain) = chain.filter(|chain| !seen.contains(chain)) else { continue };
                seen.push(chain);
                match matching.of_chain[which][chain] {
                    Some(pair) if !self.are_silent(matching.pairs[pair].chains) => pairs.push(pair),
                    None if !self.is_silent(which, chain) => return None,
                    _ => work.extend(&version.live.successors[version.chains.last(chain)]),
                }
                if seen.len() > MOST_SILENT {
                    return None;
                }
            }
            pairs.sort_unstable();
            pairs.dedup();
            Some(pairs)
        };
        let pairs = Version::BOTH.map(reached);
        pairs.iter().any(Option::is_none) || pairs[0] != pairs[1]
    }

    /// True for a pair that does not hold, and that has neither anchors nor an end: it may turn out
    /// to be silent. One that loses ways on which the versions part for good is of more use as it
    /// is.
    fn may_be_silent(&self, matching: &Matching, pair: &Pair) -> bool {
        let is_lost = |w: Version, to: &[BlockId]| to.iter().all(|b| pair.lost[w].contains(b));
        (pair.out.is_none() || pair.is_lossy())
            && self.are_silent(pair.chains)
            && !(pair.is_lossy()
                && self.ways_of(pair).into_iter().all(|to| {
                    !Version::BOTH.into_iter().all(|w| is_lost(w, to[w]))
                        || self.never_meet(matching, to)
                }))
    }

    /// The successors that the versions go to at the end of a pair on the ways that they take
    /// together.
    fn ways_of(&self, pair: &Pair) -> Vec<PerVersion<&[BlockId]>> {
        let last = PerVersion::from_fn(|w| self.of[w].chains.last(pair.chains[w]));
        let decisions = self.decisions(last);
        let of_pair = decisions.iter().find(|d| Some(d.condition) == pair.condition);
        let ways = of_pair.into_iter().flat_map(|decision| &decision.ways);
        ways.map(|&way| self.successors(last, way)).collect()
    }

    pub(super) fn are_silent(&self, chains: PerVersion<ChainId>) -> bool {
        Version::BOTH
            .into_iter()
            .all(|w| chains[w] != ChainId::ENTRY && self.is_silent(w, chains[w]))
    }

    /// The matching that candidates make, as far as the graphs alone say.
    pub(super) fn structure(&self, candidates: &[Candidate]) -> Matching {
        let mut matching = Matching {
            pairs: candidates
                .iter()
                .map(|&(chains, prefix)| Pair {
                    chains,
                    prefix,
                    out: None,
                    lost: PerVersion::default(),
                    condition: None,
                    incoming: Vec::new(),
                    entries: PerVersion::from_fn(|w| vec![self.of[w].chains.head(chains[w])]),
                })
                .collect(),
            of_chain: PerVersion::from_fn(|w| {
                TiVec::from(vec![None; self.of[w].chains.chains.len()])
            }),
            enters: PerVersion::default(),
            parted: PerVersion::from_fn(|w| {
                TiVec::from(vec![false; self.of[w].chains.chains.len()])
            }),
            partings: Vec::new(),
        };
        for (id, pair) in matching.pairs.iter_enumerated() {
            matching.of_chain.base[pair.chains.base] = Some(id);
            matching.of_chain.opt[pair.chains.opt] = Some(id);
        }
        self.find_entries(&mut matching);
        for id in matching.pairs.keys() {
            if self.is_whole(&matching.pairs[id]) {
                let Out { edges, condition, lost } = self.out_edges(&matching, id);
                let pair = &mut matching.pairs[id];
                (pair.out, pair.condition, pair.lost) = (edges, condition, lost);
            }
        }
        for id in matching.pairs.keys() {
            let targets: Vec<PairId> =
                matching.pairs[id].out.iter().flatten().map(|edge| edge.to).collect();
            for (place, to) in targets.into_iter().enumerate() {
                matching.pairs[to].incoming.push((id, place));
            }
        }
        matching
    }

    /// Finds the silent chains whose heads are among the entries of pairs.
    fn find_entries(&self, matching: &mut Matching) {
        matching.enters.clone_from(&matching.of_chain);
        for which in Version::BOTH {
            for chain in self.of[which].chains.chains.keys() {
                if let Some(pair) = self.leads_to(matching, which, chain) {
                    matching.enters[which][chain] = Some(pair);
                    let head = self.of[which].chains.head(chain);
                    matching.pairs[pair].entries[which].push(head);
                }
            }
        }
    }

    /// The pair that an unmatched chain leads to, and that is not reached without it.
    fn leads_to(&self, matching: &Matching, which: Version, chain: ChainId) -> Option<PairId> {
        let version = &self.of[which];
        let head = version.chains.head(chain);
        // Elsewhere no phis are needed.
        let is_join = version.live.predecessors[head].len() > 1;
        (is_join && matching.of_chain[which][chain].is_none()).then_some(())?;
        let (pair, _) = self.from_silent(matching, which, chain)?;
        let target = version.chains.head(matching.pairs[pair].chains[which]);
        version.scopes.dominates(head, target).then_some(pair)
    }

    /// True if all anchors of both chains correspond.
    fn is_whole(&self, pair: &Pair) -> bool {
        let anchors = |w: Version| self.of[w].chains.chains[pair.chains[w]].anchors.len();
        pair.prefix == anchors(Version::Base) && pair.prefix == anchors(Version::Opt)
    }

    /// The edges at the end of a pair, and the terminators that must decide alike.
    fn out_edges(&self, matching: &Matching, id: PairId) -> Out {
        let pair = &matching.pairs[id];
        let last = PerVersion::from_fn(|w| self.of[w].chains.last(pair.chains[w]));
        let targets = PerVersion::from_fn(|w| self.targets(w, pair.chains[w]));
        if targets.iter().all(|t| t.is_empty()) {
            return Out { edges: Some(Vec::new()), ..Out::default() };
        }
        // All ways lead to the same pair.
        if let Some(edge) = self.edge(matching, last, targets) {
            return Out { edges: Some(vec![edge]), ..Out::default() };
        }
        let decided = self.decisions(last).into_iter().map(|d| self.decided(matching, last, &d));
        let decided: Vec<Out> = decided.collect();
        if let Some(whole) = decided.iter().find(|out| out.lost.base.is_empty()) {
            return whole.clone();
        }
        // The first one of those that lose least
        let count = |out: &Out| out.edges.as_ref().map_or(0, Vec::len);
        let lossy = decided.into_iter().rev().max_by_key(count).filter(|out| count(out) > 0);
        let (edges, are_all) = self.edges_of_ways(matching, last);
        if edges.is_empty() || (lossy.is_some() && !are_all) {
            return lossy.unwrap_or_default();
        }
        let insts = PerVersion::from_fn(|w| self.of[w].graph.terminator(last[w]));
        let condition = Some(Condition { insts, relation: Relation::Ways });
        Out { edges: Some(edges), condition, ..Out::default() }
    }

    /// The edges of the ways of a decision.
    fn decided(&self, matching: &Matching, last: PerVersion<BlockId>, decision: &Decision) -> Out {
        let mut edges = Vec::new();
        let mut lost = PerVersion::<Vec<BlockId>>::default();
        for &way in &decision.ways {
            let to = self.successors(last, way);
            match self.edge(matching, last, to) {
                Some(edge) => edges.push(edge),
                None => Version::BOTH.into_iter().for_each(|w| lost[w].extend(to[w])),
            }
        }
        Out { edges: Some(edges), condition: Some(decision.condition), lost }
    }

    /// The edges to the pairs that silent chains behind the ends of two chains lead to in both
    /// versions, and whether those are all.
    fn edges_of_ways(
        &self,
        matching: &Matching,
        last: PerVersion<BlockId>,
    ) -> (Vec<OutEdge>, bool) {
        let mut edges: Vec<OutEdge> = Vec::new();
        for which in Version::BOTH {
            let mut found: Vec<(PairId, Walk)> = Vec::new();
            if !self.ways_from(matching, which, &mut Vec::new(), last[which], &mut found) {
                return (Vec::new(), false);
            }
            for (pair, walk) in found {
                let known = edges.iter().position(|edge| edge.to == pair).unwrap_or_else(|| {
                    edges.push(OutEdge { to: pair, walks: PerVersion::default() });
                    edges.len() - 1
                });
                edges[known].walks[which].push(walk);
            }
        }
        let count = edges.len();
        edges.retain(|edge| edge.walks.iter().all(|walks| !walks.is_empty()));
        let are_all = edges.len() == count;
        (edges, are_all)
    }

    /// Adds all ways from a block to heads of matched chains; false if there are too many, or if
    /// one does not come to any.
    fn ways_from(
        &self,
        matching: &Matching,
        which: Version,
        walk: &mut Vec<(BlockId, BlockId)>,
        from: BlockId,
        found: &mut Vec<(PairId, Walk)>,
    ) -> bool {
        let version = &self.of[which];
        let taken: Vec<BlockId> = self.taken_on(which, walk, from).collect();
        taken.iter().all(|&to| {
            let Some(chain) = version.chains.of_block[to] else { return false };
            walk.push((from, to));
            let ends = match matching.of_chain[which][chain] {
                Some(pair) => {
                    found.push((pair, Walk { edges: walk.clone(), goes_round: false }));
                    found.len() <= MOST_WALKS
                }
                None => {
                    let goes_round = walk[..walk.len() - 1].iter().any(|&(_, block)| block == to);
                    let last = version.chains.last(chain);
                    !goes_round
                        && self.is_silent(which, chain)
                        && self.ways_from(matching, which, walk, last, found)
                }
            };
            walk.pop();
            ends
        }) && !taken.is_empty()
    }

    /// The successors that control may go to from the end of a walk.
    fn taken_on(
        &self,
        which: Version,
        walk: &[(BlockId, BlockId)],
        from: BlockId,
    ) -> impl Iterator<Item = BlockId> {
        let decided = self.decided_on(which, walk, from);
        let all = self.of[which].live.successors[from].iter().copied();
        all.filter(move |&to| decided.is_none_or(|decided| decided == to))
    }

    /// The successor that control goes to from the end of a walk, if a constant that comes in at a
    /// phi on the walk decides that.
    fn decided_on(
        &self,
        which: Version,
        walk: &[(BlockId, BlockId)],
        from: BlockId,
    ) -> Option<BlockId> {
        let VersionFacts { graph, live, scopes, .. } = &self.of[which];
        let &Operand::Value(condition) = graph.operands(graph.terminator(from)).first()? else {
            return None;
        };
        let mut operand = Operand::Value(condition);
        for &(before, block) in walk.iter().rev() {
            let phi = graph
                .definition_of(operand)
                .filter(|&inst| graph.nodes[inst].facts.is_phi() && graph.block(inst) == block);
            if let Some(phi) = phi {
                operand = graph.incoming(phi, before)?;
            }
        }
        let Operand::Constant(constant) = operand else { return None };
        let is_said = |to: BlockId| {
            let is_only = live.predecessors[to].len() == 1;
            let at = || scopes.at(condition, to).filter(|_| is_only);
            scopes.on_edge(condition, from, to).or_else(at) == Some(constant)
        };
        only(&mut live.successors[from].iter().copied(), is_said)
    }

    /// The edge that goes to these blocks, if it leads both versions to one pair.
    fn edge(
        &self,
        matching: &Matching,
        from: PerVersion<BlockId>,
        to: PerVersion<&[BlockId]>,
    ) -> Option<OutEdge> {
        let (pair, base) = self.walks(matching, Version::Base, from.base, to.base)?;
        let (other, opt) = self.walks(matching, Version::Opt, from.opt, to.opt)?;
        (pair == other).then_some(OutEdge { to: pair, walks: PerVersion { base, opt } })
    }

    /// The pair that all ways over these blocks lead to, and the ways.
    fn walks(
        &self,
        matching: &Matching,
        which: Version,
        from: BlockId,
        to: &[BlockId],
    ) -> Option<(PairId, Vec<Walk>)> {
        let mut search =
            Search { versions: self, matching, which, pair: None, found: Vec::new(), cycle: false };
        for &block in to {
            search.walk(&mut vec![(from, block)])?;
        }
        let goes_round = search.cycle;
        let walks = search.found.into_iter().map(|edges| Walk { edges, goes_round }).collect();
        Some((search.pair?, walks))
    }

    /// Where a silent chain leads, and how.
    pub fn from_silent(
        &self,
        matching: &Matching,
        which: Version,
        chain: ChainId,
    ) -> Option<(PairId, Vec<Walk>)> {
        if !self.is_silent(which, chain) || matching.parted[which][chain] {
            return None;
        }
        let version = &self.of[which];
        let last = version.chains.last(chain);
        self.walks(matching, which, last, &version.live.successors[last])
    }

    /// The pairs that pass the check, with the anchors that do; true if some were dropped that may
    /// turn out to be silent, so that nothing is known yet of those behind.
    pub(super) fn check(
        &self,
        matching: &Matching,
        congruence: &Congruence,
        partings: &mut Vec<Parting>,
    ) -> (Vec<Candidate>, bool) {
        let mut checked: TiVec<PairId, Checked> = TiVec::with_capacity(matching.pairs.len());
        for pair in &matching.pairs {
            let anchors =
                PerVersion::from_fn(|w| &self.of[w].chains.chains[pair.chains[w]].anchors);
            let alike = |n: &usize| congruence.are_alike(self, anchors.map(|anchors| anchors[*n]));
            let prefix = (0..pair.prefix).take_while(alike).count();
            let decide_alike =
                pair.condition.is_none_or(|condition| congruence.decide_alike(self, condition));
            let goes_on = pair.out.is_some() && prefix == pair.prefix && decide_alike;
            let is_lossy = pair.is_lossy();
            let may_be_silent = match goes_on {
                true => self.may_be_silent(matching, pair),
                false => self.are_silent(pair.chains),
            };
            checked.push(Checked { chains: pair.chains, prefix, goes_on, is_lossy, may_be_silent });
        }
        for (id, pair) in matching.pairs.iter_enumerated() {
            // On a way on which one version comes to it the other one may cross what is the same.
            let are_ways = pair.condition.is_some_and(|c| c.relation == Relation::Ways);
            if are_ways && !checked[id].goes_on && !self.are_silent(pair.chains) {
                for to in pair.out.iter().flatten().map(|edge| edge.to) {
                    checked[to].may_be_silent |= self.are_silent(matching.pairs[to].chains);
                }
            }
        }
        if checked.iter().any(|pair| pair.may_be_silent) {
            let silent = |id: PairId| checked[id].may_be_silent;
            self.note(matching, Some(congruence), silent, partings);
            checked.retain(|pair| !pair.may_be_silent);
            return (checked.iter().map(Checked::candidate).collect(), true);
        }
        let goes_on = |id: PairId| checked[id].goes_on;
        let parts = |id: PairId| !goes_on(id) || checked[id].is_lossy;
        self.note(matching, Some(congruence), parts, partings);
        let parted = self.parted(matching, goes_on);
        let reached = reached_together(matching, goes_on);
        let kept = checked
            .iter_enumerated()
            .filter(|(id, pair)| {
                reached[*id] && !parted.base[pair.chains.base] && !parted.opt[pair.chains.opt]
            })
            .map(|(_, pair)| pair.candidate());
        (kept.collect(), false)
    }

    /// The chains that a version may enter while the other one is elsewhere: those that can be
    /// reached from where they part.
    pub(super) fn parted(
        &self,
        matching: &Matching,
        goes_on: impl Fn(PairId) -> bool,
    ) -> PerVersion<TiVec<ChainId, bool>> {
        PerVersion::from_fn(|which| {
            if matching.of_chain[which].first().copied().flatten().is_none() {
                return TiVec::from(vec![true; self.of[which].chains.chains.len()]);
            }
            let to = matching.pairs.iter_enumerated().flat_map(|(id, pair)| match goes_on(id) {
                true => &pair.lost[which],
                false => self.targets(which, pair.chains[which]),
            });
            self.reached_behind(which, to)
        })
    }

    /// The chains that can be reached over these blocks.
    fn reached_behind<'a>(
        &self,
        which: Version,
        to: impl Iterator<Item = &'a BlockId>,
    ) -> TiVec<ChainId, bool> {
        let version = &self.of[which];
        let mut reached = TiVec::from(vec![false; version.chains.chains.len()]);
        let mut work: Vec<ChainId> =
            to.filter_map(|&block| version.chains.of_block[block]).collect();
        while let Some(chain) = work.pop() {
            if !std::mem::replace(&mut reached[chain], true) {
                work.extend(version.successors(chain));
            }
        }
        reached
    }
}

/// What says that a chain of opt may run together with one of base.
#[derive(Clone, Copy)]
enum Partner {
    /// Their first blocks correspond
    Head,
    /// Their first anchors do
    Anchor,
    /// Any of their blocks do
    Blocks,
}

/// How terminators may decide, and the successors that they go to then.
struct Decision {
    condition: Condition,
    /// For each way the index of the successor in each version
    ways: Vec<PerVersion<usize>>,
}

/// How both versions go on at the end of a pair.
#[derive(Clone, Debug, Default)]
struct Out {
    /// None if they do not
    edges: Option<Vec<OutEdge>>,
    /// What must be proved for that
    condition: Option<Condition>,
    /// The blocks that they go to elsewhere
    lost: PerVersion<Vec<BlockId>>,
}

/// What values say of a pair.
struct Checked {
    chains: PerVersion<ChainId>,
    prefix: usize,
    /// Both versions go on alike at its end,
    goes_on: bool,
    /// but not everywhere.
    is_lossy: bool,
    /// It is no pair that holds, but may turn out to be silent.
    may_be_silent: bool,
}

impl Checked {
    fn candidate(&self) -> Candidate {
        (self.chains, self.prefix)
    }
}

/// Looks for ways to a matched chain.
struct Search<'a> {
    versions: &'a Versions,
    matching: &'a Matching,
    which: Version,
    /// The pair that the ways found lead to
    pair: Option<PairId>,
    found: Vec<Vec<(BlockId, BlockId)>>,
    cycle: bool,
}

impl Search<'_> {
    /// Goes on from the last edge of a walk to heads of matched chains; none if they are not of one
    /// pair, or if there are none.
    fn walk(&mut self, walk: &mut Vec<(BlockId, BlockId)>) -> Option<()> {
        let &(_, block) = walk.last()?;
        let version = &self.versions.of[self.which];
        let chain = version.chains.of_block[block]?;
        if let Some(target) = self.matching.of_chain[self.which][chain] {
            let other = self.pair.replace(target).is_some_and(|known| known != target);
            if other || self.found.len() == MOST_WALKS {
                return None;
            }
            self.found.push(walk.clone());
            return Some(());
        }
        if walk[..walk.len() - 1].iter().any(|&(_, b)| b == block) {
            // What comes round again is found on the other ways out.
            self.cycle = true;
            return Some(());
        }
        if !self.versions.is_silent(self.which, chain) {
            return None;
        }
        let last = version.chains.last(chain);
        let taken: Vec<BlockId> = self.versions.taken_on(self.which, walk, last).collect();
        for next in taken {
            walk.push((last, next));
            let result = self.walk(walk);
            walk.pop();
            result?;
        }
        Some(())
    }
}

/// The pairs that can be reached from the first one over edges that correspond.
fn reached_together(matching: &Matching, goes_on: impl Fn(PairId) -> bool) -> TiVec<PairId, bool> {
    let pairs = &matching.pairs;
    let mut reached = TiVec::from(vec![false; pairs.len()]);
    let mut work: Vec<PairId> = matching.entry().into_iter().collect();
    while let Some(id) = work.pop() {
        if !std::mem::replace(&mut reached[id], true) && goes_on(id) {
            work.extend(pairs[id].out.iter().flatten().map(|edge| edge.to));
        }
    }
    reached
}
