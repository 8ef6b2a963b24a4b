//! Ends of the process that run no destructor: signals, `_exit`, `quick_exit`, `exec` and `daemon`.
//!
//! Every signal whose default is to end the process gets a handler that writes the profile and then
//! lets the signal do what it would have done: the status, the core dump and what is known about
//! the sender are the same. The program does not notice, see `disposition`. A signal that a
//! sanitizer or libFuzzer handles is left to it, see `sanitizer`.
//!
//! Before instrumented code calls `_exit` or a function of the `exec` family it calls
//! `midflight_before_end`. The parent that `daemon` leaves behind ends within libc, and so writes
//! its profile in its handler of `fork`.
//!
//! One signal more may ask for the profile without ending anything.

use crate::file::output;
use crate::process::disposition;
use crate::process::sanitizer;
use crate::sys;
use crate::sys::handlers;
use core::ffi::c_int;
use core::sync::atomic::{AtomicBool, AtomicI32, Ordering};

/// The kernel's signals are numbered up to this.
pub const LAST_SIGNAL: c_int = 64;
/// libc has these for itself.
pub const OF_LIBC: core::ops::RangeInclusive<c_int> = 32..=33;

/// Signals by which the kernel tells a thread of what it did.
const FAULTS: [c_int; 6] =
    [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP, libc::SIGSYS];

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
pub fn own_action(signal: c_int) -> Option<libc::sigaction> {
    let handler = if signal == DUMP.load(Ordering::Relaxed) {
        on_dump as *const () as usize
    } else if is_caught(signal) {
        on_fatal as *const () as usize
    } else {
        return None;
    };
    let flags = libc::SA_SIGINFO | libc::SA_ONSTACK | libc::SA_RESTART;
    Some(handlers::action_of(handler, flags))
}

/// The same, where the signal has just come to a handler of the program's that it was to come to
/// once.
pub fn own_action_after_handler(signal: c_int) -> Option<libc::sigaction> {
    let mut action = own_action(signal)?;
    action.sa_flags |= AFTER_HANDLER;
    Some(action)
}

/// Whether a signal that ends the process is caught.
fn is_caught(signal: c_int) -> bool {
    CATCHING.load(Ordering::Relaxed) && is_fatal(signal) && !sanitizer::handles(signal)
}

/// Whether any is.
pub fn is_catching() -> bool {
    CATCHING.load(Ordering::Relaxed)
}

/// What the runtime's own actions are to the program.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Own {
    /// Nothing is done about the signal.
    Nothing,
    /// The kernel has done away with a handler that the signal came to.
    Spent,
}

/// Marks an action that takes the place of a handler for one time. The flag is for SIGCHLD, which
/// ends nothing.
const AFTER_HANDLER: c_int = libc::SA_NOCLDSTOP;

/// Whether a handler is the runtime's own.
pub fn is_own(handler: usize) -> bool {
    [on_fatal as *const () as usize, on_dump as *const () as usize].contains(&handler)
}

/// What an action is to the program, if its handler is the runtime's own.
pub fn own(action: &libc::sigaction) -> Option<Own> {
    let is_spent = action.sa_flags & AFTER_HANDLER != 0;
    is_own(action.sa_sigaction).then_some(if is_spent { Own::Spent } else { Own::Nothing })
}

/// Catches the signals about which nothing is done yet.
pub fn catch(catch_fatal: bool, dump: Option<i32>) {
    CATCHING.store(catch_fatal, Ordering::Relaxed);
    DUMP.store(dump.unwrap_or(0), Ordering::Relaxed);
    for signal in 1..=LAST_SIGNAL {
        if let Some(own) = own_action(signal)
            && handlers::action(signal).is_some_and(|now| now.sa_sigaction == libc::SIG_DFL)
        {
            // SAFETY: the handler may interrupt anything.
            unsafe { handlers::set_action(signal, &own) };
        }
    }
}

/// Lets go of the signals: this library is about to be unloaded.
pub fn release() {
    CATCHING.store(false, Ordering::Relaxed);
    DUMP.store(0, Ordering::Relaxed);
    for signal in 1..=LAST_SIGNAL {
        let Some(now) = handlers::action(signal) else { continue };
        if is_own(now.sa_sigaction) {
            set_default(signal);
        } else {
            disposition::release(signal, &now);
        }
    }
}

fn set_default(signal: c_int) {
    // SAFETY: the default has no handler.
    unsafe { handlers::set_action(signal, &handlers::default_action()) };
}

/// The thread that is in `daemon`; 0: none.
static IN_DAEMON: AtomicI32 = AtomicI32::new(0);

/// `daemon` as emitted code calls it.
#[unsafe(no_mangle)]
pub extern "C" fn midflight_daemon(keeps_directory: c_int, keeps_files: c_int) -> c_int {
    IN_DAEMON.store(sys::thread_id(), Ordering::Relaxed);
    // SAFETY: takes numbers.
    let result = unsafe { libc::daemon(keeps_directory, keeps_files) };
    IN_DAEMON.store(0, Ordering::Relaxed);
    result
}

/// In the parent, behind a `fork` that all other parts of the runtime have heard of.
pub fn after_fork_in_parent() {
    if IN_DAEMON.load(Ordering::Relaxed) == sys::thread_id() {
        output::write_before_end();
    }
}

/// Has the profile written when `quick_exit` is called. Only for a runtime that is never unloaded.
pub fn catch_quick_exit() {
    // SAFETY: the function stays where it is. If it cannot be registered, no profile is written
    // there.
    unsafe { at_quick_exit(output::write_before_end) };
}

unsafe extern "C" {
    fn at_quick_exit(function: extern "C" fn()) -> c_int;
}

extern "C" fn on_dump(_: c_int, _: *mut libc::siginfo_t, _: *mut libc::c_void) {
    let errno = sys::errno();
    output::write_now(None);
    sys::set_errno(errno);
}

extern "C" fn on_fatal(signal: c_int, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    let errno = sys::errno();
    output::write_before_end();
    let is_init = sys::process_id() == 1;
    // SAFETY: the kernel gives valid information.
    let is_fault = FAULTS.contains(&signal) && unsafe { (*info).si_code } > 0;
    // The first process of a namespace ends of faults only: the kernel would have dropped the rest.
    if !is_init || is_fault {
        set_default(signal);
    }
    if !is_init {
        // SAFETY: as above.
        unsafe { send_again(signal, info) };
    }
    sys::set_errno(errno);
}

/// Sends the calling thread a signal that it is in a handler of. It stays blocked until the handler
/// returns; then it does what is to be done about it, where it came.
///
/// # Safety
/// The kernel has given the information.
pub unsafe fn send_again(signal: c_int, info: *mut libc::siginfo_t) {
    let (process, thread) = (sys::process_id(), sys::thread_id());
    // SAFETY: the caller's.
    unsafe {
        if libc::syscall(libc::SYS_rt_tgsigqueueinfo, process, thread, signal, info) != 0 {
            sys::signal_thread(process, thread, signal);
        }
    }
}
