//! A function's IR in a module of its own, as bytes that a program carries, and back.
//!
//! [`Function::slice`] makes the bytes, and tells what the *links* are: all that the function
//! refers to stays in the program, and is declared in the slice as [`LINK_PREFIX`] and its number.
//! [`Owned::read`] gives a module again, in a context of its own.

use crate::ir::{Function, Module, Value, c_string, copied, push_text, taken, wrap};
use crate::sys;
use crate::sys::core::*;
use crate::sys::prelude::{LLVMContextRef, LLVMModuleRef, LLVMValueRef};
use std::ffi::{c_char, c_void};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;

/// The name of the function in its slice.
pub const FUNCTION: &str = "midflight.base";

/// What names of links begin with.
pub const LINK_PREFIX: &str = "midflight.link.";

/// What names of functions begin with that return the address of a thread-local variable.
pub const ACCESSOR_PREFIX: &str = "midflight.tls.";

macro_rules! refusals {
    ($($(#[$doc:meta])* $name:ident = $number:literal, $text:literal;)*) => {
        /// Why the IR of a function cannot be carried.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum SliceRefusal {
            $($(#[$doc])* $name = $number,)*
        }

        impl SliceRefusal {
            /// All of them.
            pub const ALL: &'static [SliceRefusal] = &[$(SliceRefusal::$name,)*];

            /// What it is called in reports.
            pub fn name(self) -> &'static str {
                match self {
                    $(SliceRefusal::$name => stringify!($name),)*
                }
            }
        }

        impl std::fmt::Display for SliceRefusal {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(match self {
                    $(SliceRefusal::$name => $text,)*
                })
            }
        }
    };
}

// The numbers are those of `Refusal` in slice.cpp.
refusals! {
    /// It is only declared.
    NoBody = 1, "it has no body";
    /// Code that a copy would go on in is the function's own.
    BlockAddress = 2, "it uses the address of a block";
    /// Only calls of `llvm.threadlocal.address` can be replaced by those of an accessor.
    ThreadLocal = 3, "it uses a thread-local variable otherwise than by llvm.threadlocal.address";
    /// Its thread may change, and with it the address of a thread-local variable.
    Coroutine = 4, "it is a coroutine that was not split";
    /// It has no frame.
    Naked = 5, "it is naked";
    /// A copy would do it again.
    Assembly = 6, "it has inline assembly that defines symbols or changes sections";
    /// `dso_local_equivalent`, `no_cfi` or a signed pointer
    SpecialAddress = 7, "it uses an address that is not just that of a symbol";
    /// The linker may drop it, and then nothing outside the comdat may name it.
    LocalOfComdat = 8, "it uses a local symbol that is part of a comdat";
    /// It may be what another link is, or not.
    InterposableAlias = 9, "it uses an alias of a variable that another definition may replace";
    /// The program may have no others of them.
    Copies = 10, "it calls too many functions that are copies for inlining only";
}

/// The IR of a function.
pub struct Slice<'m> {
    /// Compressed bitcode behind its head
    pub bytes: Vec<u8>,
    /// What the links stand for, by their numbers: functions, variables, aliases and ifuncs of the
    /// function's module
    pub links: Vec<Value<'m>>,
    /// Instructions of all definitions in it
    pub instructions: usize,
}

/// Takes bytes.
///
/// # Safety
/// `to` is a `Slice`, and `bytes` points to `length` of them.
unsafe extern "C" fn take_bytes(to: *mut c_void, bytes: *const c_char, length: usize) {
    // SAFETY: the caller's contract.
    unsafe {
        let bytes = std::slice::from_raw_parts(bytes.cast::<u8>(), length);
        (*to.cast::<Slice<'_>>()).bytes.extend_from_slice(bytes);
    }
}

/// Takes a link.
///
/// # Safety
/// `to` is a `Slice`, and the value is live.
unsafe extern "C" fn take_link(to: *mut c_void, value: LLVMValueRef) {
    // SAFETY: the caller's contract.
    unsafe { (*to.cast::<Slice<'_>>()).links.push(Value::from_raw(value)) }
}

/// Takes one text.
///
/// # Safety
/// `to` is a `String`, and `text` points to `length` bytes.
unsafe extern "C" fn take_text(to: *mut c_void, text: *const c_char, length: usize) {
    // SAFETY: the caller's contract.
    unsafe { *to.cast::<String>() = copied(text, length) }
}

impl<'m> Function<'m> {
    /// Why its IR cannot be carried, if it cannot.
    pub fn slice_refusal(self) -> Option<SliceRefusal> {
        // SAFETY: the function is live.
        let number = unsafe { sys::mfb_slice_refusal(self.0) };
        SliceRefusal::ALL.iter().copied().find(|&refusal| refusal as u32 == number)
    }

    /// Makes its slice. The module gets an internal function for each thread-local variable that
    /// comes along ([`ACCESSOR_PREFIX`]), and is otherwise not changed. Blocks and instructions of
    /// the function in its slice are in the same order, but for intrinsics of debug information.
    ///
    /// # Errors
    /// The text of what [`Self::slice_refusal`] says, or, which is an internal error, of LLVM's
    /// verifier.
    pub fn slice(self) -> Result<Slice<'m>, String> {
        if let Some(refusal) = self.slice_refusal() {
            return Err(refusal.to_string());
        }
        let (name, prefix) = (c_string(FUNCTION), c_string(LINK_PREFIX));
        let mut slice = Slice { bytes: Vec::new(), links: Vec::new(), instructions: 0 };
        let mut instructions = 0;
        // SAFETY: the function is live, has a body and is not refused; the callbacks get the slice
        // that they expect.
        let broken = unsafe {
            taken(sys::mfb_slice(
                self.0,
                name.as_ptr(),
                prefix.as_ptr(),
                (&raw mut slice).cast(),
                take_bytes,
                take_link,
                &mut instructions,
            ))
        };
        slice.instructions = instructions;
        broken.map_or(Ok(slice), Err)
    }
}

/// Reads a slice into a context.
///
/// # Safety
/// The context is live, and no other thread uses it.
unsafe fn read(bytes: &[u8], context: LLVMContextRef) -> Result<LLVMModuleRef, String> {
    let mut error = String::new();
    let (start, length, to) = (bytes.as_ptr(), bytes.len(), (&raw mut error).cast());
    // SAFETY: the caller's contract; the bytes have the length that is passed; the callback gets
    // the text that it expects.
    wrap(unsafe { sys::mfb_read_slice(start, length, context, to, take_text) }).ok_or(error)
}

/// A module in a context of its own.
pub struct Owned {
    context: LLVMContextRef,
    module: LLVMModuleRef,
}

/// A module in the context of another one.
pub struct OwnedModule<'c> {
    module: LLVMModuleRef,
    context: PhantomData<&'c Owned>,
}

impl Owned {
    /// Reads a slice.
    ///
    /// # Errors
    /// What is wrong with the bytes, or with the bitcode that is in them.
    pub fn read(bytes: &[u8]) -> Result<Owned, String> {
        // SAFETY: the context is new, and disposed of once: here, or by the owner.
        unsafe {
            let context = LLVMContextCreate();
            match read(bytes, context) {
                Ok(module) => Ok(Owned { context, module }),
                Err(error) => {
                    LLVMContextDispose(context);
                    Err(error)
                }
            }
        }
    }

    /// Reads another slice into the same context, for [`Module::link`].
    ///
    /// # Errors
    /// As [`Self::read`].
    pub fn read_more(&self, bytes: &[u8]) -> Result<OwnedModule<'_>, String> {
        // SAFETY: the context is this one's, which is not shared between threads.
        let module = unsafe { read(bytes, self.context) }?;
        Ok(OwnedModule { module, context: PhantomData })
    }

    /// The module.
    pub fn module(&self) -> Module<'_> {
        Module::from_raw(self.module)
    }

    /// Gives both away, to a JIT for instance: the caller disposes of them, of the module first.
    pub fn into_llvm(self) -> (LLVMContextRef, LLVMModuleRef) {
        let this = ManuallyDrop::new(self);
        (this.context, this.module)
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        // SAFETY: both are this one's, and the module is in the context.
        unsafe {
            LLVMDisposeModule(self.module);
            LLVMContextDispose(self.context);
        }
    }
}

impl<'c> OwnedModule<'c> {
    /// The module.
    pub fn module(&self) -> Module<'c> {
        Module::from_raw(self.module)
    }
}

impl Drop for OwnedModule<'_> {
    fn drop(&mut self) {
        // SAFETY: it is this one's; its context outlives it.
        unsafe { LLVMDisposeModule(self.module) }
    }
}

impl<'m> Module<'m> {
    /// A message if the verifier finds the module broken.
    pub fn verify(self) -> Option<String> {
        // SAFETY: the module is live; the message is made for the caller.
        unsafe { taken(sys::mfb_verify_module(self.0)) }
    }

    /// Moves all that is in another module of the same context into this one; declarations of one
    /// name are one, and take the definition that there is.
    ///
    /// # Errors
    /// LLVM's message if both cannot be in one module; this one is then not to be used.
    pub fn link(self, other: OwnedModule<'m>) -> Result<(), String> {
        if self.context() != other.module().context() {
            return Err("modules of two contexts cannot be linked".to_string());
        }
        let other = ManuallyDrop::new(other);
        // SAFETY: both are live and of one context; the other one is not used again.
        unsafe { taken(sys::mfb_link(self.0, other.module)) }.map_or(Ok(()), Err)
    }

    /// Gives links of a slice that LLVM knows by name (functions of libc, personalities) those
    /// names, where they are free: so that calls of them are folded, and exceptions are those of
    /// the language. Returns their names before and after.
    pub fn restore_names(self) -> Vec<(String, String)> {
        let mut names: Vec<String> = Vec::new();
        // SAFETY: the module is live; the callback gets the vector it expects.
        unsafe { sys::mfb_restore_names(self.0, (&raw mut names).cast(), push_text) };
        names.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).collect()
    }
}
