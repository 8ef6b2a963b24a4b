//! Places that instructions of an unfolded version access, as far as they are known: so many bytes
//! behind an address that is the same all the time.
//!
//! In the copies of a loop that was unrolled, an index is constant that is none in the version, of
//! which LLVM knows nothing. So which elements of an array are accessed is found here.

use crate::unfold::Fold;
use crate::versions::graph::{ConstId, Graph, Operand, Oracle};
use crate::versions::version::Version;
use midflight_ir::ids::{BlockId, InstId, ValueId};
use rustc_hash::FxHashMap as HashMap;
use std::cell::RefCell;

/// Operations that an address may be made of, one of the other
const DEEPEST: usize = 24;

/// Bytes from a base to a place
const FARTHEST: u64 = 1 << 62;

/// The places of an unfolded version
pub(super) struct Places<'a> {
    pub(super) graph: &'a Graph,
    pub(super) fold: &'a Fold,
    pub(super) which: Version,
    pub(super) oracle: &'a dyn Oracle,
    /// Values that are constant, as far as that was asked
    constants: RefCell<HashMap<ValueId, Option<ConstId>>>,
    /// What accesses access, as far as that was asked
    places: RefCell<HashMap<InstId, Option<Place>>>,
}

/// Bytes in memory
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Place {
    /// An address that is the same all the time
    pub(super) base: Operand,
    /// The first byte, counted from there
    first: i64,
    bytes: i64,
}

impl Place {
    /// True if both have no byte in common.
    pub(super) fn is_apart(self, other: Place) -> bool {
        let is_before = |a: Place, b: Place| {
            a.first.checked_add(a.bytes).is_some_and(|behind| behind <= b.first)
        };
        self.base == other.base && (is_before(self, other) || is_before(other, self))
    }
}

impl<'a> Places<'a> {
    pub(super) fn new(
        graph: &'a Graph,
        fold: &'a Fold,
        which: Version,
        oracle: &'a dyn Oracle,
    ) -> Self {
        Places {
            graph,
            fold,
            which,
            oracle,
            constants: RefCell::default(),
            places: RefCell::default(),
        }
    }

    /// True for two simple accesses that have no byte in common, whenever they run.
    pub(super) fn are_apart(&self, one: InstId, other: InstId) -> bool {
        self.place(one).zip(self.place(other)).is_some_and(|(one, other)| one.is_apart(other))
    }

    /// What a simple access accesses, if that is the same bytes whenever it runs.
    pub(super) fn place(&self, inst: InstId) -> Option<Place> {
        if let Some(&known) = self.places.borrow().get(&inst) {
            return known;
        }
        let found = self.found(inst);
        self.places.borrow_mut().insert(inst, found);
        found
    }

    fn found(&self, inst: InstId) -> Option<Place> {
        let bytes = i64::try_from(self.graph.nodes[inst].accessed_bytes?).ok()?;
        let mut address = self.graph.pointer(inst)?;
        let mut first: i64 = 0;
        for _ in 0..DEEPEST {
            match self.step(address) {
                Some((before, bytes)) => (address, first) = (before, first.checked_add(bytes)?),
                None => break,
            }
        }
        // Far from the base an access may go round the end of the address space.
        let is_near = first.unsigned_abs() < FARTHEST && bytes.unsigned_abs() < FARTHEST;
        (is_near && self.is_lasting(address)).then_some(Place { base: address, first, bytes })
    }

    /// The address that so many bytes were added to, for one that this is known of.
    fn step(&self, address: Operand) -> Option<(Operand, i64)> {
        let Operand::Value(value) = address else {
            let Operand::Constant(constant) = address else { return None };
            let (global, bytes) = self.oracle.address(constant)?;
            return (global != constant).then_some((Operand::Constant(global), bytes));
        };
        let inst = self.graph.definition(value)?;
        if self.graph.nodes[inst].facts.is_phi() {
            let &[only] = self.graph.operands(inst) else { return None };
            return Some((only, 0));
        }
        let linear = self.graph.nodes[inst].linear.as_ref().filter(|linear| linear.bits == 64)?;
        let ((0, 1), indices) = linear.terms.split_first().map(|(&base, rest)| (base, rest))?
        else {
            return None;
        };
        let operands = self.graph.operands(inst);
        let mut bytes = linear.constant;
        for &(place, factor) in indices {
            let index = self.oracle.integer(self.constant(operands[place], DEEPEST)?)?;
            bytes = bytes.checked_add(index.checked_mul(factor)?)?;
        }
        Some((operands[0], bytes))
    }

    /// True for a value that is computed once at most: a constant, an argument, or what the first
    /// block defines.
    fn is_lasting(&self, operand: Operand) -> bool {
        let Some(inst) = self.graph.definition_of(operand) else { return true };
        self.fold.blocks[self.graph.block(inst)] == BlockId::from(0)
    }

    /// The constant that a value is in this version, unless it is poison.
    fn constant(&self, operand: Operand, depth: usize) -> Option<ConstId> {
        let value = match operand {
            Operand::Constant(constant) => return Some(constant),
            Operand::Value(value) => value,
        };
        if let Some(&known) = self.constants.borrow().get(&value) {
            return known;
        }
        // Should it be asked while it is found out, it is not known.
        self.constants.borrow_mut().insert(value, None);
        let found = self.computed(value, depth);
        self.constants.borrow_mut().insert(value, found);
        found
    }

    fn computed(&self, value: ValueId, depth: usize) -> Option<ConstId> {
        let depth = depth.checked_sub(1)?;
        let inst = self.graph.definition(value)?;
        let facts = self.graph.nodes[inst].facts;
        let mut operands = self.graph.operands(inst).iter();
        if facts.is_phi() {
            let first = self.constant(*operands.next()?, depth)?;
            return operands.all(|&o| self.constant(o, depth) == Some(first)).then_some(first);
        }
        (facts.is_repeatable() && !facts.reads_memory()).then_some(())?;
        let constant = |&operand: &Operand| Some(Operand::Constant(self.constant(operand, depth)?));
        let constants: Vec<Operand> = operands.map(constant).collect::<Option<_>>()?;
        match self.oracle.simplify(self.which, self.fold.insts[inst], &constants)? {
            Operand::Constant(constant) => Some(constant),
            Operand::Value(_) => None,
        }
    }
}
