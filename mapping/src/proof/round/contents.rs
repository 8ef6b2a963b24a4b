//! What places in memory have, as values: loads are seen through the states that meet at the heads
//! of blocks.
//!
//! A pass that promotes a place to a register (LICM) has a phi where the other version reads the
//! place. So what a place has at the head of a block is numbered as a phi would be, by what it has
//! at the ends of the block's predecessors. The place must be the same one there: what its address
//! is made of must be computed above the block. This is done only where the state of memory as a
//! whole does not say as much: where versions have stores of their own, or phis in place of loads
//! (GVN).

use super::{Restless, Round, Time};
use crate::proof::addresses::{is_plain, made};
use crate::proof::guesses::{Guess, only};
use crate::proof::keys::Key;
use crate::proof::matching::{PairId, Walk};
use crate::proof::numbers::{Number, UNKNOWN, copied};
use crate::proof::places::{AtHead, Content, Head};
use crate::versions::graph::Access;
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::{BlockId, InstId, ValueId};

/// Places that a new phi may be guessed to have
const MOST_GUESSES: usize = 8;

impl Round<'_> {
    /// Prepares for all that loads may ask of what places have at the heads of blocks, and for the
    /// places of lone stores: what is found out only later would come apart from the phis that it
    /// is equal to.
    pub(super) fn prepare_contents(&mut self) {
        let versions = self.versions;
        if versions.has_lone {
            self.congruence.contents.note_left(versions, self.matching);
        }
        let mut work: Vec<(Content, BlockId)> = Vec::new();
        for which in Version::BOTH {
            let graph = versions.graph(which);
            let meeting = || graph.blocks.keys().filter(|&b| graph.blocks[b].memory_phi.is_some());
            for (inst, node) in graph.nodes.iter_enumerated() {
                let Some(place) = self.congruence.accessed(versions, which, inst) else {
                    continue;
                };
                match node.clobber {
                    Some(Access::Phi(block)) if node.sees_place => work.push((place, block)),
                    _ if node.lone.is_some() => work.extend(meeting().map(|block| (place, block))),
                    _ => {}
                }
            }
        }
        while let Some((place, block)) = work.pop() {
            let is_new = self.congruence.contents.at(&place, block).is_none();
            if is_new && self.at_head(&place, block).is_some() {
                let head = &self.congruence.contents.heads[&place.key(block)];
                let further = head.incoming.iter().filter_map(|&(_, access)| match access {
                    Access::Phi(block) => Some((place, block)),
                    _ => None,
                });
                work.extend(further);
            }
        }
    }

    /// Begins again, with the addresses of places as they were found to be: an address that is
    /// computed later in one version than in the other one would make what the place has come
    /// apart.
    pub(super) fn begin_again(&mut self, which: Version) {
        let mut heads = std::mem::take(&mut self.congruence.contents.heads);
        for head in heads.values_mut().filter(|head| head.place.which == which) {
            head.place.number = self.congruence.number(which, head.place.pointer);
        }
        self.congruence.contents.heads = heads;
        if which == Version::Opt {
            self.guess_contents();
        }
        self.forget(which);
    }

    /// Guesses what new phis of opt have, and places in memory: what base has in memory there.
    fn guess_contents(&mut self) {
        let (versions, matching) = (self.versions, self.matching);
        let contents = &self.congruence.contents;
        for (id, pair) in matching.pairs.iter_enumerated() {
            let at = |which: Version| {
                let blocks = pair.entries[which].iter();
                blocks.flat_map(move |&block| contents.at_block(which, block)).copied()
            };
            for phi in matching.entry_phis(versions, Version::Opt, id) {
                let is_new = versions.tracked.origin[phi].is_none();
                let is_copy = || only(&versions.of.opt.graph, phi).is_some();
                if self.guesses.phis[phi].is_none() && is_new && !is_copy() {
                    let data_type = versions.of.opt.graph.nodes[phi].data_type;
                    let same = at(Version::Base).filter(|place| place.data_type == data_type);
                    let places = self.likely_places(id, phi, same);
                    self.guesses.contents.insert(phi, places);
                }
            }
            let address = |key: &AtHead| contents.heads.get(key).map(|head| head.place.number);
            for place in at(Version::Opt) {
                let is_same = |other: &AtHead| {
                    place.data_type == other.data_type && address(&place) == address(other)
                };
                if let Some(same) = at(Version::Base).find(is_same) {
                    self.guesses.places.insert(place, same);
                }
            }
        }
    }

    /// Of places of base at the head of a pair those that have on some way in what comes in at a
    /// phi of opt there; the likeliest one is the last.
    fn likely_places(
        &self,
        pair: PairId,
        phi: InstId,
        places: impl Iterator<Item = AtHead>,
    ) -> Vec<AtHead> {
        let pairs = &self.matching.pairs;
        let edge = |&(from, place): &(PairId, usize)| Some(&pairs[from].out.as_ref()?[place].walks);
        let walks: Vec<_> = pairs[pair].incoming.iter().filter_map(edge).collect();
        let comes_in = |walk: &Walk| {
            let operand = self.comes_in(Version::Opt, phi, walk)?;
            Some(self.congruence.number(Version::Opt, operand))
        };
        let mut likely: Vec<(usize, AtHead)> = Vec::new();
        for place in places {
            let Some(head) = self.congruence.contents.heads.get(&place) else { continue };
            let is_same = |walks: &&&PerVersion<Vec<Walk>>| match (&walks.base[..], &walks.opt[..])
            {
                ([base, ..], [opt, ..]) => {
                    let number = self.over(head, place.block, base, true);
                    number.is_some_and(|number| number != UNKNOWN) && number == comes_in(opt)
                }
                _ => false,
            };
            let count = walks.iter().filter(is_same).count();
            let number = |other: &AtHead| self.congruence.contents.number(other);
            let is_known = likely.iter().any(|(_, other)| number(other) == number(&place));
            if count > 0 && !is_known {
                likely.push((count, place));
            }
        }
        likely.sort_by_key(|&(count, _)| count);
        let first = likely.len().saturating_sub(MOST_GUESSES);
        likely.drain(first..).map(|(_, place)| place).collect()
    }

    /// What a place has where `access` may have written to it last; none if that is not known.
    pub(super) fn content(
        &mut self,
        which: Version,
        place_of: InstId,
        access: Access,
    ) -> Option<Number> {
        let place = self.congruence.accessed(self.versions, which, place_of)?;
        self.content_of(&place, access)
    }

    pub(super) fn content_of(&mut self, place: &Content, access: Access) -> Option<Number> {
        if let Some(stored) = self.congruence.stored(self.versions, place, access) {
            return stored;
        }
        if let Access::Phi(block) = access
            && let Some(number) = self.at_head(place, block)
        {
            return Some(number);
        }
        let state = self.congruence.state_seen(self.versions, place, access)?;
        if state == UNKNOWN {
            return Some(UNKNOWN);
        }
        let key = (place.data_type, place.number, state);
        if let Some(number) = self.left_alone(place, access) {
            self.congruence.contents.left_alone.insert(key, number);
            return Some(number);
        }
        let contents = &mut self.congruence.contents;
        contents.left_alone.remove(&key);
        if let Some(&number) = contents.known.get(&key) {
            return Some(number);
        }
        let number = contents.fresh();
        contents.known.insert(key, number);
        Some(number)
    }

    /// What a place has at the head of a block, as far as this round knows.
    fn at_head(&mut self, place: &Content, block: BlockId) -> Option<Number> {
        let key = place.key(block);
        if let Some(head) = self.congruence.contents.heads.get(&key) {
            return Some(head.number);
        }
        let version = &self.versions.of[place.which];
        let is_above = |&leaf: &InstId| {
            let above = version.graph.block(leaf);
            above != block && version.scopes.dominates(above, block)
        };
        made(&version.graph, place.pointer)?.leaves.iter().all(is_above).then_some(())?;
        let of_predecessor = |&from: &BlockId| {
            Some((from, self.oracle.place_at_end(place.which, place.place_of, from)?))
        };
        let predecessors = version.live.predecessors[block].iter();
        let incoming: Vec<_> = predecessors.map(of_predecessor).collect::<Option<_>>()?;
        let own = self.congruence.contents.fresh();
        let head = Head {
            place: *place,
            incoming,
            own,
            number: UNKNOWN,
            changed: 0,
            restless: Restless::No,
        };
        let contents = &mut self.congruence.contents;
        contents.heads.insert(key, head);
        contents.of_block[place.which].entry(block).or_default().push(key);
        Some(UNKNOWN)
    }

    /// Numbers what places have at the head of a block; true if that changed.
    pub(super) fn contents_at(&mut self, which: Version, block: BlockId) -> bool {
        if !self.versions.has_places {
            return false;
        }
        let keys = self.congruence.contents.of_block[which].get(&block).cloned();
        let mut changed = false;
        for key in keys.into_iter().flatten() {
            let Some(mut head) = self.congruence.contents.heads.get(&key).cloned() else {
                continue;
            };
            let address = self.congruence.number(which, head.place.pointer);
            if address != UNKNOWN {
                head.place.number = address;
            }
            let number = self.meeting(&head, block);
            let number = self.guessed(which, Guess::Place(key), number);
            if std::mem::replace(&mut head.number, number) != number {
                head.changed = self.now;
                head.restless = head.restless.max(self.restlessness(which));
                changed = true;
            }
            self.congruence.contents.heads.insert(key, head);
        }
        changed
    }

    fn meeting(&mut self, head: &Head, block: BlockId) -> Number {
        let (place, which) = (&head.place, head.place.which);
        let is_own = head.restless == Restless::Own;
        if is_own || !is_plain(self.versions, &self.congruence, which, place.pointer) {
            return head.own;
        }
        let is_unsaid = head.restless == Restless::Plain;
        let mut of: Vec<(BlockId, Option<Number>)> = Vec::new();
        for &(from, access) in &head.incoming {
            let number = self.content_of(place, access);
            let said = |number: Number| match is_unsaid {
                true => number,
                false => self.said_on_edge(which, number, (from, block)),
            };
            of.push((from, number.map(said)));
        }
        let Some(numbers) = of.iter().map(|o| o.1).collect::<Option<Vec<Number>>>() else {
            return head.own;
        };
        if let Some(copied) = copied(numbers.iter().copied(), head.own) {
            return copied;
        }
        let over_edges = self.over_edges(which, block, |round, walk, is_said| {
            round.over(head, block, walk, is_said && !is_unsaid)
        });
        let key = match over_edges {
            Some((pair, over)) => self.keys.id(Key::Together(pair), &over),
            None => self.keys.id(Key::Alone(which, block), &numbers),
        };
        // As a phi that one branch decides, which a pass makes a select of.
        let from = |from: BlockId| numbers[of.iter().position(|o| o.0 == from)?].into();
        match self.chosen_at(which, block, from).filter(|_| !is_unsaid) {
            Some(([decided, holds, fails], _)) => {
                let choice = self.choice_of(place.data_type, decided, holds, fails);
                self.holder_of_either(which, [key, choice], head.own)
            }
            None => self.holder(which, key, head.own),
        }
    }

    /// What a place has at the head of a block when a walk was taken, as
    /// [`crate::proof::congruence::value_over`] has it for a phi; with `is_said`, with what
    /// branches on it say.
    fn over(&self, head: &Head, block: BlockId, walk: &Walk, is_said: bool) -> Option<Number> {
        let Some((from, before)) = walk.crossed(block)? else { return Some(head.number) };
        let mut access = head.access_from(from)?;
        for &(from, block) in before.iter().rev() {
            if access == Access::Phi(block) {
                let there = self.congruence.contents.heads.get(&head.place.key(block))?;
                access = there.access_from(from)?;
            }
        }
        let (versions, which) = (self.versions, head.place.which);
        let number = self.congruence.content_of(versions, &head.place, access)?;
        Some(match is_said {
            true => self.congruence.number_on_walk(versions, which, number, before, (from, block)),
            false => number,
        })
    }

    /// The number of what comes over an edge, where a branch may have said that it is a constant.
    pub(super) fn said_on_edge(
        &self,
        which: Version,
        number: Number,
        edge: (BlockId, BlockId),
    ) -> Number {
        self.congruence.number_on_walk(self.versions, which, number, &[], edge)
    }

    /// True if a version has one of two numbers where control goes from one block to another
    /// exactly where it has the other one: they are one, or a branch said that they are equal.
    pub(super) fn are_same_on_edge(
        &self,
        which: Version,
        numbers: [Number; 2],
        edge: (BlockId, BlockId),
    ) -> bool {
        let [one, other] = numbers;
        let numbers_of = |values: [ValueId; 2]| values.map(|v| self.congruence.of[which][v]);
        let mut said = self.versions.of[which].scopes.equal_on_edge(edge).map(numbers_of);
        self.said_on_edge(which, one, edge) == other
            || said.any(|said| said == [one, other] || said == [other, one])
    }

    /// True if what a place has at the head of a block has not changed since.
    pub(super) fn is_old(&self, place: &Content, block: BlockId, since: Time) -> bool {
        let head = self.congruence.contents.heads.get(&place.key(block));
        head.is_none_or(|head| head.changed < since)
    }
}
