//! What always holds in a function, as LLVM finds out.

use crate::ir::{Block, Function, Inst, Value, wrap};
use crate::sandbox::Sandbox;
use crate::sys;
use std::ffi::c_void;
use std::marker::PhantomData;

/// What LLVM's conditional constant and range propagation finds out about a function (`SCCPSolver`,
/// after M. N. Wegman, F. K. Zadeck: Constant Propagation with Conditional Branches, TOPLAS 13(2),
/// 1991).
pub struct Solution<'m> {
    raw: *mut c_void,
    lifetime: PhantomData<&'m ()>,
}

impl Drop for Solution<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `new`, freed once.
        unsafe { sys::mfb_solution_free(self.raw) }
    }
}

impl<'m> Solution<'m> {
    /// Analyses a function as if some of its instructions had no flags, metadata or attributes that
    /// make a result poison. What follows from those that the others have holds unless something is
    /// poison: what is never poison and where control goes is right whatever becomes of them; what
    /// else is said is right as long as they stay.
    pub fn new(sandbox: &Sandbox, function: Function<'m>, without_flags: &[Inst<'m>]) -> Self {
        let (list, count) = (Inst::list(without_flags), without_flags.len());
        // SAFETY: all are live; the function has a body, with these instructions.
        let raw = unsafe { sys::mfb_solve(sandbox.0, function.0, list, count) };
        Solution { raw, lifetime: PhantomData }
    }

    /// The constant that an instruction always gives, if it is never poison or undefined.
    pub fn constant(&self, inst: Inst<'m>) -> Option<Value<'m>> {
        // SAFETY: the solution is live; the instruction is only looked up.
        wrap(unsafe { sys::mfb_solved_constant(self.raw, inst.0) }).map(Value::from_raw)
    }

    /// The value that an instruction is a copy of, by the ranges of what it is made of: one that
    /// takes a field of bits out of what was put together before.
    pub fn copied(&self, inst: Inst<'m>) -> Option<Value<'m>> {
        // SAFETY: the solution is live; the instruction is only looked up.
        wrap(unsafe { sys::mfb_solved_copy(self.raw, inst.0) }).map(Value::from_raw)
    }

    /// True for an operation on signed numbers that are never negative there: its unsigned
    /// counterpart gives the same. LLVM's `sccp` replaces such.
    pub fn is_unsigned(&self, inst: Inst<'m>) -> bool {
        // SAFETY: as above.
        unsafe { sys::mfb_solved_unsigned(self.raw, inst.0) }
    }

    /// True if control may go from a block to another one.
    pub fn is_feasible(&self, from: Block<'m>, to: Block<'m>) -> bool {
        // SAFETY: as above.
        unsafe { sys::mfb_solved_feasible(self.raw, from.0, to.0) }
    }

    /// The values that are constants where control goes over an edge, as the branch there says, and
    /// are none everywhere. If one is poison or undefined, so is the branch.
    pub fn implied(&self) -> Vec<Implied<'m>> {
        let mut all = Vec::new();
        loop {
            let (mut from, mut to) = (std::ptr::null_mut(), std::ptr::null_mut());
            let (mut value, mut constant) = (std::ptr::null_mut(), std::ptr::null_mut());
            // SAFETY: the solution is live; there is a place for each result.
            let is_one = unsafe {
                let results = (&raw mut from, &raw mut to, &raw mut value, &raw mut constant);
                let (from, to, value, constant) = results;
                sys::mfb_solved_implied(self.raw, all.len(), from, to, value, constant)
            };
            if !is_one {
                return all;
            }
            all.push(Implied {
                from: Block::from_raw(from),
                to: Block::from_raw(to),
                value: Value::from_raw(value),
                constant: Value::from_raw(constant),
            });
        }
    }
}

/// A value that is a constant where control goes over an edge
#[derive(Clone, Copy)]
pub struct Implied<'m> {
    /// The block that the edge leaves
    pub from: Block<'m>,
    /// The one that it enters
    pub to: Block<'m>,
    /// The value
    pub value: Value<'m>,
    /// What it is
    pub constant: Value<'m>,
}
