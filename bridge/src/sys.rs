//! llvm-sys of the LLVM that was chosen, and the functions of the shim.

#[cfg(all(feature = "llvm19-1", not(feature = "llvm22-1")))]
pub use llvm_sys_191::{
    LLVMAtomicOrdering, LLVMAttributeFunctionIndex, LLVMLinkage, LLVMOpcode, LLVMThreadLocalMode,
    core, debuginfo, prelude, target,
};
#[cfg(feature = "llvm22-1")]
pub use llvm_sys_221::{
    LLVMAtomicOrdering, LLVMAttributeFunctionIndex, LLVMLinkage, LLVMOpcode, LLVMThreadLocalMode,
    core, debuginfo, prelude, target,
};

use prelude::{LLVMBasicBlockRef, LLVMModuleRef, LLVMValueRef};
use std::ffi::{c_char, c_void};

unsafe extern "C" {
    pub fn mfb_register_callbacks(pass_builder: *mut c_void);
    pub fn mfb_error(module: LLVMModuleRef, text: *const c_char, length: usize);
    pub fn mfb_remark_missed(
        function: LLVMValueRef,
        name: *const c_char,
        text: *const c_char,
        length: usize,
    );
    pub fn mfb_print(text: *const c_char, length: usize);
    pub fn mfb_verify_function(function: LLVMValueRef) -> *mut c_char;
    pub fn mfb_function_facts(function: LLVMValueRef) -> u32;
    pub fn mfb_is_ifunc_resolver(function: LLVMValueRef) -> bool;
    pub fn mfb_call_facts(call: LLVMValueRef) -> u32;
    pub fn mfb_block_weights(
        fam: *mut c_void,
        block: LLVMBasicBlockRef,
        probabilities: *mut u32,
    ) -> u64;
    pub fn mfb_split_after(inst: LLVMValueRef) -> LLVMBasicBlockRef;
    pub fn mfb_split_entry(function: LLVMValueRef) -> LLVMBasicBlockRef;
    pub fn mfb_split_edge(from: LLVMBasicBlockRef, to: LLVMBasicBlockRef) -> LLVMBasicBlockRef;
    pub fn mfb_drop_purity(function: LLVMValueRef);
    pub fn mfb_share(global: LLVMValueRef);
}
