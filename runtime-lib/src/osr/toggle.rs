//! The signal that arms all flag and patch points, and at its next arrival disarms them.

use crate::osr::arm;
use crate::sys::handlers;
use core::ffi::c_int;

/// Installs the handler; what was there before it.
pub fn install(signal: i32) -> libc::sigaction {
    let before = handlers::action(signal).unwrap_or_else(handlers::default_action);
    let mut action = handlers::default_action();
    action.sa_sigaction = on_signal as *const () as usize;
    action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
    // SAFETY: the handler may interrupt anything.
    unsafe { handlers::set_action(signal, &action) };
    before
}

/// Puts back what was there before, unless the program has a handler of its own by now: this
/// library is about to be unloaded.
pub fn remove(signal: i32, before: &libc::sigaction) {
    let is_ours = |now: libc::sigaction| now.sa_sigaction == on_signal as *const () as usize;
    if handlers::action(signal).is_some_and(is_ours) {
        // SAFETY: what was there before is valid.
        unsafe { handlers::set_action(signal, before) };
    }
}

extern "C" fn on_signal(_signal: c_int) {
    arm::toggle_all();
}
