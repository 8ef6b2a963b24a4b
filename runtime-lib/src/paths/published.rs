//! Algorithm 4 as it was published, for comparison with the automaton of `node`.
//!
//! A function that was compiled with `algorithm=published` has in each activation's frame a cursor
//! of n, τ and β ([`Cursor`]), and calls [`event`] for each path: the procedure
//! `process_bl_path_id` of thesis 3.2.3, whose lines are marked below. Nodes are as in thesis
//! 5.2.1: a first-child, next-sibling representation, of which the children are scanned (lines 13
//! and 21), and a hash table R of the roots (lines 8 and 10), here one for each function, so that
//! its key is the path ID alone.
//!
//! Nothing is pruned. Where memory runs out, an event is counted at its root as if the activation
//! had begun with it, which the profile states.
//!
//! # Interruptions
//!
//! An event whose nodes are all there takes no lock, and a signal handler that interrupts it may
//! make nodes of the same forest. Nodes and tables never move and are never freed; a node is whole
//! before one store makes it reachable, as is a table of roots. What is not found is looked up
//! again with all signals blocked and the context's lock held, and made there.

use crate::arena::{Arena, Purpose};
use crate::file::live;
use crate::paths::baseline::Counter;
use crate::paths::counter;
use crate::paths::forest::{ThreadForest, Visit};
use crate::process::signal::Blocked;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};
use midflight_abi::{Cursor, Forest, MAX_K, hash};

/// Places of the first table of roots.
const FIRST_TABLE: usize = 4;

/// Levels of the deepest forest: 2k−2.
const MAX_LEVELS: usize = 2 * MAX_K as usize - 2;

/// A node of the k-SF.
#[repr(C)]
pub struct Node {
    first_child: *mut Node,
    next_sibling: *mut Node,
    count: u64,
    label: u32,
    /// For what is written: 0 if nothing was counted in or below it, else one more than the number
    /// of its children of which that is not so.
    marked: u32,
}

/// The k-SF of a function, which follows its [`Forest`].
#[repr(C)]
pub struct Slabs {
    /// R, a hash table; null before there is a root. Replaced by one store where it grows.
    roots: *mut Roots,
    /// How many there are.
    used: usize,
    /// k − 1
    chunk: u64,
    /// For what is written: how many of them have a count in or below them.
    marked: u32,
}

/// A table of roots with linear probing, at most half full; its places follow.
#[repr(C)]
struct Roots {
    /// The number of places less one.
    mask: usize,
}

impl Roots {
    /// The place of a label: its root's, or the empty one where that would be.
    #[inline(always)]
    unsafe fn place(this: *mut Self, label: u32) -> *mut *mut Node {
        // SAFETY: the caller gives a table. It has empty places.
        unsafe {
            let (places, mask) = (this.add(1).cast::<*mut Node>(), (*this).mask);
            let mut index = hash(label) as usize & mask;
            loop {
                let place = places.add(index);
                let root = load(place);
                if root.is_null() || (*root).label == label {
                    return place;
                }
                index = (index + 1) & mask;
            }
        }
    }
}

/// A pointer that a signal handler may change.
unsafe fn load<T>(place: *mut *mut T) -> *mut T {
    // SAFETY: the caller gives a valid place, which is shared only through atomics.
    unsafe { AtomicPtr::from_ptr(place).load(Ordering::Acquire) }
}

unsafe fn store<T>(place: *mut *mut T, value: *mut T) {
    // SAFETY: as for `load`.
    unsafe { AtomicPtr::from_ptr(place).store(value, Ordering::Release) };
}

/// Counts path `r` (Algorithm 4 from line 6 on).
///
/// # Safety
/// As for `midflight_published_step`; the forest is not the one that stands in.
pub unsafe fn event(cursor: *mut Cursor, r: u32, forest: *mut Forest) {
    // SAFETY: the caller's.
    unsafe {
        let slabs = Slabs::of(forest);
        let parent = (*cursor).tau.cast::<Node>();
        let (mut beta, mut tau);
        if (*cursor).n == 0 {
            beta = parent; // 7
            tau = Slabs::find_root(slabs, r); // 8
            if tau.is_null() {
                tau = make(forest, null_mut(), r); // 10
            }
        } else {
            beta = (*cursor).beta.cast::<Node>();
            tau = find_child(parent, r); // 13
            if tau.is_null() {
                tau = make(forest, parent, r); // 15, 16
            }
        }
        if !beta.is_null() && !tau.is_null() {
            let parent = beta;
            beta = find_child(parent, r); // 21
            if beta.is_null() {
                beta = make(forest, parent, r); // 23, 24
                if beta.is_null() {
                    tau = null_mut();
                }
            }
        }
        if tau.is_null() {
            return restart(cursor, r, forest);
        }
        let counted = if beta.is_null() { tau } else { beta };
        counter::increment(&raw mut (*counted).count); // 27, 29
        let n = (*cursor).n + 1; // 31
        (*cursor).n = if n == (*slabs).chunk { 0 } else { n };
        ((*cursor).beta, (*cursor).tau) = (beta.cast(), tau.cast());
    }
}

/// The child of a node with a label, or null: a scan of its children.
unsafe fn find_child(parent: *mut Node, label: u32) -> *mut Node {
    // SAFETY: the caller gives a node.
    unsafe {
        let mut child = load(&raw mut (*parent).first_child);
        while !child.is_null() && (*child).label != label {
            child = (*child).next_sibling;
        }
        child
    }
}

/// Counts an event as if the activation had begun with it, since there is no room for its history.
/// Where there is none for its root either, it is lost.
#[cold]
unsafe fn restart(cursor: *mut Cursor, r: u32, forest: *mut Forest) {
    // SAFETY: the caller's.
    unsafe {
        let has_begun = !(*cursor).tau.is_null();
        ((*cursor).n, (*cursor).tau) = (0, null_mut());
        let slabs = Slabs::of(forest);
        let mut root = Slabs::find_root(slabs, r);
        if root.is_null() {
            root = make(forest, null_mut(), r);
        }
        if root.is_null() {
            return counter::increment(&raw mut (*forest).totals.lost);
        }
        // This comes first: a bound that is one too large for a moment is right, one too small is
        // not.
        if has_begun {
            counter::increment(&raw mut (*forest).totals.restarts);
        }
        counter::increment(&raw mut (*root).count);
        (*cursor).n = u64::from((*slabs).chunk != 1);
        ((*cursor).tau, (*cursor).beta) = (root.cast(), null_mut());
    }
}

/// The child of `parent` with that label, or the root where `parent` is null, made if it is
/// missing. Null: there is no memory, or the runtime was entered from a function that it has
/// called.
#[cold]
#[inline(never)]
unsafe fn make(forest: *mut Forest, parent: *mut Node, label: u32) -> *mut Node {
    // SAFETY: the caller's; the forests of contexts are in thread forests.
    unsafe {
        if live::is_stranger() {
            return null_mut();
        }
        let context = &*ThreadForest::context(ThreadForest::of(forest));
        let _signals = Blocked::new();
        let Some(_guard) = context.lock.lock_as_owner() else { return null_mut() };
        let arena = &mut (*context.data.get()).arena;
        let made = match parent.is_null() {
            true => Slabs::root(Slabs::of(forest), arena, label),
            false => child(arena, parent, label),
        };
        made.unwrap_or(null_mut())
    }
}

/// The caller holds the context's lock, with signals blocked.
unsafe fn child(arena: &mut Arena, parent: *mut Node, label: u32) -> Option<*mut Node> {
    // SAFETY: the caller's; the node is whole before it can be reached.
    unsafe {
        let known = find_child(parent, label);
        if !known.is_null() {
            return Some(known);
        }
        let node = new_node(arena, label, Purpose::Growth)?;
        (*node).next_sibling = (*parent).first_child;
        store(&raw mut (*parent).first_child, node);
        Some(node)
    }
}

fn new_node(arena: &mut Arena, label: u32, purpose: Purpose) -> Option<*mut Node> {
    let node = arena.allocate(size_of::<Node>(), purpose)?.as_ptr().cast::<Node>();
    // SAFETY: the arena has handed out aligned, zeroed memory of that size, which is a valid value.
    unsafe { (*node).label = label };
    Some(node)
}

impl Slabs {
    pub fn of(forest: *mut Forest) -> *mut Self {
        forest.wrapping_add(1).cast()
    }

    /// Makes one without roots, in zeroed memory.
    ///
    /// # Safety
    /// The memory behind the forest has room for it; k is 2 or more.
    pub unsafe fn begin(forest: *mut Forest, k: u32) {
        // SAFETY: the caller's.
        unsafe { (*Self::of(forest)).chunk = u64::from(k) - 1 };
    }

    /// find(R, r), or null.
    unsafe fn find_root(this: *mut Self, label: u32) -> *mut Node {
        // SAFETY: the caller's.
        unsafe {
            let roots = load(&raw mut (*this).roots);
            if roots.is_null() { null_mut() } else { load(Roots::place(roots, label)) }
        }
    }

    /// The caller holds the context's lock, with signals blocked.
    unsafe fn root(this: *mut Self, arena: &mut Arena, label: u32) -> Option<*mut Node> {
        // SAFETY: the caller's; the node is whole before it can be reached.
        unsafe {
            let known = Self::find_root(this, label);
            if !known.is_null() {
                return Some(known);
            }
            Self::make_room(this, arena)?;
            let node = new_node(arena, label, Purpose::Root)?;
            store(Roots::place((*this).roots, label), node);
            (*this).used += 1;
            Some(node)
        }
    }

    /// Keeps half of the table empty.
    unsafe fn make_room(this: *mut Self, arena: &mut Arena) -> Option<()> {
        // SAFETY: the caller's; the new table is whole before it takes the old one's place.
        unsafe {
            let old = (*this).roots;
            let size = if old.is_null() { 0 } else { (*old).mask + 1 };
            if (*this).used < size / 2 {
                return Some(());
            }
            let wanted = if size == 0 { FIRST_TABLE } else { size * 2 };
            let bytes = size_of::<Roots>() + wanted * size_of::<*mut Node>();
            let new = arena.allocate(bytes, Purpose::Root)?.as_ptr().cast::<Roots>();
            (*new).mask = wanted - 1;
            for index in 0..size {
                let root = load(old.add(1).cast::<*mut Node>().add(index));
                if !root.is_null() {
                    store(Roots::place(new, (*root).label), root);
                }
            }
            store(&raw mut (*this).roots, new);
            Some(())
        }
    }
}

/// What is written, paused and cleared. The caller of all holds the lock of the forest's context.
impl Slabs {
    /// Marks the nodes with a count in or below them, where `told` says what the profile has of a
    /// counter. Whether there are any.
    ///
    /// # Safety
    /// The context's lock is held.
    pub unsafe fn mark(this: *mut Self, told: impl Fn(Counter, u64) -> u64) -> bool {
        // SAFETY: the caller's.
        unsafe {
            (*this).marked = 0;
            let mut walk = Walk::new(this);
            while let Some(turn) = walk.next() {
                match turn {
                    Turn::Down { counter, node } => {
                        let count = told(counter, counter::read(&raw mut (*node).count));
                        (*node).marked = u32::from(count != 0);
                    }
                    Turn::Up { node, .. } if (*node).marked == 0 => {}
                    Turn::Up { parent, .. } if parent.is_null() => (*this).marked += 1,
                    Turn::Up { parent, .. } => (*parent).marked = (*parent).marked.max(1) + 1,
                }
            }
            (*this).marked != 0
        }
    }

    /// Number of marked roots.
    ///
    /// # Safety
    /// As for [`Self::mark`].
    pub unsafe fn roots(this: *mut Self) -> u32 {
        // SAFETY: the caller's.
        unsafe { (*this).marked }
    }

    /// Visits the marked nodes in preorder.
    ///
    /// # Safety
    /// As for [`Self::mark`], which was called under the same lock.
    pub unsafe fn walk<E>(
        this: *mut Self,
        told: impl Fn(Counter, u64) -> u64,
        mut visit: impl FnMut(Visit) -> Result<(), E>,
    ) -> Result<(), E> {
        // SAFETY: the caller's. Below a node that is not marked there is none that is.
        unsafe {
            let mut walk = Walk::new(this);
            while let Some(turn) = walk.next() {
                if let Turn::Down { counter, node } = turn
                    && let Some(children) = (*node).marked.checked_sub(1)
                {
                    let count = told(counter, counter::read(&raw mut (*node).count));
                    visit(Visit { label: (*node).label, count, children })?;
                }
            }
            Ok(())
        }
    }

    /// Visits the counters of all nodes, each with what it is called in the baselines.
    ///
    /// # Safety
    /// As for [`Self::mark`].
    pub unsafe fn for_each_counter(this: *mut Self, mut visit: impl FnMut(Counter, *mut u64)) {
        // SAFETY: the caller's.
        unsafe {
            let mut walk = Walk::new(this);
            while let Some(turn) = walk.next() {
                if let Turn::Down { counter, node } = turn {
                    visit(counter, &raw mut (*node).count);
                }
            }
        }
    }
}

/// A step of a walk.
enum Turn {
    /// To a node, before all below it; with what its counter is called in the baselines.
    Down { counter: Counter, node: *mut Node },
    /// From a node, behind all below it, to its parent, which is null for a root.
    Up { parent: *mut Node, node: *mut Node },
}

/// A walk over all nodes.
struct Walk {
    slabs: *mut Slabs,
    /// The next place in the table of roots
    place: usize,
    frames: [Frame; MAX_LEVELS],
    depth: usize,
}

/// A node on the way to where a walk is.
#[derive(Clone, Copy)]
struct Frame {
    node: *mut Node,
    /// The next of its children
    child: *mut Node,
}

impl Walk {
    fn new(slabs: *mut Slabs) -> Self {
        let empty = Frame { node: null_mut(), child: null_mut() };
        Self { slabs, place: 0, frames: [empty; MAX_LEVELS], depth: 0 }
    }

    /// The node that the walk is at, or null.
    fn node(&self) -> *mut Node {
        let at = self.depth.checked_sub(1).and_then(|top| self.frames.get(top));
        at.map_or(null_mut(), |frame| frame.node)
    }

    unsafe fn next(&mut self) -> Option<Turn> {
        // SAFETY: the caller holds the lock, so that nodes and tables stay as they are.
        unsafe {
            let top = self.depth.checked_sub(1).and_then(|top| self.frames.get_mut(top));
            let Some(&mut Frame { node, ref mut child }) = top else {
                let root = self.next_root()?;
                return self.descend(root);
            };
            if child.is_null() {
                self.depth -= 1;
                return Some(Turn::Up { parent: self.node(), node });
            }
            let next = *child;
            *child = (*next).next_sibling;
            self.descend(next)
        }
    }

    #[inline(always)]
    unsafe fn descend(&mut self, node: *mut Node) -> Option<Turn> {
        let parent = self.node();
        let owner = if parent.is_null() { self.slabs as usize } else { parent as usize };
        // SAFETY: the caller gives a node.
        unsafe {
            *self.frames.get_mut(self.depth)? = Frame { node, child: (*node).first_child };
            self.depth += 1;
            Some(Turn::Down { counter: Counter { owner, label: (*node).label }, node })
        }
    }

    unsafe fn next_root(&mut self) -> Option<*mut Node> {
        // SAFETY: as for `next`.
        unsafe {
            let roots = (*self.slabs).roots;
            while !roots.is_null() && self.place <= (*roots).mask {
                let root = *roots.add(1).cast::<*mut Node>().add(self.place);
                self.place += 1;
                if !root.is_null() {
                    return Some(root);
                }
            }
            None
        }
    }
}
