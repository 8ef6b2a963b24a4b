//! Whether two expressions are always equal.

use crate::ir::{Inst, Value};
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
}

/// Terms over the same leaves: an operation's operands come before it.
#[derive(Default)]
pub struct Terms<'m> {
    values: Vec<Value<'m>>,
    kinds: Vec<u32>,
    begin: Vec<u32>,
    operands: Vec<u32>,
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

    /// True if two terms, or with `negated` a boolean and another one's negation, are proved to be
    /// equal, whatever the leaves are: as total functions, without the flags of operations.
    pub fn are_equal(&self, sandbox: &Sandbox, a: u32, b: u32, negated: bool) -> bool {
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
                a,
                b,
                negated,
            )
        }
    }
}

impl Inst<'_> {
    /// True for an operation that gives a value whatever its operands are, once it has no flags:
    /// what is looked into when expressions are compared.
    pub fn is_total(self) -> bool {
        // SAFETY: the instruction is live.
        unsafe { sys::mfb_is_total(self.0) }
    }
}

impl Value<'_> {
    /// True for an integer or null: what an expression may have as a constant.
    pub fn is_plain_operand(self) -> bool {
        // SAFETY: the value is live.
        unsafe { sys::mfb_is_plain_operand(self.0) }
    }
}
