//! The memory for what a thread counts in windows, and who gets it.
//!
//! Memory that emitted code may still reach is never used for something else: frames and slots hold
//! addresses, nobody knows where, and a step checks a path's key but not its history. So nothing
//! that is dropped would make room for anything, and nothing is dropped. What there is room for
//! decides what is made ([`Room::affords`]):
//!
//! | left of the thread's memory | a table of a state, or a larger one, is made |
//! |---|---|
//! | more than three quarters ([`Parts::free`]) | at once: all is exact until then |
//! | less | when it is worth the [price](Room::price), which rises with what is gone, squared |
//! | a thirty-second | for functions that have not had their [quota], which nobody else can take |
//!
//! What it is worth is how many events would have been counted there. They are counted all the
//! same, at the longest suffix of their windows that has a place, and the activation goes on from
//! there. A slot whose next state is shorter than it should be is closed: the runtime sees its
//! events, and looks again when they have doubled. One that has been looked at in vain too often is
//! opened ([`most_heat`]). After some more events that emitted code has not found, all slots that
//! were opened are looked at ([`Room::is_time_to_look`]): what has become hot by then is worth
//! more.
//!
//! A part is kept for tables that are spread, so that emitted code finds the paths in them at once.
//!
//! All memory of the process has a limit, too. A part of what is left of it counts as a thread's
//! own, the smaller the more threads there are: so however noisy they are, each new one finds some.

use crate::arena::{self, Arena, Contents, Purpose};
use crate::paths::forest::ThreadForest;
use crate::paths::index::Index;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use midflight_abi::memory;
use midflight_profile::format::MemoryUse;

/// Memory for what a thread counts in windows of up to so many paths unless the environment says
/// otherwise. Longer windows are too many to be all of use, and what does not fit the processor's
/// caches costs more time than the program itself.
const SHORT: u32 = 4;
const DEFAULT_FOR_SHORT: usize = 64 << 20;

/// The same for longer windows.
const DEFAULT_FOR_LONG: usize = 4 << 20;

/// What the environment says; 0: nothing.
static BUDGET: AtomicUsize = AtomicUsize::new(0);

/// Sets the memory for what a thread counts in windows, in bytes.
pub fn set_budget(bytes: usize) {
    BUDGET.store(bytes.max(1), Ordering::Relaxed);
}

/// Memory for a thread that counts windows of up to k paths, in bytes.
pub fn budget_for(k: u32) -> usize {
    let bytes = match BUDGET.load(Ordering::Relaxed) {
        0 if k <= SHORT => DEFAULT_FOR_SHORT,
        0 => DEFAULT_FOR_LONG,
        bytes => bytes,
    };
    bytes.min(arena::limit() / 2)
}

/// That part of a budget is for functions that have not had their quota.
const POOL: usize = 32;

/// What one part of so many of a budget is for.
#[derive(Clone, Copy)]
struct Parts {
    /// Whoever comes first
    free: usize,
    /// To spread tables, so that emitted code finds what is in them
    spreading: usize,
}

const PARTS_FOR_SHORT: Parts = Parts { free: 4, spreading: 32 };

/// Longer windows are more, and what comes first says less about what will be hot; more tables are
/// small and crowded.
const PARTS_FOR_LONG: Parts = Parts { free: 8, spreading: 8 };

impl Parts {
    fn of(k: u32) -> Self {
        if k <= SHORT { PARTS_FOR_SHORT } else { PARTS_FOR_LONG }
    }
}

/// The part for whoever comes first where other threads have left less than the budget.
const FREE_OF_SHARED: usize = 32;

/// A function that has that part of a budget pays the price; others pay in proportion.
const FAIR: u64 = 16;

/// Events that a table is worth at least where there is a price.
const LEAST_PRICE: u64 = 2;

/// The same for a table that is spread, of which events are found at once.
const SPREAD_PRICE: u64 = 8;

/// Bytes that the price is for.
const UNIT: u64 = 128;

/// After so many events a closed slot of the table of ε is opened, though its next state is still
/// shorter than it should be, in a function that has had [`CLOSED_EVENTS`] in closed slots. For
/// each path that a state's window has it is a quarter of that, down to [`LONG_HEAT`]: what shorter
/// windows lead to is worth more.
const HEAT: u64 = 1 << 20;
const LONG_HEAT: u64 = 1 << 12;
const CLOSED_EVENTS: u64 = 1 << 19;

/// The same however many there have been: each of them costs a call of the runtime.
const LEAST_HEAT: u64 = 1 << 12;
const LEAST_LONG_HEAT: u64 = 1 << 5;

/// Of so many events that emitted code has not found, one is taken to stand for all.
pub const SAMPLE: u32 = 128;

/// After so many events for each slot that emitted code has not found all slots are looked at.
const LOOK: u64 = 4;

/// The memory, see the module.
pub struct Room {
    /// Where nodes and tables are.
    pub arena: Arena,
    /// The nodes by their windows.
    pub index: Index,
    /// How much they may take.
    budget: usize,
    parts: Parts,
    /// How much of it is to spread tables.
    for_spreading: usize,
    /// Whether there is a price.
    is_dear: AtomicBool,
    /// Events that emitted code has not found.
    unfound: u64,
    /// How many of them there are when all slots with short states are looked at.
    next_look: u64,
    /// Events that had no place in tables, and have bought nothing yet.
    tickets: u64,
    /// Whether it is what a test wants.
    #[cfg(test)]
    is_set: bool,
}

impl Room {
    /// None; it comes with the first forest.
    pub const fn new() -> Self {
        Self {
            arena: Arena::with_budget(Contents::Profile, 0),
            index: Index::new(),
            budget: 0,
            parts: PARTS_FOR_SHORT,
            for_spreading: 0,
            is_dear: AtomicBool::new(false),
            unfound: 0,
            next_look: 0,
            tickets: 0,
            #[cfg(test)]
            is_set: false,
        }
    }

    /// So many bytes, whatever is raised later.
    #[cfg(test)]
    pub fn set(bytes: usize) -> Self {
        let mut this = Self::new();
        this.raise(bytes, PARTS_FOR_SHORT);
        Self { is_set: true, ..this }
    }

    /// As much as is due to a thread that counts windows of up to k paths.
    pub fn raise_for(&mut self, k: u32) {
        #[cfg(test)]
        if self.is_set {
            return;
        }
        self.raise(budget_for(k), Parts::of(k));
    }

    /// So many bytes at least.
    fn raise(&mut self, budget: usize, parts: Parts) {
        let more = budget.saturating_sub(self.budget);
        let for_spreading = budget.checked_div(parts.spreading).unwrap_or(0);
        let for_spreading = for_spreading.saturating_sub(self.for_spreading).min(more);
        self.budget += more;
        self.for_spreading += for_spreading;
        self.parts = parts;
        self.arena.raise(more - for_spreading, for_spreading);
    }

    /// Nothing more may be made, but so many bytes to spread tables.
    #[cfg(test)]
    pub fn fill(&mut self, for_spreading: usize) {
        self.for_spreading = for_spreading;
        self.arena.exhaust(for_spreading);
        self.is_dear.store(true, Ordering::Relaxed);
    }

    /// Adds what it has to the sum of all threads, if it has any.
    pub fn add_to(&self, sum: &mut MemoryUse) {
        let (states, index) = (self.arena.handed_out(), self.index.bytes());
        if states != 0 {
            sum.add_thread(states as u64, index as u64, self.budget as u64);
        }
    }

    /// Whether there is a price, so that events may have no place.
    ///
    /// # Safety
    /// `this` points at the room of the calling thread; likewise below.
    pub unsafe fn is_dear(this: *mut Self) -> bool {
        // SAFETY: the caller's.
        unsafe { (*this).is_dear.load(Ordering::Relaxed) }
    }

    /// Counts an event that emitted code has not found, and tells whether it is to stand for
    /// [`SAMPLE`] of them.
    ///
    /// # Safety
    /// As for [`Self::is_dear`].
    pub unsafe fn is_sample(this: *mut Self) -> bool {
        // SAFETY: the caller's. That a handler of signals may undo this does no harm.
        unsafe {
            (*this).unfound = (*this).unfound.wrapping_add(1);
            (*this).unfound.is_multiple_of(SAMPLE.into())
        }
    }

    /// Whether it is time to look at all slots with short states.
    pub fn is_time_to_look(&self) -> bool {
        self.is_dear.load(Ordering::Relaxed) && self.unfound >= self.next_look
    }

    /// Notes that so many slots have been looked at.
    pub fn note_look(&mut self, slots: u64) {
        self.next_look = self.unfound + slots * LOOK;
    }

    /// Whether memory is for whoever comes first.
    pub fn has_plenty(&self) -> bool {
        self.price() == Some(0)
    }

    /// How many events [`UNIT`] bytes have to be worth; none: they are not for sale.
    fn price(&self) -> Option<u64> {
        let left = self.arena.left();
        // What others have left of the process's limit may be less than the thread's own.
        let for_growth = self.budget.saturating_sub(self.for_spreading);
        let budget = for_growth.saturating_sub(self.arena.unshared_left().saturating_sub(left));
        let pool = budget / POOL;
        let rest = budget - pool;
        let free = if budget < for_growth { FREE_OF_SHARED } else { self.parts.free };
        let dear = rest.saturating_sub(rest.checked_div(free)?);
        let left = left.checked_sub(pool)?;
        if left > dear {
            return Some(0);
        }
        // As a fraction, of which the square is wanted.
        const ONE: usize = 64;
        let gone = dear.saturating_mul(ONE).checked_div(left)? as u64;
        let square = gone.saturating_mul(gone) / (ONE * ONE) as u64;
        Some(LEAST_PRICE.saturating_mul(square))
    }

    /// Whether a function may have so many bytes for what is worth so many events.
    ///
    /// # Safety
    /// `forest` is a forest of this thread.
    pub unsafe fn affords(
        &self,
        forest: *const memory::ThreadForest,
        bytes: usize,
        heat: u64,
    ) -> bool {
        // SAFETY: the caller's.
        let (has, k) = unsafe { ((*forest).bytes, (*forest).k) };
        if has.saturating_add(bytes as u64) <= quota(self.budget, k) {
            return true;
        }
        // Who has more pays more.
        let part = self.budget as u64 / FAIR;
        let price = self
            .price()
            .map(|price| price.saturating_mul(has.max(part / 8).min(part * 4)) / part.max(1));
        let is_worth = |price: u64| heat.saturating_mul(UNIT) >= price.saturating_mul(bytes as u64);
        if price != Some(0) {
            self.is_dear.store(true, Ordering::Relaxed);
        }
        price.is_some_and(is_worth)
    }

    /// The same for a table that has had so many events without a place since it was last asked.
    ///
    /// # Safety
    /// As for [`Self::affords`].
    pub unsafe fn affords_growth(
        &mut self,
        forest: *const memory::ThreadForest,
        bytes: usize,
        misses: u64,
    ) -> bool {
        self.tickets = self.tickets.saturating_add(misses);
        // SAFETY: the caller's.
        let is_affordable = unsafe {
            self.affords(forest, bytes, misses)
                || misses >= MOST_MISSES && self.affords(forest, bytes, self.tickets)
        };
        if is_affordable {
            self.tickets = 0;
        }
        is_affordable
    }

    /// Whether a table of so many bytes is worth that so many events are found at once.
    pub fn affords_spread(&self, bytes: usize, heat: u64) -> bool {
        let left = self.arena.left_for_spreading();
        let gone = self.for_spreading.checked_div(left).map_or(u64::MAX, |gone| gone as u64);
        let price = SPREAD_PRICE.saturating_mul(gone).saturating_mul(gone);
        heat.saturating_mul(UNIT) >= price.saturating_mul(bytes as u64)
    }

    /// Takes so many bytes for a function; zeroes. None: there are none.
    ///
    /// # Safety
    /// As for [`Self::affords`].
    pub unsafe fn take(
        &mut self,
        forest: *mut ThreadForest,
        bytes: usize,
        purpose: Purpose,
    ) -> Option<*mut u8> {
        let memory = self.arena.allocate(bytes, purpose)?.as_ptr();
        // SAFETY: the caller's.
        unsafe { (*forest).shared.bytes += bytes as u64 };
        Some(memory)
    }
}

/// Events after which a closed slot in the table of a window of so many paths is opened in any
/// case, in a function that has had so many events in closed slots.
#[inline(always)]
pub fn most_heat(closed_events: u64, length: u8) -> u64 {
    let length = u32::from(length).min(u64::BITS / 2 - 1);
    let heat = (HEAT >> (2 * length)).max(LONG_HEAT);
    let least = (LEAST_HEAT >> length).max(LEAST_LONG_HEAT);
    const ONE: u64 = 256;
    let part = ONE.saturating_mul(CLOSED_EVENTS).checked_div(closed_events).unwrap_or(ONE * ONE);
    let part = part.min(ONE * ONE);
    // Those of long windows are many: there it is by the square.
    let square = if heat > LONG_HEAT { part } else { part * part / ONE };
    (heat * square / ONE).max(least)
}

/// Misses of a table that are counted before it begins anew.
pub const MOST_MISSES: u64 = 256;

/// Bytes that a function has in any case: enough for the windows of several runs of one path.
fn quota(budget: usize, k: u32) -> u64 {
    u64::from(k) * 512.min(budget as u64 / 1024)
}
