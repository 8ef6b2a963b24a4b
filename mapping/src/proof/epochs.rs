//! What memory has between the lone stores of a segment.
//!
//! Within a segment memory is the same in both versions before its first lone store, and behind the
//! last one, if nothing is pending then. Between them it is, too, where each store of opt stands
//! for an *event* of base: a lone store, or a branch with some on its ways that a chain goes on
//! behind. The events of base divide a segment into *epochs*. A store of opt stands for the event
//! of base with which an epoch begins if it leaves in its place what base has there then, if what
//! base wrote before was to the same place, since the last event that a store of opt stands for,
//! and if all stores of opt before it stand for events. So opt has skipped only what was
//! overwritten.

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
    /// How many stores of opt to it are before this one
    pub(super) before: usize,
    /// The same behind it
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

    /// The epoch of an instruction in a segment of a pair, by number: in both versions memory is
    /// the same then, but for what was pending before the segment. None within an event, or, in
    /// opt, behind a store that stands for none.
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
        match which {
            Version::Base => Some(before),
            Version::Opt => events.stood_for(before),
        }
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
        let (pair, segment) = matching.segment(versions, Version::Opt, store)?;
        let segments = matching.pairs[pair].chains.map(|chain| (chain, segment));
        let place = congruence.accessed(versions, Version::Opt, store)?;
        let there = |which: Version, event: &Event| {
            let mut stores = event.stores.iter();
            stores.find_map(|&store| {
                let other = congruence.accessed(versions, which, store)?;
                other.is_same_place(&place).then_some(other)
            })
        };
        let of_opt = self.events(Version::Opt, segments);
        let number = of_opt.iter().position(|event| event.at == store)?;
        let count = |events: &[Event]| {
            events.iter().filter(|event| there(Version::Opt, event).is_some()).count()
        };
        let of_base = self.events(Version::Base, segments).iter();
        let written = of_base.filter_map(|event| {
            Some((there(Version::Base, event)?, access(&versions.of.base, event)?))
        });
        Some(Beside {
            written: written.collect(),
            before: count(&of_opt[..number]),
            behind: count(&of_opt[number + 1..]),
        })
    }

    /// For a lone store of opt before which, and behind which, memory is as it is at an event of
    /// base: where that is, and whether base writes there no more in the segment.
    pub(super) fn event(
        &self,
        all: (&Versions, &Matching, &Congruence),
        store: InstId,
    ) -> Option<(InstId, bool)> {
        let (versions, matching, congruence) = all;
        let events = self.of_segment(all, matching.segment(versions, Version::Opt, store)?);
        let number = events.events.opt.iter().position(|event| event.at == store)?;
        let behind = events.stood_for(number + 1)?;
        let place = congruence.accessed(versions, Version::Opt, store)?;
        let writes = |&store: &InstId| {
            let other = congruence.accessed(versions, Version::Base, store);
            other.is_none_or(|other| other.is_same_place(&place))
        };
        let (before, later) = events.events.base.split_at(behind);
        let is_last = !later.iter().any(|event| event.stores.iter().any(writes));
        Some((before[behind - 1].at, is_last))
    }
}

/// The events of a segment
struct Events<'a> {
    versions: &'a Versions,
    congruence: &'a Congruence,
    events: PerVersion<&'a [Event]>,
}

impl Events<'_> {
    /// The place that an event writes to, if it is one.
    fn place(&self, which: Version, event: &Event) -> Option<Content> {
        let place = |&store: &InstId| self.congruence.accessed(self.versions, which, store);
        let (first, others) = event.stores.split_first()?;
        let first = place(first)?;
        let mut others = others.iter().map(place);
        let is_one = others.all(|other| other.is_some_and(|o| first.is_same_place(&o)));
        is_one.then_some(first)
    }

    /// The number of events of base behind which memory is as behind so many stores of opt.
    fn stood_for(&self, count: usize) -> Option<usize> {
        let (versions, congruence) = (self.versions, self.congruence);
        let mut next = 0;
        for of_opt in &self.events.opt[..count] {
            let place = self.place(Version::Opt, of_opt)?;
            let stored = versions.of.opt.graph.operands(of_opt.at)[0];
            let stored = congruence.number(Version::Opt, stored);
            loop {
                let of_base = self.events.base.get(next)?;
                let written = self.place(Version::Base, of_base)?;
                place.is_same_place(&written).then_some(())?;
                let access = access(&versions.of.base, of_base)?;
                let content = congruence.content_of(versions, &written, access);
                next += 1;
                // The first round is not there yet.
                if content == Some(stored) || stored == UNKNOWN {
                    break;
                }
            }
        }
        Some(next)
    }
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
