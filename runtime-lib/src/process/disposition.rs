//! What the program wants done about signals: emitted code calls these functions in the place of
//! libc's.
//!
//! The runtime's own handlers (`ending`) look like none here, and where the program asks for the
//! default, they are put back. Who asks the kernel in another way sees a handler that may be called
//! and replaced like any other.
//!
//! **Handlers for one time** (`SA_RESETHAND`, as most handlers of crashes are): the kernel restores
//! the default before it calls them, so the death that follows would leave no profile: the fault
//! that comes again, the signal that the handler raises, a second SIGTERM. So `relay` is what the
//! kernel calls, without the flag; it puts the runtime's handler in its own place, which is what
//! the default is here, and calls the program's.
//!
//! Which of several threads the one time is for is decided under a lock ([`Turn`]), by what the
//! kernel says of the signal then: not by a note in memory, which a child of `vfork` has in common
//! with its parent, while what is done about signals is its own affair.

use crate::process;
use crate::process::ending::{self, Own};
use crate::process::signal::Blocked;
use crate::sys;
use core::cell::UnsafeCell;
use core::ffi::c_int;
use core::mem::zeroed;
use core::ptr::{null, null_mut};
use core::sync::atomic::{AtomicI32, Ordering};

/// Signals, and none with the number 0.
const SIGNALS: usize = 65;

/// An action for each signal.
struct Actions(UnsafeCell<[libc::sigaction; SIGNALS]>);

// SAFETY: used by who has the turn.
unsafe impl Sync for Actions {}

impl Actions {
    const fn new() -> Self {
        // SAFETY: zeroes are a valid value.
        Self(UnsafeCell::new(unsafe { zeroed() }))
    }

    /// The action of a signal, if there is such a signal.
    fn of(&self, signal: c_int) -> Option<*mut libc::sigaction> {
        let index = usize::try_from(signal).ok().filter(|&index| index < SIGNALS)?;
        // SAFETY: the index is within the table.
        Some(unsafe { self.0.get().cast::<libc::sigaction>().add(index) })
    }
}

/// What the program asked for where [`relay`] stands for its handler.
static ASKED: Actions = Actions::new();

/// What libc is asked for in the place of that. Not on the stack, which MemorySanitizer may take
/// for uninitialized here.
static STAND_INS: Actions = Actions::new();

/// The thread that has the turn; 0: none.
static HOLDER: AtomicI32 = AtomicI32::new(0);

/// The right to look at what is done about signals and to change it, with all signals blocked.
struct Turn {
    /// Whether the thread has it already: a `sigaction` of the program's own has called another.
    is_nested: bool,
}

impl Turn {
    fn take(_signals: &Blocked) -> Self {
        let thread = sys::thread_id();
        loop {
            match HOLDER.compare_exchange(0, thread, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return Self { is_nested: false },
                Err(holder) if holder == thread => return Self { is_nested: true },
                Err(holder) if !sys::thread_is_alive(holder) => {
                    // A thread of the process that this one was forked from.
                    _ = HOLDER.compare_exchange(holder, 0, Ordering::Relaxed, Ordering::Relaxed);
                }
                Err(_) => sys::relax(),
            }
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if !self.is_nested {
            HOLDER.store(0, Ordering::Release);
        }
    }
}

/// Carries out what the program asks for. `errno` is what it has become by that.
fn in_turn<T>(act: impl FnOnce() -> T) -> T {
    let signals = Blocked::new();
    let turn = Turn::take(&signals);
    let result = act();
    let errno = sys::errno();
    drop(turn);
    drop(signals);
    sys::set_errno(errno);
    result
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
    // SAFETY: the caller's. Both may be the same place.
    let wanted = unsafe { action.as_ref() }.copied();
    // SAFETY: the caller's.
    in_turn(|| unsafe { change(signal, action, wanted, before) })
}

/// # Safety
/// As for libc's `sigaction`; the calling thread has the turn. `wanted` is what `action` points to.
unsafe fn change(
    signal: c_int,
    action: *const libc::sigaction,
    wanted: Option<libc::sigaction>,
    before: *mut libc::sigaction,
) -> c_int {
    let stand_in = wanted.and_then(|wanted| stand_in(signal, &wanted));
    // SAFETY: the caller's.
    unsafe {
        let result = match stand_in {
            Some(stand_in) => ask(signal, &stand_in, before),
            None => libc::sigaction(signal, action, before),
        };
        if result != 0 {
            return result;
        }
        if let Some(before) = before.as_mut() {
            show(signal, before);
        }
        if stand_in.is_some_and(|action| is_relay(&action))
            && let (Some(asked), Some(wanted)) = (ASKED.of(signal), wanted)
        {
            *asked = wanted;
        }
    }
    0
}

/// Asks libc for something on behalf of the program.
///
/// # Safety
/// As for libc's `sigaction`; the calling thread has the turn.
unsafe fn ask(signal: c_int, action: &libc::sigaction, before: *mut libc::sigaction) -> c_int {
    let Some(place) = STAND_INS.of(signal) else { return -1 };
    // SAFETY: the caller's; the place is valid.
    unsafe {
        *place = *action;
        libc::sigaction(signal, place, before)
    }
}

/// What takes the place of an action; `None`: nothing.
fn stand_in(signal: c_int, wanted: &libc::sigaction) -> Option<libc::sigaction> {
    if wanted.sa_sigaction == libc::SIG_DFL {
        return ending::own_action(signal);
    }
    let is_once = wanted.sa_flags & libc::SA_RESETHAND != 0
        && wanted.sa_sigaction != libc::SIG_IGN
        // What is asked for is noted in the memory of the process that the program began in.
        && !process::is_stranger();
    if !is_once || ending::own_action(signal).is_none() {
        return None;
    }
    let mut action = *wanted;
    action.sa_sigaction = relay();
    action.sa_flags = action.sa_flags & !libc::SA_RESETHAND | libc::SA_SIGINFO;
    Some(action)
}

fn is_relay(action: &libc::sigaction) -> bool {
    action.sa_sigaction == relay()
}

/// Makes of what the kernel says what it would say without the runtime.
///
/// # Safety
/// The calling thread has the turn.
unsafe fn show(signal: c_int, action: &mut libc::sigaction) {
    let Some(asked) = ASKED.of(signal) else { return };
    // SAFETY: the place is valid.
    let asked = unsafe { &*asked };
    match ending::own(action) {
        // SAFETY: zeroes are a valid value.
        Some(Own::Nothing) => *action = unsafe { zeroed() },
        Some(Own::Spent) => {
            action.sa_sigaction = libc::SIG_DFL;
            action.sa_flags = asked.sa_flags;
            action.sa_mask = asked.sa_mask;
        }
        None if is_relay(action) => *action = what_was_asked(asked, action),
        None => {}
    }
}

/// The program's own action; what else has been changed of it since (`siginterrupt`) is in that
/// which stands for it.
fn what_was_asked(asked: &libc::sigaction, stand_in: &libc::sigaction) -> libc::sigaction {
    const OF_RELAY: c_int = libc::SA_SIGINFO | libc::SA_RESETHAND;
    let mut action = *stand_in;
    action.sa_sigaction = asked.sa_sigaction;
    action.sa_flags = stand_in.sa_flags & !OF_RELAY | asked.sa_flags & OF_RELAY;
    action
}

/// What the kernel calls in the place of a handler for one time. It jumps to the program's handler,
/// with the arguments that it got, and leaves no frame: a handler may walk the stack, and there is
/// nothing between its own frame and the kernel's. A handler without SA_SIGINFO takes no notice of
/// what follows the first argument.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "C" fn relay_to_handler() {
    core::arch::naked_asm!(
        "pushq %rdi",
        "pushq %rsi",
        "pushq %rdx",
        "callq {handler}",
        "popq %rdx",
        "popq %rsi",
        "popq %rdi",
        "testq %rax, %rax",
        "je 1f",
        "jmpq *%rax",
        "1:",
        "retq",
        handler = sym handler_or_again,
        options(att_syntax),
    )
}

/// The same.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
unsafe extern "C" fn relay_to_handler() {
    core::arch::naked_asm!(
        "stp x29, x30, [sp, #-48]!",
        "stp x0, x1, [sp, #16]",
        "str x2, [sp, #32]",
        "bl {handler}",
        "mov x16, x0",
        "ldr x2, [sp, #32]",
        "ldp x0, x1, [sp, #16]",
        "ldp x29, x30, [sp], #48",
        "cbz x16, 1f",
        "br x16",
        "1:",
        "ret",
        handler = sym handler_or_again,
    )
}

fn relay() -> usize {
    relay_to_handler as *const () as usize
}

/// The program's handler that a signal is to come to; 0: the signal is sent again. Another thread
/// was first, or the program has changed its mind: what it wants by now is done about it.
extern "C" fn handler_or_again(signal: c_int, info: *mut libc::siginfo_t) -> usize {
    let errno = sys::errno();
    // SAFETY: this thread has the turn.
    let handler = in_turn(|| unsafe { claim(signal) });
    if handler.is_none() {
        // SAFETY: the kernel has given the information.
        unsafe { ending::send_again(signal, info) };
    }
    sys::set_errno(errno);
    handler.unwrap_or(0)
}

/// The program's handler, if the signal is still to come to it; from here on it is not.
///
/// # Safety
/// The calling thread has the turn.
unsafe fn claim(signal: c_int) -> Option<usize> {
    // SAFETY: zeroes are a valid value, in whose place the action is written.
    unsafe {
        let mut now: libc::sigaction = zeroed();
        if libc::sigaction(signal, null(), &raw mut now) != 0 || !is_relay(&now) {
            return None;
        }
        let asked = ASKED.of(signal)?;
        if !process::is_stranger() {
            // As the kernel knows it when the signal comes.
            *asked = what_was_asked(&*asked, &now);
        }
        let own = ending::own_action_after_handler(signal);
        ask(signal, &own.unwrap_or_else(sys::handlers::default_action), null_mut());
        Some((*asked).sa_sigaction)
    }
}

/// Gives the kernel the program's own handler back: this library is about to be unloaded.
pub fn release(signal: c_int, now: &libc::sigaction) {
    if !is_relay(now) {
        return;
    }
    if let Some(asked) = ASKED.of(signal) {
        // SAFETY: the program gave that action; no other thread begins to use the library any more.
        unsafe { sys::handlers::set_action(signal, &what_was_asked(&*asked, now)) };
    }
}

/// `signal` as emitted code calls it.
///
/// # Safety
/// As for libc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_signal(signal: c_int, handler: usize) -> usize {
    if handler == libc::SIG_DFL {
        // SAFETY: the default has no handler.
        return unsafe { set_handler(signal, &sys::handlers::default_action()) };
    }
    in_turn(|| {
        // SAFETY: the caller's.
        let before = unsafe { libc::signal(signal, handler) };
        shown_handler(signal, before)
    })
}

/// `__sysv_signal` as emitted code calls it, what `signal` is in strict modes of compilers: the
/// handler is for one time, and may be interrupted by its own signal.
///
/// # Safety
/// As for `signal`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_sysv_signal(signal: c_int, handler: usize) -> usize {
    /// It means nothing to the kernel, of which older ones show it all the same.
    const SA_INTERRUPT: c_int = 0x2000_0000;
    if handler == libc::SIG_ERR {
        sys::set_errno(libc::EINVAL);
        return libc::SIG_ERR;
    }
    let mut action = sys::handlers::default_action();
    action.sa_sigaction = handler;
    action.sa_flags = libc::SA_RESETHAND | libc::SA_NODEFER | SA_INTERRUPT;
    // SAFETY: the caller's.
    unsafe { set_handler(signal, &action) }
}

/// `sigset` as emitted code calls it.
///
/// # Safety
/// As for libc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_sigset(signal: c_int, handler: usize) -> usize {
    unsafe extern "C" {
        fn sigset(signal: c_int, handler: usize) -> usize;
    }
    /// What a signal's handler is said to be while it is blocked.
    const SIG_HOLD: usize = 2;
    if handler != libc::SIG_DFL {
        // It changes the signal mask, so it runs with the program's.
        // SAFETY: the caller's.
        let before = unsafe { sigset(signal, handler) };
        return in_turn(|| shown_handler(signal, before));
    }
    // SAFETY: the default has no handler.
    let before = unsafe { set_handler(signal, &sys::handlers::default_action()) };
    if before == libc::SIG_ERR {
        return before;
    }
    let is_blocked = sys::unblock(signal);
    if is_blocked { SIG_HOLD } else { before }
}

/// # Safety
/// As for libc's `sigaction`.
unsafe fn set_handler(signal: c_int, action: &libc::sigaction) -> usize {
    // SAFETY: zeroes are a valid value; the rest is the caller's.
    let before = unsafe { sys::written(|before| sigaction(signal, action, before)) };
    before.map_or(libc::SIG_ERR, |before| before.sa_sigaction)
}

/// A handler as it would be without the runtime.
fn shown_handler(signal: c_int, handler: usize) -> usize {
    if handler == relay() {
        // SAFETY: the place is valid, and the calling thread has the turn.
        return ASKED.of(signal).map_or(libc::SIG_DFL, |asked| unsafe { (*asked).sa_sigaction });
    }
    if ending::is_own(handler) { libc::SIG_DFL } else { handler }
}
