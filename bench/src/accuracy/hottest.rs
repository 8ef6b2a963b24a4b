//! The hottest sequences of a length, over all functions.

use super::told::Told;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Those that occurred most often, up to a number. Of equally hot ones the first stay.
#[derive(Clone, Debug)]
pub struct Hottest {
    most: usize,
    /// The coldest first
    heap: BinaryHeap<Reverse<Entry>>,
    arrived: usize,
}

/// Ordered from cold to hot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    truth: u64,
    arrived: Reverse<usize>,
    count: u64,
    most: u64,
}

impl Hottest {
    /// None yet, and never more than so many.
    pub fn new(most: usize) -> Hottest {
        Hottest { most, heap: BinaryHeap::new(), arrived: 0 }
    }

    /// Takes a sequence of this truth if it is hot enough: only then is asked what is told of it.
    pub fn offer(&mut self, truth: u64, told: impl FnOnce() -> Told) {
        let arrived = Reverse(self.arrived);
        self.arrived += 1;
        if self.heap.len() == self.most {
            if self.heap.peek().is_none_or(|Reverse(coldest)| truth <= coldest.truth) {
                return;
            }
            self.heap.pop();
        }
        let Told { count, most, .. } = told();
        self.heap.push(Reverse(Entry { truth, arrived, count, most }));
    }

    /// The hottest, up to a number, the hottest first.
    pub fn first(&self, number: usize) -> Vec<Told> {
        let mut all: Vec<Entry> = self.heap.iter().map(|&Reverse(entry)| entry).collect();
        all.sort_unstable_by_key(|&entry| Reverse(entry));
        let told = |Entry { truth, count, most, .. }| Told { truth, count, most };
        all.into_iter().take(number).map(told).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hottest_stay_and_the_first_of_equals() {
        let mut hottest = Hottest::new(3);
        for (truth, count) in [(5, 1), (1, 2), (7, 3), (5, 4), (5, 5), (9, 6)] {
            hottest.offer(truth, || Told { truth, count, most: truth });
        }
        let counts = |number| hottest.first(number).iter().map(|t| t.count).collect::<Vec<_>>();
        assert_eq!(counts(3), [6, 3, 1]);
        assert_eq!(counts(1), [6]);
        assert_eq!(counts(9), [6, 3, 1]);
    }

    #[test]
    fn nobody_asks_for_what_is_too_cold() {
        let mut hottest = Hottest::new(1);
        hottest.offer(5, || Told::exactly(5));
        hottest.offer(5, || unreachable!("it is no hotter than the first"));
        assert_eq!(hottest.first(2), [Told::exactly(5)]);
    }
}
