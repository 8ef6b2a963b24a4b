//! A snapshot of a function, and what can be read off it.
//!
//! [`body`] has its blocks and edges, [`code`] its instructions, [`facts`] what LLVM says of them.
//! Whoever knows LLVM makes it, and keeps the handles that lead back; all that decides anything
//! reads the snapshot alone, so it is tested without LLVM, and built once for all of them.

#![forbid(unsafe_code)]

pub mod body;
pub mod code;
pub mod depth_first;
pub mod dominators;
pub mod facts;
pub mod ids;
pub mod liveness;
pub mod loops;
