//! What opt owes to memory, as [`super::lone`] finds it.

use crate::proof::matching::PairId;
use crate::proof::numbers::Number;
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::InstId;
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeSet;

/// Index of a place
pub type PlaceId = usize;

/// A place that lone stores write to
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// For each version a store to it
    pub store: PerVersion<InstId>,
    /// Its address
    pub(super) number: Number,
    pub(super) data_type: u32,
}

/// When base has what a lone store of opt leaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settles {
    /// At the end of the segment
    AtEnd,
    /// From a lone store of base on, or a branch with some on its ways, to the next one
    Event(InstId),
}

/// What is pending, and where.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Pending {
    /// The places
    pub places: Vec<Place>,
    /// For lone stores of each version their places
    pub(super) of_store: PerVersion<HashMap<InstId, PlaceId>>,
    /// For branches of base behind which a chain goes on the places of lone stores on their ways
    pub(super) passed: HashMap<InstId, BTreeSet<PlaceId>>,
    /// Lone stores of opt that leave what base has
    pub(super) settles: HashMap<InstId, Settles>,
    /// For segments at the begin of which something is pending, the places
    pub(super) at: HashMap<(PairId, usize), BTreeSet<PlaceId>>,
    /// Pairs on whose ways in there are lone stores
    pub(super) crossed: BTreeSet<PairId>,
}

impl Pending {
    /// The places that lone stores write to at an instruction of a chain, or on the ways of a
    /// branch that stands for them.
    pub(crate) fn written(&self, which: Version, inst: InstId) -> impl Iterator<Item = PlaceId> {
        let passed = self.passed.get(&inst).filter(|_| which == Version::Base);
        self.of_store[which].get(&inst).into_iter().chain(passed.into_iter().flatten()).copied()
    }

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
            active.extend(insts[which].iter().flat_map(|&i| self.written(which, i)));
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
    /// The lone stores of a version to a place, and branches that stand for some: those before an
    /// instruction, and the others.
    fn stores(&self, which: Version, place: PlaceId, before: InstId) -> [Vec<InstId>; 2] {
        let insts = &self.insts[which];
        let count = insts.iter().position(|&i| i == before).expect("a point of the segment");
        let of = |insts: &[InstId]| {
            let is_of = |&i: &InstId| self.pending.written(which, i).any(|other| other == place);
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
                Some(last) => match self.pending.settles.get(last) {
                    Some(Settles::Event(event)) => stored.last() != Some(event),
                    Some(Settles::AtEnd) => !later.is_empty(),
                    None => true,
                },
            }
        };
        self.places.iter().copied().filter(is_owed).collect()
    }

    /// True if execution may go on in opt before `landing`, with the memory that base has before
    /// `at`, or, with `within`, on a way of the branch that is before that. `touches` says whether
    /// the place that a store of opt writes to may be accessed at an instruction, or between that
    /// and the next one.
    pub fn may_enter(
        &self,
        (at, within): (InstId, bool),
        landing: InstId,
        touches: impl Fn(InstId, InstId) -> bool,
    ) -> bool {
        self.places.iter().all(|&place| {
            let [stored, later] = self.stores(Version::Base, place, at);
            let [written, _] = self.stores(Version::Opt, place, landing);
            // On a way of a branch a store may be before it, or behind it.
            let of_branch = |store: &InstId| self.pending.passed.contains_key(store);
            let is_unsure = within && stored.last().is_some_and(of_branch);
            match written.last().and_then(|last| self.pending.settles.get(last)) {
                Some(Settles::AtEnd) => return later.is_empty() && !is_unsure,
                Some(Settles::Event(event)) if stored.last() == Some(event) => return !is_unsure,
                Some(Settles::Event(event)) if !stored.contains(event) => return false,
                _ => {}
            }
            // What reads the place before opt writes to it must not see what base has stored.
            let store = self.pending.places[place].store.opt;
            let ahead = self.insts.opt.iter().skip_while(|&&i| i != landing);
            let mut ahead = ahead.take_while(|i| self.pending.of_store.opt.get(i) != Some(&place));
            stored.is_empty() || !ahead.any(|&i| touches(store, i))
        })
    }
}
