//! Handles to modules, functions, blocks and values of the host.
//!
//! They are plain copies of llvm-c's references with the lifetime of the pass that runs.

use crate::sys::core::*;
use crate::sys::prelude::{LLVMBasicBlockRef, LLVMModuleRef, LLVMTypeRef, LLVMValueRef};
use crate::sys::{self, LLVMLinkage, LLVMOpcode, LLVMThreadLocalMode};
use std::ffi::{CStr, CString, c_char};
use std::marker::PhantomData;

/// The number of the calling convention `ccc`.
const C: u32 = 0;

/// The number of the calling convention `preserve_mostcc`.
const PRESERVE_MOST: u32 = 14;

/// Attributes of what returns in any case, and does not throw.
const RETURNS: [&str; 2] = ["nounwind", "willreturn"];

/// A module of the host.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Module<'m>(pub(crate) LLVMModuleRef, pub(crate) PhantomData<&'m ()>);

/// Any value: a constant, an argument, an instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Value<'m>(pub(crate) LLVMValueRef, PhantomData<&'m ()>);

/// A type.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Type<'m>(pub(crate) LLVMTypeRef, PhantomData<&'m ()>);

/// A function, defined or declared.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Function<'m>(pub(crate) LLVMValueRef, PhantomData<&'m ()>);

/// A basic block.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Block<'m>(pub(crate) LLVMBasicBlockRef, PhantomData<&'m ()>);

/// An instruction.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Inst<'m>(pub(crate) LLVMValueRef, PhantomData<&'m ()>);

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
    /// Any other
    Other,
}

/// What is known of a function beside its body.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FunctionFacts {
    /// Its body is a copy for inlining only.
    pub available_externally: bool,
    /// It has no prologue.
    pub naked: bool,
    /// `no_profile_instrument_function` or `noprofile`
    pub no_profile: bool,
    /// A coroutine that is not split yet
    pub presplit_coroutine: bool,
    /// Its personality uses funclets (MSVC, CoreCLR, wasm).
    pub funclet_personality: bool,
    /// Its name means nothing outside its module.
    pub local: bool,
    /// It is in a comdat: other modules may define it as well.
    pub comdat: bool,
    /// It resolves an ifunc, so it runs before relocation is done.
    pub ifunc_resolver: bool,
}

/// What is known of a call.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CallFacts {
    /// It does not return.
    pub no_return: bool,
    /// It may return more than once, as `setjmp`.
    pub returns_twice: bool,
    /// A call that must be in tail position: `musttail` or `llvm.experimental.deoptimize`
    pub must_tail: bool,
    /// Not a real call: a debug or lifetime marker, an assumption
    pub marker: bool,
    /// It makes a token that says which threads run calls together.
    pub controls_convergence: bool,
}

fn string_of(pointer: *const c_char, length: usize) -> String {
    if pointer.is_null() {
        return String::new();
    }
    // SAFETY: llvm-c returns a pointer to `length` bytes that live as long as their owner.
    let bytes = unsafe { std::slice::from_raw_parts(pointer.cast::<u8>(), length) };
    String::from_utf8_lossy(bytes).into_owned()
}

impl<'m> Module<'m> {
    /// # Safety
    /// `raw` is a live module and outlives `'m`.
    pub(crate) unsafe fn from_raw(raw: LLVMModuleRef) -> Self {
        Module(raw, PhantomData)
    }

    /// All functions, in order.
    pub fn functions(self) -> impl Iterator<Item = Function<'m>> {
        // SAFETY: the module is live; the list is walked with llvm-c's own iterators.
        let first = unsafe { LLVMGetFirstFunction(self.0) };
        // SAFETY: as above; each element is a live function of the module.
        std::iter::successors(wrap(first), |f: &LLVMValueRef| {
            // SAFETY: as above; each element is a live function of the module.
            wrap(unsafe { LLVMGetNextFunction(*f) })
        })
        .map(|f| Function(f, PhantomData))
    }

    /// The name of the source file that the module was made from.
    pub fn source_file(self) -> String {
        let mut length = 0;
        // SAFETY: the module is live, and owns the string.
        let text = unsafe { LLVMGetSourceFileName(self.0, &mut length) };
        string_of(text, length)
    }

    /// Reports an error as the compiler's own; compilation fails cleanly.
    pub fn error(self, message: &str) {
        // SAFETY: the module is live; the text is copied before the call returns.
        unsafe { sys::mfb_error(self.0, message.as_ptr().cast(), message.len()) }
    }

    /// Reports a warning as the compiler's own.
    pub fn warning(self, message: &str) {
        // SAFETY: the module is live; the text is copied before the call returns.
        unsafe { sys::mfb_warning(self.0, message.as_ptr().cast(), message.len()) }
    }

    /// The pointer type of address space 0.
    pub fn pointer_type(self) -> Type<'m> {
        // SAFETY: the module's context is live.
        Type(unsafe { LLVMPointerTypeInContext(LLVMGetModuleContext(self.0), 0) }, PhantomData)
    }

    /// The integer type of `bits` bits.
    pub fn int_type(self, bits: u32) -> Type<'m> {
        // SAFETY: the module's context is live.
        Type(unsafe { LLVMIntTypeInContext(LLVMGetModuleContext(self.0), bits) }, PhantomData)
    }

    /// `void`
    pub fn void_type(self) -> Type<'m> {
        // SAFETY: the module's context is live.
        Type(unsafe { LLVMVoidTypeInContext(LLVMGetModuleContext(self.0)) }, PhantomData)
    }

    /// True where C's pointers have `bits` bits.
    pub fn pointers_have(self, bits: u32) -> bool {
        // SAFETY: the module is live and owns its data layout.
        unsafe {
            sys::target::LLVMPointerSize(sys::target::LLVMGetModuleDataLayout(self.0)) * 8 == bits
        }
    }

    /// The format of its target's object files, by LLVM's name: `elf`, `macho`, `coff` and so on.
    pub fn object_format(self) -> &'static str {
        // SAFETY: the module is live; LLVM's names are ASCII literals.
        unsafe { CStr::from_ptr(sys::mfb_object_format(self.0)) }.to_str().expect("ASCII")
    }

    /// Whether its code is for a shared library, where finding a thread-local variable takes a
    /// call.
    pub fn is_for_library(self) -> bool {
        // SAFETY: the module is live.
        unsafe { sys::mfb_is_for_library(self.0) }
    }

    /// Whether the linker optimizes it once more, with others.
    pub fn is_for_lto(self) -> bool {
        // SAFETY: the module is live.
        unsafe { sys::mfb_is_for_lto(self.0) }
    }

    /// The declaration of an external function of the runtime, made when it is missing.
    pub fn runtime_function(self, name: &str, result: Type<'m>, params: &[Type<'m>]) -> Callee<'m> {
        self.declared_function(name, result, params, &RETURNS)
    }

    /// A function of the runtime that emitted code knows the address of, and that leaves most
    /// registers as they are where the target is one for which the runtime has it so.
    pub fn sparing_callee(
        self,
        address: Value<'m>,
        result: Type<'m>,
        params: &[Type<'m>],
    ) -> Callee<'m> {
        let convention = if self.is_for_x86_64() { PRESERVE_MOST } else { C };
        let ty = function_type(result, params);
        Callee { function: address.0, ty, convention, lifetime: PhantomData }
    }

    /// Whether the target is x86-64.
    pub fn is_for_x86_64(self) -> bool {
        let triple = self.target();
        triple.starts_with("x86_64") || triple.starts_with("amd64")
    }

    /// Whether the target is AArch64.
    pub fn is_for_aarch64(self) -> bool {
        let triple = self.target();
        triple.starts_with("aarch64") || triple.starts_with("arm64")
    }

    /// An array type.
    pub fn array_type(self, element: Type<'m>, count: u64) -> Type<'m> {
        // SAFETY: the element's type is sized.
        Type::from_raw(unsafe { LLVMArrayType2(element.0, count) })
    }

    /// The declaration of a function; one that is there already is returned as it is.
    pub(crate) fn declared_function(
        self,
        name: &str,
        result: Type<'m>,
        params: &[Type<'m>],
        attributes: &[&str],
    ) -> Callee<'m> {
        let c_name = c_string(name);
        let ty = function_type(result, params);
        // SAFETY: all types belong to the module's context; the name is NUL-terminated; llvm-c
        // copies both. An existing function of this name is returned as it is.
        unsafe {
            let mut function = LLVMGetNamedFunction(self.0, c_name.as_ptr());
            if function.is_null() {
                function = LLVMAddFunction(self.0, c_name.as_ptr(), ty);
                for attribute in attributes {
                    add_function_attribute(self.0, function, attribute);
                }
            }
            Callee { function, ty, convention: C, lifetime: PhantomData }
        }
    }

    /// A constant with the given bytes in a section, aligned to 8. It is private, or `shared`
    /// between modules that define the same under this name.
    pub fn section_bytes(self, name: &str, section: &str, bytes: &[u8], shared: bool) -> Value<'m> {
        let (c_name, c_section) = (c_string(name), c_string(section));
        // SAFETY: the module is live; llvm-c copies the names and the bytes.
        unsafe {
            let context = LLVMGetModuleContext(self.0);
            let data = LLVMConstStringInContext2(context, bytes.as_ptr().cast(), bytes.len(), 1);
            let global = LLVMAddGlobal(self.0, LLVMTypeOf(data), c_name.as_ptr());
            LLVMSetInitializer(global, data);
            LLVMSetGlobalConstant(global, 1);
            LLVMSetLinkage(global, LLVMLinkage::LLVMPrivateLinkage);
            LLVMSetSection(global, c_section.as_ptr());
            LLVMSetAlignment(global, 8);
            if shared {
                sys::mfb_share(global);
            }
            Value(global, PhantomData)
        }
    }

    /// A private constant with the given bytes in a section, which the linker keeps though nobody
    /// refers to it.
    pub fn retained_bytes(self, name: &str, section: &str, bytes: &[u8]) {
        let global = self.section_bytes(name, section, bytes, false);
        // SAFETY: it is a global of the module; the alignment is a power of two.
        unsafe {
            LLVMSetAlignment(global.0, 1);
            sys::mfb_retain(global.0);
        }
    }

    /// A thread-local pointer, null at first. It is internal, or `shared` between modules that
    /// define the same under this name.
    pub fn thread_local_pointer(self, name: &str, shared: bool) -> Value<'m> {
        let c_name = c_string(name);
        // SAFETY: the module is live; llvm-c copies the name.
        unsafe {
            let ty = self.pointer_type().0;
            let global = LLVMAddGlobal(self.0, ty, c_name.as_ptr());
            LLVMSetInitializer(global, LLVMConstNull(ty));
            LLVMSetLinkage(global, LLVMLinkage::LLVMInternalLinkage);
            LLVMSetThreadLocalMode(global, LLVMThreadLocalMode::LLVMGeneralDynamicTLSModel);
            if shared {
                sys::mfb_share(global);
            }
            Value(global, PhantomData)
        }
    }
}

/// A function of the runtime with its type.
#[derive(Clone, Copy)]
pub struct Callee<'m> {
    pub(crate) function: LLVMValueRef,
    pub(crate) ty: LLVMTypeRef,
    pub(crate) convention: u32,
    lifetime: PhantomData<&'m ()>,
}

fn function_type(result: Type<'_>, params: &[Type<'_>]) -> LLVMTypeRef {
    let mut raw: Vec<LLVMTypeRef> = params.iter().map(|t| t.0).collect();
    // SAFETY: the types are of one context; llvm-c copies the list.
    unsafe { LLVMFunctionType(result.0, raw.as_mut_ptr(), raw.len() as u32, 0) }
}

/// # Safety
/// `module` and `function` are live.
pub(crate) unsafe fn add_function_attribute(
    module: LLVMModuleRef,
    function: LLVMValueRef,
    name: &str,
) {
    // SAFETY: the caller's contract; the name is passed with its length.
    unsafe {
        let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
        let attribute = LLVMCreateEnumAttribute(LLVMGetModuleContext(module), kind, 0);
        LLVMAddAttributeAtIndex(function, sys::LLVMAttributeFunctionIndex, attribute);
    }
}

fn wrap<T>(pointer: *mut T) -> Option<*mut T> {
    (!pointer.is_null()).then_some(pointer)
}

fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "?")).unwrap_or_default()
}

impl<'m> Type<'m> {
    pub(crate) fn from_raw(raw: LLVMTypeRef) -> Self {
        Type(raw, PhantomData)
    }

    /// The constant of this integer type.
    pub fn constant(self, value: u64) -> Value<'m> {
        // SAFETY: the type is a live integer type; llvm-c truncates the value to it.
        Value(unsafe { LLVMConstInt(self.0, value, 0) }, PhantomData)
    }

    /// The null or zero value of this type.
    pub fn null(self) -> Value<'m> {
        // SAFETY: the type is live.
        Value(unsafe { LLVMConstNull(self.0) }, PhantomData)
    }

    /// `poison` of this type.
    pub fn poison(self) -> Value<'m> {
        // SAFETY: the type is live.
        Value(unsafe { LLVMGetPoison(self.0) }, PhantomData)
    }
}

impl<'m> Value<'m> {
    pub(crate) fn from_raw(raw: LLVMValueRef) -> Self {
        Value(raw, PhantomData)
    }
}

impl<'m> Function<'m> {
    pub(crate) fn from_live(raw: LLVMValueRef) -> Self {
        Function(raw, PhantomData)
    }

    /// The function's name.
    pub fn name(self) -> String {
        let mut length = 0;
        // SAFETY: the function is live and owns its name.
        let text = unsafe { LLVMGetValueName2(self.0, &mut length) };
        string_of(text, length)
    }

    /// True if it has a body.
    pub fn is_definition(self) -> bool {
        // SAFETY: the function is live.
        unsafe { LLVMCountBasicBlocks(self.0) != 0 }
    }

    /// Its blocks, the entry first.
    pub fn blocks(self) -> impl Iterator<Item = Block<'m>> {
        // SAFETY: the function is live; the list is walked with llvm-c's own iterators.
        let first = unsafe { LLVMGetFirstBasicBlock(self.0) };
        std::iter::successors(wrap(first), |b: &LLVMBasicBlockRef| {
            // SAFETY: as above.
            wrap(unsafe { LLVMGetNextBasicBlock(*b) })
        })
        .map(|b| Block(b, PhantomData))
    }

    /// What is known of it beside its body.
    pub fn facts(self) -> FunctionFacts {
        // SAFETY: the function is live.
        let (bits, resolver) =
            unsafe { (sys::mfb_function_facts(self.0), sys::mfb_is_ifunc_resolver(self.0)) };
        let has = |bit: u32| bits & (1 << bit) != 0;
        FunctionFacts {
            available_externally: has(0),
            naked: has(1),
            no_profile: has(2),
            presplit_coroutine: has(3),
            funclet_personality: has(4),
            local: has(5),
            comdat: has(6),
            ifunc_resolver: resolver,
        }
    }

    /// A message if the verifier finds the function broken.
    pub fn verify(self) -> Option<String> {
        // SAFETY: the function is live; a non-null result is a C string that we own.
        unsafe {
            let text = wrap(sys::mfb_verify_function(self.0))?;
            let message = CStr::from_ptr(text).to_string_lossy().into_owned();
            LLVMDisposeMessage(text);
            Some(message)
        }
    }

    /// Reports that something was not done to this function, as `-Rpass-missed=PASS` shows it.
    pub fn remark_missed(self, pass: &str, name: &str, message: &str) {
        remark_missed(self.0, pass, name, message);
    }

    /// Whether its code is for x86-64 and ELF, reaches the module's variables by displacements of
    /// 32 bits, and has no vector registers of AVX.
    pub fn has_plain_x86_64_code(self) -> bool {
        // SAFETY: the function is live.
        unsafe { sys::mfb_has_plain_x86_64_code(self.0) }
    }

    /// True if [`Function::mark`] put this mark on it.
    pub fn is_marked(self, mark: &str) -> bool {
        // SAFETY: the function is live; the name is passed with its length.
        unsafe {
            let (text, length) = (mark.as_ptr().cast(), mark.len() as u32);
            let at = sys::LLVMAttributeFunctionIndex;
            !LLVMGetStringAttributeAtIndex(self.0, at, text, length).is_null()
        }
    }

    /// Puts a string attribute on it.
    pub fn mark(self, mark: &str) {
        // SAFETY: the function is live; the attribute is of its context; texts are copied.
        unsafe {
            let context = LLVMGetModuleContext(LLVMGetGlobalParent(self.0));
            let (text, length) = (mark.as_ptr().cast(), mark.len() as u32);
            let attribute = LLVMCreateStringAttribute(context, text, length, text, 0);
            LLVMAddAttributeAtIndex(self.0, sys::LLVMAttributeFunctionIndex, attribute);
        }
    }

    /// Removes from the function and its calls what says that it has no effects.
    pub fn drop_purity(self) {
        // SAFETY: the function is live.
        unsafe { sys::mfb_drop_purity(self.0) }
    }

    /// Makes all that uses it use an external function of another name and the same type.
    pub fn replace_with_declaration(self, name: &str) {
        let name = c_string(name);
        // SAFETY: the function is live; a new function of its type is used like it.
        unsafe {
            let module = LLVMGetGlobalParent(self.0);
            let mut other = LLVMGetNamedFunction(module, name.as_ptr());
            if other.is_null() {
                other = LLVMAddFunction(module, name.as_ptr(), LLVMGlobalGetValueType(self.0));
            }
            LLVMReplaceAllUsesWith(self.0, other);
        }
    }

    /// Splits the entry block behind its static allocas; returns the block with the rest.
    pub fn split_entry(self) -> Block<'m> {
        // SAFETY: the function is live and has a body.
        Block(unsafe { sys::mfb_split_entry(self.0) }, PhantomData)
    }

    /// Adds an empty block in front of another.
    pub fn add_block_before(self, name: &str, next: Block<'m>) -> Block<'m> {
        let c_name = c_string(name);
        // SAFETY: both are live and of one context.
        let raw = unsafe {
            LLVMInsertBasicBlockInContext(
                LLVMGetModuleContext(LLVMGetGlobalParent(self.0)),
                next.0,
                c_name.as_ptr(),
            )
        };
        Block(raw, PhantomData)
    }
}

impl<'m> Block<'m> {
    pub(crate) fn from_raw(raw: LLVMBasicBlockRef) -> Self {
        Block(raw, PhantomData)
    }

    /// Its instructions, in order.
    pub fn instructions(self) -> impl Iterator<Item = Inst<'m>> {
        // SAFETY: the block is live; the list is walked with llvm-c's own iterators.
        let first = unsafe { LLVMGetFirstInstruction(self.0) };
        // SAFETY: as above.
        std::iter::successors(wrap(first), |i: &LLVMValueRef| {
            // SAFETY: as above.
            wrap(unsafe { LLVMGetNextInstruction(*i) })
        })
        .map(|i| Inst(i, PhantomData))
    }

    /// Its terminator; every block of a valid function has one.
    pub fn terminator(self) -> Inst<'m> {
        // SAFETY: the block is live.
        Inst(unsafe { LLVMGetBasicBlockTerminator(self.0) }, PhantomData)
    }

    /// The targets of its terminator, parallel edges repeated.
    pub fn successors(self) -> Vec<Block<'m>> {
        let terminator = self.terminator().0;
        // SAFETY: the terminator is live, and the indices are below its number of successors.
        unsafe {
            let count = LLVMGetNumSuccessors(terminator);
            (0..count).map(|i| Block(LLVMGetSuccessor(terminator, i), PhantomData)).collect()
        }
    }

    /// The first instruction before which code may be inserted.
    pub fn insertion_point(self) -> Inst<'m> {
        self.instructions()
            .find(|i| !matches!(i.opcode(), Opcode::Phi | Opcode::LandingPad))
            .unwrap_or_else(|| self.terminator())
    }

    /// Splits the edge to `target`, parallel edges included. None where it cannot be split.
    pub fn split_edge(self, target: Block<'m>) -> Option<Block<'m>> {
        // SAFETY: both blocks are live.
        wrap(unsafe { sys::mfb_split_edge(self.0, target.0) }).map(|b| Block(b, PhantomData))
    }
}

impl<'m> Inst<'m> {
    pub(crate) fn from_live(raw: LLVMValueRef) -> Self {
        Inst(raw, PhantomData)
    }

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
            LLVMOpcode::LLVMCleanupRet
            | LLVMOpcode::LLVMCatchRet
            | LLVMOpcode::LLVMCatchPad
            | LLVMOpcode::LLVMCleanupPad
            | LLVMOpcode::LLVMCatchSwitch => Opcode::Funclet,
            _ => Opcode::Other,
        }
    }

    /// What is known of it as a call; all false if it is none.
    pub fn call_facts(self) -> CallFacts {
        // SAFETY: the instruction is live.
        let bits = unsafe { sys::mfb_call_facts(self.0) };
        let has = |bit: u32| bits & (1 << bit) != 0;
        CallFacts {
            no_return: has(0),
            returns_twice: has(1),
            must_tail: has(2) || has(3),
            marker: has(4),
            controls_convergence: has(5),
        }
    }

    /// Whether it goes on to what follows in any case and at once: it neither throws, nor ends the
    /// program, nor is it an access that other threads see.
    pub fn stays(self) -> bool {
        // SAFETY: the instruction is live.
        unsafe { sys::mfb_stays(self.0) }
    }

    /// Reports that something was not done at this place, as `-Rpass-missed=PASS` shows it.
    pub fn remark_missed(self, pass: &str, name: &str, message: &str) {
        remark_missed(self.0, pass, name, message);
    }

    /// The instruction after it, if it is not a terminator.
    pub fn next(self) -> Option<Inst<'m>> {
        // SAFETY: the instruction is live.
        wrap(unsafe { LLVMGetNextInstruction(self.0) }).map(|i| Inst(i, PhantomData))
    }

    /// The block that it is in.
    pub fn block(self) -> Block<'m> {
        // SAFETY: the instruction is live and in a block.
        Block(unsafe { LLVMGetInstructionParent(self.0) }, PhantomData)
    }

    /// Makes all that uses its result use `value` instead.
    pub fn replace_uses(self, value: Value<'m>) {
        // SAFETY: both are live and of one type.
        unsafe { LLVMReplaceAllUsesWith(self.0, value.0) }
    }

    /// Makes it, a call, one of the function at an address, which returns in any case and does not
    /// throw.
    pub fn set_callee(self, address: Value<'m>) {
        // SAFETY: the call is live; its callee is its last operand.
        unsafe {
            LLVMSetOperand(self.0, LLVMGetNumOperands(self.0) as u32 - 1, address.0);
            let context = LLVMGetTypeContext(LLVMTypeOf(self.0));
            for name in RETURNS {
                let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
                let attribute = LLVMCreateEnumAttribute(context, kind, 0);
                LLVMAddCallSiteAttribute(self.0, sys::LLVMAttributeFunctionIndex, attribute);
            }
        }
    }

    /// Makes `value` its operand with that number.
    pub fn set_operand(self, number: u32, value: Value<'m>) {
        // SAFETY: the instruction is live, and the value is of the operand's type.
        unsafe { LLVMSetOperand(self.0, number, value.0) }
    }

    /// Splits its block behind it; returns the block with the rest.
    pub fn split_after(self) -> Block<'m> {
        // SAFETY: the instruction is live and not a terminator.
        Block(unsafe { sys::mfb_split_after(self.0) }, PhantomData)
    }
}

fn remark_missed(place: LLVMValueRef, pass: &str, name: &str, message: &str) {
    let (pass, name) = (c_string(pass), c_string(name));
    // SAFETY: the place is a live function with a body, or an instruction; the texts are copied
    // before the return.
    unsafe {
        let (text, length) = (message.as_ptr().cast(), message.len());
        sys::mfb_remark_missed(place, pass.as_ptr(), name.as_ptr(), text, length);
    }
}

/// Writes to standard output, in order with what the host prints.
pub fn print(text: &str) {
    // SAFETY: the text is copied before the call returns.
    unsafe { sys::mfb_print(text.as_ptr().cast(), text.len()) }
}
