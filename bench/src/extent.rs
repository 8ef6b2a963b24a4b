//! How much a profile holds.

use midflight_profile::forest::PrefixForest;
use midflight_profile::format::{Counters, FunctionProfile, Profile};
use serde::Serialize;

/// What was counted, in numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Extent {
    /// Events that were counted, and that were not
    pub events: u64,
    /// Of them, those that were counted at truncated windows
    pub truncated: u64,
    /// Those that were counted nowhere
    pub lost: u64,
    /// Restarts of a k-SF
    pub restarts: u64,
    /// Counters that are not 0; whole and truncated ones of a window are two
    pub counters: u64,
    /// Windows of k − 1 paths that went on
    pub states: u64,
}

impl Extent {
    /// That of all functions of a profile.
    pub fn of(profile: &Profile) -> Extent {
        let mut extent = Extent::default();
        for function in &profile.functions {
            let totals = function.totals;
            extent.events += total(&function.forest) + totals.lost;
            extent.truncated += total(&function.truncated);
            extent.lost += totals.lost;
            extent.restarts += totals.restarts;
            extent.counters += counters(function);
            extent.states += states(function);
        }
        extent
    }

    /// Whether all was counted with all of its history.
    pub fn is_whole(&self) -> bool {
        self.truncated + self.lost + self.restarts == 0
    }
}

/// The sum of the counters of one function, which fits in any profile that was read.
fn total(forest: &PrefixForest) -> u64 {
    u64::try_from(forest.total()).unwrap_or(u64::MAX)
}

fn counters(function: &FunctionProfile) -> u64 {
    let FunctionProfile { forest, truncated, .. } = function;
    let all = forest.ids().filter(|&id| forest.count(id) != 0).count();
    // Of each truncated window, its node in all.
    let mut same = Vec::with_capacity(truncated.len());
    let mut both = 0;
    for id in truncated.ids() {
        let parent = truncated.parent(id).map(|parent| same[parent.index()]);
        let node = parent.map_or(Some(None), |at: Option<_>| at.map(Some));
        let node = node.and_then(|parent| forest.child(parent, truncated.label(id)));
        let whole = node.map_or(0, |node| forest.count(node)) - truncated.count(id);
        both += u64::from(whole != 0 && truncated.count(id) != 0);
        same.push(node);
    }
    all as u64 + both
}

/// A k-SF has no states of the automaton.
fn states(function: &FunctionProfile) -> u64 {
    let forest = &function.forest;
    if function.counters == Counters::Slabs || function.k < 2 {
        return 0;
    }
    let nodes = forest.preorder().filter(|&(_, depth)| depth + 2 == function.k);
    nodes.filter(|&(id, _)| forest.children(id).len() != 0).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counted_streams::{forgetful, windows};

    fn extent(function: FunctionProfile) -> Extent {
        Extent::of(&Profile { functions: vec![function], ..Profile::default() })
    }

    #[test]
    fn counters_and_states_are_those_of_windows() {
        // a, ab, aba, bab, abb, of which ab and ba went on
        let whole = extent(windows(3, &[&[0, 1, 0, 1, 1]]));
        let expected = Extent { events: 5, counters: 5, states: 2, ..Extent::default() };
        assert_eq!(whole, expected);
        assert!(whole.is_whole());
    }

    #[test]
    fn whole_and_truncated_counters_of_a_window_are_two() {
        // a and ab are anchored; ba, ab and bb are truncated.
        let short = extent(forgetful(3, &[0, 1, 0, 1, 1], 1));
        assert_eq!((short.events, short.truncated, short.counters), (5, 3, 5));
        assert!(!short.is_whole());
    }
}
