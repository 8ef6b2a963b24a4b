//! Times: how much of a counter passes in each context.
//!
//! Emitted code reads the counter, see `midflight_abi::contexts`, and adds to the heads of nodes.
//!
//! A profile has nanoseconds, by what the counter and the clock have told at two moments.

use crate::contexts::fallback;
use crate::contexts::head;
use crate::contexts::tree;
use crate::contexts::word::{self, word};
use crate::file::live;
use crate::sys;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use midflight_abi::RecordHeader;
use midflight_abi::contexts::{ContextNode, FLAG_CONTEXTS, KIND_TIMED};

/// Whether times are taken.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// What the counter and the clock told when the first function needed it.
static BEGAN: [AtomicU64; 2] = [const { AtomicU64::new(0) }; 2];

/// Nanoseconds between two readings by which the counter is measured, at least.
const LEAST: u64 = 1_000_000;

/// Whether times are taken.
pub fn are_taken() -> bool {
    TAKEN.load(Ordering::Relaxed)
}

/// Times are to be taken, as a function needs it, for which there are heads.
pub fn want() {
    if are_taken() {
        return;
    }
    // Whoever finds that times are taken finds these. Several threads may be here at once, with
    // about the same numbers.
    BEGAN.iter().zip(moment()).for_each(|(to, number)| to.store(number, Ordering::Relaxed));
    if !TAKEN.swap(true, Ordering::AcqRel) && live::is_live() {
        live::set_time_scale(scale());
    }
}

/// Whether a function's record says that times are taken.
pub fn is_timed(record: &RecordHeader) -> bool {
    record.flags & FLAG_CONTEXTS != 0 && record.k & KIND_TIMED != 0
}

/// How much of the counter a node has.
///
/// # Safety
/// It is a node, before which a head stands; likewise below.
pub unsafe fn of<'a>(node: *mut ContextNode) -> &'a AtomicU64 {
    // SAFETY: the caller's; nodes are never unmapped.
    unsafe { AtomicU64::from_ptr(&raw mut (*head::of(node)).time) }
}

/// The counter that emitted code reads.
#[cfg(target_arch = "x86_64")]
pub fn counter() -> u64 {
    // SAFETY: all processors have it.
    unsafe { core::arch::x86_64::_rdtsc() }
}

/// The same.
#[cfg(target_arch = "aarch64")]
pub fn counter() -> u64 {
    let counter;
    // SAFETY: Linux lets user mode read it.
    unsafe { core::arch::asm!("mrs {}, cntvct_el0", out(reg) counter, options(nomem, nostack)) };
    counter
}

/// What the counter and the clock tell at the same moment.
fn moment() -> [u64; 2] {
    // The thread may be interrupted between the two: of some readings the shortest is the best.
    const READINGS: u32 = 8;
    let (mut best, mut least) = ([0; 2], u64::MAX);
    for _ in 0..READINGS {
        let before = sys::nanoseconds();
        let now = counter();
        let took = sys::nanoseconds().saturating_sub(before);
        if took < least {
            (best, least) = ([now, before + took / 2], took);
        }
    }
    best
}

/// Nanoseconds for 2^32 of the counter.
pub fn scale() -> u64 {
    let [counter, clock] = BEGAN.each_ref().map(|began| began.load(Ordering::Relaxed));
    loop {
        let [now, time] = moment();
        let (counted, passed) = (now.wrapping_sub(counter), time.saturating_sub(clock));
        if passed >= LEAST && counted != 0 {
            let scale = (u128::from(passed) << 32) / u128::from(counted);
            return u64::try_from(scale).unwrap_or(u64::MAX);
        }
        // Where there is no clock, the counter's own unit stays.
        if time == 0 {
            return 1 << 32;
        }
    }
}

/// The calling thread's tree begins, or it counts from zero: what has passed is nobody's.
pub fn begin() {
    if are_taken() {
        // SAFETY: the word is the calling thread's.
        unsafe { (*word()).last = counter() };
    }
}

/// What the runtime has done since the counter was `from` is nobody's time.
pub fn pass_over(from: u64) {
    let now = counter();
    let word = word();
    // SAFETY: the word is the calling thread's.
    unsafe {
        let passed = now.saturating_sub(from);
        (*word).last = (*word).last.saturating_add(passed).min(now);
    }
}

/// Gives what has passed in the calling thread to the activation that is under way.
pub fn settle() {
    if !are_taken() {
        return;
    }
    let word = word();
    // SAFETY: the word is the calling thread's, and has a slot.
    unsafe {
        if (*word).tree.is_null() {
            return;
        }
        let node = tree::owner(AtomicPtr::from_ptr((*word).slot).load(Ordering::Acquire));
        if node == word::start() {
            return;
        }
        let now = counter();
        let spent = now.saturating_sub((*word).last);
        of(node).fetch_add(spent, Ordering::Relaxed);
        (*word).last = now.max((*word).last);
    }
}

/// How much of the counter the calls have taken that no context could be given.
pub fn elsewhere() -> u64 {
    let mut sum = 0u64;
    if are_taken() {
        fallback::for_each(|node| {
            // SAFETY: a head stands before such a node.
            let time = unsafe { of(node) }.load(Ordering::Relaxed);
            sum = sum.saturating_add(time);
        });
    }
    sum
}
