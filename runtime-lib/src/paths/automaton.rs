//! The window automaton: which state follows, and what is made for it.
//!
//! A state is a window of the last k − 1 paths of an activation (`window`). The path r leads from
//! it by one slot of its table: to the state of the window with r, whose first path is dropped. The
//! counter in that slot is that of the window of k paths that ends with r. While an activation has
//! had fewer paths its windows are anchored at ∗, and shorter; those counters are of shorter
//! windows. Each window has one node, which the index finds when the first slot that leads to it is
//! made.
//!
//! | state | path r leads to |
//! |---|---|
//! | ∗ w, \|w\| < k − 2 | ∗ w r |
//! | ∗ w, \|w\| = k − 2 | w r |
//! | q w, \|q w\| = k − 1 | w r |
//! | ε w, \|w\| < k − 1: truncated | ε w r, or w r where that is k − 1 paths |
//!
//! A state that has no place is replaced by that of the longest suffix of its window that has one,
//! which is truncated; and an event that has no place in the table of its state is counted in that
//! of the longest suffix that has. The empty suffix, ε, has a place for every path.
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
//! - Growing leaves the counts where they are, and states may lead to the old table.
//!
//! Changes of structure are made with all signals blocked and the context's lock held.

use crate::arena::Purpose;
use crate::paths::counter;
use crate::paths::forest::ThreadForest;
use crate::paths::index::Index;
use crate::paths::room::{MOST_MISSES, Room, SAMPLE, most_heat};
use crate::paths::table::{self, Entry, Node, Table, Word, word_of};
use crate::paths::window::Window;
use core::mem::offset_of;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use midflight_abi::memory::{Extra, Taken, WindowKind, label_size};
use midflight_abi::{MOST_SLOTS, SLOT_SHIFT};

/// A table may be that many times larger than what it holds to have a label in its first bucket.
const SPARSITY: u32 = 16;

/// A table of so many slots may be full; a larger one has a quarter of its slots empty.
const FEW_SLOTS: u32 = 8;

/// Windows of so many paths are followed by many: a second one is soon followed by others.
const SHORT: u8 = 3;

/// Events after which the runtime looks again at what it sees of a slot or a table, and then at
/// twice as many.
const FIRST_LOOK: u64 = 4;

/// Bytes of a node with a few labels, its first table and its place in the index.
const LEAST_BYTES: usize =
    size_of::<Node>() + (1 << SLOT_SHIFT) + Table::bytes(1) + Index::BYTES_EACH;

#[derive(Debug)]
pub struct OutOfMemory;

/// An event.
#[derive(Clone, Copy)]
pub struct Event {
    /// The path
    pub label: u32,
    /// Whether the activation ends with it.
    pub is_final: bool,
    /// How many of the same are known to follow.
    pub to_come: u64,
}

/// The path in the table of a node, or of one that stands beside it.
///
/// # Safety
/// `node` is a node of a forest.
pub unsafe fn find(mut node: *mut Node, label: u32) -> Option<Entry> {
    // SAFETY: the caller's; what stands beside a node is one.
    unsafe {
        while !node.is_null() {
            if let Some(slot) = Table::of(node).find(label) {
                return Some(Entry { node, slot, label });
            }
            node = beside(node);
        }
        None
    }
}

/// The path in the table of a node, or of the longest suffix of its window that is known to have a
/// place for it.
///
/// # Safety
/// `node` is a node of a forest.
#[inline(always)]
pub unsafe fn find_at_suffix(mut node: *mut Node, label: u32) -> Option<Entry> {
    // SAFETY: the caller's; a suffix is a node of the same forest.
    unsafe {
        while !node.is_null() {
            if let Some(entry) = find(node, label) {
                return Some(entry);
            }
            node = (*node).suffix;
        }
        None
    }
}

unsafe fn beside(node: *mut Node) -> *mut Node {
    // SAFETY: the caller gives a node; the field is shared only through atomics.
    unsafe {
        let extra = AtomicPtr::from_ptr(&raw mut (*node).extra).load(Ordering::Acquire);
        match extra.is_null() {
            true => null_mut(),
            false => AtomicPtr::from_ptr(&raw mut (*extra).more).load(Ordering::Acquire),
        }
    }
}

/// Why an event takes the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Locked {
    /// Something may have to be made or opened for it.
    Needed,
    /// It stands for [`SAMPLE`] events that emitted code has not found.
    Sample,
}

/// Counts an event that emitted code has not found, if that takes no lock; the state after it.
///
/// # Safety
/// `room` points at that of the calling thread; `node` is a node of one of its forests.
pub unsafe fn count_unlocked(
    room: *mut Room,
    node: *mut Node,
    event: Event,
) -> Result<Word, Locked> {
    let Event { label, to_come, .. } = event;
    // SAFETY: the caller's.
    unsafe {
        if Room::is_sample(room) {
            return Err(Locked::Sample);
        }
        // Where many follow, what is missing is worth to be looked at.
        if to_come >= FIRST_LOOK {
            return Err(Locked::Needed);
        }
        if let Some(entry) = find(node, label) {
            return count_entry(room, entry);
        }
        if !Room::is_dear(room) || is_missed_too_often(room, node) {
            return Err(Locked::Needed);
        }
        match find_at_suffix((*node).suffix, label) {
            Some(entry) => count_entry(room, entry),
            None => Err(Locked::Needed),
        }
    }
}

/// Counts at an entry, unless something is to be made or opened.
unsafe fn count_entry(room: *const Room, entry: Entry) -> Result<Word, Locked> {
    // SAFETY: the caller gives an entry of a forest of the room's thread.
    unsafe {
        let (is_closed, forest) = (entry.is_closed(), (*entry.node).forest);
        let is_time = is_closed && {
            let heat = entry.heat() + 1;
            let is_hot = || heat >= most_heat((*forest).closed_events, (*entry.node).length);
            let is_worth = || (*room).affords(forest, LEAST_BYTES, heat);
            is_time_to_look(heat) && (is_hot() || is_worth())
        };
        if entry.has_overflowed() || is_time {
            return Err(Locked::Needed);
        }
        (*forest).closed_events += u64::from(is_closed);
        table::add(entry.slot, 1);
        Ok(entry.next())
    }
}

fn is_time_to_look(events: u64) -> bool {
    events >= FIRST_LOOK && events.is_power_of_two()
}

/// Notes an event without a place, and tells whether it is time to look at the table.
unsafe fn is_missed_too_often(room: *const Room, node: *mut Node) -> bool {
    // SAFETY: the caller gives a node of the room's thread. That a handler of signals may undo
    // this does no harm.
    unsafe {
        (*node).misses = (*node).misses.wrapping_add(1);
        let (misses, table) = (misses(node), Table::of(node));
        let is_worth = || {
            let bytes = Table::bytes(table.size * 2);
            misses >= MOST_MISSES || (*room).affords((*node).forest, bytes, misses)
        };
        is_time_to_look(misses) && (u32::from((*node).used) < table.size || is_worth())
    }
}

/// Events without a place that were counted for a table.
unsafe fn misses(node: *mut Node) -> u64 {
    // SAFETY: the caller gives a node.
    match unsafe { (*node).misses } {
        0 => MOST_MISSES,
        misses => misses.into(),
    }
}

/// Builds within one forest. The caller holds the context's lock, with signals blocked.
pub struct Builder<'a> {
    pub room: &'a mut Room,
    pub forest: *mut ThreadForest,
}

/// A state that was looked for.
struct Successor {
    word: Word,
    /// Whether it is that of a suffix of the window, for want of room.
    is_short: bool,
}

impl Builder<'_> {
    fn k(&self) -> u32 {
        // SAFETY: the builder's forest is valid.
        unsafe { (*self.forest).shared.k }
    }

    /// Makes the states ∗ and ε, for a forest without nodes.
    pub fn begin(&mut self) -> Result<(), OutOfMemory> {
        let kind = if self.k() == 1 { WindowKind::Full } else { WindowKind::Anchored };
        // SAFETY: the builder's forest is valid.
        unsafe {
            let start = self.new_node(&Window::empty(kind), Purpose::Root)?;
            self.publish_start(start);
            let unknown = self.new_node(&Window::empty(WindowKind::Truncated), Purpose::Root)?;
            (*self.forest).shared.unknown = unknown;
        }
        Ok(())
    }

    unsafe fn publish_start(&mut self, start: *mut Node) {
        // SAFETY: the builder's forest is valid, and the caller gives a node.
        unsafe {
            let field = &raw mut (*self.forest).shared.forest.start;
            AtomicU64::from_ptr(field).store(word_of(start), Ordering::Release);
        }
    }

    /// Counts an event in the table of a node, or of the longest suffix that has a place for it;
    /// the state after it.
    ///
    /// # Safety
    /// `node` is a node of the builder's forest.
    pub unsafe fn count(&mut self, node: *mut Node, event: Event) -> Word {
        let mut at = node;
        // SAFETY: the caller's; suffixes are nodes of the same forest.
        unsafe {
            while !at.is_null() {
                let entry = match find(at, event.label) {
                    Some(entry) => Ok(self.look_again(entry, event)),
                    None => self.insert(at, event),
                };
                if let Ok(entry) = entry
                    && self.add(entry, 1).is_ok()
                {
                    return entry.next();
                }
                at = self.suffix(at);
            }
            let forest = &raw mut (*self.forest).shared.forest;
            counter::increment(&raw mut (*forest).totals.lost);
            word_of((*self.forest).shared.unknown)
        }
    }

    /// If a slot is closed and it is time, lets it lead to the state that it should, or to the
    /// longest suffix of that; and opens it if that is all that can be done.
    unsafe fn look_again(&mut self, entry: Entry, event: Event) -> Entry {
        // SAFETY: the caller gives an entry of the builder's forest.
        unsafe {
            let (events, is_closed) = (entry.heat() + 1, entry.is_closed());
            let is_time = is_closed && is_time_to_look(events) || event.to_come != 0;
            if is_time && (is_closed || self.is_short(entry)) {
                let heat = events + event.to_come;
                let successor = self.successor(entry.node, event, heat);
                entry.lead_to(successor.word);
                let closed_events = (*self.forest).shared.closed_events;
                let is_hot = heat >= most_heat(closed_events, (*entry.node).length);
                if is_closed && (!successor.is_short || is_hot) {
                    entry.open();
                }
            }
            entry
        }
    }

    /// Lets a slot lead to the state that it should, if it leads to a shorter one, was opened all
    /// the same, and has counted `least` events by now that are worth it.
    ///
    /// # Safety
    /// It is an entry of the builder's forest.
    pub unsafe fn lengthen(&mut self, entry: Entry, least: u64) {
        // SAFETY: the caller's.
        unsafe {
            let heat = entry.heat();
            if heat >= least && !entry.is_closed() && self.is_short(entry) {
                let event = Event { label: entry.label, is_final: false, to_come: 0 };
                entry.lead_to(self.successor(entry.node, event, heat).word);
            }
        }
    }

    /// Whether the state after an entry is shorter than it should be.
    unsafe fn is_short(&self, entry: Entry) -> bool {
        // SAFETY: the caller gives an entry of the builder's forest.
        unsafe {
            let most = self.k().saturating_sub(1);
            let next = table::node_of(entry.next());
            u32::from((*next).length) < most.min(u32::from((*entry.node).length) + 1)
                && next != ThreadForest::start(self.forest)
        }
    }

    /// The longest proper suffix of a node's window that has a node; null for ε.
    unsafe fn suffix(&mut self, node: *mut Node) -> *mut Node {
        // SAFETY: the caller gives a node of the builder's forest.
        unsafe {
            if node == (*self.forest).shared.unknown {
                return null_mut();
            }
            let suffix = self.longest(&Window::of(node));
            (*node).suffix = suffix;
            suffix
        }
    }

    /// The node of the longest suffix of a window, of which no more is known than the suffix.
    unsafe fn longest(&self, window: &Window) -> *mut Node {
        let all = window.labels().len();
        let most = if window.kind == WindowKind::Anchored { all + 1 } else { all };
        // SAFETY: the builder's forest is valid.
        unsafe {
            let nodes = (1..most)
                .rev()
                .map(|length| self.room.index.find(&window.suffix(length), self.forest.cast()));
            let known = { nodes }.find(|node| !node.is_null());
            known.unwrap_or((*self.forest).shared.unknown)
        }
    }

    /// The state after an event, made if it is worth that.
    unsafe fn successor(&mut self, node: *mut Node, event: Event, heat: u64) -> Successor {
        // SAFETY: the caller gives a node of the builder's forest.
        unsafe {
            if event.is_final {
                // Nobody loads it: the next activation begins there.
                let word = word_of(ThreadForest::start(self.forest));
                return Successor { word, is_short: false };
            }
            let window = Window::after(node, event.label, self.k());
            let mut next = self.room.index.find(&window, self.forest.cast());
            if next.is_null() {
                next = self.buy_node(&window, heat).unwrap_or(null_mut());
            }
            let is_short = next.is_null();
            if is_short {
                next = self.longest(&window);
            }
            Successor { word: word_of(next), is_short }
        }
    }

    /// A node for a window that is worth so many events.
    unsafe fn buy_node(&mut self, window: &Window, heat: u64) -> Result<*mut Node, OutOfMemory> {
        let bytes = self.node_bytes(window) + Index::BYTES_EACH;
        // SAFETY: the builder's forest is valid.
        unsafe {
            if table::dense_size(&(*self.forest).shared).is_some() {
                return self.new_node(window, Purpose::Root);
            }
            match self.room.affords(self.forest.cast(), bytes, heat) {
                true => self.new_node(window, Purpose::Growth),
                false => Err(OutOfMemory),
            }
        }
    }

    /// Bytes of a node with its labels, before its table.
    fn head_bytes(&self, window: &Window) -> usize {
        // SAFETY: the builder's forest is valid.
        let size = label_size(unsafe { (*self.forest).shared.num_paths });
        let bytes = offset_of!(Node, labels) + window.labels().len() * size;
        bytes.max(size_of::<Node>()).next_multiple_of(1 << SLOT_SHIFT)
    }

    fn node_bytes(&self, window: &Window) -> usize {
        // SAFETY: the builder's forest is valid.
        let dense = table::dense_size(unsafe { &(*self.forest).shared });
        self.head_bytes(window) + Table::bytes(dense.unwrap_or(1))
    }

    /// So many zeroes for the forest.
    #[inline(always)]
    unsafe fn take(&mut self, bytes: usize, purpose: Purpose) -> Result<*mut u8, OutOfMemory> {
        // SAFETY: the builder's forest is valid, and the caller holds the lock.
        unsafe { self.room.take(self.forest, bytes, purpose).ok_or(OutOfMemory) }
    }

    /// A node with an empty table, in the index.
    unsafe fn new_node(
        &mut self,
        window: &Window,
        purpose: Purpose,
    ) -> Result<*mut Node, OutOfMemory> {
        // SAFETY: the builder's forest is valid.
        unsafe {
            if !self.room.index.make_room() {
                return Err(OutOfMemory);
            }
            self.room.arena.charge(Index::BYTES_EACH);
            let node = self.new_node_apart(window, purpose)?;
            self.room.index.insert(node);
            Ok(node)
        }
    }

    /// A node with an empty table, in the list.
    unsafe fn new_node_apart(
        &mut self,
        window: &Window,
        purpose: Purpose,
    ) -> Result<*mut Node, OutOfMemory> {
        // SAFETY: the builder's forest is valid; the arena hands out aligned zeroes of that size.
        unsafe {
            let (bytes, head) = (self.node_bytes(window), self.head_bytes(window));
            let memory = self.take(bytes, purpose)?;
            let node = memory.cast::<Node>();
            let shared = &raw mut (*self.forest).shared;
            let dense = table::dense_size(&*shared);
            let slots = memory.add(head);
            let table = Table::create(slots, node, 0, dense.unwrap_or(1), dense.is_some());
            node.write(Node {
                table: table.word(),
                next: (*shared).nodes,
                extra: null_mut(),
                suffix: null_mut(),
                forest: shared,
                used: 0,
                length: window.labels().len() as u8,
                kind: window.kind,
                misses: 0,
                detours: 0,
                labels: [],
            });
            window.write(node, label_size((*shared).num_paths));
            AtomicPtr::from_ptr(&raw mut (*shared).nodes).store(node, Ordering::Release);
            Ok(node)
        }
    }

    /// Puts a new path in the table of a node, or of one that stands beside it.
    unsafe fn insert(&mut self, node: *mut Node, event: Event) -> Result<Entry, OutOfMemory> {
        let label = event.label;
        // SAFETY: the caller gives a node of the builder's forest that has no such path.
        unsafe {
            let holder = self.make_room(node, event.to_come)?;
            let heat = 1 + event.to_come;
            let Successor { word, is_short } = self.successor(node, event, heat);
            let table = Table::of(holder);
            let (slot, _) = table.probe(label);
            table.fill(slot, label, word, is_short && !table.is_dense);
            (*holder).used += 1;
            (*self.forest).shared.slots += 1;
            Ok(Entry { node: holder, slot, label })
        }
    }

    /// The node, `node` or one beside it, whose table has a place for a new path.
    unsafe fn make_room(
        &mut self,
        node: *mut Node,
        to_come: u64,
    ) -> Result<*mut Node, OutOfMemory> {
        // SAFETY: the caller's.
        unsafe {
            let (table, used) = (Table::of(node), u32::from((*node).used));
            if table.is_dense {
                return Ok(node);
            }
            // Slots are kept empty, so that what is not there is soon known not to be.
            let is_largest = table.size == MOST_SLOTS;
            if is_largest && used >= MOST_SLOTS / 2 {
                let more = self.beside_or_new(node)?;
                return self.make_room(more, to_come);
            }
            let is_full =
                used == table.size || table.size > FEW_SLOTS && used >= table.size / 4 * 3;
            if is_largest || !is_full {
                return Ok(node);
            }
            let size = match table.size {
                1 if (*node).length <= SHORT => 4,
                size => size * 2,
            };
            match self.grow_if_worth(node, size, to_come) {
                Err(OutOfMemory) if used == table.size => Err(OutOfMemory),
                _ => Ok(node),
            }
        }
    }

    unsafe fn grow_if_worth(
        &mut self,
        node: *mut Node,
        size: u32,
        to_come: u64,
    ) -> Result<(), OutOfMemory> {
        // SAFETY: the caller gives a node of the builder's forest.
        unsafe {
            // ∗ and ε have a place for every path.
            if (*node).length == 0 {
                return self.grow(node, size, Purpose::Root);
            }
            let misses = if (*node).suffix.is_null() { 1 } else { misses(node) };
            let misses = misses.saturating_add(to_come);
            match self.room.affords_growth(self.forest.cast(), Table::bytes(size), misses) {
                true => self.grow(node, size, Purpose::Growth),
                false => Err(OutOfMemory),
            }
        }
    }

    /// Gives the path of `node` with that label its first bucket, if there is one in a larger table
    /// and memory for that.
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
            (*node).detours = (*node).detours.saturating_add(1);
            let heat = u64::from((*node).detours) * u64::from(SAMPLE);
            let most = MOST_SLOTS.min(SPARSITY * u32::from((*node).used));
            let mut size = table.size * 2;
            while size <= most {
                if !has_in_bucket(table, label, size) {
                    if self.room.affords_spread(Table::bytes(size), heat) {
                        _ = self.grow(node, size, Purpose::Spread);
                    }
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
                let more = self.new_node_apart(&Window::of(node), Purpose::Root)?;
                AtomicPtr::from_ptr(&raw mut (*extra).more).store(more, Ordering::Release);
            }
            Ok((*extra).more)
        }
    }

    #[inline(always)]
    unsafe fn extra(&mut self, node: *mut Node) -> Result<*mut Extra, OutOfMemory> {
        // SAFETY: the caller's; the memory is zeroed, which is a valid value.
        unsafe {
            if (*node).extra.is_null() {
                let bytes = size_of::<Extra>();
                let extra = self.take(bytes, Purpose::Root)?.cast();
                AtomicPtr::from_ptr(&raw mut (*node).extra).store(extra, Ordering::Release);
            }
            Ok((*node).extra)
        }
    }

    /// Moves the paths of `node` to a table of `size` slots.
    unsafe fn grow(
        &mut self,
        node: *mut Node,
        size: u32,
        purpose: Purpose,
    ) -> Result<(), OutOfMemory> {
        // SAFETY: the caller's; the table is complete before it is published.
        unsafe {
            let bytes = Table::bytes(size);
            let memory = self.take(bytes, purpose)?;
            let new = Table::create(memory, node, word_of(node), size, false);
            Table::of(node).copy_to(new);
            let was_start = ThreadForest::start(self.forest) == node;
            AtomicU64::from_ptr(&raw mut (*node).table).store(new.word(), Ordering::Release);
            ((*node).misses, (*node).detours) = (0, 0);
            if was_start {
                self.publish_start(node);
            }
            Ok(())
        }
    }

    /// Adds to the counter of an entry; where it has overflowed or is too small, it is emptied into
    /// a larger one.
    ///
    /// # Safety
    /// It is an entry of the builder's forest.
    pub unsafe fn add(&mut self, entry: Entry, n: u64) -> Result<(), OutOfMemory> {
        // SAFETY: the caller's.
        unsafe {
            match entry.has_overflowed() {
                true => entry.take(self.taken(entry)?, n),
                false => table::add(entry.slot, n),
            }
        }
        Ok(())
    }

    unsafe fn taken(&mut self, entry: Entry) -> Result<*mut Taken, OutOfMemory> {
        let Entry { node, label, .. } = entry;
        // SAFETY: the caller's; a record is complete before it is published.
        unsafe {
            let known = table::taken(node, label);
            if !known.is_null() {
                return Ok(known);
            }
            let extra = self.extra(node)?;
            let bytes = size_of::<Taken>();
            let memory = self.take(bytes, Purpose::Root)?;
            let record = memory.cast::<Taken>();
            let next = (*extra).taken;
            record.write(Taken { next, count: 0, sum: 0, label, is_taking: 0 });
            AtomicPtr::from_ptr(&raw mut (*extra).taken).store(record, Ordering::Release);
            Ok(record)
        }
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
