//! Where the memory for sequences was full, and for how much of what was counted.

use crate::analysis::rank::Ranked;
use crate::format::numbers::share;
use crate::input::function::Function;

/// Where a smaller share of a function's paths may be missing from its sequences, nothing is said:
/// no number that matters would be another.
const NEGLIGIBLE: f64 = 0.01;

/// What memory was short for, over all functions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Shortage {
    /// Functions of which numbers may look different with more memory
    pub functions: usize,
    /// Nodes of forests that are there
    pub nodes: u128,
    /// Paths that found no room in their sequence
    pub without_room: u128,
}

impl Shortage {
    /// Of all functions that ran.
    pub fn of(all: &[Ranked<'_>]) -> Shortage {
        let mut sum = Shortage::default();
        for ranked in all {
            let Some(profile) = ranked.function.profile else { continue };
            let without_room =
                [profile.totals.restarts, profile.totals.lost, profile.totals.pruned]
                    .map(u128::from);
            sum.functions += usize::from(is_short(ranked.function));
            sum.nodes += profile.forest.len() as u128;
            sum.without_room += without_room.iter().sum::<u128>();
        }
        sum
    }
}

/// True if numbers of this function may look different with more memory.
pub fn is_short(function: &Function<'_>) -> bool {
    let Some(profile) = function.profile else { return false };
    let paths = profile.forest.total() + u128::from(profile.totals.lost);
    let broken = u128::from(profile.totals.restarts) * u128::from(function.k() - 1);
    share(u128::from(profile.totals.lost) + u128::from(profile.totals.pruned) + broken, paths)
        >= NEGLIGIBLE
}
