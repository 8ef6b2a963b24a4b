//! The k-iteration path forest, made of a k-slab forest: thesis 3.2.3, Algorithms 5 and 6.
//!
//! Each run of n ≤ k IDs that the stream has at some place ends at one node of the k-SF that
//! counted that place, and begins n − 1 levels above it. So the count of a run is the sum of the
//! counters of all nodes that it leads to from anywhere in the k-SF: all subtrees of k levels are
//! laid over each other, wherever they begin.

use crate::forest::{NodeId, PrefixForest};
use alloc::collections::BTreeMap;
use alloc::vec::Vec;

/// The k-IPF (Definition 3.6) of a k-SF of the same `k`: Algorithm 5.
///
/// Takes time in proportion to the nodes times `k`. The sum of several k-SFs (of threads, of runs)
/// gives the sum of their k-IPFs.
///
/// Counts are exact if the sum of all counters of `slabs` fits a `u64`, as it does in any profile
/// that was read from a file; else they stay at `u64::MAX`. A node counts 0 only where a thread
/// was caught between making a node of the k-SF and counting it.
pub fn make_k_ipf(slabs: &PrefixForest, k: u32) -> PrefixForest {
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
