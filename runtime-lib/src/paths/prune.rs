//! What happens when the memory for a thread's nodes is full.
//!
//! The coldest sequences are dropped: all leaves, and then what has become one, that were counted
//! less often than a threshold that at most half of the slots reach. What is left is built anew in
//! fresh memory. The last path of a dropped sequence is counted at its root,
//! as if the activation had begun with it. So the counts of single paths stay exact, those of
//! longer ones become lower bounds, and the forest says how many events have lost their history
//! (`pruned`).
//!
//! States that lead to dropped nodes are in frames, nobody knows where. So memory that was left is
//! never used again, and nothing is found there any more: the next event of such an activation
//! begins anew. A signal handler that prunes between the lookup and the count of the event that it
//! interrupts loses that one event.
//!
//! Were the memory filled again at once, a program whose paths do not repeat would do nothing but
//! build nodes. So after each time more misses are put up with before the next: twice as many.
//! Until then, events that are not in the forest are counted at their root.

use crate::arena::{Arena, Contents};
use crate::paths::counter;
use crate::paths::forest::{DETOURS, ThreadForest};
use crate::paths::node::{self, Child};
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use midflight_abi::{Mode, Slot};

/// Memory for the nodes of a thread unless the environment says otherwise.
pub const DEFAULT_BUDGET: usize = 1 << 20;

static BUDGET: AtomicUsize = AtomicUsize::new(DEFAULT_BUDGET);

/// Sets the memory for the nodes of a thread, in bytes.
pub fn set_budget(bytes: usize) {
    BUDGET.store(bytes, Ordering::Relaxed);
}

/// Binary orders of magnitude of a count.
const MAGNITUDES: usize = 33;

/// Slots by the binary logarithm of what they or those below them have counted.
pub type Histogram = [u32; MAGNITUDES];

/// The memory for a thread's nodes.
pub struct Nodes {
    /// Where they are.
    pub arena: Arena,
    /// How much they may take.
    budget: usize,
    /// Events that found no room since the last time.
    misses: u64,
    /// Misses that are put up with.
    patience: u64,
    /// How often the forests were pruned.
    prunings: u32,
    /// Whether no nodes are made until there were so many.
    is_full: AtomicBool,
    /// Events that emitted code did not find though they were there.
    detours: u32,
}

/// Where an event leads to that emitted code has not found.
pub struct Lookup {
    /// What is counted.
    pub child: Child,
    /// Whether there was no room to do better, perhaps.
    pub is_miss: bool,
    /// Whether the activation begins anew with it.
    pub is_restart: bool,
}

impl Nodes {
    pub fn new() -> Self {
        Self::with_budget(BUDGET.load(Ordering::Relaxed))
    }

    /// The same, for so many bytes.
    pub fn with_budget(budget: usize) -> Self {
        let arena = Arena::with_budget(Contents::Profile, budget);
        Self {
            arena,
            budget,
            misses: 0,
            patience: 0,
            prunings: 0,
            is_full: AtomicBool::new(false),
            detours: 0,
        }
    }

    /// No nodes any more, and so many misses that are put up with.
    #[cfg(test)]
    pub fn fill(&mut self, patience: u64) {
        self.arena.exhaust();
        self.is_full.store(true, Ordering::Relaxed);
        (self.misses, self.patience) = (0, patience);
    }

    /// How often the forests were pruned. A handler of signals may change it at any time.
    pub fn prunings(&self) -> u32 {
        // SAFETY: the field is valid.
        unsafe { (&raw const self.prunings).read_volatile() }
    }

    /// Where an event leads to that emitted code has not found, if that can be told without a lock.
    ///
    /// # Safety
    /// `this` points at the nodes of the calling thread, where `forest` has its own; one of its
    /// states leads or has led to `table`.
    #[inline]
    pub unsafe fn look_up(
        this: *mut Self,
        forest: *mut ThreadForest,
        table: *mut Slot,
        label: u32,
    ) -> Option<Lookup> {
        // SAFETY: the caller's.
        unsafe {
            if let Some(child) = ThreadForest::look_up(table, label) {
                return Some(Lookup { child, is_miss: false, is_restart: false });
            }
            if !(*this).is_full.load(Ordering::Relaxed) {
                return None;
            }
            let (child, is_restart) = ThreadForest::look_up_root(forest, table, label)?;
            Some(Lookup { child, is_miss: true, is_restart })
        }
    }

    /// How many more misses are put up with.
    ///
    /// # Safety
    /// `this` points at the nodes of the calling thread.
    pub unsafe fn left(this: *mut Self) -> u64 {
        // SAFETY: the caller's.
        unsafe { (*this).patience.saturating_sub(counter::read(&raw mut (*this).misses)) }
    }

    /// Notes so many misses; whether they are put up with. A handler of signals may note some, too;
    /// none is lost.
    ///
    /// # Safety
    /// As for [`Self::left`].
    pub unsafe fn miss(this: *mut Self, n: u64) -> bool {
        // SAFETY: the caller's.
        unsafe {
            let misses = &raw mut (*this).misses;
            counter::add(misses, n);
            counter::read(misses) <= (*this).patience
        }
    }

    /// Whether to see to it that fewer events take the way that this one has.
    unsafe fn is_one_of_many_detours(this: *mut Self) -> bool {
        // SAFETY: the caller gives the nodes of the calling thread. That a handler of signals may
        // undo this does no harm.
        unsafe {
            (*this).detours = (*this).detours.wrapping_add(1);
            (*this).detours.is_multiple_of(DETOURS)
        }
    }

    /// Counts an event that emitted code has not found, if that takes no lock; returns the state
    /// after it.
    ///
    /// # Safety
    /// As for [`Self::look_up`].
    pub unsafe fn count_unlocked(
        this: *mut Self,
        forest: *mut ThreadForest,
        table: *mut Slot,
        label: u32,
    ) -> Option<u64> {
        // SAFETY: the caller's.
        unsafe {
            let found = Self::look_up(this, forest, table, label)?;
            let is_to_be_built = match found.is_miss {
                true => !Self::miss(this, 1),
                false => Self::is_one_of_many_detours(this),
            };
            if is_to_be_built {
                return None;
            }
            if found.is_restart {
                ThreadForest::note_restarts(forest, 1);
            }
            node::add(found.child.slot, 1);
            Some(found.child.next())
        }
    }

    /// Counts an event that emitted code has not found, and returns the state after it.
    ///
    /// # Safety
    /// `this` is the first of the forests or one of those after it, in a context whose lock the
    /// caller holds; one of its states leads or has led to `table`.
    pub unsafe fn count(
        &mut self,
        this: *mut ThreadForest,
        forests: *mut ThreadForest,
        table: *mut Slot,
        label: u32,
    ) -> u64 {
        // SAFETY: the caller's.
        unsafe {
            if let Some(next) = ThreadForest::build(this, &mut self.arena, table, label) {
                return next;
            }
            if self.misses >= self.patience && self.arena.is_exhausted() {
                self.prune(forests);
            }
            self.is_full.store(self.arena.is_exhausted(), Ordering::Relaxed);
            ThreadForest::restart(this, &mut self.arena, table, label)
        }
    }

    /// A function of its own, so that a step takes little stack as long as nothing is pruned.
    ///
    /// # Safety
    /// The caller holds the lock of the forests' context, with signals blocked.
    #[inline(never)]
    unsafe fn prune(&mut self, forests: *mut ThreadForest) {
        let mut histogram: Histogram = [0; MAGNITUDES];
        // SAFETY: the caller's.
        unsafe {
            automata(forests).for_each(|forest| ThreadForest::weigh(forest, &mut histogram));
            let all: u32 = histogram.iter().sum();
            let threshold = threshold(&histogram, all / 2);
            self.misses = 0;
            self.prunings = self.prunings.wrapping_add(1);
            self.patience = self.patience * 2 + u64::from(all);
            let mut fresh = Arena::with_budget(Contents::Profile, self.budget);
            if !fresh.provide() {
                return;
            }
            automata(forests)
                .for_each(|forest| ThreadForest::rebuild(forest, &mut fresh, threshold));
            self.arena = fresh;
        }
    }
}

/// The smallest count that at most `most` slots reach.
fn threshold(histogram: &Histogram, most: u32) -> u32 {
    let mut above = 0u32;
    for (magnitude, &slots) in histogram.iter().enumerate().rev() {
        above = above.saturating_add(slots);
        if above > most {
            return 1u32.checked_shl(magnitude as u32).unwrap_or(u32::MAX);
        }
    }
    1
}

unsafe fn automata(first: *mut ThreadForest) -> impl Iterator<Item = *mut ThreadForest> {
    // SAFETY: the caller holds the lock of the forests' context.
    unsafe { ThreadForest::list(first).filter(|&at| (*at).shared.mode == Mode::Automaton) }
}
