//! The forest that stands in where none can be made: there is no memory, the record is refused, or
//! the runtime was entered from a function that it called itself.
//!
//! All threads share it, and what is counted in it is lost. That is stated when the profile is
//! written.

use crate::message;
use crate::sys;
use core::cell::UnsafeCell;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
use midflight_abi::{FLAG_COUNTING, Forest, RecordHeader, START_LEVEL, Slot};

/// Counters that functions in counting mode can write to in vain without any memory being mapped.
const SCRATCH: usize = 1 << 16;

/// Memory that emitted code of all threads writes to.
struct Shared<T>(UnsafeCell<T>);

// SAFETY: it is only reached through raw pointers. Emitted code adds to its counters without
// synchronisation, and additions may get lost; nothing but a lower bound is taken from them.
unsafe impl<T> Sync for Shared<T> {}

/// Zeroes are a valid value of all fields.
struct Stand {
    automaton: Forest,
    counting: Forest,
    empty: Slot,
    scratch: [u64; SCRATCH],
}

// SAFETY: integers and raw pointers may be zero.
static STAND: Shared<Stand> = Shared(UnsafeCell::new(unsafe { core::mem::zeroed() }));

/// More counters than [`SCRATCH`], if some function needs them: their number, then they. Once there
/// they are used for all functions, so that the pointer in the forest fits all of them.
static LARGER: AtomicPtr<u64> = AtomicPtr::new(null_mut());

static LOST: AtomicU64 = AtomicU64::new(0);

/// Whether a forest is one of the two that stand in.
pub fn is_fallback(forest: *mut Forest) -> bool {
    let stand = STAND.0.get();
    // SAFETY: only addresses are taken.
    let (automaton, counting) =
        unsafe { (&raw mut (*stand).automaton, &raw mut (*stand).counting) };
    forest == automaton || forest == counting
}

/// The forest that stands in for that of a function.
///
/// # Safety
/// `record` is a record.
pub unsafe fn forest(record: *const RecordHeader) -> *mut Forest {
    let stand = STAND.0.get();
    // SAFETY: the record is valid; the addresses are within the static.
    unsafe {
        if (*record).flags & FLAG_COUNTING == 0 {
            return fill(&raw mut (*stand).automaton, &raw mut (*stand).empty);
        }
        if !provide_counters((*record).num_paths) {
            // Emitted code is going to write to an array that does not exist.
            message::print(&[b"no memory for the counters of a function, not even scratch memory; raise the limit on address space (ulimit -v)"]);
            libc::abort();
        }
        let (counters, _) = scratch();
        fill(&raw mut (*stand).counting, counters.cast())
    }
}

/// Sees to it that a function with that many paths can be stood in for. Called when its image is
/// registered, while there is memory.
pub fn provide_counters(num_paths: u32) -> bool {
    let needed = num_paths as usize;
    while scratch().1 < needed {
        let old = LARGER.load(Ordering::Acquire);
        let Some(memory) = sys::map((needed + 1) * size_of::<u64>()) else { return false };
        let memory = memory.as_ptr().cast::<u64>();
        // SAFETY: the mapping is new and large enough. One that loses the race stays mapped,
        // untouched.
        unsafe { memory.write(needed as u64) };
        _ = LARGER.compare_exchange(old, memory, Ordering::AcqRel, Ordering::Relaxed);
    }
    true
}

/// The counters in use, and how many they are.
fn scratch() -> (*mut u64, usize) {
    let larger = LARGER.load(Ordering::Acquire);
    if larger.is_null() {
        // SAFETY: only an address is taken.
        return unsafe { ((&raw mut (*STAND.0.get()).scratch).cast(), SCRATCH) };
    }
    // SAFETY: the mapping begins with its length.
    unsafe { (larger.add(1), *larger as usize) }
}

/// Any number of threads may fill a forest at once: the counters only ever get more.
unsafe fn fill(forest: *mut Forest, slots: *mut Slot) -> *mut Forest {
    // SAFETY: the caller gives one of the two forests.
    unsafe {
        AtomicPtr::from_ptr(&raw mut (*forest).start.slots).store(slots, Ordering::Relaxed);
        AtomicPtr::from_ptr(&raw mut (*forest).start.forest).store(forest, Ordering::Relaxed);
        AtomicU32::from_ptr(&raw mut (*forest).start.level).store(START_LEVEL, Ordering::Relaxed);
    }
    forest
}

/// Notes an event that could not be counted.
pub fn lose_event() {
    LOST.fetch_add(1, Ordering::Relaxed);
}

/// Events that were lost here; a lower bound where threads lost some at the same time.
pub fn lost() -> u64 {
    let stand = STAND.0.get();
    // SAFETY: the address is within the static.
    let entered = unsafe { AtomicU64::from_ptr(&raw mut (*stand).counting.entries) };
    let mut sum = LOST.load(Ordering::Relaxed);
    if entered.load(Ordering::Relaxed) != 0 {
        let (counters, len) = scratch();
        for index in 0..len {
            // SAFETY: the index is below the length.
            sum = sum.saturating_add(unsafe { crate::counter::read(counters.add(index)) });
        }
    }
    sum
}

/// Forgets what was lost.
pub fn clear() {
    let stand = STAND.0.get();
    LOST.store(0, Ordering::Relaxed);
    // SAFETY: the addresses are within the static and the mapping.
    unsafe {
        let entries = &raw mut (*stand).counting.entries;
        if crate::counter::read(entries) != 0 {
            crate::counter::clear(entries);
            let (counters, len) = scratch();
            (0..len).for_each(|index| crate::counter::clear(counters.add(index)));
        }
    }
}
