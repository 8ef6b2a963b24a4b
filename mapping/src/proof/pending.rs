//! Stores that only one version has at its time: what opt owes to memory.
//!
//! A pass may keep what base stores in a register and store it later (LICM promotes a place in a
//! loop and writes it at the exits; stores of two branches are merged behind them), or never, if it
//! is overwritten. Such stores are *lone*: matching takes no account of them. Instead, at each
//! segment of a pair a set of places is *pending*: there opt's memory may differ from base's, and
//! nowhere else. The sets are the least ones for which holds:
//!
//! - behind a lone store of base its place is pending;
//! - behind a lone store of opt it is not, if what is stored is what the place has in base then
//!   ([`super::contents`]); else it is;
//! - behind a matched store to just that place it is not;
//! - what is pending on one way into a pair is pending there.
//!
//! Base is never asked to do without what it stored, so it is right as it is. Opt must not notice:
//! while a place is pending, no matched anchor touches it in either version, and nothing in opt
//! reads it; its address cannot change; the versions do not part, and the function does not end. If
//! that does not hold of a place, its stores are no longer taken for lone ones, and all is proved
//! anew.
//!
//! A transition from opt to base then stores what is pending ([`super::reconstruct`]); one from
//! base to opt finds in memory what opt has in a register.

use crate::proof::congruence::{Congruence, Number};
use crate::proof::contents::{leaves, pointer};
use crate::proof::matching::{Matching, OutEdge, PairId, VersionFacts, Versions, Walk};
use crate::versions::chains::{ChainId, chains};
use crate::versions::graph::{Access, Oracle};
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::InstId;
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeSet;

/// Index of a place
pub type PlaceId = usize;

/// Lone stores of a function, with more it has none
const MOST_LONE: usize = 64;

/// How often all is proved anew
const MOST_ROUNDS: usize = 6;

/// A place that lone stores write to
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// For each version a store to it
    pub store: PerVersion<InstId>,
    /// Its address
    number: Number,
    data_type: u32,
}

/// What is pending, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// The places
    pub places: Vec<Place>,
    /// For lone stores of each version their places
    of_store: PerVersion<HashMap<InstId, PlaceId>>,
    /// Lone stores of opt that leave what base has
    settles: BTreeSet<InstId>,
    /// For segments at the begin of which something is pending, the places
    at: HashMap<(PairId, usize), BTreeSet<PlaceId>>,
    /// Pairs on whose ways in there are lone stores
    crossed: BTreeSet<PairId>,
}

/// Makes stores of one version lone where that can be proved and is of use, and matches the
/// versions.
pub fn matched(versions: &mut Versions, oracle: &dyn Oracle) -> (Matching, Congruence, Pending) {
    let (matching, congruence) = versions.matched(oracle);
    let without = extent(versions, &matching);
    let all: usize = versions.of.iter().map(reached).sum();
    let with = if without < all { with_lone(versions, without, oracle) } else { None };
    if let Some(with) = with {
        return with;
    }
    if versions.has_lone {
        set_lone(versions, &PerVersion::default(), oracle);
    }
    (matching, congruence, Pending::default())
}

/// Number of a version's instructions that can be reached
fn reached(version: &VersionFacts) -> usize {
    let nodes = version.graph.nodes.iter();
    nodes.filter(|node| version.chains.of_block[node.block].is_some()).count()
}

/// Number of instructions that run together
fn extent(versions: &Versions, matching: &Matching) -> usize {
    let of_version = |which: Version| {
        let version = &versions.of[which];
        let is_matched = |inst: &InstId| {
            let pair = version.chains.of_inst(&version.graph, *inst);
            let pair = pair.and_then(|chain| matching.of_chain[which][chain]);
            pair.is_some_and(|pair| version.chains.segment[*inst] <= matching.pairs[pair].prefix)
        };
        version.graph.nodes.keys().filter(is_matched).count()
    };
    of_version(Version::Base) + of_version(Version::Opt)
}

/// The matching with lone stores, if more runs together then than without.
fn with_lone(
    versions: &mut Versions,
    without: usize,
    oracle: &dyn Oracle,
) -> Option<(Matching, Congruence, Pending)> {
    let mut lone = candidates(versions);
    for _ in 0..MOST_ROUNDS {
        if lone.iter().any(Vec::is_empty) || lone.iter().map(Vec::len).sum::<usize>() > MOST_LONE {
            break;
        }
        set_lone(versions, &lone, oracle);
        let (matching, congruence) = versions.matched(oracle);
        let mut proof = Proof::new(versions, &matching, &congruence, oracle, &lone);
        let failed = proof.run();
        if failed.is_empty() {
            let pending = proof.pending;
            let is_of_use = extent(versions, &matching) > without;
            return is_of_use.then_some((matching, congruence, pending));
        }
        for which in Version::BOTH {
            lone[which].retain(|&store| !failed.contains(&(which, store)));
        }
    }
    None
}

/// The stores that tracking says only one version has, or that a pass moved elsewhere.
fn candidates(versions: &Versions) -> PerVersion<Vec<InstId>> {
    let tracked = &versions.tracked;
    let PerVersion { base, opt } = &versions.of;
    let stays = |from: InstId, to: InstId| {
        let chain = base.chains.of_inst(&base.graph, from);
        let blocks = chain.map_or(&[][..], |chain| &base.chains.chains[chain].blocks);
        let there = opt.chains.of_inst(&opt.graph, to);
        blocks.iter().any(|&b| tracked.blocks[b].and_then(|b| opt.chains.of_block[b]) == there)
    };
    let stores = |version: &VersionFacts, has_other: &dyn Fn(InstId) -> bool| -> Vec<InstId> {
        let nodes = version.graph.nodes.iter_enumerated();
        let lone = nodes.filter(|&(inst, node)| {
            let is_reached = version.live.reached[node.block];
            node.facts.is_store() && !node.is_overwritten && is_reached && !has_other(inst)
        });
        lone.map(|(inst, _)| inst).collect()
    };
    PerVersion {
        base: stores(base, &|from| tracked.kept[from].is_some_and(|to| stays(from, to))),
        opt: stores(opt, &|to| tracked.origin[to].is_some_and(|from| stays(from, to))),
    }
}

/// Takes these stores for lone ones, and no others.
fn set_lone(versions: &mut Versions, lone: &PerVersion<Vec<InstId>>, oracle: &dyn Oracle) {
    versions.has_lone = lone.iter().any(|l| !l.is_empty());
    for which in Version::BOTH {
        let lone = &lone[which];
        let version = &mut versions.of[which];
        for node in &mut version.graph.nodes {
            (node.lone, node.reads_lone) = (None, false);
        }
        for &store in lone {
            version.graph.nodes[store].lone = oracle.memory_before(which, store);
        }
        if versions.has_lone {
            for inst in version.graph.nodes.keys() {
                let facts = version.graph.nodes[inst].facts;
                if facts.reads_memory() && !facts.is_anchor() && !facts.is_marker() {
                    version.graph.nodes[inst].reads_lone =
                        lone.iter().any(|&store| oracle.touches(which, store, inst));
                }
            }
        }
        let hammocks = std::mem::take(&mut version.chains.hammocks);
        version.chains = chains(&version.graph, &version.live, hammocks);
    }
}

/// Lone stores to one address
struct Group {
    /// The number of the address, and the type of what is stored
    address: (Number, u32),
    stores: PerVersion<Vec<InstId>>,
}

/// Finds out what is pending.
struct Proof<'a> {
    versions: &'a Versions,
    matching: &'a Matching,
    congruence: &'a Congruence,
    oracle: &'a dyn Oracle,
    pending: Pending,
    failed: BTreeSet<PlaceId>,
    /// Lone stores without a place
    homeless: Vec<(Version, InstId)>,
    /// For each version and place the instructions that its address is made of
    leaves: PerVersion<Vec<Vec<InstId>>>,
}

impl<'a> Proof<'a> {
    fn new(
        versions: &'a Versions,
        matching: &'a Matching,
        congruence: &'a Congruence,
        oracle: &'a dyn Oracle,
        lone: &PerVersion<Vec<InstId>>,
    ) -> Self {
        let mut proof = Proof {
            versions,
            matching,
            congruence,
            oracle,
            pending: Pending::default(),
            failed: BTreeSet::new(),
            homeless: Vec::new(),
            leaves: PerVersion::default(),
        };
        let mut groups: Vec<Group> = Vec::new();
        for which in Version::BOTH {
            for &store in &lone[which] {
                let address = proof.address(which, store);
                let known = groups.iter().position(|group| group.address == address);
                let group = known.unwrap_or_else(|| {
                    groups.push(Group { address, stores: PerVersion::default() });
                    groups.len() - 1
                });
                groups[group].stores[which].push(store);
            }
        }
        for Group { address: (number, data_type), stores } in groups {
            let named = Version::BOTH.map(|which| proof.name(which, &stores[which]));
            let [Some((base, base_leaves)), Some((opt, opt_leaves))] = named else {
                for which in Version::BOTH {
                    proof.homeless.extend(stores[which].iter().map(|&store| (which, store)));
                }
                continue;
            };
            let id = proof.pending.places.len();
            proof.pending.places.push(Place { store: PerVersion { base, opt }, number, data_type });
            proof.leaves.base.push(base_leaves);
            proof.leaves.opt.push(opt_leaves);
            for which in Version::BOTH {
                proof.pending.of_store[which].extend(stores[which].iter().map(|&s| (s, id)));
            }
        }
        proof
    }

    fn address(&self, which: Version, store: InstId) -> (Number, u32) {
        let node = &self.versions.graph(which).nodes[store];
        (self.congruence.number(which, node.operands[1]), node.data_type)
    }

    /// One of the stores to a place whose address could be computed at all of them, and what that
    /// is made of.
    fn name(&self, which: Version, stores: &[InstId]) -> Option<(InstId, Vec<InstId>)> {
        let version = &self.versions.of[which];
        let is_above = |leaf: InstId, store: InstId| {
            let (from, to) = (version.graph.nodes[leaf].block, version.graph.nodes[store].block);
            if from == to { leaf < store } else { version.scopes.dominates(from, to) }
        };
        stores.iter().find_map(|&store| {
            let address = pointer(&version.graph, store)?;
            let leaves = leaves(self.versions, self.congruence, which, address)?;
            let everywhere = leaves.iter().all(|&l| stores.iter().all(|&s| is_above(l, s)));
            everywhere.then_some((store, leaves))
        })
    }

    /// Finds out what is pending; the stores that cannot be lone.
    fn run(&mut self) -> BTreeSet<(Version, InstId)> {
        let mut before: Vec<Option<BTreeSet<PlaceId>>> = vec![None; self.matching.pairs.len()];
        let entry =
            self.matching.pairs.iter().position(|pair| pair.chains == PerVersion::default());
        let mut work: Vec<PairId> = entry.into_iter().collect();
        for &pair in &work {
            before[pair] = Some(BTreeSet::new());
        }
        while let Some(id) = work.pop() {
            let at = before[id].clone().unwrap_or_default();
            let Some(behind) = self.pair(id, at) else { continue };
            let pair = &self.matching.pairs[id];
            for edge in pair.out.iter().flatten() {
                let there = self.edge(edge, &behind);
                let known = before[edge.to].is_some();
                let at = before[edge.to].get_or_insert_with(BTreeSet::new);
                let count = at.len();
                at.extend(there);
                if !known || at.len() > count {
                    work.push(edge.to);
                }
            }
        }
        self.check_readers();
        let mut failed: BTreeSet<(Version, InstId)> = self.homeless.iter().copied().collect();
        for which in Version::BOTH {
            let stores = &self.pending.of_store[which];
            let of_failed = stores.iter().filter(|(_, place)| self.failed.contains(place));
            failed.extend(of_failed.map(|(&store, _)| (which, store)));
            failed.extend(self.not_met(which));
        }
        failed
    }

    /// Lone stores that no way between pairs leads over, although the versions have not parted
    /// there.
    fn not_met(&self, which: Version) -> Vec<(Version, InstId)> {
        let version = &self.versions.of[which];
        let mut met: BTreeSet<ChainId> =
            self.matching.pairs.iter().map(|pair| pair.chains[which]).collect();
        for edge in self.matching.pairs.iter().flat_map(|pair| pair.out.iter().flatten()) {
            met.extend(self.silent(which, edge).into_iter().flatten());
        }
        let stores = self.pending.of_store[which].keys().copied();
        let is_met = |&store: &InstId| match version.chains.of_inst(&version.graph, store) {
            Some(chain) => met.contains(&chain) || self.matching.parted[which][chain],
            None => true,
        };
        stores.filter(|store| !is_met(store)).map(|store| (which, store)).collect()
    }

    /// What is pending behind a pair; none if execution does not go on together there.
    fn pair(&mut self, id: PairId, mut at: BTreeSet<PlaceId>) -> Option<BTreeSet<PlaceId>> {
        let pair = &self.matching.pairs[id];
        let versions = self.versions;
        for which in Version::BOTH {
            let version = &versions.of[which];
            let head = version.chains.head(pair.chains[which]);
            for &place in &at {
                let is_above = |&leaf: &InstId| {
                    let block = version.graph.nodes[leaf].block;
                    version.chains.of_block[block] != Some(pair.chains[which])
                        && version.scopes.dominates(block, head)
                };
                if !self.leaves[which][place].iter().all(is_above) {
                    self.failed.insert(place);
                }
            }
        }
        let anchors =
            PerVersion::from_fn(|w| &versions.of[w].chains.chains[pair.chains[w]].anchors);
        let segments = PerVersion::from_fn(|w| {
            let version = &versions.of[w];
            version.chains.segments(&version.graph, pair.chains[w], pair.prefix + 1)
        });
        for segment in 0..=pair.prefix {
            self.pending.at.insert((id, segment), at.clone());
            let insts = PerVersion::from_fn(|w| &segments[w][segment]);
            let last = versions.of.base.chains.last(pair.chains.base);
            let end = anchors.base.get(segment).copied();
            let end = end.unwrap_or_else(|| versions.of.base.graph.terminator(last));
            let content = |proof: &Self, place: PlaceId| {
                let store = proof.pending.places[place].store.base;
                let access = proof.oracle.place_before(Version::Base, store, end)?;
                proof.congruence.content(versions, Version::Base, store, access)
            };
            let ends = self.walk(Version::Opt, insts.opt, &at, &content);
            at.extend(self.places(Version::Base, insts.base));
            for (place, settled) in ends {
                if settled {
                    at.remove(&place)
                } else {
                    at.insert(place)
                };
            }
            if segment < pair.prefix {
                let anchors = anchors.map(|anchors| anchors[segment]);
                at.retain(|&place| self.passes(place, anchors));
            }
        }
        let goes_on = pair.out.as_ref().is_some_and(|out| !out.is_empty());
        if !goes_on {
            self.failed.extend(at);
            return None;
        }
        Some(at)
    }

    /// The places that lone stores among these instructions write to.
    fn places(&self, which: Version, insts: &[InstId]) -> Vec<PlaceId> {
        insts.iter().filter_map(|i| self.pending.of_store[which].get(i).copied()).collect()
    }

    /// Goes over instructions of opt at whose begin some places are pending. For each place with a
    /// lone store, whether the last one leaves what base has.
    fn walk(
        &mut self,
        which: Version,
        insts: &[InstId],
        at: &BTreeSet<PlaceId>,
        content: &dyn Fn(&Self, PlaceId) -> Option<Number>,
    ) -> HashMap<PlaceId, bool> {
        let graph = self.versions.graph(which);
        let mut stale = at.clone();
        let mut ends = HashMap::default();
        for &inst in insts {
            if let Some(&place) = self.pending.of_store[which].get(&inst) {
                let stored = self.congruence.number(which, graph.nodes[inst].operands[0]);
                let settled = content(self, place) == Some(stored);
                if settled {
                    stale.remove(&place);
                    self.pending.settles.insert(inst);
                } else {
                    stale.insert(place);
                    self.pending.settles.remove(&inst);
                }
                ends.insert(place, settled);
                continue;
            }
            if self.reads(which, inst) {
                for &place in &stale {
                    let store = self.pending.places[place].store[which];
                    if self.oracle.touches(which, store, inst) {
                        self.failed.insert(place);
                    }
                }
            }
        }
        ends
    }

    /// True for what reads memory and is no anchor.
    fn reads(&self, which: Version, inst: InstId) -> bool {
        let facts = self.versions.graph(which).nodes[inst].facts;
        facts.reads_memory() && !facts.is_anchor() && !facts.is_marker()
    }

    /// Whether a place is still pending behind matched anchors.
    fn passes(&mut self, place: PlaceId, anchors: PerVersion<InstId>) -> bool {
        let Place { store, number, data_type } = self.pending.places[place];
        let node = &self.versions.of.base.graph.nodes[anchors.base];
        if node.facts.is_store() && self.address(Version::Base, anchors.base) == (number, data_type)
        {
            return false;
        }
        if Version::BOTH.into_iter().any(|w| self.oracle.touches(w, store[w], anchors[w])) {
            self.failed.insert(place);
        }
        true
    }

    /// For each walk of an edge the silent chains on it.
    fn silent(&self, which: Version, edge: &OutEdge) -> Vec<Vec<ChainId>> {
        let version = &self.versions.of[which];
        let chains = |walk: &Walk| -> Vec<ChainId> {
            let before = &walk.edges[..walk.edges.len().saturating_sub(1)];
            before.iter().filter_map(|&(_, block)| version.chains.of_block[block]).collect()
        };
        let mut all: Vec<Vec<ChainId>> = edge.walks[which].iter().map(chains).collect();
        // What is on the way round only is on none of the walks.
        if edge.walks[which].iter().any(|walk| walk.goes_round) {
            let unmatched = (0..version.chains.chains.len())
                .filter(|&chain| self.matching.of_chain[which][chain].is_none());
            all.push(unmatched.collect());
        }
        all
    }

    /// What is pending behind an edge.
    fn edge(&mut self, edge: &OutEdge, at: &BTreeSet<PlaceId>) -> BTreeSet<PlaceId> {
        let versions = self.versions;
        let mut behind = at.clone();
        let walks = PerVersion::from_fn(|w| self.silent(w, edge));
        let goes_round = PerVersion::from_fn(|w| edge.walks[w].iter().any(|walk| walk.goes_round));
        let insts = |which: Version, chains: &[ChainId]| -> Vec<InstId> {
            let version = &versions.of[which];
            let all = chains.iter().flat_map(|&c| version.chains.of_segment(&version.graph, c, 0));
            all.collect()
        };
        for chains in &walks.base {
            behind.extend(self.places(Version::Base, &insts(Version::Base, chains)));
        }
        for which in Version::BOTH {
            for chains in &walks[which] {
                let all = insts(which, chains);
                if !self.places(which, &all).is_empty() {
                    self.pending.crossed.insert(edge.to);
                    // A way round may lead over it any number of times.
                    if goes_round[which] {
                        self.failed.extend(self.places(which, &all));
                    }
                }
                let computes = |place: PlaceId| {
                    let mut leaves = self.leaves[which][place].iter();
                    leaves.any(|&leaf| {
                        let block = versions.graph(which).nodes[leaf].block;
                        versions.of[which].chains.of_block[block]
                            .is_some_and(|c| chains.contains(&c))
                    })
                };
                let moved: Vec<PlaceId> = at.iter().copied().filter(|&p| computes(p)).collect();
                self.failed.extend(moved);
            }
        }
        let ends_of_base: Vec<_> =
            edge.walks.base.iter().filter_map(|w| w.edges.last().map(|e| e.0)).collect();
        let content = |proof: &Self, place: PlaceId| {
            let store = proof.pending.places[place].store.base;
            let mut numbers = ends_of_base.iter().map(|&block| {
                let access = proof.oracle.place_at_end(Version::Base, store, block)?;
                proof.congruence.content(versions, Version::Base, store, access)
            });
            let first = numbers.next()??;
            numbers.all(|other| other == Some(first)).then_some(first)
        };
        let mut ends: Vec<HashMap<PlaceId, bool>> = Vec::new();
        for chains in &walks.opt {
            ends.push(self.walk(Version::Opt, &insts(Version::Opt, chains), at, &content));
        }
        for place in 0..self.pending.places.len() {
            if ends.iter().any(|end| end.get(&place) == Some(&false)) {
                behind.insert(place);
            } else if !ends.is_empty() && ends.iter().all(|end| end.contains_key(&place)) {
                behind.remove(&place);
            }
        }
        behind
    }

    /// What reads a place is not taken to read what a matched anchor left in memory while the place
    /// was pending: it is not the same in both versions.
    fn check_readers(&mut self) {
        for which in Version::BOTH {
            let graph = self.versions.graph(which);
            let readers = graph.nodes.keys().filter(|&i| graph.nodes[i].reads_lone);
            for reader in readers {
                for anchor in self.written_by(which, reader) {
                    let version = &self.versions.of[which];
                    let chain = version.chains.of_inst(graph, anchor);
                    let pair = chain.and_then(|c| self.matching.of_chain[which][c]);
                    let Some(pair) = pair else { continue };
                    let behind = (pair, version.chains.segment[anchor] + 1);
                    let Some(at) = self.pending.at.get(&behind) else { continue };
                    let touched = at.iter().copied().filter(|&place| {
                        let store = self.pending.places[place].store[which];
                        self.oracle.touches(which, store, reader)
                    });
                    let touched: Vec<PlaceId> = touched.collect();
                    self.failed.extend(touched);
                }
            }
        }
    }

    /// The matched anchors that may have written what an instruction reads, but for stores to just
    /// its place.
    fn written_by(&self, which: Version, reader: InstId) -> Vec<InstId> {
        let version = &self.versions.of[which];
        let node = &version.graph.nodes[reader];
        let mut seen = BTreeSet::new();
        let mut found = Vec::new();
        let mut work: Vec<Access> = node.clobber.into_iter().collect();
        while let Some(access) = work.pop() {
            match access {
                Access::Entry => {}
                Access::Def(inst) => {
                    let writes = &version.graph.nodes[inst];
                    let is_same_place = node.facts.is_load()
                        && writes.facts.is_store()
                        && writes.data_type == node.data_type
                        && self.address(which, inst).0
                            == self.congruence.number(which, node.operands[0]);
                    if writes.lone.is_none() && !is_same_place {
                        found.push(inst);
                    }
                }
                Access::Phi(block) => {
                    if seen.insert(block) && node.facts.is_load() {
                        let from = version.live.predecessors[block].iter();
                        work.extend(
                            from.filter_map(|&b| self.oracle.place_at_end(which, reader, b)),
                        );
                    }
                }
            }
        }
        found
    }
}

impl Pending {
    /// The places that are pending at the begin of a segment, or that lone stores in it write to.
    fn active(
        &self,
        segment: (PairId, usize),
        insts: &PerVersion<Vec<InstId>>,
    ) -> BTreeSet<PlaceId> {
        if self.places.is_empty() {
            return BTreeSet::new();
        }
        let mut active = self.at.get(&segment).cloned().unwrap_or_default();
        for which in Version::BOTH {
            active.extend(insts[which].iter().filter_map(|i| self.of_store[which].get(i)));
        }
        active
    }

    /// True if memory may not be the same in both versions when the head of a pair is entered.
    pub fn is_at_head(&self, pair: PairId) -> bool {
        self.crossed.contains(&pair) || self.at.get(&(pair, 0)).is_some_and(|at| !at.is_empty())
    }

    /// What memory lacks at a point in a segment.
    pub fn of_point<'p>(
        &'p self,
        segment: (PairId, usize),
        insts: &'p PerVersion<Vec<InstId>>,
    ) -> PendingAt<'p> {
        let places = self.active(segment, insts);
        let at = self.at.get(&segment);
        PendingAt { pending: self, places, at, insts }
    }
}

/// What is pending in a segment.
pub struct PendingAt<'p> {
    pending: &'p Pending,
    /// The places that matter
    pub places: BTreeSet<PlaceId>,
    at: Option<&'p BTreeSet<PlaceId>>,
    insts: &'p PerVersion<Vec<InstId>>,
}

impl PendingAt<'_> {
    /// The lone stores of a version to a place: those before an instruction, and the others.
    fn stores(&self, which: Version, place: PlaceId, before: InstId) -> [Vec<InstId>; 2] {
        let insts = &self.insts[which];
        let count = insts.iter().position(|&i| i == before).unwrap_or(insts.len());
        let of = |insts: &[InstId]| {
            let is_of = |i: &InstId| self.pending.of_store[which].get(i) == Some(&place);
            insts.iter().copied().filter(is_of).collect()
        };
        [of(&insts[..count]), of(&insts[count..])]
    }

    /// The places that must be written to before execution goes on in base before `landing`, which
    /// was in opt before `at`.
    pub fn owed(&self, at: InstId, landing: InstId) -> Vec<PlaceId> {
        let is_owed = |&place: &PlaceId| {
            let [stored, later] = self.stores(Version::Base, place, landing);
            let [written, _] = self.stores(Version::Opt, place, at);
            let was_pending = self.at.is_some_and(|at| at.contains(&place));
            match written.last() {
                None => was_pending || !stored.is_empty(),
                Some(last) => !self.pending.settles.contains(last) || !later.is_empty(),
            }
        };
        self.places.iter().copied().filter(is_owed).collect()
    }

    /// True if execution may go on in opt before `landing`, with the memory that base has before
    /// `at`.
    pub fn may_enter(&self, at: InstId, landing: InstId, oracle: &dyn Oracle) -> bool {
        self.places.iter().all(|&place| {
            let [stored, later] = self.stores(Version::Base, place, at);
            let [written, _] = self.stores(Version::Opt, place, landing);
            if written.last().is_some_and(|last| self.pending.settles.contains(last)) {
                return later.is_empty();
            }
            // What reads the place before opt writes to it must not see what base has stored.
            let store = self.pending.places[place].store.opt;
            let ahead = self.insts.opt.iter().skip_while(|&&i| i != landing);
            let mut ahead = ahead.take_while(|i| self.pending.of_store.opt.get(i) != Some(&place));
            stored.is_empty() || !ahead.any(|&i| oracle.touches(Version::Opt, store, i))
        })
    }
}
