//! Calling contexts: what they cost, and how much of them the hot ones tell.

pub mod accuracy;
pub mod cost;
