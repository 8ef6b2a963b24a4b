//! Bursts: when contexts are counted, where that is not always (static bursting, thesis 5.1.1).
//!
//! A thread of the runtime's own begins and ends them. It is made by the kernel alone, without
//! libc, so that it can be begun wherever the runtime is entered, also in the program's allocator;
//! it calls nothing of libc, and has no stack but a static one. It begins with the first activation
//! that is counted, also in the child of a `fork`: there, as in the program, the first burst is
//! under way at the beginning.

use crate::config;
use crate::file::live;
use crate::message;
use crate::process;
use crate::process::signal::Blocked;
use core::cell::UnsafeCell;
use core::ffi::CStr;
use core::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use midflight_profile::format::Bursts;

/// When contexts are counted.
pub const VARIABLE: &CStr = c"MIDFLIGHT_BURSTS";

/// The thesis's choice (5.1.5).
const DEFAULT: Bursts = Bursts { interval: 20_000_000, length: 2_000_000 };

/// Number of the burst that is under way; 0: none is. What emitted code reads.
#[unsafe(export_name = "midflight_context_burst")]
static BURST: AtomicU32 = AtomicU32::new(FIRST);

const FIRST: u32 = 1;

/// The number that was given last: none is given twice, so that no thread takes what it knows of
/// another burst for what is.
static LAST: AtomicU32 = AtomicU32::new(FIRST);

fn next() -> u32 {
    let number = LAST.load(Ordering::Relaxed).wrapping_add(1).max(FIRST);
    LAST.store(number, Ordering::Relaxed);
    number
}

/// Nanoseconds from the beginning of a burst to that of the next; 0: there is but one, which does
/// not end.
static INTERVAL: AtomicU64 = AtomicU64::new(DEFAULT.interval);
/// Nanoseconds of a burst.
static LENGTH: AtomicU64 = AtomicU64::new(DEFAULT.length);

/// Whether the thread was begun, or cannot be.
static BEGUN: AtomicBool = AtomicBool::new(false);

/// Whether any image has functions that are counted in bursts.
static USED: AtomicBool = AtomicBool::new(false);

/// 1: the thread is to end. 2: it has.
static END: AtomicU32 = AtomicU32::new(0);

/// The thread's ID; 0 once it has ended, by the kernel's word.
static THREAD: AtomicU32 = AtomicU32::new(0);

/// Reads what the environment says.
pub fn configure() {
    let Some(value) = config::variable(VARIABLE) else { return };
    if value == b"off" {
        return set(0, 0);
    }
    let mut words = value.split(|&byte| byte == b':').map(parse_time);
    match (words.next(), words.next(), words.next()) {
        (Some(Some(interval)), Some(Some(length)), None) if length != 0 && length < interval => {
            set(interval, length);
        }
        _ => config::tell_unusable(
            VARIABLE,
            value,
            "it is off, or how often there is a burst and how long it is, as in 20ms:2ms or 1s:500us",
            "using 20ms:2ms",
        ),
    }
}

fn set(interval: u64, length: u64) {
    INTERVAL.store(interval, Ordering::Relaxed);
    LENGTH.store(length, Ordering::Relaxed);
}

/// Nanoseconds, of a number with a unit. No more than an hour, in which none of the clock's numbers
/// is too large.
pub fn parse_time(text: &[u8]) -> Option<u64> {
    const HOUR: u64 = 3_600_000_000_000;
    let (digits, unit) = match text {
        [digits @ .., b'n', b's'] => (digits, 1),
        [digits @ .., b'u', b's'] => (digits, 1_000),
        [digits @ .., b'm', b's'] => (digits, 1_000_000),
        [digits @ .., b's'] => (digits, 1_000_000_000),
        _ => return None,
    };
    let time = message::parse_decimal(digits)?.checked_mul(unit)?;
    (time <= HOUR).then_some(time)
}

/// The number of the burst that is under way; 0: none is.
pub fn number() -> u64 {
    u64::from(BURST.load(Ordering::Relaxed))
}

/// What the counts of a profile are of: bursts, if anything was counted so.
pub fn kept() -> Option<Bursts> {
    let bursts = Bursts {
        interval: INTERVAL.load(Ordering::Relaxed),
        length: LENGTH.load(Ordering::Relaxed),
    };
    (USED.load(Ordering::Relaxed) && bursts.interval != 0).then_some(bursts)
}

/// All is counted, since something that bursts need is missing.
pub fn give_up(why: &str) {
    end();
    if INTERVAL.swap(0, Ordering::Relaxed) != 0 {
        message::print(&[
            b"calling contexts are counted all the time, and not in bursts: ",
            why.as_bytes(),
        ]);
    }
    BURST.store(next(), Ordering::Relaxed);
    live::set_bursts(None);
}

/// There are no bursts: nothing is counted.
pub fn stop() {
    INTERVAL.store(0, Ordering::Relaxed);
    BURST.store(0, Ordering::Relaxed);
}

/// An image is there with functions that are counted in bursts.
pub fn prepare() {
    USED.store(true, Ordering::Relaxed);
    live::set_bursts(kept());
}

/// An activation of a function is counted that is counted in bursts.
pub fn begin() {
    if BEGUN.load(Ordering::Relaxed) || INTERVAL.load(Ordering::Relaxed) == 0 {
        return;
    }
    if BEGUN.swap(true, Ordering::Relaxed) {
        return;
    }
    // The thread has the signals that it is begun with: none.
    let _signals = Blocked::new();
    END.store(0, Ordering::Relaxed);
    // SAFETY: the stack is used by no other thread, as this is done once in a process.
    if unsafe { clone_thread() } < 0 {
        give_up("no thread could be made that begins and ends them");
    }
}

/// In the child of a `fork`, which does not have the thread.
pub fn after_fork_in_child() {
    THREAD.store(0, Ordering::Relaxed);
    BEGUN.store(false, Ordering::Relaxed);
    BURST.store(next(), Ordering::Relaxed);
}

/// Ends the thread: this library is unloaded, or the program ends.
pub fn end() {
    // A child that was made behind libc's back does not have it.
    if process::is_stranger() {
        return;
    }
    if END.swap(1, Ordering::SeqCst) != 0 {
        return;
    }
    raw::wake(&END);
    loop {
        let thread = THREAD.load(Ordering::SeqCst);
        if thread == 0 {
            break;
        }
        raw::wait(&THREAD, thread, 0);
    }
    // What is still called is counted, if anything is.
    if BEGUN.load(Ordering::Relaxed) {
        BURST.store(next(), Ordering::Relaxed);
    }
}

/// What the thread does.
extern "C" fn run() -> ! {
    let interval = INTERVAL.load(Ordering::Relaxed);
    let length = LENGTH.load(Ordering::Relaxed);
    while END.load(Ordering::SeqCst) == 0 {
        raw::wait(&END, 0, length);
        BURST.store(0, Ordering::Relaxed);
        if END.load(Ordering::SeqCst) != 0 {
            break;
        }
        raw::wait(&END, 0, interval.saturating_sub(length));
        BURST.store(next(), Ordering::Relaxed);
    }
    raw::exit_thread()
}

const STACK: usize = 8 << 10;

#[repr(C, align(16))]
struct Stack(UnsafeCell<[u8; STACK]>);

// SAFETY: the thread alone uses it.
unsafe impl Sync for Stack {}

static STACK_OF_THREAD: Stack = Stack(UnsafeCell::new([0; STACK]));

/// Makes the thread; negative: an error number.
unsafe fn clone_thread() -> isize {
    const FLAGS: libc::c_int = libc::CLONE_VM
        | libc::CLONE_FS
        | libc::CLONE_FILES
        | libc::CLONE_SIGHAND
        | libc::CLONE_THREAD
        | libc::CLONE_SYSVSEM
        | libc::CLONE_PARENT_SETTID
        | libc::CLONE_CHILD_CLEARTID;
    let top = STACK_OF_THREAD.0.get().cast::<u8>().wrapping_add(STACK);
    // SAFETY: the caller's; the thread begins with this stack.
    unsafe { raw::clone(FLAGS as usize, top, THREAD.as_ptr(), run) }
}

/// System calls without libc, of which the thread has no state.
mod raw {
    use core::sync::atomic::AtomicU32;

    /// Waits while a number is as expected, and no longer than so many nanoseconds, if that is
    /// not 0.
    pub fn wait(number: &AtomicU32, expected: u32, nanoseconds: u64) {
        const SECOND: u64 = 1_000_000_000;
        let time = libc::timespec {
            tv_sec: (nanoseconds / SECOND).cast_signed(),
            tv_nsec: (nanoseconds % SECOND).cast_signed(),
        };
        let limit = if nanoseconds == 0 { core::ptr::null() } else { &raw const time };
        let operation = libc::FUTEX_WAIT as usize;
        // SAFETY: number and time live through the call.
        unsafe {
            call(
                libc::SYS_futex,
                [number.as_ptr() as usize, operation, expected as usize, limit as usize],
            );
        }
    }

    /// Lets a thread go on that waits at a number.
    pub fn wake(number: &AtomicU32) {
        // SAFETY: the number lives through the call.
        unsafe {
            call(libc::SYS_futex, [number.as_ptr() as usize, libc::FUTEX_WAKE as usize, 1, 0]);
        }
    }

    pub fn exit_thread() -> ! {
        loop {
            // SAFETY: nothing of the thread is used any more.
            unsafe { call(libc::SYS_exit, [0; 4]) };
        }
    }

    #[cfg(target_arch = "x86_64")]
    unsafe fn call(number: libc::c_long, [a, b, c, d]: [usize; 4]) -> isize {
        let result;
        // SAFETY: the caller's.
        unsafe {
            core::arch::asm!(
                "syscall",
                inlateout("rax") number as isize => result,
                in("rdi") a,
                in("rsi") b,
                in("rdx") c,
                in("r10") d,
                lateout("rcx") _,
                lateout("r11") _,
                options(nostack),
            );
        }
        result
    }

    #[cfg(target_arch = "aarch64")]
    unsafe fn call(number: libc::c_long, [a, b, c, d]: [usize; 4]) -> isize {
        let result;
        // SAFETY: the caller's.
        unsafe {
            core::arch::asm!(
                "svc 0",
                in("x8") number,
                inlateout("x0") a as isize => result,
                in("x1") b,
                in("x2") c,
                in("x3") d,
                options(nostack),
            );
        }
        result
    }

    /// Begins a thread at a function, with a stack that ends at `top`. The kernel writes its ID
    /// to `id`, and 0 when it has ended.
    ///
    /// # Safety
    /// Nobody else uses the stack.
    #[cfg(target_arch = "x86_64")]
    pub unsafe fn clone(
        flags: usize,
        top: *mut u8,
        id: *mut u32,
        run: extern "C" fn() -> !,
    ) -> isize {
        let result;
        // SAFETY: the caller's. The new thread goes on with a stack of its own, and does not come
        // back.
        unsafe {
            core::arch::asm!(
                "syscall",
                "test rax, rax",
                "jnz 2f",
                "xor ebp, ebp",
                "call r9",
                "ud2",
                "2:",
                inlateout("rax") libc::SYS_clone as isize => result,
                in("rdi") flags,
                in("rsi") top,
                in("rdx") id,
                in("r10") id,
                in("r8") 0,
                in("r9") run,
                lateout("rcx") _,
                lateout("r11") _,
            );
        }
        result
    }

    /// The same.
    #[cfg(target_arch = "aarch64")]
    pub unsafe fn clone(
        flags: usize,
        top: *mut u8,
        id: *mut u32,
        run: extern "C" fn() -> !,
    ) -> isize {
        let result;
        // SAFETY: as above.
        unsafe {
            core::arch::asm!(
                "svc 0",
                "cbnz x0, 2f",
                "mov x29, xzr",
                "blr x9",
                "brk 1",
                "2:",
                in("x8") libc::SYS_clone,
                inlateout("x0") flags as isize => result,
                in("x1") top,
                in("x2") id,
                in("x3") 0,
                in("x4") id,
                in("x9") run,
            );
        }
        result
    }
}

#[cfg(test)]
mod tests {
    use super::parse_time;

    #[test]
    fn times_have_units() {
        assert_eq!(parse_time(b"20ms"), Some(20_000_000));
        assert_eq!(parse_time(b"500us"), Some(500_000));
        assert_eq!(parse_time(b"7ns"), Some(7));
        assert_eq!(parse_time(b"3600s"), Some(3_600_000_000_000));
        for wrong in
            ["", "20", "ms", "s", "-1s", "1.5ms", "20 ms", "3601s", "99999999999999999999s"]
        {
            assert_eq!(parse_time(wrong.as_bytes()), None, "{wrong}");
        }
    }
}
