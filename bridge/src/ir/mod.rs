//! Handles to modules, functions, blocks and values of the host, with what they can be asked and
//! what can be done to them.
//!
//! They are plain copies of llvm-c's references with the lifetime of the pass that runs.

pub use crate::sys::prelude::{
    LLVMBasicBlockRef as BlockRef, LLVMBuilderRef as BuilderRef, LLVMModuleRef as ModuleRef,
    LLVMTypeRef as TypeRef, LLVMValueRef as ValueRef,
};
pub use function::BlockText;
pub use inst::{Comparison, Opcode, pin};
pub use module::Callee;
pub use types::TypeKind;
pub use value::Home;

use crate::sys;
use crate::sys::core::*;
use crate::sys::prelude::{LLVMAttributeRef, LLVMContextRef};
use std::ffi::{CStr, CString, c_char, c_void};
use std::marker::PhantomData;

/// Methods that hand the handle to a function of the shim, and are nothing else.
macro_rules! shim {
    ($of:ident { $($(#[$doc:meta])* $name:ident = $shim:ident $(-> $result:ty)?;)* }) => {
        impl $of<'_> {
            $($(#[$doc])* pub fn $name(self) $(-> $result)? {
                // SAFETY: the handle is live, and such as the documentation asks for.
                unsafe { sys::$shim(self.0) }
            })*
        }
    };
}

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident($raw:ident);)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, Hash)]
        #[repr(transparent)]
        pub struct $name<'m>(pub(crate) $raw, PhantomData<&'m ()>);

        impl $name<'_> {
            /// One of a module of one's own, for users of llvm-c and of crates over it. With
            /// inkwell: `Function::from_llvm(function.as_value_ref())`.
            ///
            /// # Safety
            /// `raw` is such a one, of the LLVM that this crate was built for, and for a value it
            /// may be null. Its module outlives `'m`, and no other thread uses its context in that
            /// time.
            pub unsafe fn from_llvm(raw: $raw) -> Self {
                Self::from_raw(raw)
            }

            /// The reference for llvm-c and crates over it.
            pub fn as_llvm(self) -> $raw {
                self.0
            }

            pub(crate) fn from_raw(raw: $raw) -> Self {
                $name(raw, PhantomData)
            }

            /// The references, for functions that take an array of them, and change nothing in it.
            #[allow(dead_code)]
            pub(crate) fn list(handles: &[Self]) -> *mut $raw {
                handles.as_ptr().cast_mut().cast()
            }
        }
    )*};
}

handles! {
    /// A module of the host.
    Module(ModuleRef);
    /// Any value: a constant, an argument, an instruction.
    Value(ValueRef);
    /// A type.
    Type(TypeRef);
    /// A function, defined or declared.
    Function(ValueRef);
    /// A basic block.
    Block(BlockRef);
    /// An instruction.
    Inst(ValueRef);
}

mod block;
mod function;
mod globals;
mod inst;
mod module;
mod types;
mod value;

/// Attributes of what returns in any case, and does not throw.
const RETURNS: [&str; 2] = ["nounwind", "willreturn"];

/// None for null.
pub(crate) fn wrap<T>(pointer: *mut T) -> Option<*mut T> {
    (!pointer.is_null()).then_some(pointer)
}

pub(crate) fn c_string(text: &str) -> CString {
    CString::new(text.replace('\0', "?")).expect("no zero is left")
}

/// # Safety
/// `text` is null, or points to `length` bytes.
pub(crate) unsafe fn copied(text: *const c_char, length: usize) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the caller's contract.
    let bytes = unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) };
    String::from_utf8_lossy(bytes).into_owned()
}

/// # Safety
/// `text` is null, or a text that llvm-c made and that the caller owns.
pub(crate) unsafe fn taken(text: *mut c_char) -> Option<String> {
    let text = wrap(text)?;
    // SAFETY: the caller's contract; it is not used again.
    unsafe {
        let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
        LLVMDisposeMessage(text);
        Some(copy)
    }
}

/// # Safety
/// `value` is a live function or variable.
unsafe fn name_of(value: ValueRef) -> String {
    let mut length = 0;
    // SAFETY: the caller's contract; it owns its name.
    unsafe { copied(LLVMGetValueName2(value, &mut length), length) }
}

/// # Safety
/// The context is live.
unsafe fn enum_attribute(context: LLVMContextRef, name: &str) -> LLVMAttributeRef {
    // SAFETY: the caller's contract; the name is passed with its length.
    unsafe {
        let kind = LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len());
        LLVMCreateEnumAttribute(context, kind, 0)
    }
}

/// # Safety
/// `next` walks a list of llvm-c's of which `first` is an element, or null.
unsafe fn listed<T>(
    first: *mut T,
    next: unsafe extern "C" fn(*mut T) -> *mut T,
) -> impl Iterator<Item = *mut T> {
    // SAFETY: the caller's contract.
    std::iter::successors(wrap(first), move |&element| wrap(unsafe { next(element) }))
}

/// Adds to a list what a function of the shim calls back with.
///
/// # Safety
/// `to` is a `Vec<String>`, and `text` points to `length` bytes.
pub(crate) unsafe extern "C" fn push_text(to: *mut c_void, text: *const c_char, length: usize) {
    // SAFETY: the caller's contract.
    unsafe { (*to.cast::<Vec<String>>()).push(copied(text, length)) }
}

fn remark_missed(place: ValueRef, pass: &str, name: &str, message: &str) {
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
