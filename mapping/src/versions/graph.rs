//! A version as mappings see it: its snapshot, the operations, and what reads of memory depend on.
//!
//! Two versions share the numbers of their operations and of their constants, so that values of the
//! one can be compared with values of the other. Nothing here needs LLVM.

use crate::proof::terms::Terms;
use crate::versions::version::{PerVersion, Version};
use midflight_ir::body::Body;
pub use midflight_ir::code::{ConstId, Operand};
use midflight_ir::facts::MapFacts;
use midflight_ir::ids::{BlockId, InstId, InstRange, ValueId};
use rustc_hash::FxHashSet as HashSet;
use std::rc::Rc;
use typed_index_collections::TiVec;

/// Number of an operation: equal just if two instructions do the same to their operands.
pub type OperationId = u32;

/// What left memory in the state that an instruction reads (LLVM's MemorySSA).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// The caller
    Entry,
    /// An anchor
    Def(InstId),
    /// Whatever comes in at the head of a block
    Phi(BlockId),
}

/// What mappings know of an instruction beside its snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Node {
    /// What is known of it
    pub facts: MapFacts,
    /// The type of its result; for a store, of what it stores. Equal numbers are equal types.
    pub data_type: u32,
    /// What it does
    pub operation: OperationId,
    /// If it adds multiples of its operands
    pub linear: Option<Linear>,
    /// If it gives a boolean by another one, or by a comparison
    pub boolean: Option<Boolean>,
    /// It gives a value whatever its operands are, once it has no flags, unless it is partial.
    pub is_total: bool,
    /// It is poison if it shifts too far, which it may.
    pub is_partial: bool,
    /// It calls `memcmp` or `bcmp`, and of the result only matters whether it is zero: then both are
    /// the same, whatever is called, which is its last operand.
    pub compares_memory: bool,
    /// For one that calls `strcmp` or `strncmp` instead, with a constant string: the bytes that it
    /// compares
    pub compared_bytes: Option<ConstId>,
    /// It divides or shifts to the right by a constant, and is poison if that leaves a remainder.
    pub is_exact: bool,
    /// The operands that are neither poison nor undefined wherever it runs, or else the program is
    /// undefined: bit `n` for the operand at `n`, of the first 64
    pub well_defined: u64,
    /// For a switch, its cases
    pub cases: Option<Cases>,
    /// What it does, if other instructions may do the same
    pub effect: Option<Effect>,
    /// If it copies so many bytes, from where operand 1 is to where operand 0 is, as a load and a
    /// store of an integer may
    pub copied_bytes: Option<u64>,
    /// If it writes one byte all over a place
    pub fills: Option<Fill>,
    /// It is part of what the last one of a group fills ([`Fill::group`]).
    pub is_grouped: bool,
    /// Bits of what it gives, if that is an integer of at most 64
    pub bits: Option<u32>,
    /// If it extends an integer, and is poison only if that is
    pub extends: Option<Extends>,
    /// The bytes of the integer that it loads or stores, if it is a simple access of one
    pub integer_bytes: Option<u64>,
    /// The bytes that it accesses, if it is a simple load or store
    pub accessed_bytes: Option<u64>,
    /// A simple load or store whose address is a multiple of as many bytes as it accesses: another
    /// such access of one type is to the same place, or to none of these bytes.
    pub is_aligned: bool,
    /// For an alloca of base that is only read, but for a copy of a constant all over it: that
    /// copy. Opt does not have it, and its number is that of the constant's address.
    pub local_constant: Option<InstId>,
    /// For such a copy, the state of memory before it, which it leaves: nothing else sees it.
    pub initializes: Option<Access>,
    /// A store that a pass deleted, since the next anchor writes to the same place
    pub is_overwritten: bool,
    /// For a store that the other version does not have at this time ([`crate::proof::pending`]),
    /// the state of memory before it
    pub lone: Option<Access>,
    /// It reads what such a store of its version may have written.
    pub reads_lone: bool,
    /// A load that is numbered by what its place has ([`crate::proof`]), not only by the state of
    /// memory as a whole
    pub sees_place: bool,
    /// The operand's operand that it is a copy of, by the ranges of values
    pub copied: Option<Operand>,
    /// The constant that it always gives (conditional constant propagation), if a pass replaced it
    /// by one
    pub constant: Option<ConstId>,
    /// For an operation on signed numbers that are not negative whenever it runs, its unsigned
    /// counterpart, which gives the same; if a pass replaced it
    pub as_unsigned: Option<OperationId>,
    /// For one that reads memory and is no anchor, what may have written that last
    pub clobber: Option<Access>,
}

/// A sum of multiples of operands and a constant, modulo 2^64 or the size of the type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Linear {
    /// The constant
    pub constant: i64,
    /// Places of operands, with their factors
    pub terms: Vec<(usize, i64)>,
    /// Bits of the result
    pub bits: u32,
}

impl Linear {
    /// If it adds a constant to one operand, or to its negation: the operand's place, and what it
    /// is where the sum is a constant; both as signed numbers.
    pub fn before(&self, constant: i64) -> Option<(usize, i64)> {
        let [(place, factor @ (1 | -1))] = self.terms[..] else { return None };
        let before = constant.wrapping_sub(self.constant).wrapping_mul(factor);
        Some((place, sign_extended(before, self.bits)))
    }
}

/// How an integer is extended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extends {
    /// From so many bits
    pub bits: u32,
    /// By copies of the highest one
    pub signed: bool,
}

impl Extends {
    /// The integer that is extended to a constant, if there is one; both as signed numbers.
    pub fn before(self, constant: i64) -> Option<i64> {
        let narrow = sign_extended(constant, self.bits);
        (self.after(narrow) == constant).then_some(narrow)
    }

    /// What a constant is extended to.
    pub fn after(self, narrow: i64) -> i64 {
        match self.signed {
            true => narrow,
            false => narrow & !(-1 << (self.bits - 1) << 1),
        }
    }
}

/// The lowest bits of a word, from 1 to 64 of them, as a signed number.
fn sign_extended(word: i64, bits: u32) -> i64 {
    let unused = 64 - bits.clamp(1, 64);
    word << unused >> unused
}

/// The cases of a switch.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cases {
    /// Bits of what is decided by
    pub bits: u32,
    /// Their values, in the order of its successors, of which the first one is the default
    pub values: Vec<u64>,
}

impl Cases {
    /// The values, as signed numbers.
    pub fn signed(&self) -> impl Iterator<Item = i64> {
        self.values.iter().map(|&value| sign_extended(value as i64, self.bits))
    }

    /// The successor that a constant leads to, by its index.
    pub fn way(&self, constant: i64) -> usize {
        self.signed().position(|value| value == constant).map_or(0, |case| case + 1)
    }

    /// The successors, by their indices, that two switches go to if they decide by the same value,
    /// or one by that of the other one extended, in one of [`Self::extensions`].
    pub fn ways_together(cases: PerVersion<&Cases>) -> Vec<PerVersion<usize>> {
        let Some(extends) = Self::extensions(cases).next() else { return Vec::new() };
        let extended = |of: &Cases| of.bits > extends.bits;
        let at = |value: i64| {
            cases.map(|of| of.way(if extended(of) { extends.after(value) } else { value }))
        };
        let values = Version::BOTH.into_iter().flat_map(|w| {
            let of = cases[w];
            let before =
                move |value| if extended(of) { extends.before(value) } else { Some(value) };
            of.signed().filter_map(before)
        });
        let mut ways = vec![PerVersion { base: 0, opt: 0 }];
        ways.extend(values.map(at));
        let mut seen = HashSet::default();
        ways.retain(|way| seen.insert((way.base, way.opt)));
        ways
    }

    /// How the value that the wider one of two switches decides by may be that of the other one
    /// extended: so that each of its cases is the value of. Where there are two ways, all of these
    /// are positive in both, and the switches go to the same successors together.
    pub fn extensions(cases: PerVersion<&Cases>) -> impl Iterator<Item = Extends> {
        let bits = cases.base.bits.min(cases.opt.bits);
        let extends = [false, true].map(|signed| Extends { bits, signed });
        extends.into_iter().filter(move |extends| {
            let mut wide = Version::BOTH.into_iter().filter(|&w| cases[w].bits > bits);
            wide.all(|w| cases[w].signed().all(|value| extends.before(value).is_some()))
        })
    }
}

/// What an instruction does whose result is not used. Another one does the same if both are equal
/// and these operands are the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    /// Its number: of the kind, and of what is written, if that is constant
    pub what: u32,
    /// The places of the operands that matter, in order
    pub operands: Vec<usize>,
}

/// What has one byte all over once an instruction has run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// Its number: of the byte, if that is constant, and of what is filled, counted from where
    /// that begins
    pub what: u32,
    /// The byte is an operand.
    pub byte_varies: bool,
    /// The instruction is the last one of a group, with no other anchor between, that fills that
    /// together: it begins where one of them writes to, so many instructions before the last.
    pub group: Option<usize>,
}

/// What gives a boolean that may be there negated, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Boolean {
    /// Two operands compared
    Comparison {
        /// What the comparison, its inverse, and both with swapped operands have in common
        predicate: u32,
        /// It has the operands the other way round.
        swapped: bool,
        /// It is the inverse.
        negated: bool,
        /// The order of operands does not matter.
        symmetric: bool,
    },
    /// The operand at this place negated
    Not(usize),
}

/// What mappings know of a block beside its snapshot.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GraphBlock {
    /// For each of its edges whether control may go there
    pub feasible: Vec<bool>,
    /// What branches say of the edges into the block: for a predecessor, values that are constants
    /// where control comes from it
    pub implied: Vec<(BlockId, ValueId, ConstId)>,
    /// If states of memory meet at its head: for each predecessor the state that it leaves
    pub memory_phi: Option<Vec<(BlockId, Access)>>,
}

/// A version: its snapshot, and in tables beside it what mappings depend on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Graph {
    /// Its snapshot, with code and constants
    pub body: Rc<Body>,
    /// What is known of its blocks
    pub blocks: TiVec<BlockId, GraphBlock>,
    /// What is known of its instructions
    pub nodes: TiVec<InstId, Node>,
}

impl Node {
    /// True if the operand at a place is well defined wherever this runs.
    pub fn is_well_defined(&self, place: usize) -> bool {
        u32::try_from(place)
            .is_ok_and(|place| self.well_defined.checked_shr(place).unwrap_or(0) & 1 == 1)
    }

    /// For an anchor that matching takes no account of, the state of memory before it, which it
    /// leaves as it is.
    pub fn left_state(&self) -> Option<Access> {
        self.lone.or(self.initializes)
    }
}

impl Graph {
    /// The instruction that defines a value; none if it is an argument.
    pub fn definition(&self, value: ValueId) -> Option<InstId> {
        self.body.code.definition(value)
    }

    /// The same of an operand; none of a constant either.
    pub fn definition_of(&self, operand: Operand) -> Option<InstId> {
        match operand {
            Operand::Value(value) => self.definition(value),
            Operand::Constant(_) => None,
        }
    }

    /// The value that an instruction defines.
    pub fn result(&self, inst: InstId) -> ValueId {
        self.body.code.result(inst)
    }

    /// The block of an instruction.
    pub fn block(&self, inst: InstId) -> BlockId {
        self.body.code.instructions[inst].block
    }

    /// True for an instruction with a result.
    pub fn has_result(&self, inst: InstId) -> bool {
        self.body.code.instructions[inst].facts.has_result()
    }

    /// The instructions of a block.
    pub fn insts(&self, block: BlockId) -> InstRange {
        self.body.code.of_block[block]
    }

    /// The terminator of a block.
    pub fn terminator(&self, block: BlockId) -> InstId {
        self.insts(block).iter().next_back().expect("a block ends with a terminator")
    }

    /// The condition of the branch over whose edge a block leads to another one, and whether it
    /// holds there; none if both ways lead there.
    pub fn said_over(&self, (from, to): (BlockId, BlockId)) -> Option<(Operand, bool)> {
        let branch = self.terminator(from);
        self.nodes[branch].facts.is_conditional().then_some(())?;
        let &[condition] = self.operands(branch) else { return None };
        let mut leads_there = self.body.successors(from).map(|successor| successor == to);
        let (holds, fails) = (leads_there.next()?, leads_there.next()?);
        (holds != fails).then_some((condition, holds))
    }

    /// The two values that a branch says are equal where a block leads to another one.
    pub fn said_equal(&self, edge: (BlockId, BlockId)) -> Option<[ValueId; 2]> {
        let (condition, holds) = self.said_over(edge)?;
        let compares = self.definition_of(condition)?;
        let facts = self.nodes[compares].facts;
        let is_equal = if holds { facts.is_equal() } else { facts.is_differ() };
        match *self.operands(compares) {
            [Operand::Value(a), Operand::Value(b)] if is_equal => Some([a, b]),
            _ => None,
        }
    }

    /// What an instruction is done to.
    pub fn operands(&self, inst: InstId) -> &[Operand] {
        self.body.code.operands(inst)
    }

    /// What a phi has from a block.
    pub fn incoming(&self, phi: InstId, from: BlockId) -> Option<Operand> {
        let place = self.body.code.incoming_blocks(phi).iter().position(|&f| f == from)?;
        Some(self.operands(phi)[place])
    }

    /// The phis of a block.
    pub fn phis(&self, block: BlockId) -> impl Iterator<Item = InstId> {
        self.insts(block).iter().take_while(|&i| self.nodes[i].facts.is_phi())
    }

    /// The address that a simple load or store accesses.
    pub fn pointer(&self, place_of: InstId) -> Option<Operand> {
        let facts = self.nodes[place_of].facts;
        match *self.operands(place_of) {
            [pointer] if facts.is_load() => Some(pointer),
            [_, pointer] if facts.is_store() => Some(pointer),
            _ => None,
        }
    }

    /// The instructions that give addresses in local constants of base.
    pub fn in_local_constants(&self) -> HashSet<InstId> {
        let nodes = self.nodes.iter_enumerated();
        let locals = nodes.filter(|(_, node)| node.local_constant.is_some());
        let mut found: HashSet<InstId> = locals.map(|(inst, _)| inst).collect();
        let mut is_done = found.is_empty();
        while !std::mem::replace(&mut is_done, true) {
            for (inst, node) in self.nodes.iter_enumerated() {
                let of = self.operands(inst).first().and_then(|&of| self.definition_of(of));
                let is_one = node.facts.is_repeatable() && of.is_some_and(|of| found.contains(&of));
                is_done &= !(is_one && found.insert(inst));
            }
        }
        found
    }

    /// True if it must run at the same time in both versions.
    pub fn is_shared_anchor(&self, inst: InstId) -> bool {
        let node = &self.nodes[inst];
        node.facts.is_anchor()
            && !(node.is_overwritten || node.is_grouped)
            && node.left_state().is_none()
    }

    /// What an instruction, or the group that it is the last of, fills: the operands that are the
    /// address where that begins, and the byte, if it varies; and the number of the rest.
    pub fn filled(&self, inst: InstId) -> Option<(Vec<(InstId, usize)>, u32)> {
        let Fill { what, byte_varies, group } = self.nodes[inst].fills?;
        let first = InstId::from(usize::from(inst) - group.unwrap_or(0));
        // A store has what it stores first, a fill of memory where.
        let address = usize::from(self.nodes[first].facts.is_store());
        let byte = byte_varies.then_some((first, 1 - address));
        Some(([(first, address)].into_iter().chain(byte).collect(), what))
    }

    /// True for the last one of a group.
    pub fn ends_group(&self, inst: InstId) -> bool {
        self.nodes[inst].fills.is_some_and(|fill| fill.group.is_some())
    }

    /// The instructions that something needs: anchors and terminators, and what they use. What is
    /// left is dead code, if only in a cycle: aggressive dead code elimination deletes such.
    pub fn useful(&self) -> TiVec<InstId, bool> {
        let mut useful = TiVec::from(vec![false; self.nodes.len()]);
        let mut work: Vec<InstId> = self
            .nodes
            .keys()
            .filter(|&i| self.nodes[i].facts.is_anchor() || self.nodes[i].facts.is_terminator())
            .collect();
        while let Some(inst) = work.pop() {
            if std::mem::replace(&mut useful[inst], true) {
                continue;
            }
            work.extend(self.body.code.uses(inst).filter_map(|used| self.definition(used.value)));
        }
        useful
    }
}

/// What only LLVM can answer about the versions.
pub trait Oracle {
    /// What an operation on other operands is equal to, if that is known: a constant, or a value
    /// that dominates the instruction if the operands do. If one is poison or undefined, so is the
    /// other.
    fn simplify(&self, which: Version, inst: InstId, operands: &[Operand]) -> Option<Operand>;
    /// Whether an operand is neither poison nor undefined in any run without undefined behaviour.
    fn is_well_defined(&self, which: Version, operand: Operand) -> bool;
    /// Whether what an instruction of base gives is neither poison nor undefined wherever that runs
    /// in a run without undefined behaviour, for what follows it; of the same operation elsewhere
    /// that says nothing.
    fn is_defined_by_uses(&self, inst: InstId) -> bool;
    /// Whether two expressions, or with `negated` a boolean and another one's negation, are equal
    /// as total functions, which have no flags, of leaves that are well defined.
    fn are_equal(&self, terms: &Terms, negated: bool) -> bool;
    /// Whether the second of two expressions, or with `negated` its negation, is equal to the first
    /// one, of base, wherever that is neither poison nor undefined. Only base's alone keeps its
    /// flags. At an instruction of base, its values are what they can be there.
    fn stands_for(&self, terms: &Terms, negated: bool, at: Option<InstId>) -> bool;
    /// What a comparison of a value with a constant gives on two operands, where another one of the
    /// same value gave a boolean that was branched by, if that says so.
    fn said(
        &self,
        which: Version,
        asked: (InstId, [Operand; 2]),
        known: (InstId, [Operand; 2], bool),
    ) -> Option<bool>;
    /// The value of an integer constant.
    fn integer(&self, constant: ConstId) -> Option<i64>;
    /// For the address of a place in a global variable, or just behind that: the variable's, and
    /// how many bytes behind it.
    fn address(&self, constant: ConstId) -> Option<(ConstId, i64)>;
    /// What may have written last, before an instruction, to the place that a load or store
    /// accesses.
    fn place_before(&self, which: Version, place_of: InstId, before: InstId) -> Option<Access>;
    /// The same at the end of a block.
    fn place_at_end(&self, which: Version, place_of: InstId, block: BlockId) -> Option<Access>;
    /// Whether an instruction may read or write that place, or leave the function while others can
    /// see it.
    fn touches(&self, which: Version, place_of: InstId, inst: InstId) -> bool;
    /// Whether an instruction may write to memory that an address leads to, at any distance. The
    /// address is the same whenever the instruction runs.
    fn writes_around(&self, which: Version, address: Operand, inst: InstId) -> bool;
    /// The state of memory before an instruction
    fn memory_before(&self, which: Version, inst: InstId) -> Option<Access>;
    /// Whether a load that ran before would read the same before another instruction, on every
    /// path.
    fn is_unchanged(&self, which: Version, load: InstId, before: InstId) -> bool;
}
