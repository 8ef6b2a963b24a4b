//! Online pruning: thesis 3.1.3, Algorithm 1.
//!
//! The tree is the MCCT, the smallest subtree of the CCT that spans the monitored contexts and
//! those that are under way. A victim that no longer leads to any of them is removed, and so are
//! its ancestors, up to the first that does. Each removal is paid for by the call that made the
//! node, so that pruning takes constant amortized time.
//!
//! The context x that was entered last is monitored, so its ancestors are no leaves, and stay. That
//! is also so when it has returned: the context of one stack that is under way needs no other
//! protection. Where there are several stacks, as with coroutines, the last context of each is
//! *pinned*, and [`prune`] is called with it when it is no longer. So is the context that is under
//! way where calls are not counted, as between samples.
#![warn(clippy::indexing_slicing, clippy::unwrap_used, clippy::panic)]

use super::lazy_queue::Entries;
use super::space_saving::{Monitor, SpaceSaving};

/// A tree of calling contexts that nodes can be removed from.
pub trait ContextTree: Monitor {
    /// The context that this one was entered from; none for a root.
    fn parent(&self, node: Self::Node) -> Option<Self::Node>;

    /// True if no node of the tree has this one as its parent.
    fn is_leaf(&self, node: Self::Node) -> bool;

    /// True if the node stays, monitored or not: a context that is under way and is not above x.
    /// There is no need to say so of its ancestors.
    fn is_pinned(&self, node: Self::Node) -> bool;

    /// Removes a leaf that is neither monitored nor pinned.
    fn remove(&mut self, node: Self::Node);
}

/// Algorithm 1: x, which is in the tree, was entered.
pub fn update<T: ContextTree>(
    x: T::Node,
    space_saving: &mut SpaceSaving,
    entries: &mut (impl Entries<T::Node> + ?Sized),
    tree: &mut T,
) {
    let victim = space_saving.update(x, entries, tree); // line 1
    prune_victim(victim, x, tree);
}

/// The same where the caller counts x when this has returned ([`SpaceSaving::monitor`]).
pub fn monitor<T: ContextTree>(
    x: T::Node,
    space_saving: &mut SpaceSaving,
    entries: &mut (impl Entries<T::Node> + ?Sized),
    tree: &mut T,
) {
    let victim = space_saving.monitor(x, entries, tree);
    prune_victim(victim, x, tree);
}

/// Lines 2 to 7: Space-Saving has at most one victim.
fn prune_victim<T: ContextTree>(victim: Option<T::Node>, x: T::Node, tree: &mut T) {
    if let Some(v) = victim.filter(|&v| v != x) {
        prune(v, tree);
    }
}

/// Lines 3 to 6: removes `v`, and then its ancestors, as long as they are leaves and nobody needs
/// them. A root goes, too, if nothing of it is left.
pub fn prune<T: ContextTree>(v: T::Node, tree: &mut T) {
    let mut next = Some(v);
    while let Some(v) = next.filter(|&v| is_unneeded(v, tree)) {
        next = tree.parent(v);
        tree.remove(v);
    }
}

fn is_unneeded<T: ContextTree>(v: T::Node, tree: &T) -> bool {
    tree.is_leaf(v) && !tree.is_monitored(v) && !tree.is_pinned(v)
}

/// A node and its ancestors, up to the root. The (φ, ε)-HCCT (Definition 3.4) is all nodes of
/// [`query`](super::space_saving::query) with their ancestors.
pub fn with_ancestors<T: ContextTree>(node: T::Node, tree: &T) -> impl Iterator<Item = T::Node> {
    core::iter::successors(Some(node), |&node| tree.parent(node))
}
