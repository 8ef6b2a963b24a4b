//! How much memory was taken, where it was short, and for how much of what was counted.

use crate::analysis::rank::Ranked;
use midflight_profile::format::MemoryUse;
use serde::Serialize;

/// Memory that the run took for sequences, in bytes.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Memory {
    /// Threads that have counted, less those that have gone on with what an ended one had
    pub threads: u64,
    /// States and their tables
    pub states: u64,
    /// What states are found by
    pub index: u64,
    /// What the thread with the most has, of both
    pub most: u64,
    /// What that thread might have had
    pub limit: u64,
}

impl From<MemoryUse> for Memory {
    fn from(used: MemoryUse) -> Self {
        let MemoryUse { threads, states, index, most, limit } = used;
        Memory { threads, states, index, most, limit }
    }
}

/// What memory was short for, over all functions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shortage {
    /// Functions of which not everything is known
    pub functions: usize,
    /// Paths taken in these
    pub paths: u128,
    /// Those of them that were counted with fewer paths before them than k tells
    pub truncated: u128,
    /// Those that were not counted
    pub lost: u128,
    /// Those behind which the published algorithm began anew
    pub restarts: u128,
    /// Nodes of all forests that are there
    pub nodes: u128,
    /// Counting began within activations too, of which nothing is known that came before
    pub began_within: bool,
}

impl Shortage {
    /// Of all functions that ran.
    pub fn of(all: &[Ranked<'_>], began_within: bool) -> Shortage {
        let mut sum = Shortage { began_within, ..Shortage::default() };
        for Ranked { profile, .. } in all {
            sum.nodes += profile.forest.len() as u128;
            if profile.is_short() {
                sum.functions += 1;
                sum.paths += profile.forest.total() + u128::from(profile.totals.lost);
                sum.truncated += profile.truncated.total();
                sum.lost += u128::from(profile.totals.lost);
                sum.restarts += u128::from(profile.totals.restarts);
            }
        }
        sum
    }

    /// Paths that found no room for all that came before them.
    pub fn without_room(&self) -> u128 {
        self.truncated + self.lost + self.restarts
    }
}
