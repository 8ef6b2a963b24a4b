//! What is not to be told of a context's counters, so that counting can be paused.
//!
//! Emitted code counts on while the profile is paused: it has no time to ask. And a counter is
//! written by its own thread alone. So pausing and resuming touch no counter, and keep a number X
//! beside each, zero at first:
//!
//! | | the profile has |
//! |---|---|
//! | while counting | counter − X |
//! | while paused | X |
//!
//! Both pausing and resuming set X to counter − X. At the first pause this is the count then, which
//! stays; when counting is resumed, it is what was counted in between.
//!
//! The numbers are in a hash table by what their counters belong to: a child of a node, or a field of a
//! forest. Most programs never pause and have none.

use crate::arena::{Arena, Purpose};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, Ordering};

/// Slots of the first table.
const FIRST: usize = 64;

/// Whether the profile is paused.
static PAUSED: AtomicBool = AtomicBool::new(false);

/// Whether the profile is paused.
pub fn is_paused() -> bool {
    PAUSED.load(Ordering::Relaxed)
}

/// Says whether it is, under the process lock.
pub fn set_paused(paused: bool) {
    PAUSED.store(paused, Ordering::Relaxed);
}

/// What a counter belongs to: the address of a node or a forest, and a label in it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Counter {
    /// The address; not 0
    pub owner: usize,
    /// The label
    pub label: u32,
}

#[derive(Clone, Copy)]
struct Entry {
    counter: Counter,
    number: u64,
}

/// The numbers of a context. Used under its lock.
pub struct Baselines {
    entries: *mut Entry,
    size: usize,
    used: usize,
}

impl Baselines {
    /// All of them zero.
    pub const fn new() -> Self {
        Self { entries: null_mut(), size: 0, used: 0 }
    }

    /// What the profile has of a counter that stands at `count`.
    pub fn told(&self, counter: Counter, count: u64) -> u64 {
        let number = self.number(counter);
        if is_paused() { number } else { count.wrapping_sub(number) }
    }

    /// X of a counter.
    pub fn number(&self, counter: Counter) -> u64 {
        // SAFETY: a place in the table.
        self.place(counter).map_or(0, |place| unsafe { (*place).number })
    }

    /// Makes room for so many more counters. False: there is no memory.
    pub fn reserve(&mut self, arena: &mut Arena, more: usize) -> bool {
        let Some(needed) = self.used.checked_add(more).and_then(|n| n.checked_mul(2)) else {
            return false;
        };
        if needed <= self.size {
            return true;
        }
        let size = needed.next_power_of_two().max(FIRST);
        let Some(bytes) = size.checked_mul(size_of::<Entry>()) else { return false };
        let Some(memory) = arena.allocate(bytes, Purpose::Growth) else { return false };
        let old = core::mem::replace(self, Self { entries: memory.as_ptr().cast(), size, used: 0 });
        for index in 0..old.size {
            // SAFETY: the index is below the size.
            let entry = unsafe { *old.entries.add(index) };
            if entry.counter.owner != 0 {
                self.set(entry.counter, entry.number);
            }
        }
        true
    }

    /// Sets X of a counter, for which there is room if it is not there.
    pub fn set(&mut self, counter: Counter, number: u64) {
        let Some(place) = self.place(counter) else { return };
        // SAFETY: a place in the table.
        unsafe {
            self.used += usize::from((*place).counter.owner == 0);
            place.write(Entry { counter, number });
        }
    }

    /// Takes X of a counter away, which is gone: it becomes zero.
    pub fn take(&mut self, counter: Counter) -> u64 {
        let number = self.number(counter);
        if number != 0 {
            self.set(counter, 0);
        }
        number
    }

    /// Adds to X of a counter. Without memory it is not added, and the profile has more.
    pub fn add(&mut self, arena: &mut Arena, counter: Counter, number: u64) {
        if number != 0 && self.reserve(arena, 1) {
            self.set(counter, self.number(counter).wrapping_add(number));
        }
    }

    /// Sets all of them to zero.
    pub fn clear(&mut self) {
        for index in 0..self.size {
            // SAFETY: the index is below the size.
            unsafe { (*self.entries.add(index)).number = 0 };
        }
    }

    /// Where a counter is or would be: half of the table is empty. None: there is no table.
    fn place(&self, counter: Counter) -> Option<*mut Entry> {
        let mask = self.size.checked_sub(1)?;
        let hash = (counter.owner as u64 ^ u64::from(counter.label) << 20)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut index = (hash >> 20) as usize & mask;
        loop {
            // SAFETY: the index is below the size.
            let place = unsafe { self.entries.add(index) };
            // SAFETY: as above.
            let found = unsafe { (*place).counter };
            if found.owner == 0 || found == counter {
                return Some(place);
            }
            index = (index + 1) & mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_found_again_after_growth() {
        let (mut arena, mut baselines) = (Arena::new(), Baselines::new());
        let counter = |i: u32| Counter { owner: 0x1000 + 64 * (i as usize / 7), label: i % 7 };
        for i in 0..1000 {
            assert_eq!(baselines.number(counter(i)), 0);
            baselines.add(&mut arena, counter(i), u64::from(i) + 1);
        }
        baselines.add(&mut arena, counter(5), 10);
        assert_eq!(baselines.take(counter(6)), 7);
        assert_eq!((baselines.number(counter(5)), baselines.number(counter(6))), (16, 0));
        assert!((7..1000).all(|i| baselines.number(counter(i)) == u64::from(i) + 1));
        baselines.clear();
        assert!((0..1000).all(|i| baselines.number(counter(i)) == 0));
    }
}
