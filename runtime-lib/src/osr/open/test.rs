//! Guards that fail though they hold, as `MIDFLIGHT_OSR_EXIT` says: to test exits. A version that
//! is left so must be one that could be left: the program prints what it prints without.
//!
//! Versions that are made while this is on have guards that ask; there is no back-off.

use crate::osr::choice;
use crate::osr::fire::Fire;
use crate::osr::open::events::text;
use crate::osr::open::version::Version;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use midflight_abi::open::{OpenMade, OpenSite};

struct Wanted(UnsafeCell<Fire<'static>>);

// SAFETY: it is written once, before `IS_ON` says that it is there.
unsafe impl Sync for Wanted {}

static WANTED: Wanted = Wanted(UnsafeCell::new(Fire::Never));
static IS_ON: AtomicBool = AtomicBool::new(false);

/// Checks of all guards.
static CHECKS: AtomicU64 = AtomicU64::new(0);

/// Whether exits are tested.
pub fn is_on() -> bool {
    IS_ON.load(Ordering::Acquire)
}

/// Tests exits from now on. Called once, before versions are made.
pub fn begin(wanted: Fire<'static>) {
    if wanted != Fire::Never {
        // SAFETY: nobody reads it yet.
        unsafe { *WANTED.0.get() = wanted };
        IS_ON.store(true, Ordering::Release);
    }
}

/// What guards of versions ask: whether to fail.
///
/// # Safety
/// The site is that of code that is mapped, and the record that of a version of it.
pub unsafe extern "C" fn guard(site: *mut OpenSite, made: *const OpenMade) -> bool {
    // SAFETY: the caller's; what is wanted does not change any more.
    unsafe {
        let Some(version) = Version::of(made) else { return false };
        let check = version.count_check();
        match *WANTED.0.get() {
            Fire::Always => true,
            Fire::Every(n) => {
                CHECKS.fetch_add(1, Ordering::Relaxed).wrapping_add(1).is_multiple_of(n)
            }
            Fire::At { point, hit } => {
                choice::is_point(point, text((*site).file), text((*site).point))
                    && hit.is_none_or(|hit| hit == check)
            }
            _ => false,
        }
    }
}
