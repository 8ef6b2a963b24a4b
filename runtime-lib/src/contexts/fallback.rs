//! The node that stands in where none can be made: there is no memory, the record is refused, or
//! the runtime was entered from a function that it called itself.
//!
//! All threads share it. What is called from there has no context either, and comes to the runtime,
//! which counts it for its function, in the thread's tree, or here where that has no room for the
//! function: both are stated when the profile is written. Where the profile is in a file, the node
//! is there, too.

use crate::arena::{Arena, Purpose};
use crate::contexts::head;
use crate::contexts::time;
use crate::contexts::tree::{self, Tree};
use crate::file::live;
use crate::paths::baseline;
use core::cell::UnsafeCell;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use midflight_abi::RecordHeader;
use midflight_abi::contexts::{ContextHead, ContextNode, MOST_SLOTS};

#[repr(C, align(16))]
struct Stand {
    head: UnsafeCell<ContextHead>,
    node: UnsafeCell<ContextNode>,
    slots: [*mut ContextNode; MOST_SLOTS as usize],
}

// SAFETY: it is only reached through raw pointers. Emitted code adds to its counter without
// synchronisation, and additions may get lost; nothing is taken from it.
unsafe impl Sync for Stand {}

// SAFETY: integers and raw pointers may be zero.
static STAND: Stand = unsafe { core::mem::zeroed() };

static IS_READY: AtomicBool = AtomicBool::new(false);

/// The one in the file, if there is one.
static IN_FILE: AtomicPtr<ContextNode> = AtomicPtr::new(null_mut());

/// Whether a node is the one that stands in.
pub fn is_fallback(node: *mut ContextNode) -> bool {
    node == STAND.node.get() || node == IN_FILE.load(Ordering::Acquire)
}

/// The node that stands in.
pub fn node() -> *mut ContextNode {
    let in_file = IN_FILE.load(Ordering::Acquire);
    if !in_file.is_null() {
        return in_file;
    }
    live::note_loss();
    let node = STAND.node.get();
    if !IS_READY.load(Ordering::Acquire) {
        // SAFETY: the static is a node with that many slots. Any number of threads may write the
        // same at once.
        unsafe { make(node) };
        IS_READY.store(true, Ordering::Release);
    }
    node
}

/// # Safety
/// There is memory for a head, and behind it for a node with that many slots.
unsafe fn make(node: *mut ContextNode) {
    // SAFETY: the caller's.
    unsafe {
        (*node).slots = MOST_SLOTS as u16;
        (*node).parent = node;
        (*node).back = tree::slot(node, 0);
        (*head::of(node)).goes_on = node;
        tree::empty_slots(node);
    }
}

/// Puts the node in the file that the program counts in, if there is one, before functions are
/// entered whose contexts are profiled. Under the process lock, of which the arena is.
pub fn put_in_file(arena: &mut Arena) {
    if !live::is_live() || !IN_FILE.load(Ordering::Acquire).is_null() {
        return;
    }
    let Some(memory) = arena.allocate(size_of::<Stand>(), Purpose::Root) else { return };
    let stand = memory.as_ptr().cast::<Stand>();
    // SAFETY: the memory has that size, and is zeroed.
    let node = unsafe { (*stand).node.get() };
    // SAFETY: as above.
    unsafe { make(node) };
    IN_FILE.store(node, Ordering::Release);
    live::set_elsewhere(node);
}

/// The nodes that stand in. A head stands before each.
pub fn for_each(visit: impl FnMut(*mut ContextNode)) {
    let nodes = [STAND.node.get(), IN_FILE.load(Ordering::Acquire)];
    nodes.into_iter().filter(|node| !node.is_null()).for_each(visit);
}

/// Activations of functions that are not known, which a node stood in for.
fn unknown(node: *mut ContextNode) -> &'static AtomicU64 {
    // SAFETY: the number is valid, never unmapped, and reached by atomics alone.
    unsafe { AtomicU64::from_ptr(&raw mut (*node).error) }
}

/// Counts an activation that the node stands in for, while the profile is not paused.
///
/// # Safety
/// As for [`Tree::know`], where there is a tree.
pub unsafe fn count(node: *mut ContextNode, tree: *mut Tree, record: *const RecordHeader) {
    if baseline::is_paused() {
        return;
    }
    // The memory of a stranger may be a copy that was made while the parent went on.
    let has_tree = !tree.is_null() && !live::is_stranger();
    // SAFETY: the caller's; functions are never freed.
    let function = if has_tree { unsafe { Tree::know_anywhere(tree, record) } } else { None };
    // SAFETY: as above.
    let counter = function.map_or(unknown(node), |function| unsafe { &(*function).elsewhere });
    counter.fetch_add(1, Ordering::Relaxed);
}

/// How many activations of functions that are not known have no context.
pub fn all_unknown() -> u64 {
    let mut sum = 0u64;
    for_each(|node| sum = sum.saturating_add(unknown(node).load(Ordering::Relaxed)));
    sum
}

pub fn clear() {
    for_each(|node| {
        unknown(node).store(0, Ordering::Relaxed);
        // SAFETY: a head stands before it.
        unsafe { time::of(node) }.store(0, Ordering::Relaxed);
    });
}
