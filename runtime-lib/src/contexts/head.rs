//! What stands before each node of the process, where functions need it: see [`ContextHead`].
//!
//! Whether it does is decided before the first node is made: an image that comes later, and needs
//! it, has no contexts.

use crate::contexts::time;
use core::sync::atomic::{AtomicU8, Ordering};
use midflight_abi::RecordHeader;
use midflight_abi::contexts::{ContextHead, ContextNode, FLAG_CONTEXTS, KIND_FOLDED};

/// Whether heads stand before nodes.
static HEADS: AtomicU8 = AtomicU8::new(UNDECIDED);

const UNDECIDED: u8 = 0;
const NO: u8 = 1;
const YES: u8 = 2;

/// Whether heads stand before nodes.
pub fn are_there() -> bool {
    HEADS.load(Ordering::Relaxed) == YES
}

/// What a function needs is there from now on, unless nodes were made without. It may run before
/// its image is registered.
pub fn prepare(record: &RecordHeader) {
    if is_needed(record) && want() && time::is_timed(record) {
        time::want();
    }
}

/// Heads are to stand before nodes, as a function needs it. False: there are nodes without.
pub fn want() -> bool {
    _ = HEADS.compare_exchange(UNDECIDED, YES, Ordering::AcqRel, Ordering::Relaxed);
    are_there()
}

/// A node is about to be made: if nobody has wanted heads, there are none.
pub fn decide() {
    _ = HEADS.compare_exchange(UNDECIDED, NO, Ordering::AcqRel, Ordering::Relaxed);
}

/// Whether a function needs heads before nodes.
pub fn is_needed(record: &RecordHeader) -> bool {
    record.flags & FLAG_CONTEXTS != 0 && record.k != 0
}

/// Whether a function's record says that recursion is folded.
pub fn is_folded(record: &RecordHeader) -> bool {
    record.flags & FLAG_CONTEXTS != 0 && record.k & KIND_FOLDED != 0
}

/// Whether several activations that are under way may have a node, as recursion is folded.
///
/// # Safety
/// It is a node of a tree.
pub unsafe fn is_shared(node: *mut ContextNode) -> bool {
    // SAFETY: the caller's.
    are_there() && unsafe { !(*of(node)).goes_on.is_null() }
}

/// Bytes before each node.
pub fn size() -> usize {
    if are_there() { size_of::<ContextHead>() } else { 0 }
}

/// That of a node.
pub fn of(node: *mut ContextNode) -> *mut ContextHead {
    node.cast::<ContextHead>().wrapping_sub(1)
}
