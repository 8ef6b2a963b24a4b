//! `libmidflight_rt`: what instrumented programs link.
//!
//! Emitted code tells it of acyclic paths as they are taken; it keeps a k-slab forest (thesis
//! 3.2.3) for each function and thread, and writes them to a profile when the program ends.
//!
//! It runs inside other people's programs, at any place in them: inside `malloc`, in signal
//! handlers, in constructors and in threads that are ending. So it has no allocator, no
//! thread-local variables and no unwinding, never leaves `errno` or the signal mask changed, and
//! exports nothing but `midflight_*`.
//!
//! # Map
//!
//! | room | module | one concept |
//! |---|---|---|
//! | `paths` | `node` | the automaton that Algorithm 4 is run by; its tables |
//! | | `forest` | a thread's forest for a function; walks |
//! | | `counter` | counters that signal handlers and other threads see |
//! | | `enter` | how emitted code finds the forest of its thread |
//! | | `step` | an event that emitted code has not found |
//! | | `run` | many events in a row of one path |
//! | | `published` | Algorithm 4 as it was published, for comparison |
//! | | `prune` | what is dropped when a thread's memory is full |
//! | | `baseline` | what is not to be told of the counters: pausing |
//! | | `context` | what one thread counts, and who takes it over |
//! | | `fallback` | what emitted code gets when there is no memory |
//! | `contexts` | | calling contexts: a tree for each thread |
//! | `osr` | | on-stack replacement: when points fire, and how often they did |
//! | | `open` | versions that are made while the program runs, by a library that is loaded for it |
//! | `process` | | what there is once; `fork` |
//! | | `image`, `hooks`, `loader` | the executable and libraries with records |
//! | | `ending` | ends of the process that run no destructor |
//! | | `disposition`, `handler_stack` | what the program asks for about signals, and does not see |
//! | | `sanitizer` | sanitizers and libFuzzer, which end the process in their own ways |
//! | | `privilege` | programs in which nothing is done |
//! | | `signal`, `signal_name` | blocked signals; names of signals |
//! | `file` | | files, and what can go wrong with them |
//! | | `output` | what is written to the profile, and when |
//! | | `place` | the directory of a file; whose links and files are used |
//! | | `destination`, `age`, `pattern`, `text`, `scratch` | the file, its name |
//! | | `sharing` | a file that many processes add to |
//! | | `live` | memory in a file, so that counts survive a SIGKILL |
//! | | `arena`, `mapping` | memory that is kept, and that is given back |
//! | | `lock`, `sys` | against concurrent threads and handlers; system calls |
//! | | `freestanding` | what is used of libc, so that nothing is called that a program may define |
//! | | `config`, `message` | environment, standard error |
//! | | `sparing` | functions that emitted code jumps to |
#![cfg_attr(not(test), no_std)]
#![warn(clippy::indexing_slicing, clippy::unwrap_used, clippy::panic)]
#![cfg_attr(test, allow(clippy::indexing_slicing, clippy::unwrap_used, clippy::panic))]

#[cfg(not(all(target_os = "linux", target_pointer_width = "64")))]
compile_error!("libmidflight_rt is written for Linux on 64-bit machines");

mod arena;
mod config;
mod contexts;
mod file;
#[cfg(all(feature = "standalone", not(any(test, miri, feature = "tsan"))))]
mod freestanding;
mod lock;
mod mapping;
mod message;
mod osr;
mod paths;
mod process;
#[cfg(target_arch = "x86_64")]
mod sparing;
mod sys;

#[cfg(test)]
mod reader_tests;
#[cfg(test)]
mod tests;

/// What a Rust program that makes code, a JIT, calls by paths; C has it from `midflight.h`.
pub use osr::open::{
    midflight_invalidate, midflight_osr_generator, midflight_osr_left, midflight_osr_open,
    midflight_osr_register_open, midflight_osr_unregister_open,
};
pub use osr::{
    OsrPoints, OsrVisit, midflight_osr_arm, midflight_osr_count, midflight_osr_disarm,
    midflight_osr_flag, midflight_osr_register, midflight_osr_register_code,
    midflight_osr_unregister, midflight_osr_unregister_code,
};

/// What a host gets at an exit.
pub use midflight_abi::osr::{OSR_FLOAT, OSR_INTEGER, OSR_OTHER, OSR_POINTER, OsrExit, OsrValue};

use crate::file::{live, output};
use crate::paths::{context, fallback, published, run};
use crate::process::signal::Blocked;
use crate::process::{disposition, image, privilege};
use core::ffi::{CStr, c_char, c_int};
use core::mem::offset_of;
use core::sync::atomic::{AtomicPtr, Ordering};
use midflight_abi::contexts::{ContextHead, IN_HEAD};
use midflight_abi::{Cursor, Forest, Mode, RecordHeader};

/// Makes the calling thread's forest for a function, stores it in the slot and returns it. Never
/// returns null: without memory it returns a forest whose counts are lost, which is stated when the
/// profile is written.
///
/// # Safety
/// `record` is a record of a registered image, `slot` a thread-local variable of the calling
/// thread, or that in the head of an activation's node, plus [`IN_HEAD`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_enter(
    record: *const RecordHeader,
    slot: *mut *mut Forest,
) -> *mut Forest {
    // SAFETY: the caller's. A handler of this thread may read the slot at any time.
    unsafe {
        if slot as usize & IN_HEAD != 0 {
            let head = slot.wrapping_byte_sub(IN_HEAD + offset_of!(ContextHead, forest)).cast();
            return contexts::paths::forest(record, head);
        }
        if live::is_stranger() {
            return fallback::forest(record);
        }
        let signals = Blocked::new();
        let Some(forest) = own_forest(record, &signals) else { return fallback::forest(record) };
        AtomicPtr::from_ptr(slot).store(forest, Ordering::Release);
        forest
    }
}

/// `None`: there is no context, or the runtime was entered from a function that it has called
/// itself; the next activation may fare better.
unsafe fn own_forest(record: *const RecordHeader, signals: &Blocked) -> Option<*mut Forest> {
    // SAFETY: the caller's.
    unsafe {
        if !image::is_usable(record) || privilege::is_raised() {
            return Some(fallback::forest(record));
        }
        if (*record).mode() == Some(Mode::Published) && live::is_live() {
            // What reads the file does not know such forests. It goes when the image is registered.
            return None;
        }
        let context = context::own(signals)?;
        let _guard = context.lock.lock_as_owner()?;
        let forest = (*context.data.get()).forest((&raw const *context).cast_mut(), record);
        Some(match forest {
            Some(forest) => &raw mut (*forest).shared.forest,
            None => fallback::forest(record),
        })
    }
}

/// `n` events in a row, all of path `id`: the rounds of a loop. Returns the state after them.
///
/// # Safety
/// `forest` is that of the activation; `state` is its start or a state that was found in the
/// forest; `id` is below the function's number of paths.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_run(state: u64, id: u32, n: u64, forest: *mut Forest) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        if fallback::is_fallback(forest) {
            fallback::lose_events(n);
            return state;
        }
        if live::is_stranger() {
            return state;
        }
        run::run(state, id, n, forest)
    }
}

/// One event of Algorithm 4 (thesis 3.2.3) as it was published, for the path `id`: counts the node
/// reached and moves the cursor.
///
/// # Safety
/// `cursor` is the activation's, of which emitted code has set n and τ at the marker ∗, and
/// `forest` that of the activation, whose mode is `Published`; `id` is below the function's
/// number of paths.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_published_step(
    cursor: *mut Cursor,
    id: u32,
    forest: *mut Forest,
) {
    if fallback::is_fallback(forest) {
        return fallback::lose_events(1);
    }
    // SAFETY: the caller's.
    unsafe { published::event(cursor, id, forest) };
}

/// Forgets the records that begin at `start`; what was counted stays. Called by the destructor of
/// each linked image but the one that has the runtime's state.
#[unsafe(no_mangle)]
pub extern "C" fn midflight_unregister_image(start: *const u8) {
    image::unregister(start);
    output::write_after_exit();
}

/// Writes the profile as it is now, to `path` or, if that is null, to where `MIDFLIGHT_PROFILE`
/// says. Returns 0, or an error number after one line on standard error.
///
/// # Safety
/// `path` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_profile_write(path: *const c_char) -> c_int {
    // SAFETY: the caller's.
    let path = unsafe { (!path.is_null()).then(|| CStr::from_ptr(path)) };
    output::write_now(path)
}

/// Pauses the profile: what is counted from now on is not in it, until
/// [`midflight_profile_resume`] is called. Returns 0, or `ENOMEM` if there is no memory to remember
/// the counts of now, `EBUSY` in a function that the runtime has called itself.
#[unsafe(no_mangle)]
pub extern "C" fn midflight_profile_pause() -> c_int {
    output::pause(true)
}

/// Goes on with a profile that was paused. Returns as [`midflight_profile_pause`] does.
#[unsafe(no_mangle)]
pub extern "C" fn midflight_profile_resume() -> c_int {
    output::pause(false)
}

/// Writes the profile if anything was counted: the caller is about to leave the process, or this
/// program, without destructors. Emitted code calls it before `_exit` and `exec`.
#[unsafe(no_mangle)]
pub extern "C" fn midflight_before_end() {
    output::write_before_end();
}

/// Ends the process as `_Exit` does, and writes the profile before. `midflight cc` links
/// libFuzzer's calls of `_Exit` to it.
#[unsafe(no_mangle)]
pub extern "C" fn midflight_exit(status: c_int) -> ! {
    output::write_before_end();
    sys::exit(status)
}

/// What emitted code calls in the place of libc's `sigaction`.
///
/// # Safety
/// As for `sigaction`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_sigaction(
    signal: c_int,
    action: *const libc::sigaction,
    before: *mut libc::sigaction,
) -> c_int {
    // SAFETY: the caller's.
    unsafe { disposition::sigaction(signal, action, before) }
}

/// Nothing here panics; the language asks for a handler all the same.
#[cfg(all(feature = "standalone", not(test)))]
#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    sys::abort()
}
