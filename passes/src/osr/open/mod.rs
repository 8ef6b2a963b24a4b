//! Open on-stack replacement (thesis 4.1, Figs. 4.3 and 4.5): points at which a running program
//! asks for a version of the function that it is in.
//!
//! [`generator`] says how versions are made and [`key`] what is profiled for it; [`carry`] puts the
//! function's IR into the program, and [`fire`] emits what a point does when it fires. That is
//! compile time. At run time the code generator has the IR and a key, and [`version`] makes the
//! version: the function goes on from the point ([`landing`]), as [`specialize`] says, with guards
//! that lead back ([`guard`]), also where an assumption may be invalidated ([`assume`]).
//!
//! `midflight_abi::open` has what the two agree on. [`insert`] has a point of one's own.

pub mod assume;
pub mod carry;
pub mod fire;
pub mod generator;
pub mod guard;
pub mod insert;
pub mod key;
pub mod landing;
#[cfg(feature = "mutants")]
pub mod mutant;
pub mod plan;
pub mod specialize;
pub mod version;
