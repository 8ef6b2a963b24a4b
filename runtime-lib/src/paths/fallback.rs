//! The forest that stands in where none can be made: there is no memory, the record is refused, or
//! the runtime was entered from a function that it called itself.
//!
//! All threads share it, and what is counted in it is lost. That is stated when the profile is
//! written.

use crate::file::live;
use crate::message;
use crate::paths::counter;
use crate::paths::step;
use crate::sys;
use core::cell::UnsafeCell;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use midflight_abi::{
    DENSE_OFFSET, DENSE_PATHS, Forest, Mode, RecordHeader, Slot, WORD_SHIFT, is_dense,
};

/// Counters that functions in counting mode can write to in vain without any memory being mapped.
const SCRATCH: usize = 1 << 16;

/// Memory that emitted code of all threads writes to.
struct Shared<T>(UnsafeCell<T>);

// SAFETY: it is only reached through raw pointers. Emitted code adds to its counters without
// synchronisation, and additions may get lost; nothing but a lower bound is taken from them.
unsafe impl<T> Sync for Shared<T> {}

/// Zeroes are a valid value of all fields.
#[repr(C, align(16))]
struct Stand {
    /// A table without children, for functions with dense ones; its first slot is one for all
    /// others.
    empty: [Slot; DENSE_PATHS as usize],
    dense: Forest,
    sparse: Forest,
    counting: Forest,
    scratch: [u64; SCRATCH],
}

// SAFETY: integers and raw pointers may be zero.
static STAND: Shared<Stand> = Shared(UnsafeCell::new(unsafe { core::mem::zeroed() }));

/// A forest with more counters than [`SCRATCH`], if some function needs them, and before it their
/// number. Once there it is used for all functions in counting mode.
static LARGER: AtomicPtr<u64> = AtomicPtr::new(null_mut());

static LOST: AtomicU64 = AtomicU64::new(0);

/// Whether a forest in automaton mode is the one that stands in.
pub fn is_fallback(forest: *mut Forest) -> bool {
    let stand = STAND.0.get();
    // SAFETY: only addresses are taken.
    unsafe { forest == &raw mut (*stand).dense || forest == &raw mut (*stand).sparse }
}

/// The forest that stands in for that of a function.
///
/// # Safety
/// `record` is a record.
pub unsafe fn forest(record: *const RecordHeader) -> *mut Forest {
    live::note_loss();
    let stand = STAND.0.get();
    // SAFETY: the record is valid; the addresses are within the static.
    unsafe {
        if let Some(Mode::Automaton | Mode::Published) = (*record).mode() {
            let empty = (&raw mut (*stand).empty) as u64;
            let (forest, start) = match is_dense((*record).num_paths, (*record).k) {
                true => (&raw mut (*stand).dense, empty + DENSE_OFFSET),
                false => (&raw mut (*stand).sparse, empty << WORD_SHIFT),
            };
            // Any number of threads may do this at once.
            AtomicU64::from_ptr(&raw mut (*forest).start).store(start, Ordering::Relaxed);
            AtomicU64::from_ptr(&raw mut (*forest).step).store(step::address(), Ordering::Relaxed);
            return forest;
        }
        if !provide_counters((*record).num_paths) {
            // Emitted code is going to write to an array that does not exist.
            message::print(&[b"no memory for the counters of a function, not even scratch memory; raise the limit on address space (ulimit -v)"]);
            sys::abort();
        }
        counting().0
    }
}

/// Sees to it that a function with that many paths can be stood in for. Called when its image is
/// registered, while there is memory.
pub fn provide_counters(num_paths: u32) -> bool {
    let needed = num_paths as usize;
    while counting().1 < needed {
        let old = LARGER.load(Ordering::Acquire);
        let bytes = (needed + 1) * size_of::<u64>() + size_of::<Forest>();
        let Some(memory) = sys::map(bytes) else { return false };
        let memory = memory.as_ptr().cast::<u64>();
        // SAFETY: the mapping is new and large enough. One that loses the race stays mapped,
        // untouched.
        unsafe { memory.write(needed as u64) };
        _ = LARGER.compare_exchange(old, memory, Ordering::AcqRel, Ordering::Relaxed);
    }
    true
}

/// The forest in use for functions in counting mode, and how many counters follow it.
fn counting() -> (*mut Forest, usize) {
    let larger = LARGER.load(Ordering::Acquire);
    if larger.is_null() {
        return (smaller(), SCRATCH);
    }
    // SAFETY: the mapping begins with its number of counters.
    unsafe { (larger.add(1).cast(), *larger as usize) }
}

fn smaller() -> *mut Forest {
    // SAFETY: only an address is taken.
    unsafe { &raw mut (*STAND.0.get()).counting }
}

/// Calls `visit` with all counters of functions in counting mode that were entered here.
fn for_each_counter(mut visit: impl FnMut(*mut u64)) {
    let larger = counting();
    for (forest, len) in [(smaller(), SCRATCH), larger] {
        // SAFETY: that many counters follow the forest.
        unsafe {
            let entries = &raw mut (*forest).totals.entries;
            if counter::read(entries) != 0 {
                (0..len).for_each(|index| visit(forest.add(1).cast::<u64>().add(index)));
            }
            if larger.0 == forest {
                return;
            }
        }
    }
}

/// Notes events that could not be counted.
pub fn lose_events(n: u64) {
    LOST.fetch_add(n, Ordering::Relaxed);
}

/// Events that were lost here; a lower bound where threads lost some at the same time.
pub fn lost() -> u64 {
    let mut sum = LOST.load(Ordering::Relaxed);
    // SAFETY: the counters are valid.
    for_each_counter(|place| sum = sum.saturating_add(unsafe { counter::read(place) }));
    sum
}

pub fn clear() {
    LOST.store(0, Ordering::Relaxed);
    // SAFETY: the counters are valid.
    for_each_counter(|place| unsafe { counter::clear(place) });
}
