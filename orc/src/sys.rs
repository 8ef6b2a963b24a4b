//! llvm-sys of the LLVM that was chosen.

#[cfg(all(feature = "llvm19-1", not(feature = "llvm22-1")))]
pub use llvm_sys_191::{core, error, orc2, prelude, target, target_machine, transforms};
#[cfg(feature = "llvm22-1")]
pub use llvm_sys_221::{core, error, orc2, prelude, target, target_machine, transforms};
