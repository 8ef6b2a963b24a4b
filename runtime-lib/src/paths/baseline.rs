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
//! For all counters this happens at once: each has two numbers, and one store says which of them is
//! X. Until then the other is prepared, and without memory it is not stored.
//!
//! The numbers are in a hash table by what their counters belong to: a child of a node, or a field
//! of a forest. Most programs never pause and have none.

use crate::arena::{Arena, Purpose};
use crate::file::live;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use midflight_abi::memory::{self, Baseline, BaselineTable};

/// Slots of the first table.
const FIRST: usize = 64;

/// How often the profile was paused and resumed.
static TURNS: AtomicU64 = AtomicU64::new(0);

pub fn is_paused() -> bool {
    TURNS.load(Ordering::Relaxed) % 2 == 1
}

/// Whether the profile is or was paused: what is in it began, or ended, within activations.
pub fn was_turned() -> bool {
    TURNS.load(Ordering::Relaxed) != 0
}

/// A counter's X, and what X is to be next.
fn by_turn([even, odd]: &mut [u64; 2]) -> (&mut u64, &mut u64) {
    if is_paused() { (odd, even) } else { (even, odd) }
}

/// Makes the numbers that were prepared X: the profile is paused, or goes on. Under the process
/// lock.
pub fn turn() {
    let turns = TURNS.load(Ordering::Relaxed) + 1;
    live::change(|| {
        TURNS.store(turns, Ordering::Relaxed);
        live::set_turns(turns);
    });
}

/// What a counter belongs to: the address of a node or a forest, and a label in it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Counter {
    /// The address; not 0
    pub owner: usize,
    pub label: u32,
}

impl Counter {
    fn of(entry: &Baseline) -> Self {
        Self { owner: entry.owner, label: entry.label }
    }

    fn with(self, numbers: [u64; 2]) -> Baseline {
        Baseline { owner: self.owner, label: self.label, numbers }
    }
}

/// The numbers of a context. Used under its lock.
#[repr(C)]
pub struct Baselines {
    /// The table, as others find it in a file.
    pub shared: memory::Baselines,
    used: usize,
}

impl Baselines {
    pub const fn new() -> Self {
        Self { shared: memory::Baselines { table: null_mut() }, used: 0 }
    }

    /// What the profile has of a counter that stands at `count`.
    pub fn told(&self, counter: Counter, count: u64) -> u64 {
        let number = self.number(counter);
        if is_paused() { number } else { count.wrapping_sub(number) }
    }

    /// X of a counter.
    pub fn number(&self, counter: Counter) -> u64 {
        *by_turn(&mut self.numbers(counter)).0
    }

    fn numbers(&self, counter: Counter) -> [u64; 2] {
        // SAFETY: a place in the table.
        self.place(counter).map_or([0; 2], |place| unsafe { (*place).numbers })
    }

    fn size(&self) -> usize {
        let table = self.shared.table;
        // SAFETY: the table was made here.
        if table.is_null() { 0 } else { unsafe { (*table).size } }
    }

    fn entry(&self, index: usize) -> *mut Baseline {
        self.shared.table.wrapping_add(1).cast::<Baseline>().wrapping_add(index)
    }

    /// Makes room for so many more counters. False: there is no memory.
    pub fn reserve(&mut self, arena: &mut Arena, more: usize) -> bool {
        let Some(needed) = self.used.checked_add(more).and_then(|n| n.checked_mul(2)) else {
            return false;
        };
        if needed <= self.size() {
            return true;
        }
        let size = needed.next_power_of_two().max(FIRST);
        let bytes = size.checked_mul(size_of::<Baseline>());
        let bytes = bytes.and_then(|bytes| bytes.checked_add(size_of::<BaselineTable>()));
        let Some(memory) = bytes.and_then(|bytes| arena.allocate(bytes, Purpose::Growth)) else {
            return false;
        };
        let table = memory.as_ptr().cast::<BaselineTable>();
        // SAFETY: the memory has that size.
        unsafe { table.write(BaselineTable { size }) };
        let mut new = Self { shared: memory::Baselines { table }, used: 0 };
        for index in 0..self.size() {
            // SAFETY: the index is below the size.
            let entry = unsafe { *self.entry(index) };
            if entry.owner != 0 {
                new.set(Counter::of(&entry), entry.numbers);
            }
        }
        self.used = new.used;
        // SAFETY: the field is valid; whoever finds the table finds it whole.
        unsafe { AtomicPtr::from_ptr(&raw mut self.shared.table) }.store(table, Ordering::Release);
        true
    }

    /// Sets the numbers of a counter, for which there is room if it is not there.
    fn set(&mut self, counter: Counter, numbers: [u64; 2]) {
        let Some(place) = self.place(counter) else { return };
        // SAFETY: a place in the table.
        unsafe {
            self.used += usize::from((*place).owner == 0);
            place.write(counter.with(numbers));
        }
    }

    /// Prepares what X of a counter is to be after [`turn`]. There is room for it if it is not
    /// there.
    pub fn set_next(&mut self, counter: Counter, number: u64) {
        let mut numbers = self.numbers(counter);
        *by_turn(&mut numbers).1 = number;
        self.set(counter, numbers);
    }

    /// Sets all of them to zero.
    pub fn clear(&mut self) {
        for index in 0..self.size() {
            // SAFETY: the index is below the size.
            unsafe { (*self.entry(index)).numbers = [0; 2] };
        }
    }

    /// Where a counter is or would be: half of the table is empty. None: there is no table.
    fn place(&self, counter: Counter) -> Option<*mut Baseline> {
        let mask = self.size().checked_sub(1)?;
        let hash = (counter.owner as u64 ^ u64::from(counter.label) << 20)
            .wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let mut index = (hash >> 20) as usize & mask;
        loop {
            let place = self.entry(index);
            // SAFETY: the index is below the size.
            let found = unsafe { &*place };
            if found.owner == 0 || Counter::of(found) == counter {
                return Some(place);
            }
            index = (index + 1) & mask;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arena::Contents;

    #[test]
    fn numbers_are_found_again_after_growth() {
        let (mut arena, mut baselines) = (Arena::new(Contents::Other), Baselines::new());
        let counter = |i: u32| Counter { owner: 0x1000 + 64 * (i as usize / 7), label: i % 7 };
        for i in 0..1000 {
            assert_eq!(baselines.number(counter(i)), 0);
            assert!(baselines.reserve(&mut arena, 1));
            baselines.set(counter(i), [u64::from(i) + 1, 0]);
        }
        assert!((0..1000).all(|i| baselines.number(counter(i)) == u64::from(i) + 1));
        baselines.clear();
        assert!((0..1000).all(|i| baselines.number(counter(i)) == 0));
    }
}
