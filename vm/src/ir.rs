//! Modules of the one context that there is: read, linked, copied, printed, optimized.

use crate::sys::core::*;
#[allow(deprecated, reason = "LLVM 19 has no other")]
use crate::sys::ir_reader::LLVMParseIRInContext;
use crate::sys::linker::LLVMLinkModules2;
use crate::sys::prelude::*;
use crate::sys::{LLVMDiagnosticSeverity, LLVMLinkage};
use midflight_bridge::ir::{Function, Module};
use midflight_orc::{Machine, taken};
use std::cell::RefCell;
use std::ffi::{CStr, CString, c_void};
use std::ptr::null_mut;

thread_local! {
    /// Errors of LLVM's since they were last taken.
    static ERRORS: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
}

/// LLVM's context, which stays until the process ends.
#[derive(Clone, Copy)]
pub struct Context(LLVMContextRef);

/// A module of the context.
pub struct Ir(LLVMModuleRef);

impl Drop for Ir {
    fn drop(&mut self) {
        // SAFETY: it is this one's, and handles to what is in it do not outlive it.
        unsafe { LLVMDisposeModule(self.0) }
    }
}

/// Keeps errors, and drops what is not one.
extern "C" fn note(info: LLVMDiagnosticInfoRef, _: *mut c_void) {
    // SAFETY: LLVM gives a live diagnostic; the text is made for the caller.
    unsafe {
        if matches!(LLVMGetDiagInfoSeverity(info), LLVMDiagnosticSeverity::LLVMDSError) {
            let text = taken(LLVMGetDiagInfoDescription(info));
            ERRORS.with_borrow_mut(|errors| errors.push(text));
        }
    }
}

/// The first error that LLVM has reported since this was last asked, if there is one.
pub fn first_error() -> Option<String> {
    ERRORS.take().into_iter().next()
}

impl Context {
    /// Makes the context.
    pub fn new() -> Context {
        // SAFETY: the context is new; the handler needs nothing.
        unsafe {
            let context = LLVMContextCreate();
            LLVMContextSetDiagnosticHandler(context, Some(note), null_mut());
            LLVMContextSetDiscardValueNames(context, 0);
            Context(context)
        }
    }

    /// Reads bitcode or the text of IR.
    ///
    /// # Errors
    /// LLVM's message.
    #[allow(deprecated, reason = "LLVM 19 has no other")]
    pub fn parse(self, bytes: &[u8], name: &str) -> Result<Ir, String> {
        let name = CString::new(name.replace('\0', "?")).unwrap_or_default();
        // SAFETY: the bytes are copied; the buffer is LLVM's to dispose of.
        unsafe {
            let (start, length) = (bytes.as_ptr().cast(), bytes.len());
            let buffer = LLVMCreateMemoryBufferWithMemoryRangeCopy(start, length, name.as_ptr());
            let (mut module, mut message) = (null_mut(), null_mut());
            if LLVMParseIRInContext(self.0, buffer, &mut module, &mut message) != 0 {
                return Err(taken(message));
            }
            Ok(Ir(module))
        }
    }

    /// An empty module.
    pub fn empty(self, name: &CStr) -> Ir {
        // SAFETY: the context is live.
        Ir(unsafe { LLVMModuleCreateWithNameInContext(name.as_ptr(), self.0) })
    }

    /// The reference.
    pub fn as_llvm(self) -> LLVMContextRef {
        self.0
    }
}

impl Ir {
    /// The handle.
    pub fn module(&self) -> Module<'_> {
        // SAFETY: the module lives as long as this, and there is one thread.
        unsafe { Module::from_llvm(self.0) }
    }

    /// A copy.
    pub fn copied(&self) -> Ir {
        // SAFETY: the module is live.
        Ir(unsafe { LLVMCloneModule(self.0) })
    }

    /// Adds all that is in another module. This one is not to be used if that fails.
    ///
    /// # Errors
    /// LLVM's message.
    pub fn link(&self, other: Ir) -> Result<(), String> {
        let other = std::mem::ManuallyDrop::new(other);
        first_error();
        // SAFETY: both are live, of one context; the other one is used up.
        match unsafe { LLVMLinkModules2(self.0, other.0) } {
            0 => Ok(()),
            _ => Err(first_error().unwrap_or_else(|| "LLVM gives no reason".to_string())),
        }
    }

    /// Says what it is for, if it does not say so itself.
    ///
    /// # Errors
    /// If it is for another machine.
    pub fn fit(&self, machine: &Machine) -> Result<(), String> {
        let (of_module, own) = (self.module().target(), machine.triple());
        if of_module.is_empty() {
            machine.describe(self.module());
            return Ok(());
        }
        let architecture = |triple: &str| triple.split('-').next().unwrap_or("").to_string();
        if architecture(&of_module) != architecture(&own) {
            return Err(format!("it is for {of_module}, and this machine is {own}"));
        }
        Ok(())
    }

    /// Runs a pipeline of LLVM's over the module.
    ///
    /// # Errors
    /// LLVM's message.
    pub fn optimize(&self, pipeline: &str, machine: &Machine) -> Result<(), String> {
        machine.optimize(self.module(), pipeline)
    }

    /// Lets functions be looked up that are local to it, and has those stay that nothing refers to,
    /// as far as their names are free elsewhere.
    pub fn export_functions(&self, is_free: impl Fn(&str) -> bool) {
        use LLVMLinkage::*;
        let functions = self.module().functions().filter(|function| function.is_definition());
        for function in functions.filter(|function| is_free(&function.name())) {
            // SAFETY: the function is live and has a body.
            unsafe {
                let linkage = match LLVMGetLinkage(function.as_llvm()) {
                    LLVMInternalLinkage | LLVMPrivateLinkage => LLVMExternalLinkage,
                    LLVMLinkOnceAnyLinkage => LLVMWeakAnyLinkage,
                    LLVMLinkOnceODRLinkage => LLVMWeakODRLinkage,
                    _ => continue,
                };
                LLVMSetLinkage(function.as_llvm(), linkage);
            }
        }
    }

    /// The reference.
    pub fn as_llvm(&self) -> LLVMModuleRef {
        self.0
    }
}

/// A function as the IR writer prints it.
pub fn text(function: Function<'_>) -> String {
    // SAFETY: the function is live; the text is made for the caller.
    unsafe { taken(LLVMPrintValueToString(function.as_llvm())) }
}

/// Its type, as the IR writer prints it.
pub fn signature(function: Function<'_>) -> String {
    // SAFETY: the function is live and has a function type; the text is made for the caller.
    unsafe { taken(LLVMPrintTypeToString(LLVMGlobalGetValueType(function.as_llvm()))) }
}
