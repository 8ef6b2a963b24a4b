//! Modules.

use super::{Function, Module, RETURNS, Type, Value, c_string, copied, listed, wrap};
use crate::pass::Analyses;
use crate::sys;
use crate::sys::core::*;
use crate::sys::prelude::LLVMContextRef;
use crate::sys::target::*;
use std::ffi::CStr;

/// The number of the calling convention `ccc`.
const C: u32 = 0;

/// The number of the calling convention `preserve_mostcc`.
const PRESERVE_MOST: u32 = 14;

/// A function of the runtime with its type.
#[derive(Clone, Copy)]
pub struct Callee<'m> {
    pub(crate) address: Value<'m>,
    pub(crate) ty: Type<'m>,
    pub(crate) convention: u32,
}

impl<'m> Module<'m> {
    pub(crate) fn context(self) -> LLVMContextRef {
        // SAFETY: the module is live, and its context outlives it.
        unsafe { LLVMGetModuleContext(self.0) }
    }

    /// All functions, in order.
    pub fn functions(self) -> impl Iterator<Item = Function<'m>> {
        // SAFETY: the module is live; the list is walked with llvm-c's own iterators.
        let functions = unsafe { listed(LLVMGetFirstFunction(self.0), LLVMGetNextFunction) };
        functions.map(Function::from_raw)
    }

    /// The function of a name, declared or defined.
    pub fn function(self, name: &str) -> Option<Function<'m>> {
        let name = c_string(name);
        // SAFETY: the module is live.
        wrap(unsafe { LLVMGetNamedFunction(self.0, name.as_ptr()) }).map(Function::from_raw)
    }

    /// An external function of a type, without a body.
    pub fn define(self, name: &str, ty: Type<'m>) -> Function<'m> {
        let name = c_string(name);
        // SAFETY: the module is live; the type is a function type of its context.
        Function::from_raw(unsafe { LLVMAddFunction(self.0, name.as_ptr(), ty.0) })
    }

    /// The name of the source file that the module was made from.
    pub fn source_file(self) -> String {
        let mut length = 0;
        // SAFETY: the module is live, and owns the string.
        unsafe { copied(LLVMGetSourceFileName(self.0, &mut length), length) }
    }

    /// The target triple.
    pub fn target(self) -> String {
        // SAFETY: the module is live and owns the string.
        unsafe { CStr::from_ptr(LLVMGetTarget(self.0)).to_string_lossy().into_owned() }
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

    /// True where C's pointers have `bits` bits.
    pub fn pointers_have(self, bits: u32) -> bool {
        // SAFETY: the module is live and owns its data layout.
        unsafe { LLVMPointerSize(LLVMGetModuleDataLayout(self.0)) * 8 == bits }
    }

    /// The format of its target's object files, by LLVM's name: `elf`, `macho`, `coff` and so on.
    pub fn object_format(self) -> &'static str {
        // SAFETY: the module is live; LLVM's names are ASCII literals.
        unsafe { CStr::from_ptr(sys::mfb_object_format(self.0)) }.to_str().expect("ASCII")
    }

    /// Size of a type in bits, and its size in memory in bytes. The type is not scalable.
    pub fn size_of(self, ty: Type<'m>) -> (u64, u64) {
        // SAFETY: the module is live and owns its data layout; the type is sized.
        unsafe {
            let layout = LLVMGetModuleDataLayout(self.0);
            (LLVMSizeOfTypeInBits(layout, ty.0), LLVMABISizeOfType(layout, ty.0))
        }
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
        Type::from_raw(unsafe { LLVMPointerTypeInContext(self.context(), 0) })
    }

    /// The integer type of `bits` bits.
    pub fn int_type(self, bits: u32) -> Type<'m> {
        // SAFETY: the module's context is live.
        Type::from_raw(unsafe { LLVMIntTypeInContext(self.context(), bits) })
    }

    /// The `double` type.
    pub fn double_type(self) -> Type<'m> {
        // SAFETY: the module's context is live.
        Type::from_raw(unsafe { LLVMDoubleTypeInContext(self.context()) })
    }

    /// `void`
    pub fn void_type(self) -> Type<'m> {
        // SAFETY: the module's context is live.
        Type::from_raw(unsafe { LLVMVoidTypeInContext(self.context()) })
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
        Callee { address, ty: result.function(params), convention }
    }

    /// The declaration of a function that the program's author provides: it returns nothing.
    pub fn host_function(self, name: &str, parameters: &[Type<'m>]) -> Callee<'m> {
        self.declared_function(name, self.void_type(), parameters, &[])
    }

    /// The declaration of an intrinsic without arguments.
    pub(crate) fn intrinsic(self, name: &str, result: Type<'m>) -> Callee<'m> {
        self.declared_function(name, result, &[], &[])
    }

    /// The declaration of a function; one that is there already is returned as it is.
    fn declared_function(
        self,
        name: &str,
        result: Type<'m>,
        params: &[Type<'m>],
        attributes: &[&str],
    ) -> Callee<'m> {
        let ty = result.function(params);
        let function = self.function(name).unwrap_or_else(|| {
            let function = self.define(name, ty);
            attributes.iter().for_each(|attribute| function.add_attribute(attribute));
            function
        });
        Callee { address: function.value(), ty, convention: C }
    }

    /// Adds assembly to the module.
    pub fn append_assembly(self, text: &str) {
        // SAFETY: the module is live; the text is passed with its length, and copied.
        unsafe { LLVMAppendModuleInlineAsm(self.0, text.as_ptr().cast(), text.len()) }
    }

    /// Gives it the summary of a whole program's profile: for each function the count of entries,
    /// and those of the other blocks.
    pub fn set_profile_summary<'c>(
        self,
        analyses: &Analyses<'_>,
        functions: impl Iterator<Item = (u64, &'c [u64])>,
    ) {
        let (mut counts, mut lengths) = (Vec::new(), Vec::new());
        for (entries, others) in functions {
            counts.push(entries);
            counts.extend(others);
            lengths.push(others.len() + 1);
        }
        // SAFETY: the module is live, and the manager the host's; the counts, as many as the
        // lengths say, are only read.
        unsafe {
            sys::mfb_set_profile_summary(
                self.0,
                analyses.modules,
                counts.as_ptr(),
                lengths.as_ptr(),
                lengths.len(),
            );
        }
    }
}

shim! { Module {
    /// Whether its code is for a shared library, where finding a thread-local variable takes a
    /// call.
    is_for_library = mfb_is_for_library -> bool;
    /// Whether the linker optimizes it once more, with others.
    is_for_lto = mfb_is_for_lto -> bool;
} }
