//! How much was counted of sequences of each length.
//!
//! The weight of a length is the sum of the counts of all its sequences in the k-IPF. An event that
//! was counted at a node of n labels is the end of one sequence of each length up to n. So no k-IPF
//! is needed to tell it: the weight of the length m is the sum of the counters of all nodes of m
//! labels or more, in windows and in a k-SF.

use midflight_profile::forest::PrefixForest;
use midflight_profile::format::{FunctionProfile, Profile};

/// The weights of the lengths 1 to k, first to last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Weights(Vec<u64>);

impl Weights {
    /// Those of a function.
    pub fn of(function: &FunctionProfile) -> Weights {
        let mut weights = by_level(&function.forest, function.k);
        for level in (1..weights.len()).rev() {
            weights[level - 1] += weights[level];
        }
        Weights(weights)
    }

    /// The least and the most that they may be in truth, by windows for which memory was short.
    ///
    /// A length m is too long for the first m − 1 events of each activation, and for no others. The
    /// event with the number p of an activation is counted at an anchored window of p paths, unless
    /// that had no place. So anchored windows tell of some such events, and there are no more than
    /// activations.
    pub fn in_truth(function: &FunctionProfile) -> [Weights; 2] {
        let FunctionProfile { forest, truncated, k, totals, .. } = function;
        let (all, part) = (by_level(forest, *k), by_level(truncated, *k));
        let anchored = all.iter().zip(&part).map(|(all, part)| all - part);
        let events = all.iter().sum::<u64>() + totals.lost;
        let (mut least, mut most) = (vec![events], vec![events]);
        for anchored in anchored.take(*k as usize - 1) {
            least.extend(least.last().map(|weight| weight.saturating_sub(totals.entries)));
            most.extend(most.last().map(|weight| weight - anchored));
        }
        let counted = Weights::of(function);
        least.iter_mut().zip(&counted.0).for_each(|(least, &counted)| *least = counted.max(*least));
        [least, most].map(Weights)
    }

    /// Those of all functions.
    pub fn of_all(profile: &Profile) -> Weights {
        profile.functions.iter().map(Weights::of).fold(Weights::default(), |mut sum, weights| {
            sum.add(&weights);
            sum
        })
    }

    /// Adds those of other functions.
    pub fn add(&mut self, other: &Weights) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        self.0.iter_mut().zip(&other.0).for_each(|(sum, weight)| *sum += weight);
    }

    /// That of a length from 1; 0 beyond k.
    pub fn length(&self, length: usize) -> u64 {
        length.checked_sub(1).and_then(|at| self.0.get(at)).copied().unwrap_or(0)
    }

    /// The longest length of all.
    pub fn longest(&self) -> usize {
        self.0.len()
    }

    /// How much of the weight of a length these are of others; none if there is none.
    pub fn share_of(&self, all: &Weights, length: usize) -> Option<f64> {
        let all = all.length(length);
        (all != 0).then(|| self.length(length) as f64 / all as f64)
    }
}

/// The sums of the counters of each level. A k-SF has more than k levels: in what is below, the
/// last k labels count.
fn by_level(forest: &PrefixForest, k: u32) -> Vec<u64> {
    let mut levels: Vec<usize> = Vec::with_capacity(forest.len());
    let mut sums = vec![0; k as usize];
    for id in forest.ids() {
        let level = forest.parent(id).map_or(0, |parent| levels[parent.index()] + 1);
        levels.push(level);
        sums[level.min(k as usize - 1)] += forest.count(id);
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counted_streams::{self, slabs, windows};
    use midflight_profile::kipf::make_k_ipf;

    const STREAM: [u32; 9] = [1, 2, 2, 1, 2, 1, 1, 2, 2];

    #[test]
    fn weights_are_sums_of_counts_of_the_k_ipf() {
        for k in 1..=6 {
            for function in [windows(k, &[&STREAM, &[1, 2]]), slabs(k, &[&STREAM, &[1, 2]])] {
                let paths = make_k_ipf(&function.forest, k);
                let mut sums = vec![0; k as usize];
                for (id, depth) in paths.preorder() {
                    sums[depth as usize] += paths.count(id);
                }
                assert_eq!(Weights::of(&function), Weights(sums), "k = {k}");
            }
        }
    }

    #[test]
    fn the_truth_is_between_its_bounds() {
        for k in 1..=6 {
            let truth = Weights::of(&windows(k, &[&STREAM]));
            for known in 0..=6 {
                let function = counted_streams::forgetful(k, &STREAM, known);
                let [least, most] = Weights::in_truth(&function);
                for length in 1..=k as usize {
                    let between = least.length(length)..=most.length(length);
                    assert!(between.contains(&truth.length(length)), "k = {k}, {known} known");
                }
            }
            let whole = windows(k, &[&STREAM, &[1, 2]]);
            let of_whole = Weights::of(&whole);
            assert_eq!(Weights::in_truth(&whole)[1], of_whole, "all is anchored that is short");
        }
    }

    #[test]
    fn truncated_windows_weigh_at_their_own_lengths_only() {
        let all = Weights::of(&windows(3, &[&STREAM]));
        let some = Weights::of(&counted_streams::forgetful(3, &STREAM, 1));
        assert_eq!(all, Weights(vec![9, 8, 7]));
        assert_eq!(some, Weights(vec![9, 8, 0]));
        assert_eq!(some.share_of(&all, 3), Some(0.0));
        assert_eq!(some.share_of(&all, 4), None, "there is nothing to count");
    }
}
