//! The signal that arms all flag and patch points, and at its next arrival disarms them.

use crate::osr::arm;
use core::ffi::c_int;
use core::mem::zeroed;
use core::ptr::{null, null_mut};

/// Installs the handler; what was there before it.
pub fn install(signal: i32) -> libc::sigaction {
    // SAFETY: zeroes are a valid value, in which the fields that matter are set; the handler may
    // interrupt anything.
    unsafe {
        let (mut action, mut before): (libc::sigaction, libc::sigaction) = (zeroed(), zeroed());
        action.sa_sigaction = on_signal as *const () as usize;
        action.sa_flags = libc::SA_RESTART | libc::SA_ONSTACK;
        libc::sigaction(signal, &raw const action, &raw mut before);
        before
    }
}

/// Puts back what was there before, unless the program has a handler of its own by now: this
/// library is about to be unloaded.
pub fn remove(signal: i32, before: &libc::sigaction) {
    // SAFETY: as above; what was there before is valid.
    unsafe {
        let mut action: libc::sigaction = zeroed();
        let known = libc::sigaction(signal, null(), &raw mut action) == 0;
        if known && action.sa_sigaction == on_signal as *const () as usize {
            libc::sigaction(signal, before, null_mut());
        }
    }
}

extern "C" fn on_signal(_signal: c_int) {
    arm::toggle_all();
}
