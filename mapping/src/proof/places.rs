//! Places in memory, and the numbers of what they have.

use crate::proof::numbers::{Number, UNKNOWN};
use crate::versions::graph::{Access, Operand};
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::{BlockId, InstId};
use rustc_hash::FxHashMap as HashMap;

/// The place that a load or store accesses
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) which: Version,
    /// The load or store
    pub(super) place_of: InstId,
    pub(super) pointer: Operand,
    pub(super) number: Number,
    pub(super) data_type: u32,
}

impl Content {
    pub(super) fn key(&self, block: BlockId) -> AtHead {
        let Content { which, pointer, data_type, .. } = *self;
        AtHead { which, pointer, data_type, block }
    }
}

/// A place at the head of a block where states of memory meet
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct AtHead {
    which: Version,
    pointer: Operand,
    pub(super) data_type: u32,
    block: BlockId,
}

/// What a place has at the head of a block
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) place: Content,
    /// For each predecessor what may have written to the place last
    pub(super) incoming: Vec<(BlockId, Access)>,
    /// The number if no other value is the same
    pub(super) own: Number,
    pub(super) number: Number,
}

/// What is known of places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Contents {
    pub(super) heads: HashMap<AtHead, Head>,
    pub(super) of_block: PerVersion<HashMap<BlockId, Vec<AtHead>>>,
    /// By type, address, and state of memory
    pub(super) known: HashMap<(u32, Number, Number), Number>,
    /// The next number that nothing has
    next: Number,
}

impl Contents {
    /// Nothing is known yet; `next` is the first number that nothing has.
    pub(super) fn new(next: Number) -> Self {
        Contents { next, ..Contents::default() }
    }

    pub(super) fn fresh(&mut self) -> Number {
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

    pub(super) fn at_block(&self, which: Version, block: BlockId) -> &[AtHead] {
        self.of_block[which].get(&block).map_or(&[], |places| places)
    }

    pub(super) fn known(&self, place: &Content, state: Number) -> Option<Number> {
        self.known.get(&(place.data_type, place.number, state)).copied()
    }
}
