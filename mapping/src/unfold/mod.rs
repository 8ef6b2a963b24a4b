//! Versions unfolded along each other, so that what a pass copied can be matched.
//!
//! A pass that rotates, unrolls or threads makes several blocks of one, and one that merges makes
//! one block of several. Chains are matched one to one ([`crate::proof::bisimulation`]). So where
//! that is not enough, a version is *unfolded*: a block of which the other version has copies is
//! copied, too, once for each place at which the other version may be when it is entered
//! ([`walk`]). An unfolded version does exactly what the version does: each copy of a block goes
//! where the block goes, to one copy of each successor. Any unfolding is right, whatever it was
//! chosen by; only how much can be matched depends on it. Values are in SSA form again, with phis
//! where copies of a definition meet ([`build`]).
//!
//! What is proved of unfolded versions holds of the versions: the run of one is the run of the
//! other. A point of a version is where all its copies are, and leads where all of them lead, with
//! values that are right at each of them ([`Fold::reaching`]).

use crate::versions::graph::{Access, Graph, Operand};
use midflight_ir::body::Body;
use midflight_ir::dominators::Dominators;
use midflight_ir::ids::{BlockId, InstId, ValueId};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::cell::RefCell;
use std::rc::Rc;
use typed_index_collections::TiVec;

pub mod build;
mod compared;
mod feasible;
pub(crate) mod memory;
mod places;
pub(crate) mod product;
pub(crate) mod projected;
mod said;
mod walk;

pub use product::Product;

/// Copies of a version's blocks, and how they follow each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Plan {
    /// For each copy the block that it is of; the first one is of the entry
    pub blocks: TiVec<BlockId, BlockId>,
    /// For each copy, and each edge of its block, the copy of the edge's target that it leads to
    pub successors: TiVec<BlockId, Vec<BlockId>>,
}

/// How an unfolded version leads back to the version.
#[derive(Clone, Debug)]
pub struct Fold {
    /// Number of arguments
    arguments: usize,
    /// For each block of the unfolded version the one that it is a copy of
    pub blocks: TiVec<BlockId, BlockId>,
    /// For each of its instructions the one that it is a copy of; for a phi where copies meet, the
    /// one whose result it has
    pub insts: TiVec<InstId, InstId>,
    /// For each of its instructions its block
    block_of: TiVec<InstId, BlockId>,
    /// For each block of the version its copies
    pub copies: TiVec<BlockId, Vec<BlockId>>,
    /// For each block of the unfolded version its first instruction that is a copy, not a phi where
    /// copies meet
    first: TiVec<BlockId, InstId>,
    /// For each instruction of the version its block, and its place there
    places: TiVec<InstId, (BlockId, usize)>,
    /// Where copies of an instruction's result meet: for some blocks of the unfolded version
    met: HashMap<(InstId, BlockId), InstId>,
    /// The version, and its dominators
    body: Rc<Body>,
    above: Dominators,
    /// Those of the unfolded version
    dominators: Dominators,
    frontier: TiVec<BlockId, Vec<BlockId>>,
    /// For blocks of the unfolded version where states of memory meet that met nowhere before, the
    /// state of the version whose copies come in there
    met_states: HashMap<BlockId, Access>,
    /// For blocks of the version the blocks at which what their copies define meets, with or
    /// without a phi
    joins: RefCell<HashMap<BlockId, Rc<HashSet<BlockId>>>>,
}

impl Fold {
    /// The copies of an instruction.
    pub fn instances(&self, inst: InstId) -> impl Iterator<Item = InstId> {
        let (block, place) = self.places[inst];
        self.copies[block].iter().map(move |&copy| self.at(copy, place))
    }

    /// The copy of an instruction in a block; none if that is no copy of its block.
    fn copy_in(&self, inst: InstId, copy: BlockId) -> Option<InstId> {
        let (block, place) = self.places[inst];
        (self.blocks[copy] == block).then(|| self.at(copy, place))
    }

    /// True unless it is a phi where copies meet.
    pub fn is_copy(&self, inst: InstId) -> bool {
        inst >= self.first[self.block_of[inst]]
    }

    fn at(&self, copy: BlockId, place: usize) -> InstId {
        InstId::from(usize::from(self.first[copy]) + place)
    }

    /// The value that an unfolded version's value is a copy of.
    pub fn value(&self, value: ValueId) -> ValueId {
        match usize::from(value).checked_sub(self.arguments) {
            Some(inst) => self.result(self.insts[InstId::from(inst)]),
            None => value,
        }
    }

    /// The operand of the version that one of the unfolded version is a copy of.
    fn operand(&self, operand: Operand) -> Operand {
        match operand {
            Operand::Value(value) => Operand::Value(self.value(value)),
            constant => constant,
        }
    }

    fn result(&self, inst: InstId) -> ValueId {
        ValueId::from(self.arguments + usize::from(inst))
    }

    /// The value of the unfolded version that has what a value of the version has before one of its
    /// instructions there; none if it is not defined on all ways of the version, or if copies of it
    /// meet where there is no phi.
    ///
    /// Values that reach one place are of one time: what LLVM says of a value and its operands
    /// holds of them. It need not hold of values that reach it in the unfolded version only, where
    /// an operand may have been computed again.
    pub fn reaching(&self, value: ValueId, before: InstId) -> Option<ValueId> {
        let is_there = self.above.is_available(&self.body, value, self.insts[before]);
        is_there.then(|| self.last(value, before)).flatten()
    }

    /// The same of a value of the version that need not be defined on all ways: what it was when it
    /// was computed last.
    pub fn last(&self, value: ValueId, before: InstId) -> Option<ValueId> {
        let Some(inst) = usize::from(value).checked_sub(self.arguments).map(InstId::from) else {
            return Some(value);
        };
        let (defined, place) = self.places[inst];
        let mut block = self.block_of[before];
        if self.blocks[block] == defined && self.at(block, place) < before {
            return Some(self.result(self.at(block, place)));
        }
        let joins = self.joins(defined);
        loop {
            if let Some(&phi) = self.met.get(&(inst, block)) {
                return Some(self.result(phi));
            }
            if joins.contains(&block) {
                return None;
            }
            block = self.dominators.immediate(block)?;
            if self.blocks[block] == defined {
                return Some(self.result(self.at(block, place)));
            }
        }
    }

    /// The state of memory that the unfolded version has before one of its instructions, where the
    /// version has a state that was left last before that.
    fn state(&self, graph: &Graph, access: Access, before: InstId) -> Option<Access> {
        let (defined, place) = match access {
            Access::Entry => return Some(access),
            Access::Phi(block) => (block, None),
            Access::Def(inst) => (self.places[inst].0, Some(self.places[inst].1)),
        };
        let left_by = |copy: BlockId| match place {
            Some(place) => Access::Def(self.at(copy, place)),
            None => Access::Phi(copy),
        };
        let joins = self.joins(defined);
        let mut block = self.block_of[before];
        let is_before = place.is_none_or(|place| self.at(block, place) < before);
        if self.blocks[block] == defined && is_before {
            return Some(left_by(block));
        }
        loop {
            if joins.contains(&block) {
                // What comes in may be what was left before this state.
                let has = |&met: &Access| met == access || self.is_later(met, access);
                let is_known = graph.blocks[block].memory_phi.is_some()
                    && self.met_states.get(&block).is_none_or(has);
                return is_known.then_some(Access::Phi(block));
            }
            block = self.dominators.immediate(block)?;
            if self.blocks[block] == defined {
                return Some(left_by(block));
            }
        }
    }

    /// Whether of two states that dominate a block one dominates the other: it is the one that was
    /// left last.
    fn is_later(&self, a: Access, b: Access) -> bool {
        let place = |access: Access| match access {
            Access::Entry => None,
            Access::Phi(block) => Some((block, 0)),
            Access::Def(inst) => {
                let (block, place) = self.places[inst];
                Some((block, place + 1))
            }
        };
        match (place(a), place(b)) {
            (None, _) => false,
            (_, None) => true,
            (Some(a), Some(b)) if a.0 == b.0 => a.1 > b.1,
            (Some(a), Some(b)) => self.above.dominates(b.0, a.0),
        }
    }

    fn joins(&self, defined: BlockId) -> Rc<HashSet<BlockId>> {
        let mut known = self.joins.borrow_mut();
        let found = known.entry(defined).or_insert_with(|| {
            let copies = &self.copies[defined];
            Rc::new(if copies.len() > 1 {
                joins(copies, &self.frontier)
            } else {
                HashSet::default()
            })
        });
        found.clone()
    }
}

/// The iterated dominance frontier of blocks: where what they define meets.
fn joins(definitions: &[BlockId], frontier: &TiVec<BlockId, Vec<BlockId>>) -> HashSet<BlockId> {
    let mut joins: HashSet<BlockId> = HashSet::default();
    let mut work = definitions.to_vec();
    while let Some(block) = work.pop() {
        let new = frontier[block].iter().copied().filter(|&join| joins.insert(join));
        work.extend(new);
    }
    joins
}

impl Plan {
    /// True if no block has two copies.
    pub fn is_trivial(&self, graph: &Graph) -> bool {
        let mut seen = TiVec::from(vec![false; graph.blocks.len()]);
        self.blocks.iter().all(|&block: &BlockId| !std::mem::replace(&mut seen[block], true))
    }
}
