//! The lazy priority queue of monitored contexts: thesis 3.1.3, "Engineering Space-Saving",
//! Algorithm 2.
//!
//! M is an unordered array of entries that point to nodes, which have the counters. The queue knows
//! the least count `min`, and `min-idx`, the smallest index of an entry with that count. To count a
//! context changes neither M nor the queue, so that what is known may be out of date:
//! [`LazyQueue::find_min`] makes it right again. That is enough since counts never decrease, and an
//! entry is only given to a node with a count as high: so all entries before `min-idx` count more
//! than `min`, and none counts less.
#![warn(clippy::indexing_slicing, clippy::unwrap_used, clippy::panic)]

/// Where nodes have their counters.
pub trait Counters {
    /// What an entry of M points to a node with
    type Node: Copy + Eq;

    /// How often the context was entered, or more. It must not decrease while the node is
    /// monitored.
    fn count(&self, node: Self::Node) -> u64;
}

/// The array M, which begins empty and has a fixed capacity, 1/ε.
pub trait Entries<N> {
    /// The entry at an index, if there are so many.
    fn get(&self, index: usize) -> Option<N>;

    /// Adds an entry behind the others. False if all places are taken.
    fn push(&mut self, node: N) -> bool;

    /// Gives an entry that there is to another node.
    fn replace(&mut self, index: usize, node: N);
}

/// The entry with the least count; the first of them if there are several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Least<N> {
    /// Its index in M
    pub index: usize,
    /// What it points to
    pub node: N,
    /// The node's count
    pub count: u64,
}

/// What is known of the least count in M, which need not be up to date.
///
/// Queries find the minimum once M has all its entries, of which none is added later.
#[derive(Clone, Copy, Debug)]
pub struct LazyQueue {
    min: u64,
    min_index: usize,
}

impl LazyQueue {
    /// Nothing is known: the first query looks at all entries.
    pub const fn new() -> Self {
        Self { min: 0, min_index: usize::MAX }
    }

    /// `find-min` (Algorithm 2): the least entry; none if M has no entries.
    ///
    /// Beside one look a query, all queries together look at no more than 2 · |M| · ∆ entries, with
    /// ∆ how many values the minimum had. Each took |M| calls, so that a query takes constant
    /// amortized time (Theorem 3.1, in which ∆ is the last minimum: that is the same for counters
    /// which begin with 1, as those of items that were seen do).
    pub fn find_min<C: Counters>(
        &mut self,
        entries: &(impl Entries<C::Node> + ?Sized),
        counters: &C,
    ) -> Option<Least<C::Node>> {
        // Lines 1 to 3
        while let Some(node) = entries.get(self.min_index) {
            if counters.count(node) == self.min {
                return Some(Least { index: self.min_index, node, count: self.min }); // 8
            }
            self.go_on();
        }
        // Lines 4 to 8
        let least = first_of_the_least(entries, counters)?;
        self.min = least.count;
        self.min_index = least.index;
        Some(least)
    }

    /// The entry at `min-idx` counts more than `min`, or is about to.
    pub(super) fn go_on(&mut self) {
        self.min_index = self.min_index.saturating_add(1);
    }
}

impl Default for LazyQueue {
    fn default() -> Self {
        Self::new()
    }
}

/// Lines 5 and 6 of Algorithm 2, in one scan.
fn first_of_the_least<C: Counters>(
    entries: &(impl Entries<C::Node> + ?Sized),
    counters: &C,
) -> Option<Least<C::Node>> {
    let mut least: Option<Least<C::Node>> = None;
    for (index, node) in (0..).map_while(|index| Some((index, entries.get(index)?))) {
        let count = counters.count(node);
        if least.is_none_or(|least| count < least.count) {
            least = Some(Least { index, node, count });
        }
    }
    least
}
