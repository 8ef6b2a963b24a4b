//! `midflight-bench osr open`: what versions gain and cost that are made while a program runs.
//!
//! | question | module |
//! |---|---|
//! | Do programs do the same, whenever versions are made? | [`check`] |
//! | How much faster is the call in which one is made, and the next? | [`gain`] |
//! | What do points cost that never fire? | [`idle`] |
//! | How long does the first fire take, and one of which the version is there? | [`latency`] |
//!
//! [`works`] lists the programs (`bench/corpus/open`) and what is measured of them, [`built`] the
//! ways in which they are built and run, and [`told`] reads what they tell of themselves.

pub mod built;
pub mod check;
pub mod gain;
pub mod idle;
pub mod latency;
pub mod told;
pub mod works;

/// How it is measured.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Version of LLVM
    pub llvm: u32,
    /// Rounds: each runs all ways in turn
    pub pairs: usize,
    /// Share of the full work, in percent
    pub work: u64,
    /// Beginnings of the names of works; all if there are none
    pub only: Vec<String>,
}
