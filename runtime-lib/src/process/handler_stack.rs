//! The stacks that handlers run on when a thread's own has overflowed.
//!
//! A thread that has none gets one from the runtime, so that the overflow of its stack leaves a
//! profile. The program does not see it: emitted code calls [`midflight_sigaltstack`] in the place
//! of libc's, which says of it that there is none. When the program turns its own stack off, the
//! runtime's takes its place.
//!
//! A thread in which nothing instrumented has run yet has none of the runtime's.

use crate::paths::context;
use crate::process::ending;
use crate::process::signal::Blocked;
use crate::sys;
use crate::sys::handlers;
use core::ffi::c_int;
use core::mem::zeroed;
use core::ptr::NonNull;

/// Size of the runtime's stacks.
const SIZE: usize = 128 << 10;

/// Which modes of a stack are none of its own: they may be combined with the others.
const FLAGS: c_int = 1 << 31;

/// Memory for a thread's stack, kept for threads that come later.
pub struct Memory(Option<NonNull<u8>>);

impl Memory {
    pub const fn new() -> Self {
        Self(None)
    }

    /// Whether it is the stack.
    fn is(&self, stack: &libc::stack_t) -> bool {
        self.0.is_some_and(|memory| memory.as_ptr().cast() == stack.ss_sp) && stack.ss_size == SIZE
    }
}

/// Gives the calling thread a stack for handlers, unless it has one.
pub fn give(memory: &mut Memory) {
    if !ending::is_catching() || !handlers::stack().is_some_and(|stack| is_off(&stack)) {
        return;
    }
    if memory.0.is_none() {
        memory.0 = sys::map(SIZE);
    }
    if let Some(memory) = memory.0 {
        let stack = libc::stack_t { ss_sp: memory.as_ptr().cast(), ss_flags: 0, ss_size: SIZE };
        // SAFETY: the memory is the thread's, and never unmapped.
        unsafe { handlers::set_stack(&stack) };
    }
}

fn is_off(stack: &libc::stack_t) -> bool {
    stack.ss_flags & libc::SS_DISABLE != 0
}

/// `sigaltstack` as emitted code calls it.
///
/// # Safety
/// As for libc's.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_sigaltstack(
    new: *const libc::stack_t,
    old: *mut libc::stack_t,
) -> c_int {
    let signals = Blocked::new();
    // SAFETY: the caller's.
    let result = unsafe { change(new, old, &signals) };
    let errno = sys::errno();
    drop(signals);
    sys::set_errno(errno);
    result
}

unsafe fn change(new: *const libc::stack_t, old: *mut libc::stack_t, signals: &Blocked) -> c_int {
    // SAFETY: the caller's. Both may be the same place.
    let wanted = unsafe { new.as_ref() }.copied();
    let memory = if ending::is_catching() { context::own(signals) } else { None };
    let (Some(context), Some(now)) = (memory, handlers::stack()) else {
        // SAFETY: the caller's.
        return unsafe { libc::sigaltstack(new, old) };
    };
    // SAFETY: the context is the calling thread's.
    let memory = unsafe { &mut *context.stack.get() };
    let is_own = memory.is(&now);
    // A handler of the program's own runs on it, for which there would be no such stack.
    let is_in_use = is_own && now.ss_flags & libc::SS_ONSTACK != 0;
    let new = if is_in_use { core::ptr::null() } else { new };
    // SAFETY: the caller's; zeroes are a valid value.
    unsafe {
        if libc::sigaltstack(new, old) != 0 {
            return -1;
        }
        if is_own && let Some(old) = old.as_mut() {
            *old = zeroed();
            old.ss_flags = libc::SS_DISABLE;
        }
    }
    match wanted {
        // What a handler changes lasts until it returns: here, it never begins to.
        Some(wanted) if is_in_use => check(&wanted),
        Some(_) => {
            give(memory);
            0
        }
        None => 0,
    }
}

/// Says what the kernel would.
fn check(wanted: &libc::stack_t) -> c_int {
    // SAFETY: takes a number.
    let least = unsafe { libc::getauxval(libc::AT_MINSIGSTKSZ) }.max(libc::MINSIGSTKSZ as u64);
    let error = match wanted.ss_flags & !FLAGS {
        libc::SS_DISABLE => return 0,
        0 | libc::SS_ONSTACK if wanted.ss_size as u64 >= least => return 0,
        0 | libc::SS_ONSTACK => libc::ENOMEM,
        _ => libc::EINVAL,
    };
    sys::set_errno(error);
    -1
}
