//! A thread's forest for a function: how it is made, and grows.

mod read;
mod rebuild;
mod stack;

pub use self::read::Visit;

use self::stack::Stack;
use crate::arena::{Arena, Purpose};
use crate::paths::baseline::Counter;
use crate::paths::context::Context;
use crate::paths::counter;
use crate::paths::node::{self, Builder, Child, Node, START_LEVEL, Word};
use crate::paths::published::Slabs;
use crate::paths::step;
use core::mem::offset_of;
use midflight_abi::memory;
use midflight_abi::{Forest, Mode, RecordHeader, Slot};

/// Lookups in outgrown tables that are put up with in any forest.
const LEAST_STALE: u32 = 64;

/// Of so many detours one is taken to tell where there are many.
pub const DETOURS: u32 = 128;

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

    /// Makes an empty forest. `None`: there is no memory for it.
    ///
    /// # Safety
    /// `record` is a usable record.
    pub unsafe fn create(
        arena: &mut Arena,
        nodes: &mut Arena,
        context: *mut Context,
        record: *const RecordHeader,
    ) -> Option<*mut Self> {
        // SAFETY: the caller's.
        let header = unsafe { &*record };
        let mode = header.mode()?;
        let (words, purpose) = match mode {
            Mode::Automaton => (0, Purpose::Root),
            Mode::Counting => {
                (header.num_paths as usize + mark_words(header.num_paths), Purpose::Growth)
            }
            Mode::Published => (size_of::<Slabs>() / size_of::<u64>(), Purpose::Root),
        };
        let bytes = words.checked_mul(size_of::<u64>())?.checked_add(size_of::<Self>())?;
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
                Mode::Automaton => {
                    let mut builder = Self::builder(this, nodes, Purpose::Root);
                    builder.new_start().ok()?;
                    (*this).shared.start = builder.start;
                }
                Mode::Counting => {}
                Mode::Published => Slabs::begin(&raw mut (*this).shared.forest, header.k),
            }
        }
        Some(this)
    }

    /// # Safety
    /// `this` is a forest whose context's lock the caller holds.
    unsafe fn builder(this: *mut Self, arena: &mut Arena, purpose: Purpose) -> Builder<'_> {
        // SAFETY: the caller's.
        unsafe {
            Builder {
                arena,
                start: (*this).shared.start,
                start_word: &raw mut (*this).shared.forest.start,
                k: (*this).shared.k,
                num_paths: (*this).shared.num_paths,
                purpose,
            }
        }
    }

    /// The k-SF, where Algorithm 4 is carried out as published.
    unsafe fn slabs(this: *mut Self) -> *mut Slabs {
        // SAFETY: the caller gives a forest of that mode.
        unsafe { Slabs::of(&raw mut (*this).shared.forest) }
    }

    /// The child that an event leads to which emitted code has not found, if it is there all the
    /// same.
    ///
    /// # Safety
    /// `table` is one that a state of the forest leads to or has led to.
    #[inline]
    pub unsafe fn look_up(table: *mut Slot, label: u32) -> Option<Child> {
        // SAFETY: the caller's.
        unsafe {
            let node = node::owner(table);
            if node::is_pruned(node) { None } else { Self::known(node, label) }
        }
    }

    /// The child of a node, if it is there and can be counted without the lock.
    #[inline]
    unsafe fn known(node: *mut Node, label: u32) -> Option<Child> {
        // SAFETY: the caller gives a node that is not pruned.
        unsafe { node::find(node, label).filter(|child| !child.has_overflowed()) }
    }

    /// The root that an event leads to whose place is not there, where no nodes are made for the
    /// time being; and whether an activation restarts with it.
    ///
    /// # Safety
    /// As for [`Self::look_up`].
    #[inline]
    pub unsafe fn look_up_root(
        this: *mut Self,
        table: *mut Slot,
        label: u32,
    ) -> Option<(Child, bool)> {
        // SAFETY: the caller's.
        unsafe {
            let root = Self::known((*this).shared.start, label)?;
            Some((root, (*node::owner(table)).level != START_LEVEL))
        }
    }

    /// Counts an event that no lookup has found, or that is one of many that took a detour: builds
    /// what is missing, and returns the state after it. None: there is no room.
    ///
    /// # Safety
    /// `this` is in a context whose lock the caller holds; one of its states leads or has led to
    /// `table`.
    pub unsafe fn build(
        this: *mut Self,
        arena: &mut Arena,
        table: *mut Slot,
        label: u32,
    ) -> Option<Word> {
        // SAFETY: the caller's.
        unsafe {
            let mut node = node::owner(table);
            if node::is_pruned(node) {
                if (*node).level != START_LEVEL {
                    return None;
                }
                node = (*this).shared.start;
            } else if node::table_of(node::word_of(node)) != table {
                Self::note_stale(this);
            } else {
                Self::builder(this, arena, Purpose::Spread).spread(node, label);
            }
            count_child(&mut Self::builder(this, arena, Purpose::Growth), node, label, 1)
        }
    }

    /// Counts an event as if the activation had begun with it, since there is no room for its
    /// history. Where there is none for its root either, the event is lost.
    ///
    /// # Safety
    /// As for [`Self::build`].
    pub unsafe fn restart(
        this: *mut Self,
        arena: &mut Arena,
        table: *mut Slot,
        label: u32,
    ) -> Word {
        // SAFETY: the caller's.
        unsafe {
            let start = (*this).shared.start;
            let mut builder = Self::builder(this, arena, Purpose::Root);
            if let Ok(child) = builder.child(start, label) {
                if (*node::owner(table)).level != START_LEVEL {
                    Self::note_restarts(this, 1);
                }
                if builder.add(child, 1).is_ok() {
                    return child.next();
                }
            }
            counter::increment(&raw mut (*this).shared.forest.totals.lost);
            node::word_of(start)
        }
    }

    /// Notes that so many events of activations that were elsewhere are about to be counted at
    /// their roots. This comes first: a bound that is too large for a moment is right, one that is
    /// too small is not.
    ///
    /// # Safety
    /// `this` is a forest of the calling thread.
    pub unsafe fn note_restarts(this: *mut Self, n: u64) {
        // SAFETY: the caller's.
        unsafe { counter::add(&raw mut (*this).shared.forest.totals.restarts, n) };
    }

    /// After many lookups that outgrown tables have cost, makes no slot lead to one.
    unsafe fn note_stale(this: *mut Self) {
        // SAFETY: the caller holds the context's lock.
        unsafe {
            (*this).shared.stale += DETOURS;
            if (*this).shared.stale < LEAST_STALE + (*this).shared.slots / 4 {
                return;
            }
            Self::refresh_all(this);
        }
    }

    /// A function of its own, so that a step takes little stack as long as nothing is refreshed.
    #[inline(never)]
    unsafe fn refresh_all(this: *mut Self) {
        // SAFETY: the caller holds the context's lock.
        unsafe {
            (*this).shared.stale = 0;
            (*this).shared.slots = 0;
            Self::for_each_child(this, |_, child| {
                child.refresh();
                (*this).shared.slots += 1;
            });
        }
    }

    /// Visits all children of all nodes, each with what it is called in the baselines.
    ///
    /// # Safety
    /// The caller holds the lock of the forest's context, and it is not in counting mode.
    unsafe fn for_each_child(this: *mut Self, mut visit: impl FnMut(Counter, Child)) {
        let mut stack = Stack::new(this);
        // SAFETY: the caller's; a child was just found.
        unsafe {
            while let Some(child) = stack.next() {
                visit(stack.counter(child.label), child);
                stack.descend(child);
            }
        }
    }
}

/// Counts a child, which is made if it is missing; tells the state after it. None: there is no
/// memory.
unsafe fn count_child(
    builder: &mut Builder<'_>,
    node: *mut Node,
    label: u32,
    n: u64,
) -> Option<Word> {
    // SAFETY: the caller gives a node of the builder's forest.
    unsafe {
        let child = builder.child(node, label).ok()?;
        builder.add(child, n).ok()?;
        Some(child.next())
    }
}

/// Words of marks for that many paths.
fn mark_words(num_paths: u32) -> usize {
    num_paths.div_ceil(64) as usize
}
