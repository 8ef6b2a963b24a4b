//! Whether two expressions are always equal.

use crate::ir::{Inst, Value, wrap};
use crate::sandbox::Sandbox;
use crate::sys;

/// What a term of an expression is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Kind {
    /// Anything of a value's type, which is neither poison nor undefined
    Leaf = 0,
    /// A constant for which [`Value::is_plain_operand`] holds
    Constant = 1,
    /// An instruction for which [`Inst::is_total`] holds, on other terms
    Operation = 2,
    /// Its only operand, an integer, sign-extended to the type of a value
    SignExtended = 3,
    /// The same, zero-extended
    ZeroExtended = 4,
    /// A leaf that is what its value can be where an instruction runs
    Bounded = 5,
    /// An operation that keeps its flags
    Flagged = 6,
    /// One for which [`Inst::is_exact`] holds: it is poison if it leaves a remainder
    Exact = 7,
    /// A phi that is a choice: its operands are a boolean, what it is if that holds, and if not
    Chosen = 8,
}

/// Terms over the same leaves: an operation's operands come before it.
#[derive(Default)]
pub struct Terms<'m> {
    values: Vec<Value<'m>>,
    kinds: Vec<u32>,
    begin: Vec<u32>,
    operands: Vec<u32>,
    /// For each condition its term, and whether it holds
    conditions: Vec<u32>,
}

impl<'m> Terms<'m> {
    /// Adds a term; its number.
    pub fn add(&mut self, kind: Kind, value: Value<'m>, operands: &[u32]) -> u32 {
        self.values.push(value);
        self.kinds.push(kind as u32);
        self.begin.push(self.operands.len() as u32);
        self.operands.extend_from_slice(operands);
        self.values.len() as u32 - 1
    }

    /// Adds that a term, a boolean, holds, or does not, where others are compared.
    pub fn add_condition(&mut self, term: u32, holds: bool) {
        self.conditions.extend([term, u32::from(holds)]);
    }

    /// True if two terms, or with `negated` a boolean and another one's negation, are proved to be
    /// equal, whatever the leaves are: as total functions, without the flags of operations but
    /// those that are [`Kind::Flagged`], so far as these are not poison. Leaves that are
    /// [`Kind::Bounded`] are what they can be where an instruction runs, if there is one. With some
    /// that are [`Kind::Exact`], or shift by what may be too much, both must be poison together, or
    /// the second one only if the first one is, where some are flagged or bounded.
    pub fn are_equal(
        &self,
        sandbox: &Sandbox,
        (a, b): (u32, u32),
        negated: bool,
        at: Option<Inst<'m>>,
    ) -> bool {
        let end = self.operands.len() as u32;
        let begin: Vec<u32> = self.begin.iter().copied().chain([end]).collect();
        // SAFETY: all are live; the arrays have the lengths that follow from the number of terms,
        // and the numbers in them are of earlier terms.
        unsafe {
            sys::mfb_prove_equal(
                sandbox.0,
                Value::list(&self.values),
                self.kinds.as_ptr(),
                begin.as_ptr(),
                self.operands.as_ptr(),
                self.values.len(),
                self.conditions.as_ptr(),
                self.conditions.len() / 2,
                a,
                b,
                negated,
                at.map_or(std::ptr::null_mut(), |inst| inst.0),
            )
        }
    }
}

impl<'m> Inst<'m> {
    /// True for an operation that gives a value whatever its operands are, once it has no flags and
    /// does not shift too far: what is looked into when expressions are compared.
    pub fn is_total(self) -> bool {
        // SAFETY: the instruction is live.
        unsafe { sys::mfb_is_total(self.0) }
    }

    /// True for a shift by an amount that may be too large.
    pub fn is_partial_shift(self) -> bool {
        // SAFETY: the instruction is live.
        unsafe { sys::mfb_is_partial_shift(self.0) }
    }

    /// True for a call of the C library's `memcmp` or `bcmp` of whose result only matters whether it
    /// is zero: then both are the same. So is one of `strcmp` or `strncmp` to a constant string, as
    /// one of as many bytes as the constant says.
    pub fn compares_memory(self) -> Option<Option<Value<'m>>> {
        let mut bytes = std::ptr::null_mut();
        // SAFETY: the instruction is live, and the other pointer is one to a local variable.
        let compares = unsafe { sys::mfb_compares_memory(self.0, &mut bytes) };
        compares.then(|| wrap(bytes).map(Value::from_raw))
    }

    /// True for a division or a shift to the right by a constant that is poison if that leaves a
    /// remainder.
    pub fn is_exact(self) -> bool {
        // SAFETY: the instruction is live.
        unsafe { sys::mfb_is_exact(self.0) }
    }

    /// The operands that are neither poison nor undefined wherever it runs, or else the program is
    /// undefined: bit `n` for the operand at `n`, of the first 64.
    pub fn well_defined_operands(self) -> u64 {
        // SAFETY: the instruction is live.
        unsafe { sys::mfb_well_defined_operands(self.0) }
    }
}

impl Value<'_> {
    /// True for a number or null: what an expression may have as a constant.
    pub fn is_plain_operand(self) -> bool {
        // SAFETY: the value is live.
        unsafe { sys::mfb_is_plain_operand(self.0) }
    }
}
