//! The node that stands in where none can be made: there is no memory, the record is refused, or
//! the runtime was entered from a function that it called itself.
//!
//! All threads share it. What is called from there has no context either; how often that was is
//! stated when the profile is written.

use crate::contexts::tree;
use core::cell::UnsafeCell;
use core::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use midflight_abi::contexts::{ContextNode, MOST_SLOTS};

#[repr(C, align(16))]
struct Stand {
    node: UnsafeCell<ContextNode>,
    slots: [*mut ContextNode; MOST_SLOTS as usize],
}

// SAFETY: it is only reached through raw pointers. Emitted code adds to its counter without
// synchronisation, and additions may get lost; nothing but a lower bound is taken from it.
unsafe impl Sync for Stand {}

// SAFETY: integers and raw pointers may be zero.
static STAND: Stand = unsafe { core::mem::zeroed() };

static IS_READY: AtomicBool = AtomicBool::new(false);

/// Whether a node is the one that stands in.
pub fn is_fallback(node: *mut ContextNode) -> bool {
    node == STAND.node.get()
}

/// The node that stands in.
pub fn node() -> *mut ContextNode {
    let node = STAND.node.get();
    if !IS_READY.load(Ordering::Acquire) {
        // SAFETY: the static is a node with that many slots. Any number of threads may write the
        // same at once.
        unsafe {
            (*node).slots = MOST_SLOTS as u16;
            (*node).parent = node;
            (*node).back = tree::slot(node, 0);
            tree::empty_slots(node);
        }
        IS_READY.store(true, Ordering::Release);
    }
    node
}

fn count() -> &'static AtomicU64 {
    // SAFETY: the counter is valid, and reached by atomics here.
    unsafe { AtomicU64::from_ptr(&raw mut (*STAND.node.get()).count) }
}

/// Activations that were lost here; a lower bound where threads lost some at the same time.
pub fn lost() -> u64 {
    count().load(Ordering::Relaxed)
}

pub fn clear() {
    count().store(0, Ordering::Relaxed);
}
