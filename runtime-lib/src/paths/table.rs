//! Tables: the paths that have followed a window, each with the counter of the window with it and
//! the state after it.
//!
//! The paths of a state are in an open-addressing table with linear probing, of which emitted code
//! looks at the first bucket only; or in a dense one, which has a place for each path
//! (`midflight_abi`). Behind a head ([`TableHead`]) stand the slots.
//!
//! A table that was outgrown stays, and says which node it was of. States that lead to it still
//! exist, in frames and in other slots, and nobody knows how many. What is looked up there and is
//! not found is looked up in the node's table; whoever reads a counter adds it up over all tables
//! that the node has had ([`Entry::count`]).
//!
//! A slot of a sparse table may be *closed*: emitted code does not find it, so that the runtime
//! sees each of its events. That is so where the state after it is shorter than it should be, for
//! want of memory (`room`).

use crate::file::live;
use crate::paths::counter;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU32, AtomicU64, Ordering};
pub use midflight_abi::memory::Node;
use midflight_abi::memory::{TableHead, Taken, ThreadForest};
use midflight_abi::{
    CLOSED, DENSE_OFFSET, KEY_SHIFT, SLOT_SHIFT, Slot, WORD_SHIFT, count_of_tally, hash, id_of_key,
    is_dense, key,
};

/// The bit of a key that says that the counter beside it is the runtime's business: it has
/// overflowed, or the slot is closed.
const NOT_FOUND: u32 = 1;

/// A state, see `midflight_abi`.
pub type Word = u64;

/// A table of a node.
#[derive(Clone, Copy)]
pub struct Table {
    pub slots: *mut Slot,
    pub size: u32,
    pub is_dense: bool,
}

/// A path in the table of a node.
#[derive(Clone, Copy)]
pub struct Entry {
    pub node: *mut Node,
    pub slot: *mut Slot,
    pub label: u32,
}

/// The table that a state leads to.
pub fn table_of(word: Word) -> *mut Slot {
    let address = match word & DENSE_OFFSET != 0 {
        true => word - DENSE_OFFSET,
        false => word >> WORD_SHIFT,
    };
    address as *mut Slot
}

/// The node whose table it is, or was before it grew.
///
/// # Safety
/// It is a table of a forest.
pub unsafe fn owner(table: *mut Slot) -> *mut Node {
    // SAFETY: every table follows a head.
    unsafe { (*table.cast::<TableHead>().sub(1)).node }
}

/// The node that a state leads to, though perhaps by a table that the node has outgrown.
///
/// # Safety
/// `word` is a state of a forest.
pub unsafe fn node_of(word: Word) -> *mut Node {
    // SAFETY: the caller's.
    unsafe { owner(table_of(word)) }
}

/// The state that leads to a node.
///
/// # Safety
/// `node` is a node of a forest.
pub unsafe fn word_of(node: *mut Node) -> Word {
    // SAFETY: the field is valid and shared only through atomics.
    unsafe { AtomicU64::from_ptr(&raw mut (*node).table).load(Ordering::Acquire) }
}

/// How many slots a table has that has one for each path of a function; none: it is sparse.
#[inline(always)]
pub fn dense_size(forest: &ThreadForest) -> Option<u32> {
    is_dense(forest.num_paths, forest.k).then(|| forest.num_paths.next_power_of_two())
}

impl Table {
    /// Bytes of a table of so many slots, with its head.
    pub const fn bytes(size: u32) -> usize {
        size_of::<TableHead>() + size as usize * size_of::<Slot>()
    }

    /// Makes an empty table in memory of [`Self::bytes`] zeroes.
    ///
    /// # Safety
    /// The memory is the caller's.
    pub unsafe fn create(
        memory: *mut u8,
        node: *mut Node,
        before: Word,
        size: u32,
        is_dense: bool,
    ) -> Self {
        let head = memory.cast::<TableHead>();
        // SAFETY: the caller's; zeroes are empty slots.
        unsafe {
            head.write(TableHead { node, before });
            Self { slots: head.add(1).cast(), size, is_dense }
        }
    }

    /// The state that leads to it.
    pub fn word(self) -> Word {
        match self.is_dense {
            true => self.slots as u64 + DENSE_OFFSET,
            false => (self.slots as u64) << WORD_SHIFT | u64::from((self.size - 1) << SLOT_SHIFT),
        }
    }

    /// # Safety
    /// The word leads or led to a node.
    #[inline(always)]
    unsafe fn of_word(word: Word) -> Self {
        let slots = table_of(word);
        if word & DENSE_OFFSET == 0 {
            let size = (word as u32 & (u32::MAX >> (32 - WORD_SHIFT))) >> SLOT_SHIFT;
            return Self { slots, size: size + 1, is_dense: false };
        }
        // SAFETY: the caller's; a node's forest has its fields before it has nodes.
        let size = unsafe { dense_size(&*(*owner(slots)).forest) };
        Self { slots, size: size.unwrap_or(0), is_dense: true }
    }

    /// The table that a node has now.
    ///
    /// # Safety
    /// `node` is a node of a forest.
    pub unsafe fn of(node: *mut Node) -> Self {
        // SAFETY: the caller's.
        unsafe { Self::of_word(word_of(node)) }
    }

    /// The table that this one has replaced.
    ///
    /// # Safety
    /// The table is or was that of a node.
    unsafe fn before(self) -> Option<Self> {
        // SAFETY: every table follows a head.
        unsafe {
            let before = (*self.slots.cast::<TableHead>().sub(1)).before;
            (before != 0).then(|| Self::of_word(before))
        }
    }

    /// The first bucket of a label: the one that emitted code looks at.
    pub fn bucket(self, label: u32) -> u32 {
        let index = if self.is_dense { label } else { hash(key(label)) >> SLOT_SHIFT };
        index & (self.size - 1)
    }

    /// The slot with an index below the size.
    pub fn slot(self, index: u32) -> *mut Slot {
        self.slots.wrapping_add(index as usize)
    }

    /// The label of the path in a slot; none while the slot is empty.
    ///
    /// # Safety
    /// The index is below the size of the table, which is or was that of a node.
    pub unsafe fn label(self, index: u32) -> Option<u32> {
        let slot = self.slot(index);
        // SAFETY: the slot is in the table.
        unsafe {
            match self.is_dense {
                true => (next(slot) != 0).then_some(index),
                false => {
                    let key = slot_key(slot);
                    (key != 0).then(|| id_of_key(key))
                }
            }
        }
    }

    /// The slot of a label, or the empty one where it would be; null if the table is full. And
    /// whether it is the label's.
    ///
    /// # Safety
    /// The table is or was that of a node.
    #[inline(always)]
    pub unsafe fn probe(self, label: u32) -> (*mut Slot, bool) {
        let mut index = self.bucket(label);
        if self.is_dense {
            let slot = self.slot(index);
            // SAFETY: the index is below the size.
            return (slot, unsafe { next(slot) } != 0);
        }
        let wanted = key(label);
        for _ in 0..self.size {
            let slot = self.slot(index);
            // SAFETY: the index is below the size.
            match unsafe { slot_key(slot) } {
                0 => return (slot, false),
                known if known & !NOT_FOUND == wanted => return (slot, true),
                _ => index = (index + 1) & (self.size - 1),
            }
        }
        (null_mut(), false)
    }

    /// The slot of a label.
    ///
    /// # Safety
    /// The table is or was that of a node.
    pub unsafe fn find(self, label: u32) -> Option<*mut Slot> {
        // SAFETY: the caller's.
        let (slot, is_known) = unsafe { self.probe(label) };
        is_known.then_some(slot)
    }

    /// Fills an empty slot of this table, which [`Self::probe`] has given for the label. What makes
    /// it one in use is published last.
    ///
    /// # Safety
    /// The context's lock is held, with signals blocked.
    pub unsafe fn fill(self, slot: *mut Slot, label: u32, next: Word, is_closed: bool) {
        // SAFETY: the caller's.
        unsafe {
            if !self.is_dense {
                AtomicU64::from_ptr(&raw mut (*slot).next).store(next, Ordering::Release);
                tally(slot).store(new_tally(label, is_closed), Ordering::Release);
            } else {
                set_next(slot, next);
            }
        }
    }

    /// Puts what is in the table in a larger one, with counters at zero.
    ///
    /// # Safety
    /// The context's lock is held, with signals blocked, and nobody else knows the larger table,
    /// which is sparse and empty.
    pub unsafe fn copy_to(self, larger: Self) {
        // What finds its first bucket empty has it before what does not.
        for is_second in [false, true] {
            for index in 0..self.size {
                // SAFETY: the index is below the size; a larger table has a slot for each label.
                unsafe {
                    let Some(label) = self.label(index) else { continue };
                    let (slot, is_there) = larger.probe(label);
                    if !is_there && (is_second || slot == larger.slot(larger.bucket(label))) {
                        let old = self.slot(index);
                        slot.write(Slot {
                            next: next(old),
                            tally: new_tally(label, is_closed(old)),
                        });
                    }
                }
            }
        }
    }
}

/// The tally of a sparse table's slot that has counted nothing.
fn new_tally(label: u32, is_closed: bool) -> u64 {
    let open = u64::from(key(label)) << KEY_SHIFT;
    if is_closed { open | u64::from(NOT_FOUND) << KEY_SHIFT | CLOSED } else { open }
}

/// The key in a sparse table's slot; 0 while the slot is empty.
///
/// # Safety
/// `slot` is in a sparse table.
unsafe fn slot_key(slot: *mut Slot) -> u32 {
    // SAFETY: the caller's.
    unsafe { (tally(slot).load(Ordering::Acquire) >> KEY_SHIFT) as u32 }
}

/// Whether a slot of a sparse table is closed.
unsafe fn is_closed(slot: *mut Slot) -> bool {
    // SAFETY: the caller's.
    let tally = unsafe { tally(slot).load(Ordering::Relaxed) };
    (tally >> KEY_SHIFT) as u32 & NOT_FOUND != 0 && tally & CLOSED != 0
}

/// The state after a path.
///
/// # Safety
/// `slot` is in a table, and in use.
unsafe fn next(slot: *mut Slot) -> Word {
    // SAFETY: the field is valid and shared only through atomics.
    unsafe { AtomicU64::from_ptr(&raw mut (*slot).next).load(Ordering::Acquire) }
}

unsafe fn set_next(slot: *mut Slot, word: Word) {
    // SAFETY: as for `next`.
    unsafe { AtomicU64::from_ptr(&raw mut (*slot).next).store(word, Ordering::Release) };
}

unsafe fn tally(slot: *mut Slot) -> &'static AtomicU64 {
    // SAFETY: the field is valid, never freed, and shared only through atomics.
    unsafe { AtomicU64::from_ptr(&raw mut (*slot).tally) }
}

/// What has been counted in a slot, and can be.
///
/// # Safety
/// `slot` is in use.
unsafe fn in_slot(slot: *mut Slot, is_dense: bool) -> u64 {
    // SAFETY: the caller's.
    let tally = unsafe { tally(slot).load(Ordering::Relaxed) };
    if is_dense { tally } else { count_of_tally(tally) }
}

/// Sets what a slot has counted to zero. What is zero is left alone, so that a forked child does
/// not copy the pages that it need not change.
///
/// # Safety
/// As for [`in_slot`]. If the owner counts at the same time the reset may be lost.
unsafe fn empty(slot: *mut Slot, is_dense: bool) {
    // SAFETY: the caller's.
    unsafe {
        let in_slot = in_slot(slot, is_dense);
        if in_slot != 0 {
            let tally = tally(slot);
            tally.store(tally.load(Ordering::Relaxed).wrapping_sub(in_slot), Ordering::Release);
        }
    }
}

/// Adds to the counter of a slot, which has room for it.
///
/// # Safety
/// `slot` is in a table of the calling thread, and in use.
pub unsafe fn add(slot: *mut Slot, n: u64) {
    // SAFETY: the caller's.
    unsafe { counter::add(&raw mut (*slot).tally, n) };
}

/// The slot of a path where emitted code looks for it, and the state after it, if it would count it
/// there.
///
/// # Safety
/// `word` is a state, of which a function with that path has forests.
#[inline(always)]
pub unsafe fn known(word: Word, label: u32) -> Option<(*mut Slot, Word)> {
    // SAFETY: the caller's; the slot is in the table that the word leads to.
    unsafe {
        if word & DENSE_OFFSET != 0 {
            let slot = table_of(word).add(label as usize);
            let next = next(slot);
            return (next != 0).then_some((slot, next));
        }
        let offset = word & u64::from(hash(key(label)));
        let slot = table_of(word).byte_add(offset as usize);
        (slot_key(slot) == key(label)).then(|| (slot, next(slot)))
    }
}

impl Entry {
    /// The state after it.
    ///
    /// # Safety
    /// It is an entry of a forest, and so for all of these.
    pub unsafe fn next(self) -> Word {
        // SAFETY: the caller's.
        unsafe { next(self.slot) }
    }

    /// Makes it lead to another state.
    ///
    /// # Safety
    /// As for [`Self::count`].
    pub unsafe fn lead_to(self, word: Word) {
        // SAFETY: the caller's.
        unsafe {
            if self.next() != word {
                set_next(self.slot, word);
            }
        }
    }

    unsafe fn is_dense(self) -> bool {
        // SAFETY: the caller's.
        unsafe { word_of(self.node) & DENSE_OFFSET != 0 }
    }

    /// Whether the runtime is to add to its counter by [`Self::take`].
    ///
    /// # Safety
    /// As for [`Self::next`].
    #[inline(always)]
    pub unsafe fn has_overflowed(self) -> bool {
        // SAFETY: the caller's.
        unsafe {
            !self.is_dense() && slot_key(self.slot) != key(self.label) && !is_closed(self.slot)
        }
    }

    /// Whether emitted code does not find it on purpose.
    ///
    /// # Safety
    /// As for [`Self::next`].
    pub unsafe fn is_closed(self) -> bool {
        // SAFETY: the caller's.
        unsafe { !self.is_dense() && is_closed(self.slot) }
    }

    /// What was counted since it was closed.
    ///
    /// # Safety
    /// As for [`Self::next`].
    #[inline(always)]
    pub unsafe fn heat(self) -> u64 {
        // SAFETY: the caller's.
        unsafe { in_slot(self.slot, self.is_dense()) }
    }

    /// Lets emitted code find it.
    ///
    /// # Safety
    /// As for [`Self::count`]; it is closed, and has the state that it is to lead to.
    pub unsafe fn open(self) {
        // SAFETY: the caller's. Nobody else adds to it: the owner's signals are blocked.
        unsafe {
            let count = in_slot(self.slot, false);
            tally(self.slot).store(new_tally(self.label, false) + count, Ordering::Release);
        }
    }

    /// Its counter: with what states that lead to outgrown tables have added there, and what was
    /// taken out.
    ///
    /// # Safety
    /// As for [`Self::next`]; the caller holds the context's lock.
    pub unsafe fn count(self) -> u64 {
        // SAFETY: the caller's; tables that were outgrown are kept.
        unsafe {
            let mut sum = 0u64;
            self.for_each_slot(|slot, is_dense| {
                sum = sum.wrapping_add(in_slot(slot, is_dense));
            });
            let taken = taken(self.node, self.label);
            if taken.is_null() { sum } else { sum.wrapping_add((*taken).count) }
        }
    }

    /// Sets its counter to zero.
    ///
    /// # Safety
    /// As for [`Self::count`]. If the owner counts at the same time the reset may be lost.
    pub unsafe fn clear(self) {
        // SAFETY: the caller's.
        unsafe {
            self.for_each_slot(|slot, is_dense| empty(slot, is_dense));
            let taken = taken(self.node, self.label);
            if !taken.is_null() {
                (*taken).count = 0;
            }
        }
    }

    unsafe fn for_each_slot(self, mut visit: impl FnMut(*mut Slot, bool)) {
        // SAFETY: the caller's; tables that were outgrown are kept.
        unsafe {
            visit(self.slot, self.is_dense());
            let mut table = Table::of(self.node);
            while let Some(before) = table.before() {
                if let Some(old) = before.find(self.label) {
                    visit(old, before.is_dense);
                }
                table = before;
            }
        }
    }

    /// Empties a sparse table's counter into a larger one, with `n` more, in the order that
    /// [`Taken`] tells.
    ///
    /// # Safety
    /// As for [`Self::count`]; the record is the entry's, and signals are blocked.
    pub unsafe fn take(self, record: *mut Taken, n: u64) {
        // SAFETY: the caller's; the fields are valid.
        unsafe {
            let count = AtomicU64::from_ptr(&raw mut (*record).count);
            let sum = AtomicU64::from_ptr(&raw mut (*record).sum);
            let is_taking = AtomicU32::from_ptr(&raw mut (*record).is_taking);
            let counted = in_slot(self.slot, false);
            let all = count.load(Ordering::Relaxed).wrapping_add(n).wrapping_add(counted);
            live::change(|| {
                sum.store(all, Ordering::Release);
                is_taking.store(1, Ordering::Release);
                empty(self.slot, false);
                count.store(all, Ordering::Release);
                is_taking.store(0, Ordering::Release);
            });
        }
    }
}

/// What was taken out of the counter of a path in the table of a node, or null.
///
/// # Safety
/// `node` is a node of a forest.
pub unsafe fn taken(node: *mut Node, label: u32) -> *mut Taken {
    // SAFETY: the caller's; what it points at is never freed.
    unsafe {
        let extra = (*node).extra;
        let mut taken = if extra.is_null() { null_mut() } else { (*extra).taken };
        while !taken.is_null() && (*taken).label != label {
            taken = (*taken).next;
        }
        taken
    }
}
