//! The suffix-linked automaton: Algorithm 4 with one cursor.
//!
//! # One state instead of two
//!
//! Algorithm 4 (thesis 3.2.3) keeps three things for an activation: n, the events since the marker
//! ∗; τ, a node of the upper slab (levels 0 to k−2); and β, a node of the lower slab (levels k−1 to
//! 2k−3), or null. With label(β) = r₁ … rₘ from its root, τ spells the last m mod (k−1) labels
//! (k−1 where that is 0) of it, from a root. So τ is a function of β, and n mod (k−1) of τ's level.
//! One state carries all: β, or τ while β is null. Each lower node stores its τ, as an
//! Aho-Corasick automaton stores suffix links.
//!
//! | state T | event r leads to the child, and counts it | its τ |
//! |---|---|---|
//! | start (the marker ∗) | root r | |
//! | upper, level d < k−2 | upper, level d+1 | |
//! | upper, level k−2 | lower, level k−1 (line 7: β ← τ) | root r (line 8) |
//! | lower, level k−1+j, j < k−2 | lower, level k+j | child r of T's τ (line 13) |
//!
//! A child at full depth, level 2k−3, has a τ at level k−2. The next event would set β to that τ,
//! so the state after such a child *is* its τ, and it needs no node of its own: it is a slot in its
//! parent's table whose `next` is the state of its τ.
//!
//! A node of the upper slab that is made only because it is someone's τ is not counted (line 29 is
//! skipped when β is not null): its slot has the count 0, as in Algorithm 4. For k = 2 the upper
//! slab is level 0 alone, and level 1 is full depth. For k = 1, where n mod (k−1) has no meaning,
//! the state stays at the start and all of the forest is its roots.
//!
//! # Nodes and tables
//!
//! What emitted code reads is small, and lies together: the tables ([`midflight_abi::Slot`]). What
//! only the building of nodes needs is elsewhere, in the [`Node`]s.
//!
//! The children of a node are in an open-addressing table with linear probing, of which emitted
//! code looks at the first bucket only. A table doubles when it is nearly full. It also grows when
//! many events have taken the way around that a child costs which is not in its first bucket
//! ([`Builder::spread`]). When it cannot grow any more, the node gets a further one, in a node of
//! its own that stands beside it ([`Extra`]).
//!
//! A table that was outgrown stays, and says which node it was of. States that lead to it still
//! exist: in frames, and in slots at full depth, of which nobody knows how many lead to a node.
//! What is looked up there and is not found is looked up in the node's table. After many such
//! lookups all slots of the forest are brought up to date ([`refresh`]).
//!
//! # Interruptions
//!
//! Emitted code takes no lock, and can be interrupted anywhere by a signal handler that builds
//! nodes and grows the very table that is looked at. What keeps it right:
//!
//! - Nodes and tables never move and are never freed.
//! - What tells emitted code that a slot is in use (the key, or in a dense table `next`) is written
//!   last, and read first.
//! - A node's table is replaced by a single store, when the new one is complete.
//! - Growing leaves the counts where they are, and states may lead to the old table; whoever reads
//!   a counter adds it up over all tables that the node has had ([`count`]).
//!
//! Changes of structure are made with all signals blocked and the context's lock held.

use crate::arena::{Arena, Purpose};
use crate::file::live;
use crate::paths::counter;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, Ordering};
pub use midflight_abi::memory::Node;
use midflight_abi::memory::{Extra, TableHead, Taken};
use midflight_abi::{
    DENSE_OFFSET, DENSE_PATHS, Forest, KEY_SHIFT, MAX_K, MOST_SLOTS, SLOT_SHIFT, Slot, WORD_SHIFT,
    hash, id_of_key, key,
};

/// [`Node::level`] of a forest's start: one before the roots'.
pub const START_LEVEL: u8 = u8::MAX;

/// A table may be that many times larger than what it holds to have a label in its first bucket.
const SPARSITY: u32 = 16;

/// A table of so many slots may be full; a larger one has a quarter of its slots empty.
const FEW_SLOTS: u32 = 8;

/// The bits of a sparse table's tally that are a counter; the highest has overflowed into the key.
const COUNTER: u64 = (1 << (KEY_SHIFT + 1)) - 1;

/// The bit of a key that the counter beside it has when it has overflowed.
const OVERFLOWED: u32 = 1;

/// A state, see `midflight_abi`.
pub type Word = u64;

#[derive(Debug)]
pub struct OutOfMemory;

/// A table of children.
#[derive(Clone, Copy)]
struct Table {
    slots: *mut Slot,
    size: u32,
    is_dense: bool,
}

/// A child of a node.
#[derive(Clone, Copy)]
pub struct Child {
    /// The node in whose table it is: its parent, or one that stands beside it.
    pub holder: *mut Node,
    /// Where it is.
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

fn sparse_word(slots: *mut Slot, size: u32) -> Word {
    (slots as u64) << WORD_SHIFT | u64::from((size - 1) << SLOT_SHIFT)
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

/// The state of an activation that has just begun.
///
/// # Safety
/// `forest` is one that emitted code has.
pub unsafe fn start_of(forest: *mut Forest) -> Word {
    // SAFETY: the field is valid and shared only through atomics.
    unsafe { AtomicU64::from_ptr(&raw mut (*forest).start).load(Ordering::Acquire) }
}

impl Table {
    /// # Safety
    /// The word leads or led to the node.
    unsafe fn new(word: Word, node: *mut Node) -> Self {
        // SAFETY: a node's way of having tables does not change.
        let dense = u32::from(unsafe { (*node).dense });
        let sparse = (word as u32 & (u32::MAX >> (32 - WORD_SHIFT))) >> SLOT_SHIFT;
        let is_dense = dense != 0;
        Self { slots: table_of(word), size: if is_dense { dense } else { sparse + 1 }, is_dense }
    }

    /// The table that a node has now.
    ///
    /// # Safety
    /// `node` is a node of a forest.
    unsafe fn of(node: *mut Node) -> Self {
        // SAFETY: the caller's.
        unsafe { Self::new(word_of(node), node) }
    }

    /// The table that this one of `node` has replaced.
    ///
    /// # Safety
    /// The table is or was that of the node.
    unsafe fn before(self, node: *mut Node) -> Option<Self> {
        // SAFETY: every table follows a head.
        unsafe {
            let before = (*self.slots.cast::<TableHead>().sub(1)).before;
            (before != 0).then(|| Self::new(before, node))
        }
    }

    /// The first bucket of a label: the one that emitted code looks at.
    fn bucket(self, label: u32) -> u32 {
        let index = if self.is_dense { label } else { hash(key(label)) >> SLOT_SHIFT };
        index & (self.size - 1)
    }

    /// The slot with an index below the size.
    fn slot(self, index: u32) -> *mut Slot {
        self.slots.wrapping_add(index as usize)
    }

    /// The label of the child in a slot; none while the slot is empty.
    ///
    /// # Safety
    /// The index is below the size of the table, which is or was that of a node.
    unsafe fn label(self, index: u32) -> Option<u32> {
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
    unsafe fn probe(self, label: u32) -> (*mut Slot, bool) {
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
                known if known & !OVERFLOWED == wanted => return (slot, true),
                _ => index = (index + 1) & (self.size - 1),
            }
        }
        (null_mut(), false)
    }

    /// The slot of a label.
    ///
    /// # Safety
    /// The table is or was that of a node.
    unsafe fn find(self, label: u32) -> Option<*mut Slot> {
        // SAFETY: the caller's.
        let (slot, is_known) = unsafe { self.probe(label) };
        is_known.then_some(slot)
    }
}

/// The key in a sparse table's slot; 0 while the slot is empty.
///
/// # Safety
/// `slot` is in a sparse table.
unsafe fn slot_key(slot: *mut Slot) -> u32 {
    // SAFETY: the caller's.
    unsafe { (tally(slot).load(Ordering::Acquire) >> KEY_SHIFT) as u32 }
}

/// The state after a child.
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
    if is_dense { tally } else { tally & COUNTER }
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
            tally.store(tally.load(Ordering::Relaxed) - in_slot, Ordering::Release);
        }
    }
}

impl Child {
    /// The state after it.
    ///
    /// # Safety
    /// It is a child in a forest, and so for all of these.
    pub unsafe fn next(self) -> Word {
        // SAFETY: the caller's.
        unsafe { next(self.slot) }
    }

    /// Whether the runtime is to add to its counter by [`Builder::add`].
    ///
    /// # Safety
    /// As for [`Self::next`].
    pub unsafe fn has_overflowed(self) -> bool {
        // SAFETY: the caller's.
        unsafe { !self.is_dense() && slot_key(self.slot) != key(self.label) }
    }

    unsafe fn is_dense(self) -> bool {
        // SAFETY: the caller's.
        unsafe { (*self.holder).dense != 0 }
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
            let taken = taken(self.holder, self.label);
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
            let taken = taken(self.holder, self.label);
            if !taken.is_null() {
                (*taken).count = 0;
            }
        }
    }

    unsafe fn for_each_slot(self, mut visit: impl FnMut(*mut Slot, bool)) {
        // SAFETY: the caller's; tables that were outgrown are kept.
        unsafe {
            visit(self.slot, self.is_dense());
            let mut table = Table::of(self.holder);
            while let Some(before) = table.before(self.holder) {
                if let Some(old) = before.find(self.label) {
                    visit(old, before.is_dense);
                }
                table = before;
            }
        }
    }

    /// Makes it lead to the table that its node has now.
    ///
    /// # Safety
    /// As for [`Self::count`].
    pub unsafe fn refresh(self) {
        // SAFETY: the caller's.
        unsafe {
            let (old, new) = (self.next(), word_of(node_of(self.next())));
            if old != new {
                set_next(self.slot, new);
            }
        }
    }
}

/// The slot of a path where emitted code looks for it, and the state after it, if it would count it
/// there.
///
/// # Safety
/// `word` is a state, of which a function with that path has forests.
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

/// Adds to the counter of a child in its slot, as emitted code does.
///
/// # Safety
/// `slot` is in a table of the calling thread, where a key has not overflowed; `n` is less than
/// 2^32 unless the table is dense.
pub unsafe fn add(slot: *mut Slot, n: u64) {
    // SAFETY: the caller's.
    unsafe { counter::add(&raw mut (*slot).tally, n) };
}

/// The child of a node with that label.
///
/// # Safety
/// `node` is a node of a forest.
pub unsafe fn find(node: *mut Node, label: u32) -> Option<Child> {
    let mut holder = node;
    while !holder.is_null() {
        // SAFETY: the caller's.
        unsafe {
            if let Some(slot) = Table::of(holder).find(label) {
                return Some(Child { holder, slot, label });
            }
            holder = beside(holder);
        }
    }
    None
}

/// The node that has further children of this one, or null.
unsafe fn beside(node: *mut Node) -> *mut Node {
    // SAFETY: the caller gives a node; what it points at is never freed.
    unsafe {
        let extra = AtomicPtr::from_ptr(&raw mut (*node).extra).load(Ordering::Acquire);
        if extra.is_null() { null_mut() } else { (*extra).more }
    }
}

/// The children of a node.
#[derive(Clone, Copy)]
pub struct Children {
    node: *mut Node,
    index: u32,
}

impl Children {
    pub const fn of(node: *mut Node) -> Self {
        Self { node, index: 0 }
    }

    /// The next child.
    ///
    /// # Safety
    /// The node is one of a forest whose context's lock the caller holds.
    pub unsafe fn next(&mut self) -> Option<Child> {
        while !self.node.is_null() {
            // SAFETY: the caller's.
            unsafe {
                let table = Table::of(self.node);
                while self.index < table.size {
                    let index = self.index;
                    self.index += 1;
                    if let Some(label) = table.label(index) {
                        let slot = table.slot(index);
                        return Some(Child { holder: self.node, slot, label });
                    }
                }
                *self = Self::of(beside(self.node));
            }
        }
        None
    }
}

/// What was taken out of a child's counter, or null.
unsafe fn taken(node: *mut Node, label: u32) -> *mut Taken {
    // SAFETY: the caller gives a node; what it points at is never freed.
    unsafe {
        let extra = (*node).extra;
        let mut taken = if extra.is_null() { null_mut() } else { (*extra).taken };
        while !taken.is_null() && (*taken).label != label {
            taken = (*taken).next;
        }
        taken
    }
}

/// Whether a node was left behind when its forest was pruned. States that lead to it may exist.
///
/// # Safety
/// `node` is or was a node of a forest.
pub unsafe fn is_pruned(node: *mut Node) -> bool {
    // SAFETY: the caller's.
    unsafe { word_of(node) == 0 }
}

/// Leaves a node behind: nothing is found in any table that it has had.
///
/// # Safety
/// `node` is a node of a forest whose context's lock the caller holds, with signals blocked. Its
/// counts were taken elsewhere.
pub unsafe fn leave(node: *mut Node) {
    // SAFETY: the caller's; what it points at is never freed. Where there is a key, that goes, and
    // `next` stays for emitted code that has just read the key.
    unsafe {
        let mut table = Some(Table::of(node));
        while let Some(current) = table {
            for slot in (0..current.size).map(|index| current.slot(index)) {
                match current.is_dense {
                    true => set_next(slot, 0),
                    false => tally(slot).store(0, Ordering::Release),
                }
            }
            table = current.before(node);
        }
        AtomicU64::from_ptr(&raw mut (*node).table).store(0, Ordering::Release);
        let more = beside(node);
        if !more.is_null() {
            leave(more);
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

fn child_level(level: u8) -> u8 {
    // The start's level is the largest number, so a root's is 0.
    const { assert!(START_LEVEL == u8::MAX && 2 * MAX_K - 3 < START_LEVEL as u32) };
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

/// Builds within one forest. The caller holds the context's lock.
pub struct Builder<'a> {
    /// Where nodes and tables come from.
    pub arena: &'a mut Arena,
    pub start: *mut Node,
    /// The state of the start, for emitted code.
    pub start_word: *mut Word,
    pub k: u32,
    pub num_paths: u32,
    /// Whether the reserve may be used.
    pub purpose: Purpose,
}

impl Builder<'_> {
    /// The start of a forest, without children.
    pub fn new_start(&mut self) -> Result<(), OutOfMemory> {
        self.start = self.new_node(START_LEVEL, 0, null_mut())?;
        // SAFETY: the node was just made; the forest's field is valid.
        unsafe { self.publish_start() };
        Ok(())
    }

    unsafe fn publish_start(&mut self) {
        // SAFETY: the caller's.
        unsafe {
            AtomicU64::from_ptr(self.start_word).store(word_of(self.start), Ordering::Release);
        }
    }

    /// The child of `parent` with that label, made if it is missing.
    ///
    /// # Safety
    /// `parent` is a node of the builder's forest.
    pub unsafe fn child(&mut self, parent: *mut Node, label: u32) -> Result<Child, OutOfMemory> {
        // SAFETY: the caller's; τ is a node of the same forest.
        unsafe {
            if let Some(found) = find(parent, label) {
                return Ok(found);
            }
            let level = child_level((*parent).level);
            let next = match place(level.into(), self.k) {
                Place::Upper => self.new_node(level, label, null_mut())?,
                Place::Lower => {
                    let tau = self.tau(parent, level, label)?;
                    self.new_node(level, label, tau)?
                }
                Place::Full => self.tau(parent, level, label)?,
            };
            self.insert(parent, label, next)
        }
    }

    /// The τ of the child of `parent` with that label: lines 8 to 18 of Algorithm 4.
    unsafe fn tau(
        &mut self,
        parent: *mut Node,
        level: u8,
        label: u32,
    ) -> Result<*mut Node, OutOfMemory> {
        if self.k == 1 {
            return Ok(self.start);
        }
        // SAFETY: a lower node has a τ; it is an upper node, whose children need no τ, so this
        // recursion ends here.
        unsafe {
            let tau_of_parent =
                if u32::from(level) == self.k - 1 { self.start } else { (*parent).tau };
            Ok(node_of(self.child(tau_of_parent, label)?.next()))
        }
    }

    fn new_node(
        &mut self,
        level: u8,
        label: u32,
        tau: *mut Node,
    ) -> Result<*mut Node, OutOfMemory> {
        let is_dense = self.num_paths <= DENSE_PATHS;
        let size = if is_dense { self.num_paths.next_power_of_two() } else { 1 };
        let memory = self.arena.allocate(size_of::<Node>(), self.purpose).ok_or(OutOfMemory)?;
        let node = memory.as_ptr().cast::<Node>();
        let slots = self.new_table(node, 0, size)?;
        let table = match is_dense {
            true => slots as u64 + DENSE_OFFSET,
            false => sparse_word(slots, size),
        };
        // SAFETY: the arena hands out aligned memory of that size.
        unsafe {
            node.write(Node {
                table,
                tau,
                parent: null_mut(),
                extra: null_mut(),
                label,
                level,
                used: 0,
                dense: if is_dense { size as u8 } else { 0 },
                marked: 0,
                is_marked: false,
            });
        }
        Ok(node)
    }

    fn new_table(
        &mut self,
        node: *mut Node,
        before: Word,
        size: u32,
    ) -> Result<*mut Slot, OutOfMemory> {
        let bytes = size_of::<TableHead>() + size as usize * size_of::<Slot>();
        let memory = self.arena.allocate(bytes, self.purpose).ok_or(OutOfMemory)?;
        let head = memory.as_ptr().cast::<TableHead>();
        // SAFETY: the memory holds the head and the slots, zeroed, which are empty slots.
        unsafe {
            head.write(TableHead { node, before });
            Ok(head.add(1).cast())
        }
    }

    /// Puts a new label in the table of `parent`, or of one that stands beside it.
    unsafe fn insert(
        &mut self,
        parent: *mut Node,
        label: u32,
        next: *mut Node,
    ) -> Result<Child, OutOfMemory> {
        // SAFETY: the caller's; what makes the slot one in use is published last.
        unsafe {
            let holder = self.make_room(parent)?;
            let table = Table::of(holder);
            let (slot, _) = table.probe(label);
            if (*next).parent.is_null() && (*next).level == child_level((*parent).level) {
                (*next).parent = holder;
            }
            set_next(slot, word_of(next));
            if !table.is_dense {
                tally(slot).store(u64::from(key(label)) << KEY_SHIFT, Ordering::Release);
            }
            (*holder).used += 1;
            Ok(Child { holder, slot, label })
        }
    }

    /// The node, `node` or one beside it, whose table has a place for a new label.
    unsafe fn make_room(&mut self, node: *mut Node) -> Result<*mut Node, OutOfMemory> {
        // SAFETY: the caller's.
        unsafe {
            let (table, used) = (Table::of(node), u32::from((*node).used));
            // Slots are kept empty, so that what is not there is soon known not to be.
            let is_largest = table.size == MOST_SLOTS;
            if is_largest && used >= MOST_SLOTS / 2 {
                let more = self.beside_or_new(node)?;
                return self.make_room(more);
            }
            let is_full =
                used == table.size || table.size > FEW_SLOTS && used >= table.size / 4 * 3;
            if is_largest || !is_full {
                return Ok(node);
            }
            match self.grow(node, table.size * 2) {
                Err(OutOfMemory) if used == table.size => Err(OutOfMemory),
                _ => Ok(node),
            }
        }
    }

    /// Gives the child of `node` with that label its first bucket, if there is one in a larger
    /// table and memory for that.
    ///
    /// # Safety
    /// `node` is a node of the builder's forest.
    pub unsafe fn spread(&mut self, node: *mut Node, label: u32) {
        // SAFETY: the caller's.
        unsafe {
            let table = Table::of(node);
            let Some(slot) = table.find(label) else { return };
            if slot == table.slot(table.bucket(label)) {
                return;
            }
            let most = MOST_SLOTS.min(SPARSITY * u32::from((*node).used));
            let mut size = table.size * 2;
            while size <= most {
                if !has_in_bucket(table, label, size) {
                    _ = self.grow(node, size);
                    return;
                }
                size *= 2;
            }
        }
    }

    unsafe fn beside_or_new(&mut self, node: *mut Node) -> Result<*mut Node, OutOfMemory> {
        // SAFETY: the caller's.
        unsafe {
            let extra = self.extra(node)?;
            if (*extra).more.is_null() {
                let more = self.new_node((*node).level, (*node).label, (*node).tau)?;
                AtomicPtr::from_ptr(&raw mut (*extra).more).store(more, Ordering::Release);
            }
            Ok((*extra).more)
        }
    }

    unsafe fn extra(&mut self, node: *mut Node) -> Result<*mut Extra, OutOfMemory> {
        // SAFETY: the caller's; the memory is zeroed, which is a valid value.
        unsafe {
            if (*node).extra.is_null() {
                let bytes = size_of::<Extra>();
                let memory = self.arena.allocate(bytes, self.purpose).ok_or(OutOfMemory)?;
                let extra = memory.as_ptr().cast();
                AtomicPtr::from_ptr(&raw mut (*node).extra).store(extra, Ordering::Release);
            }
            Ok((*node).extra)
        }
    }

    /// Moves the children of `node` to a table of `size` slots.
    unsafe fn grow(&mut self, node: *mut Node, size: u32) -> Result<(), OutOfMemory> {
        // SAFETY: the caller's; the table is complete before it is published.
        unsafe {
            let old = Table::of(node);
            let slots = self.new_table(node, word_of(node), size)?;
            let new = Table { slots, size, is_dense: false };
            // What finds its first bucket empty has it before what does not.
            for is_second in [false, true] {
                for index in 0..old.size {
                    let Some(label) = old.label(index) else { continue };
                    let (slot, is_there) = new.probe(label);
                    if !is_there && (is_second || slot == new.slot(new.bucket(label))) {
                        let tally = u64::from(key(label)) << KEY_SHIFT;
                        slot.write(Slot { next: next(old.slot(index)), tally });
                    }
                }
            }
            let word = sparse_word(slots, size);
            AtomicU64::from_ptr(&raw mut (*node).table).store(word, Ordering::Release);
            if node == self.start {
                self.publish_start();
            } else if !(*node).parent.is_null()
                && let Some(slot) = Table::of((*node).parent).find((*node).label)
            {
                set_next(slot, word);
            }
        }
        Ok(())
    }

    /// Adds to the counter of a child; where it has overflowed or is too small, it is emptied into
    /// a larger one.
    ///
    /// # Safety
    /// It is a child in the builder's forest.
    pub unsafe fn add(&mut self, child: Child, n: u64) -> Result<(), OutOfMemory> {
        // SAFETY: the caller's.
        unsafe {
            let has_room = u32::try_from(n).is_ok() && !child.has_overflowed();
            match has_room || child.is_dense() {
                true => add(child.slot, n),
                false => take(self.taken(child)?, child.slot, n),
            }
        }
        Ok(())
    }

    unsafe fn taken(&mut self, child: Child) -> Result<*mut Taken, OutOfMemory> {
        let Child { holder, label, .. } = child;
        // SAFETY: the caller's; a record is complete before it is published.
        unsafe {
            let known = taken(holder, label);
            if !known.is_null() {
                return Ok(known);
            }
            let extra = self.extra(holder)?;
            let bytes = size_of::<Taken>();
            let memory = self.arena.allocate(bytes, self.purpose).ok_or(OutOfMemory)?;
            let record = memory.as_ptr().cast::<Taken>();
            let next = (*extra).taken;
            record.write(Taken { next, count: 0, sum: 0, label, is_taking: 0 });
            AtomicPtr::from_ptr(&raw mut (*extra).taken).store(record, Ordering::Release);
            Ok(record)
        }
    }
}

/// Empties a sparse table's counter into a larger one, with `n` more, in the order that [`Taken`]
/// tells.
unsafe fn take(record: *mut Taken, slot: *mut Slot, n: u64) {
    // SAFETY: the caller gives the record of a slot; the fields are valid.
    unsafe {
        let count = AtomicU64::from_ptr(&raw mut (*record).count);
        let sum = AtomicU64::from_ptr(&raw mut (*record).sum);
        let is_taking = AtomicU32::from_ptr(&raw mut (*record).is_taking);
        let counted = in_slot(slot, false);
        let all = count.load(Ordering::Relaxed).wrapping_add(n).wrapping_add(counted);
        live::change(|| {
            sum.store(all, Ordering::Release);
            is_taking.store(1, Ordering::Release);
            empty(slot, false);
            count.store(all, Ordering::Release);
            is_taking.store(0, Ordering::Release);
        });
    }
}

/// Whether another label of the table had the first bucket of this one if the table had `size`
/// slots.
unsafe fn has_in_bucket(table: Table, label: u32, size: u32) -> bool {
    let larger = Table { size, ..table };
    (0..table.size).any(|index| {
        // SAFETY: the index is below the table's size.
        let other = unsafe { table.label(index) };
        other.is_some_and(|other| other != label && larger.bucket(other) == larger.bucket(label))
    })
}
