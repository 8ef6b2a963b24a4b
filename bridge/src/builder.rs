//! Inserting code.

use crate::ir::{Block, Callee, Function, Inst, Module, Type, TypeKind, Value, wrap};
use crate::sys::core::*;
use crate::sys::debuginfo::{LLVMDIBuilderCreateDebugLocation, LLVMGetSubprogram};
use crate::sys::prelude::{LLVMBuilderRef, LLVMMetadataRef, LLVMTypeRef, LLVMValueRef};
use crate::sys::{LLVMAtomicOrdering, LLVMInlineAsmDialect, LLVMIntPredicate, LLVMTailCallKind};
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

    /// `pointer - bytes`
    pub fn before_pointer(&self, pointer: Value<'m>, bytes: u64) -> Value<'m> {
        let i64 = self.module.int_type(64);
        self.index(pointer, self.module.int_type(8), i64.constant(bytes.wrapping_neg()))
    }

    /// `&pointer[index]` for elements of `element`.
    pub fn index(&self, pointer: Value<'m>, element: Type<'m>, index: Value<'m>) -> Value<'m> {
        let indices = [index];
        // SAFETY: positioned; a pointer, a sized type and one integer index.
        Value::from_raw(unsafe {
            LLVMBuildInBoundsGEP2(self.raw, element.0, pointer.0, Value::list(&indices), 1, NO_NAME)
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
        let variable = self.variable(ty, c"");
        self.store(ty.null(), variable);
        variable
    }

    /// Calls a function of the runtime.
    pub fn call(&self, callee: Callee<'m>, arguments: &[Value<'m>]) -> Value<'m> {
        let call = self.call_pointer(callee.address, callee.ty, arguments);
        // SAFETY: the call was just made.
        unsafe { LLVMSetInstructionCallConv(call.0, callee.convention) };
        call
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
        let ty = pointer.function(&[pointer, pointer]);
        self.call_pointer(inline_assembly(ty, &text, constraints), ty, &[first, second])
    }

    /// Tells a section of the call that comes next: see `midflight_abi::contexts::ContextCall`. It
    /// is no code. The entry is linked to the code ("o") and in its group ("?"), so that the linker
    /// keeps or drops both, and puts entries in the order of the code.
    pub fn tell_of_call(&self, section: &str, record: Value<'m>, site: u32) {
        let text = format!(
            "
.Lmidflight_call_${{:uid}}:
\t.pushsection {section},\"ao?\",@progbits,.Lmidflight_call_${{:uid}}
\t.long .Lmidflight_call_${{:uid}}-.
\t.long ${{0:c}}-.
\t.long ${{1:c}}
\t.popsection"
        );
        let i32 = self.module.int_type(32);
        let ty = self.module.void_type().function(&[self.module.pointer_type(), i32]);
        let arguments = [record, i32.constant(site.into())];
        self.call_pointer(inline_assembly(ty, &text, "i,i"), ty, &arguments);
    }

    /// No code, which is nowhere the same: code that comes before it, in several places, is not
    /// made one.
    pub fn keep_apart(&self, number: u32) {
        let i32 = self.module.int_type(32);
        let ty = self.module.void_type().function(&[i32]);
        self.call_pointer(inline_assembly(ty, "", "i"), ty, &[i32.constant(number.into())]);
    }

    /// The processor's counter of cycles, as LLVM has it for the target (`rdtsc` on x86-64).
    pub fn cycle_counter(&self) -> Value<'m> {
        let callee = self.module.intrinsic("llvm.readcyclecounter", self.module.int_type(64));
        self.call(callee, &[])
    }

    /// The system's counter on AArch64, which goes on at one rate, and user mode may read: for that
    /// LLVM has no intrinsic that is more than 0.
    pub fn system_counter(&self) -> Value<'m> {
        let ty = self.module.int_type(64).function(&[]);
        let counter = inline_assembly(ty, "mrs $0, cntvct_el0", "=r");
        self.call_pointer(counter, ty, &[])
    }

    /// The address of the return address of the function's frame, as an integer.
    pub fn frame(&self) -> Value<'m> {
        const INTRINSIC: &str = "llvm.addressofreturnaddress.p0";
        let callee = self.module.intrinsic(INTRINSIC, self.module.pointer_type());
        self.pointer_to_int(self.call(callee, &[]), self.module.int_type(64))
    }

    /// An empty phi at the head of `block`, to be filled with [`Phi::add`].
    pub fn phi(&self, ty: Type<'m>, block: Block<'m>, name: &std::ffi::CStr) -> Phi<'m> {
        // SAFETY: the block is live; the position is before its first instruction, if it has one.
        unsafe {
            match wrap(LLVMGetFirstInstruction(block.0)) {
                Some(first) => LLVMPositionBuilderBeforeInstrAndDbgRecords(self.raw, first),
                None => LLVMPositionBuilderAtEnd(self.raw, block.0),
            }
            LLVMSetCurrentDebugLocation2(self.raw, self.location);
            Phi(Inst::from_raw(LLVMBuildPhi(self.raw, ty.0, name.as_ptr())))
        }
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

    /// An address as an integer
    pub fn pointer_to_int(&self, a: Value<'m>, ty: Type<'m>) -> Value<'m> {
        // SAFETY: positioned; a pointer and an integer type.
        Value::from_raw(unsafe { LLVMBuildPtrToInt(self.raw, a.0, ty.0, NO_NAME) })
    }

    /// The value, or one that stays the same if it is poison or undefined
    pub fn freeze(&self, a: Value<'m>) -> Value<'m> {
        // SAFETY: positioned; any value that is no block.
        Value::from_raw(unsafe { LLVMBuildFreeze(self.raw, a.0, NO_NAME) })
    }

    /// The same bits as a value of another type
    pub fn bit_cast(&self, a: Value<'m>, ty: Type<'m>) -> Value<'m> {
        // SAFETY: positioned; both types have one size, and both or none are pointers.
        Value::from_raw(unsafe { LLVMBuildBitCast(self.raw, a.0, ty.0, NO_NAME) })
    }

    /// `*pointer = value`
    pub fn store(&self, value: Value<'m>, pointer: Value<'m>) {
        // SAFETY: positioned; a sized value and a pointer.
        unsafe { LLVMBuildStore(self.raw, value.0, pointer.0) };
    }

    /// `*pointer`, which no pass may remove.
    pub fn load_volatile(&self, ty: Type<'m>, pointer: Value<'m>) -> Value<'m> {
        let load = self.load(ty, pointer);
        // SAFETY: it is a load.
        unsafe { LLVMSetVolatile(load.0, 1) };
        load
    }

    /// `*pointer = value`, which no pass may remove.
    pub fn store_volatile(&self, value: Value<'m>, pointer: Value<'m>) {
        // SAFETY: positioned; a sized value and a pointer.
        unsafe { LLVMSetVolatile(LLVMBuildStore(self.raw, value.0, pointer.0), 1) };
    }

    /// A relaxed atomic load of an integer or a pointer, which no pass folds or moves over another
    /// one.
    pub fn load_relaxed(&self, ty: Type<'m>, pointer: Value<'m>) -> Value<'m> {
        let load = self.load(ty, pointer);
        // SAFETY: it is a load of an integer from an aligned pointer.
        unsafe { order_relaxed(load.0, ty.0) };
        load
    }

    /// An acquiring load of an integer, which nothing behind it is moved over.
    pub fn load_acquiring(&self, ty: Type<'m>, pointer: Value<'m>) -> Value<'m> {
        let load = self.load_relaxed(ty, pointer);
        // SAFETY: it is a load.
        unsafe { LLVMSetOrdering(load.0, LLVMAtomicOrdering::LLVMAtomicOrderingAcquire) };
        load
    }

    /// A relaxed atomic store of an integer or a pointer.
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
        let result = self.call_pointer(callee.value(), callee.function_type(), arguments);
        let call = result.0;
        // SAFETY: the call was just made of this function.
        unsafe {
            LLVMSetInstructionCallConv(call, LLVMGetFunctionCallConv(callee.0));
            LLVMSetTailCallKind(call, tail.kind());
            crate::sys::mfb_copy_result_attributes(call, callee.0);
        }
        result
    }

    /// Calls the function of type `ty` at an address.
    pub fn call_pointer(
        &self,
        address: Value<'m>,
        ty: Type<'m>,
        arguments: &[Value<'m>],
    ) -> Value<'m> {
        let (list, count) = (Value::list(arguments), arguments.len() as u32);
        // SAFETY: positioned; a function type and arguments of its parameters' types.
        Value::from_raw(unsafe { LLVMBuildCall2(self.raw, ty.0, address.0, list, count, NO_NAME) })
    }

    /// Calls the function of type `ty` at an address, which gives its result as the function does
    /// that the builder is in.
    pub fn call_version(
        &self,
        address: Value<'m>,
        ty: Type<'m>,
        arguments: &[Value<'m>],
        tail: Tail,
    ) -> Value<'m> {
        let call = self.call_pointer(address, ty, arguments);
        // SAFETY: the call was just made; the function is live.
        unsafe {
            LLVMSetTailCallKind(call.0, tail.kind());
            crate::sys::mfb_give_result_like(call.0, self.block().function().0);
        }
        call
    }

    /// Loads what a simple store of the same place would have stored, from an address.
    pub fn load_as_stored(&self, store: Inst<'m>, address: Value<'m>) -> Value<'m> {
        // SAFETY: the builder has a position, the store is live, the address is a pointer.
        Value::from_raw(unsafe { crate::sys::mfb_load_as_stored(self.raw, store.0, address.0) })
    }

    /// The first value if a condition holds, else the second one.
    pub fn select(&self, condition: Value<'m>, holds: Value<'m>, fails: Value<'m>) -> Value<'m> {
        // SAFETY: the builder has a position; the condition is of type i1, the others of one type.
        Value::from_raw(unsafe {
            LLVMBuildSelect(self.raw, condition.0, holds.0, fails.0, NO_NAME)
        })
    }

    /// A copy of an instruction with other operands.
    pub fn repeat(&self, inst: Inst<'m>, operands: &[Value<'m>]) -> Value<'m> {
        let (list, count) = (Value::list(operands), operands.len());
        // SAFETY: the builder has a position, the instruction is live and not a phi or terminator,
        // the operands are of its operands' types.
        Value::from_raw(unsafe { crate::sys::mfb_repeat(self.raw, inst.0, list, count) })
    }

    /// `ret void`
    pub fn ret_void(&self) {
        // SAFETY: positioned at the end of a block of a function without a result.
        unsafe { LLVMBuildRetVoid(self.raw) };
    }

    /// `ret value`, or `ret void` if the value is of type void.
    pub fn ret(&self, value: Value<'m>) {
        if value.ty().kind() == TypeKind::Void {
            return self.ret_void();
        }
        // SAFETY: positioned at the end of a block of a function with this result.
        unsafe { LLVMBuildRet(self.raw, value.0) };
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
            let ty = self.module.void_type().function(&[int]);
            LLVMBuildCallBr(
                self.raw,
                ty.0,
                inline_assembly(ty, assembly, CONSTRAINTS).0,
                then.0,
                Block::list(&[unlikely]),
                1,
                Value::list(&[int.constant(number)]),
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
    ) -> Inst<'m> {
        // SAFETY: the terminator is an unconditional branch without users.
        unsafe {
            LLVMInstructionEraseFromParent(LLVMGetBasicBlockTerminator(block.0));
            LLVMPositionBuilderAtEnd(self.raw, block.0);
            Inst::from_raw(LLVMBuildCondBr(self.raw, condition.0, then.0, or_else.0))
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
        let branch = self.branch_if(block, condition, unlikely, or_else);
        // SAFETY: the branch is weighted with metadata of its own context.
        unsafe {
            let context = LLVMGetModuleContext(self.module.0);
            let weight = |w| LLVMValueAsMetadata(self.module.int_type(32).constant(w).0);
            let name = LLVMMDStringInContext2(context, c"branch_weights".as_ptr(), 14);
            let mut parts = [name, weight(1), weight(1 << 20)];
            let node = LLVMMDNodeInContext2(context, parts.as_mut_ptr(), parts.len());
            let kind = LLVMGetMDKindIDInContext(context, c"prof".as_ptr(), 4);
            LLVMSetMetadata(branch.0, kind, LLVMMetadataAsValue(context, node));
        }
    }
}

/// Operations on two integers of one type, or, where the documentation says so, on two pointers.
macro_rules! binary {
    ($($(#[$doc:meta])* $name:ident = $build:ident $(($predicate:ident))?;)*) => {
        impl<'m> Builder<'m> {
            $($(#[$doc])* pub fn $name(&self, a: Value<'m>, b: Value<'m>) -> Value<'m> {
                // SAFETY: positioned; both operands are of one type.
                Value::from_raw(unsafe {
                    $build(self.raw, $(LLVMIntPredicate::$predicate,)? a.0, b.0, NO_NAME)
                })
            })*
        }
    };
}

binary! {
    /// `a + b`, folded if both are constant.
    add = LLVMBuildAdd;
    /// `a - b`, folded if both are constant.
    sub = LLVMBuildSub;
    /// `a & b`
    and = LLVMBuildAnd;
    /// `a | b`
    or = LLVMBuildOr;
    /// `a * b`
    mul = LLVMBuildMul;
    /// `a >> b`, with zeroes shifted in
    shift_right = LLVMBuildLShr;
    /// `a == b` for integers or pointers
    equal = LLVMBuildICmp(LLVMIntEQ);
    /// `a != b` for integers or pointers
    differs = LLVMBuildICmp(LLVMIntNE);
    /// `a <= b` for signed integers
    at_most = LLVMBuildICmp(LLVMIntSLE);
    /// `a > b` for signed integers
    more = LLVMBuildICmp(LLVMIntSGT);
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

impl Tail {
    fn kind(self) -> LLVMTailCallKind {
        match self {
            Tail::Never => LLVMTailCallKind::LLVMTailCallKindNoTail,
            Tail::No => LLVMTailCallKind::LLVMTailCallKindNone,
            Tail::May => LLVMTailCallKind::LLVMTailCallKindTail,
            Tail::Must => LLVMTailCallKind::LLVMTailCallKindMustTail,
        }
    }
}

/// # Safety
/// `access` is a load or a store of an integer or a pointer, naturally aligned.
unsafe fn order_relaxed(access: LLVMValueRef, ty: LLVMTypeRef) {
    // SAFETY: the caller's contract.
    unsafe {
        LLVMSetOrdering(access, LLVMAtomicOrdering::LLVMAtomicOrderingMonotonic);
        let bytes = match Type::from_raw(ty).kind() {
            TypeKind::Pointer => 8,
            _ => LLVMGetIntTypeWidth(ty).div_ceil(8).next_power_of_two(),
        };
        // Smaller alignment, as a module without a data layout has, would make it a library call.
        LLVMSetAlignment(access, bytes);
    }
}

/// Inline assembly in AT&T's dialect, which may do anything but throw.
fn inline_assembly<'m>(ty: Type<'m>, text: &str, constraints: &str) -> Value<'m> {
    // SAFETY: the type is live; llvm-c copies the texts, which are passed with their lengths.
    Value::from_raw(unsafe {
        LLVMGetInlineAsm(
            ty.0,
            text.as_ptr().cast(),
            text.len(),
            constraints.as_ptr().cast(),
            constraints.len(),
            1,
            0,
            LLVMInlineAsmDialect::LLVMInlineAsmDialectATT,
            0,
        )
    })
}

impl Drop for Builder<'_> {
    fn drop(&mut self) {
        // SAFETY: made by `new`, disposed of once.
        unsafe { LLVMDisposeBuilder(self.raw) }
    }
}

/// A phi that is being filled.
#[derive(Clone, Copy)]
pub struct Phi<'m>(Inst<'m>);

impl<'m> Phi<'m> {
    /// The phi's value.
    pub fn value(self) -> Value<'m> {
        self.0.value()
    }

    /// Adds the value that comes from `block`; once for each of parallel edges.
    pub fn add(self, value: Value<'m>, block: Block<'m>) {
        self.0.add_incoming(value, block);
    }
}
