//! The kernel's own records of handlers and of the stacks that they run on.
//!
//! libc's functions with these names may be a sanitizer's or the program's, and are called where
//! the program itself asks for something. What the runtime wants for itself it asks the kernel for.

use super::written;
use core::ffi::c_int;
use core::mem::zeroed;
use core::ptr::{null, null_mut};

/// What is done about a signal now.
pub fn action(signal: c_int) -> Option<libc::sigaction> {
    // SAFETY: zeroes are a valid value; nothing is changed.
    unsafe { written(|now| change(signal, null(), now)) }
}

/// Has something else done about a signal.
///
/// # Safety
/// The action's handler may interrupt anything.
pub unsafe fn set_action(signal: c_int, action: &libc::sigaction) {
    // SAFETY: the caller's.
    unsafe { change(signal, action, null_mut()) };
}

pub fn default_action() -> libc::sigaction {
    // SAFETY: zeroes are a valid value.
    unsafe { zeroed() }
}

/// An action whose handler runs with all signals blocked.
pub fn action_of(handler: usize, flags: c_int) -> libc::sigaction {
    let mut action = default_action();
    action.sa_sigaction = handler;
    action.sa_flags = flags;
    // SAFETY: a set is bits.
    unsafe { (&raw mut action.sa_mask).write_bytes(u8::MAX, 1) };
    action
}

/// The calling thread's stack for handlers.
pub fn stack() -> Option<libc::stack_t> {
    // SAFETY: zeroes are a valid value; nothing is changed.
    unsafe {
        written(|now| libc::syscall(libc::SYS_sigaltstack, null::<libc::stack_t>(), now) as c_int)
    }
}

/// Gives the calling thread another stack for handlers.
///
/// # Safety
/// Nothing else uses its memory.
pub unsafe fn set_stack(stack: &libc::stack_t) {
    // SAFETY: the caller's.
    unsafe {
        libc::syscall(libc::SYS_sigaltstack, &raw const *stack, null_mut::<libc::stack_t>());
    }
}

/// ThreadSanitizer must know of the handlers that it watches.
#[cfg(feature = "tsan")]
unsafe fn change(
    signal: c_int,
    action: *const libc::sigaction,
    before: *mut libc::sigaction,
) -> c_int {
    // SAFETY: the caller's.
    unsafe { libc::sigaction(signal, action, before) }
}

/// The kernel's structure for libc's `sigaction`.
#[cfg(not(feature = "tsan"))]
#[repr(C)]
struct Action {
    handler: usize,
    flags: usize,
    restorer: usize,
    mask: u64,
}

/// Where a handler returns to is in the action.
#[cfg(not(feature = "tsan"))]
const SA_RESTORER: usize = 0x0400_0000;

#[cfg(not(feature = "tsan"))]
unsafe fn change(
    signal: c_int,
    action: *const libc::sigaction,
    before: *mut libc::sigaction,
) -> c_int {
    // SAFETY: the caller's; libc's sets begin with the kernel's, which have 64 signals.
    unsafe {
        let new = action.as_ref().map(|action| Action {
            handler: action.sa_sigaction,
            flags: action.sa_flags as u32 as usize | restorer().map_or(0, |_| SA_RESTORER),
            restorer: restorer().unwrap_or(0),
            mask: (&raw const action.sa_mask).cast::<u64>().read(),
        });
        let mut old: Action = zeroed();
        let new = new.as_ref().map_or(null(), |new| &raw const *new);
        let size = size_of::<u64>();
        if libc::syscall(libc::SYS_rt_sigaction, signal, new, &raw mut old, size) != 0 {
            return -1;
        }
        if let Some(before) = before.as_mut() {
            before.sa_sigaction = old.handler;
            before.sa_flags = (old.flags & !SA_RESTORER) as c_int;
            (&raw mut before.sa_mask).cast::<u64>().write(old.mask);
        }
    }
    0
}

/// Where handlers return to; `None`: the kernel has a place of its own.
#[cfg(not(feature = "tsan"))]
fn restorer() -> Option<usize> {
    #[cfg(target_arch = "x86_64")]
    {
        unsafe extern "C" {
            fn return_from_handler();
        }
        Some(return_from_handler as *const () as usize)
    }
    #[cfg(not(target_arch = "x86_64"))]
    None
}

// Debuggers and unwinders know a handler's frame by these very bytes, which have no unwind
// information.
#[cfg(all(target_arch = "x86_64", not(feature = "tsan")))]
core::arch::global_asm!(
    ".pushsection .text.return_from_handler, \"ax\", %progbits",
    ".p2align 4",
    // Unwinders look for the caller one byte before the place that is returned to.
    "nop",
    ".globl return_from_handler",
    ".hidden return_from_handler",
    ".type return_from_handler, %function",
    "return_from_handler:",
    "movq $15, %rax",
    "syscall",
    ".size return_from_handler, . - return_from_handler",
    ".popsection",
    options(att_syntax),
);
