//! The sequences of a profile for which memory was short, beside those of one for which it was not.
//!
//! Sequences are compared by function and node by node: those of one profile of a binary are those
//! of another by their labels.

use super::hottest::Hottest;
use super::told::Told;
use midflight_profile::bounds::Bounds;
use midflight_profile::forest::{NodeId, PrefixForest};
use midflight_profile::format::{FunctionProfile, Totals};
use midflight_profile::kipf::make_k_ipf;

/// So many sequences of each length are looked at one by one.
const HOTTEST: usize = 1000;

/// What was found of the sequences of one length.
#[derive(Clone, Debug)]
pub struct Length {
    /// How many sequences occurred
    pub sequences: u64,
    /// How many of them were counted at least once
    pub counted: u64,
    /// How many were counted more often than they occurred: a fault
    pub too_high: u64,
    /// How many occurred more often than the profile says that they may have: a fault
    pub beyond: u64,
    /// The hottest
    pub hottest: Hottest,
}

impl Default for Length {
    fn default() -> Length {
        let hottest = Hottest::new(HOTTEST);
        Length { sequences: 0, counted: 0, too_high: 0, beyond: 0, hottest }
    }
}

impl Length {
    /// Notes a sequence that occurred; none if the profile has not counted it.
    fn note(&mut self, truth: u64, told: Option<Told>, absent: impl FnOnce() -> Told) {
        self.sequences += 1;
        if let Some(told) = told {
            self.counted += u64::from(told.count != 0);
            self.too_high += u64::from(told.count > truth);
            self.beyond += u64::from(truth > told.most);
        }
        let beyond = &mut self.beyond;
        self.hottest.offer(truth, || {
            told.unwrap_or_else(|| {
                let told = absent();
                *beyond += u64::from(truth > told.most);
                told
            })
        });
    }
}

/// What was found, by length from 1.
#[derive(Clone, Debug, Default)]
pub struct Found {
    lengths: Vec<Length>,
}

impl Found {
    /// That of a length from 1, which there is.
    pub fn length(&self, length: usize) -> &Length {
        &self.lengths[length - 1]
    }

    /// How many lengths there are.
    pub fn longest(&self) -> usize {
        self.lengths.len()
    }

    /// Sequences that were counted too often, and that occurred more often than they may have.
    pub fn faults(&self) -> (u64, u64) {
        let sum = |of: fn(&Length) -> u64| self.lengths.iter().map(of).sum();
        (sum(|length| length.too_high), sum(|length| length.beyond))
    }

    fn level(&mut self, level: usize) -> &mut Length {
        if self.lengths.len() <= level {
            self.lengths.resize_with(level + 1, Length::default);
        }
        &mut self.lengths[level]
    }

    /// Adds the sequences of a function, of which nothing is missing.
    pub fn add_exact(&mut self, truth: &PrefixForest) {
        for (id, level) in with_levels(truth) {
            let told = Told::exactly(truth.count(id));
            self.level(level).note(told.truth, Some(told), || told);
        }
    }

    /// Adds the sequences of a function of which the k-IPF is known, beside what a profile has of
    /// it, if it has the function.
    pub fn add(&mut self, truth: &PrefixForest, function: Option<&FunctionProfile>) {
        let Some(function) = function else {
            for (id, level) in with_levels(truth) {
                let told = Told { truth: truth.count(id), count: 0, most: 0 };
                self.level(level).note(told.truth, Some(told), || told);
            }
            return;
        };
        let paths = make_k_ipf(&function.forest, function.k);
        let bounds = Bounds::new(&paths, function);
        let mut same: Vec<Option<NodeId>> = Vec::with_capacity(truth.len());
        let mut met = 0;
        for (id, level) in with_levels(truth) {
            let above = truth.parent(id).map(|parent| same[parent.index()]);
            let node = match above {
                None => paths.child(None, truth.label(id)),
                Some(parent) => parent.and_then(|at| paths.child(Some(at), truth.label(id))),
            };
            same.push(node);
            let occurred = truth.count(id);
            let told = node.map(|node| {
                met += u64::from(paths.count(node) != 0);
                Told { truth: occurred, count: paths.count(node), most: bounds.most(node) }
            });
            self.level(level).note(occurred, told, || {
                let most = most_of_uncounted(&truth.labels(id), function);
                Told { truth: occurred, count: 0, most }
            });
        }
        self.add_strangers(truth, &paths, met);
    }

    /// Notes sequences that were counted though they never occurred, if not all of the profile's
    /// were met.
    fn add_strangers(&mut self, truth: &PrefixForest, paths: &PrefixForest, met: u64) {
        let counted = paths.ids().filter(|&id| paths.count(id) != 0).count() as u64;
        if counted == met {
            return;
        }
        for (id, level) in with_levels(paths) {
            let labels = paths.labels(id);
            let node = labels.iter().try_fold(None, |at, &label| truth.child(at, label).map(Some));
            self.level(level).too_high += u64::from(paths.count(id) != 0 && node.is_none());
        }
    }
}

/// How often a sequence may have occurred that is not in the k-IPF of a function: where it did, the
/// event at its end was counted at a truncated window that is shorter, or was lost.
fn most_of_uncounted(labels: &[u32], function: &FunctionProfile) -> u64 {
    let Totals { restarts, lost, .. } = function.totals;
    // A restart of a k-SF costs a sequence one occurrence for each event from its second on.
    let broken = restarts.saturating_mul(labels.len() as u64 - 1);
    let truncated = &function.truncated;
    let count = |suffix: &[u32]| {
        let node = suffix.iter().try_fold(None, |at, &label| truncated.child(at, label).map(Some));
        node.flatten().map_or(0, |node| truncated.count(node))
    };
    let shorter = (1..labels.len()).map(|from| count(&labels[from..]));
    shorter.fold(lost.saturating_add(broken), u64::saturating_add)
}

/// All nodes, parents first, each with its level from 0.
fn with_levels(forest: &PrefixForest) -> impl Iterator<Item = (NodeId, usize)> {
    let mut levels: Vec<u8> = Vec::with_capacity(forest.len());
    forest.ids().map(move |id| {
        let level = forest.parent(id).map_or(0, |parent| levels[parent.index()] + 1);
        levels.push(level);
        (id, level.into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::accuracy::told::Summary;
    use crate::counted_streams::{forgetful, windows};

    /// a b a b b
    const PATHS: [u32; 5] = [0, 1, 0, 1, 1];

    fn found(function: Option<&FunctionProfile>, k: u32) -> Found {
        let mut found = Found::default();
        let truth = windows(k, &[&PATHS]);
        found.add(&make_k_ipf(&truth.forest, k), function);
        found
    }

    fn summary(found: &Found, length: usize) -> Summary {
        Summary::of(&found.length(length).hottest.first(HOTTEST))
    }

    #[test]
    fn with_memory_enough_nothing_is_missing() {
        for k in 1..=6 {
            let function = windows(k, &[&PATHS]);
            let with = found(Some(&function), k);
            let mut exact = Found::default();
            exact.add_exact(&make_k_ipf(&function.forest, k));
            assert_eq!(with.longest(), k.min(5) as usize);
            for length in 1..=with.longest() {
                let Length { sequences, counted, too_high, beyond, .. } = *with.length(length);
                assert_eq!((sequences, too_high, beyond), (counted, 0, 0));
                let summary = summary(&with, length);
                assert_eq!((summary.largest_error, summary.largest_bound), (0.0, 0.0));
                assert_eq!(with.length(length).sequences, exact.length(length).sequences);
            }
        }
    }

    #[test]
    fn what_was_counted_short_is_missing_at_longer_lengths_within_its_bounds() {
        // With one path remembered: a, ab anchored; ba, ab, bb truncated.
        let with = found(Some(&forgetful(3, &PATHS, 1)), 3);
        assert_eq!(with.faults(), (0, 0));
        assert_eq!(summary(&with, 1).largest_error, 0.0);
        let pairs = summary(&with, 2);
        assert_eq!((pairs.sequences, pairs.missing, pairs.largest_error), (3, 0, 0.0));
        let triples = summary(&with, 3);
        assert_eq!((triples.sequences, triples.missing, triples.mean_error), (3, 3, 1.0));
        assert_eq!(with.length(3).counted, 0);
        // aba, bab and abb: each was at most as often as ba, the ab that is truncated, and bb.
        let most: Vec<u64> = with.length(3).hottest.first(3).iter().map(|told| told.most).collect();
        assert_eq!(most, [1, 1, 1]);
    }

    #[test]
    fn a_count_that_is_too_high_is_a_fault() {
        let mut function = windows(2, &[&PATHS]);
        let node = function.forest.child_or_insert(None, 0);
        let pair = function.forest.child_or_insert(Some(node), 1);
        function.forest.add(pair, 1).unwrap();
        let with = found(Some(&function), 2);
        // The pair, and its last path.
        assert_eq!(with.faults(), (2, 0));
        assert_eq!([1, 2].map(|length| with.length(length).too_high), [1, 1]);
    }

    #[test]
    fn a_sequence_that_never_occurred_is_a_fault() {
        let mut function = windows(2, &[&PATHS]);
        let node = function.forest.child_or_insert(None, 0);
        let pair = function.forest.child_or_insert(Some(node), 7);
        function.forest.add(pair, 1).unwrap();
        assert_eq!(found(Some(&function), 2).faults(), (2, 0));
    }

    #[test]
    fn a_truth_beyond_its_bound_is_a_fault() {
        // It tells of no truncated window, but has none of three paths.
        let mut function = forgetful(3, &PATHS, 1);
        function.truncated = PrefixForest::new();
        let with = found(Some(&function), 3);
        assert_eq!(with.faults(), (0, 3));
        assert_eq!(with.length(3).beyond, 3);
    }

    #[test]
    fn a_function_that_a_profile_does_not_have_is_a_fault() {
        let with = found(None, 2);
        assert_eq!(with.faults(), (0, 5));
        assert_eq!(summary(&with, 1).missing, 2);
    }
}
