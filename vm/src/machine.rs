//! This machine, as LLVM compiles for it.

use crate::ir::{Ir, taken};
use crate::sys::core::*;
use crate::sys::prelude::*;
use crate::sys::target::*;
use crate::sys::target_machine::*;
use std::ptr::null_mut;

/// What code is compiled by; it stays until the process ends.
#[derive(Clone, Copy)]
pub struct Machine(LLVMTargetMachineRef);

impl Machine {
    /// This machine. To be called once, before LLVM is used.
    ///
    /// # Errors
    /// LLVM's message, if it was built without this machine.
    pub fn new() -> Result<Machine, String> {
        // SAFETY: LLVM's own initialization; texts live until they are disposed of.
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

    /// One more.
    ///
    /// # Errors
    /// LLVM's message.
    pub fn another() -> Result<Machine, String> {
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
    pub fn describe(&self, module: LLVMModuleRef) {
        // SAFETY: both are live; LLVM copies what it is given.
        unsafe {
            let triple = LLVMGetTargetMachineTriple(self.0);
            LLVMSetTarget(module, triple);
            LLVMDisposeMessage(triple);
            let layout = LLVMCreateTargetDataLayout(self.0);
            LLVMSetModuleDataLayout(module, layout);
            LLVMDisposeTargetData(layout);
        }
    }

    /// Compiles a module to an object file.
    ///
    /// # Errors
    /// LLVM's message.
    pub fn object(&self, ir: &Ir) -> Result<LLVMMemoryBufferRef, String> {
        self.emit(ir, LLVMCodeGenFileType::LLVMObjectFile)
    }

    /// The same as assembly.
    ///
    /// # Errors
    /// LLVM's message.
    pub fn assembly(&self, ir: &Ir) -> Result<String, String> {
        let buffer = self.emit(ir, LLVMCodeGenFileType::LLVMAssemblyFile)?;
        // SAFETY: the buffer is live and has as many bytes as it says.
        unsafe {
            let start = LLVMGetBufferStart(buffer).cast::<u8>();
            let bytes = std::slice::from_raw_parts(start, LLVMGetBufferSize(buffer));
            let text = String::from_utf8_lossy(bytes).into_owned();
            LLVMDisposeMemoryBuffer(buffer);
            Ok(text)
        }
    }

    fn emit(&self, ir: &Ir, what: LLVMCodeGenFileType) -> Result<LLVMMemoryBufferRef, String> {
        let (mut message, mut buffer) = (null_mut(), null_mut());
        // SAFETY: both are live; a message is the caller's to dispose of.
        unsafe {
            let (machine, module) = (self.0, ir.as_llvm());
            match LLVMTargetMachineEmitToMemoryBuffer(
                machine,
                module,
                what,
                &mut message,
                &mut buffer,
            ) {
                0 => Ok(buffer),
                _ => Err(taken(message)),
            }
        }
    }

    /// The reference.
    pub fn as_llvm(&self) -> LLVMTargetMachineRef {
        self.0
    }
}
