//! `kernel` in Miri, where there are no signals, by functions of libc.

pub fn thread_id() -> i32 {
    // SAFETY: the call takes nothing and cannot fail.
    unsafe { libc::gettid() }
}

pub fn process_id() -> i32 {
    // SAFETY: the call takes nothing and cannot fail.
    unsafe { libc::getpid() }
}

/// Finds every thread alive.
pub fn signal_thread(_process: i32, _thread: i32, _signal: i32) -> i64 {
    0
}

/// `mmap` of zeroes; of a file it fails.
///
/// # Safety
/// None is needed here.
pub unsafe fn map(_address: usize, size: usize, protection: i32, _flags: i32, file: i32) -> isize {
    if file >= 0 {
        return -1;
    }
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
    // SAFETY: a new anonymous mapping at any address affects nothing else.
    unsafe { libc::mmap(core::ptr::null_mut(), size, protection, flags, file, 0) as isize }
}

/// `munmap`.
///
/// # Safety
/// The mapping has that size, and nobody uses it any more.
pub unsafe fn unmap(start: *mut u8, size: usize) {
    // SAFETY: the caller's.
    unsafe { libc::munmap(start.cast(), size) };
}

/// No signal is ever blocked.
pub fn set_signal_mask(_mask: u64) -> u64 {
    0
}

pub fn yield_now() {
    // SAFETY: the call takes nothing.
    unsafe { libc::sched_yield() };
}
