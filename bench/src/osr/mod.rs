//! The evaluation of OSR: does a program that moves between versions do what it does without, and
//! what do points and transitions cost?
//!
//! | question | module | command |
//! |---|---|---|
//! | Does a program under stress print what it prints without? | [`fuzz`] | `osr fuzz` |
//! | Do random programs? | [`csmith`] | `osr csmith` |
//!
//! What is fired, and what a run must then show, is in [`firing`] and [`stress`]; [`log`] reads what
//! the runtime tells.

pub mod csmith;
pub mod firing;
pub mod fuzz;
pub mod log;
pub mod stress;
