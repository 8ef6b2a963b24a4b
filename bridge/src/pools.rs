//! An allocator for passes: they ask for many small pieces of memory, and for other ones for each
//! function, between which LLVM asks for its own. From a heap that both share that takes a fifth of the
//! time of `osr-opt`.
//!
//! A piece of at most [`LARGEST`] bytes is taken from the list of free pieces of its size, or cut off a
//! chunk; larger ones are the system's. Each thread has lists of its own; what another thread frees joins
//! that one's. Chunks are kept: a thread holds on to as many as it ever needed at once.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::ptr::null_mut;

/// Sizes are multiples of this, which is also the largest alignment.
const UNIT: usize = 16;

/// Sizes that have lists
const SIZES: usize = 64;

/// Larger pieces are the system's.
const LARGEST: usize = SIZES * UNIT;

const CHUNK: Layout = match Layout::from_size_align(1 << 16, UNIT) {
    Ok(layout) => layout,
    Err(_) => panic!("a power of two"),
};

/// The allocator.
pub struct Pools;

/// Free pieces of a size; the first word of each is the next one.
type List = Cell<*mut u8>;

struct Lists {
    of_size: [List; SIZES],
    /// What is left of a chunk: where it begins, and its bytes
    rest: Cell<(*mut u8, usize)>,
}

thread_local! {
    static LISTS: Lists = const {
        Lists {
            of_size: [const { Cell::new(null_mut()) }; SIZES],
            rest: Cell::new((null_mut(), 0)),
        }
    };
}

/// Which list has pieces for a layout, if one has.
fn list_of(layout: Layout) -> Option<usize> {
    let is_small = layout.size() <= LARGEST && layout.align() <= UNIT;
    is_small.then(|| layout.size().div_ceil(UNIT).saturating_sub(1))
}

impl Lists {
    /// A piece of a size that has a list; null if there is no memory.
    fn take(&self, list: usize) -> *mut u8 {
        let first = self.of_size[list].get();
        if first.is_null() {
            return self.cut((list + 1) * UNIT);
        }
        // SAFETY: pieces in a list are aligned and free, and begin with the next one.
        self.of_size[list].set(unsafe { first.cast::<*mut u8>().read() });
        first
    }

    fn cut(&self, size: usize) -> *mut u8 {
        let (mut begin, mut left) = self.rest.get();
        if left < size {
            // SAFETY: the size of a chunk is not zero.
            begin = unsafe { System.alloc(CHUNK) };
            if begin.is_null() {
                return begin;
            }
            left = CHUNK.size();
        }
        // SAFETY: so much is left of the chunk, which begins there.
        self.rest.set((unsafe { begin.add(size) }, left - size));
        begin
    }

    /// Takes back a piece that nobody uses.
    fn give(&self, list: usize, piece: *mut u8) {
        let next = self.of_size[list].replace(piece);
        // SAFETY: the piece is free, aligned, and at least a unit long.
        unsafe { piece.cast::<*mut u8>().write(next) };
    }
}

// SAFETY: pieces of a list are disjoint parts of chunks, aligned to `UNIT`, of at least the size that
// was asked for: a layout has one list. One is in a list only while it is free. All others are the
// system's. Nothing here panics or unwinds: the lists have no destructor, so that they are always there.
unsafe impl GlobalAlloc for Pools {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match list_of(layout) {
            Some(list) => LISTS.with(|lists| lists.take(list)),
            // SAFETY: the caller's contract.
            None => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn dealloc(&self, piece: *mut u8, layout: Layout) {
        match list_of(layout) {
            Some(list) => LISTS.with(|lists| lists.give(list, piece)),
            // SAFETY: the caller's contract; no list has its layout, so it is the system's.
            None => unsafe { System.dealloc(piece, layout) },
        }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        let Some(list) = list_of(layout) else {
            // SAFETY: the caller's contract.
            return unsafe { System.alloc_zeroed(layout) };
        };
        let piece = LISTS.with(|lists| lists.take(list));
        if !piece.is_null() {
            // SAFETY: the piece has that size.
            unsafe { piece.write_bytes(0, layout.size()) };
        }
        piece
    }

    unsafe fn realloc(&self, piece: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller's contract: it does not overflow.
        let other = unsafe { Layout::from_size_align_unchecked(size, layout.align()) };
        match (list_of(layout), list_of(other)) {
            // SAFETY: the caller's contract; both layouts are the system's.
            (None, None) => unsafe { System.realloc(piece, layout, size) },
            (old, new) if old == new => piece,
            // SAFETY: both pieces are live, and as long as that; the old one is not used again.
            _ => unsafe {
                let moved = self.alloc(other);
                if !moved.is_null() {
                    moved.copy_from_nonoverlapping(piece, layout.size().min(size));
                    self.dealloc(piece, layout);
                }
                moved
            },
        }
    }
}
