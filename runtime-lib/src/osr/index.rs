//! The sites of an image by their identities, and whether they have places in the code.

use crate::arena::{Arena, Purpose};
use crate::osr::patch::Places;
use crate::osr::record::{Function, Site};
use core::ptr::null_mut;
use midflight_abi::osr::OsrFunction;

/// A slot of a hash table with linear probing; free if it has no function. Zeroes are a free one.
#[repr(C)]
struct Slot {
    function: *mut OsrFunction,
    id: u64,
    number: u32,
    has_places: bool,
}

/// The table of an image with places; at least half of its slots are free.
#[derive(Clone, Copy)]
pub struct Index {
    slots: *mut Slot,
    /// A power of two, or 0.
    capacity: usize,
}

impl Index {
    pub const fn empty() -> Self {
        Self { slots: null_mut(), capacity: 0 }
    }

    /// Begins anew with an image's sites, in the same memory if there are as many; `None` if there
    /// is no memory.
    pub fn fill(
        &mut self,
        sites: impl Iterator<Item = Site> + Clone,
        places: Places,
        arena: &mut Arena,
    ) -> Option<()> {
        let capacity = sites.clone().count().checked_mul(2)?.checked_next_power_of_two()?;
        if capacity != self.capacity {
            let size = capacity.checked_mul(size_of::<Slot>())?;
            *self = Self::empty();
            self.slots = arena.allocate(size, Purpose::Growth)?.as_ptr().cast();
            self.capacity = capacity;
        }
        // SAFETY: the memory is that long.
        unsafe { self.slots.write_bytes(0, capacity) };
        for site in sites {
            if let Some(slot) = self.slot(site.info().id) {
                let function = site.function().record();
                *slot =
                    Slot { function, id: site.info().id, number: site.number(), has_places: false };
            }
        }
        for place in places {
            if let Some(slot) = self.slot(place.id) {
                slot.has_places = true;
            }
        }
        Some(())
    }

    pub fn find(&self, id: u64) -> Option<Site> {
        let slot = self.slot(id).filter(|slot| !slot.function.is_null())?;
        // SAFETY: the table has functions of valid records.
        unsafe { Function::emitted(slot.function) }?.site(slot.number)
    }

    pub fn has_places(&self, site: Site) -> bool {
        self.slot(site.info().id).is_some_and(|slot| !slot.function.is_null() && slot.has_places)
    }

    /// The slot of an identity, or a free one.
    #[allow(clippy::mut_from_ref, reason = "one slot at a time, under the lock")]
    fn slot(&self, id: u64) -> Option<&mut Slot> {
        let mask = self.capacity.checked_sub(1)?;
        // Identities are hashes, but need not be good ones.
        let mut at = (id.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as usize & mask;
        for _ in 0..self.capacity {
            // SAFETY: the table has that many slots, and is used under the lock.
            let slot = unsafe { &mut *self.slots.add(at) };
            if slot.function.is_null() || slot.id == id {
                return Some(slot);
            }
            at = (at + 1) & mask;
        }
        None
    }
}
