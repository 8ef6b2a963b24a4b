//! The few system calls that libc functions cannot stand in for.
//!
//! They are made raw where the libc function would leave out signals (`sigprocmask` keeps libc's
//! own), is not in every libc (`gettid`), or would be a sanitizer's.

#[cfg_attr(miri, path = "sys/in_miri.rs")]
mod kernel;

pub mod handlers;

use core::ptr::NonNull;
use core::sync::atomic::AtomicU32;
use core::sync::atomic::{AtomicUsize, Ordering};
pub use kernel::{process_id, set_signal_mask, signal_thread, thread_id};

/// Bytes that are copied or left out as a whole.
const PAGE: usize = 4096;

/// Bytes that were unmapped. Whoever had memory before that is mapped is done with it: the kernel
/// orders the two, and this says so to ThreadSanitizer.
static UNMAPPED: AtomicUsize = AtomicUsize::new(0);

/// Unblocks a signal in the calling thread; whether it was blocked.
pub fn unblock(signal: i32) -> bool {
    let this = 1u64.checked_shl(signal.wrapping_sub(1).cast_unsigned()).unwrap_or(0);
    let before = set_signal_mask(!0);
    set_signal_mask(before & !this);
    before & this != 0
}

/// Whether a thread of this process with that ID is still known to the kernel. Once it is not, the
/// thread executes nothing any more.
pub fn thread_is_alive(thread: i32) -> bool {
    signal_thread(process_id(), thread, 0) == 0 || errno() != libc::ESRCH
}

/// Maps `size` bytes of zeroes that take no memory until they are touched.
pub fn map(size: usize) -> Option<NonNull<u8>> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
    // SAFETY: a new anonymous mapping at an address of the kernel's choice affects nothing else.
    unsafe { map_at(None, size, flags, -1) }
}

/// Maps `size` bytes that may be read and written, of the beginning of an open file or of none
/// (−1). `None`: the kernel refuses, and `errno` tells why.
///
/// # Safety
/// With `MAP_FIXED`, nothing that is at the address is used any more, or what is mapped is the
/// same.
pub unsafe fn map_at(
    address: Option<NonNull<u8>>,
    size: usize,
    flags: i32,
    file: i32,
) -> Option<NonNull<u8>> {
    let address = address.map_or(0, |address| address.as_ptr() as usize);
    let protection = libc::PROT_READ | libc::PROT_WRITE;
    // SAFETY: the caller's.
    let mapped =
        unsafe { kernel::map(address, size, protection, flags | libc::MAP_NORESERVE, file) };
    UNMAPPED.load(Ordering::Acquire);
    if mapped == -1 { None } else { NonNull::new(mapped as *mut u8) }
}

/// Moves a mapping of `size` bytes to the place of another one.
///
/// # Safety
/// What is at `to` may be replaced by it.
pub unsafe fn move_mapping(from: NonNull<u8>, size: usize, to: NonNull<u8>) {
    let flags = (libc::MREMAP_MAYMOVE | libc::MREMAP_FIXED) as usize;
    // SAFETY: the caller's.
    unsafe { libc::syscall(libc::SYS_mremap, from.as_ptr(), size, size, flags, to.as_ptr()) };
}

/// Copies `size` bytes, a multiple of [`PAGE`], to where zeroes are. Pages of zeroes are left
/// alone.
///
/// # Safety
/// Both are mapped, aligned, and do not overlap. Others may count in what is copied.
pub unsafe fn copy_pages(from: NonNull<u8>, to: NonNull<u8>, size: usize) {
    const WORDS: usize = PAGE / size_of::<u64>();
    for page in 0..size / PAGE {
        let (from, to) = (from.as_ptr().cast::<u64>(), to.as_ptr().cast::<u64>());
        // SAFETY: the caller's.
        unsafe {
            let (from, to) = (from.add(page * WORDS), to.add(page * WORDS));
            let word = |index| from.add(index).read_volatile();
            if (0..WORDS).any(|index| word(index) != 0) {
                (0..WORDS).for_each(|index| to.add(index).write_volatile(word(index)));
            }
        }
    }
}

/// What a call writes in the place of zeroes; `None` if it returns anything but 0.
///
/// # Safety
/// Zeroes are a valid value of the type, and so is what the call writes.
pub unsafe fn written<T>(call: impl FnOnce(*mut T) -> i32) -> Option<T> {
    // SAFETY: the caller's.
    let mut value = unsafe { core::mem::zeroed() };
    (call(&raw mut value) == 0).then_some(value)
}

/// The limit on the process's address space, in bytes; `None`: there is none.
pub fn address_space() -> Option<u64> {
    // SAFETY: zeroes are a valid value, in whose place the limit is written.
    let limit: libc::rlimit = unsafe { written(|limit| libc::getrlimit(libc::RLIMIT_AS, limit)) }?;
    (limit.rlim_cur != libc::RLIM_INFINITY).then_some(limit.rlim_cur)
}

/// Gives back what [`map`] gave.
///
/// # Safety
/// The mapping has that size, and nobody uses it any more.
pub unsafe fn unmap(start: NonNull<u8>, size: usize) {
    UNMAPPED.fetch_add(size, Ordering::Release);
    // SAFETY: the caller's.
    unsafe { kernel::unmap(start.as_ptr(), size) };
}

/// The calling thread's `errno`.
pub fn errno() -> i32 {
    // SAFETY: libc gives a valid pointer to the calling thread's errno.
    unsafe { *libc::__errno_location() }
}

pub fn set_errno(value: i32) {
    // SAFETY: libc gives a valid pointer to the calling thread's errno.
    unsafe { *libc::__errno_location() = value }
}

/// Gives the processor to another thread while waiting for a lock.
pub fn relax() {
    kernel::yield_now();
}

/// Nanoseconds of a clock that runs on; 0 where there is none.
#[inline(never)]
pub fn nanoseconds() -> u64 {
    // SAFETY: zeroes are a valid value, in whose place the time is written.
    let time = unsafe { written(|time| libc::clock_gettime(libc::CLOCK_MONOTONIC, time)) };
    let nanoseconds = |time: libc::timespec| time.tv_sec * 1_000_000_000 + time.tv_nsec;
    time.map_or(0, |time| nanoseconds(time).cast_unsigned())
}

/// The same in microseconds.
pub fn microseconds() -> u64 {
    nanoseconds() / 1000
}

pub fn sleep_a_millisecond() {
    let time = libc::timespec { tv_sec: 0, tv_nsec: 1_000_000 };
    // SAFETY: the time lives through the call.
    unsafe { libc::syscall(libc::SYS_nanosleep, &raw const time, 0usize) };
}

/// Waits until [`wake`] is called, unless the number is another one by now. It may return early.
pub fn wait_while(number: &AtomicU32, expected: u32) {
    let operation = libc::FUTEX_WAIT | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the number lives through the call; there is no limit of time.
    unsafe { libc::syscall(libc::SYS_futex, number.as_ptr(), operation, expected, 0usize) };
}

/// Lets a thread go on that waits at the number.
pub fn wake(number: &AtomicU32) {
    let operation = libc::FUTEX_WAKE | libc::FUTEX_PRIVATE_FLAG;
    // SAFETY: the number lives through the call.
    unsafe { libc::syscall(libc::SYS_futex, number.as_ptr(), operation, 1) };
}

/// Ends the process, all its threads, at once.
pub fn exit(status: i32) -> ! {
    loop {
        // SAFETY: takes a number, and does not return.
        unsafe { libc::syscall(libc::SYS_exit_group, status) };
    }
}

/// Ends the process as `abort` does: by SIGABRT, which a handler may see.
pub fn abort() -> ! {
    set_signal_mask(!(1 << (libc::SIGABRT - 1)));
    signal_thread(process_id(), thread_id(), libc::SIGABRT);
    // Only a handler's return leads here.
    // SAFETY: nothing runs after it.
    unsafe {
        #[cfg(target_arch = "x86_64")]
        core::arch::asm!("ud2", options(noreturn, nostack));
        #[cfg(target_arch = "aarch64")]
        core::arch::asm!("brk #1", options(noreturn, nostack));
    }
}
