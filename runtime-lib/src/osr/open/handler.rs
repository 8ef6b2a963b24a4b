//! Whether a handler of signals may be what runs.
//!
//! It may have interrupted `malloc`, and must not begin a thread. What tells is its stack, if it
//! has one of its own, and that its signal is blocked, unless the program said that the signal may
//! interrupt its own handler (`SA_NODEFER`). A thread that blocks a signal with a handler for
//! another to take looks the same, and is not asked either; one that blocks signals in order to
//! wait for them has no handlers for them.

use crate::process::ending::{self, LAST_SIGNAL, Own};
use crate::sys::handlers;

/// Whether one may be, in a thread that blocks the signals of `mask`; `usual` are those that were
/// blocked when the program started.
pub fn may_be_running(mask: u64, usual: u64) -> bool {
    let stack = handlers::stack();
    let has_own_stack = stack.is_none_or(|stack| stack.ss_flags & libc::SS_ONSTACK != 0);
    let blocked = mask & !usual;
    let is_blocked = |signal: &i32| blocked >> (signal - 1) & 1 != 0;
    has_own_stack || (1..=LAST_SIGNAL).filter(is_blocked).any(has_handler)
}

/// Whether there is a handler of the program's own for a signal, or was until it was called.
fn has_handler(signal: i32) -> bool {
    handlers::action(signal).is_some_and(|action| match ending::own(&action) {
        Some(own) => own == Own::Spent,
        None => ![libc::SIG_DFL, libc::SIG_IGN].contains(&action.sa_sigaction),
    })
}
