//! Assumptions: variables that are constants in versions, until they are invalidated.
//!
//! What a version relies on is compared when it is published, and each change is made, under the
//! lock: so a version is either found here when its assumption changes, or never published.

use crate::osr::open::state::{self, OPEN, Open};
use crate::osr::open::version::{Progress, Version};
use crate::process::signal::Blocked;
use core::ffi::c_int;
use core::sync::atomic::{AtomicI64, Ordering};
use midflight_abi::open::{OpenAssumption, OpenMade};

/// What a generator reads of a variable. The version's image, with all that its code refers to, may
/// be unloaded while it is made, but not while there is the lock and the version is not purged.
///
/// # Safety
/// The record is that of a version; code of its image or of its key's reads the variable; the value
/// can be written.
pub unsafe extern "C" fn read(
    made: *const OpenMade,
    address: *const i64,
    value: *mut i64,
) -> c_int {
    let _signals = Blocked::new();
    let Some(_open) = OPEN.lock() else { return libc::EBUSY };
    // SAFETY: the caller's.
    unsafe {
        match Version::of(made) {
            Some(version) if version.progress() != Progress::Purged => {
                *value = AtomicI64::from_ptr(address.cast_mut()).load(Ordering::SeqCst);
                0
            }
            _ => libc::EFAULT,
        }
    }
}

/// Whether what a version relies on is as it was when it was made. Under the lock.
#[inline(never)]
pub fn hold(assumptions: &[OpenAssumption]) -> bool {
    // SAFETY: they are variables of the program, which reads and writes them by atomic operations.
    let value = |address: *const i64| unsafe { AtomicI64::from_ptr(address.cast_mut()) };
    assumptions.iter().all(|it| value(it.address).load(Ordering::SeqCst) == it.value)
}

/// See `midflight.h`.
///
/// # Safety
/// `assumption` is null, or a variable that others read and write by atomic operations only.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_invalidate(assumption: *mut i64, value: i64) -> c_int {
    if assumption.is_null() {
        return -libc::EINVAL;
    }
    // SAFETY: the caller's.
    let variable = unsafe { AtomicI64::from_ptr(assumption) };
    if !state::is_started() || state::is_stranger() {
        variable.store(value, Ordering::SeqCst);
        return 0;
    }
    let _signals = Blocked::new();
    let Some(open) = OPEN.lock() else { return -libc::EBUSY };
    if variable.swap(value, Ordering::SeqCst) != value {
        // SAFETY: the images of these sites are loaded as long as there is the lock.
        unsafe { invalidate(&open, assumption) };
    }
    0
}

/// Lets nothing lead any more to versions that rely on a variable, and has them left.
///
/// # Safety
/// All images of known sites are loaded.
#[inline(never)]
unsafe fn invalidate(open: &Open, variable: *const i64) {
    let relies = |version: &Version| {
        [Progress::Ready, Progress::Abandoned].contains(&version.progress())
            && version.assumptions().iter().any(|it| it.address == variable)
    };
    for site in open.sites() {
        for version in site.versions().filter(|version| relies(version)) {
            // SAFETY: the caller's.
            unsafe { site.invalidate(version) };
        }
    }
}
