//! Memory straight from the kernel, so that `malloc` and code that runs in it can be instrumented.
//!
//! An [`Arena`] hands out zeroed memory from chunks and takes nothing back. Each thread context has
//! one of its own. Chunks grow with the arena, so that at most about a quarter of what is mapped is
//! unused; the kernel gives pages to what is touched only.
//!
//! Where the profile is kept in a file while the program runs (`live`), arenas for what is counted
//! are in that file; others are always in memory of the process alone.
//!
//! All arenas together keep to a limit. A part of the first chunk is kept in reserve: when the
//! limit is reached, the roots of the forests still find room there (see `node`).

use crate::file::live;
use crate::sys;
use core::ptr::NonNull;
use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use midflight_abi::SLOT_SHIFT;

/// Limit on the memory of all arenas unless the environment says otherwise.
pub const DEFAULT_LIMIT: usize = 1 << 30;

/// Chunks are multiples of this; no supported kernel has larger pages.
pub const GRANULE: usize = 64 << 10;
const LARGEST_CHUNK: usize = 64 << 20;
const RESERVE: usize = 4 << 10;
/// Alignment of all that is handed out: that of tables.
const ALIGNMENT: usize = 1 << SLOT_SHIFT;

static MAPPED: AtomicUsize = AtomicUsize::new(0);
static LIMIT: AtomicUsize = AtomicUsize::new(DEFAULT_LIMIT);

/// Threads that have arenas.
static SHARERS: AtomicUsize = AtomicUsize::new(0);

static REFUSED: AtomicBool = AtomicBool::new(false);

/// Whether an arena had less than its budget, since the limit on all did not allow more or the
/// kernel had none.
pub fn has_run_out() -> bool {
    REFUSED.load(Ordering::Relaxed)
}

/// Notes that one more thread shares the memory.
pub fn add_sharer() {
    SHARERS.fetch_add(1, Ordering::Relaxed);
}

/// What one thread may have of what is left of the limit: half of it, or less where many share it,
/// so that there is some for those to come.
fn part() -> usize {
    let unmapped = limit().saturating_sub(MAPPED.load(Ordering::Relaxed));
    let sharers = SHARERS.load(Ordering::Relaxed).max(1);
    unmapped.checked_div(sharers.saturating_mul(2)).unwrap_or(0)
}

/// Sets the limit on the memory of all arenas, in bytes.
pub fn set_limit(bytes: usize) {
    LIMIT.store(bytes, Ordering::Relaxed);
}

/// The limit on the memory of all arenas, in bytes.
pub fn limit() -> usize {
    LIMIT.load(Ordering::Relaxed)
}

/// Whether so much of the limit is left that memory may go to what can be done without.
pub fn has_plenty() -> bool {
    let limit = limit();
    limit.saturating_sub(MAPPED.load(Ordering::Relaxed)) > limit / 4
}

/// What an arena is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Contents {
    /// Counters and what leads to them: part of the profile.
    Profile,
    /// Anything else.
    Other,
}

/// Whether an allocation may use the reserve.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// What can be done without, at the price of a restarted stream.
    Growth,
    /// What can be done without, at the price of time. A part of the budget is kept for it.
    Spread,
    /// A root, without which an event cannot be counted at all.
    Root,
}

/// A stretch of memory not yet handed out.
struct Stretch {
    start: usize,
    end: usize,
}

impl Stretch {
    const fn empty() -> Self {
        Self { start: 0, end: 0 }
    }

    fn size(&self) -> usize {
        self.end - self.start
    }

    fn take(&mut self, size: usize) -> Option<NonNull<u8>> {
        if size > self.size() {
            return None;
        }
        let address = self.start as *mut u8;
        self.start += size;
        NonNull::new(address)
    }
}

/// A growing piece of memory, see the module.
pub struct Arena {
    chunk: Stretch,
    reserve: Stretch,
    mapped: usize,
    contents: Contents,
    /// What may still be handed out for growth.
    budget: usize,
    /// What may still be handed out to spread tables.
    for_spreading: usize,
}

impl Arena {
    pub const fn new(contents: Contents) -> Self {
        Self::with_budget(contents, usize::MAX)
    }

    /// The same, for so many bytes that can be done without.
    pub const fn with_budget(contents: Contents, budget: usize) -> Self {
        Self {
            contents,
            chunk: Stretch::empty(),
            reserve: Stretch::empty(),
            mapped: 0,
            budget,
            for_spreading: 0,
        }
    }

    /// Hands out `size` zeroed bytes, aligned to 16. `None`: the limit is reached, or the kernel
    /// has no more.
    pub fn allocate(&mut self, size: usize, purpose: Purpose) -> Option<NonNull<u8>> {
        let size = size.checked_next_multiple_of(ALIGNMENT)?;
        match purpose {
            Purpose::Growth => self.budget = self.budget.checked_sub(size)?,
            Purpose::Spread => self.for_spreading = self.for_spreading.checked_sub(size)?,
            Purpose::Root => {}
        }
        if let Some(memory) = self.chunk.take(size) {
            return Some(memory);
        }
        self.allocate_more(size).or_else(|| match purpose {
            Purpose::Root => self.reserve.take(size),
            Purpose::Growth | Purpose::Spread => None,
        })
    }

    /// Adds to what may be handed out.
    pub fn raise(&mut self, for_growth: usize, for_spreading: usize) {
        self.budget += for_growth;
        self.for_spreading += for_spreading;
    }

    /// What may still be handed out for growth.
    pub fn left(&self) -> usize {
        let part = part() + self.chunk.size();
        if part < self.budget {
            REFUSED.store(true, Ordering::Relaxed);
        }
        self.budget.min(part)
    }

    /// The same, if no other thread had any.
    pub fn unshared_left(&self) -> usize {
        self.budget
    }

    /// Bytes that were handed out.
    pub fn handed_out(&self) -> usize {
        self.mapped - self.chunk.size() - self.reserve.size()
    }

    /// Takes bytes off what may be handed out for growth, which were mapped apart.
    pub fn charge(&mut self, bytes: usize) {
        self.budget = self.budget.saturating_sub(bytes);
    }

    /// What may still be handed out to spread tables.
    pub fn left_for_spreading(&self) -> usize {
        self.for_spreading
    }

    /// Leaves no budget, but so much to spread tables.
    #[cfg(test)]
    pub fn exhaust(&mut self, for_spreading: usize) {
        (self.budget, self.for_spreading) = (0, for_spreading);
    }

    fn allocate_more(&mut self, size: usize) -> Option<NonNull<u8>> {
        let needed = size.checked_add(RESERVE)?.checked_next_multiple_of(GRANULE)?;
        let wanted = (self.mapped / 4).min(part()) / GRANULE * GRANULE;
        let wanted = wanted.clamp(GRANULE, LARGEST_CHUNK);
        if needed > wanted && self.mapped != 0 {
            // A large piece gets a mapping of its own; the current chunk goes on.
            let mut own = self.map(needed)?;
            return own.take(size);
        }
        self.chunk = self.map_at_most(wanted, needed)?;
        if self.reserve.end == 0 {
            self.reserve = Stretch { start: self.chunk.end - RESERVE, end: self.chunk.end };
            self.chunk.end = self.reserve.start;
        }
        self.chunk.take(size)
    }

    /// Maps `wanted` bytes or, if there are not as many, fewer, but not less than `needed`.
    fn map_at_most(&mut self, wanted: usize, needed: usize) -> Option<Stretch> {
        let mut size = wanted.max(needed);
        loop {
            if let Some(stretch) = self.map(size) {
                return Some(stretch);
            }
            if size == needed {
                return None;
            }
            size = (size / 2 / GRANULE * GRANULE).max(needed);
        }
    }

    fn map(&mut self, size: usize) -> Option<Stretch> {
        let before = MAPPED.fetch_add(size, Ordering::Relaxed);
        let within = before.checked_add(size).is_some_and(|sum| sum <= limit());
        let map = match self.contents {
            Contents::Profile => live::map,
            Contents::Other => sys::map,
        };
        let Some(memory) = within.then(|| map(size)).flatten() else {
            REFUSED.store(true, Ordering::Relaxed);
            MAPPED.fetch_sub(size, Ordering::Relaxed);
            return None;
        };
        self.mapped += size;
        let start = memory.as_ptr() as usize;
        Some(Stretch { start, end: start + size })
    }
}

/// Zeroed memory of this process alone, within the limit on all arenas, for
/// [`unmap_apart`].
pub fn map_apart(size: usize) -> Option<NonNull<u8>> {
    let before = MAPPED.fetch_add(size, Ordering::Relaxed);
    let within = before.checked_add(size).is_some_and(|sum| sum <= limit());
    let memory = within.then(|| sys::map(size)).flatten();
    if memory.is_none() {
        REFUSED.store(true, Ordering::Relaxed);
        MAPPED.fetch_sub(size, Ordering::Relaxed);
    }
    memory
}

/// Gives memory back.
///
/// # Safety
/// It is of [`map_apart`], with that size, and nobody uses it any more.
pub unsafe fn unmap_apart(memory: NonNull<u8>, size: usize) {
    MAPPED.fetch_sub(size, Ordering::Relaxed);
    // SAFETY: the caller's.
    unsafe { sys::unmap(memory, size) };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_is_aligned_zeroed_and_disjoint() {
        let mut arena = Arena::new(Contents::Other);
        let mut last_end = Vec::new();
        for size in [1usize, 8, 72, 24, 4000, 70_000, 3, 200_000, 16] {
            let memory = arena.allocate(size, Purpose::Growth).unwrap().as_ptr();
            assert_eq!(memory as usize % ALIGNMENT, 0);
            // SAFETY: the arena has just handed out that many bytes.
            let bytes = unsafe { core::slice::from_raw_parts_mut(memory, size) };
            assert!(bytes.iter().all(|&byte| byte == 0));
            bytes.fill(0xff);
            last_end.push(memory as usize..memory as usize + size);
        }
        last_end.sort_by_key(|range| range.start);
        assert!(last_end.windows(2).all(|pair| pair[0].end <= pair[1].start));
    }

    #[test]
    fn a_size_that_overflows_is_refused() {
        let mut arena = Arena::new(Contents::Other);
        assert!(arena.allocate(usize::MAX, Purpose::Growth).is_none());
        assert!(arena.allocate(usize::MAX - RESERVE - 8, Purpose::Root).is_none());
    }
}
