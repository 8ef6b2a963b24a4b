//! The few system calls that libc functions cannot stand in for.
//!
//! They are made raw where the libc function could be replaced by the program (`mmap`), would leave
//! out signals (`sigprocmask` keeps libc's own), or is not in every libc (`gettid`).

use core::ptr::NonNull;

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

/// Whether a thread of this process with that ID is still known to the kernel. Once it is not, the
/// thread executes nothing any more.
pub fn thread_is_alive(thread: i32) -> bool {
    // SAFETY: signal 0 only checks for existence.
    let result = unsafe { libc::syscall(libc::SYS_tgkill, process_id(), thread, 0) };
    result == 0 || errno() != libc::ESRCH
}

/// Maps `size` bytes of zeroes that take no memory until they are touched.
pub fn map(size: usize) -> Option<NonNull<u8>> {
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new anonymous mapping at an address of the kernel's choice affects nothing else.
    let address = unsafe { libc::syscall(libc::SYS_mmap, 0usize, size, protection, flags, -1, 0) };
    if address == -1 { None } else { NonNull::new(address as *mut u8) }
}

/// Gives back what [`map`] gave.
///
/// # Safety
/// The mapping has that size, and nobody uses it any more.
pub unsafe fn unmap(start: NonNull<u8>, size: usize) {
    // SAFETY: the caller's.
    unsafe { libc::syscall(libc::SYS_munmap, start.as_ptr(), size) };
}

/// The calling thread's `errno`.
pub fn errno() -> i32 {
    // SAFETY: libc gives a valid pointer to the calling thread's errno.
    unsafe { *libc::__errno_location() }
}

/// Sets the calling thread's `errno`.
pub fn set_errno(value: i32) {
    // SAFETY: libc gives a valid pointer to the calling thread's errno.
    unsafe { *libc::__errno_location() = value }
}

/// Gives the processor to another thread while waiting for a lock.
pub fn relax() {
    // SAFETY: the call takes nothing.
    unsafe { libc::syscall(libc::SYS_sched_yield) };
}

/// Waits for a millisecond.
pub fn sleep_a_millisecond() {
    let time = libc::timespec { tv_sec: 0, tv_nsec: 1_000_000 };
    // SAFETY: the time lives through the call.
    unsafe { libc::syscall(libc::SYS_nanosleep, &raw const time, 0usize) };
}

unsafe extern "C" {
    fn pthread_setcancelstate(state: libc::c_int, old: *mut libc::c_int) -> libc::c_int;
}

/// While it lives, the calling thread cannot be cancelled, so that functions which are cancellation
/// points return to the runtime.
pub struct Uncancelled(libc::c_int);

impl Uncancelled {
    const DISABLE: libc::c_int = 1;

    /// Turns cancellation off.
    pub fn new() -> Self {
        let mut old = 0;
        // SAFETY: the old state is written to a valid place.
        unsafe { pthread_setcancelstate(Self::DISABLE, &raw mut old) };
        Self(old)
    }
}

impl Drop for Uncancelled {
    fn drop(&mut self) {
        // SAFETY: the state is the one that was given before.
        unsafe { pthread_setcancelstate(self.0, core::ptr::null_mut()) };
    }
}
