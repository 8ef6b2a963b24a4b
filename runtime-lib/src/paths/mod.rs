//! Counting paths: the automaton that Algorithm 4 is run by, and who has one.

pub mod baseline;
pub mod context;
pub mod counter;
#[cfg(target_arch = "x86_64")]
pub mod enter;
pub mod fallback;
pub mod forest;
pub mod node;
pub mod prune;
pub mod published;
pub mod run;
pub mod step;
