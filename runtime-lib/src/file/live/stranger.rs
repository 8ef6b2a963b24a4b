//! Processes that were made behind libc's back, by a raw `clone` or `_Fork`: no handler of `fork`
//! has run, and the file that they would count in is their parent's.
//!
//! They are told by a page that the kernel empties where an address space is copied. Once such a
//! process enters the runtime, it gets memory of its own, and nothing is counted by the runtime any
//! more. What emitted code counts alone before is in the parent's profile.

use super::{CAPACITY, HEADER, header};
use crate::file::Failure;
use crate::sys;
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};

/// Holds 1 but in such a process; null: the profile is in no file.
static MARK: AtomicPtr<AtomicU32> = AtomicPtr::new(null_mut());

/// Bytes of the page, on whatever machine.
const PAGE: usize = crate::arena::GRANULE;

/// Sets the mark, in a process whose memory is in order.
pub fn mark() -> Result<(), Failure> {
    let mut page = MARK.load(Ordering::Acquire);
    if page.is_null() {
        let new = sys::map(PAGE).ok_or_else(Failure::last)?;
        // SAFETY: the page was just mapped.
        let result =
            unsafe { libc::syscall(libc::SYS_madvise, new.as_ptr(), PAGE, libc::MADV_WIPEONFORK) };
        if result != 0 {
            return Err(Failure::last());
        }
        page = new.as_ptr().cast();
    }
    // SAFETY: the page is never unmapped.
    unsafe { (*page).store(1, Ordering::Release) };
    MARK.store(page, Ordering::Release);
    Ok(())
}

pub fn is_marking() -> bool {
    !MARK.load(Ordering::Acquire).is_null()
}

/// Whether this process must leave the profile alone, see the module.
pub fn is_stranger() -> bool {
    let page = MARK.load(Ordering::Acquire);
    // SAFETY: the page is never unmapped.
    let is_stranger = !page.is_null() && unsafe { (*page).load(Ordering::Relaxed) } == 0;
    if is_stranger {
        leave_parent();
    }
    is_stranger
}

/// Puts memory of this process in the place of the file. Where there is none, things stay as they
/// are.
#[cold]
#[inline(never)]
fn leave_parent() {
    let Some(header) = header() else { return };
    let length = header.length.load(Ordering::Acquire) as usize;
    let Some(base) = NonNull::new(header.base as *mut u8) else { return };
    // Behind the length it maps zeroes: the parent may have led to there by now.
    let Some(own) = sys::map(CAPACITY.load(Ordering::Relaxed)) else { return };
    HEADER.store(null_mut(), Ordering::Release);
    // SAFETY: both have that many bytes. The parent may change them meanwhile; nothing but emitted
    // code looks at them any more, and that only adds to counters where it finds its path.
    unsafe {
        sys::copy_pages(base, own, length);
        sys::move_mapping(own, CAPACITY.load(Ordering::Relaxed), base);
    }
}
