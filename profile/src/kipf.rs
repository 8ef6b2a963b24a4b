//! The k-iteration path forest, made of a k-slab forest or of windows: thesis 3.2.3, Algorithms 5
//! and 6.
//!
//! Each run of n ≤ k IDs that the stream has at some place ends at one node that counted that
//! place, and begins n − 1 levels above it. So the count of a run is the sum of the counters of all
//! nodes that it leads to from anywhere: all subtrees of k levels are laid over each other,
//! wherever they begin ([`algorithm_5`]).
//!
//! [`make_k_ipf`] gives the same without walking each subtree once for each level above it. A node
//! counts for its last k IDs, and for all runs that these end with. Each run knows the one without
//! its first ID, as in a suffix trie; so each is made once, and hands its count on once.

use crate::forest::{NodeId, PrefixForest};
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;

/// The k-IPF (Definition 3.6) of a k-SF, or of windows ([`crate::windows`]), of the same `k`.
///
/// Takes time in proportion to the nodes of both. The sum of several k-SFs (of threads, of runs)
/// gives the sum of their k-IPFs.
///
/// Counts are exact if the sum of all counters fits a `u64`, as it does in any profile that was
/// read from a file; else they stay at `u64::MAX`. A node counts 0 only where the event of its last
/// path was counted with less of what came before, or where a thread was caught between making a
/// node and counting it.
pub fn make_k_ipf(counters: &PrefixForest, k: u32) -> PrefixForest {
    let mut runs = Runs::default();
    // By node of the counters: the run of its last k IDs.
    let mut last: Vec<NodeId> = Vec::with_capacity(counters.len());
    for node in counters.ids() {
        let mut before = counters.parent(node).map(|parent| last[parent.index()]);
        if let Some(run) = before.filter(|run| runs.lengths[run.index()] >= k) {
            before = runs.suffixes[run.index()];
        }
        let run = runs.with_suffixes(before, counters.label(node));
        runs.paths.add_saturating(run, counters.count(node));
        last.push(run);
    }
    runs.hand_counts_on();
    runs.paths
}

/// The runs that there are.
#[derive(Default)]
struct Runs {
    paths: PrefixForest,
    /// By node: how many IDs, and the run without the first of them, if that is not all
    lengths: Vec<u32>,
    suffixes: Vec<Option<NodeId>>,
}

impl Runs {
    /// A run with an ID behind it, which is made, as are all that it ends with, if it is not there.
    fn with_suffixes(&mut self, before: Option<NodeId>, label: u32) -> NodeId {
        let mut before = before;
        let (mut longest, mut longer) = (None, None::<NodeId>);
        loop {
            let known = self.paths.len();
            let run = self.paths.child_or_insert(before, label);
            let longest = *longest.get_or_insert(run);
            if let Some(longer) = longer {
                self.suffixes[longer.index()] = Some(run);
            }
            // All that one ends with are there if it is.
            if run.index() < known {
                return longest;
            }
            self.suffixes.push(None);
            self.lengths.push(before.map_or(1, |before| self.lengths[before.index()] + 1));
            let Some(shorter) = before else { return longest };
            (longer, before) = (Some(run), self.suffixes[shorter.index()]);
        }
    }

    /// The longest first: what a run counts, the one without its first ID counts, too.
    fn hand_counts_on(&mut self) {
        let most = self.lengths.iter().max().map_or(0, |&most| most as usize);
        let mut by_length: Vec<Vec<NodeId>> = vec![Vec::new(); most + 1];
        for id in self.paths.ids() {
            by_length[self.lengths[id.index()] as usize].push(id);
        }
        for id in by_length.into_iter().rev().flatten() {
            if let Some(suffix) = self.suffixes[id.index()] {
                self.paths.add_saturating(suffix, self.paths.count(id));
            }
        }
    }
}

/// The same, to the letter: Algorithm 5, as an oracle for tests.
///
/// Takes time in proportion to the nodes times `k`.
pub fn algorithm_5(slabs: &PrefixForest, k: u32) -> PrefixForest {
    // Lines 1 to 7: I is the keys, s(r) the values.
    let mut by_label: BTreeMap<u32, Vec<NodeId>> = BTreeMap::new();
    for node in slabs.ids() {
        by_label.entry(slabs.label(node)).or_default().push(node);
    }
    let mut paths = PrefixForest::new();
    let mut pending = Vec::new();
    // Lines 9 to 13. The dummy root φ of lines 8 and 14 is `None`, the parent of roots.
    for node in by_label.into_values().flatten() {
        join_subtree(slabs, node, &mut paths, k, &mut pending);
    }
    paths
}

/// A call of the paper's `join_subtree` that is still to be made: ρ, γ, d.
type Call = (NodeId, Option<NodeId>, u32);

/// Algorithm 6 with a stack of its own, so that no depth is a danger to the thread's. `pending` is
/// empty before and after.
fn join_subtree(
    slabs: &PrefixForest,
    node: NodeId,
    paths: &mut PrefixForest,
    k: u32,
    pending: &mut Vec<Call>,
) {
    pending.push((node, None, k));
    while let Some((rho, gamma, d)) = pending.pop() {
        let delta = paths.child_or_insert(gamma, slabs.label(rho)); // lines 1 to 4
        paths.add_saturating(delta, slabs.count(rho)); // lines 4 and 6
        if d > 1 {
            // Lines 8 to 12
            pending.extend(slabs.unordered(Some(rho)).map(|sigma| (sigma, Some(delta), d - 1)));
        }
    }
}
