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
//!   ([`super::round::contents`]); else it is;
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

use crate::proof::addresses::leaves;
use crate::proof::congruence::Congruence;
use crate::proof::epochs::Epochs;
use crate::proof::matching::{Matching, OutEdge, PairId, Walk};
use crate::proof::numbers::Number;
use crate::proof::partings::Parting;
use crate::proof::pending::{Pending, Place, PlaceId, Settles};
use crate::proof::places::{all_loads, see_places};
use crate::versions::chains::ChainId;
use crate::versions::facts::{Tracked, VersionFacts, Versions};
use crate::versions::graph::{Access, Operand, Oracle};
use crate::versions::hammocks::find_chains;
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::{BlockId, InstId};
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeSet;
use typed_index_collections::TiVec;

/// Stores to one place that may be lone.
pub(super) type Candidates = PerVersion<Vec<InstId>>;

/// The stores that tracking says only one version has, or that a pass moved elsewhere, by places:
/// by what tracking or the numbers so far say of their addresses. Both versions have stores to
/// each.
pub(super) fn candidates(versions: &Versions, congruence: &Congruence) -> Vec<Candidates> {
    let tracked = &versions.tracked;
    let PerVersion { base, opt } = &versions.of;
    let stays = |from: InstId, to: InstId| {
        let chain = base.chains.of_inst(&base.graph, from);
        let blocks = chain.map_or(&[][..], |chain| &base.chains.chains[chain].blocks);
        let there = opt.chains.of_inst(&opt.graph, to);
        // Of a block that tracking knows nothing of, the store says alone where it is, unless opt
        // has not the branch to it.
        let is_there = |b: BlockId| match tracked.blocks[b] {
            Some(b) => opt.chains.of_block[b] == there,
            None => !is_way_gone(base, tracked, b),
        };
        blocks.iter().any(|&b| is_there(b))
    };
    let stores = |version: &VersionFacts, has_other: &dyn Fn(InstId) -> bool| -> Vec<InstId> {
        let nodes = version.graph.nodes.iter_enumerated();
        let lone = nodes.filter(|&(inst, node)| {
            let is_reached = version.live.reached[version.graph.block(inst)];
            let is_left = !node.is_overwritten && !node.is_grouped;
            node.facts.is_store() && is_left && is_reached && !has_other(inst)
        });
        lone.map(|(inst, _)| inst).collect()
    };
    let found = PerVersion {
        base: stores(base, &|from| tracked.kept[from].is_some_and(|to| stays(from, to))),
        opt: stores(opt, &|to| tracked.origin[to].is_some_and(|from| stays(from, to))),
    };
    let mut groups: Vec<Candidates> = Vec::new();
    let mut of_place: HashMap<(Result<Operand, Number>, u32), usize> = HashMap::default();
    for which in Version::BOTH {
        let graph = versions.graph(which);
        for &store in &found[which] {
            let address = graph.pointer(store).expect("a store has an address");
            let places = [
                Ok(tracked_address(versions, which, address)),
                Err(congruence.number(which, address)),
            ]
            .map(|place| (place, graph.nodes[store].data_type));
            let known = places.iter().find_map(|place| of_place.get(place).copied());
            let group = known.unwrap_or_else(|| {
                groups.push(Candidates::default());
                groups.len() - 1
            });
            groups[group][which].push(store);
            for place in places {
                of_place.entry(place).or_insert(group);
            }
        }
    }
    groups.retain(|group| group.iter().all(|stores| !stores.is_empty()));
    groups
}

/// True for a block of base behind a branch that opt has not.
fn is_way_gone(base: &VersionFacts, tracked: &Tracked, block: BlockId) -> bool {
    let [from] = base.live.predecessors[block][..] else { return false };
    let branch = base.graph.terminator(from);
    base.live.successors[from].len() > 1 && tracked.kept[branch].is_none()
}

/// The stores that are lone, and those that may be at places where the versions part.
pub(super) fn likely_lone(
    versions: &Versions,
    matching: &Matching,
    congruence: &Congruence,
) -> Candidates {
    let nodes = |which: Version| versions.graph(which).nodes.iter_enumerated();
    let lone = |which: Version| nodes(which).filter(|(_, n)| n.lone.is_some()).map(|(i, _)| i);
    let mut likely = PerVersion::from_fn(|which| lone(which).collect::<Vec<InstId>>());
    for group in candidates(versions, congruence) {
        if is_at_parting(versions, &matching.partings, &group) {
            Version::BOTH.iter().for_each(|&which| likely[which].extend(&group[which]));
        }
    }
    sort(&mut likely);
    likely
}

/// Has each store once, in order.
pub(super) fn sort(stores: &mut Candidates) {
    for which in Version::BOTH {
        stores[which].sort_unstable();
        stores[which].dedup();
    }
}

/// True if a store is in a chain within which, or at the end of which, the versions part.
pub(super) fn is_at_parting(versions: &Versions, partings: &[Parting], group: &Candidates) -> bool {
    Version::BOTH.into_iter().any(|which| {
        let version = &versions.of[which];
        let chain = |&store: &InstId| version.chains.of_inst(&version.graph, store);
        let mut chains = group[which].iter().filter_map(chain);
        chains.any(|chain| partings.iter().any(|parting| parting.chains[which] == chain))
    })
}

/// What is the same for an address of base and one of opt if tracking says that they are the same:
/// what opt has in the place of both.
fn tracked_address(versions: &Versions, which: Version, address: Operand) -> Operand {
    let (Version::Base, Operand::Value(value)) = (which, address) else { return address };
    let Some(inst) = versions.of.base.graph.definition(value) else { return address };
    let tracked = &versions.tracked;
    let now = tracked.kept[inst].or(tracked.replaced[inst]);
    now.map_or(address, |now| Operand::Value(versions.of.opt.graph.result(now)))
}

/// Takes these stores for lone ones, and no others.
pub(super) fn set_lone(
    versions: &mut Versions,
    lone: &PerVersion<Vec<InstId>>,
    oracle: &dyn Oracle,
) {
    versions.has_lone = lone.iter().any(|l| !l.is_empty());
    let loads = if versions.has_lone { all_loads(versions) } else { PerVersion::default() };
    see_places(versions, &loads);
    versions.has_places = versions.has_lone;
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
    }
    find_chains(versions);
}

/// What is pending if these stores are lone ones, and the stores that cannot be.
pub(super) fn pending(
    versions: &Versions,
    matching: &Matching,
    congruence: &Congruence,
    oracle: &dyn Oracle,
    lone: &PerVersion<Vec<InstId>>,
) -> (Pending, BTreeSet<(Version, InstId)>) {
    let mut flow = Flow::new(versions, matching, congruence, oracle, lone);
    let failed = flow.run();
    (flow.pending, failed)
}

/// Lone stores to one address
struct Group {
    /// The number of the address, and the type of what is stored
    address: (Number, u32),
    stores: PerVersion<Vec<InstId>>,
}

/// Finds out what is pending.
struct Flow<'a> {
    versions: &'a Versions,
    matching: &'a Matching,
    congruence: &'a Congruence,
    oracle: &'a dyn Oracle,
    epochs: Epochs,
    pending: Pending,
    failed: BTreeSet<PlaceId>,
    /// Lone stores without a place
    homeless: Vec<(Version, InstId)>,
    /// For each version and place the instructions that its address is made of
    leaves: PerVersion<Vec<Vec<InstId>>>,
}

impl<'a> Flow<'a> {
    fn new(
        versions: &'a Versions,
        matching: &'a Matching,
        congruence: &'a Congruence,
        oracle: &'a dyn Oracle,
        lone: &PerVersion<Vec<InstId>>,
    ) -> Self {
        let mut flow = Flow {
            versions,
            matching,
            congruence,
            oracle,
            epochs: Epochs::new(versions),
            pending: Pending::default(),
            failed: BTreeSet::new(),
            homeless: Vec::new(),
            leaves: PerVersion::default(),
        };
        let mut groups: Vec<Group> = Vec::new();
        for which in Version::BOTH {
            for &store in &lone[which] {
                let address = flow.address(which, store);
                let known = groups.iter().position(|group| group.address == address);
                let group = known.unwrap_or_else(|| {
                    groups.push(Group { address, stores: PerVersion::default() });
                    groups.len() - 1
                });
                groups[group].stores[which].push(store);
            }
        }
        for Group { address: (number, data_type), stores } in groups {
            let named = Version::BOTH.map(|which| flow.name(which, &stores[which]));
            let [Some((base, base_leaves)), Some((opt, opt_leaves))] = named else {
                for which in Version::BOTH {
                    flow.homeless.extend(stores[which].iter().map(|&store| (which, store)));
                }
                continue;
            };
            let id = flow.pending.places.len();
            flow.pending.places.push(Place { store: PerVersion { base, opt }, number, data_type });
            flow.leaves.base.push(base_leaves);
            flow.leaves.opt.push(opt_leaves);
            for which in Version::BOTH {
                flow.pending.of_store[which].extend(stores[which].iter().map(|&s| (s, id)));
            }
        }
        let VersionFacts { graph, chains, .. } = &versions.of.base;
        for (block, _) in chains.hammocks.iter_enumerated().filter(|(_, h)| h.is_some()) {
            let branch = graph.terminator(block);
            let stores = chains.passed(graph, branch);
            let places: BTreeSet<PlaceId> =
                stores.filter_map(|i| flow.pending.of_store.base.get(&i).copied()).collect();
            if !places.is_empty() {
                flow.pending.passed.insert(branch, places);
            }
        }
        flow
    }

    fn address(&self, which: Version, store: InstId) -> (Number, u32) {
        let graph = self.versions.graph(which);
        (self.congruence.number(which, graph.operands(store)[1]), graph.nodes[store].data_type)
    }

    /// One of the stores to a place whose address could be computed at all of them, and what that
    /// is made of.
    fn name(&self, which: Version, stores: &[InstId]) -> Option<(InstId, Vec<InstId>)> {
        let version = &self.versions.of[which];
        stores.iter().find_map(|&store| {
            let address = version.graph.pointer(store)?;
            let leaves = leaves(self.versions, self.congruence, which, address)?;
            let everywhere = leaves.iter().all(|&l| stores.iter().all(|&s| version.is_above(l, s)));
            everywhere.then_some((store, leaves))
        })
    }

    /// Finds out what is pending; the stores that cannot be lone.
    fn run(&mut self) -> BTreeSet<(Version, InstId)> {
        let mut before: TiVec<PairId, Option<BTreeSet<PlaceId>>> =
            TiVec::from(vec![None; self.matching.pairs.len()]);
        let mut work: Vec<PairId> = self.matching.entry().into_iter().collect();
        for &pair in &work {
            before[pair] = Some(BTreeSet::new());
        }
        while let Some(id) = work.pop() {
            let at = before[id].clone().expect("what is pending there is known");
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
                    let block = version.graph.block(leaf);
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
            let VersionFacts { graph, chains, .. } = &versions.of.base;
            let end = chains.end_of_segment(graph, pair.chains.base, segment);
            let content = |flow: &Self, place: PlaceId| {
                let store = flow.pending.places[place].store.base;
                let access = flow.oracle.place_before(Version::Base, store, end)?;
                flow.congruence.content(versions, Version::Base, store, access)
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
        if !goes_on || pair.is_lossy() {
            self.failed.extend(&at);
        }
        goes_on.then_some(at)
    }

    /// The places that lone stores among these instructions write to.
    fn places(&self, which: Version, insts: &[InstId]) -> Vec<PlaceId> {
        insts.iter().flat_map(|&i| self.pending.written(which, i)).collect()
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
        let versions = self.versions;
        let VersionFacts { graph, chains, .. } = &versions.of[which];
        let mut stale = at.clone();
        let mut ends = HashMap::default();
        for &inst in insts {
            if let Some(&place) = self.pending.of_store[which].get(&inst) {
                let stored = self.congruence.number(which, graph.operands(inst)[0]);
                let all = (versions, self.matching, self.congruence);
                let is_at_end = content(self, place) == Some(stored);
                let event = self.epochs.event(all, inst);
                let settles = match event {
                    Some((event, _)) => Some(Settles::Event(event)),
                    None => is_at_end.then_some(Settles::AtEnd),
                };
                match settles {
                    Some(settles) => {
                        stale.remove(&place);
                        self.pending.settles.insert(inst, settles);
                    }
                    None => {
                        stale.insert(place);
                        self.pending.settles.remove(&inst);
                    }
                }
                // Behind the event base may store there again.
                ends.insert(place, is_at_end || event.is_some_and(|(_, is_last)| is_last));
                continue;
            }
            let passed = chains.passed(graph, inst).chain([inst]);
            let reads: Vec<InstId> = passed.filter(|&inst| self.reads(which, inst)).collect();
            for inst in reads {
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
            let before = &walk.edges[..walk.edges.len() - 1];
            before.iter().filter_map(|&(_, block)| version.chains.of_block[block]).collect()
        };
        let mut all: Vec<Vec<ChainId>> = edge.walks[which].iter().map(chains).collect();
        // What is on the way round only is on none of the walks.
        if edge.walks[which].iter().any(|walk| walk.goes_round) {
            let chains = version.chains.chains.keys();
            let unmatched = chains.filter(|&chain| self.matching.of_chain[which][chain].is_none());
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
                        let block = versions.graph(which).block(leaf);
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
        let content = |flow: &Self, place: PlaceId| {
            let store = flow.pending.places[place].store.base;
            let mut numbers = ends_of_base.iter().map(|&block| {
                let access = flow.oracle.place_at_end(Version::Base, store, block)?;
                flow.congruence.content(versions, Version::Base, store, access)
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
                            == self.congruence.number(which, version.graph.operands(reader)[0]);
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
