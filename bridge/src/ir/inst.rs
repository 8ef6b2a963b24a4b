//! Instructions.

use super::{Block, Function, Inst, RETURNS, Value, c_string, copied, enum_attribute};
use super::{remark_missed, wrap};
use crate::sys::core::*;
use crate::sys::prelude::LLVMValueRef;
use crate::sys::{self, LLVMOpcode};
use midflight_ir::facts::{InstFacts, MapFacts};
use std::ffi::{CStr, c_void};
use std::ops::Range;

/// A comparison by the predicate that it has in common with its inverse, and with both if their
/// operands are swapped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// LLVM's number of it
    pub predicate: u32,
    /// The operands are the other way round.
    pub swapped: bool,
    /// The result is.
    pub negated: bool,
    /// The order of operands does not matter.
    pub symmetric: bool,
}

/// What an instruction is, as far as the passes tell instructions apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Opcode {
    /// `phi`
    Phi,
    /// `alloca`
    Alloca,
    /// `landingpad`
    LandingPad,
    /// `call`, not a terminator
    Call,
    /// `ret`
    Ret,
    /// `br`, conditional or not
    Br,
    /// `switch`
    Switch,
    /// `indirectbr`
    IndirectBr,
    /// `invoke`
    Invoke,
    /// `callbr`
    CallBr,
    /// `resume`
    Resume,
    /// `unreachable`
    Unreachable,
    /// An instruction of funclet exception handling
    Funclet,
    /// `bitcast`
    BitCast,
    /// `zext`
    ZExt,
    /// `sext`
    SExt,
    /// Any other
    Other,
}

impl<'m> Inst<'m> {
    /// What it is.
    pub fn opcode(self) -> Opcode {
        // SAFETY: the instruction is live.
        match unsafe { LLVMGetInstructionOpcode(self.0) } {
            LLVMOpcode::LLVMPHI => Opcode::Phi,
            LLVMOpcode::LLVMAlloca => Opcode::Alloca,
            LLVMOpcode::LLVMLandingPad => Opcode::LandingPad,
            LLVMOpcode::LLVMCall => Opcode::Call,
            LLVMOpcode::LLVMRet => Opcode::Ret,
            LLVMOpcode::LLVMBr => Opcode::Br,
            LLVMOpcode::LLVMSwitch => Opcode::Switch,
            LLVMOpcode::LLVMIndirectBr => Opcode::IndirectBr,
            LLVMOpcode::LLVMInvoke => Opcode::Invoke,
            LLVMOpcode::LLVMCallBr => Opcode::CallBr,
            LLVMOpcode::LLVMResume => Opcode::Resume,
            LLVMOpcode::LLVMUnreachable => Opcode::Unreachable,
            LLVMOpcode::LLVMBitCast => Opcode::BitCast,
            LLVMOpcode::LLVMZExt => Opcode::ZExt,
            LLVMOpcode::LLVMSExt => Opcode::SExt,
            LLVMOpcode::LLVMCleanupRet
            | LLVMOpcode::LLVMCatchRet
            | LLVMOpcode::LLVMCatchPad
            | LLVMOpcode::LLVMCleanupPad
            | LLVMOpcode::LLVMCatchSwitch => Opcode::Funclet,
            _ => Opcode::Other,
        }
    }

    /// True for a `zext` that is poison where what it extends is negative.
    pub fn is_nonnegative_zext(self) -> bool {
        // SAFETY: the instruction is live; it is asked of what may have that flag only.
        self.opcode() == Opcode::ZExt && unsafe { LLVMGetNNeg(self.0) != 0 }
    }

    /// The name of its opcode, as in the IR.
    pub fn opcode_name(self) -> String {
        // SAFETY: the instruction is live; the result is a C string that is never freed.
        let name = unsafe { CStr::from_ptr(sys::mfb_opcode_name(self.0)) };
        name.to_string_lossy().into_owned()
    }

    /// The line of the source that it is from; 0 if that is not known.
    pub fn line(self) -> u32 {
        // SAFETY: the instruction is live.
        unsafe { LLVMGetDebugLocLine(self.0) }
    }

    /// True if both are `add`, or both `icmp`, or ….
    pub fn has_opcode_of(self, other: Inst<'_>) -> bool {
        // SAFETY: the instructions are live.
        unsafe { LLVMGetInstructionOpcode(self.0) == LLVMGetInstructionOpcode(other.0) }
    }

    /// True if the other one is the same operation on results of the same type.
    pub fn is_like(self, other: Inst<'m>) -> bool {
        self.has_opcode_of(other) && self.value().ty() == other.value().ty()
    }

    /// What is known of it.
    pub fn facts(self) -> InstFacts {
        // SAFETY: the instruction is live.
        InstFacts::from_bits(unsafe { sys::mfb_instruction_facts(self.0) })
    }

    /// What is known of it for mappings.
    pub fn map_facts(self) -> MapFacts {
        // SAFETY: the instruction is live.
        MapFacts::from_bits(unsafe { sys::mfb_map_facts(self.0) })
    }

    /// Its result as a value; of type `void` if it has none.
    pub fn value(self) -> Value<'m> {
        Value::from_raw(self.0)
    }

    /// The block that it is in.
    pub fn block(self) -> Block<'m> {
        // SAFETY: the instruction is live and in a block.
        Block::from_raw(unsafe { LLVMGetInstructionParent(self.0) })
    }

    /// The instruction after it, if it is not a terminator.
    pub fn next(self) -> Option<Inst<'m>> {
        // SAFETY: the instruction is live.
        wrap(unsafe { LLVMGetNextInstruction(self.0) }).map(Inst::from_raw)
    }

    /// Its operands. For a phi the incoming values, in the order of [`Inst::incoming_blocks`].
    pub fn operands(self) -> impl Iterator<Item = Value<'m>> {
        // SAFETY: the instruction is live, the indices are below the number of its operands.
        let count = unsafe { LLVMGetNumOperands(self.0) }.max(0) as u32;
        // SAFETY: as above.
        (0..count).map(move |i| Value::from_raw(unsafe { LLVMGetOperand(self.0, i) }))
    }

    /// The blocks that a phi's values come from.
    pub fn incoming_blocks(self) -> impl Iterator<Item = Block<'m>> {
        // SAFETY: the instruction is a live phi; the indices are below the number of its values.
        let count = unsafe { LLVMCountIncoming(self.0) };
        // SAFETY: as above.
        (0..count).map(move |i| Block::from_raw(unsafe { LLVMGetIncomingBlock(self.0, i) }))
    }

    /// The name of the function that it calls directly.
    pub fn called_function(self) -> Option<Function<'m>> {
        // SAFETY: the instruction is live; the called value is asked for of calls only.
        unsafe {
            if LLVMIsACallInst(self.0).is_null() && LLVMIsAInvokeInst(self.0).is_null() {
                return None;
            }
            wrap(LLVMIsAFunction(LLVMGetCalledValue(self.0))).map(Function::from_raw)
        }
    }

    /// What it calls, directly or not, if it is a call or an invoke, and not of inline assembly.
    pub fn callee(self) -> Option<Value<'m>> {
        // SAFETY: the instruction is live; the called value is asked for of calls only.
        unsafe {
            if LLVMIsACallInst(self.0).is_null() && LLVMIsAInvokeInst(self.0).is_null() {
                return None;
            }
            let callee = LLVMGetCalledValue(self.0);
            LLVMIsAInlineAsm(callee).is_null().then(|| Value::from_raw(callee))
        }
    }

    /// True for a call that passes its arguments as calls of this function do: of its type and
    /// convention, and with the same arguments in memory.
    pub fn calls_like(self, function: Function<'m>) -> bool {
        // SAFETY: both are live.
        unsafe { sys::mfb_calls_like(self.0, function.0) }
    }

    /// The value for which a `switch` goes to a block, if it is one and there is just one.
    pub fn case_to(self, block: Block<'m>) -> Option<Value<'m>> {
        // SAFETY: the instruction and the block are live.
        wrap(unsafe { sys::mfb_case_to(self.0, block.0) }).map(Value::from_raw)
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

    /// The bits of what a switch decides by, and the value of each case, in the order of its
    /// successors.
    pub fn cases(self) -> Option<(u32, Vec<u64>)> {
        /// # Safety
        /// `to` is a `Vec<u64>`.
        unsafe extern "C" fn add(to: *mut c_void, value: u64) {
            // SAFETY: the caller's contract.
            unsafe { &mut *to.cast::<Vec<u64>>() }.push(value);
        }
        let mut values: Vec<u64> = Vec::new();
        // SAFETY: the instruction is live; the callback gets the vector it expects.
        let bits = unsafe { sys::mfb_cases(self.0, (&raw mut values).cast(), add) };
        (bits != 0).then_some((bits, values))
    }

    /// For a comparison: what it, its inverse, and both with swapped operands have in common; of
    /// its unsigned counterpart, if that is asked for.
    pub fn comparison(self, as_unsigned: bool) -> Option<Comparison> {
        let mut of = Comparison::default();
        // SAFETY: the instruction is live; the places are writable.
        let is_one = unsafe {
            sys::mfb_comparison(
                self.0,
                as_unsigned,
                &mut of.predicate,
                &mut of.swapped,
                &mut of.negated,
                &mut of.symmetric,
            )
        };
        is_one.then_some(of)
    }

    /// What it does to memory or to a stream, if its result is not used and that is known: its kind,
    /// the bytes that it writes, if they are constant, and the places of the operands that matter.
    /// Instructions for which that is the same do the same.
    pub fn effect(self) -> Option<(u32, Vec<u8>, Vec<usize>)> {
        let (mut is, mut bytes, mut length, mut count) = (0, std::ptr::null_mut(), 0, 0);
        let mut places = [0; 2];
        // SAFETY: the instruction is live; the places are writable, and there is room for as many
        // operands as there can be; the bytes are as many as it says, and are freed once.
        unsafe {
            let list = places.as_mut_ptr();
            if !sys::mfb_effect(self.0, &mut is, &mut bytes, &mut length, list, &mut count) {
                return None;
            }
            let copy = std::slice::from_raw_parts(bytes.cast::<u8>(), length).to_vec();
            LLVMDisposeMessage(bytes);
            Some((is, copy, places[..count].iter().map(|&place| place as usize).collect()))
        }
    }

    /// The size in bytes of what it copies from memory to memory, if a load and a store of an
    /// integer may do that. Operand 0 is where it writes, operand 1 where it reads.
    pub fn copied_bytes(self) -> Option<u64> {
        // SAFETY: the instruction is live.
        Some(unsafe { sys::mfb_copied_bytes(self.0) }).filter(|&bytes| bytes != 0)
    }

    /// For one that writes one byte to all bytes of a place, whose number is constant: that number,
    /// and the byte, which is constant or what is stored.
    pub fn fills(self) -> Option<(i64, Value<'m>)> {
        let (mut bytes, mut byte) = (0, std::ptr::null_mut());
        // SAFETY: the instruction is live; the places are writable.
        let is_one = unsafe { sys::mfb_fills(self.0, &mut bytes, &mut byte) };
        is_one.then(|| (i64::from(bytes), Value::from_raw(byte)))
    }

    /// How many bytes behind the place that it fills that of another instruction is; none if that
    /// is not constant.
    pub fn bytes_behind(self, other: Inst<'m>) -> Option<i64> {
        let mut bytes = 0;
        // SAFETY: both instructions are live; the place is writable.
        unsafe { sys::mfb_bytes_behind(self.0, other.0, &mut bytes) }.then_some(bytes)
    }

    /// Moves an alloca to the begin of its function, where it is static.
    pub fn move_to_entry(self) {
        assert!(self.opcode() == Opcode::Alloca, "only an alloca is a part of the frame");
        // SAFETY: the instruction is a live alloca of a function with an entry block.
        unsafe { sys::mfb_move_to_entry(self.0) };
    }

    /// For a static alloca that is only read, but for one copy of a constant all over it: that
    /// copy, and the constant's address.
    pub fn local_constant(self) -> Option<(Inst<'m>, Value<'m>)> {
        let (mut copy, mut constant) = (std::ptr::null_mut(), std::ptr::null_mut());
        // SAFETY: the instruction is live; the places are writable.
        let is_one = unsafe { sys::mfb_local_constant(self.0, &mut copy, &mut constant) };
        is_one.then(|| (Inst::from_raw(copy), Value::from_raw(constant)))
    }

    /// The size in bytes of the integer that it loads or stores, if it is a simple access of one.
    pub fn integer_bytes(self) -> Option<u64> {
        // SAFETY: the instruction is live.
        Some(unsafe { sys::mfb_integer_bytes(self.0) }).filter(|&bytes| bytes != 0)
    }

    /// How many bytes it accesses, if it is a simple load or store.
    pub fn accessed_bytes(self) -> Option<u64> {
        // SAFETY: the instruction is live.
        Some(unsafe { sys::mfb_accessed_bytes(self.0) }).filter(|&bytes| bytes != 0)
    }

    /// True for a simple load or store whose address is a multiple of as many bytes as it accesses.
    pub fn is_aligned(self) -> bool {
        // SAFETY: the instruction is live.
        unsafe { sys::mfb_is_aligned(self.0) }
    }

    /// The place of the boolean operand that it negates, if it does nothing else.
    pub fn negated(self) -> Option<usize> {
        // SAFETY: the instruction is live.
        usize::try_from(unsafe { sys::mfb_negated(self.0) }).ok()
    }

    /// What it is equal to on other operands: a constant, or a value that is there already, if LLVM
    /// knows one. Nothing is concluded from flags, from undefined values or from its place. It is
    /// poison or undefined just if what it is equal to is, once the instructions that are told have
    /// lost their flags.
    pub fn simplify(self, operands: &[Value<'m>]) -> Option<(Value<'m>, Vec<Inst<'m>>)> {
        /// # Safety
        /// `to` is a `Vec<Inst>`, and the instruction is live.
        unsafe extern "C" fn add(to: *mut c_void, inst: LLVMValueRef) {
            // SAFETY: the caller's contract.
            unsafe { &mut *to.cast::<Vec<Inst<'_>>>() }.push(Inst::from_raw(inst));
        }
        let mut flagged: Vec<Inst<'m>> = Vec::new();
        let to = (&raw mut flagged).cast();
        // SAFETY: the instruction is live; the operands are of its operands' types; the callback
        // gets the vector it expects.
        let equal =
            unsafe { sys::mfb_simplify(self.0, Value::list(operands), operands.len(), to, add) };
        wrap(equal).map(|equal| (Value::from_raw(equal), flagged))
    }

    /// What this comparison of a value with a constant gives on two operands, where another one
    /// of the same value has given `holds`, and was branched by.
    pub fn said_by(
        self,
        operands: [Value<'m>; 2],
        (known, of_known, holds): (Self, [Value<'m>; 2], bool),
    ) -> Option<bool> {
        // SAFETY: both are live, and each has two operands.
        let said = unsafe {
            let of_known = Value::list(&of_known);
            sys::mfb_said(known.0, of_known, holds, self.0, Value::list(&operands))
        };
        (said >= 0).then_some(said == 1)
    }

    /// The text of the inline assembly that it calls; none if it does not.
    pub fn assembly(self) -> Option<String> {
        let mut length = 0;
        // SAFETY: the assembly is live, and owns its text.
        unsafe {
            let text = LLVMGetInlineAsmAsmString(called_assembly(self)?, &mut length);
            Some(copied(text, length))
        }
    }

    /// Makes another text that of the inline assembly that it calls.
    pub fn set_assembly(self, text: &str) {
        let Some(old) = called_assembly(self) else { return };
        let mut length = 0;
        // SAFETY: instruction and assembly are live. What is called is the last operand.
        unsafe {
            let constraints = LLVMGetInlineAsmConstraintString(old, &mut length);
            let new = LLVMGetInlineAsm(
                LLVMGetInlineAsmFunctionType(old),
                text.as_ptr().cast(),
                text.len(),
                constraints,
                length,
                LLVMGetInlineAsmHasSideEffects(old),
                LLVMGetInlineAsmNeedsAlignedStack(old),
                LLVMGetInlineAsmDialect(old),
                LLVMGetInlineAsmCanUnwind(old),
            );
            LLVMSetOperand(self.0, LLVMGetNumOperands(self.0) as u32 - 1, new);
        }
    }

    /// Reports that something was not done at this place, as `-Rpass-missed=PASS` shows it.
    pub fn remark_missed(self, pass: &str, name: &str, message: &str) {
        remark_missed(self.0, pass, name, message);
    }

    /// Makes all that uses its result use `value` instead.
    pub fn replace_uses(self, value: Value<'m>) {
        // SAFETY: both are live and of one type.
        unsafe { LLVMReplaceAllUsesWith(self.0, value.0) }
    }

    /// Makes `value` its operand with that number.
    pub fn set_operand(self, number: u32, value: Value<'m>) {
        // SAFETY: the instruction is live, and the value is of the operand's type.
        unsafe { LLVMSetOperand(self.0, number, value.0) }
    }

    /// Gives a phi a value from one more block.
    pub fn add_incoming(self, value: Value<'m>, from: Block<'m>) {
        // SAFETY: the instruction is a live phi; one value of its type and one block.
        unsafe { LLVMAddIncoming(self.0, Value::list(&[value]), Block::list(&[from]), 1) }
    }

    /// Makes it, a call, one of the function at an address, which returns in any case and does not
    /// throw.
    pub fn set_callee(self, address: Value<'m>) {
        // SAFETY: the call is live; its callee is its last operand.
        unsafe {
            LLVMSetOperand(self.0, LLVMGetNumOperands(self.0) as u32 - 1, address.0);
            let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
            for name in RETURNS {
                let attribute = enum_attribute(context, name);
                LLVMAddCallSiteAttribute(self.0, sys::LLVMAttributeFunctionIndex, attribute);
            }
        }
    }

    /// Has a call that [`Self::calls_like`] calls of the function call it.
    pub fn call_instead(self, function: Function<'m>) {
        // SAFETY: the call is live; its callee is its last operand.
        unsafe { LLVMSetOperand(self.0, LLVMGetNumOperands(self.0) as u32 - 1, function.0) }
    }

    /// Takes from a call, and from the declaration that it calls, what would let LLVM move it over
    /// a store of the caller.
    pub fn drop_call_purity(self) {
        // SAFETY: the instruction is a live call or invoke.
        unsafe { sys::mfb_drop_call_purity(self.0) }
    }

    /// The numbers of the operands in its "deopt" bundle, if it is a call with one.
    pub fn deopt_operands(self) -> Option<Range<u32>> {
        let (mut first, mut count) = (0, 0);
        // SAFETY: the instruction is live; both numbers are written if there is a bundle.
        let has = unsafe { sys::mfb_deopt_operands(self.0, &raw mut first, &raw mut count) };
        has.then(|| first..first + count)
    }

    /// Takes the "deopt" bundle from a call, which becomes another instruction.
    pub fn without_deopt(self) -> Inst<'m> {
        // SAFETY: the instruction is a live call with such a bundle; it is not used again.
        Inst::from_raw(unsafe { sys::mfb_without_deopt(self.0) })
    }

    /// Gives a call a "deopt" bundle; it becomes another instruction.
    pub fn with_deopt(self, operands: &[Value<'m>]) -> Inst<'m> {
        let mut raw: Vec<_> = operands.iter().map(|value| value.0).collect();
        // SAFETY: the call and the operands are live; it is not used again.
        Inst::from_raw(unsafe { sys::mfb_with_deopt(self.0, raw.as_mut_ptr(), raw.len()) })
    }

    /// Inserts before it a call of a function without arguments and result, which is declared, with
    /// a "deopt" bundle.
    pub fn insert_call_with_deopt(self, name: &str, operands: &[Value<'m>]) {
        let name = c_string(name);
        let mut raw: Vec<_> = operands.iter().map(|value| value.0).collect();
        // SAFETY: the instruction and the operands are live.
        unsafe {
            sys::mfb_call_with_deopt(self.0, name.as_ptr(), raw.as_mut_ptr(), raw.len());
        }
    }

    /// Inserts before it a call of a function without result that takes variable arguments behind
    /// the first one.
    pub fn insert_variadic_call(self, name: &str, arguments: &[Value<'m>]) -> Inst<'m> {
        let name = c_string(name);
        let mut raw: Vec<_> = arguments.iter().map(|value| value.0).collect();
        // SAFETY: the instruction and the arguments, of which there is one, are live.
        Inst::from_raw(unsafe {
            sys::mfb_call_variadic(self.0, name.as_ptr(), raw.as_mut_ptr(), raw.len())
        })
    }

    /// Inserts a call of another function beside a call or an invoke, which goes on where that
    /// does, in a block of its own that control never comes to, but seems to. Its arguments, which
    /// come first among its operands, are poison. Its result is of the same type, or that of this
    /// one has no uses; the normal destination of an invoke has no other predecessor.
    pub fn call_beside(self, function: Function<'m>) -> Inst<'m> {
        // SAFETY: both are live.
        Inst::from_raw(unsafe { sys::mfb_call_beside(self.0, function.0) })
    }

    /// Gives the successors of a terminator weights, in their order, parallel edges each for
    /// itself.
    pub fn set_branch_weights(self, weights: &[u32]) {
        // SAFETY: the instruction is a live terminator; the weights are copied.
        unsafe { sys::mfb_set_branch_weights(self.0, weights.as_ptr(), weights.len()) }
    }

    /// Splits its block before it; returns the block that begins with it.
    pub fn split_before(self, name: &str) -> Block<'m> {
        let name = c_string(name);
        // SAFETY: the instruction is live and not a phi or a pad.
        Block::from_raw(unsafe { sys::mfb_split_before(self.0, name.as_ptr()) })
    }

    /// Splits its block behind it; returns the block with the rest.
    pub fn split_after(self) -> Block<'m> {
        self.next().expect("it is not a terminator").split_before("restart")
    }

    /// Removes it. It has no uses.
    pub fn erase(self) {
        // SAFETY: the instruction is live; it is not used again.
        unsafe { LLVMInstructionEraseFromParent(self.0) }
    }
}

shim! { Inst {
    /// Whether it goes on to what follows in any case and at once: it neither throws, nor ends the
    /// program, nor is it an access that other threads see.
    stays = mfb_stays -> bool;
    /// True if what it gives is neither poison nor undefined wherever it runs in a run without
    /// undefined behaviour, for what follows it. That says nothing of the same operation elsewhere.
    is_defined_by_uses = mfb_is_defined_by_uses -> bool;
    /// True for an operation on signed numbers that has a counterpart on unsigned ones.
    has_unsigned = mfb_has_unsigned -> bool;
    /// True if [`crate::solver::Solution::copied`] may know a value that it is a copy of.
    may_be_copy = mfb_may_be_copy -> bool;
    /// Has what it, a marker, pinned by [`pin`] be what it was before, and removes it.
    unpin = mfb_unpin;
    /// Ends the program where it is: control never comes there. What follows in its block is
    /// removed.
    end_program = mfb_end_program;
    /// Forbids to inline what it, a call, calls.
    forbid_inlining = mfb_forbid_inlining;
    /// Marks it as a part of a point's check.
    mark_check = mfb_mark_check;
    /// Removes the check of the point before it: what was marked by [`Inst::mark_check`], and all
    /// that only the check needs.
    remove_check = mfb_remove_check;
} }

/// The inline assembly that a call, an invoke or a callbr calls.
fn called_assembly(inst: Inst<'_>) -> Option<LLVMValueRef> {
    matches!(inst.opcode(), Opcode::Call | Opcode::Invoke | Opcode::CallBr)
        // SAFETY: it is a live instruction that calls.
        .then(|| wrap(unsafe { LLVMIsAInlineAsm(LLVMGetCalledValue(inst.0)) }))?
}

/// Pins the values that markers have as arguments behind the first one: they are new values from
/// there on, of which no pass knows what they were before.
pub fn pin(markers: &[Inst<'_>]) {
    let mut raw: Vec<_> = markers.iter().map(|marker| marker.0).collect();
    // SAFETY: they are live calls of functions with variable arguments, and are not used again.
    unsafe { sys::mfb_pin(raw.as_mut_ptr(), raw.len()) }
}
