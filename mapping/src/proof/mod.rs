//! What is proved of two versions.
//!
//! [`matching`] and [`congruence`] prove, together, which chains run at the same time and which
//! values are the same; [`pending`] which stores opt has yet to do, [`contents`] what is in memory.

pub mod congruence;
pub mod contents;
mod guesses;
mod keys;
pub mod matching;
pub mod pending;
mod round;
mod shape;
