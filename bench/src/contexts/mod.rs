//! Calling contexts: what they cost, how much of them the hot ones tell, and whether these keep
//! within their memory.

pub mod accuracy;
pub mod bound;
mod bursts;
mod callgrind;
pub mod calls;
pub mod cost;
mod node_memory;
pub mod programs;
mod skew;
