//! The nodes of a context by their windows: what the state after a new slot is found by.
//!
//! An open-addressing hash table of pointers, of which the upper 16 bits are a part of the hash: so
//! hardly any node is looked at but the one that is looked for. Emitted code does not know it, so
//! an outgrown one is given back. It is used under the context's lock.

use crate::arena;
use crate::paths::window::Window;
use core::ptr::{NonNull, null_mut};
use midflight_abi::memory::{Node, ThreadForest, label_size};

/// Places of the first table.
const FIRST: usize = 512;

/// Bits of an address.
const ADDRESS: u64 = (1 << 48) - 1;

pub struct Index {
    places: *mut u64,
    /// A power of two, or 0
    size: usize,
    used: usize,
}

impl Index {
    /// About as many bytes it has for each node: between three eighths and three quarters of its
    /// places, of 8 bytes, are in use.
    pub const BYTES_EACH: usize = 16;

    pub const fn new() -> Self {
        Self { places: null_mut(), size: 0, used: 0 }
    }

    /// Its bytes.
    pub fn bytes(&self) -> usize {
        self.size * size_of::<u64>()
    }

    /// The node of a window in a forest, or null.
    ///
    /// # Safety
    /// `forest` is a forest of the context, and the lock is held, for this and for all below.
    pub unsafe fn find(&self, window: &Window, forest: *mut ThreadForest) -> *mut Node {
        if self.size == 0 {
            return null_mut();
        }
        // SAFETY: the caller's; the table has an empty place, and holds nodes.
        unsafe {
            let size = label_size((*forest).num_paths);
            let hash = window.hash(forest as usize);
            let mut index = hash as usize;
            loop {
                let place = *self.places.add(index & (self.size - 1));
                if place == 0 {
                    return null_mut();
                }
                let node = (place & ADDRESS) as *mut Node;
                if place & !ADDRESS == tag(hash)
                    && (*node).forest == forest
                    && window.is_of(node, size)
                {
                    return node;
                }
                index = index.wrapping_add(1);
            }
        }
    }

    /// Makes room for one more node. False: there is no memory.
    ///
    /// # Safety
    /// As for [`Self::find`].
    pub unsafe fn make_room(&mut self) -> bool {
        if self.used < self.size / 4 * 3 {
            return true;
        }
        let size = (self.size * 2).max(FIRST);
        let Some(memory) = arena::map_apart(size * size_of::<u64>()) else { return false };
        let mut new = Self { places: memory.as_ptr().cast(), size, used: 0 };
        // SAFETY: the table holds nodes; the mapping was made here, and nobody else uses it.
        unsafe {
            for index in 0..self.size {
                let place = *self.places.add(index);
                if place != 0 {
                    new.insert((place & ADDRESS) as *mut Node);
                }
            }
            if let Some(old) = NonNull::new(self.places.cast::<u8>()) {
                arena::unmap_apart(old, self.bytes());
            }
        }
        *self = new;
        true
    }

    /// Adds a node, for which there is room.
    ///
    /// # Safety
    /// As for [`Self::find`]; it is a node of the context, and not there yet.
    pub unsafe fn insert(&mut self, node: *mut Node) {
        // SAFETY: the caller's; the table has an empty place.
        unsafe {
            let hash = Window::of(node).hash((*node).forest as usize);
            let mut index = hash as usize;
            loop {
                let place = self.places.add(index & (self.size - 1));
                if *place == 0 {
                    *place = tag(hash) | node as u64;
                    self.used += 1;
                    return;
                }
                index = index.wrapping_add(1);
            }
        }
    }
}

/// The part of a hash that stands beside an address: its upper bits, of 48.
fn tag(hash: u64) -> u64 {
    hash << 16 & !ADDRESS
}
