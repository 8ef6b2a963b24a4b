//! What loads and stores depend on.

use crate::ir::{Block, Function, Inst, Value};
use crate::sandbox::Sandbox;
use crate::sys;
use crate::sys::core::LLVMValueAsBasicBlock;
use crate::sys::prelude::LLVMValueRef;
use std::ffi::c_void;
use std::marker::PhantomData;

/// Where memory has its state from (LLVM's MemorySSA).
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Access<'m> {
    /// What it was when the function was entered
    Entry,
    /// What an instruction left
    Def(Inst<'m>),
    /// What comes in at the head of a block
    Phi(Block<'m>),
}

/// LLVM's MemorySSA of a function, as long as the function does not change.
pub struct Memory<'a, 'm> {
    raw: *mut c_void,
    lifetime: PhantomData<(&'a Sandbox, &'m ())>,
}

impl Drop for Memory<'_, '_> {
    fn drop(&mut self) {
        // SAFETY: made by `new`, freed once.
        unsafe { sys::mfb_memory_free(self.raw) }
    }
}

impl<'a, 'm> Memory<'a, 'm> {
    /// Analyses a function.
    pub fn new(sandbox: &'a Sandbox, function: Function<'m>) -> Self {
        // SAFETY: both are live; the sandbox outlives the result.
        let raw = unsafe { sys::mfb_memory_new(sandbox.0, function.0) };
        Memory { raw, lifetime: PhantomData }
    }

    /// What a question gives: the kind of an access, and its place.
    fn access(question: impl FnOnce(*mut LLVMValueRef) -> u32) -> Option<Access<'m>> {
        let mut place = std::ptr::null_mut();
        match question(&mut place) {
            0 => None,
            1 => Some(Access::Entry),
            2 => Some(Access::Def(Inst::from_raw(place))),
            // SAFETY: of this kind it is a block.
            3 => Some(Access::Phi(Block::from_raw(unsafe { LLVMValueAsBasicBlock(place) }))),
            kind => unreachable!("an access of kind {kind}"),
        }
    }

    /// For an instruction that reads memory, what may have written last what it reads.
    pub fn clobber(&self, inst: Inst<'m>) -> Option<Access<'m>> {
        // SAFETY: the instruction is of the function.
        Self::access(|place| unsafe { sys::mfb_memory_clobber(self.raw, inst.0, place) })
    }

    /// Where memory as a whole has its state from before an instruction.
    pub fn before(&self, inst: Inst<'m>) -> Option<Access<'m>> {
        // SAFETY: as above.
        Self::access(|place| unsafe { sys::mfb_memory_before(self.raw, inst.0, place) })
    }

    /// Where it has its state from at the end of a block.
    pub fn at_end(&self, block: Block<'m>) -> Option<Access<'m>> {
        // SAFETY: the block is of the function.
        Self::access(|place| unsafe { sys::mfb_memory_at_end(self.raw, block.0, place) })
    }

    /// What may have written last, before an instruction, to the place that a simple load or store
    /// accesses.
    pub fn place_before(&self, place_of: Inst<'m>, inst: Inst<'m>) -> Option<Access<'m>> {
        // SAFETY: both are of the function; `place_of` is a load or store.
        Self::access(|place| unsafe {
            sys::mfb_memory_place_before(self.raw, place_of.0, inst.0, place)
        })
    }

    /// The same at the end of a block.
    pub fn place_at_end(&self, place_of: Inst<'m>, block: Block<'m>) -> Option<Access<'m>> {
        // SAFETY: as above.
        Self::access(|place| unsafe {
            sys::mfb_memory_place_at_end(self.raw, place_of.0, block.0, place)
        })
    }

    /// True if an instruction may read or write the place that a simple load or store accesses, or
    /// leave the function while others can see the place.
    pub fn touches(&self, place_of: Inst<'m>, inst: Inst<'m>) -> bool {
        // SAFETY: as above.
        unsafe { sys::mfb_memory_touches(self.raw, place_of.0, inst.0) }
    }

    /// True if an instruction may write to memory that an address leads to, at any distance. The
    /// address is the same whenever the instruction runs.
    pub fn writes_around(&self, address: Value<'m>, inst: Inst<'m>) -> bool {
        // SAFETY: the instruction is of the function, and the address a pointer in it.
        unsafe { sys::mfb_memory_writes_around(self.raw, address.0, inst.0) }
    }

    /// True if states meet at the head of a block.
    pub fn has_phi(&self, block: Block<'m>) -> bool {
        // SAFETY: as above.
        unsafe { sys::mfb_memory_has_phi(self.raw, block.0) }
    }

    /// True if a load that ran before `before` would read the same there, on every path.
    pub fn is_unchanged(&self, load: Inst<'m>, before: Inst<'m>) -> bool {
        // SAFETY: both are of the function; `load` is a simple load whose operands dominate
        // `before`, which is not a phi.
        unsafe { sys::mfb_memory_unchanged(self.raw, load.0, before.0) }
    }
}
