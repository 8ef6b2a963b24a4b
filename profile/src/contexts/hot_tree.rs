//! Trees of hot calling contexts as they are read, asked and added up.
//!
//! # Sums
//!
//! Each thread, process or run monitors contexts of its own. In the sum of two trees ([`merge`]) a
//! context that both monitor has the sums of counts and of errors. One that a tree does not
//! monitor was entered there at most as often as the tree's floor says, and perhaps never: so its
//! count is the other's and the floor, and the floor is added to its error as well. To add nothing
//! would give a count that is too low, and a hot context could be missed. What neither monitors was
//! entered at most as often as both floors together say: that is the floor of the sum.
//!
//! So counts and floors mean in a sum what they mean in its parts. Where both floors are at most
//! N / m of their trees, so is that of the sum. It may monitor more contexts than m, but all except
//! the m hottest can be forgotten ([`HotTree::keep_hottest`]), and the floor is at most N / m
//! again. That is the merge of Agarwal et al., "Mergeable Summaries" (PODS 2012). It holds since in
//! an MCCT with |M| = m no count is below the floor, and m · floor + Σ (count − floor) ≤ N over its
//! monitored contexts: both are preserved by [`merge`] and by [`HotTree::keep_hottest`].

use super::{Call, Share};
use alloc::collections::BTreeMap;
use alloc::vec;
use alloc::vec::Vec;
use core::cmp::Reverse;

/// A node of one tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HotId(usize);

impl HotId {
    /// The node's place: from 0 up to [`HotTree::len`], parents before children.
    pub fn index(self) -> usize {
        self.0
    }
}

/// What is known of a monitored context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Estimate {
    /// It was entered so often or less
    pub count: u64,
    /// By how much the count may be too high
    pub error: u64,
}

impl Estimate {
    /// It was entered so often or more.
    pub fn least(self) -> u64 {
        self.count.saturating_sub(self.error)
    }

    /// Of two parts of what was counted
    fn plus(self, other: Self) -> Self {
        Self {
            count: self.count.saturating_add(other.count),
            error: self.error.saturating_add(other.error),
        }
    }
}

/// A node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HotNode {
    /// The context that this one was entered from; none in a root
    pub parent: Option<HotId>,
    /// What was called, and from where
    pub call: Call,
    /// What is known of a monitored context; none of another, which is there for those below
    pub estimate: Option<Estimate>,
}

/// An MCCT or a (φ, ε)-HCCT, or a sum of several.
///
/// A sum that would pass 2^64 − 1 stays there.
#[derive(Clone, Debug, Default)]
pub struct HotTree {
    nodes: Vec<HotNode>,
    by_call: BTreeMap<(Option<HotId>, Call), HotId>,
    /// N: how many calls there were
    pub total: u64,
    /// The greatest count that a context may have which is not monitored
    pub floor: u64,
}

impl HotTree {
    /// A tree without nodes.
    pub fn new(total: u64, floor: u64) -> Self {
        Self { total, floor, ..Self::default() }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// True if there is no node.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// All nodes, parents before children.
    pub fn ids(&self) -> impl Iterator<Item = HotId> + use<> {
        (0..self.nodes.len()).map(HotId)
    }

    /// A node.
    ///
    /// # Panics
    /// If it is none of this tree.
    pub fn node(&self, id: HotId) -> &HotNode {
        &self.nodes[id.0]
    }

    /// The children of a node, or the roots where it is none, by ascending call.
    pub fn children(&self, parent: Option<HotId>) -> impl Iterator<Item = HotId> {
        let first = (parent, Call { function: u64::MIN, site: u32::MIN });
        let last = (parent, Call { function: u64::MAX, site: u32::MAX });
        self.by_call.range(first..=last).map(|(_, &id)| id)
    }

    /// The node of a call from a context, or as a root; it is made, and not monitored, if there is
    /// none.
    ///
    /// # Panics
    /// If `parent` is none of this tree.
    pub fn child_or_insert(&mut self, parent: Option<HotId>, call: Call) -> HotId {
        assert!(parent.is_none_or(|parent| parent.0 < self.nodes.len()), "the parent is missing");
        let Self { nodes, by_call, .. } = self;
        *by_call.entry((parent, call)).or_insert_with(|| {
            nodes.push(HotNode { parent, call, estimate: None });
            HotId(nodes.len() - 1)
        })
    }

    /// The context is monitored.
    ///
    /// # Panics
    /// If it is none of this tree.
    pub fn monitor(&mut self, id: HotId, estimate: Estimate) {
        self.nodes[id.0].estimate = Some(estimate);
    }

    /// The calls that lead to a context, from the root on.
    ///
    /// # Panics
    /// If it is none of this tree.
    pub fn calls(&self, id: HotId) -> Vec<Call> {
        let mut calls: Vec<Call> = core::iter::successors(Some(id), |&id| self.node(id).parent)
            .map(|id| self.node(id).call)
            .collect();
        calls.reverse();
        calls
    }

    /// ⌊φN⌋: from what count on a context is hot (Definition 3.1).
    pub fn threshold(&self, phi: Share) -> u64 {
        phi.floor_of(self.total)
    }

    /// True if it is certain that all hot contexts are monitored: if none that is not was entered
    /// ⌊φN⌋ times, or at all.
    pub fn misses_none(&self, phi: Share) -> bool {
        self.floor < self.threshold(phi).max(1)
    }

    /// A, the monitored contexts with a count of at least ⌊φN⌋, parents before children.
    pub fn hot(&self, phi: Share) -> impl Iterator<Item = HotId> {
        let threshold = self.threshold(phi);
        self.monitored().filter(move |(_, known)| known.count >= threshold).map(|(id, _)| id)
    }

    /// The (φ, ε)-HCCT (Definition 3.4): A and all ancestors, which keep what is known of them.
    ///
    /// The counts of what is not part of it are below ⌊φN⌋, and are in its floor.
    pub fn hcct(&self, phi: Share) -> Self {
        self.spanned(self.hot(phi))
    }

    /// The tree with no more than the `m` monitored contexts of the highest counts, and their
    /// ancestors, of which those that are not among them are no longer monitored. Of equal counts,
    /// older nodes are kept.
    pub fn keep_hottest(&self, m: usize) -> Self {
        let mut monitored: Vec<(HotId, Estimate)> = self.monitored().collect();
        monitored.sort_by_key(|&(_, known)| Reverse(known.count));
        let mut kept = self.clone();
        for &(id, _) in monitored.iter().skip(m) {
            kept.nodes[id.0].estimate = None;
        }
        kept.floor = self.floor.max(monitored.get(m).map_or(0, |(_, known)| known.count));
        let support = monitored.iter().take(m).map(|&(id, _)| id);
        kept.spanned(support)
    }

    /// The monitored contexts, parents before children.
    fn monitored(&self) -> impl Iterator<Item = (HotId, Estimate)> {
        self.ids().filter_map(|id| Some((id, self.node(id).estimate?)))
    }

    /// The smallest subtree that has some nodes and their ancestors.
    fn spanned(&self, support: impl Iterator<Item = HotId>) -> Self {
        let mut is_kept = vec![false; self.len()];
        support.for_each(|id| is_kept[id.0] = true);
        for (index, node) in self.nodes.iter().enumerate().rev() {
            if let Some(parent) = node.parent.filter(|_| is_kept[index]) {
                is_kept[parent.0] = true;
            }
        }
        let mut subtree = Self::new(self.total, self.floor);
        // By node of this tree: that of the subtree
        let mut places: Vec<Option<HotId>> = Vec::with_capacity(self.len());
        for (node, is_kept) in self.nodes.iter().zip(is_kept) {
            if is_kept {
                let parent = node.parent.and_then(|parent| places[parent.0]);
                let id = subtree.child_or_insert(parent, node.call);
                subtree.nodes[id.0].estimate = node.estimate;
                places.push(Some(id));
            } else {
                let dropped = node.estimate.map_or(0, |known| known.count);
                subtree.floor = subtree.floor.max(dropped);
                places.push(None);
            }
        }
        subtree
    }
}

/// The sum of two trees: see the head of this file.
pub fn merge(a: &HotTree, b: &HotTree) -> HotTree {
    let mut sum = HotTree::new(a.total.saturating_add(b.total), a.floor.saturating_add(b.floor));
    // By node of the sum: what each tree knows
    let mut known: Vec<[Option<Estimate>; 2]> = Vec::new();
    for (which, tree) in [a, b].into_iter().enumerate() {
        let mut places: Vec<HotId> = Vec::with_capacity(tree.len());
        for node in &tree.nodes {
            let parent = node.parent.map(|parent| places[parent.0]);
            let id = sum.child_or_insert(parent, node.call);
            known.resize(sum.len(), [None; 2]);
            known[id.0][which] = node.estimate;
            places.push(id);
        }
    }
    for (node, [in_a, in_b]) in sum.nodes.iter_mut().zip(known) {
        if in_a.is_some() || in_b.is_some() {
            let [in_a, in_b] =
                [(in_a, a), (in_b, b)].map(|(known, tree)| known.unwrap_or(up_to(tree.floor)));
            node.estimate = Some(in_a.plus(in_b));
        }
    }
    sum
}

/// What a tree knows of a context that it does not monitor.
fn up_to(floor: u64) -> Estimate {
    Estimate { count: floor, error: floor }
}
