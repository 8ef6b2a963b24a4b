//! Source locations, from debug information.

use crate::ir::{Function, Inst, Module, copied};
use crate::sys::debuginfo::*;
use crate::sys::mfb_strip_unread_locations;
use crate::sys::prelude::LLVMMetadataRef;
use std::ffi::c_char;

/// A place in a source file.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct SourceLine {
    /// Path of the file: absolute, or as the compiler was given it if no directory is known.
    pub file: String,
    /// Line, from 1.
    pub line: u32,
}

/// The location of an instruction.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Location {
    /// Where the instruction comes from.
    pub inner: SourceLine,
    /// For inlined code: the outermost call site. Otherwise the same as `inner`.
    pub outer: SourceLine,
}

/// Where a function is declared in the source; none without debug information.
pub fn function_line(function: Function<'_>) -> Option<SourceLine> {
    // SAFETY: the function is live, and its subprogram with it.
    unsafe {
        let subprogram = LLVMGetSubprogram(function.0);
        if subprogram.is_null() {
            return None;
        }
        let line = LLVMDISubprogramGetLine(subprogram);
        Some(SourceLine { file: file_of(subprogram), line })
    }
}

/// The location of an instruction; none if it has none, or line 0.
pub fn location(inst: Inst<'_>) -> Option<Location> {
    // SAFETY: the instruction is live; locations, scopes and files are owned by its context.
    unsafe {
        let location = LLVMInstructionGetDebugLoc(inst.0);
        if location.is_null() || LLVMDILocationGetLine(location) == 0 {
            return None;
        }
        let inner = line_of(location);
        let mut outermost = location;
        loop {
            let site = LLVMDILocationGetInlinedAt(outermost);
            if site.is_null() {
                break;
            }
            outermost = site;
        }
        let outer = if outermost == location { inner.clone() } else { line_of(outermost) };
        Some(Location { inner, outer })
    }
}

/// Removes locations that the front end tracked without emitting debug information, unless something
/// else in this compilation may read them: remarks, warnings about expectations, profiles that are
/// matched by lines, coverage by gcov. True if there were some.
pub fn strip_unread_locations(module: Module<'_>) -> bool {
    // SAFETY: the module is live; what is removed is owned by nobody here.
    unsafe { mfb_strip_unread_locations(module.0) }
}

/// # Safety
/// `location` is a live DILocation.
unsafe fn line_of(location: LLVMMetadataRef) -> SourceLine {
    // SAFETY: the caller's contract; every location has a scope.
    unsafe {
        let scope = LLVMDILocationGetScope(location);
        SourceLine { file: file_of(scope), line: LLVMDILocationGetLine(location) }
    }
}

/// # Safety
/// `scope` is a live DIScope.
unsafe fn file_of(scope: LLVMMetadataRef) -> String {
    // SAFETY: the caller's contract; a file owns its strings.
    unsafe {
        let file = LLVMDIScopeGetFile(scope);
        if file.is_null() {
            return String::new();
        }
        let text = |get: unsafe extern "C" fn(LLVMMetadataRef, *mut u32) -> *const c_char| {
            let mut length = 0;
            let text = get(file, &mut length);
            copied(text, length as usize)
        };
        let (directory, name) = (text(LLVMDIFileGetDirectory), text(LLVMDIFileGetFilename));
        if directory.is_empty() || name.starts_with('/') {
            name
        } else {
            format!("{}/{name}", directory.trim_end_matches('/'))
        }
    }
}
