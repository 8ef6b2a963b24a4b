//! On-stack replacement: when points fire, and how often they did.
//!
//! Emitted code decides alone wherever it can (`midflight_abi::osr` has the protocol). The runtime
//! arms and disarms points, decides for fuzzed ones, and writes what happened when the program
//! ends. It shares nothing with the counting of paths: a program may have either or both.
//!
//! # Map
//!
//! | module | one concept |
//! |---|---|
//! | `record` | what emitted code has of a function and its sites |
//! | `image`, `index` | the executable and libraries with such records |
//! | `copy` | what stays when one is unloaded |
//! | `state` | what there is once in a process; start, `fork` |
//! | `settings`, `fire` | what the environment says; `MIDFLIGHT_OSR_FIRE` |
//! | `choice` | names of points, and which are meant |
//! | `hit`, `gap` | whether a fuzzed point fires; random distances |
//! | `arm`, `patch`, `barrier` | arming; changing code while it runs |
//! | `toggle` | the signal that arms and disarms |
//! | `log`, `list` | what is reported when the program ends |
//! | `open` | points for which versions are made while the program runs |

mod arm;
mod barrier;
mod choice;
mod copy;
pub mod fire;
pub mod gap;
mod hit;
mod image;
mod index;
mod list;
mod log;
pub mod open;
mod patch;
mod record;
mod settings;
mod state;
mod toggle;

pub use image::midflight_osr_register;
pub use log::write_at_exit;
pub use state::is_started;

use core::ffi::{CStr, c_char, c_int, c_ulonglong};
use midflight_abi::osr::OsrPatch;

/// Forgets the OSR points whose records begin at `start`; what was counted stays. Called by the
/// destructor of each linked image but the one that has the runtime's state.
#[unsafe(no_mangle)]
pub extern "C" fn midflight_osr_unregister(start: *mut u8) {
    image::unregister(start);
    log::write_after_exit();
}

/// What is registered of the points of a function: the bounds of its record, and of the places of
/// patch points, which may be null.
pub type OsrVisit = unsafe extern "C" fn(*mut u8, *mut u8, *const OsrPatch, *const OsrPatch);

/// What a module that a JIT compiles has to tell of its points.
pub type OsrPoints = unsafe extern "C" fn(visit: OsrVisit);

/// Makes the points of code that was not linked known: `points` is the function that the compiler
/// added to its module to tell of them.
///
/// # Safety
/// The code and its data are mapped until [`midflight_osr_unregister_code`] is called with the same
/// function.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_osr_register_code(points: OsrPoints) {
    // SAFETY: the caller's.
    unsafe { points(midflight_osr_register) };
}

/// Forgets the points of code that is about to be freed; what was counted stays.
///
/// # Safety
/// `points` was given to [`midflight_osr_register_code`], and its code is still mapped.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_osr_unregister_code(points: OsrPoints) {
    unsafe extern "C" fn forget(
        start: *mut u8,
        _stop: *mut u8,
        _patch_start: *const OsrPatch,
        _patch_stop: *const OsrPatch,
    ) {
        image::unregister(start);
    }
    // SAFETY: the caller's.
    unsafe { points(forget) };
    log::write_after_exit();
}

/// The flag of a point, see `midflight.h`.
///
/// # Safety
/// `point` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_osr_flag(point: *const c_char) -> *mut u32 {
    // SAFETY: the caller's.
    unsafe { named(point) }.map_or(core::ptr::null_mut(), arm::flag_of)
}

/// Arms the flag and patch points with that name, see `midflight.h`.
///
/// # Safety
/// `point` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_osr_arm(point: *const c_char) -> c_int {
    // SAFETY: the caller's.
    unsafe { named(point) }.map_or(-libc::EINVAL, |point| arm::by_name(point, true))
}

/// Disarms the flag and patch points with that name, see `midflight.h`.
///
/// # Safety
/// `point` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_osr_disarm(point: *const c_char) -> c_int {
    // SAFETY: the caller's.
    unsafe { named(point) }.map_or(-libc::EINVAL, |point| arm::by_name(point, false))
}

/// How often the points with that name have fired so far, see `midflight.h`.
///
/// # Safety
/// `point` is null or a C string.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_osr_count(point: *const c_char) -> c_ulonglong {
    // SAFETY: the caller's.
    unsafe { named(point) }.map_or(0, image::transitions)
}

/// # Safety
/// `point` is null or a C string that outlives its use.
unsafe fn named<'a>(point: *const c_char) -> Option<&'a [u8]> {
    // SAFETY: the caller's.
    unsafe { (!point.is_null()).then(|| CStr::from_ptr(point).to_bytes()) }
}
