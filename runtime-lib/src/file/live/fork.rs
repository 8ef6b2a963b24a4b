//! What `fork` does to memory in a file: the child gets a file of its own, mapped at the same
//! addresses.
//!
//! The parent copies its memory before, while it holds all locks, since the child shares the file
//! itself until it has put another one in its place. So neither has to wait for the other.
//!
//! Other threads count on meanwhile. What one of them adds without a lock, by a store that leads to
//! it, must not be in the copy without being whole there: so it is made before the copying begins,
//! or led to after that has ended ([`before_publication`]).

use super::{CAPACITY, HEADER, STATE, header, stranger};
use crate::file::place::{Place, Publish, Temporary};
use crate::file::text::Text;
use crate::file::{Failure, File, Identity};
use crate::sys;
use core::ptr::{NonNull, null_mut};
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use midflight_abi::memory::MemoryHeader;

/// Whether the memory is being copied.
static IS_COPIED: AtomicBool = AtomicBool::new(false);

/// What the thread has made may be led to, without a lock: waits while the memory is copied.
pub fn before_publication() {
    if header().is_some() {
        // Either the copying thread sees what was made, or this one that it copies.
        fence(Ordering::SeqCst);
        while IS_COPIED.load(Ordering::Acquire) {
            sys::relax();
        }
    }
}

/// A copy of the memory.
pub struct Copy {
    memory: NonNull<u8>,
    length: usize,
}

// SAFETY: it is used by the thread that forks, or by the child's only thread.
unsafe impl Send for Copy {}

impl Copy {
    /// Copies the memory, if it is in a file and there is room for the copy. The caller holds all
    /// locks.
    pub fn make() -> Option<Self> {
        let header = header()?;
        let length = header.length.load(Ordering::Relaxed) as usize;
        let memory = sys::map(length)?;
        let base = NonNull::new(header.base as *mut u8)?;
        IS_COPIED.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        // SAFETY: both have that many bytes.
        unsafe { sys::copy_pages(base, memory, length) };
        IS_COPIED.store(false, Ordering::Release);
        Some(Self { memory, length })
    }

    /// In the child: puts a new file in the place of the parent's, which has no name yet but the
    /// temporary one.
    ///
    /// # Errors
    /// Why there is no file; [`Self::keep`] is left.
    pub fn put_in_file<'a>(&self, place: &'a Place) -> Result<Unnamed<'a>, Failure> {
        let mut temporary = place.create_temporary()?;
        let identity = self.fill(&temporary.take_file()?)?;
        Ok(Unnamed { temporary, identity })
    }

    fn fill(&self, file: &File) -> Result<Identity, Failure> {
        file.extend(0, self.length)?;
        let identity = file.identity()?;
        let base = self.base();
        file.map_shared(Some(base), CAPACITY.load(Ordering::Relaxed))?;
        self.copy_to(base);
        // SAFETY: the header was copied; nobody else uses it.
        unsafe {
            let header = base.cast::<MemoryHeader>().as_ptr();
            (*header).process = sys::process_id().unsigned_abs();
            (*header).begun = AtomicU64::new(0);
            (*header).ended = AtomicU64::new(0);
        }
        stranger::mark()?;
        HEADER.store(base.cast().as_ptr(), Ordering::Release);
        Ok(identity)
    }

    /// In the child: puts memory of its own in the place of the parent's file. False: there is
    /// none.
    pub fn keep(&self) -> bool {
        let (base, capacity) = (self.base(), CAPACITY.load(Ordering::Relaxed));
        let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED | libc::MAP_NORESERVE;
        // SAFETY: what was there is the parent's.
        unsafe {
            if sys::map_at(Some(base), self.length, kind, -1).is_none() {
                return false;
            }
            sys::unmap(base.add(self.length), capacity - self.length);
        }
        self.copy_to(base);
        HEADER.store(null_mut(), Ordering::Release);
        stranger::mark().is_ok()
    }

    fn base(&self) -> NonNull<u8> {
        // SAFETY: the copy begins with the header, whose address is that of a mapping.
        unsafe {
            let base = self.memory.cast::<MemoryHeader>().as_ref().base;
            NonNull::new_unchecked(base as *mut u8)
        }
    }

    fn copy_to(&self, base: NonNull<u8>) {
        // SAFETY: both have that many bytes.
        unsafe { sys::copy_pages(self.memory, base, self.length) };
    }
}

impl Drop for Copy {
    fn drop(&mut self) {
        // SAFETY: nothing leads to the copy.
        unsafe { sys::unmap(self.memory, self.length) };
    }
}

/// A file that the child counts in, which has only its temporary name.
pub struct Unnamed<'a> {
    temporary: Temporary<'a>,
    identity: Identity,
}

impl Unnamed<'_> {
    /// Gives it its name: it is a profile.
    pub fn settle(self, name: &Text) -> Result<(), Failure> {
        let Some(mut state) = STATE.lock() else { return Err(Failure::System(libc::EBUSY)) };
        state.set_file(name, self.identity)?;
        self.temporary.publish(Publish::InPlace)
    }
}
