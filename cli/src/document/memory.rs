//! Where memory was short, and for how much of what was counted.

use crate::analysis::rank::Ranked;

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
