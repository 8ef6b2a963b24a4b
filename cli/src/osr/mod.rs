//! `midflight osr fuzz`: fires the OSR points of a program, and compares what it does with what it
//! does without.
//!
//! As JavaScriptCore's OSR-exit fuzzer and V8's `--deopt-every-n-times`: the [`plan`] of runs fires
//! everything, every n-th hit, at random, and single points; [`fuzz`] carries it out on a
//! [`program`], whose [`log`] tells what fired; a run that differs is narrowed down to one point by
//! [`bisect`]; [`report`] tells what was found.

pub mod bisect;
pub mod fuzz;
pub mod log;
pub mod plan;
pub mod program;
pub mod report;
