//! What places in memory have, as values: loads are seen through the states that meet at the heads
//! of blocks.
//!
//! A pass that promotes a place to a register (LICM) has a phi where the other version reads the
//! place. So what a place has at the head of a block is numbered as a phi would be, by what it has
//! at the ends of the block's predecessors. The place must be the same one there: what its address
//! is made of must be computed above the block. This is done only where versions have stores of
//! their own; elsewhere the state of memory as a whole says as much.

use crate::proof::congruence::{Congruence, Number, UNKNOWN, copied, crossed};
use crate::proof::guesses::Guess;
use crate::proof::keys::Key;
use crate::proof::matching::{Versions, Walk};
use crate::proof::round::Round;
use crate::versions::graph::{Access, Graph, Node, Operand};
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::{BlockId, InstId, ValueId};
use rustc_hash::FxHashMap as HashMap;

/// Places that a new phi may be guessed to have
const MOST_GUESSES: usize = 8;

/// Operations that an address may be made of
const MOST_OPERATIONS: usize = 16;

/// The place that a load or store accesses
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) which: Version,
    /// The load or store
    place_of: InstId,
    pointer: Operand,
    number: Number,
    data_type: u32,
}

/// The address that a simple load or store accesses.
pub fn pointer(graph: &Graph, place_of: InstId) -> Option<Operand> {
    let node = &graph.nodes[place_of];
    match node.operands[..] {
        [pointer] if node.facts.is_load() => Some(pointer),
        [_, pointer] if node.facts.is_store() => Some(pointer),
        _ => None,
    }
}

/// What an address is made of.
struct Made {
    /// Operations that can be repeated
    operations: Vec<InstId>,
    /// What they are done to
    leaves: Vec<InstId>,
}

/// None if there are too many operations.
fn made(graph: &Graph, address: Operand) -> Option<Made> {
    let mut made = Made { operations: Vec::new(), leaves: Vec::new() };
    let mut work = vec![address];
    while let Some(operand) = work.pop() {
        let Operand::Value(value) = operand else { continue };
        let Some(inst) = graph.definition(value) else { continue };
        let node = &graph.nodes[inst];
        if !node.facts.is_repeatable() {
            made.leaves.push(inst);
            continue;
        }
        made.operations.push(inst);
        if made.operations.len() > MOST_OPERATIONS {
            return None;
        }
        work.extend(&node.operands);
    }
    Some(made)
}

/// True if the number of an address makes no use of what branches say of values: what its
/// operations are done to may be something else where the branch was not taken.
fn is_plain(
    versions: &Versions,
    congruence: &Congruence,
    which: Version,
    address: Operand,
) -> bool {
    let graph = versions.graph(which);
    let is_plain = |&inst: &InstId| {
        let Node { block, operands, .. } = &graph.nodes[inst];
        let is_plain = |&operand: &Operand| {
            congruence.at(versions, which, operand, *block) == congruence.number(which, operand)
        };
        operands.iter().all(is_plain)
    };
    made(graph, address).is_some_and(|made| made.operations.iter().all(is_plain))
}

/// The instructions that an address is made of by operations that can be repeated; none if there
/// are too many, or if what branches say of values was used.
pub fn leaves(
    versions: &Versions,
    congruence: &Congruence,
    which: Version,
    address: Operand,
) -> Option<Vec<InstId>> {
    is_plain(versions, congruence, which, address).then_some(())?;
    Some(made(versions.graph(which), address)?.leaves)
}

impl Content {
    pub(super) fn new(
        versions: &Versions,
        congruence: &Congruence,
        which: Version,
        place_of: InstId,
    ) -> Option<Self> {
        let graph = versions.graph(which);
        let pointer = pointer(graph, place_of)?;
        let number = congruence.number(which, pointer);
        let data_type = graph.nodes[place_of].data_type;
        Some(Content { which, place_of, pointer, number, data_type })
    }

    /// What a store left there. The outer option says whether `access` is one that writes just this
    /// place, or a lone one that may write a part of it.
    pub(super) fn stored(
        &self,
        versions: &Versions,
        congruence: &Congruence,
        access: Access,
    ) -> Option<Option<Number>> {
        let Access::Def(inst) = access else { return None };
        let node = &versions.graph(self.which).nodes[inst];
        if let [value, pointer] = node.operands[..]
            && node.facts.is_store()
            && node.data_type == self.data_type
        {
            match congruence.number(self.which, pointer) {
                // The first round is not there yet.
                UNKNOWN => return Some(Some(UNKNOWN)),
                address if address == self.number => {
                    return Some(Some(congruence.number(self.which, value)));
                }
                _ => {}
            }
        }
        node.lone.is_some().then_some(None)
    }

    fn key(&self, block: BlockId) -> AtHead {
        let pointer = match self.pointer {
            Operand::Value(value) => Ok(value),
            Operand::Constant(constant) => Err(constant),
        };
        AtHead { which: self.which, pointer, data_type: self.data_type, block }
    }
}

/// A place at the head of a block where states of memory meet
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct AtHead {
    which: Version,
    pointer: Result<ValueId, u32>,
    data_type: u32,
    block: BlockId,
}

/// What a place has at the head of a block
#[derive(Clone, Debug, PartialEq, Eq)]
struct Head {
    place: Content,
    /// For each predecessor what may have written to the place last
    incoming: Vec<(BlockId, Access)>,
    /// The number if no other value is the same
    own: Number,
    number: Number,
}

/// What is known of places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Contents {
    heads: HashMap<AtHead, Head>,
    of_block: PerVersion<HashMap<BlockId, Vec<AtHead>>>,
    /// By type, address, and state of memory
    known: HashMap<(u32, Number, Number), Number>,
    /// The next number that nothing has
    next: Number,
}

impl Contents {
    pub(super) fn new(versions: &Versions, next: Number) -> Self {
        let next = if versions.has_lone { next } else { UNKNOWN };
        Contents { next, ..Contents::default() }
    }

    fn fresh(&mut self) -> Number {
        self.next += 1;
        self.next - 1
    }

    pub(super) fn at(&self, place: &Content, block: BlockId) -> Option<Number> {
        self.heads.get(&place.key(block)).map(|head| head.number)
    }

    /// What a place has at the head of a block, if that is known.
    pub(super) fn number(&self, place: &AtHead) -> Option<Number> {
        self.heads.get(place).map(|head| head.number).filter(|&number| number != UNKNOWN)
    }

    pub(super) fn forget(&mut self, which: Version) {
        let heads = self.heads.values_mut().filter(|head| head.place.which == which);
        heads.for_each(|head| head.number = UNKNOWN);
    }

    fn at_block(&self, which: Version, block: BlockId) -> &[AtHead] {
        self.of_block[which].get(&block).map_or(&[], |places| places)
    }

    pub(super) fn known(&self, place: &Content, state: Number) -> Option<Number> {
        self.known.get(&(place.data_type, place.number, state)).copied()
    }
}

impl Round<'_> {
    /// Prepares for all that loads may ask of what places have at the heads of blocks, and for the
    /// places of lone stores: what is found out only later would come apart from the phis that it
    /// is equal to.
    pub(super) fn prepare_contents(&mut self) {
        let versions = self.versions;
        let mut work: Vec<(Content, BlockId)> = Vec::new();
        for which in Version::BOTH {
            let graph = versions.graph(which);
            let meeting = || graph.blocks.keys().filter(|&b| graph.blocks[b].memory_phi.is_some());
            for (inst, node) in graph.nodes.iter_enumerated() {
                let Some(place) = Content::new(versions, &self.congruence, which, inst) else {
                    continue;
                };
                match node.clobber {
                    Some(Access::Phi(block)) if node.facts.is_load() => work.push((place, block)),
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
        self.forget(which);
        if which == Version::Opt {
            self.guess_contents();
        }
    }

    /// Guesses what new phis of opt have, and places in memory: what base has in memory there.
    fn guess_contents(&mut self) {
        let (versions, matching) = (self.versions, self.matching);
        let contents = &self.congruence.contents;
        for (id, pair) in matching.pairs.iter().enumerate() {
            let at = |which: Version| {
                let blocks = pair.entries[which].iter();
                blocks.flat_map(move |&block| contents.at_block(which, block)).copied()
            };
            for phi in matching.entry_phis(versions, Version::Opt, id) {
                if self.guesses.phis[phi].is_none() && versions.tracked.origin[phi].is_none() {
                    let data_type = versions.of.opt.graph.nodes[phi].data_type;
                    let same = at(Version::Base).filter(|place| place.data_type == data_type);
                    self.guesses.contents.insert(phi, same.take(MOST_GUESSES).collect());
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

    /// What a place has where `access` may have written to it last; none if that is not known.
    pub(super) fn content(
        &mut self,
        which: Version,
        place_of: InstId,
        access: Access,
    ) -> Option<Number> {
        let place = Content::new(self.versions, &self.congruence, which, place_of)?;
        self.content_of(&place, access)
    }

    fn content_of(&mut self, place: &Content, access: Access) -> Option<Number> {
        if let Some(stored) = place.stored(self.versions, &self.congruence, access) {
            return stored;
        }
        if let Access::Phi(block) = access {
            return self.at_head(place, block);
        }
        let state = self.congruence.access(self.versions, place.which, access);
        let contents = &mut self.congruence.contents;
        let key = (place.data_type, place.number, state);
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
            let above = version.graph.nodes[leaf].block;
            above != block && version.scopes.dominates(above, block)
        };
        made(&version.graph, place.pointer)?.leaves.iter().all(is_above).then_some(())?;
        let of_predecessor = |&from: &BlockId| {
            Some((from, self.oracle.place_at_end(place.which, place.place_of, from)?))
        };
        let predecessors = version.live.predecessors[block].iter();
        let incoming: Vec<_> = predecessors.map(of_predecessor).collect::<Option<_>>()?;
        let own = self.congruence.contents.fresh();
        let head = Head { place: *place, incoming, own, number: UNKNOWN };
        let contents = &mut self.congruence.contents;
        contents.heads.insert(key, head);
        contents.of_block[place.which].entry(block).or_default().push(key);
        Some(UNKNOWN)
    }

    /// Numbers what places have at the head of a block; true if that changed.
    pub(super) fn contents_at(&mut self, which: Version, block: BlockId) -> bool {
        if !self.versions.has_lone {
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
            changed |= number != head.number;
            head.number = number;
            self.congruence.contents.heads.insert(key, head);
        }
        changed
    }

    fn meeting(&mut self, head: &Head, block: BlockId) -> Number {
        let (place, which) = (&head.place, head.place.which);
        if !is_plain(self.versions, &self.congruence, which, place.pointer) {
            return head.own;
        }
        let mut of: Vec<(BlockId, Option<Number>)> = Vec::new();
        for &(from, access) in &head.incoming {
            of.push((from, self.content_of(place, access)));
        }
        let Some(numbers) = of.iter().map(|o| o.1).collect::<Option<Vec<Number>>>() else {
            return head.own;
        };
        if let Some(copied) = copied(numbers.iter().copied(), head.own) {
            return copied;
        }
        let over_edges = self.over_edges(which, block, |round, walk| round.over(head, block, walk));
        match over_edges {
            Some((pair, over)) => self.holder_of(which, Key::Together(pair), &over, head.own),
            None => self.holder_of(which, Key::Alone(which, block), &numbers, head.own),
        }
    }

    /// What a place has at the head of a block when a walk was taken, as
    /// [`super::congruence::value_over`] has it for a phi.
    fn over(&self, head: &Head, block: BlockId, walk: &Walk) -> Option<Number> {
        let state = |incoming: &[(BlockId, Access)], from: BlockId| {
            incoming.iter().find(|(b, _)| *b == from).map(|&(_, access)| access)
        };
        let Some((from, before)) = crossed(walk, block)? else { return Some(head.number) };
        let mut access = state(&head.incoming, from)?;
        for &(from, block) in before.iter().rev() {
            if access == Access::Phi(block) {
                let there = self.congruence.contents.heads.get(&head.place.key(block))?;
                access = state(&there.incoming, from)?;
            }
        }
        self.congruence.content_of(self.versions, &head.place, access)
    }
}
