//! What LLVM says, as texts of ours.

use crate::sys::core::LLVMDisposeMessage;
use crate::sys::error::{LLVMDisposeErrorMessage, LLVMErrorRef, LLVMGetErrorMessage};
use std::ffi::{CStr, c_char};

/// An error of LLVM's as its message.
///
/// # Errors
/// The message, if there is an error.
///
/// # Safety
/// The error is null, or LLVM's, and not used again.
pub unsafe fn checked(error: LLVMErrorRef) -> Result<(), String> {
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

/// A text that LLVM made for the caller.
///
/// # Safety
/// The text is null, or LLVM's, and not used again.
pub unsafe fn taken(text: *mut c_char) -> String {
    if text.is_null() {
        return "LLVM gives no reason".to_string();
    }
    // SAFETY: the caller's.
    unsafe {
        let copy = CStr::from_ptr(text).to_string_lossy().into_owned();
        LLVMDisposeMessage(text);
        copy
    }
}
