//! From a module to code in memory, with LLVM's ORC.

use crate::perf;
use crate::process;
use crate::sys::core::*;
use crate::sys::error::{LLVMDisposeErrorMessage, LLVMErrorRef, LLVMGetErrorMessage};
use crate::sys::orc2::lljit::*;
use crate::sys::orc2::*;
use crate::sys::prelude::*;
use crate::sys::target::*;
use crate::sys::target_machine::*;
use crate::sys::transforms::pass_builder::*;
use midflight_bridge::ir::Module;
use midflight_bridge::slice::Owned;
use std::ffi::{CStr, CString, c_char, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;

/// The pipeline that versions are optimized by.
const PIPELINE: &CStr = c"default<O2>";

/// Addresses of what a module refers to.
pub struct Symbols(Vec<(CString, u64)>);

impl Symbols {
    pub fn new() -> Self {
        Symbols(Vec::new())
    }

    /// The first address of a name is the one that holds.
    pub fn add(&mut self, name: &str, address: u64) {
        let Ok(name) = CString::new(name) else { return };
        if self.0.iter().all(|(known, _)| *known != name) {
            self.0.push((name, address));
        }
    }
}

impl Symbols {
    /// Adds what an object file calls besides.
    fn complete(&mut self, object: &[u8]) -> Result<(), String> {
        for name in process::wanted(object)? {
            if self.0.iter().any(|(known, _)| known.as_bytes() == name.as_bytes()) {
                continue;
            }
            let address = process::address(&name)
                .ok_or_else(|| format!("it calls {name}, which the process does not have"))?;
            self.add(&name, address);
        }
        Ok(())
    }
}

/// Functions of a version, of which some may not be there: by their names, or their addresses.
pub type Parts<T> = [T; 4];

/// Code in memory, which stays.
pub struct Code {
    /// Addresses of what was asked for; 0 of what was not
    pub addresses: Parts<u64>,
    /// Bytes of the object file
    pub size: u64,
}

/// The process's code generator.
struct Jit {
    lljit: LLVMOrcLLJITRef,
    machine: LLVMTargetMachineRef,
}

// SAFETY: it is used by one thread at a time (`TURN`), and LLVM ties it to none.
unsafe impl Send for Jit {}
// SAFETY: as above.
unsafe impl Sync for Jit {}

static JIT: OnceLock<Result<Jit, String>> = OnceLock::new();

/// Optimizes and compiles a module, and puts it into memory. Returns the addresses of functions in
/// it, which others may call from now on.
///
/// # Errors
/// LLVM's message.
pub fn emit(
    module: Owned,
    mut symbols: Symbols,
    names: &[Option<String>],
    label: &str,
) -> Result<Code, String> {
    let jit = JIT.get_or_init(Jit::new).as_ref().map_err(String::clone)?;
    // SAFETY: all handles are live; what LLVM takes over is not used again; the module is in a
    // context that no other thread has.
    unsafe {
        jit.optimize(module.module())?;
        let object = jit.compile(module.module())?;
        drop(module);
        let size = LLVMGetBufferSize(object) as u64;
        let start = LLVMGetBufferStart(object).cast::<u8>();
        let bytes = std::slice::from_raw_parts(start, size as usize);
        symbols.complete(bytes)?;
        let sizes = perf::sizes(bytes);
        let session = LLVMOrcLLJITGetExecutionSession(jit.lljit);
        let label = CString::new(label.replace('\0', "?")).expect("no zero is left");
        // Names of libraries are not unique, and need not be.
        let library = LLVMOrcExecutionSessionCreateBareJITDylib(session, label.as_ptr());
        define(jit.lljit, library, &symbols)?;
        checked(LLVMOrcLLJITAddObjectFile(jit.lljit, library, object))?;
        let mut addresses = [0; 4];
        for (address, name) in addresses.iter_mut().zip(names) {
            let Some(name) = name else { continue };
            *address = jit.address(library, name)?;
            perf::note(name, *address, &sizes);
        }
        Ok(Code { addresses, size })
    }
}

/// Lets all functions of a module use what this machine's processor has.
pub fn use_host_features(module: Module<'_>) {
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

/// Absolute symbols.
///
/// # Safety
/// Both are live.
unsafe fn define(
    lljit: LLVMOrcLLJITRef,
    library: LLVMOrcJITDylibRef,
    symbols: &Symbols,
) -> Result<(), String> {
    // SAFETY: the caller's; the names are interned by the library's session.
    unsafe {
        let flags = || LLVMJITSymbolFlags {
            GenericFlags: LLVMJITSymbolGenericFlags::LLVMJITSymbolGenericFlagsExported as u8,
            TargetFlags: 0,
        };
        let mut pairs: Vec<LLVMOrcCSymbolMapPair> = symbols
            .0
            .iter()
            .map(|(name, address)| LLVMOrcCSymbolMapPair {
                Name: LLVMOrcLLJITMangleAndIntern(lljit, name.as_ptr()),
                Sym: LLVMJITEvaluatedSymbol { Address: *address, Flags: flags() },
            })
            .collect();
        let known = LLVMOrcAbsoluteSymbols(pairs.as_mut_ptr(), pairs.len());
        checked(LLVMOrcJITDylibDefine(library, known))?;
        Ok(())
    }
}

impl Jit {
    fn new() -> Result<Self, String> {
        // SAFETY: LLVM's own initialization, once; all handles are those it gives.
        unsafe {
            initialize_target();
            let machine = machine()?;
            let builder = LLVMOrcCreateLLJITBuilder();
            // The builder takes a machine of its own over. Its linker, JITLink, registers unwind tables
            // with the process's unwinder; RuntimeDyld would not.
            let for_builder =
                LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(self::machine()?);
            LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(builder, for_builder);
            let mut lljit = null_mut();
            checked(LLVMOrcCreateLLJIT(&mut lljit, builder))?;
            // What it would print comes back as an error, too.
            let session = LLVMOrcLLJITGetExecutionSession(lljit);
            LLVMOrcExecutionSessionSetErrorReporter(session, ignore, null_mut());
            // Debuggers are told of the code by GDB's JIT interface. It can do without.
            let _ = checked(LLVMOrcLLJITEnableDebugSupport(lljit));
            Ok(Jit { lljit, machine })
        }
    }

    /// # Safety
    /// The module is of a context that no other thread uses.
    unsafe fn optimize(&self, module: Module<'_>) -> Result<(), String> {
        // SAFETY: the caller's.
        unsafe {
            let options = LLVMCreatePassBuilderOptions();
            let result = LLVMRunPasses(module.as_llvm(), PIPELINE.as_ptr(), self.machine, options);
            LLVMDisposePassBuilderOptions(options);
            checked(result)
        }
    }

    /// # Safety
    /// As [`Self::optimize`].
    unsafe fn compile(&self, module: Module<'_>) -> Result<LLVMMemoryBufferRef, String> {
        // SAFETY: the caller's; a message is the caller's to dispose of.
        unsafe {
            let (mut message, mut object) = (null_mut(), null_mut());
            let failed = LLVMTargetMachineEmitToMemoryBuffer(
                self.machine,
                module.as_llvm(),
                LLVMCodeGenFileType::LLVMObjectFile,
                &mut message,
                &mut object,
            );
            if failed == 0 { Ok(object) } else { Err(taken(message)) }
        }
    }

    /// # Safety
    /// The library is one of the session's.
    unsafe fn address(&self, library: LLVMOrcJITDylibRef, name: &str) -> Result<u64, String> {
        let name = CString::new(name).map_err(|error| error.to_string())?;
        // SAFETY: the caller's; the list has the one entry that is counted, and is LLVM's to
        // release.
        unsafe { lookup(self.lljit, library, &name) }
    }
}

/// # Safety
/// All are live.
unsafe fn lookup(
    lljit: LLVMOrcLLJITRef,
    library: LLVMOrcJITDylibRef,
    name: &CStr,
) -> Result<u64, String> {
    // LLJIT's own lookup knows its main library only.
    struct Found(Option<Result<u64, String>>);
    extern "C" fn found(
        error: LLVMErrorRef,
        result: LLVMOrcCSymbolMapPairs,
        count: usize,
        to: *mut c_void,
    ) {
        // SAFETY: ORC gives an error or so many pairs; `to` is the caller's `Found`, which waits.
        unsafe {
            let to = &mut *to.cast::<Found>();
            to.0 = Some(match checked(error) {
                Err(message) => Err(message),
                Ok(()) if count == 1 => Ok((*result).Sym.Address),
                Ok(()) => Err("it is not there".to_string()),
            });
        }
    }
    let mut result = Found(None);
    // SAFETY: the caller's. Without a thread pool the lookup is done when the call returns.
    unsafe {
        let session = LLVMOrcLLJITGetExecutionSession(lljit);
        let mut order = [LLVMOrcCJITDylibSearchOrderElement {
            JD: library,
            JDLookupFlags: LLVMOrcJITDylibLookupFlags::LLVMOrcJITDylibLookupFlagsMatchAllSymbols,
        }];
        let mut wanted = [LLVMOrcCLookupSetElement {
            Name: LLVMOrcLLJITMangleAndIntern(lljit, name.as_ptr()),
            LookupFlags: LLVMOrcSymbolLookupFlags::LLVMOrcSymbolLookupFlagsRequiredSymbol,
        }];
        LLVMOrcExecutionSessionLookup(
            session,
            LLVMOrcLookupKind::LLVMOrcLookupKindStatic,
            order.as_mut_ptr(),
            order.len(),
            wanted.as_mut_ptr(),
            wanted.len(),
            found,
            (&raw mut result).cast(),
        );
    }
    result.0.unwrap_or_else(|| Err("the lookup was not answered".to_string()))
}

/// # Safety
/// The error is LLVM's.
extern "C" fn ignore(_: *mut c_void, error: LLVMErrorRef) {
    // SAFETY: ORC's contract.
    let _ = unsafe { checked(error) };
}

/// # Safety
/// Before LLVM is used by others.
unsafe fn initialize_target() {
    // SAFETY: the caller's.
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
}

/// A machine for this process. Functions bring the features that they were compiled for.
fn machine() -> Result<LLVMTargetMachineRef, String> {
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
        if machine.is_null() { Err("LLVM has no such machine".to_string()) } else { Ok(machine) }
    }
}

/// # Safety
/// The error is null, or LLVM's, and not used again.
unsafe fn checked(error: LLVMErrorRef) -> Result<(), String> {
    if error.is_null() {
        return Ok(());
    }
    // SAFETY: the caller's; getting the message uses the error up.
    unsafe {
        let message = LLVMGetErrorMessage(error);
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeErrorMessage(message);
        Err(text)
    }
}

/// # Safety
/// The message is null, or LLVM's, and not used again.
unsafe fn taken(message: *mut c_char) -> String {
    if message.is_null() {
        return "LLVM gives no reason".to_string();
    }
    // SAFETY: the caller's.
    unsafe {
        let text = CStr::from_ptr(message).to_string_lossy().into_owned();
        LLVMDisposeMessage(message);
        text
    }
}
