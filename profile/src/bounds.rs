//! What counts of sequences may be in truth, where memory was short.
//!
//! In windows ([`crate::windows`]) an event that occurs in a sequence s was counted for s, unless
//! its window is shorter than s and truncated: then the window is a proper suffix of s. So
//!
//! ```text
//! count(s) ≤ true(s) ≤ count(s) + missing(s)
//! missing(s) = lost + Σ truncated(u) over all proper suffixes u of s
//! ```
//!
//! In a k-SF whose memory was full, a restart costs a sequence of m paths at most one occurrence
//! for each of the m − 1 events from there on: missing(s) = lost + restarts · (m − 1).
//!
//! What holds for true counts makes these bounds narrower. No occurrence of a sequence s is
//! followed by two paths, nor preceded by two, so that
//!
//! ```text
//! Σ true(s q) over all paths q ≤ true(s),  Σ true(p s) over all paths p ≤ true(s)
//! ```
//!
//! All of these are exact numbers, not estimates. Where nothing is missing, both bounds are the
//! count.

use crate::forest::{NodeId, PrefixForest};
use crate::format::{Counters, FunctionProfile};
use alloc::vec;
use alloc::vec::Vec;

/// The least and the largest counts that the sequences of a k-IPF may have in truth.
#[derive(Clone, Debug)]
pub struct Bounds {
    /// By node of the k-IPF
    known: Vec<Known>,
}

/// What is known of a sequence.
#[derive(Clone, Copy, Debug, Default)]
struct Known {
    /// By how much its count may be too low, for what was counted of itself
    missing: u64,
    /// By how much the sum of the counts that it has with a path behind it may be too low
    missing_behind: u64,
    /// Bounds of its count
    least: u64,
    most: u64,
    /// The least counts of the sequences that have one path more behind it, and before it, added up
    behind: u64,
    before: u64,
    /// How often it was followed at most
    followed: u64,
}

impl Bounds {
    /// Those of the k-IPF that [`make_k_ipf`](crate::kipf::make_k_ipf) makes of what was counted in
    /// a function.
    ///
    /// # Panics
    /// If `paths` is not the k-IPF of the function.
    pub fn new(paths: &PrefixForest, function: &FunctionProfile) -> Self {
        let order = Order::of(paths);
        let mut known = vec![Known::default(); paths.len()];
        match function.counters {
            Counters::Windows => windows_missing(paths, function, &order, &mut known),
            Counters::Slabs => slabs_missing(function, &order, &mut known),
        }
        find_least(paths, &order, &mut known);
        find_most(paths, function.k, &order, &mut known);
        Self { known }
    }

    /// The least count that a sequence may have in truth: what was counted or, where that is more,
    /// what was counted of it with a path before it or behind it.
    pub fn least(&self, id: NodeId) -> u64 {
        self.known[id.index()].least
    }

    /// The largest count that a sequence may have in truth; no less than what was counted.
    pub fn most(&self, id: NodeId) -> u64 {
        self.known[id.index()].most
    }

    /// By how much the count of a sequence may be too low, whatever the counts of others say: more
    /// than that is missing in no run.
    pub fn missing(&self, id: NodeId) -> u64 {
        self.known[id.index()].missing
    }

    /// How often a sequence was followed by a path, at least and at most. Of sequences of k paths
    /// nothing is known but that it was no more often than they occurred.
    pub fn followed(&self, id: NodeId) -> [u64; 2] {
        let known = self.known[id.index()];
        [known.behind, known.followed]
    }
}

/// The nodes of a k-IPF by the lengths of their sequences.
struct Order {
    ids: Vec<NodeId>,
    /// By node: how many paths, and the sequence without its first path, if that is not all
    lengths: Vec<u32>,
    suffixes: Vec<Option<NodeId>>,
}

impl Order {
    fn of(paths: &PrefixForest) -> Self {
        let mut ids: Vec<NodeId> = Vec::with_capacity(paths.len());
        let mut lengths = vec![1; paths.len()];
        let mut suffixes = vec![None; paths.len()];
        ids.extend(paths.unordered(None));
        let mut next = 0;
        while let Some(&id) = ids.get(next) {
            ids.extend(paths.unordered(Some(id)));
            next += 1;
            if let Some(parent) = paths.parent(id) {
                let suffix = paths.child(suffixes[parent.index()], paths.label(id));
                suffixes[id.index()] =
                    Some(suffix.expect("a k-IPF has all parts of its sequences"));
                lengths[id.index()] = lengths[parent.index()] + 1;
            }
        }
        Order { ids, lengths, suffixes }
    }
}

/// Where a sequence stands in the truncated windows.
#[derive(Clone, Copy)]
enum Window {
    /// Nowhere: neither it is there, nor a longer one that begins with it.
    Nowhere,
    At(NodeId),
}

fn windows_missing(
    paths: &PrefixForest,
    function: &FunctionProfile,
    order: &Order,
    known: &mut [Known],
) {
    let (truncated, lost) = (&function.truncated, function.totals.lost);
    // The truncated counters of each window with one path more.
    let mut longer = vec![0u64; truncated.len()];
    let mut single = 0u64;
    for id in truncated.ids() {
        let sum = truncated.parent(id).map_or(&mut single, |parent| &mut longer[parent.index()]);
        *sum = sum.saturating_add(truncated.count(id));
    }
    let mut windows = vec![Window::Nowhere; known.len()];
    for &id in &order.ids {
        let above = paths.parent(id).map(|parent| windows[parent.index()]);
        let window = match above {
            None => truncated.child(None, paths.label(id)),
            Some(Window::At(node)) => truncated.child(Some(node), paths.label(id)),
            Some(Window::Nowhere) => None,
        };
        windows[id.index()] = window.map_or(Window::Nowhere, Window::At);
        // What is missing of the suffix, and what was counted of just that.
        let (missing, missing_behind) = match order.suffixes[id.index()] {
            None => (lost, lost.saturating_add(single)),
            Some(suffix) => {
                let shorter = known[suffix.index()];
                let (own, behind) = match windows[suffix.index()] {
                    Window::Nowhere => (0, 0),
                    Window::At(node) => (truncated.count(node), longer[node.index()]),
                };
                (shorter.missing.saturating_add(own), shorter.missing_behind.saturating_add(behind))
            }
        };
        known[id.index()] = Known { missing, missing_behind, ..Known::default() };
    }
}

fn slabs_missing(function: &FunctionProfile, order: &Order, known: &mut [Known]) {
    let totals = function.totals;
    let broken =
        |paths: u32| totals.restarts.saturating_mul(paths.into()).saturating_add(totals.lost);
    for &id in &order.ids {
        let length = order.lengths[id.index()];
        let (missing, missing_behind) = (broken(length - 1), broken(length));
        known[id.index()] = Known { missing, missing_behind, ..Known::default() };
    }
}

/// The longest sequences first: what was counted of them is known of their parts, too.
fn find_least(paths: &PrefixForest, order: &Order, known: &mut [Known]) {
    for &id in order.ids.iter().rev() {
        let own = &mut known[id.index()];
        own.least = paths.count(id).max(own.behind).max(own.before);
        let least = own.least;
        if let (Some(parent), Some(suffix)) = (paths.parent(id), order.suffixes[id.index()]) {
            let behind = &mut known[parent.index()].behind;
            *behind = behind.saturating_add(least);
            let before = &mut known[suffix.index()].before;
            *before = before.saturating_add(least);
        }
    }
}

/// The shortest sequences first: none occurs more often than its parts leave to it.
fn find_most(paths: &PrefixForest, k: u32, order: &Order, known: &mut [Known]) {
    // The counts that each sequence has with a path behind it.
    let mut counts_behind = vec![0u64; known.len()];
    for id in paths.ids() {
        if let Some(parent) = paths.parent(id) {
            let sum = &mut counts_behind[parent.index()];
            *sum = sum.saturating_add(paths.count(id));
        }
    }
    for &id in &order.ids {
        let Known { missing, missing_behind, least, behind, .. } = known[id.index()];
        let mut most = paths.count(id).saturating_add(missing);
        if let (Some(parent), Some(suffix)) = (paths.parent(id), order.suffixes[id.index()]) {
            let [parent, suffix] = [parent, suffix].map(|part| known[part.index()]);
            let others = [parent.behind.saturating_sub(least), suffix.before.saturating_sub(least)];
            most = most.min(parent.followed.saturating_sub(others[0]));
            most = most.min(suffix.most.saturating_sub(others[1]));
        }
        // Counts that contradict each other are of no one run, or not of one moment.
        let most = most.max(least);
        let followed = match order.lengths[id.index()] < k {
            true => most.min(counts_behind[id.index()].saturating_add(missing_behind)),
            false => most,
        };
        let own = &mut known[id.index()];
        (own.most, own.followed) = (most, followed.max(behind));
    }
}
