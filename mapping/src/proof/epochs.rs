//! What memory has between the lone stores of a segment.
//!
//! Within a segment memory is the same in both versions before its first lone store, and behind the
//! last one, if nothing is pending then. Between them it is, too, where the stores of opt stand for
//! those of base one by one: each store of opt for an *event* of base, which is a lone store, or a
//! branch with some on its ways that a chain goes on behind. So events divide a segment into
//! *epochs*. If both versions have as many events, the epochs correspond one by one; else those of
//! one place that follow each other count as one, whose inner epochs correspond to none.
//!
//! An epoch of opt begins with memory as it is in base then if each of its stores so far leaves in
//! its place what the event of base does.

use crate::proof::congruence::Congruence;
use crate::proof::matching::{Matching, PairId};
use crate::proof::numbers::UNKNOWN;
use crate::proof::places::Content;
use crate::versions::chains::ChainId;
use crate::versions::facts::{VersionFacts, Versions};
use crate::versions::graph::Access;
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::InstId;
use rustc_hash::FxHashMap as HashMap;

/// A lone store, or a branch of base with such on its ways
struct Event {
    at: InstId,
    stores: Vec<InstId>,
}

/// A segment of a chain
type SegmentId = (ChainId, usize);

/// The events of both versions.
pub(super) struct Epochs {
    events: PerVersion<HashMap<SegmentId, Vec<Event>>>,
    /// For instructions of segments with events the number of those before them; none for what is
    /// on the way of a branch that is one
    before: PerVersion<HashMap<InstId, usize>>,
}

/// What base writes to the place of a store of opt, in its segment.
pub(super) struct Beside {
    /// The place and what may have written to it last, behind each event that does so
    pub(super) written: Vec<(Content, Access)>,
    /// How many stores of opt to it are behind this one
    pub(super) behind: usize,
}

impl Epochs {
    /// Finds the events.
    pub(super) fn new(versions: &Versions) -> Self {
        let mut epochs = Epochs { events: PerVersion::default(), before: PerVersion::default() };
        if versions.has_lone {
            for which in Version::BOTH {
                let version = &versions.of[which];
                for chain in version.chains.chains.keys() {
                    epochs.add(which, version, chain);
                }
            }
        }
        epochs
    }

    fn add(&mut self, which: Version, version: &VersionFacts, chain: ChainId) {
        let VersionFacts { graph, chains, .. } = version;
        let is_lone = |&inst: &InstId| graph.nodes[inst].lone.is_some();
        let count = chains.chains[chain].anchors.len() + 1;
        for (segment, insts) in chains.segments(graph, chain, count).into_iter().enumerate() {
            let mut events: Vec<Event> = Vec::new();
            let mut before = Vec::new();
            for inst in insts {
                before.push((inst, events.len()));
                let passed: Vec<InstId> = chains.passed(graph, inst).collect();
                let stores: Vec<InstId> =
                    passed.iter().copied().chain([inst]).filter(is_lone).collect();
                if stores.is_empty() {
                    before.extend(passed.into_iter().map(|inst| (inst, events.len())));
                } else {
                    events.push(Event { at: inst, stores });
                }
            }
            if !events.is_empty() {
                self.events[which].insert((chain, segment), events);
                self.before[which].extend(before);
            }
        }
    }

    fn events(&self, which: Version, segment: PerVersion<SegmentId>) -> &[Event] {
        self.events[which].get(&segment[which]).map_or(&[], |events| events)
    }

    /// The epoch of an instruction in a segment of a pair, by number: that of the other version
    /// with the same number begins and ends with the same memory, but for what was pending before
    /// the segment. None within an event, or, in opt, behind a store that leaves something else.
    pub(super) fn of(
        &self,
        all: (&Versions, &Matching, &Congruence),
        which: Version,
        inst: InstId,
        (pair, segment): (PairId, usize),
    ) -> Option<usize> {
        let events = self.of_segment(all, (pair, segment));
        let before = match events.events[which] {
            [] => 0,
            _ => *self.before[which].get(&inst)?,
        };
        let ends = events.ends(which);
        let epoch = ends.iter().filter(|&&end| end < before).count();
        let begin = epoch.checked_sub(1).map_or(0, |last| ends[last] + 1);
        let is_same = || which == Version::Base || events.stand(epoch);
        (begin == before && is_same()).then_some(epoch)
    }

    fn of_segment<'a>(
        &'a self,
        (versions, matching, congruence): (&'a Versions, &Matching, &'a Congruence),
        (pair, segment): (PairId, usize),
    ) -> Events<'a> {
        let segments = matching.pairs[pair].chains.map(|chain| (chain, segment));
        Events { versions, congruence, events: PerVersion::from_fn(|w| self.events(w, segments)) }
    }

    /// What base writes to the place of a lone store of opt in its segment.
    pub(super) fn beside(
        &self,
        (versions, matching, congruence): (&Versions, &Matching, &Congruence),
        store: InstId,
    ) -> Option<Beside> {
        let VersionFacts { graph, chains, .. } = &versions.of.opt;
        let chain = chains.of_inst(graph, store)?;
        let pair = &matching.pairs[matching.of_chain.opt[chain]?];
        let segment = chains.segment[store];
        (segment <= pair.prefix).then_some(())?;
        let segments = pair.chains.map(|chain| (chain, segment));
        let place = congruence.accessed(versions, Version::Opt, store)?;
        let there = |which: Version, event: &Event| {
            let mut stores = event.stores.iter();
            stores.find_map(|&store| {
                let other = congruence.accessed(versions, which, store)?;
                is_one_place(&other, &place).then_some(other)
            })
        };
        let of_opt = self.events(Version::Opt, segments).iter().rev();
        let behind = of_opt.take_while(|event| event.at != store);
        let of_base = self.events(Version::Base, segments).iter();
        let written = of_base.filter_map(|event| {
            Some((there(Version::Base, event)?, access(&versions.of.base, event)?))
        });
        Some(Beside {
            written: written.collect(),
            behind: behind.filter(|event| there(Version::Opt, event).is_some()).count(),
        })
    }

    /// For a lone store of opt before which, and behind which, memory is as it is at an event of
    /// base: where that is.
    pub(super) fn event(
        &self,
        all: (&Versions, &Matching, &Congruence),
        store: InstId,
    ) -> Option<InstId> {
        let (versions, matching, _) = all;
        let VersionFacts { graph, chains, .. } = &versions.of.opt;
        let pair = matching.of_chain.opt[chains.of_inst(graph, store)?]?;
        let events = self.of_segment(all, (pair, chains.segment[store]));
        let ends = events.ends(Version::Opt);
        let epoch = ends.iter().position(|&end| events.events.opt[end].at == store)?;
        let event = *events.ends(Version::Base).get(epoch)?;
        events.stand(epoch + 1).then(|| events.events.base[event].at)
    }
}

/// The events of a segment
struct Events<'a> {
    versions: &'a Versions,
    congruence: &'a Congruence,
    events: PerVersion<&'a [Event]>,
}

impl Events<'_> {
    /// The events that epochs begin behind.
    fn ends(&self, which: Version) -> Vec<usize> {
        let events = self.events[which];
        let is_each = self.events.base.len() == self.events.opt.len();
        let goes_on = |&event: &usize| {
            let next = || events.get(event + 1).and_then(|next| self.place(which, next));
            let is_same = |place: Content| next().is_some_and(|next| is_one_place(&place, &next));
            !is_each && self.place(which, &events[event]).is_some_and(is_same)
        };
        (0..events.len()).filter(|event| !goes_on(event)).collect()
    }

    /// The place that an event writes to, if it is one.
    fn place(&self, which: Version, event: &Event) -> Option<Content> {
        let place = |&store: &InstId| self.congruence.accessed(self.versions, which, store);
        let (first, others) = event.stores.split_first()?;
        let first = place(first)?;
        let mut others = others.iter().map(place);
        let is_one = others.all(|other| other.is_some_and(|o| is_one_place(&first, &o)));
        is_one.then_some(first)
    }

    /// True if the first events of opt, as far as an epoch, each leave what those of base do.
    fn stand(&self, epoch: usize) -> bool {
        let [base, opt] = Version::BOTH.map(|which| self.ends(which));
        let mut ends = base.into_iter().zip(opt).take(epoch);
        ends.len() == epoch && ends.all(|(base, opt)| self.stands(base, opt) == Some(true))
    }

    fn stands(&self, base: usize, opt: usize) -> Option<bool> {
        let (base, opt) = (&self.events.base[base], &self.events.opt[opt]);
        let (of_base, of_opt) = (self.place(Version::Base, base)?, self.place(Version::Opt, opt)?);
        let access = access(&self.versions.of.base, base)?;
        let content = self.congruence.content_of(self.versions, &of_base, access)?;
        let stored = self.versions.of.opt.graph.operands(opt.at)[0];
        let stored = self.congruence.number(Version::Opt, stored);
        // The first round is not there yet.
        let is_same = content == stored || stored == UNKNOWN;
        Some(is_same && is_one_place(&of_base, &of_opt))
    }
}

/// True for places of one address and type.
fn is_one_place(a: &Content, b: &Content) -> bool {
    (a.number, a.data_type) == (b.number, b.data_type)
}

/// What may have written last behind an event of base, to places that it writes to.
fn access(base: &VersionFacts, event: &Event) -> Option<Access> {
    match base.graph.nodes[event.at].lone {
        Some(_) => Some(Access::Def(event.at)),
        None => {
            let hammock = base.chains.hammocks[base.graph.block(event.at)].as_ref()?;
            Some(Access::Phi(hammock.join))
        }
    }
}
