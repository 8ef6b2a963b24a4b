//! What counting asks the kernel for. Miri, which knows no raw calls of these, has `in_miri` in its
//! place.

/// The calling thread's ID, as the kernel knows it.
pub fn thread_id() -> i32 {
    // SAFETY: the call takes nothing and cannot fail.
    unsafe { libc::syscall(libc::SYS_gettid) as i32 }
}

/// The process's ID, also in a child that was made without libc's knowledge.
pub fn process_id() -> i32 {
    // SAFETY: the call takes nothing and cannot fail.
    unsafe { libc::syscall(libc::SYS_getpid) as i32 }
}

/// Sends a signal to a thread. 0 only checks for existence; −1: there is an error in `errno`.
pub fn signal_thread(process: i32, thread: i32, signal: i32) -> i64 {
    // SAFETY: the call takes numbers; whom the signal reaches is the caller's affair.
    unsafe { libc::syscall(libc::SYS_tgkill, process, thread, signal) }
}

/// `mmap` from a file's beginning. −1: there is an error in `errno`.
///
/// # Safety
/// With `MAP_FIXED`, nothing that is at the address is used any more, or what is mapped is the
/// same.
pub unsafe fn map(address: usize, size: usize, protection: i32, flags: i32, file: i32) -> isize {
    // The kernel looks at all bits of what is not a file: a narrower argument has no upper half.
    let (protection, flags) = (protection as usize, flags as usize);
    // SAFETY: the caller's.
    unsafe {
        libc::syscall(libc::SYS_mmap, address, size, protection, flags, file, 0usize) as isize
    }
}

/// `munmap`.
///
/// # Safety
/// The mapping has that size, and nobody uses it any more.
pub unsafe fn unmap(start: *mut u8, size: usize) {
    // SAFETY: the caller's.
    unsafe { libc::syscall(libc::SYS_munmap, start, size) };
}

/// Blocks these signals and no others, and gives back those that were blocked before: libc's
/// function leaves out its own.
pub fn set_signal_mask(mask: u64) -> u64 {
    let mut old = 0u64;
    // SAFETY: both sets live through the call and have the size that is passed.
    unsafe {
        libc::syscall(
            libc::SYS_rt_sigprocmask,
            libc::SIG_SETMASK,
            &raw const mask,
            &raw mut old,
            size_of::<u64>(),
        )
    };
    old
}

/// Gives the processor to another thread.
pub fn yield_now() {
    // SAFETY: the call takes nothing.
    unsafe { libc::syscall(libc::SYS_sched_yield) };
}
