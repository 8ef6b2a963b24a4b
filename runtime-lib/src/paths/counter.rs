//! Counters that one thread writes and others may read.
//!
//! Only the thread that owns a forest adds to its counters, so no locked instruction is needed
//! against other threads. A signal handler of the same thread may add to the same counter at any
//! instruction, so the addition must not be torn by it either: on x86-64 it is a single `add` to
//! memory, elsewhere an atomic addition.

use core::sync::atomic::{AtomicU64, Ordering};

/// Adds one to a counter of the calling thread.
///
/// # Safety
/// `counter` is valid, aligned, and shared only through the functions of this module.
#[inline(always)]
pub unsafe fn increment(counter: *mut u64) {
    // SAFETY: the caller's.
    unsafe { add(counter, 1) };
}

/// Adds to a counter of the calling thread.
///
/// # Safety
/// As for [`increment`].
#[inline(always)]
pub unsafe fn add(counter: *mut u64, n: u64) {
    #[cfg(all(target_arch = "x86_64", not(feature = "tsan")))]
    // SAFETY: the caller's pointer is valid and aligned; an aligned 8-byte store is single-copy
    // atomic, and the instruction cannot be interrupted halfway.
    unsafe {
        core::arch::asm!("add qword ptr [{0}], {1}", in(reg) counter, in(reg) n, options(nostack));
    }
    #[cfg(any(not(target_arch = "x86_64"), feature = "tsan"))]
    // SAFETY: the caller's pointer is valid and aligned.
    unsafe {
        AtomicU64::from_ptr(counter).fetch_add(n, Ordering::Relaxed);
    }
}

/// The value of a counter of any thread.
///
/// # Safety
/// As for [`increment`].
pub unsafe fn read(counter: *mut u64) -> u64 {
    // SAFETY: the caller's pointer is valid and aligned.
    unsafe { AtomicU64::from_ptr(counter).load(Ordering::Relaxed) }
}

/// Sets a counter to zero. A zero is left alone, so that a forked child does not copy the pages
/// that it need not change.
///
/// # Safety
/// As for [`increment`]. If the owner counts at the same time the reset may be lost.
pub unsafe fn clear(counter: *mut u64) {
    // SAFETY: the caller's pointer is valid and aligned.
    let counter = unsafe { AtomicU64::from_ptr(counter) };
    if counter.load(Ordering::Relaxed) != 0 {
        counter.store(0, Ordering::Relaxed);
    }
}
