//! Counting paths: the automaton of windows, and who has one.

pub mod automaton;
pub mod baseline;
pub mod context;
pub mod counter;
#[cfg(target_arch = "x86_64")]
pub mod enter;
pub mod fallback;
pub mod forest;
pub mod index;
pub mod published;
pub mod room;
pub mod run;
pub mod step;
pub mod table;
pub mod window;
