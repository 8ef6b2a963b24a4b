//! The k-IPF of a function, with what is known of its counts where memory was short.

use crate::analysis::interval::Interval;
use crate::format::numbers::add;
use midflight_profile::bounds::Bounds;
use midflight_profile::forest::{NodeId, PrefixForest};
use midflight_profile::format::{Counters, FunctionProfile};
use midflight_profile::kipf::make_k_ipf;
use std::collections::BTreeMap;

/// How often each sequence of up to k paths occurred.
pub struct Ipf {
    /// The sequences; their counts in it are those of the counters alone
    pub paths: PrefixForest,
    bounds: Bounds,
    /// What was counted, in terms of the same paths
    counted: FunctionProfile,
    /// The truncated windows, by how many paths they have and the last two of these
    truncated: BTreeMap<(u32, End), u64>,
}

/// How a window ends: with a path, and the one before it if the window has that.
pub type End = (Option<u32>, u32);

impl Ipf {
    /// That of what was counted in a function.
    pub fn of(profile: &FunctionProfile) -> Self {
        Self::merged(profile, |id| id)
    }

    /// The same over paths of which several are one: `same` has the ID of that.
    pub fn merged(profile: &FunctionProfile, same: impl Fn(u32) -> u32) -> Self {
        let counted = FunctionProfile {
            forest: relabelled(&profile.forest, &same),
            truncated: relabelled(&profile.truncated, &same),
            ..*profile
        };
        let paths = make_k_ipf(&counted.forest, counted.k);
        let bounds = Bounds::new(&paths, &counted);
        let truncated = by_end(&counted.truncated);
        Self { paths, bounds, counted, truncated }
    }

    /// How often the sequence of a node occurred.
    pub fn count(&self, node: NodeId) -> Interval<u64> {
        Interval::new(self.bounds.least(node), self.bounds.most(node))
    }

    /// How often it occurred at least.
    pub fn least(&self, node: NodeId) -> u64 {
        self.bounds.least(node)
    }

    /// How often it was followed by a path.
    pub fn followed(&self, node: NodeId) -> Interval<u64> {
        let [least, most] = self.bounds.followed(node);
        Interval::new(least, most)
    }

    /// By how much its count in [`Self::paths`] may be too low, whatever other counts say.
    pub fn missing(&self, node: NodeId) -> u64 {
        self.bounds.missing(node)
    }

    /// How often a sequence of up to k paths occurred, whether it was seen or not.
    pub fn count_of(&self, labels: &[u32]) -> Interval<u64> {
        self.counts_along(labels).last().copied().unwrap_or_default()
    }

    /// The same for the first path, the first two, and so on up to all of them.
    pub fn counts_along(&self, labels: &[u32]) -> Vec<Interval<u64>> {
        let mut counts: Vec<Interval<u64>> = Vec::with_capacity(labels.len());
        let (mut node, mut is_seen) = (None, true);
        for (&label, length) in labels.iter().zip(1..) {
            let child = if is_seen { self.paths.child(node, label) } else { None };
            let count = match (child, node, counts.last()) {
                (Some(child), ..) => self.count(child),
                (None, Some(last), _) if is_seen => {
                    let followed = self.followed(last);
                    let others = followed.most - followed.least;
                    Interval::new(0, others.min(self.unseen(&labels[..length])))
                }
                (None, _, Some(before)) if before.most == 0 => Interval::exact(0),
                (None, _, before) => {
                    let most = before.map_or(u64::MAX, |before| before.most);
                    Interval::new(0, most.min(self.unseen(&labels[..length])))
                }
            };
            counts.push(count);
            is_seen = child.is_some();
            node = child;
        }
        counts
    }

    /// How many occurrences of sequences of so many paths, all of them together, may be missing. Of
    /// those that were counted with fewer paths before them only those count of which `may_be` says
    /// that a sequence that is asked for may end like this.
    pub fn missing_of(&self, length: u32, may_be: impl Fn(End) -> bool) -> u64 {
        let FunctionProfile { totals, counters, .. } = &self.counted;
        let short: u64 = match counters {
            Counters::Slabs => totals.restarts.saturating_mul(u64::from(length) - 1),
            Counters::Windows => {
                let shorter = self.truncated.range(..(length, (None, 0)));
                let counted = shorter.filter(|((_, end), _)| may_be(*end)).map(|(_, &count)| count);
                counted.fold(0, u64::saturating_add)
            }
        };
        short.saturating_add(totals.lost)
    }

    /// How often a sequence that was not seen may have occurred.
    fn unseen(&self, labels: &[u32]) -> u64 {
        let FunctionProfile { totals, truncated, counters, .. } = &self.counted;
        let short = match counters {
            Counters::Slabs => totals.restarts.saturating_mul(labels.len() as u64 - 1),
            Counters::Windows => (1..labels.len())
                .filter_map(|from| {
                    let mut suffix = labels[from..].iter();
                    suffix.try_fold(None, |at, &label| truncated.child(at, label).map(Some))?
                })
                .map(|node| truncated.count(node))
                .fold(0, u64::saturating_add),
        };
        short.saturating_add(totals.lost)
    }
}

/// The counts of windows by how many paths they have, and their ends.
fn by_end(windows: &PrefixForest) -> BTreeMap<(u32, End), u64> {
    let mut sums: BTreeMap<(u32, End), u64> = BTreeMap::new();
    let mut lengths: Vec<u32> = Vec::with_capacity(windows.len());
    for node in windows.ids() {
        let parent = windows.parent(node);
        let length = 1 + parent.map_or(0, |parent| lengths[parent.index()]);
        lengths.push(length);
        if windows.count(node) != 0 {
            let end = (parent.map(|parent| windows.label(parent)), windows.label(node));
            add(sums.entry((length, end)).or_default(), windows.count(node));
        }
    }
    sums
}

/// The same forest with other labels; nodes that are then the same are one.
fn relabelled(forest: &PrefixForest, label: &impl Fn(u32) -> u32) -> PrefixForest {
    let mut result = PrefixForest::new();
    let mut places: Vec<NodeId> = Vec::with_capacity(forest.len());
    for node in forest.ids() {
        let parent = forest.parent(node).map(|parent| places[parent.index()]);
        let place = result.child_or_insert(parent, label(forest.label(node)));
        // All counts of a profile together fit.
        let _ = result.add(place, forest.count(node));
        places.push(place);
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::analysis::behaviour::order::tests::forgetful as counted;
    use proptest::prelude::*;

    #[test]
    fn paths_that_are_one_have_the_bounds_of_one() {
        let profile = counted(3, &[1, 2, 11, 2, 1, 2], &[(3, 0)]);
        let ipf = Ipf::merged(&profile, |id| id % 10);
        assert_eq!(ipf.count_of(&[1]), Interval::exact(3));
        // The third 2 stands alone.
        assert_eq!(ipf.count_of(&[1, 2]), Interval::new(2, 3));
        assert_eq!(ipf.count_of(&[2, 1]), Interval::new(2, 2));
        assert_eq!(ipf.missing_of(2, |_| true), 1);
        assert_eq!(ipf.missing_of(2, |end| end == (None, 1)), 0);
        assert_eq!(ipf.missing_of(3, |_| true), 2);
    }

    #[test]
    fn what_was_not_seen_may_have_been() {
        let ipf = Ipf::of(&counted(3, &[1, 2, 3, 3], &[(2, 0)]));
        assert_eq!(ipf.count_of(&[2, 3]), Interval::new(0, 1));
        assert_eq!(ipf.count_of(&[1, 2, 3]), Interval::new(0, 1));
        assert_eq!(ipf.count_of(&[1, 3]), Interval::new(0, 0), "1 was followed by 2");
        assert_eq!(ipf.count_of(&[4]), Interval::exact(0));
        assert_eq!(Ipf::of(&counted(3, &[1, 2], &[])).count_of(&[2, 1]), Interval::exact(0));
    }

    proptest! {
        /// Sequences that were not seen have bounds, too.
        #[test]
        fn every_sequence_is_within_its_bounds(
            stream in prop::collection::vec(0u32..3, 1..60),
            forgotten in prop::collection::vec((0usize..60, 0usize..3), 0..30),
            k in 1usize..6,
        ) {
            let ipf = Ipf::of(&counted(k as u32, &stream, &forgotten));
            for length in 1..=k {
                for sequence in stream.windows(length) {
                    let truth = stream.windows(length).filter(|other| *other == sequence).count();
                    let Interval { least, most } = ipf.count_of(sequence);
                    let truth = truth as u64;
                    prop_assert!(least <= truth && truth <= most, "{:?}: {}", sequence, truth);
                }
            }
        }
    }
}
