//! The suffix-linked automaton: Algorithm 4 with one cursor.
//!
//! # One state instead of two
//!
//! Algorithm 4 (thesis 3.2.3) keeps three things for an activation: n, the events since the marker
//! ∗; τ, a node of the upper slab (levels 0 to k−2); and β, a node of the lower slab (levels k−1 to
//! 2k−3), or null. With label(β) = r₁ … rₘ from its root, τ spells the last m mod (k−1) labels
//! (k−1 where that is 0) of it, from a root. So τ is a function of β, and n mod (k−1) of τ's level.
//! One pointer carries all: β, or τ while β is null. Each lower node stores its τ, as an
//! Aho-Corasick automaton stores suffix links.
//!
//! | state T | event r leads to the child, and counts it | its τ |
//! |---|---|---|
//! | start (the marker ∗) | root r | |
//! | upper, level d < k−2 | upper, level d+1 | |
//! | upper, level k−2 | lower, level k−1 (line 7: β ← τ) | root r (line 8) |
//! | lower, level k−1+j, j < k−2 | lower, level k+j | child r of T's τ (line 13) |
//!
//! A child at full depth, level 2k−3, has a τ at level k−2. The next event would set β to that τ, so
//! the state after such a child *is* its τ, and it needs no node of its own: it is a slot in its
//! parent's table whose `next` points at its τ.
//!
//! A node of the upper slab that is made only because it is someone's τ is not counted (line 29 is
//! skipped when β is not null): its slot has the count 0, as in Algorithm 4. For k = 2 the upper
//! slab is level 0 alone, and level 1 is full depth. For k = 1, where n mod (k−1) has no meaning,
//! the state stays at the start and all of the forest is its roots.
//!
//! # Tables
//!
//! The children of a node are in an open-addressing table with linear probing. A node begins with
//! one slot beside it. A table doubles when it is full, and also when a new label's first bucket is
//! taken while the table is smaller than [`SPARSITY`] times what it holds, so that nearly all hits
//! are in the first bucket.
//!
//! # Interruptions
//!
//! A hit takes no lock and can be interrupted anywhere by a signal handler that builds nodes and
//! grows the very table that is looked at. What keeps it right:
//!
//! - Nodes never move and are never freed.
//! - A slot's `next` is written last, and read first: if it is not null, the label is there.
//! - A table's slots are published before its mask, and read after it: an old mask with new slots
//!   stays within bounds. It may miss; a miss is looked up again under the lock.
//! - A table that was outgrown is kept, linked from its successor. Growing moves the counts out of
//!   it, so a count that is not zero there was added by a lookup that growth interrupted; whoever
//!   reads a counter adds it up over the successors and predecessors ([`count`]). Since sizes
//!   at least double, predecessors together are smaller than the table in use.
//!
//! Changes of structure are made with all signals blocked and the context's lock held.

use crate::arena::{Arena, Purpose};
use crate::counter;
use core::mem::offset_of;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, Ordering};
use midflight_abi::{Node, START_LEVEL, Slot};

/// A table may be that many times larger than what it holds to have its labels in first buckets.
const SPARSITY: u64 = 8;

/// A node with the table it begins with.
#[repr(C)]
pub struct NodeBlock {
    /// The node.
    pub node: Node,
    /// Its first table.
    pub first: Slot,
}

/// Head of a table that has replaced another; its slots follow. A table of one slot has none.
#[repr(C)]
struct Grown {
    before: *mut Slot,
    before_mask: u32,
    reserved: u32,
}

/// A table of children.
#[derive(Clone, Copy)]
struct Table {
    slots: *mut Slot,
    mask: u32,
}

/// Marks that memory ran out.
#[derive(Debug)]
pub struct OutOfMemory;

/// The first bucket of a label. Emitted code may rely on it for masks below 2^16.
#[inline(always)]
fn bucket(label: u32, mask: u32) -> u32 {
    label.wrapping_mul(0x9E37_79B1).rotate_left(16) & mask
}

/// Fills a block with a node that has no children.
///
/// # Safety
/// `block` points to writable memory of its type that nobody else sees.
pub unsafe fn initialise(
    block: *mut NodeBlock,
    forest: *mut midflight_abi::Forest,
    level: u32,
    tau: *mut Node,
) {
    let first = Slot { next: null_mut(), label: 0, reserved: 0, count: 0 };
    // SAFETY: the caller gives the memory; addresses of its fields are within it.
    unsafe {
        (&raw mut (*block).first).write(first);
        (&raw mut (*block).node).write(Node {
            slots: &raw mut (*block).first,
            mask: 0,
            used: 0,
            tau,
            forest,
            level,
            reserved: 0,
        });
    }
}

impl Table {
    /// The table of a node.
    ///
    /// # Safety
    /// `node` is a node of a forest in automaton mode.
    #[inline(always)]
    unsafe fn of(node: *mut Node) -> Self {
        // SAFETY: the fields are valid and shared only through atomics. The mask is read first:
        // see "Interruptions".
        unsafe {
            let mask = AtomicU32::from_ptr(&raw mut (*node).mask).load(Ordering::Acquire);
            let slots = AtomicPtr::from_ptr(&raw mut (*node).slots).load(Ordering::Acquire);
            Self { slots, mask }
        }
    }

    /// The table that this one has replaced.
    ///
    /// # Safety
    /// The caller holds the context's lock.
    unsafe fn before(self) -> Option<Self> {
        if self.mask == 0 {
            return None;
        }
        // SAFETY: every table of more than one slot follows a head.
        let head = unsafe { &*self.slots.cast::<Grown>().sub(1) };
        Some(Self { slots: head.before, mask: head.before_mask })
    }

    /// The slot of a label, or null.
    ///
    /// # Safety
    /// The table is or was that of a node.
    #[inline(always)]
    unsafe fn find(self, label: u32) -> *mut Slot {
        let mut index = bucket(label, self.mask);
        for _ in 0..=self.mask {
            // SAFETY: the index is not above the mask.
            let slot = unsafe { self.slots.add(index as usize) };
            // SAFETY: the slot is in the table; its fields are shared only through atomics.
            unsafe {
                if next(slot).is_null() {
                    break;
                }
                if AtomicU32::from_ptr(&raw mut (*slot).label).load(Ordering::Relaxed) == label {
                    return slot;
                }
            }
            index = (index + 1) & self.mask;
        }
        null_mut()
    }

    /// The slot where a new label goes. The table must not be full.
    ///
    /// # Safety
    /// As for [`Self::find`].
    unsafe fn vacancy(self, label: u32) -> *mut Slot {
        let mut index = bucket(label, self.mask);
        loop {
            // SAFETY: the index is not above the mask.
            let slot = unsafe { self.slots.add(index as usize) };
            // SAFETY: the slot is in the table.
            if unsafe { next(slot) }.is_null() {
                return slot;
            }
            index = (index + 1) & self.mask;
        }
    }
}

/// The state after a slot; null while the slot is empty.
///
/// # Safety
/// `slot` is in a table.
#[inline(always)]
pub unsafe fn next(slot: *mut Slot) -> *mut Node {
    // SAFETY: the field is valid and shared only through atomics.
    unsafe { AtomicPtr::from_ptr(&raw mut (*slot).next).load(Ordering::Acquire) }
}

/// The slot of a node's child, or null.
///
/// # Safety
/// `node` is a node of a forest in automaton mode.
#[inline(always)]
pub unsafe fn find(node: *mut Node, label: u32) -> *mut Slot {
    // SAFETY: the caller's.
    unsafe { Table::of(node).find(label) }
}

/// The slots of a node: the first, and how many there are.
///
/// # Safety
/// As for [`find`], and the caller holds the context's lock.
pub unsafe fn slots(node: *mut Node) -> (*mut Slot, u32) {
    // SAFETY: the caller's.
    let table = unsafe { Table::of(node) };
    (table.slots, table.mask + 1)
}

/// The counter of a child, with what interrupted lookups have added to outgrown tables.
///
/// # Safety
/// `slot` is in use and in the table of `node`, and the caller holds the context's lock.
pub unsafe fn count(node: *mut Node, slot: *mut Slot) -> u64 {
    let mut sum = 0u64;
    // SAFETY: the slot and its predecessors are valid under the lock.
    unsafe {
        for_each_counter(node, slot, |counter| sum = sum.wrapping_add(counter::read(counter)))
    };
    sum
}

/// Sets the counter of a child to zero.
///
/// # Safety
/// As for [`count`].
pub unsafe fn clear(node: *mut Node, slot: *mut Slot) {
    // SAFETY: the slot and its predecessors are valid under the lock.
    unsafe { for_each_counter(node, slot, |counter| counter::clear(counter)) };
}

/// # Safety
/// As for [`count`].
unsafe fn for_each_counter(node: *mut Node, slot: *mut Slot, mut visit: impl FnMut(*mut u64)) {
    // SAFETY: the caller's; tables that were outgrown are kept.
    unsafe {
        visit(&raw mut (*slot).count);
        let label = (*slot).label;
        let mut table = Table::of(node);
        while let Some(before) = table.before() {
            let old = before.find(label);
            if !old.is_null() {
                visit(&raw mut (*old).count);
            }
            table = before;
        }
    }
}

/// Where a child of a node is in the forest.
enum Place {
    /// In the upper slab, without a τ.
    Upper,
    /// In the lower slab, with a node of its own.
    Lower,
    /// At full depth: only a slot.
    Full,
}

fn child_level(level: u32) -> u32 {
    // The start's level is the largest number, so a root's is 0.
    const { assert!(START_LEVEL == u32::MAX) };
    level.wrapping_add(1)
}

fn place(child_level: u32, k: u32) -> Place {
    if k > 1 && child_level < k - 1 {
        Place::Upper
    } else if has_node(child_level, k) {
        Place::Lower
    } else {
        Place::Full
    }
}

/// Whether a node of that level has a [`Node`], and may have children.
pub fn has_node(level: u32, k: u32) -> bool {
    level + 3 < 2 * k
}

/// Builds within one forest. The caller holds the context's lock, with signals blocked.
pub struct Builder<'a> {
    /// Where nodes and tables come from.
    pub arena: &'a mut Arena,
    /// The forest's start.
    pub start: *mut Node,
    /// The forest's k.
    pub k: u32,
    /// Whether the reserve may be used.
    pub purpose: Purpose,
}

impl Builder<'_> {
    /// The slot of the child of `parent` with that label, made if it is missing.
    ///
    /// # Safety
    /// `parent` is a node of the builder's forest.
    pub unsafe fn child(
        &mut self,
        parent: *mut Node,
        label: u32,
    ) -> Result<*mut Slot, OutOfMemory> {
        // SAFETY: the caller's.
        let (slot, level) = unsafe { (find(parent, label), (*parent).level) };
        if !slot.is_null() {
            return Ok(slot);
        }
        let level = child_level(level);
        let place = place(level, self.k);
        // SAFETY: the caller's; τ is a node of the same forest.
        let next = unsafe {
            match place {
                Place::Upper => self.new_node(level, null_mut())?,
                Place::Lower => {
                    let tau = self.tau(parent, level, label)?;
                    self.new_node(level, tau)?
                }
                Place::Full => self.tau(parent, level, label)?,
            }
        };
        // SAFETY: the label is not in the table yet.
        unsafe { self.insert(parent, label, next) }
    }

    /// The τ of the child of `parent` with that label: lines 8 to 18 of Algorithm 4.
    unsafe fn tau(
        &mut self,
        parent: *mut Node,
        level: u32,
        label: u32,
    ) -> Result<*mut Node, OutOfMemory> {
        if self.k == 1 {
            return Ok(self.start);
        }
        // SAFETY: a lower node has a τ; it is an upper node, whose children need no τ, so this
        // recursion ends here.
        unsafe {
            let tau_of_parent = if level == self.k - 1 { self.start } else { (*parent).tau };
            let slot = self.child(tau_of_parent, label)?;
            Ok(next(slot))
        }
    }

    unsafe fn new_node(&mut self, level: u32, tau: *mut Node) -> Result<*mut Node, OutOfMemory> {
        let block = self.arena.allocate(size_of::<NodeBlock>(), self.purpose).ok_or(OutOfMemory)?;
        let block = block.as_ptr().cast::<NodeBlock>();
        // SAFETY: the arena hands out aligned memory of that size; the start is the forest's first
        // field.
        unsafe {
            const { assert!(offset_of!(midflight_abi::Forest, start) == 0) };
            initialise(block, self.start.cast(), level, tau);
            Ok(&raw mut (*block).node)
        }
    }

    /// Puts a new label in the table of `parent`.
    unsafe fn insert(
        &mut self,
        parent: *mut Node,
        label: u32,
        next: *mut Node,
    ) -> Result<*mut Slot, OutOfMemory> {
        // SAFETY: the caller's; there is a vacancy, and `next` is published last.
        unsafe {
            self.make_room(parent, label)?;
            let slot = Table::of(parent).vacancy(label);
            AtomicU32::from_ptr(&raw mut (*slot).label).store(label, Ordering::Relaxed);
            AtomicPtr::from_ptr(&raw mut (*slot).next).store(next, Ordering::Release);
            (*parent).used += 1;
            Ok(slot)
        }
    }

    /// Grows the table of `node` if it has no good place for a new label.
    unsafe fn make_room(&mut self, node: *mut Node, label: u32) -> Result<(), OutOfMemory> {
        // SAFETY: the caller's.
        let (table, used) = unsafe { (Table::of(node), (*node).used) };
        let size = u64::from(table.mask) + 1;
        let full = u64::from(used) == size;
        // SAFETY: the bucket is in the table.
        let taken = unsafe { !next(table.slots.add(bucket(label, table.mask) as usize)).is_null() };
        let sparse_enough = size >= SPARSITY * (u64::from(used) + 1);
        if !full && (!taken || sparse_enough) {
            return Ok(());
        }
        // SAFETY: the caller's.
        let wanted = unsafe { good_size(table, used, label) };
        // SAFETY: the caller's; if there is no memory for the good size, the next one may do.
        unsafe {
            self.grow(node, wanted).or_else(
                |_| {
                    if full { self.grow(node, size * 2) } else { Ok(()) }
                },
            )
        }
    }

    /// Moves the children of `node` to a table of `size` slots.
    unsafe fn grow(&mut self, node: *mut Node, size: u64) -> Result<(), OutOfMemory> {
        let mask = u32::try_from(size - 1).map_err(|_| OutOfMemory)?;
        let bytes = size as usize * size_of::<Slot>() + size_of::<Grown>();
        let head =
            self.arena.allocate(bytes, self.purpose).ok_or(OutOfMemory)?.as_ptr().cast::<Grown>();
        // SAFETY: the memory holds the head and the slots, zeroed, which are empty slots; nobody
        // sees them before they are published, slots first and mask last.
        unsafe {
            let old = Table::of(node);
            head.write(Grown { before: old.slots, before_mask: old.mask, reserved: 0 });
            let new = Table { slots: head.add(1).cast(), mask };
            for index in 0..=old.mask {
                let from = old.slots.add(index as usize);
                if !next(from).is_null() {
                    move_slot(from, new.vacancy((*from).label));
                }
            }
            AtomicPtr::from_ptr(&raw mut (*node).slots).store(new.slots, Ordering::Release);
            AtomicU32::from_ptr(&raw mut (*node).mask).store(new.mask, Ordering::Release);
        }
        Ok(())
    }
}

/// Copies a slot to its place in a larger table, and takes its count with it.
unsafe fn move_slot(from: *mut Slot, to: *mut Slot) {
    // SAFETY: the caller gives a used slot and an empty one.
    unsafe {
        to.write(Slot {
            next: next(from),
            label: (*from).label,
            reserved: 0,
            count: counter::read(&raw mut (*from).count),
        });
        counter::clear(&raw mut (*from).count);
    }
}

/// The smallest larger size in which no label of the table has the first bucket of the new one, but
/// none larger than [`SPARSITY`] asks for.
unsafe fn good_size(table: Table, used: u32, label: u32) -> u64 {
    let mut size = (u64::from(table.mask) + 1) * 2;
    while size < SPARSITY * (u64::from(used) + 1) {
        let mask = (size - 1) as u32;
        // SAFETY: the caller's.
        if !unsafe { has_in_bucket(table, bucket(label, mask), mask) } {
            break;
        }
        size *= 2;
    }
    size
}

unsafe fn has_in_bucket(table: Table, wanted: u32, mask: u32) -> bool {
    (0..=table.mask).any(|index| {
        // SAFETY: the index is not above the table's mask.
        unsafe {
            let slot = table.slots.add(index as usize);
            !next(slot).is_null() && bucket((*slot).label, mask) == wanted
        }
    })
}
