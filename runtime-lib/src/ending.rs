//! Ends of the process that run no destructor: signals, `_exit`, `quick_exit` and `exec`.
//!
//! Every signal whose default is to end the process gets a handler that writes the profile and then
//! lets the signal do what it would have done: the status, the core dump and what is known about the
//! sender are the same. The program does not notice, since emitted code calls [`sigaction`],
//! [`signal`] and [`sysv_signal`] in the place of libc's: a handler of ours looks like none there,
//! and where the program asks for the default, ours is put back. Who asks the kernel in another
//! way sees a handler that may be called and replaced like any other.
//!
//! Before instrumented code calls `_exit` or a function of the `exec` family it calls
//! `midflight_before_end`.
//!
//! One signal more may ask for the profile without ending anything.

use crate::output;
use crate::sys;
use core::ffi::c_int;
use core::mem::zeroed;
use core::ptr::{NonNull, null, null_mut};
use core::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// The kernel's signals are numbered up to this.
const LAST_SIGNAL: c_int = 64;
/// libc has these for itself.
const OF_LIBC: core::ops::RangeInclusive<c_int> = 32..=33;

/// Signals by which the kernel tells a thread of what it did.
const FAULTS: [c_int; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP, libc::SIGSYS];
/// Size of the stack on which a handler can run when a thread's own has overflowed.
const STACK: usize = 128 << 10;

/// Whether signals that end the process are caught.
static CATCHING: AtomicBool = AtomicBool::new(false);
/// The signal at which the profile is written while the program goes on; 0: none.
static DUMP: AtomicI32 = AtomicI32::new(0);

/// Whether a signal ends the process unless something is done about it.
fn is_fatal(signal: c_int) -> bool {
    (1..=LAST_SIGNAL).contains(&signal)
        && !OF_LIBC.contains(&signal)
        && !matches!(
            signal,
            libc::SIGKILL
                | libc::SIGSTOP
                | libc::SIGCHLD
                | libc::SIGCONT
                | libc::SIGTSTP
                | libc::SIGTTIN
                | libc::SIGTTOU
                | libc::SIGURG
                | libc::SIGWINCH
        )
}

/// What the runtime wants done at a signal about which the program wants nothing done.
fn own_action(signal: c_int) -> Option<libc::sigaction> {
    let handler = if signal == DUMP.load(Ordering::Relaxed) {
        on_dump as *const () as usize
    } else if CATCHING.load(Ordering::Relaxed) && is_fatal(signal) {
        on_fatal as *const () as usize
    } else {
        return None;
    };
    // SAFETY: zeroes are a valid value; the set is filled in place.
    let mut action: libc::sigaction = unsafe { zeroed() };
    action.sa_sigaction = handler;
    action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
    // SAFETY: as above.
    unsafe { libc::sigfillset(&raw mut action.sa_mask) };
    Some(action)
}

fn is_own(handler: usize) -> bool {
    [on_fatal as *const () as usize, on_dump as *const () as usize].contains(&handler)
}

/// What is done about a signal now.
fn current(signal: c_int) -> Option<libc::sigaction> {
    // SAFETY: zeroes are a valid value, and the action is only asked for.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        (libc::sigaction(signal, null(), &raw mut action) == 0).then_some(action)
    }
}

/// Catches the signals about which nothing is done yet.
pub fn catch(catch_fatal: bool, dump: Option<i32>) {
    CATCHING.store(catch_fatal, Ordering::Relaxed);
    DUMP.store(dump.unwrap_or(0), Ordering::Relaxed);
    for signal in 1..=LAST_SIGNAL {
        if let Some(own) = own_action(signal)
            && current(signal).is_some_and(|action| action.sa_sigaction == libc::SIG_DFL)
        {
            // SAFETY: the handler may interrupt anything.
            unsafe { libc::sigaction(signal, &raw const own, null_mut()) };
        }
    }
}

/// Lets go of the signals: this library is about to be unloaded.
pub fn release() {
    CATCHING.store(false, Ordering::Relaxed);
    DUMP.store(0, Ordering::Relaxed);
    for signal in 1..=LAST_SIGNAL {
        if current(signal).is_some_and(|action| is_own(action.sa_sigaction)) {
            set_default(signal);
        }
    }
}

fn set_default(signal: c_int) {
    // SAFETY: zeroes are a valid value: the default, and no flags.
    unsafe {
        let action: libc::sigaction = zeroed();
        libc::sigaction(signal, &raw const action, null_mut());
    }
}

/// Gives the calling thread a stack for handlers, unless it has one, so that the overflow of its own
/// is caught. `memory` is kept for threads that come later.
pub fn give_stack(memory: &mut Option<NonNull<u8>>) {
    if !CATCHING.load(Ordering::Relaxed) {
        return;
    }
    // SAFETY: zeroes are a valid value; the memory is never unmapped.
    unsafe {
        let mut stack: libc::stack_t = zeroed();
        if libc::sigaltstack(null(), &raw mut stack) != 0 || stack.ss_flags != libc::SS_DISABLE {
            return;
        }
        if memory.is_none() {
            *memory = sys::map(STACK);
        }
        if let Some(memory) = memory {
            stack.ss_sp = memory.as_ptr().cast();
            stack.ss_size = STACK;
            stack.ss_flags = 0;
            libc::sigaltstack(&raw const stack, null_mut());
        }
    }
}

/// Has the profile written when `quick_exit` is called. Only for a runtime that is never unloaded.
pub fn catch_quick_exit() {
    // SAFETY: the function stays where it is. If it cannot be registered, no profile is written
    // there.
    unsafe { at_quick_exit(on_quick_exit) };
}

unsafe extern "C" {
    fn at_quick_exit(function: extern "C" fn()) -> c_int;
    fn __sysv_signal(signal: c_int, handler: usize) -> usize;
}

extern "C" fn on_quick_exit() {
    output::write_before_end();
}

extern "C" fn on_dump(_: c_int, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
    let errno = sys::errno();
    output::write_now(None);
    sys::set_errno(errno);
}

extern "C" fn on_fatal(signal: c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    let errno = sys::errno();
    output::write_before_end();
    let process = sys::process_id();
    let is_init = process == 1;
    // SAFETY: the kernel gives valid information.
    let is_fault = FAULTS.contains(&signal) && unsafe { (*info).si_code } > 0;
    // The first process of a namespace ends of faults only: the kernel would have dropped the rest.
    if !is_init || is_fault {
        set_default(signal);
    }
    if !is_init {
        // The signal stays blocked until this function returns; then it does what it does by
        // default, where it came.
        // SAFETY: the information is valid.
        unsafe {
            let thread = sys::thread_id();
            if libc::syscall(libc::SYS_rt_tgsigqueueinfo, process, thread, signal, info) != 0 {
                sys::signal_thread(process, thread, signal);
            }
        }
    }
    sys::set_errno(errno);
}

/// `sigaction` as emitted code calls it.
///
/// # Safety
/// As for libc's.
pub unsafe fn sigaction(
    signal: c_int,
    action: *const libc::sigaction,
    before: *mut libc::sigaction,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        let wants_default = !action.is_null() && (*action).sa_sigaction == libc::SIG_DFL;
        let own = if wants_default { own_action(signal) } else { None };
        let action = own.as_ref().map_or(action, |own| &raw const *own);
        let result = libc::sigaction(signal, action, before);
        if result == 0 && !before.is_null() && is_own((*before).sa_sigaction) {
            *before = zeroed();
        }
        result
    }
}

/// `signal` as emitted code calls it.
///
/// # Safety
/// As for libc's.
pub unsafe fn signal(signal: c_int, handler: usize) -> usize {
    // SAFETY: the caller's.
    unsafe { set_handler(signal, handler, |signal, handler| libc::signal(signal, handler)) }
}

/// `__sysv_signal` as emitted code calls it: what `signal` is in strict modes of compilers.
///
/// # Safety
/// As for libc's.
pub unsafe fn sysv_signal(signal: c_int, handler: usize) -> usize {
    // SAFETY: the caller's.
    unsafe { set_handler(signal, handler, |signal, handler| __sysv_signal(signal, handler)) }
}

unsafe fn set_handler(
    signal: c_int,
    handler: usize,
    set: impl FnOnce(c_int, usize) -> usize,
) -> usize {
    let before = match own_action(signal).filter(|_| handler == libc::SIG_DFL) {
        // SAFETY: zeroes are a valid value, which is written.
        Some(own) => unsafe {
            let mut before: libc::sigaction = zeroed();
            match libc::sigaction(signal, &raw const own, &raw mut before) {
                0 => before.sa_sigaction,
                _ => libc::SIG_ERR,
            }
        },
        None => set(signal, handler),
    };
    if is_own(before) { libc::SIG_DFL } else { before }
}
