//! LLVM as the passes see it.
//!
//! [`ir`] has handles to what a host process (opt, clang, lld) lends a pass, with what each kind
//! can be asked; [`builder`] inserts code; [`debug`] reads source locations; [`pass`] has what
//! passes are to the host's pass pipeline. [`continuation`] makes bodies that are entered in the
//! middle; [`sandbox`] runs stock passes on a function; [`solver`], [`memory`] and [`operations`]
//! ask what LLVM knows of values, memory and operations; [`observe`] listens to code that is
//! checked. [`slice`] carries the IR of functions in programs. All that llvm-c cannot do is in
//! `cpp/`, whose functions throw nothing, and take and return llvm-c's handles or plain data.
//!
//! **Invariant.** A handle is valid while the pass that obtained it runs, which its lifetime `'m`
//! says, and as long as nobody erases what it names: the bridge erases nothing but the terminators
//! that it replaces by its own, and what functions say that they erase.
//!
//! **Invariant.** Nothing unwinds into C++: every call from the host goes through
//! [`pass::guard`].
//!
//! **Invariant.** Nothing runs when it is loaded, and LLVM's options stay as they are: what a
//! plugin does then is the plugin's (`plugin/cpp/`), which alone but for this crate knows LLVM's
//! version.

pub mod builder;
pub mod continuation;
pub mod debug;
pub mod ir;
pub mod memory;
pub mod observe;
pub mod operations;
pub mod pass;
pub mod prover;
pub mod sandbox;
pub mod slice;
pub mod solver;
mod sys;
