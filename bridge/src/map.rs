//! Versions that differ: stock passes on a clone, what becomes of its instructions, and questions
//! about operations and memory.

use crate::builder::Builder;
use crate::ir::{Block, Function, Inst, Value};
use crate::sys;
use crate::sys::core::*;
use midflight_ir::facts::MapFacts;
use std::ffi::{CStr, c_char, c_void};
use std::marker::PhantomData;

/// Runs stock passes and analyses on single functions, with analysis managers of its own.
pub struct Sandbox(*mut c_void);

impl Default for Sandbox {
    fn default() -> Self {
        // SAFETY: makes an object that this one owns.
        Sandbox(unsafe { sys::mfb_sandbox_new() })
    }
}

impl Drop for Sandbox {
    fn drop(&mut self) {
        // SAFETY: made by `default`, freed once.
        unsafe { sys::mfb_sandbox_free(self.0) }
    }
}

/// # Safety
/// `message` is null or a message of llvm-c, which is taken.
unsafe fn take_message(message: *mut c_char) -> Result<(), String> {
    if message.is_null() {
        return Ok(());
    }
    // SAFETY: the caller's contract.
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        Err(text)
    }
}

impl Sandbox {
    /// Asks whether a text is a pipeline of function passes.
    ///
    /// # Errors
    /// LLVM's message if it is none.
    pub fn check_pipeline(&self, text: &str) -> Result<(), String> {
        // SAFETY: the sandbox is live, the text has the length that is passed.
        unsafe { take_message(sys::mfb_check_pipeline(self.0, text.as_ptr().cast(), text.len())) }
    }

    /// Runs a pipeline of function passes on a function with a body.
    ///
    /// # Errors
    /// LLVM's message if the text is no such pipeline.
    pub fn run(&self, function: Function<'_>, text: &str) -> Result<(), String> {
        // SAFETY: as above; the function is live.
        unsafe {
            let text = (text.as_ptr().cast(), text.len());
            take_message(sys::mfb_run_pipeline(self.0, function.0, text.0, text.1))
        }
    }

    /// Forgets what is known of a function, before it is changed or erased.
    pub fn forget(&self, function: Function<'_>) {
        // SAFETY: both are live.
        unsafe { sys::mfb_sandbox_forget(self.0, function.0) }
    }
}

/// Follows the blocks and instructions of a function through passes, with value handles.
pub struct Tracker<'m> {
    raw: *mut c_void,
    lifetime: PhantomData<&'m ()>,
}

impl Drop for Tracker<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `new`, freed once.
        unsafe { sys::mfb_track_free(self.raw) }
    }
}

/// What became of an instruction.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Fate<'m> {
    /// It is there, perhaps elsewhere, or changed.
    Kept(Inst<'m>),
    /// It is deleted; its uses were given this value.
    Replaced(Value<'m>),
    /// It is deleted, and had no uses then.
    Deleted,
}

impl<'m> Tracker<'m> {
    /// Follows a function from now on.
    pub fn new(function: Function<'m>) -> Self {
        // SAFETY: the function is live and has a body.
        Tracker { raw: unsafe { sys::mfb_track(function.0) }, lifetime: PhantomData }
    }

    /// The block that was the n-th, if it is there.
    pub fn block(&self, index: usize) -> Option<Block<'m>> {
        // SAFETY: the tracker is live; the caller counts as the function did.
        let raw = unsafe { sys::mfb_tracked_block(self.raw, index) };
        (!raw.is_null()).then(|| Block::from_raw(raw))
    }

    /// What became of the instruction that was the n-th.
    pub fn fate(&self, index: usize) -> Fate<'m> {
        // SAFETY: as above.
        let (itself, now) =
            unsafe { (sys::mfb_tracked(self.raw, index), sys::mfb_tracked_value(self.raw, index)) };
        if !itself.is_null() {
            Fate::Kept(Inst::from_live(itself))
        } else if !now.is_null() {
            Fate::Replaced(Value::from_raw(now))
        } else {
            Fate::Deleted
        }
    }
}

impl<'m> Inst<'m> {
    /// What is known of it for mappings.
    pub fn map_facts(self) -> MapFacts {
        // SAFETY: the instruction is live.
        MapFacts::from_bits(unsafe { sys::mfb_map_facts(self.0) })
    }

    /// True for an operation on signed numbers that has a counterpart on unsigned ones.
    pub fn has_unsigned(self) -> bool {
        // SAFETY: the instruction is live.
        unsafe { sys::mfb_has_unsigned(self.0) }
    }

    /// True if [`Solution::copied`] may know a value that it is a copy of.
    pub fn may_be_copy(self) -> bool {
        // SAFETY: the instruction is live.
        unsafe { sys::mfb_may_be_copy(self.0) }
    }

    /// True if both are `add`, or both `icmp`, or ….
    pub fn has_opcode_of(self, other: Inst<'_>) -> bool {
        // SAFETY: the instructions are live.
        unsafe { LLVMGetInstructionOpcode(self.0) == LLVMGetInstructionOpcode(other.0) }
    }

    /// The value for which a `switch` goes to a block, if it is one and there is just one.
    pub fn case_to(self, block: Block<'m>) -> Option<Value<'m>> {
        // SAFETY: the instruction and the block are live.
        let case = unsafe { sys::mfb_case_to(self.0, block.0) };
        (!case.is_null()).then(|| Value::from_raw(case))
    }

    /// If it adds multiples of its operands, modulo the size of its type (64 bits for an address,
    /// whose base is operand 0): the constant, and the other operands with their factors.
    pub fn linear(self) -> Option<(i64, Vec<(usize, i64)>)> {
        /// # Safety
        /// `to` is a `Vec<(usize, i64)>`.
        unsafe extern "C" fn add(to: *mut c_void, operand: u32, factor: i64) {
            // SAFETY: the caller's contract.
            unsafe { &mut *to.cast::<Vec<(usize, i64)>>() }.push((operand as usize, factor));
        }
        let mut terms: Vec<(usize, i64)> = Vec::new();
        let mut constant = 0;
        // SAFETY: the instruction is live; the callback gets the vector it expects.
        let is_linear =
            unsafe { sys::mfb_linear(self.0, &mut constant, (&raw mut terms).cast(), add) };
        is_linear.then_some((constant, terms))
    }

    /// What it is equal to on other operands: a constant, or a value that is there already, if LLVM
    /// knows one. Nothing is concluded from flags, from undefined values or from its place. It is
    /// poison or undefined just if what it is equal to is, once the instructions that are told have
    /// lost their flags.
    pub fn simplify(self, operands: &[Value<'m>]) -> Option<(Value<'m>, Vec<Inst<'m>>)> {
        /// # Safety
        /// `to` is a `Vec<Inst>`, and the instruction is live.
        unsafe extern "C" fn add(to: *mut c_void, inst: sys::prelude::LLVMValueRef) {
            // SAFETY: the caller's contract.
            unsafe { &mut *to.cast::<Vec<Inst<'_>>>() }.push(Inst::from_live(inst));
        }
        let raw: Vec<_> = operands.iter().map(|v| v.0).collect();
        let mut flagged: Vec<Inst<'m>> = Vec::new();
        let to = (&raw mut flagged).cast();
        // SAFETY: the instruction is live; the operands are of its operands' types; the callback
        // gets the vector it expects.
        let equal = unsafe { sys::mfb_simplify(self.0, raw.as_ptr(), raw.len(), to, add) };
        (!equal.is_null()).then(|| (Value::from_raw(equal), flagged))
    }
}

impl<'m> Value<'m> {
    /// True for a block, the operand of a terminator.
    pub fn is_block(self) -> bool {
        // SAFETY: the value is live.
        unsafe { LLVMValueIsBasicBlock(self.0) != 0 }
    }

    /// True for constants, functions and global variables.
    pub fn is_constant(self) -> bool {
        // SAFETY: the value is live.
        unsafe { LLVMIsConstant(self.0) != 0 }
    }

    /// The instruction that it is the result of.
    pub fn as_instruction(self) -> Option<Inst<'m>> {
        // SAFETY: the value is live.
        let raw = unsafe { LLVMIsAInstruction(self.0) };
        (!raw.is_null()).then(|| Inst::from_live(raw))
    }

    /// The value of an integer constant of at most 64 bits.
    pub fn as_integer(self) -> Option<i64> {
        // SAFETY: the value is live; the value is asked for of integers only.
        unsafe {
            let is_small = !LLVMIsAConstantInt(self.0).is_null()
                && LLVMGetIntTypeWidth(LLVMTypeOf(self.0)) <= 64;
            is_small.then(|| LLVMConstIntGetSExtValue(self.0))
        }
    }

    /// True for an integer constant, or a null pointer.
    pub fn is_plain(self) -> bool {
        // SAFETY: the value is live.
        unsafe { !LLVMIsAConstantInt(self.0).is_null() || LLVMIsNull(self.0) != 0 }
    }

    /// True if it is neither poison nor undefined in any run without undefined behaviour.
    pub fn is_well_defined(self) -> bool {
        // SAFETY: the value is live.
        unsafe { sys::mfb_is_well_defined(self.0) }
    }

    /// As an operand in the IR, with its type.
    pub fn text(self) -> String {
        // SAFETY: the value is live; the text is llvm-c's to be disposed of.
        unsafe {
            let raw = LLVMPrintValueToString(self.0);
            let text = CStr::from_ptr(raw).to_string_lossy().trim().to_string();
            LLVMDisposeMessage(raw);
            text
        }
    }
}

/// Gives instructions the same number just if they are the same operation, but for operands, and
/// for flags and metadata that can make a result poison. With `as_unsigned`, one that says of
/// itself that no operand is negative has the number of its unsigned counterpart.
pub fn number_operations(instructions: &[Inst<'_>], as_unsigned: &[bool]) -> Vec<u32> {
    assert_eq!(instructions.len(), as_unsigned.len(), "one for each instruction");
    let raw: Vec<_> = instructions.iter().map(|i| i.0).collect();
    let mut numbers = vec![0; raw.len()];
    // SAFETY: the instructions are live; all arrays have the length that is passed; what is marked is
    // of a kind that has an unsigned counterpart.
    unsafe {
        sys::mfb_number_operations(
            raw.as_ptr(),
            as_unsigned.as_ptr(),
            raw.len(),
            numbers.as_mut_ptr(),
        );
    }
    numbers
}

/// Leaves instructions of the same operation only those flags, and that metadata, which can make a
/// result poison and which all of them have. A program stays right that way: less is poison.
pub fn intersect_flags(instructions: &[Inst<'_>]) {
    let raw: Vec<_> = instructions.iter().map(|i| i.0).collect();
    if raw.len() > 1 {
        // SAFETY: the instructions are live.
        unsafe { sys::mfb_intersect_flags(raw.as_ptr(), raw.len()) };
    }
}

/// For each instruction whether [`intersect_flags`] takes something from it.
pub fn losing_flags(instructions: &[Inst<'_>]) -> Vec<bool> {
    let raw: Vec<_> = instructions.iter().map(|i| i.0).collect();
    let mut losing = vec![false; raw.len()];
    if raw.len() > 1 {
        // SAFETY: the instructions are live; there is a place for each.
        unsafe { sys::mfb_losing_flags(raw.as_ptr(), raw.len(), losing.as_mut_ptr()) };
    }
    losing
}

/// Takes from instructions the flags and the metadata that can make a result poison.
pub fn drop_flags(instructions: &[Inst<'_>]) {
    let raw: Vec<_> = instructions.iter().map(|i| i.0).collect();
    // SAFETY: the instructions are live.
    unsafe { sys::mfb_drop_flags(raw.as_ptr(), raw.len()) };
}

/// Removes instructions that only each other use. They are not used again.
pub fn erase_dead(instructions: &[Inst<'_>]) {
    let raw: Vec<_> = instructions.iter().map(|i| i.0).collect();
    // SAFETY: the instructions are live, and no terminators; the caller does not use them again.
    unsafe { sys::mfb_erase_dead(raw.as_ptr(), raw.len()) };
}

impl<'m> Block<'m> {
    /// Empties a block that is never reached, but for an `unreachable`. What was in it is not used
    /// again.
    pub fn make_unreachable(self) {
        // SAFETY: the block is live; the caller does not use its instructions again.
        unsafe { sys::mfb_make_unreachable(self.0) }
    }

    /// Makes what its phis take from a predecessor poison: control never comes from there.
    pub fn poison_incoming(self, from: Block<'m>) {
        // SAFETY: both blocks are live, and of one function.
        unsafe { sys::mfb_poison_incoming(self.0, from.0) }
    }
}

/// A block's name and the texts of its instructions.
pub type BlockText = (String, Vec<String>);

impl<'m> Function<'m> {
    /// Its blocks and instructions as the IR writer prints them.
    pub fn texts(self) -> Vec<BlockText> {
        /// # Safety
        /// `to` is a `Vec<BlockText>`, and `text` points to `length` bytes.
        unsafe extern "C" fn add(to: *mut c_void, block: bool, text: *const c_char, length: usize) {
            // SAFETY: the caller's contract.
            let (to, bytes) = unsafe {
                (
                    &mut *to.cast::<Vec<BlockText>>(),
                    std::slice::from_raw_parts(text.cast::<u8>(), length),
                )
            };
            let text = String::from_utf8_lossy(bytes).into_owned();
            if block {
                to.push((text, Vec::new()));
            } else if let Some((_, instructions)) = to.last_mut() {
                instructions.push(text);
            }
        }
        let mut texts: Vec<BlockText> = Vec::new();
        // SAFETY: the function is live; the callback gets the vector it expects.
        unsafe { sys::mfb_texts(self.0, (&raw mut texts).cast(), add) };
        texts
    }
}

impl<'m> Builder<'m> {
    /// Loads what a simple store of the same place would have stored, from an address.
    pub fn load_as_stored(&self, store: Inst<'m>, address: Value<'m>) -> Value<'m> {
        // SAFETY: the builder has a position, the store is live, the address is a pointer.
        Value::from_raw(unsafe { sys::mfb_load_as_stored(self.as_llvm(), store.0, address.0) })
    }

    /// The first value if a condition holds, else the second one.
    pub fn select(&self, condition: Value<'m>, holds: Value<'m>, fails: Value<'m>) -> Value<'m> {
        // SAFETY: the builder has a position; the condition is of type i1, the others of one type.
        Value::from_raw(unsafe {
            LLVMBuildSelect(self.as_llvm(), condition.0, holds.0, fails.0, c"".as_ptr())
        })
    }

    /// A copy of an instruction with other operands.
    pub fn repeat(&self, inst: Inst<'m>, operands: &[Value<'m>]) -> Value<'m> {
        let raw: Vec<_> = operands.iter().map(|v| v.0).collect();
        // SAFETY: the builder has a position, the instruction is live and not a phi or terminator,
        // the operands are of its operands' types.
        Value::from_raw(unsafe { sys::mfb_repeat(self.as_llvm(), inst.0, raw.as_ptr(), raw.len()) })
    }
}

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
        let raw: Vec<_> = without_flags.iter().map(|i| i.0).collect();
        // SAFETY: all are live; the function has a body, with these instructions.
        let raw = unsafe { sys::mfb_solve(sandbox.0, function.0, raw.as_ptr(), raw.len()) };
        Solution { raw, lifetime: PhantomData }
    }

    /// The constant that an instruction always gives, if it is never poison or undefined.
    pub fn constant(&self, inst: Inst<'m>) -> Option<Value<'m>> {
        // SAFETY: the solution is live; the instruction is only looked up.
        let constant = unsafe { sys::mfb_solved_constant(self.raw, inst.0) };
        (!constant.is_null()).then(|| Value::from_raw(constant))
    }

    /// The value that an instruction is a copy of, by the ranges of what it is made of: one that
    /// takes a field of bits out of what was put together before.
    pub fn copied(&self, inst: Inst<'m>) -> Option<Value<'m>> {
        // SAFETY: the solution is live; the instruction is only looked up.
        let copied = unsafe { sys::mfb_solved_copy(self.raw, inst.0) };
        (!copied.is_null()).then(|| Value::from_raw(copied))
    }

    /// True for an operation on signed numbers that are never negative there: its unsigned
    /// counterpart gives the same. LLVM's `sccp` replaces such.
    pub fn is_unsigned(&self, inst: Inst<'m>) -> bool {
        // SAFETY: as above.
        unsafe { sys::mfb_solved_unsigned(self.raw, inst.0) }
    }

    /// True if a block may be executed.
    pub fn is_executable(&self, block: Block<'m>) -> bool {
        // SAFETY: as above.
        unsafe { sys::mfb_solved_executable(self.raw, block.0) }
    }

    /// True if control may go from a block to another one.
    pub fn is_feasible(&self, from: Block<'m>, to: Block<'m>) -> bool {
        // SAFETY: as above.
        unsafe { sys::mfb_solved_feasible(self.raw, from.0, to.0) }
    }
}

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

    fn access(kind: u32, place: sys::prelude::LLVMValueRef) -> Option<Access<'m>> {
        match kind {
            1 => Some(Access::Entry),
            2 => Some(Access::Def(Inst::from_live(place))),
            // SAFETY: of this kind it is a block.
            3 => Some(Access::Phi(Block::from_raw(unsafe { LLVMValueAsBasicBlock(place) }))),
            _ => None,
        }
    }

    /// For an instruction that reads memory, what may have written last what it reads.
    pub fn clobber(&self, inst: Inst<'m>) -> Option<Access<'m>> {
        let mut place = std::ptr::null_mut();
        // SAFETY: the instruction is of the function.
        let kind = unsafe { sys::mfb_memory_clobber(self.raw, inst.0, &mut place) };
        Self::access(kind, place)
    }

    /// Where memory as a whole has its state from before an instruction.
    pub fn before(&self, inst: Inst<'m>) -> Option<Access<'m>> {
        let mut place = std::ptr::null_mut();
        // SAFETY: as above.
        let kind = unsafe { sys::mfb_memory_before(self.raw, inst.0, &mut place) };
        Self::access(kind, place)
    }

    /// Where it has its state from at the end of a block.
    pub fn at_end(&self, block: Block<'m>) -> Option<Access<'m>> {
        let mut place = std::ptr::null_mut();
        // SAFETY: the block is of the function.
        let kind = unsafe { sys::mfb_memory_at_end(self.raw, block.0, &mut place) };
        Self::access(kind, place)
    }

    /// What may have written last, before an instruction, to the place that a simple load or store
    /// accesses.
    pub fn place_before(&self, place_of: Inst<'m>, inst: Inst<'m>) -> Option<Access<'m>> {
        let mut place = std::ptr::null_mut();
        // SAFETY: both are of the function; `place_of` is a load or store.
        let kind =
            unsafe { sys::mfb_memory_place_before(self.raw, place_of.0, inst.0, &mut place) };
        Self::access(kind, place)
    }

    /// The same at the end of a block.
    pub fn place_at_end(&self, place_of: Inst<'m>, block: Block<'m>) -> Option<Access<'m>> {
        let mut place = std::ptr::null_mut();
        // SAFETY: as above.
        let kind =
            unsafe { sys::mfb_memory_place_at_end(self.raw, place_of.0, block.0, &mut place) };
        Self::access(kind, place)
    }

    /// True if an instruction may read or write the place that a simple load or store accesses, or
    /// leave the function while others can see the place.
    pub fn touches(&self, place_of: Inst<'m>, inst: Inst<'m>) -> bool {
        // SAFETY: as above.
        unsafe { sys::mfb_memory_touches(self.raw, place_of.0, inst.0) }
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
