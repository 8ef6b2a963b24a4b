//! The node that stands in where none can be made: there is no memory, the record is refused, or
//! the runtime was entered from a function that it called itself.
//!
//! All threads share it. What is called from there has no context either; how often that was is
//! stated when the profile is written. Where the profile is in a file, the node is there, too.

use crate::arena::{Arena, Purpose};
use crate::contexts::head;
use crate::contexts::time;
use crate::contexts::tree;
use crate::file::live;
use core::cell::UnsafeCell;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU64, Ordering};
use midflight_abi::contexts::{ContextHead, ContextNode, MOST_SLOTS};

#[repr(C, align(16))]
struct Stand {
    head: UnsafeCell<ContextHead>,
    node: UnsafeCell<ContextNode>,
    slots: [*mut ContextNode; MOST_SLOTS as usize],
}

// SAFETY: it is only reached through raw pointers. Emitted code adds to its counter without
// synchronisation, and additions may get lost; nothing but a lower bound is taken from it.
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

/// Activations that were counted in a node.
fn count(node: *mut ContextNode) -> &'static AtomicU64 {
    // SAFETY: the counter is valid, never unmapped, and reached by atomics here.
    unsafe { AtomicU64::from_ptr(&raw mut (*node).count) }
}

/// Activations that were lost here; a lower bound where threads lost some at the same time.
pub fn lost() -> u64 {
    let mut sum = 0u64;
    for_each(|node| sum = sum.saturating_add(count(node).load(Ordering::Relaxed)));
    sum
}

pub fn clear() {
    for_each(|node| {
        count(node).store(0, Ordering::Relaxed);
        // SAFETY: a head stands before it.
        unsafe { time::of(node) }.store(0, Ordering::Relaxed);
    });
}
