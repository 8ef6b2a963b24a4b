//! This machine, as LLVM compiles for it.

use crate::sys::core::*;
use crate::sys::prelude::*;
use crate::sys::target::*;
use crate::sys::target_machine::*;
use crate::sys::transforms::pass_builder::*;
use crate::texts::{checked, taken};
use midflight_bridge::ir::Module;
use std::ffi::CString;
use std::ptr::null_mut;

/// What code is compiled by, with the features that functions bring along; it stays until the
/// process ends.
#[derive(Clone, Copy)]
pub struct Machine(LLVMTargetMachineRef);

// SAFETY: LLVM ties it to no thread; who has it uses it in one at a time.
unsafe impl Send for Machine {}
// SAFETY: as above.
unsafe impl Sync for Machine {}

/// A compiled module, as a file in memory.
pub struct Object(LLVMMemoryBufferRef);

impl Drop for Object {
    fn drop(&mut self) {
        // SAFETY: it is this one's.
        unsafe { LLVMDisposeMemoryBuffer(self.0) }
    }
}

impl Object {
    /// Its bytes.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the buffer is live and has as many bytes as it says.
        unsafe {
            let start = LLVMGetBufferStart(self.0).cast::<u8>();
            std::slice::from_raw_parts(start, LLVMGetBufferSize(self.0))
        }
    }

    /// The reference, which is the caller's to dispose of.
    pub(crate) fn into_llvm(self) -> LLVMMemoryBufferRef {
        std::mem::ManuallyDrop::new(self).0
    }
}

impl Machine {
    /// This machine. To be called once, before LLVM is used.
    ///
    /// # Errors
    /// LLVM's message, if it was built without this machine.
    pub fn new() -> Result<Machine, String> {
        // SAFETY: LLVM's own initialization.
        unsafe {
            #[cfg(target_arch = "x86_64")]
            {
                LLVMInitializeX86TargetInfo();
                LLVMInitializeX86Target();
                LLVMInitializeX86TargetMC();
                LLVMInitializeX86AsmPrinter();
                LLVMInitializeX86AsmParser();
            }
            #[cfg(target_arch = "aarch64")]
            {
                LLVMInitializeAArch64TargetInfo();
                LLVMInitializeAArch64Target();
                LLVMInitializeAArch64TargetMC();
                LLVMInitializeAArch64AsmPrinter();
                LLVMInitializeAArch64AsmParser();
            }
        }
        Self::another()
    }

    /// One more, which others may take over.
    pub(crate) fn another() -> Result<Machine, String> {
        // SAFETY: the texts live until they are disposed of, and LLVM copies them.
        unsafe {
            let triple = LLVMGetDefaultTargetTriple();
            let (mut target, mut message) = (null_mut(), null_mut());
            if LLVMGetTargetFromTriple(triple, &mut target, &mut message) != 0 {
                LLVMDisposeMessage(triple);
                return Err(taken(message));
            }
            let machine = LLVMCreateTargetMachine(
                target,
                triple,
                c"".as_ptr(),
                c"".as_ptr(),
                LLVMCodeGenOptLevel::LLVMCodeGenLevelDefault,
                LLVMRelocMode::LLVMRelocPIC,
                LLVMCodeModel::LLVMCodeModelSmall,
            );
            LLVMDisposeMessage(triple);
            if machine.is_null() {
                Err("LLVM has no such machine".to_string())
            } else {
                Ok(Machine(machine))
            }
        }
    }

    /// Its target triple.
    pub fn triple(&self) -> String {
        // SAFETY: the machine is live; the text is made for the caller.
        unsafe { taken(LLVMGetTargetMachineTriple(self.0)) }
    }

    /// Has a module say that it is for this machine.
    pub fn describe(&self, module: Module<'_>) {
        // SAFETY: both are live; LLVM copies what it is given.
        unsafe {
            let triple = LLVMGetTargetMachineTriple(self.0);
            LLVMSetTarget(module.as_llvm(), triple);
            LLVMDisposeMessage(triple);
            let layout = LLVMCreateTargetDataLayout(self.0);
            LLVMSetModuleDataLayout(module.as_llvm(), layout);
            LLVMDisposeTargetData(layout);
        }
    }

    /// Lets all functions of a module use what the processor has.
    pub fn use_host_features(&self, module: Module<'_>) {
        // SAFETY: the texts are LLVM's own until they are disposed of; the functions are live.
        unsafe {
            let (cpu, features) = (LLVMGetHostCPUName(), LLVMGetHostCPUFeatures());
            for function in module.functions().filter(|function| function.is_definition()) {
                let function = function.as_llvm();
                LLVMAddTargetDependentFunctionAttr(function, c"target-cpu".as_ptr(), cpu);
                LLVMAddTargetDependentFunctionAttr(function, c"target-features".as_ptr(), features);
            }
            LLVMDisposeMessage(cpu);
            LLVMDisposeMessage(features);
        }
    }

    /// Runs a pipeline of LLVM's over a module.
    ///
    /// # Errors
    /// LLVM's message.
    pub fn optimize(&self, module: Module<'_>, pipeline: &str) -> Result<(), String> {
        let pipeline = CString::new(pipeline).map_err(|error| error.to_string())?;
        // SAFETY: all are live; the options are disposed of once.
        unsafe {
            let options = LLVMCreatePassBuilderOptions();
            let result = LLVMRunPasses(module.as_llvm(), pipeline.as_ptr(), self.0, options);
            LLVMDisposePassBuilderOptions(options);
            checked(result)
        }
    }

    /// Compiles a module to an object file.
    ///
    /// # Errors
    /// LLVM's message.
    pub fn object(&self, module: Module<'_>) -> Result<Object, String> {
        self.emit(module, LLVMCodeGenFileType::LLVMObjectFile)
    }

    /// The same as assembly.
    ///
    /// # Errors
    /// LLVM's message.
    pub fn assembly(&self, module: Module<'_>) -> Result<String, String> {
        let text = self.emit(module, LLVMCodeGenFileType::LLVMAssemblyFile)?;
        Ok(String::from_utf8_lossy(text.bytes()).into_owned())
    }

    fn emit(&self, module: Module<'_>, what: LLVMCodeGenFileType) -> Result<Object, String> {
        let (mut message, mut buffer) = (null_mut(), null_mut());
        // SAFETY: both are live; a message is the caller's to dispose of.
        unsafe {
            let (machine, module) = (self.0, module.as_llvm());
            let (message_to, to) = (&mut message, &mut buffer);
            match LLVMTargetMachineEmitToMemoryBuffer(machine, module, what, message_to, to) {
                0 => Ok(Object(buffer)),
                _ => Err(taken(message)),
            }
        }
    }

    /// The reference.
    pub(crate) fn as_llvm(&self) -> LLVMTargetMachineRef {
        self.0
    }
}
