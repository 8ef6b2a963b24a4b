//! llvm-sys of the LLVM that was chosen.

#[cfg(all(feature = "llvm19-1", not(feature = "llvm22-1")))]
pub use llvm_sys_191::{
    LLVMAttributeReturnIndex, LLVMDiagnosticSeverity, LLVMLinkage, LLVMTypeKind, core, ir_reader,
    linker, prelude,
};
#[cfg(feature = "llvm22-1")]
pub use llvm_sys_221::{
    LLVMAttributeReturnIndex, LLVMDiagnosticSeverity, LLVMLinkage, LLVMTypeKind, core, ir_reader,
    linker, prelude,
};

/// LLVM's major version.
pub const MAJOR: &str = if cfg!(feature = "llvm22-1") { "22" } else { "19" };
