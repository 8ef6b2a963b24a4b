//! Object files in memory.

use crate::machine::{Machine, Object};
use crate::process::{self, Wanted};
use crate::sys::error::LLVMErrorRef;
use crate::sys::orc2::lljit::*;
use crate::sys::orc2::*;
use crate::texts::checked;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::ffi::{CString, c_void};
use std::ptr::null_mut;

/// A session of ORC's.
pub struct Session(LLVMOrcLLJITRef);

// SAFETY: ORC locks what threads share.
unsafe impl Send for Session {}
// SAFETY: as above.
unsafe impl Sync for Session {}

/// The code of an object file.
#[derive(Clone, Copy)]
pub struct Library(LLVMOrcJITDylibRef);

impl Session {
    /// A session. The machine of this process must be there ([`Machine::new`]).
    ///
    /// # Errors
    /// LLVM's message.
    pub fn new() -> Result<Self, String> {
        // SAFETY: all handles are those that LLVM gives; the builder takes the machine over.
        unsafe {
            let builder = LLVMOrcCreateLLJITBuilder();
            // Its linker, JITLink, registers unwind tables with the process's unwinder; RuntimeDyld
            // would not.
            let machine = Machine::another()?;
            let machine = LLVMOrcJITTargetMachineBuilderCreateFromTargetMachine(machine.as_llvm());
            LLVMOrcLLJITBuilderSetJITTargetMachineBuilder(builder, machine);
            let mut lljit = null_mut();
            checked(LLVMOrcCreateLLJIT(&mut lljit, builder))?;
            // What it would print comes back as an error, too.
            let session = LLVMOrcLLJITGetExecutionSession(lljit);
            LLVMOrcExecutionSessionSetErrorReporter(session, ignore, null_mut());
            // Debuggers are told of the code by GDB's JIT interface. It can do without.
            let _ = checked(LLVMOrcLLJITEnableDebugSupport(lljit));
            Ok(Session(lljit))
        }
    }

    /// Puts an object file into memory, when it is first asked for an address. What it refers to
    /// has the `known` addresses, or is looked for in the process. The label need not be unique.
    ///
    /// # Errors
    /// If it refers to what is not there, or LLVM's message.
    pub fn add(
        &self,
        label: &str,
        mut known: BTreeMap<String, u64>,
        object: Object,
    ) -> Result<Library, String> {
        for Wanted { name, is_weak } in process::wanted(object.bytes())? {
            let Entry::Vacant(unknown) = known.entry(name) else { continue };
            match process::address(unknown.key()) {
                Some(address) => {
                    unknown.insert(address);
                }
                None if is_weak => {}
                None => {
                    let name = unknown.key();
                    return Err(format!("it calls {name}, which the process does not have"));
                }
            }
        }
        let label = CString::new(label.replace('\0', "?")).map_err(|error| error.to_string())?;
        // SAFETY: all handles are live; names are interned; what LLVM takes over is not used again.
        unsafe {
            let session = LLVMOrcLLJITGetExecutionSession(self.0);
            let library = LLVMOrcExecutionSessionCreateBareJITDylib(session, label.as_ptr());
            let mut pairs = Vec::new();
            for (name, address) in known {
                let generic = LLVMJITSymbolGenericFlags::LLVMJITSymbolGenericFlagsExported as u8;
                let flags = LLVMJITSymbolFlags { GenericFlags: generic, TargetFlags: 0 };
                pairs.push(LLVMOrcCSymbolMapPair {
                    Name: self.interned(&name)?,
                    Sym: LLVMJITEvaluatedSymbol { Address: address, Flags: flags },
                });
            }
            let symbols = LLVMOrcAbsoluteSymbols(pairs.as_mut_ptr(), pairs.len());
            checked(LLVMOrcJITDylibDefine(library, symbols))?;
            checked(LLVMOrcLLJITAddObjectFile(self.0, library, object.into_llvm()))?;
            Ok(Library(library))
        }
    }

    /// The address of a function or variable.
    ///
    /// # Errors
    /// LLVM's message.
    pub fn address(&self, library: Library, name: &str) -> Result<u64, String> {
        // LLJIT's own lookup knows its main library only.
        struct Found(Option<Result<u64, String>>);
        extern "C" fn found(
            error: LLVMErrorRef,
            result: LLVMOrcCSymbolMapPairs,
            count: usize,
            to: *mut c_void,
        ) {
            // SAFETY: ORC gives an error or so many pairs; `to` is the caller's `Found`, which
            // waits.
            unsafe {
                let to = &mut *to.cast::<Found>();
                to.0 = Some(match checked(error) {
                    Err(message) => Err(message),
                    Ok(()) if count == 1 => Ok((*result).Sym.Address),
                    Ok(()) => Err("it is not there".to_string()),
                });
            }
        }
        let name = self.interned(name)?;
        let mut result = Found(None);
        let all = LLVMOrcJITDylibLookupFlags::LLVMOrcJITDylibLookupFlagsMatchAllSymbols;
        // SAFETY: the library is one of the session's, where it stays; the lists have one entry
        // each. Without a thread pool the lookup is done when the call returns.
        unsafe {
            let session = LLVMOrcLLJITGetExecutionSession(self.0);
            let mut order =
                [LLVMOrcCJITDylibSearchOrderElement { JD: library.0, JDLookupFlags: all }];
            let mut wanted = [LLVMOrcCLookupSetElement {
                Name: name,
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

    fn interned(&self, name: &str) -> Result<LLVMOrcSymbolStringPoolEntryRef, String> {
        let name = CString::new(name).map_err(|error| error.to_string())?;
        // SAFETY: the session is live; the name is copied.
        Ok(unsafe { LLVMOrcLLJITMangleAndIntern(self.0, name.as_ptr()) })
    }
}

/// # Safety
/// The error is LLVM's.
extern "C" fn ignore(_: *mut c_void, error: LLVMErrorRef) {
    // SAFETY: ORC's contract.
    let _ = unsafe { checked(error) };
}
