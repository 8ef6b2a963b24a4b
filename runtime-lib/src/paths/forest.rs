//! What a thread counts in a function: how it is made, and grows.

mod read;

pub use self::read::Visit;

use crate::arena::{Arena, Purpose};
use crate::paths::automaton::{Builder, Event, Locked};
use crate::paths::context::Context;
use crate::paths::published::Slabs;
use crate::paths::room::{Room, SAMPLE};
use crate::paths::step;
use crate::paths::table::{self, Entry, Node, Table, Word};
use core::mem::offset_of;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicU64, Ordering};
use midflight_abi::memory;
use midflight_abi::{Forest, Mode, RecordHeader, Slot};

/// Lookups in outgrown tables that are put up with in any forest.
const LEAST_STALE: u32 = 64;

/// A [`Forest`] with what the runtime knows about it besides. Emitted code sees the forest, and in
/// counting mode the counters behind it.
#[repr(transparent)]
pub struct ThreadForest {
    /// All of it, as others find it in a file.
    pub shared: memory::ThreadForest,
}

impl ThreadForest {
    /// The forest that emitted code's pointer is to.
    pub fn of(forest: *mut Forest) -> *mut Self {
        forest.wrapping_byte_sub(offset_of!(memory::ThreadForest, forest)).cast()
    }

    /// The context that it belongs to.
    ///
    /// # Safety
    /// `this` is a forest.
    pub unsafe fn context(this: *mut Self) -> *mut Context {
        // SAFETY: the caller's.
        unsafe { (*this).shared.context.cast() }
    }

    /// A forest and all that follow it in its context; none where it is null.
    ///
    /// # Safety
    /// The context's lock is held as long as the list is used, or its thread is the caller's and
    /// not in the runtime.
    pub unsafe fn list(first: *mut Self) -> impl Iterator<Item = *mut Self> {
        let some = |forest: *mut Self| (!forest.is_null()).then_some(forest);
        // SAFETY: the caller's; forests are never freed.
        core::iter::successors(some(first), move |&at| some(unsafe { (*at).shared.next.cast() }))
    }

    /// Bytes of a forest, without its nodes.
    ///
    /// # Safety
    /// `record` is a usable record.
    pub unsafe fn size(record: *const RecordHeader) -> Option<usize> {
        // SAFETY: the caller's.
        let header = unsafe { &*record };
        let words = match header.mode()? {
            Mode::Automaton => 0,
            Mode::Counting => header.num_paths as usize + mark_words(header.num_paths),
            Mode::Published => size_of::<Slabs>() / size_of::<u64>(),
        };
        words.checked_mul(size_of::<u64>())?.checked_add(size_of::<Self>())
    }

    /// Makes an empty forest. `None`: there is no memory for it.
    ///
    /// # Safety
    /// `record` is a usable record.
    pub unsafe fn create(
        arena: &mut Arena,
        room: &mut Room,
        context: *mut Context,
        record: *const RecordHeader,
    ) -> Option<*mut Self> {
        // SAFETY: the caller's.
        let (header, bytes) = unsafe { (&*record, Self::size(record)?) };
        let mode = header.mode()?;
        let purpose = match mode {
            Mode::Automaton | Mode::Published => Purpose::Root,
            Mode::Counting => Purpose::Growth,
        };
        let this = arena.allocate(bytes, purpose)?.as_ptr().cast::<Self>();
        // SAFETY: the arena has handed out zeroed memory of that size, in which all fields are
        // valid.
        unsafe {
            (*this).shared.context = context.cast();
            (*this).shared.record = record;
            (*this).shared.key = header.key;
            (*this).shared.k = header.k;
            (*this).shared.num_paths = header.num_paths;
            (*this).shared.mode = mode;
            (*this).shared.forest.step = step::address();
            match mode {
                Mode::Automaton => Builder { room, forest: this }.begin().ok()?,
                Mode::Counting => {}
                Mode::Published => Slabs::begin(&raw mut (*this).shared.forest, header.k),
            }
        }
        Some(this)
    }

    /// The node of ∗.
    ///
    /// # Safety
    /// `this` is a forest of nodes, or of none yet.
    pub unsafe fn start(this: *mut Self) -> *mut Node {
        // SAFETY: the caller's; the field is shared only through atomics.
        unsafe {
            let start = AtomicU64::from_ptr(&raw mut (*this).shared.forest.start);
            match start.load(Ordering::Acquire) {
                0 => null_mut(),
                word => table::node_of(word),
            }
        }
    }

    /// The state of which nothing is known.
    ///
    /// # Safety
    /// `this` is a forest of nodes.
    pub unsafe fn unknown(this: *mut Self) -> Word {
        // SAFETY: the caller's.
        unsafe { table::word_of((*this).shared.unknown) }
    }

    /// The k-SF, where Algorithm 4 is carried out as published.
    unsafe fn slabs(this: *mut Self) -> *mut Slabs {
        // SAFETY: the caller gives a forest of that mode.
        unsafe { Slabs::of(&raw mut (*this).shared.forest) }
    }

    /// Counts an event that emitted code has not found, and that takes the lock; the state after
    /// it.
    ///
    /// # Safety
    /// `this` is in a context whose lock the caller holds; one of its states leads or has led to
    /// `table`.
    pub unsafe fn count(
        this: *mut Self,
        room: &mut Room,
        table: *mut Slot,
        event: Event,
        why: Locked,
    ) -> Word {
        // SAFETY: the caller's.
        unsafe {
            let node = table::owner(table);
            if why == Locked::Sample {
                Self::note_sample(this, room, table, event.label);
            }
            Builder { room, forest: this }.count(node, event)
        }
    }

    /// Sees to it that fewer events take the way that many have.
    unsafe fn note_sample(this: *mut Self, room: &mut Room, table: *mut Slot, label: u32) {
        // SAFETY: the caller's.
        unsafe {
            let shared = &raw mut (*this).shared;
            let node = table::owner(table);
            if table::table_of(table::word_of(node)) != table {
                (*shared).stale += SAMPLE;
                if (*shared).stale >= LEAST_STALE + (*shared).slots / 4 {
                    Self::refresh_all(this);
                }
            } else {
                Builder { room, forest: this }.spread(node, label);
            }
            if room.is_time_to_look() {
                Self::lengthen_all((*Self::context(this)).forests(), room);
            }
        }
    }

    /// Looks at all slots that lead to shorter states than they should.
    #[inline(never)]
    unsafe fn lengthen_all(first: *mut Self, room: &mut Room) {
        // SAFETY: the caller holds the context's lock.
        unsafe {
            let forests =
                || Self::list(first).filter(|&this| (*this).shared.mode == Mode::Automaton);
            // The hottest first, as long as there is memory.
            for least in [1 << 12, 1 << 6] {
                for this in forests() {
                    Self::for_each_entry(this, |entry| {
                        Builder { room, forest: this }.lengthen(entry, least);
                    });
                }
            }
            // What was made may be a longer suffix than the one that is known.
            for node in forests().flat_map(|this| Self::nodes(this)) {
                let suffix = (*node).suffix;
                if !suffix.is_null() && (*suffix).length + 1 < (*node).length {
                    (*node).suffix = null_mut();
                }
            }
            room.note_look(forests().map(|this| u64::from((*this).shared.slots)).sum());
        }
    }

    /// A function of its own, so that a step takes little stack as long as nothing is refreshed.
    #[inline(never)]
    unsafe fn refresh_all(this: *mut Self) {
        // SAFETY: the caller holds the context's lock.
        unsafe {
            (*this).shared.stale = 0;
            (*this).shared.slots = 0;
            Self::for_each_entry(this, |entry| {
                entry.lead_to(table::word_of(table::node_of(entry.next())));
                (*this).shared.slots += 1;
            });
        }
    }

    /// Visits all paths in the tables of all nodes.
    ///
    /// # Safety
    /// The caller holds the lock of the forest's context.
    unsafe fn for_each_entry(this: *mut Self, mut visit: impl FnMut(Entry)) {
        // SAFETY: the caller's.
        unsafe {
            for node in Self::nodes(this) {
                let table = Table::of(node);
                for index in 0..table.size {
                    if let Some(label) = table.label(index) {
                        visit(Entry { node, slot: table.slot(index), label });
                    }
                }
            }
        }
    }

    /// All nodes, the youngest first.
    ///
    /// # Safety
    /// As for [`Self::for_each_entry`].
    unsafe fn nodes(this: *mut Self) -> impl Iterator<Item = *mut Node> {
        let some = |node: *mut Node| (!node.is_null()).then_some(node);
        // SAFETY: the caller's; nodes are never freed.
        unsafe { core::iter::successors(some((*this).shared.nodes), move |&at| some((*at).next)) }
    }
}

/// Words of marks for that many paths.
fn mark_words(num_paths: u32) -> usize {
    num_paths.div_ceil(64) as usize
}
