//! Inserting code.

use crate::ir::{Block, Callee, Function, Inst, Module, Opcode, Type, Value};
use crate::sys::core::*;
use crate::sys::debuginfo::{LLVMDIBuilderCreateDebugLocation, LLVMGetSubprogram};
use crate::sys::prelude::{LLVMBuilderRef, LLVMMetadataRef, LLVMTypeRef, LLVMValueRef};
use crate::sys::{
    LLVMAtomicOrdering, LLVMInlineAsmDialect, LLVMIntPredicate, LLVMTailCallKind, LLVMTypeKind,
};
use std::marker::PhantomData;

/// Inserts instructions at a position. What it inserts has line 0 of the function's debug
/// information, so that debuggers do not stop at it.
pub struct Builder<'m> {
    raw: LLVMBuilderRef,
    location: LLVMMetadataRef,
    module: Module<'m>,
    lifetime: PhantomData<&'m ()>,
}

const NO_NAME: *const std::ffi::c_char = c"".as_ptr();

impl<'m> Builder<'m> {
    /// A builder for code of `function`, which is in `module`.
    pub fn new(module: Module<'m>, function: Function<'m>) -> Self {
        // SAFETY: module and function are live and of one context; the builder is disposed of once,
        // in `drop`.
        unsafe {
            let context = LLVMGetModuleContext(module.0);
            let raw = LLVMCreateBuilderInContext(context);
            let subprogram = LLVMGetSubprogram(function.0);
            let none = std::ptr::null_mut();
            let location = if subprogram.is_null() {
                none
            } else {
                LLVMDIBuilderCreateDebugLocation(context, 0, 0, subprogram, none)
            };
            LLVMSetCurrentDebugLocation2(raw, location);
            Builder { raw, location, module, lifetime: PhantomData }
        }
    }

    /// The reference for llvm-c and crates over it.
    pub fn as_llvm(&self) -> LLVMBuilderRef {
        self.raw
    }

    /// The block that it inserts into.
    pub fn block(&self) -> Block<'m> {
        // SAFETY: positioned.
        Block::from_raw(unsafe { LLVMGetInsertBlock(self.raw) })
    }

    /// Inserts before `inst` from now on.
    pub fn before(&self, inst: Inst<'m>) -> &Self {
        // SAFETY: the instruction is live; positioning takes over its location, or that it has
        // none.
        unsafe {
            LLVMPositionBuilderBefore(self.raw, inst.0);
            LLVMSetCurrentDebugLocation2(self.raw, self.location);
        }
        self
    }

    /// Inserts at the end of a block without a terminator from now on.
    pub fn at_end(&self, block: Block<'m>) -> &Self {
        // SAFETY: the block is live.
        unsafe { LLVMPositionBuilderAtEnd(self.raw, block.0) };
        self
    }

    /// `a + b`, folded if both are constant.
    pub fn add(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        // SAFETY: positioned; both operands are integers of one type.
        Value::from_raw(unsafe { LLVMBuildAdd(self.raw, a.0, b.0, NO_NAME) })
    }

    /// `a == null`
    pub fn is_null(&self, a: Value<'m>) -> Value<'m> {
        // SAFETY: positioned; the operand is a pointer.
        Value::from_raw(unsafe { LLVMBuildIsNull(self.raw, a.0, NO_NAME) })
    }

    /// `pointer + bytes`
    pub fn offset(&self, pointer: Value<'m>, bytes: u64) -> Value<'m> {
        if bytes == 0 {
            return pointer;
        }
        self.index(pointer, self.module.int_type(8), self.module.int_type(64).constant(bytes))
    }

    /// `&pointer[index]` for elements of `element`.
    pub fn index(&self, pointer: Value<'m>, element: Type<'m>, index: Value<'m>) -> Value<'m> {
        let mut indices = [index.0];
        // SAFETY: positioned; a pointer, a sized type and one integer index.
        Value::from_raw(unsafe {
            LLVMBuildInBoundsGEP2(self.raw, element.0, pointer.0, indices.as_mut_ptr(), 1, NO_NAME)
        })
    }

    /// `*pointer`
    pub fn load(&self, ty: Type<'m>, pointer: Value<'m>) -> Value<'m> {
        // SAFETY: positioned; a type and a pointer.
        Value::from_raw(unsafe { LLVMBuildLoad2(self.raw, ty.0, pointer.0, NO_NAME) })
    }

    /// Adds 1 to the 64-bit counter at `pointer`, which one thread writes and others may read: a
    /// relaxed load and a relaxed store, which no pass may promote to a register, and which x86-64
    /// selects as one `inc`.
    pub fn count(&self, pointer: Value<'m>) {
        self.count_by(pointer, self.module.int_type(64).constant(1));
    }

    /// Adds to the 64-bit counter at `pointer`, as [`Self::count`] does.
    pub fn count_by(&self, pointer: Value<'m>, amount: Value<'m>) {
        let old = self.load_relaxed(self.module.int_type(64), pointer);
        self.store_relaxed(self.add(old, amount), pointer);
    }

    /// A variable in the frame, initialized to zero. The position must be in the entry block.
    pub fn zeroed_variable(&self, ty: Type<'m>) -> Value<'m> {
        // SAFETY: positioned; a sized type.
        unsafe {
            let variable = LLVMBuildAlloca(self.raw, ty.0, NO_NAME);
            LLVMBuildStore(self.raw, ty.null().0, variable);
            Value::from_raw(variable)
        }
    }

    /// Calls a function of the runtime.
    pub fn call(&self, callee: Callee<'m>, arguments: &[Value<'m>]) -> Value<'m> {
        let mut raw: Vec<LLVMValueRef> = arguments.iter().map(|v| v.0).collect();
        // SAFETY: positioned; the arguments have the types of the callee's parameters.
        Value::from_raw(unsafe {
            let call = LLVMBuildCall2(
                self.raw,
                callee.ty,
                callee.function,
                raw.as_mut_ptr(),
                raw.len() as u32,
                NO_NAME,
            );
            LLVMSetInstructionCallConv(call, callee.convention);
            call
        })
    }

    /// Calls a function on x86-64 that is jumped to with its arguments in `rax` and `r10`, and goes
    /// on at `r11` with its result in `rax`; of the other registers it changes only `r11`. For LLVM
    /// that is no call, so the block needs no frame for it. The second argument is a variable of
    /// the module, whose address takes no register until then.
    pub fn jump_through(&self, symbol: &str, first: Value<'m>, second: Value<'m>) -> Value<'m> {
        let text = format!(
            "leaq ${{2:c}}(%rip), %r10\n\tleaq 1f(%rip), %r11\n\tjmpq *{symbol}@GOTPCREL(%rip)\n1:\tendbr64"
        );
        // Each register that is named costs LLVM a search through all names.
        let constraints = "={rax},0,i,~{r10},~{r11},~{memory},~{flags}";
        let pointer = self.module.pointer_type();
        let mut parameters = [pointer.0, pointer.0];
        let mut arguments = [first.0, second.0];
        // SAFETY: positioned; the arguments have the types of the parameters; llvm-c copies the
        // texts.
        Value::from_raw(unsafe {
            let ty = LLVMFunctionType(pointer.0, parameters.as_mut_ptr(), 2, 0);
            let code = inline_assembly(ty, &text, constraints);
            LLVMBuildCall2(self.raw, ty, code, arguments.as_mut_ptr(), 2, NO_NAME)
        })
    }

    /// An empty phi at the head of `block`, to be filled with [`Phi::add`].
    pub fn phi(&self, ty: Type<'m>, block: Block<'m>, name: &std::ffi::CStr) -> Phi<'m> {
        // SAFETY: the block is live and has a first instruction, as every block of a valid
        // function.
        unsafe {
            let first = LLVMGetFirstInstruction(block.0);
            LLVMPositionBuilderBeforeInstrAndDbgRecords(self.raw, first);
            LLVMSetCurrentDebugLocation2(self.raw, self.location);
            Phi { raw: LLVMBuildPhi(self.raw, ty.0, name.as_ptr()), lifetime: PhantomData }
        }
    }

    /// `a - b`, folded if both are constant.
    pub fn sub(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        // SAFETY: positioned; both operands are integers of one type.
        Value::from_raw(unsafe { LLVMBuildSub(self.raw, a.0, b.0, NO_NAME) })
    }

    /// `a & b`
    pub fn and(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        // SAFETY: positioned; both operands are integers of one type.
        Value::from_raw(unsafe { LLVMBuildAnd(self.raw, a.0, b.0, NO_NAME) })
    }

    /// `a * b`
    pub fn mul(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        // SAFETY: positioned; both operands are integers of one type.
        Value::from_raw(unsafe { LLVMBuildMul(self.raw, a.0, b.0, NO_NAME) })
    }

    /// `a >> b`, with zeroes shifted in
    pub fn shift_right(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        // SAFETY: positioned; both operands are integers of one type.
        Value::from_raw(unsafe { LLVMBuildLShr(self.raw, a.0, b.0, NO_NAME) })
    }

    /// `a` with zeroes in front, as a value of a larger integer type
    pub fn zero_extend(&self, a: Value<'m>, ty: Type<'m>) -> Value<'m> {
        // SAFETY: positioned; an integer and a larger integer type.
        Value::from_raw(unsafe { LLVMBuildZExt(self.raw, a.0, ty.0, NO_NAME) })
    }

    /// `a` as a value of an integer type that is not larger: its lowest bits
    pub fn narrow(&self, a: Value<'m>, ty: Type<'m>) -> Value<'m> {
        // SAFETY: positioned; integers. Where the types are equal, it is the value itself.
        Value::from_raw(unsafe { LLVMBuildIntCast2(self.raw, a.0, ty.0, 0, NO_NAME) })
    }

    /// An unsigned integer as a floating-point number
    pub fn to_float(&self, a: Value<'m>, ty: Type<'m>) -> Value<'m> {
        // SAFETY: positioned; an integer and a floating-point type.
        Value::from_raw(unsafe { LLVMBuildUIToFP(self.raw, a.0, ty.0, NO_NAME) })
    }

    /// An address that was computed as an integer
    pub fn int_to_pointer(&self, a: Value<'m>) -> Value<'m> {
        let ty = self.module.pointer_type();
        // SAFETY: positioned; an integer.
        Value::from_raw(unsafe { LLVMBuildIntToPtr(self.raw, a.0, ty.0, NO_NAME) })
    }

    /// `a | b`
    pub fn or(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        // SAFETY: positioned; both operands are integers of one type.
        Value::from_raw(unsafe { LLVMBuildOr(self.raw, a.0, b.0, NO_NAME) })
    }

    /// `a == b` for integers or pointers
    pub fn equal(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        // SAFETY: positioned; both operands are of one type.
        Value::from_raw(unsafe {
            LLVMBuildICmp(self.raw, LLVMIntPredicate::LLVMIntEQ, a.0, b.0, NO_NAME)
        })
    }

    /// `a <= b` for signed integers
    pub fn at_most(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        // SAFETY: positioned; both operands are integers of one type.
        Value::from_raw(unsafe {
            LLVMBuildICmp(self.raw, LLVMIntPredicate::LLVMIntSLE, a.0, b.0, NO_NAME)
        })
    }

    /// `a > b` for signed integers
    pub fn more(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        // SAFETY: positioned; both operands are integers of one type.
        Value::from_raw(unsafe {
            LLVMBuildICmp(self.raw, LLVMIntPredicate::LLVMIntSGT, a.0, b.0, NO_NAME)
        })
    }

    /// `a != b` for integers or pointers
    pub fn differs(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
        // SAFETY: positioned; both operands are of one type.
        Value::from_raw(unsafe {
            LLVMBuildICmp(self.raw, LLVMIntPredicate::LLVMIntNE, a.0, b.0, NO_NAME)
        })
    }

    /// `*pointer = value`
    pub fn store(&self, value: Value<'m>, pointer: Value<'m>) {
        // SAFETY: positioned; a sized value and a pointer.
        unsafe { LLVMBuildStore(self.raw, value.0, pointer.0) };
    }

    /// `*pointer`, which no pass may remove.
    pub fn load_volatile(&self, ty: Type<'m>, pointer: Value<'m>) -> Value<'m> {
        // SAFETY: positioned; a type and a pointer.
        unsafe {
            let load = LLVMBuildLoad2(self.raw, ty.0, pointer.0, NO_NAME);
            LLVMSetVolatile(load, 1);
            Value::from_raw(load)
        }
    }

    /// `*pointer = value`, which no pass may remove.
    pub fn store_volatile(&self, value: Value<'m>, pointer: Value<'m>) {
        // SAFETY: positioned; a sized value and a pointer.
        unsafe { LLVMSetVolatile(LLVMBuildStore(self.raw, value.0, pointer.0), 1) };
    }

    /// A relaxed atomic load of an integer, which no pass folds or moves over another one.
    pub fn load_relaxed(&self, ty: Type<'m>, pointer: Value<'m>) -> Value<'m> {
        // SAFETY: positioned; an integer type and an aligned pointer.
        unsafe {
            let load = LLVMBuildLoad2(self.raw, ty.0, pointer.0, NO_NAME);
            order_relaxed(load, ty.0);
            Value::from_raw(load)
        }
    }

    /// An acquiring load of an integer, which nothing behind it is moved over.
    pub fn load_acquiring(&self, ty: Type<'m>, pointer: Value<'m>) -> Value<'m> {
        let load = self.load_relaxed(ty, pointer);
        // SAFETY: it is a load.
        unsafe { LLVMSetOrdering(load.0, LLVMAtomicOrdering::LLVMAtomicOrderingAcquire) };
        load
    }

    /// A relaxed atomic store of an integer.
    pub fn store_relaxed(&self, value: Value<'m>, pointer: Value<'m>) {
        // SAFETY: positioned; an integer and an aligned pointer.
        unsafe { order_relaxed(LLVMBuildStore(self.raw, value.0, pointer.0), LLVMTypeOf(value.0)) }
    }

    /// A variable in the frame. The position must be in the entry block.
    pub fn variable(&self, ty: Type<'m>, name: &std::ffi::CStr) -> Value<'m> {
        // SAFETY: positioned; a sized type.
        Value::from_raw(unsafe { LLVMBuildAlloca(self.raw, ty.0, name.as_ptr()) })
    }

    /// Aligns a variable.
    pub fn align(&self, variable: Value<'m>, bytes: u32) {
        // SAFETY: the variable is a live alloca; the alignment is a power of two.
        unsafe { LLVMSetAlignment(variable.0, bytes) };
    }

    /// `switch selector, blocks[0] [1: blocks[1], …]`
    pub fn switch(&self, selector: Value<'m>, blocks: &[Block<'m>]) {
        let Some((first, rest)) = blocks.split_first() else { return };
        // SAFETY: positioned at the end of a block; the selector is an integer.
        unsafe {
            let switch = LLVMBuildSwitch(self.raw, selector.0, first.0, rest.len() as u32);
            for (number, block) in rest.iter().enumerate() {
                let number = LLVMConstInt(LLVMTypeOf(selector.0), number as u64 + 1, 0);
                LLVMAddCase(switch, number, block.0);
            }
        }
    }

    /// Calls a function of the module, of the callee's convention, with the attributes of its
    /// result.
    pub fn call_function(
        &self,
        callee: Function<'m>,
        arguments: &[Value<'m>],
        tail: Tail,
    ) -> Value<'m> {
        let mut raw: Vec<LLVMValueRef> = arguments.iter().map(|v| v.0).collect();
        // SAFETY: positioned; the arguments have the types of the callee's parameters.
        unsafe {
            let call = LLVMBuildCall2(
                self.raw,
                LLVMGlobalGetValueType(callee.0),
                callee.0,
                raw.as_mut_ptr(),
                raw.len() as u32,
                NO_NAME,
            );
            LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(callee.0));
            LLVMSetTailCallKind(
                call,
                match tail {
                    Tail::Never => LLVMTailCallKind::LLVMTailCallKindNoTail,
                    Tail::No => LLVMTailCallKind::LLVMTailCallKindNone,
                    Tail::May => LLVMTailCallKind::LLVMTailCallKindTail,
                    Tail::Must => LLVMTailCallKind::LLVMTailCallKindMustTail,
                },
            );
            crate::sys::mfb_copy_result_attributes(call, callee.0);
            Value::from_raw(call)
        }
    }

    /// Calls the function of type `ty` at an address.
    pub fn call_pointer(&self, address: Value<'m>, ty: Type<'m>, arguments: &[Value<'m>]) {
        let mut raw: Vec<LLVMValueRef> = arguments.iter().map(|v| v.0).collect();
        // SAFETY: positioned; a function type and arguments of its parameters' types.
        unsafe {
            let (arguments, count) = (raw.as_mut_ptr(), raw.len() as u32);
            LLVMBuildCall2(self.raw, ty.0, address.0, arguments, count, NO_NAME);
        }
    }

    /// `ret void`
    pub fn ret_void(&self) {
        // SAFETY: positioned at the end of a block of a function without a result.
        unsafe { LLVMBuildRetVoid(self.raw) };
    }

    /// `ret value`, or `ret void` if the value is of type void.
    pub fn ret(&self, value: Value<'m>) {
        // SAFETY: positioned at the end of a block of a function with this result.
        unsafe {
            if LLVMGetTypeKind(LLVMTypeOf(value.0)) == LLVMTypeKind::LLVMVoidTypeKind {
                LLVMBuildRetVoid(self.raw);
            } else {
                LLVMBuildRet(self.raw, value.0);
            }
        }
    }

    /// Replaces the terminator of `block`, an unconditional branch to `then`, by inline assembly
    /// that falls through to `then` and may jump to `unlikely`: `callbr`. The assembly's operands
    /// are the number (`$0`) and the label (`$1`).
    pub fn asm_goto(
        &self,
        block: Block<'m>,
        assembly: &str,
        number: u64,
        unlikely: Block<'m>,
        then: Block<'m>,
    ) {
        const CONSTRAINTS: &str = "i,!i";
        // SAFETY: the terminator is an unconditional branch without users; llvm-c copies the texts.
        unsafe {
            LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(block.0));
            LLVMPositionBuilderAtEnd(self.raw, block.0);
            let int = self.module.int_type(64);
            let mut parameters = [int.0];
            let ty = LLVMFunctionType(self.module.void_type().0, parameters.as_mut_ptr(), 1, 0);
            let callee = inline_assembly(ty, assembly, CONSTRAINTS);
            let (mut targets, mut arguments) = ([unlikely.0], [int.constant(number).0]);
            LLVMBuildCallBr(
                self.raw,
                ty,
                callee,
                then.0,
                targets.as_mut_ptr(),
                1,
                arguments.as_mut_ptr(),
                1,
                std::ptr::null_mut(),
                0,
                NO_NAME,
            );
        }
    }

    /// `br block`
    pub fn branch(&self, block: Block<'m>) {
        // SAFETY: positioned at the end of a block without a terminator.
        unsafe { LLVMBuildBr(self.raw, block.0) };
    }

    /// Replaces the terminator of `block`, an unconditional branch without users, by a branch on
    /// `condition` to `then` or to `or_else`.
    pub fn branch_if(
        &self,
        block: Block<'m>,
        condition: Value<'m>,
        then: Block<'m>,
        or_else: Block<'m>,
    ) {
        self.conditional(block, condition, then, or_else);
    }

    fn conditional(
        &self,
        block: Block<'m>,
        condition: Value<'m>,
        then: Block<'m>,
        or_else: Block<'m>,
    ) -> LLVMValueRef {
        // SAFETY: the terminator is an unconditional branch without users.
        unsafe {
            LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(block.0));
            LLVMPositionBuilderAtEnd(self.raw, block.0);
            LLVMBuildCondBr(self.raw, condition.0, then.0, or_else.0)
        }
    }

    /// As [`Self::branch_if`], with weights that say that the condition hardly ever holds.
    pub fn branch_unlikely(
        &self,
        block: Block<'m>,
        condition: Value<'m>,
        unlikely: Block<'m>,
        or_else: Block<'m>,
    ) {
        let branch = self.conditional(block, condition, unlikely, or_else);
        // SAFETY: the branch is weighted with metadata of its own context.
        unsafe {
            let context = LLVMGetModuleContext(self.module.0);
            let weight = |w| LLVMValueAsMetadata(self.module.int_type(32).constant(w).0);
            let name = LLVMMDStringInContext2(context, c"branch_weights".as_ptr(), 14);
            let mut parts = [name, weight(1), weight(1 << 20)];
            let node = LLVMMDNodeInContext2(context, parts.as_mut_ptr(), parts.len());
            let kind = LLVMGetMDKindIDInContext(context, c"prof".as_ptr(), 4);
            LLVMSetMetadata(branch, kind, LLVMMetadataAsValue(context, node));
        }
    }
}

/// Whether a call may, or must, give up the caller's frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tail {
    /// The callee may use the caller's frame, in a way that LLVM does not see: by a list of
    /// variable arguments.
    Never,
    /// The callee may use the caller's frame.
    No,
    /// It does not.
    May,
    /// It does not, and the stack must not grow.
    Must,
}

impl<'m> Inst<'m> {
    /// The text of the inline assembly that it calls; none if it does not.
    pub fn assembly(self) -> Option<String> {
        // SAFETY: the instruction is live; each step asks what the former gave before it uses it.
        unsafe {
            let assembly = LLVMIsAInlineAsm(called_by(self)?);
            if assembly.is_null() {
                return None;
            }
            let mut length = 0;
            let text = LLVMGetInlineAsmAsmString(assembly, &mut length).cast::<u8>();
            let text = std::slice::from_raw_parts(text, length);
            Some(String::from_utf8_lossy(text).into_owned())
        }
    }

    /// Makes another text that of the inline assembly that it calls.
    pub fn set_assembly(self, text: &str) {
        // SAFETY: the instruction is live; each step asks what the former gave before it uses it.
        // What is called is the last operand.
        unsafe {
            let Some(old) = called_by(self).filter(|&called| !LLVMIsAInlineAsm(called).is_null())
            else {
                return;
            };
            let mut length = 0;
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
}

/// What a call, an invoke or a callbr calls.
fn called_by(inst: Inst<'_>) -> Option<LLVMValueRef> {
    matches!(inst.opcode(), Opcode::Call | Opcode::Invoke | Opcode::CallBr)
        // SAFETY: it is a live instruction that calls.
        .then(|| unsafe { LLVMGetCalledValue(inst.0) })
}

/// # Safety
/// `access` is a load or a store of an integer, naturally aligned.
unsafe fn order_relaxed(access: LLVMValueRef, ty: LLVMTypeRef) {
    // SAFETY: the caller's contract.
    unsafe {
        LLVMSetOrdering(access, LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic);
        // Smaller alignment, as a module without a data layout has, would make it a library call.
        LLVMSetAlignment(access, LLVMGetIntTypeWidth(ty).div_ceil(8).next_power_of_two());
    }
}

/// Inline assembly in AT&T's dialect, which may do anything but throw.
///
/// # Safety
/// `ty` is a live function type.
unsafe fn inline_assembly(ty: LLVMTypeRef, text: &str, constraints: &str) -> LLVMValueRef {
    // SAFETY: the caller's; llvm-c copies the texts, which are passed with their lengths.
    unsafe {
        LLVMGetInlineAsm(
            ty,
            text.as_ptr().cast(),
            text.len(),
            constraints.as_ptr().cast(),
            constraints.len(),
            1,
            0,
            LLVMInlineAsmDialect::LLVMInlineAsmDialectATT,
            0,
        )
    }
}

impl Drop for Builder<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `new`, disposed of once.
        unsafe { LLVMDisposeBuilder(self.raw) }
    }
}

/// A phi that is being filled.
#[derive(Clone, Copy)]
pub struct Phi<'m> {
    raw: LLVMValueRef,
    lifetime: PhantomData<&'m ()>,
}

impl<'m> Phi<'m> {
    /// The phi's value.
    pub fn value(self) -> Value<'m> {
        Value::from_raw(self.raw)
    }

    /// Adds the value that comes from `block`; once for each of parallel edges.
    pub fn add(self, value: Value<'m>, block: Block<'m>) {
        let (mut values, mut blocks) = ([value.0], [block.0]);
        // SAFETY: the phi is live; one value of its type and one block of its function.
        unsafe { LLVMAddIncoming(self.raw, values.as_mut_ptr(), blocks.as_mut_ptr(), 1) }
    }
}
