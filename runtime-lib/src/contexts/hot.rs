//! Hot calling contexts in bounded memory: Space-Saving over the nodes of a tree (thesis 3.1.3), by
//! `midflight_profile::contexts`.
//!
//! Emitted code counts at nodes that are monitored, whose record is their function's. The others'
//! is another value, so that each activation there comes to the runtime, which lets the node be
//! monitored in the place of the one with the least count, and removes that, and those above it
//! that lead to no monitored node any more.
//!
//! An activation holds its node while others are removed. Those that are under way are above the
//! one that is entered, or have a frame above it where recursion is folded, and stay. Where a
//! thread has several stacks, or frames were left, that need not be so: the memory of a node that
//! was removed is used for nodes of the same function alone, and a cursor that leads there counts
//! in another context of the function, and writes nowhere else.
//!
//! All of it is done under the lock of the tree's context. A handler that comes meanwhile has no
//! context, and reads a tree whose rings are whole.

use crate::arena::{Arena, Purpose};
use crate::config;
use crate::contexts::function::Function;
use crate::contexts::head;
use crate::contexts::paths;
use crate::contexts::time;
use crate::contexts::tree::{self, FIRST, FREE, MONITORED, Tree};
use crate::contexts::walk::Walk;
use core::ffi::CStr;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering, compiler_fence};
use midflight_abi::contexts::ContextNode;
use midflight_abi::memory::Monitored;
use midflight_profile::contexts::Share;
use midflight_profile::contexts::hot_contexts::{self, ContextTree};
use midflight_profile::contexts::lazy_queue::{Counters, Entries};
use midflight_profile::contexts::space_saving::{self, Monitor, SpaceSaving};

/// What of the trees is kept.
pub const VARIABLE: &CStr = c"MIDFLIGHT_CONTEXTS";

/// φ and ε, as [`Share::bits`]; 0 where all is kept.
static PHI: AtomicU64 = AtomicU64::new(0);
static EPSILON: AtomicU64 = AtomicU64::new(0);

/// Whether only hot contexts are kept.
pub fn is_wanted() -> bool {
    PHI.load(Ordering::Relaxed) != 0
}

/// φ and ε, where only hot contexts are kept.
pub fn shares() -> Option<(f64, f64)> {
    let of = |share: &AtomicU64| Share::of_bits(share.load(Ordering::Relaxed)).number();
    is_wanted().then(|| (of(&PHI), of(&EPSILON)))
}

/// Reads what the environment says.
pub fn configure() {
    /// The thesis's choice (5.1.2), and so is the relation of both.
    const DEFAULT: &[u8] = b"0.0001";
    const PART: u64 = 5;
    let Some(value) = config::variable(VARIABLE) else { return };
    let mut words = value.split(|&byte| byte == b':');
    let mode = words.next();
    let phi = Share::parse(words.next().unwrap_or(DEFAULT));
    let epsilon = words.next().map_or(phi.and_then(|phi| phi.part(PART)), Share::parse);
    match (mode, phi, epsilon, words.next()) {
        (Some(b"cct"), ..) if value == b"cct" => {}
        (Some(b"hcct"), Some(phi), Some(epsilon), None) if epsilon.bits() != 0 && epsilon < phi => {
            PHI.store(phi.bits(), Ordering::Relaxed);
            EPSILON.store(epsilon.bits(), Ordering::Relaxed);
        }
        _ => config::tell_unusable(
            VARIABLE,
            value,
            "it is cct, or hcct with shares as in hcct:0.0001 or hcct:1e-4:2e-5",
            "using 'cct'",
        ),
    }
}

/// What a tree has of its monitored nodes.
pub struct Hot {
    space_saving: SpaceSaving,
    entries: Entered,
    /// The frame of the activation that enters
    pub frame: u64,
}

/// M, the array of monitored nodes.
struct Entered {
    /// The array, as others find it in a file.
    shared: Monitored,
    capacity: usize,
}

impl Entries<*mut ContextNode> for Entered {
    fn get(&self, index: usize) -> Option<*mut ContextNode> {
        let Monitored { nodes, len, .. } = self.shared;
        // SAFETY: the index is below the number of entries.
        (index < len).then(|| unsafe { *nodes.add(index) })
    }

    fn push(&mut self, node: *mut ContextNode) -> bool {
        let Monitored { nodes, len, .. } = &mut self.shared;
        if *len == self.capacity {
            return false;
        }
        // SAFETY: there is room for one more.
        unsafe { *nodes.add(*len) = node };
        *len += 1;
        true
    }

    fn replace(&mut self, index: usize, node: *mut ContextNode) {
        if index < self.shared.len {
            // SAFETY: as above.
            unsafe { *self.shared.nodes.add(index) = node };
        }
    }
}

impl Hot {
    /// None of a tree of which all is kept.
    pub const fn new() -> Self {
        let shared = Monitored { nodes: null_mut(), len: 0 };
        let entries = Entered { shared, capacity: 0 };
        Self { space_saving: SpaceSaving::new(), entries, frame: 0 }
    }

    /// What others find of it in a file.
    pub fn shared(&self) -> *const Monitored {
        &raw const self.entries.shared
    }

    /// Whether only hot contexts are kept.
    pub fn is_kept(&self) -> bool {
        self.entries.capacity != 0
    }

    /// Begins, where only hot contexts are wanted. `None`: there is no memory.
    pub fn begin(&mut self, arena: &mut Arena) -> Option<()> {
        if !is_wanted() {
            return Some(());
        }
        let entries = Share::of_bits(EPSILON.load(Ordering::Relaxed)).entries()?;
        let entries = usize::try_from(entries).ok()?;
        let bytes = entries.checked_mul(size_of::<*mut ContextNode>())?;
        self.entries.shared.nodes = arena.allocate(bytes, Purpose::Growth)?.as_ptr().cast();
        self.entries.capacity = entries;
        Some(())
    }

    /// The greatest count that a context may have had that is not monitored.
    pub fn floor(&self) -> u64 {
        self.space_saving.floor()
    }

    /// Counts from zero, where all counts are zero.
    pub fn clear(&mut self) {
        self.space_saving = SpaceSaving::new();
    }
}

/// Activations that were counted.
///
/// # Safety
/// The lock of the tree's context is held, or its thread is the caller's and not in the runtime.
pub unsafe fn total(this: *const Tree) -> u64 {
    let nodes = Nodes::of(this.cast_mut());
    // SAFETY: the caller's.
    space_saving::total(unsafe { &(*this).hot.entries }, &nodes)
}

/// Lets a node be monitored that is entered. Emitted code counts the activation.
///
/// # Safety
/// The lock of the tree's context is held by its thread; `node` is one of its nodes.
pub unsafe fn monitor(this: *mut Tree, node: *mut ContextNode) {
    // SAFETY: the caller's.
    unsafe {
        if (*node).site & MONITORED == 0 {
            let hot = &raw mut (*this).hot;
            let (space_saving, entries) = (&mut (*hot).space_saving, &mut (*hot).entries);
            hot_contexts::monitor(node, space_saving, entries, &mut Nodes::of(this));
        } else {
            // Its image was unloaded meanwhile.
            tree::resume(this, node);
        }
    }
}

/// Removes what was under way when its turn was, and is no longer; but not `stays`, nor what is
/// above it.
///
/// # Safety
/// The lock of the tree's context is held by its thread; `stays` is one of its nodes.
pub unsafe fn sweep(this: *mut Tree, stays: *mut ContextNode) {
    // SAFETY: the caller's; what is removed is behind the walk, and no ancestor of where it is.
    unsafe {
        let mut nodes = Nodes { tree: this, stays };
        let mut walk = Walk::new((*this).root());
        let mut last = None;
        while let Some((node, _)) = walk.next(|_| true) {
            if let Some(last) = last.replace(node) {
                hot_contexts::prune(last, &mut nodes);
            }
        }
        if let Some(last) = last {
            hot_contexts::prune(last, &mut nodes);
        }
    }
}

/// The nodes of a tree.
struct Nodes {
    tree: *mut Tree,
    /// One that is not to be removed, or null
    stays: *mut ContextNode,
}

impl Nodes {
    fn of(tree: *mut Tree) -> Self {
        Self { tree, stays: null_mut() }
    }
}

impl Counters for Nodes {
    type Node = *mut ContextNode;

    fn count(&self, node: *mut ContextNode) -> u64 {
        // SAFETY: nodes are never unmapped.
        unsafe { AtomicU64::from_ptr(&raw mut (*node).count).load(Ordering::Relaxed) }
    }
}

impl Monitor for Nodes {
    fn is_monitored(&self, node: *mut ContextNode) -> bool {
        // SAFETY: as above.
        unsafe { (*node).site & MONITORED != 0 }
    }

    fn start(&mut self, node: *mut ContextNode, count: u64) {
        // SAFETY: as above; the lock is held.
        unsafe {
            // Who reads a file finds the counts of what is monitored, and a bound for the victim.
            (*self.tree).shared.floor.store(count, Ordering::Relaxed);
            AtomicU64::from_ptr(&raw mut (*node).count).store(count, Ordering::Relaxed);
            (*node).error = count;
            compiler_fence(Ordering::SeqCst);
            (*node).site |= MONITORED;
            compiler_fence(Ordering::SeqCst);
            tree::resume(self.tree, node);
        }
    }

    fn stop(&mut self, node: *mut ContextNode) {
        // SAFETY: as above.
        unsafe {
            (*node).site &= !MONITORED;
            tree::suspend(self.tree, node);
        }
    }

    fn increment(&mut self, node: *mut ContextNode) {
        // SAFETY: as above.
        unsafe { (*node).count = (*node).count.wrapping_add(1) };
    }
}

impl ContextTree for Nodes {
    fn parent(&self, node: *mut ContextNode) -> Option<*mut ContextNode> {
        // SAFETY: as above.
        let parent = unsafe { (*node).parent };
        // SAFETY: as above.
        (!unsafe { tree::is_root(parent) }).then_some(parent)
    }

    fn is_leaf(&self, node: *mut ContextNode) -> bool {
        // SAFETY: as above.
        unsafe { (0..tree::slots(node)).all(|n| tree::is_empty(*tree::slot(node, n), node)) }
    }

    fn is_pinned(&self, node: *mut ContextNode) -> bool {
        // One that was removed is not removed again. One in which recursion goes on may be under
        // way while its activation has called what is entered further up. SAFETY: as above.
        unsafe {
            let is_under_way = (*node).frame > (*self.tree).hot.frame;
            let was_removed = (*node).slots & FREE != 0;
            was_removed || node == self.stays || head::is_shared(node) && is_under_way
        }
    }

    fn remove(&mut self, node: *mut ContextNode) {
        // SAFETY: as above.
        unsafe { remove(self.tree, node) };
    }
}

/// Takes a leaf out of its ring, and keeps its memory for another node of the function. Whatever a
/// handler sees of this, it finds the end of the ring.
unsafe fn remove(this: *mut Tree, node: *mut ContextNode) {
    // SAFETY: the caller's.
    unsafe {
        let parent = (*node).parent;
        let at = AtomicPtr::from_ptr(tree::slot_of(node));
        let next = (*node).next;
        if next == node {
            at.store(tree::empty(parent), Ordering::Release);
        } else {
            let mut before = next;
            while (*before).next != node {
                before = (*before).next;
            }
            if at.load(Ordering::Relaxed) == node {
                at.store(before, Ordering::Release);
            }
            (*next).site |= (*node).site & FIRST;
            AtomicPtr::from_ptr(&raw mut (*before).next).store(next, Ordering::Release);
        }
        compiler_fence(Ordering::SeqCst);
        paths::forget(node);
        if time::are_taken() {
            let time = time::of(node).load(Ordering::Relaxed);
            (*this).shared.removed_time.fetch_add(time, Ordering::Relaxed);
        }
        if let Some(function) = (*this).function(node) {
            (*node).frame = 0;
            (*node).slots |= FREE;
            (*node).next = (*function).free;
            (*function).free = node;
        }
    }
}

/// Memory of a node of a function that was removed.
///
/// # Safety
/// The lock of the tree's context is held by its thread.
pub unsafe fn take_free(function: *mut Function) -> *mut ContextNode {
    // SAFETY: the caller's.
    unsafe {
        let node = (*function).free;
        if !node.is_null() {
            (*function).free = (*node).next;
        }
        node
    }
}
