//! The OSR mapping of two versions in one direction (thesis Def. 4.15, Alg. 7 `OSR_trans`).
//!
//! For each point the landing is chosen among all points of the other version that are reached at
//! the same time, with the same anchors run before: the one that needs least. Keep sets are closed:
//! a version that is entered by a transition has points itself, so whatever a point hands on counts
//! as live, in both versions, until nothing changes.

use crate::mapping::ahead::{WayAhead, uses};
use crate::mapping::history::{Copies, Histories, Way};
use crate::mapping::live_sets::Handed;
use crate::mapping::marks::Marks;
use crate::mapping::positions::positions;
use crate::mapping::reconstruct::{
    Memory, Missing, Numbers, Over, Place, PointMap, Reconstruct, StoredTo, Variant,
};
use crate::mapping::side::Side;
use crate::points::Boundary;
use crate::proof::Proof;
use crate::proof::matching::{PairId, Walk};
use crate::proof::numbers::Number;
use crate::refusal::Refusal;
use crate::versions::facts::{VersionFacts, Versions};
use crate::versions::graph::{Graph, Oracle};
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::{BlockId, InstId, ValueId};
use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use typed_index_collections::TiVec;

/// Landings that are tried for a point
const MOST_LANDINGS: usize = 12;

/// Blocks above a point at which it is looked how control came to it
const MOST_ABOVE: usize = 4;

/// Instructions ahead of a point from which it is tried to leave the version
const MOST_AHEAD: usize = 16;

/// Values that are excluded one after the other, before points are given up instead
const MOST_RESTARTS: usize = 32;

/// A mapping from one version to the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OsrMap {
    /// For each point of the source where it leads, or why nowhere
    pub points: Vec<Result<PointMap, Refusal>>,
    /// Points of which no single landing is known, but one for each way in which control may have
    /// come there
    pub ways: BTreeMap<usize, Vec<Way>>,
}

impl OsrMap {
    /// The mappings of a point: one, or one for each way in which control may have come to it; none
    /// if it leads nowhere.
    pub fn leads(&self, point: usize) -> impl Iterator<Item = (Option<&Way>, &PointMap)> {
        let ways = self.ways.get(&point).into_iter().flatten();
        let ways = ways.map(|way| (Some(way), &way.map));
        self.points[point].iter().map(|map| (None, map)).chain(ways)
    }

    /// All mappings of points
    pub fn all(&self) -> impl Iterator<Item = &PointMap> {
        (0..self.points.len()).flat_map(|point| self.leads(point)).map(|(_, map)| map)
    }

    /// Why a point leads nowhere; none if it leads somewhere.
    pub fn refusal(&self, point: usize) -> Option<Refusal> {
        let refusal = self.points[point].as_ref().err().copied();
        refusal.filter(|_| !self.ways.contains_key(&point))
    }

    /// True if some point does.
    pub fn leads_somewhere(&self) -> bool {
        !self.ways.is_empty() || self.points.iter().any(Result::is_ok)
    }

    /// All mappings of points, to be changed.
    pub fn all_mut(&mut self) -> impl Iterator<Item = (usize, &mut PointMap)> {
        let points = self.points.iter_mut().enumerate();
        let points = points.filter_map(|(point, map)| Some((point, map.as_mut().ok()?)));
        let ways = self.ways.iter_mut();
        points.chain(ways.flat_map(|(&p, ways)| ways.iter_mut().map(move |w| (p, &mut w.map))))
    }
}

/// Builds mappings.
pub struct Mapper<'a> {
    /// What is proved
    pub proof: &'a Proof,
    /// What LLVM answers
    pub oracle: &'a dyn Oracle,
    /// Both versions
    pub sides: PerVersion<Side>,
    /// For each pair its segments, if they have been asked for
    segments: TiVec<PairId, OnceCell<Vec<Segment>>>,
    marks: RefCell<Marks>,
    histories: Histories,
}

/// What is settled so far when mappings are closed.
struct Closure {
    /// For each version and point why it has no mapping, if that is settled
    dead: PerVersion<Vec<Option<Refusal>>>,
    /// Points have been given up for what they alone need: what fails now fails for others.
    is_settled: bool,
    /// For each version and instruction the values that its point hands on
    handed: PerVersion<Handed>,
    /// For each version the values that no point may keep
    banned: PerVersion<Vec<ValueId>>,
}

impl Closure {
    /// Takes over what mappings hand on; true if that is new, or a point is given up.
    fn take(
        &mut self,
        maps: &PerVersion<OsrMap>,
        (sides, versions): (&PerVersion<Side>, &Versions),
        takes_part: &dyn Fn(&Side, usize) -> bool,
    ) -> bool {
        let mut changed = false;
        for from in Version::BOTH {
            for p in 0..maps[from].points.len() {
                if let Some(refusal) = maps[from].refusal(p) {
                    if self.dead[from][p].is_none() {
                        let of_all = self.is_settled.then_some(Refusal::NotClosed);
                        self.dead[from][p] = of_all.or(Some(refusal));
                        changed = true;
                    }
                    continue;
                }
                if takes_part(&sides[from], p) {
                    let at = sides[from].points[p].at;
                    let known = self.handed[from].entry(at).or_default();
                    for (way, map) in maps[from].leads(p) {
                        let carried = way.map_or(&[][..], |way| &way.carried);
                        let mut used = uses(sides[from].graph(versions), map);
                        used.retain(|value| carried.binary_search(value).is_err());
                        used.into_iter().for_each(|used| changed |= known.insert(used));
                    }
                }
            }
        }
        self.is_settled = true;
        changed
    }
}

/// A segment of a pair: its instructions, and the positions of the points before them.
#[derive(Clone)]
struct Segment {
    insts: PerVersion<Vec<InstId>>,
    positions: PerVersion<Vec<u64>>,
}

/// A place in a version where execution may go on, and where in the proved one that is: for each
/// copy of the point one place.
#[derive(Clone, Debug)]
struct Landing {
    at: InstId,
    proved: Vec<InstId>,
}

/// Where execution may go on.
struct Landings {
    candidates: Vec<Landing>,
    over: Option<(PairId, Vec<Walk>)>,
    /// For each copy of the point the segment of a pair that it is in, and the first of the
    /// source's instructions in it that is not before the point
    segments: Vec<((PairId, usize), InstId)>,
    /// Memory is not as the other version would have it: it does not have the last store.
    is_late: bool,
}

impl<'a> Mapper<'a> {
    /// For two versions with their points.
    pub fn new(
        proof: &'a Proof,
        oracle: &'a dyn Oracle,
        points: PerVersion<Vec<Boundary>>,
    ) -> Self {
        let PerVersion { base, opt } = points;
        let side = |which, points| Side::new(which, proof, points);
        let sides = PerVersion { base: side(Version::Base, base), opt: side(Version::Opt, opt) };
        let segments = vec![OnceCell::new(); proof.matching.pairs.len()].into();
        Mapper {
            proof,
            oracle,
            sides,
            segments,
            marks: RefCell::default(),
            histories: Histories::default(),
        }
    }

    fn segment(&self, pair: PairId, segment: usize) -> Option<&Segment> {
        self.segments[pair].get_or_init(|| self.segments(pair)).get(segment)
    }

    fn segments(&self, pair: PairId) -> Vec<Segment> {
        let pair = &self.proof.matching.pairs[pair];
        let [base, opt] = Version::BOTH.map(|w| {
            let version = &self.proof.proved().of[w];
            version.chains.segments(&version.graph, pair.chains[w], pair.prefix + 1)
        });
        let segment = |(base, opt): (Vec<InstId>, Vec<InstId>)| {
            let insts = PerVersion { base, opt };
            let positions = positions(self.proof.proved(), insts.as_ref().map(Vec::as_slice));
            Segment { insts, positions }
        };
        base.into_iter().zip(opt).map(segment).collect()
    }

    fn graph(&self, which: Version) -> &'a Graph {
        self.proof.versions.graph(which)
    }

    /// The version that was proved.
    fn proved(&self, which: Version) -> &'a VersionFacts {
        &self.proof.proved().of[which]
    }

    /// The mapping from a version to the other one, at one strength.
    pub fn map(&self, from: Version, variant: Variant) -> OsrMap {
        let mut map = OsrMap::default();
        for point in 0..self.sides[from].points.len() {
            map.points.push(self.point(from, point, variant));
            if map.points[point].is_err()
                && let Some(ways) = self.ways(from, point, variant)
            {
                map.ways.insert(point, ways);
            }
        }
        map
    }

    /// Where a point leads.
    ///
    /// # Errors
    /// Why nowhere.
    pub fn point(
        &self,
        from: Version,
        point: usize,
        variant: Variant,
    ) -> Result<PointMap, Refusal> {
        self.point_without(from, point, variant, &[], &mut |_, _| {})
    }

    /// Where a point leads by the way in which control came to it; none unless it leads somewhere
    /// in each.
    pub fn ways(&self, from: Version, point: usize, variant: Variant) -> Option<Vec<Way>> {
        self.ways_without(from, point, variant, &[], &mut |_, _| {})
    }

    fn ways_without(
        &self,
        from: Version,
        point: usize,
        variant: Variant,
        without: &[ValueId],
        lacks: &mut dyn FnMut(InstId, ValueId),
    ) -> Option<Vec<Way>> {
        let Boundary { at, refusal: None, .. } = self.sides[from].points[point] else {
            return None;
        };
        let product = self.proof.product.as_ref()?;
        let all = self.proof.instances(from, at);
        if all.len() < 2 || all.iter().any(|&copy| self.landings_of(from, copy).is_err()) {
            return None;
        }
        let home = self.graph(from).block(at);
        let above = |&block: &BlockId| self.sides[from].dominators.immediate(block);
        std::iter::successors(Some(home), above).take(MOST_ABOVE).find_map(|block| {
            let histories = self.histories.of(product, from, block, home);
            if histories.len() < 2 {
                return None;
            }
            let way = |Copies { history, blocks }: &Copies| {
                let copies = blocks.iter().filter_map(|&copy| product.copy_in(from, at, copy));
                let copies: Vec<InstId> = copies.collect();
                let map = self.point_in(from, at, &copies, variant, without, lacks).ok()?;
                let (side, versions) = (&self.sides[from], &self.proof.versions);
                let graph = self.graph(from);
                let is_carried = |v: &ValueId| {
                    side.live(at).binary_search(v).is_err() && !side.is_available(versions, *v, at)
                };
                let carried: Vec<ValueId> =
                    uses(graph, &map).into_iter().filter(is_carried).collect();
                let is_plain = |value: &ValueId| {
                    let inst = graph.definition(*value);
                    inst.is_none_or(|inst| !graph.nodes[inst].facts.is_terminator())
                };
                let can_carry = carried.iter().all(is_plain);
                can_carry.then(|| Way { history: history.clone(), carried, map })
            };
            histories.iter().map(way).collect()
        })
    }

    /// The same, without some values of the source. For each landing that is not possible `lacks`
    /// gets the landing and the value that cannot be reconstructed there.
    fn point_without(
        &self,
        from: Version,
        point: usize,
        variant: Variant,
        without: &[ValueId],
        lacks: &mut dyn FnMut(InstId, ValueId),
    ) -> Result<PointMap, Refusal> {
        let Boundary { at, refusal, .. } = self.sides[from].points[point];
        match refusal {
            Some(refusal) => Err(refusal),
            None => {
                let copies = self.proof.instances(from, at);
                self.point_in(from, at, &copies, variant, without, lacks)
            }
        }
    }

    /// The same, for copies of the point in the proved version.
    fn point_in(
        &self,
        from: Version,
        at: InstId,
        copies: &[InstId],
        variant: Variant,
        without: &[ValueId],
        lacks: &mut dyn FnMut(InstId, ValueId),
    ) -> Result<PointMap, Refusal> {
        let is_way = copies.len() < self.proof.instances(from, at).len();
        let there = self.leave_at(from, (at, copies, is_way), variant, without, lacks);
        there.or_else(|refusal| {
            let is_reached = refusal != Refusal::NeverReached;
            let ahead = || self.leave_ahead(from, (at, copies, is_way), variant, without);
            is_reached.then(ahead).flatten().ok_or(refusal)
        })
    }

    /// The same behind what the source can run before without effect.
    fn leave_ahead(
        &self,
        from: Version,
        (at, copies, is_way): (InstId, &[InstId], bool),
        variant: Variant,
        without: &[ValueId],
    ) -> Option<PointMap> {
        if variant < Variant::Alias {
            return None;
        }
        let side = &self.sides[from];
        let mut ahead = WayAhead::new(self.graph(from), at);
        let mut copies = copies.to_vec();
        for _ in 0..MOST_AHEAD {
            ahead.step()?;
            copies = match &self.proof.product {
                Some(product) => product.next(from, &copies, ahead.at),
                None => vec![ahead.at],
            };
            let is_point =
                side.point_at[ahead.at].is_some_and(|p| side.points[p].refusal.is_none());
            if !is_point || !side.is_useful_inst(ahead.at) {
                continue;
            }
            let at = (ahead.at, &copies[..], is_way);
            let there = self.leave_at(from, at, variant, without, &mut |_, _| {});
            let map = there.ok().and_then(|map| ahead.mapped(map, side, without));
            if map.is_some() {
                return map;
            }
        }
        None
    }

    /// Where that leads if the version is left right there.
    fn leave_at(
        &self,
        from: Version,
        (at, copies, is_way): (InstId, &[InstId], bool),
        variant: Variant,
        without: &[ValueId],
        lacks: &mut dyn FnMut(InstId, ValueId),
    ) -> Result<PointMap, Refusal> {
        let landings = self.landings(from, copies)?;
        let mut best: Option<(PointMap, (&Landing, Memory))> = None;
        let mut reason = Refusal::NoLanding;
        for landing in &landings.candidates {
            let other = &self.sides[from.other()];
            let is_refused = other.point_at[landing.at].and_then(|p| other.points[p].refusal);
            if let Some(refusal) = is_refused {
                reason = refusal;
                continue;
            }
            let memory = match self.memory(from, copies, landing, &landings) {
                Ok(memory) => memory,
                Err(refusal) => {
                    reason = refusal;
                    continue;
                }
            };
            let at = (at, copies, is_way);
            match self.build(from, at, (landing, &memory), &landings, variant, without) {
                Ok(map) if best.as_ref().is_none_or(|(b, _)| map.cost() < b.cost()) => {
                    best = Some((map, (landing, memory)));
                }
                Ok(_) => {}
                Err(missing) => {
                    lacks(landing.at, missing.value);
                    reason = self.reason(from.other(), missing.because);
                }
            }
            if best.as_ref().is_some_and(|(b, _)| b.cost() == 0) {
                break;
            }
        }
        let (best, (landing, memory)) = best.ok_or(reason)?;
        Ok(self.minimize(
            from,
            (at, copies, is_way),
            best,
            ((landing, &memory), &landings),
            variant,
            without,
        ))
    }

    fn build(
        &self,
        from: Version,
        (at, copies, is_way): (InstId, &[InstId], bool),
        (landing, memory): (&Landing, &Memory),
        landings: &Landings,
        variant: Variant,
        without: &[ValueId],
    ) -> Result<PointMap, Missing> {
        let late = &self.proved(from.other()).chains.late;
        let is_late = landing.proved.iter().any(|&landing| late[landing]);
        let (source, destination) = (&self.sides[from], &self.sides[from.other()]);
        Reconstruct {
            proof: self.proof,
            oracle: self.oracle,
            source: Place { side: source, at, copies, is_way },
            destination: Place {
                side: destination,
                at: landing.at,
                copies: &landing.proved,
                is_way: false,
            },
            over: landings.over.as_ref().map(|(pair, walks)| Over { pair: *pair, walks }),
            variant,
            reloads: !landings.is_late && !is_late,
            without,
            memory,
            marks: &self.marks,
        }
        .point()
    }

    /// What memory may not have as the destination would have it.
    ///
    /// # Errors
    /// It is not the same wherever the point is in the proved version.
    fn memory(
        &self,
        from: Version,
        copies: &[InstId],
        landing: &Landing,
        landings: &Landings,
    ) -> Result<Memory, Refusal> {
        let mut memory = Memory::default();
        if self.proof.pending.places.is_empty() {
            return Ok(memory);
        }
        // What there is in each place, wherever the point is.
        let mut found: Vec<(StoredTo, Vec<Option<Number>>)> = Vec::new();
        for ((&(id, next), &at), &there) in
            landings.segments.iter().zip(copies).zip(&landing.proved)
        {
            let Some(segment) = self.segment(id.0, id.1) else { continue };
            let here = self.proof.pending.of_point(id, &segment.insts);
            memory.differs |= !here.places.is_empty();
            let (places, of_base) = match from {
                Version::Base => (here.places.iter().copied().collect(), at),
                Version::Opt => (here.owed(next, there), there),
            };
            for place in places {
                let stores = self.proof.pending.places[place].store;
                if !self.proof.has_address_at(from.other(), stores[from.other()], there) {
                    if from == Version::Opt {
                        return Err(Refusal::NeedsValue);
                    }
                    continue;
                }
                let (place, number) = (self.folded(stores), self.content(stores.base, of_base));
                match found.iter_mut().find(|(known, _)| *known == place) {
                    Some((_, numbers)) => numbers.push(number),
                    None => found.push((place, vec![number])),
                }
            }
        }
        let is_everywhere = |numbers: &[Option<Number>]| numbers.len() == copies.len();
        let numbers = |numbers: Vec<Option<Number>>| {
            let numbers: Vec<Number> = numbers.into_iter().collect::<Option<_>>()?;
            Some(match self.proof.product {
                None => Numbers::One(numbers[0]),
                Some(_) => Numbers::Each(numbers),
            })
        };
        if from == Version::Base {
            found.retain(|(_, there)| is_everywhere(there));
            let has = found.into_iter().filter_map(|(place, n)| Some((place, numbers(n)?)));
            memory.has = has.collect();
        } else if found.iter().all(|(_, there)| is_everywhere(there)) {
            memory.owed = found.into_iter().map(|(place, n)| (place, numbers(n))).collect();
        } else {
            return Err(Refusal::SeveralCopies);
        }
        Ok(memory)
    }

    /// The instructions of versions that those of the proved ones are.
    fn folded(&self, insts: PerVersion<InstId>) -> PerVersion<InstId> {
        PerVersion::from_fn(|which| self.proof.folded(which, insts[which]))
    }

    /// What base has in the place that a store of the proved version writes to, before another
    /// instruction; none if that is not known.
    fn content(&self, store: InstId, before: InstId) -> Option<Number> {
        let access = self.ask(|oracle| oracle.place_before(Version::Base, store, before))?;
        self.proof.congruence.content(self.proof.proved(), Version::Base, store, access)
    }

    /// Asks about the proved versions.
    fn ask<R>(&self, question: impl FnOnce(&dyn Oracle) -> R) -> R {
        match &self.proof.product {
            Some(product) => question(&product.oracle(self.oracle)),
            None => question(self.oracle),
        }
    }

    /// A keep set of which no value can be left out: each is tried (thesis 5.4.2 backtracks; this
    /// shows that every kept value is necessary).
    fn minimize(
        &self,
        from: Version,
        at: (InstId, &[InstId], bool),
        mut best: PointMap,
        (landing, landings): ((&Landing, &Memory), &Landings),
        variant: Variant,
        without: &[ValueId],
    ) -> PointMap {
        let mut necessary = 0;
        let mut without = without.to_vec();
        while let Some(&value) = best.keep.get(necessary) {
            without.push(value);
            match self.build(from, at, landing, landings, variant, &without) {
                Ok(map) if map.keep.len() < best.keep.len() => {
                    best = map;
                    necessary = 0;
                }
                _ => {
                    without.pop();
                    necessary += 1;
                }
            }
        }
        best
    }

    /// For a point in a silent chain, where that leads.
    fn silent(&self, from: Version, at: InstId) -> Option<(PairId, Vec<Walk>)> {
        let versions = self.proof.proved();
        let chain = versions.of[from].chains.of_inst(versions.graph(from), at)?;
        self.proof.matching.of_chain[from][chain].is_none().then_some(())?;
        versions.from_silent(&self.proof.matching, from, chain)
    }

    /// The points of the other version that are reached at the same time, wherever a point is in
    /// the proved version.
    fn landings(&self, from: Version, copies: &[InstId]) -> Result<Landings, Refusal> {
        let [first, rest @ ..] = copies else { return Err(Refusal::NeverReached) };
        let mut landings = self.landings_of(from, *first)?;
        let is_somewhere = !landings.candidates.is_empty();
        for &copy in rest {
            let others = self.landings_of(from, copy)?;
            // A silent chain's walks are those of one copy.
            if landings.over.is_some() || others.over.is_some() {
                return Err(Refusal::Unmatched);
            }
            landings.is_late |= others.is_late;
            landings.segments.extend(others.segments);
            landings.candidates.retain_mut(|landing| {
                let other = others.candidates.iter().find(|other| other.at == landing.at);
                landing.proved.extend(other.iter().flat_map(|other| &other.proved));
                other.is_some()
            });
        }
        if is_somewhere && landings.candidates.is_empty() {
            return Err(Refusal::SeveralCopies);
        }
        landings.candidates.truncate(MOST_LANDINGS);
        Ok(landings)
    }

    /// The same for one place of the proved version
    fn landings_of(&self, from: Version, at: InstId) -> Result<Landings, Refusal> {
        let version = self.proved(from);
        let chain = version.chains.of_inst(&version.graph, at).ok_or(Refusal::NeverReached)?;
        let matching = &self.proof.matching;
        let to = from.other();
        let is_late = |which: Version, inst: InstId| self.proved(which).chains.late[inst];
        // The store behind it may be left out only before the one that overwrites it.
        let can_land = |&inst: &InstId| {
            let graph = &self.proved(to).graph;
            !is_late(to, inst) || (graph.is_shared_anchor(inst) && !graph.ends_group(inst))
        };
        let is_point = |inst: &InstId| {
            let (side, inst) = (&self.sides[to], self.proof.folded(to, *inst));
            side.point_at[inst].is_some() && side.is_useful_inst(inst)
        };
        let most = if self.proof.product.is_some() { usize::MAX } else { MOST_LANDINGS };
        let landing =
            |inst: InstId| Landing { at: self.proof.folded(to, inst), proved: vec![inst] };
        if let Some(pair) = matching.of_chain[from][chain] {
            let segment = version.chains.segment[at];
            let places = self.segment(pair, segment).ok_or(Refusal::Unmatched)?;
            let (place, position) = self.position(from, places, at).ok_or(Refusal::Unmatched)?;
            let next = places.insts[from][place];
            let within = next != at;
            let ahead = places.insts[to].iter().zip(&places.positions[to]);
            let candidates = ahead.filter(|&(_, &p)| p >= position).map(|(&i, _)| i);
            // Only a matched anchor is known to overwrite it in both versions.
            if from == Version::Base
                && is_late(Version::Base, at)
                && segment >= matching.pairs[pair].prefix
            {
                return Err(Refusal::NoLanding);
            }
            let here = (pair, segment);
            let pending = self.proof.pending.of_point(here, &places.insts);
            let may_enter = |&landing: &InstId| {
                from == Version::Opt
                    || self.ask(|oracle| {
                        let VersionFacts { graph, chains, .. } = self.proved(Version::Opt);
                        pending.may_enter((next, within), landing, |store, inst| {
                            let mut insts = chains.passed(graph, inst).chain([inst]);
                            insts.any(|inst| oracle.touches(Version::Opt, store, inst))
                        })
                    })
            };
            let candidates = candidates.filter(is_point).filter(can_land).filter(may_enter);
            return Ok(Landings {
                candidates: candidates.take(most).map(landing).collect(),
                over: None,
                segments: vec![(here, next)],
                is_late: is_late(from, at),
            });
        }
        let (pair, walks) = self.silent(from, at).ok_or(Refusal::Unmatched)?;
        if self.proof.pending.is_at_head(pair) {
            return Err(Refusal::NoLanding);
        }
        let places = self.segment(pair, 0).ok_or(Refusal::Unmatched)?;
        // A lone store ahead is not to be left out.
        let of_head = &places.insts[to];
        let is_lone = |&inst: &InstId| self.proof.pending.written(to, inst).next().is_some();
        let lone = of_head.iter().position(is_lone);
        let of_head = &of_head[..lone.map_or(of_head.len(), |lone| lone + 1)];
        let candidates = of_head.iter().copied().filter(is_point).filter(can_land);
        Ok(Landings {
            is_late: false,
            segments: Vec::new(),
            candidates: candidates.take(most).map(landing).collect(),
            over: Some((pair, walks)),
        })
    }

    /// The place of a point in its segment, and its position; in a hammock it is behind the branch,
    /// and before the join.
    fn position(&self, from: Version, segment: &Segment, at: InstId) -> Option<(usize, u64)> {
        let positions = &segment.positions[from];
        let place = |at: InstId| segment.insts[from].iter().position(|&i| i == at);
        let in_hammock = || {
            let version = self.proved(from);
            let block = version.graph.block(at);
            let mut hammocks = version.chains.hammocks.iter_enumerated();
            let branch = hammocks.find_map(|(branch, hammock)| {
                hammock.as_ref().filter(|h| h.between.contains(&block)).map(|_| branch)
            })?;
            let branch = place(version.graph.terminator(branch))?;
            Some((branch + 1, positions[branch] + 1))
        };
        place(at).map(|place| (place, positions[place])).or_else(in_hammock)
    }

    /// Why a value of a version cannot be reconstructed.
    fn reason(&self, which: Version, value: ValueId) -> Refusal {
        let graph = self.graph(which);
        let Some(inst) = graph.definition(value) else { return Refusal::NeedsValue };
        let facts = graph.nodes[inst].facts;
        if facts.is_phi() {
            Refusal::NeedsPhi
        } else if facts.is_load() {
            Refusal::NeedsLoad
        } else if facts.is_pinned() {
            Refusal::NeedsFrame
        } else {
            Refusal::NeedsValue
        }
    }

    /// The mappings of both directions, closed: each can serve the points of the version that it
    /// leads to. `takes_part` says of a version's point whether it is one of its continuation too,
    /// `wanted` whether it is asked for at all.
    ///
    /// What a point keeps alive must be available to all that come by transitions before it. If one
    /// of them cannot have it, the value is not kept: of two points that exclude each other the one
    /// that needs more is given up.
    pub fn closed(
        &mut self,
        takes_part: &dyn Fn(&Side, usize) -> bool,
        wanted: PerVersion<&dyn Fn(usize) -> bool>,
    ) -> PerVersion<OsrMap> {
        let mut closure = Closure {
            dead: PerVersion::from_fn(|w| {
                let unwanted = |p: usize| (!wanted[w](p)).then_some(Refusal::NotListed);
                (0..self.sides[w].points.len()).map(unwanted).collect()
            }),
            is_settled: false,
            handed: PerVersion::default(),
            banned: PerVersion::default(),
        };
        let mut restarts = 0;
        loop {
            let (maps, missing) = self.round(&closure);
            let mut excluded = false;
            for (which, value) in missing {
                if restarts < MOST_RESTARTS && !closure.banned[which].contains(&value) {
                    closure.banned[which].push(value);
                    excluded = true;
                }
            }
            let changed = if excluded {
                restarts += 1;
                closure.handed = PerVersion::default();
                true
            } else {
                closure.take(&maps, (&self.sides, &self.proof.versions), takes_part)
            };
            if !changed {
                return self.with_keep_sets(maps);
            }
            for from in Version::BOTH {
                self.sides[from].set_handed(closure.handed[from].clone());
            }
        }
    }

    /// What was handed on counted as live; here it belongs to the keep sets again.
    fn with_keep_sets(&self, mut maps: PerVersion<OsrMap>) -> PerVersion<OsrMap> {
        for from in Version::BOTH {
            let side = &self.sides[from];
            let graph = self.graph(from);
            for (point, map) in maps[from].all_mut() {
                let own = side.own_landing(side.points[point].at);
                let is_kept =
                    |v: &&ValueId| graph.definition(**v).is_some() && own.binary_search(v).is_err();
                map.keep = uses(graph, map).iter().filter(is_kept).copied().collect();
            }
        }
        maps
    }

    /// The mappings as things stand, and the values that only later points need and that some point
    /// cannot give.
    fn round(&self, closure: &Closure) -> (PerVersion<OsrMap>, Vec<(Version, ValueId)>) {
        let mut missing = Vec::new();
        let maps = PerVersion::from_fn(|from| {
            let (banned, mut map) = (&closure.banned[from], OsrMap::default());
            for (p, &dead) in closure.dead[from].iter().enumerate() {
                if let Some(refusal) = dead {
                    map.points.push(Err(refusal));
                    continue;
                }
                let mut lacks = None;
                let mut lack = |landing: InstId, value: ValueId| {
                    let own = self.sides[from.other()].own_landing(landing);
                    lacks = Some(value).filter(|v| own.binary_search(v).is_err());
                };
                map.points.push(self.point_without(from, p, Variant::Avail, banned, &mut lack));
                if map.points[p].is_err() {
                    match self.ways_without(from, p, Variant::Avail, banned, &mut lack) {
                        Some(ways) => drop(map.ways.insert(p, ways)),
                        None => missing.extend(lacks.map(|value| (from.other(), value))),
                    }
                }
            }
            map
        });
        (maps, missing)
    }
}
