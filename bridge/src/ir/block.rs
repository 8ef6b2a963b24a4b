//! Basic blocks.

use super::{Block, Function, Inst, Opcode, listed, wrap};
use crate::pass::Analyses;
use crate::sys;
use crate::sys::core::*;

impl<'m> Block<'m> {
    /// The function that it is in.
    pub fn function(self) -> Function<'m> {
        // SAFETY: the block is live and in a function.
        Function::from_raw(unsafe { LLVMGetBasicBlockParent(self.0) })
    }

    /// Its instructions, in order.
    pub fn instructions(self) -> impl Iterator<Item = Inst<'m>> {
        // SAFETY: the block is live; the list is walked with llvm-c's own iterators.
        let all = unsafe { listed(LLVMGetFirstInstruction(self.0), LLVMGetNextInstruction) };
        all.map(Inst::from_raw)
    }

    /// Its terminator; every block of a valid function has one.
    pub fn terminator(self) -> Inst<'m> {
        // SAFETY: the block is live.
        Inst::from_raw(unsafe { LLVMGetBasicBlockTerminator(self.0) })
    }

    /// True once it is complete.
    pub fn has_terminator(self) -> bool {
        // SAFETY: the block is live.
        unsafe { !LLVMGetBasicBlockTerminator(self.0).is_null() }
    }

    /// The targets of its terminator, parallel edges repeated.
    pub fn successors(self) -> Vec<Block<'m>> {
        let terminator = self.terminator().0;
        // SAFETY: the terminator is live, and the indices are below its number of successors.
        unsafe {
            let count = LLVMGetNumSuccessors(terminator);
            (0..count).map(|i| Block::from_raw(LLVMGetSuccessor(terminator, i))).collect()
        }
    }

    /// The first instruction before which code may be inserted.
    pub fn insertion_point(self) -> Inst<'m> {
        self.instructions()
            .find(|i| !matches!(i.opcode(), Opcode::Phi | Opcode::LandingPad))
            .unwrap_or_else(|| self.terminator())
    }

    /// The call that may be emitted as a jump to its callee: nothing may come to stand behind it.
    /// `is_marked`: LLVM has marked all calls that may.
    pub fn tail_call(self, is_marked: bool) -> Option<Inst<'m>> {
        // SAFETY: the block is live, and has a terminator.
        wrap(unsafe { sys::mfb_tail_call(self.0, is_marked) }).map(Inst::from_raw)
    }

    /// Splits the edge to `target`, parallel edges included. None where it cannot be split.
    pub fn split_edge(self, target: Block<'m>) -> Option<Block<'m>> {
        // SAFETY: both blocks are live.
        wrap(unsafe { sys::mfb_split_edge(self.0, target.0) }).map(Block::from_raw)
    }

    /// Makes what its phis take from a predecessor poison: control never comes from there.
    pub fn poison_incoming(self, from: Block<'m>) {
        // SAFETY: both blocks are live, and of one function.
        unsafe { sys::mfb_poison_incoming(self.0, from.0) }
    }

    /// Marks the innermost loop with this header: unrolled by `count` it may be faster. In front of
    /// the vectorizer the pass `path-profile-unroll` decides. False if it is no such header.
    pub fn mark_loop(self, analyses: &Analyses<'_>, count: u32) -> bool {
        // SAFETY: the block is live and in a function, and the manager is the host's.
        unsafe { sys::mfb_mark_loop(self.0, analyses.manager, count) }
    }
}

shim! { Block {
    /// Empties a block that is never reached, but for an `unreachable`. What was in it is not used
    /// again.
    make_unreachable = mfb_make_unreachable;
} }
