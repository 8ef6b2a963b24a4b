//! What loads give: what a store just wrote, what their places have, or what any load gives of the
//! same address in the same state of memory, or between the same matched anchors.

use crate::proof::addresses::made;
use crate::proof::keys::{Key, KeyId};
use crate::proof::numbers::{Number, UNKNOWN};
use crate::proof::places::Content;
use crate::proof::round::{Found, Round};
use crate::versions::graph::Access;
use crate::versions::version::Version;
use midflight_ir::ids::InstId;

impl Round<'_> {
    /// What gives a load from an address its number, where `clobber` may have written that last;
    /// none if no more is known of it than of any other operation.
    pub(super) fn load(
        &mut self,
        which: Version,
        load: InstId,
        address: Number,
        clobber: Access,
    ) -> Option<Found> {
        if let Some(stored) = self.stored(which, load, clobber) {
            // Of the other version less may be known of what may have written there, too.
            let together = self.loaded_together(which, load, address);
            return Some(together.map_or(Found::Number(stored), |key| Found::Said(key, stored)));
        }
        let known = match self.versions.graph(which).nodes[load].sees_place {
            true => self.content(which, load, clobber),
            false => {
                let place = self.congruence.accessed(self.versions, which, load);
                place.and_then(|place| self.left_alone(&place, clobber))
            }
        };
        let together = self.loaded_together(which, load, address);
        match (known, together) {
            (Some(number), Some(key)) => Some(Found::Said(key, number)),
            (Some(number), None) => Some(Found::Number(number)),
            // In what states memory is says nothing of what lone stores may have written.
            (None, Some(together)) if self.versions.graph(which).nodes[load].reads_lone => {
                Some(Found::Key(together))
            }
            (None, Some(together)) => {
                let key = self.loaded_in_state(which, load, address, clobber);
                Some(Found::Either(together, key))
            }
            (None, None) => None,
        }
    }

    /// The key of what a load gives of an address in a state of memory.
    pub(super) fn loaded_in_state(
        &mut self,
        which: Version,
        load: InstId,
        address: Number,
        state: Access,
    ) -> KeyId {
        let state = self.congruence.access(self.versions, which, state);
        let operation = self.versions.graph(which).nodes[load].operation;
        self.keys.id(Key::Operation(operation), &[address, state])
    }

    /// The key of what a load gives at its time, whatever may have written that.
    pub(super) fn loaded_together(
        &mut self,
        which: Version,
        load: InstId,
        address: Number,
    ) -> Option<KeyId> {
        let node = &self.versions.graph(which).nodes[load];
        node.facts.is_load().then_some(())?;
        self.read_together(which, load, &[node.operation, address])
    }

    /// The same for anything that reads memory and is no anchor: by what it does, and to what. Both
    /// versions have the same in memory between matched anchors and what lone stores write, by
    /// epochs, but for what is pending, which opt does not read, and for what base stores in vain:
    /// what base reads behind such a store it reads nowhere else.
    pub(super) fn read_together(
        &mut self,
        which: Version,
        inst: InstId,
        words: &[Number],
    ) -> Option<KeyId> {
        let (pair, segment) = self.matching.segment(self.versions, which, inst)?;
        (!self.versions.of[which].chains.late[inst]).then_some(())?;
        let all = (self.versions, self.matching, &self.congruence);
        let epoch = self.epochs.of(all, which, inst, (pair, segment))?;
        let words = [&[epoch as Number], words].concat();
        Some(self.keys.id(Key::Read(pair, segment as u32), &words))
    }

    /// What a load gives that reads just what a store wrote.
    fn stored(&self, which: Version, load: InstId, clobber: Access) -> Option<Number> {
        let graph = self.versions.graph(which);
        let Access::Def(store) = clobber else { return None };
        let node = &graph.nodes[store];
        let [value, pointer] = *graph.operands(store) else { return None };
        let same_place = self.congruence.number(which, pointer)
            == self.congruence.number(which, graph.operands(load)[0]);
        (node.facts.is_store() && same_place && graph.nodes[load].data_type == node.data_type)
            .then(|| self.congruence.number(which, value))
    }

    /// What a place has behind a store that may be to it, if that stores what the place has anyway:
    /// what is stored there is a place like this one, which it is, or does not overlap.
    pub(super) fn left_alone(&mut self, place: &Content, access: Access) -> Option<Number> {
        let Access::Def(store) = access else { return None };
        let version = &self.versions.of[place.which];
        let graph = &version.graph;
        let node = &graph.nodes[store];
        let can_be =
            node.lone.is_none() && self.may_leave_alone(place.which, place.place_of, store);
        let stored = self.congruence.number(place.which, graph.operands(store)[0]);
        (can_be && stored != UNKNOWN).then_some(())?;
        let is_above = |&leaf: &InstId| version.is_above(leaf, store);
        made(graph, place.pointer)?.leaves.iter().all(is_above).then_some(())?;
        let before = self.oracle.place_before(place.which, place.place_of, store)?;
        let sees_place = self.versions.has_lone || graph.nodes[place.place_of].sees_place;
        let content = if sees_place {
            self.content_of(place, before)?
        } else if let Some(stored) = self.congruence.stored(self.versions, place, before) {
            stored?
        } else {
            self.loaded(place, before)?
        };
        (content == stored).then_some(stored)
    }

    /// What a load of a place gives where `access` may have written to it last, if there is one.
    fn loaded(&mut self, place: &Content, access: Access) -> Option<Number> {
        let node = &self.versions.graph(place.which).nodes[place.place_of];
        node.facts.is_load().then_some(())?;
        let key = self.loaded_in_state(place.which, place.place_of, place.number, access);
        self.held(place.which, key)
    }

    /// True for a store that may store what a load's place has anyway.
    pub(super) fn may_leave_alone(&self, which: Version, load: InstId, def: InstId) -> bool {
        let [load, def] = [load, def].map(|inst| &self.versions.graph(which).nodes[inst]);
        let are_aligned = load.is_aligned && def.is_aligned;
        are_aligned && def.facts.is_store() && load.data_type == def.data_type
    }
}
