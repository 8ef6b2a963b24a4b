//! The evaluation of OSR: does a program that moves between versions do what it does without, and
//! what do points and transitions cost?
//!
//! | question | module | command |
//! |---|---|---|
//! | Does a program under stress print what it prints without? | [`fuzz`] | `osr fuzz` |
//! | Do random programs? | [`csmith`] | `osr csmith` |
//! | How many points are refused, and why? | [`points`] | `osr points` |
//! | Where can execution go over to an optimized version and back? | [`maps`] | `osr maps` |
//! | Does the stack stay as it is? | [`stack`] | `osr stack` |
//! | What do points and transitions cost? | [`cost`] | `osr cost` |
//! | How long does it take to insert them? | [`insertion`] | `osr cost --what insertion` |
//! | What do flags cost that versions lose? | [`flags`] | `osr cost --what flags` |
//! | What do versions gain that are made while a program runs? | [`open`] | `osr open` |
//! | Do random programs do the same in them? | [`open_fuzz`] | `osr open-fuzz` |
//!
//! What is fired, and what a run must then show, is in [`firing`] and [`stress`]; [`log`] reads
//! what the runtime tells.

pub mod chain;
pub mod changes;
pub mod compile;
pub mod cost;
pub mod csmith;
pub mod deopt;
pub mod entry;
pub mod firing;
pub mod flags;
pub mod fuzz;
pub mod fuzzed;
pub mod insertion;
pub mod log;
pub mod maps;
pub mod open;
pub mod open_fuzz;
pub mod points;
pub mod stack;
pub mod stress;
