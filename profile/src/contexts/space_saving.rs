//! Space-Saving over the lazy priority queue: thesis 3.1.3, "Choosing a Streaming Algorithm", after
//! Metwally, Agrawal and El Abbadi, "An integrated efficient solution for computing frequent and
//! top-k elements in data streams" (TODS 31(3), 2006).
//!
//! While M has room every new context is monitored, and counted exactly. Later a context that is
//! not monitored takes over the entry of the least one, its *victim*: it may have been entered as
//! often before, so its count goes on from there, and its error is that count. Two things follow,
//! whatever is called:
//!
//! * All counts of M together are N, the number of calls ([`total`]). Hence the least
//!   is at most N / |M|.
//! * A context that is not monitored was entered no more often than the last victim's count
//!   ([`SpaceSaving::floor`]): it was a victim itself once, and the counts of victims never
//!   decrease.
#![warn(clippy::indexing_slicing, clippy::unwrap_used, clippy::panic)]

use super::lazy_queue::{Counters, Entries, LazyQueue};

/// What nodes know of being monitored. It stands for the dictionary of the items of M.
pub trait Monitor: Counters {
    /// True if an entry of M points to the node.
    fn is_monitored(&self, node: Self::Node) -> bool;

    /// The node is monitored from here on; `count` is both its count and its error.
    fn start(&mut self, node: Self::Node, count: u64);

    /// The node is no longer monitored.
    fn stop(&mut self, node: Self::Node);

    /// The context was entered: its count is one more.
    fn increment(&mut self, node: Self::Node);
}

/// The state of Space-Saving beside M and the nodes.
#[derive(Clone, Copy, Debug, Default)]
pub struct SpaceSaving {
    queue: LazyQueue,
    floor: u64,
}

impl SpaceSaving {
    /// Nothing is monitored yet.
    pub const fn new() -> Self {
        Self { queue: LazyQueue::new(), floor: 0 }
    }

    /// `update(x, M)`: x was entered. Returns the victim, if there is one, which is x itself only
    /// where M has no place at all.
    pub fn update<T: Monitor>(
        &mut self,
        x: T::Node,
        entries: &mut (impl Entries<T::Node> + ?Sized),
        nodes: &mut T,
    ) -> Option<T::Node> {
        let victim = self.monitor(x, entries, nodes);
        if victim != Some(x) {
            nodes.increment(x);
        }
        victim
    }

    /// The same where the caller counts x when this has returned, as emitted code does.
    ///
    /// It should be before anything else is entered. Else x may be a victim while it is not counted
    /// yet, if no other context counts as little: its call is then missing in N and in its bound.
    pub fn monitor<T: Monitor>(
        &mut self,
        x: T::Node,
        entries: &mut (impl Entries<T::Node> + ?Sized),
        nodes: &mut T,
    ) -> Option<T::Node> {
        if nodes.is_monitored(x) {
            return None;
        }
        if entries.push(x) {
            nodes.start(x, 0);
            return None;
        }
        let Some(least) = self.queue.find_min(entries, nodes) else {
            self.floor = u64::MAX;
            return Some(x);
        };
        // In this order, so that whoever reads in between has a bound for the victim, and all
        // counts of M are N.
        self.floor = least.count;
        nodes.start(x, least.count);
        entries.replace(least.index, x);
        nodes.stop(least.node);
        self.queue.go_on();
        Some(least.node)
    }

    /// The greatest count that a context may have which is not monitored: 0 as long as there was
    /// room for all. It never decreases, and is at most the least count of M, hence at most
    /// N / |M|. So floor / N is the ε that was really achieved.
    pub fn floor(&self) -> u64 {
        self.floor
    }
}

/// N, the number of calls: all counts of M together.
pub fn total<C: Counters>(entries: &(impl Entries<C::Node> + ?Sized), counters: &C) -> u64 {
    monitored(entries).fold(0, |sum, node| sum.saturating_add(counters.count(node)))
}

/// `query(M)`: A, the monitored nodes with a count of at least `threshold`, which is ⌊φN⌋
/// ([`Share::floor_of`](super::Share::floor_of)).
pub fn query<'a, C: Counters>(
    entries: &'a (impl Entries<C::Node> + ?Sized),
    counters: &'a C,
    threshold: u64,
) -> impl Iterator<Item = C::Node> + 'a {
    monitored(entries).filter(move |&node| counters.count(node) >= threshold)
}

/// All entries of M, in order.
fn monitored<N>(entries: &(impl Entries<N> + ?Sized)) -> impl Iterator<Item = N> {
    (0..).map_while(|index| entries.get(index))
}
