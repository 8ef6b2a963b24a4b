//! Code in this process's memory, by LLVM's ORC: what makes versions at run time (`jit/`) and the
//! environment of `midflight vm` have in common.
//!
//! A [`Machine`] optimizes and compiles modules to [`Object`]s, and a [`Session`] puts these into
//! memory, each as a [`Library`] of its own. Code that was made stays until the process ends: a
//! frame may be in it. [`process`] has the functions that compiled code calls by name.

mod machine;
pub mod process;
mod session;
mod sys;
mod texts;

pub use machine::{Machine, Object};
pub use session::{Library, Session};
pub use texts::{checked, taken};
