//! Calling contexts: what they cost, and how much of them the hot ones tell.

pub mod accuracy;
mod callgrind;
pub mod cost;
mod node_memory;
pub mod programs;
mod skew;
