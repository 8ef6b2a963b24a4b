//! Calling contexts: what emitted code and the runtime share.
//!
//! A calling context is a path in a tree: a *node* stands for a function that was called from a
//! call site of its parent's function, and counts the activations in that context. Each activation
//! has its node as an SSA value. A node has a *slot* for each call site of its function; a slot
//! leads to the child that was called from there last, and through it to all others.
//!
//! A thread has one *word*: the slot of the call that is under way. Who is called finds its node
//! there, also through frames that are not instrumented, and puts the word back when it returns:
//! so a library that calls back, and calls back again, has the callbacks where it was called.
//!
//! ```text
//! on entry:      node = *word.slot
//!                if node->record != &record or node->parent->frame <= frame:
//!                    node = midflight_context_enter(frame, &record)
//!                node->count += 1
//!                node->frame = frame                     // where there are calls
//! before a call: word.slot = &node->slots[site]
//! on return:     word.slot = node->back                  // where there are calls
//! ```
//!
//! `frame` is the address of the activation's return address. A frame that does not lie above that
//! of the function that is called was left without a return, by `longjmp` or an exception that went
//! through code that is not instrumented: then the runtime looks where the stack is.
//!
//! A call in tail position that is known to lead to an instrumented function has a slot, too. The
//! callee takes the place of its caller on the stack, and puts the word back as its caller would:
//! its `back` is its parent's. Before other calls in tail position the word is put back, since
//! nobody would do it later.
//!
//! # Bursts
//!
//! Where contexts are counted in bursts (static bursting, thesis 5.1.1), a function has two bodies.
//! Between bursts the one runs that was there, which neither has a node nor touches the word: an
//! activation of it is *outside*. During a burst a function's entry jumps to the other, which does
//! the above, and comes to the runtime if this is the first one of the thread in the burst, too:
//!
//! ```text
//! on entry:      if midflight_context_burst != 0: jump to the body for bursts
//! in that body:  if word.burst != midflight_context_burst: node = midflight_context_enter(…)
//! ```
//!
//! The runtime finds out by the unwinder which activations are outside, and makes nodes of theirs.
//! The `frame` of such a node is 0, so that what the activation calls comes to the runtime, which
//! knows the call site by the return address: both bodies have a [`ContextCall`] for each of them.
//! No call in tail position has a slot then, for which callers are gone an unwinder does not see.
//!
//! # Times
//!
//! Where times are taken, a [`ContextHead`] stands before each node. What has passed since the
//! thread's last entry or exit is the caller's time on entry, and the function's own on each way
//! out:
//!
//! ```text
//! on entry:      spend(node->parent)
//! on return:     spend(node)                      // and before each call in tail position
//! spend(node):   now = counter; node->head.time += now - word.last; word.last = now
//! ```
//!
//! So what is called and not instrumented takes the time of its caller, and who was left without a
//! return gives its time to who goes on. The counter is read before `last`, and the difference
//! saturates: a handler may have come in between.
//!
//! # Folded recursion
//!
//! Where recursion is folded (Ammons, Ball, Larus, PLDI 1997), a function that is called while it
//! is above already goes on in that node, where its callees are then. The call has a node of its
//! own all the same, which counts it and has no slots; the [`ContextHead`] of each node names the
//! one to go on in:
//!
//! ```text
//! on entry:      found = as above; found->count += 1
//!                node = found->head.goes_on
//!                before = node->frame
//! before a call: node->frame = frame              // it may be that of what was left
//!                word.slot = &node->slots[site]
//! on return:     word.slot = found->back
//!                node->frame = before
//! ```
//!
//! So only nodes that go on in themselves have slots, and are a call's context; there is none of
//! the same function above. No call in tail position has a slot then. What `back` is, is read on
//! entry: where only hot contexts are kept, `found` may be removed while its activation goes on.
//!
//! What a slot has is never null: while nothing was called from there it is the address of its own
//! node plus [`EMPTY`], behind which no record is found.

use crate::{Forest, RecordHeader};

/// `fn(frame: u64, record: *const RecordHeader) -> *mut ContextNode`: the node of an activation
/// that has not found it by itself. Never returns null.
pub const CONTEXT_ENTER_SYMBOL: &str = "midflight_context_enter";

/// The same on x86-64, but it is jumped to, with the frame in `rax`, the record in `r10` and in
/// `r11` where to go on, as [`SPARING_ENTER_SYMBOL`](crate::SPARING_ENTER_SYMBOL) is.
pub const SPARING_CONTEXT_ENTER_SYMBOL: &str = "midflight_context_enter_sparing";

/// As [`CONTEXT_ENTER_SYMBOL`], for a function that has one body, during a burst: the activation
/// is outside.
pub const CONTEXT_VISIT_SYMBOL: &str = "midflight_context_visit";

/// A `u32` that all threads read: the number of the burst that is under way; 0 between bursts.
pub const CONTEXT_BURST_SYMBOL: &str = "midflight_context_burst";

/// The section of [`ContextCall`]s.
pub const CALLS_SECTION: &str = "midflight_calls";

/// The thread-local [`ContextWord`], reached by the model `initial-exec`.
pub const CONTEXT_WORD_SYMBOL: &str = "midflight_context_word";

/// [`RecordHeader::flags`](crate::RecordHeader::flags): the record is about calling contexts. Then
/// `num_paths` is the number of slots of a node, `k` has bits (`KIND_…`), and `cfg_hash` is 0.
pub const FLAG_CONTEXTS: u16 = 1 << 4;

/// [`RecordHeader::flags`](crate::RecordHeader::flags), with [`FLAG_CONTEXTS`]: contexts are told
/// apart by the functions that call, not by their call sites. A node has one slot.
pub const FLAG_BY_FUNCTION: u16 = 1 << 5;

/// [`RecordHeader::flags`](crate::RecordHeader::flags): nothing was inlined any more behind the
/// instrumentation of the function, so that each activation has a frame of its own.
pub const FLAG_OWN_FRAME: u16 = 1 << 6;

/// [`RecordHeader::flags`](crate::RecordHeader::flags), with [`FLAG_CONTEXTS`]: contexts are
/// counted in bursts.
pub const FLAG_BURSTS: u16 = 1 << 7;

/// In [`RecordHeader::k`](crate::RecordHeader::k), with [`FLAG_CONTEXTS`]: times are taken.
pub const KIND_TIMED: u32 = 1 << 0;

/// In [`RecordHeader::k`](crate::RecordHeader::k), with [`FLAG_CONTEXTS`]: the paths of the
/// function are counted for each context, in the forest of the [`ContextHead`].
pub const KIND_PATHS: u32 = 1 << 2;

/// Added to the slot that [`ENTER_SYMBOL`](crate::ENTER_SYMBOL) gets: it is that of a
/// [`ContextHead`].
pub const IN_HEAD: usize = 1;
/// In [`RecordHeader::k`](crate::RecordHeader::k), with [`FLAG_CONTEXTS`]: recursion is folded.
pub const KIND_FOLDED: u32 = 1 << 1;

/// A call site in a body of a function that is counted in bursts. Linkers keep them in the order
/// of the code.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct ContextCall {
    /// Where the code of the call begins, from the address of this field
    pub place: i32,
    /// The function's record, from the address of this field
    pub record: i32,
    /// The number of the slot, [`CALL_OUTSIDE`] and [`CALL_LEFT`]
    pub site: u32,
}

/// In [`ContextCall::site`]: an activation in this body is outside.
pub const CALL_OUTSIDE: u32 = 1 << 31;

/// In [`ContextCall::site`]: the call is in tail position. If code generation makes no jump of it,
/// its caller is taken for gone all the same.
pub const CALL_LEFT: u32 = 1 << 30;

/// What a thread has of the call that is under way.
#[derive(Debug)]
#[repr(C)]
pub struct ContextWord {
    /// The slot of the call site
    pub slot: *mut *mut ContextNode,
    /// The thread's tree; used by the runtime alone, and so is what follows
    pub tree: *mut core::ffi::c_void,
    /// What a call site with several callees has called, by [`cached_at`]; null at first
    pub cache: *mut *mut ContextNode,
    /// The burst in which it was last found out what is outside, or [`NO_BURST`]
    pub burst: u64,
    /// What the counter was when a function of which times are taken was entered or left last
    pub last: u64,
}

/// What is the number of no burst, nor that of none.
pub const NO_BURST: u64 = u64::MAX;

/// Binary logarithm of the number of entries that a [`ContextWord::cache`] has.
pub const CACHE_BITS: u32 = 12;

/// Factor and shift of [`cached_at`].
pub const CACHE_FACTOR: u64 = 0x4E37_79B1;
/// See [`CACHE_FACTOR`].
pub const CACHE_SHIFT: u32 = 24;

/// The place in a [`ContextWord::cache`] of the node of a function that was called from a slot.
pub const fn cached_at(slot: u64, record: u64) -> usize {
    let hash = slot.wrapping_mul(5).wrapping_add(record).wrapping_mul(CACHE_FACTOR);
    (hash >> CACHE_SHIFT) as usize & ((1 << CACHE_BITS) - 1)
}

/// Stands before a node where functions need it: where times are taken, paths are counted for each
/// context, or recursion is folded.
#[derive(Debug)]
#[repr(C)]
pub struct ContextHead {
    /// Of no meaning: a node is aligned to 16 bytes
    pub reserved: u64,
    /// Where paths are counted for each context: their forest, once it is known
    pub forest: *mut Forest,
    /// The node in which an activation goes on: an ancestor of the same function, or the node
    /// itself. Null in a node of a function that does not fold recursion.
    pub goes_on: *mut ContextNode,
    /// How much of the counter its activations have taken, without what they have called
    pub time: u64,
}

/// Nanoseconds of a number of the counter, where `scale` is how many 2^32 of it are. It saturates.
pub const fn nanoseconds(counted: u64, scale: u64) -> u64 {
    let scaled = (counted as u128 * scale as u128) >> 32;
    if scaled > u64::MAX as u128 { u64::MAX } else { scaled as u64 }
}

/// Bytes that [`ContextHead::time`] is before its node.
pub const CONTEXT_TIME_BEFORE: usize =
    core::mem::size_of::<ContextHead>() - core::mem::offset_of!(ContextHead, time);

/// Bytes that [`ContextHead::forest`] is before its node.
pub const CONTEXT_FOREST_BEFORE: usize =
    core::mem::size_of::<ContextHead>() - core::mem::offset_of!(ContextHead, forest);
/// Bytes that [`ContextHead::goes_on`] is before its node.
pub const CONTEXT_GOES_ON_BEFORE: usize =
    core::mem::size_of::<ContextHead>() - core::mem::offset_of!(ContextHead, goes_on);

/// A node; its slots follow.
#[derive(Debug)]
#[repr(C)]
pub struct ContextNode {
    /// Activations in this context
    pub count: u64,
    /// The record of the function. Another value where activations must come to the runtime.
    pub record: *const RecordHeader,
    /// What the word is when an activation has returned
    pub back: *mut *mut ContextNode,
    /// The context of the call; its own in a root
    pub parent: *mut ContextNode,
    /// The frame of the activation that is under way; 0 where there was none. Where recursion is
    /// folded, that of the innermost one that has called; 0 where none is under way.
    pub frame: u64,
    /// The next node at the same call site, in a ring
    pub next: *mut ContextNode,
    /// The number of the slot in the parent; above [`SITE_BITS`] what the runtime notes
    pub site: u16,
    /// How many slots it has
    pub slots: u16,
    /// The lower half of the address where the code begins that the activation ran in which the
    /// node was made for; 0 where that is not known
    pub code: u32,
    /// By how much `count` may be too high
    pub error: u64,
}

/// What a slot has beside its node's address while nothing was called from there. Where
/// [`ContextNode::record`] would be is `back` then, which is no record's address.
pub const EMPTY: usize = 8;

/// Lower bits of [`ContextNode::site`] that are the number of a slot.
pub const SITE_BITS: u32 = 12;

/// Nodes have no more slots; the last one is that of all call sites that follow.
pub const MOST_SLOTS: u32 = 4096;
const _: () = assert!(MOST_SLOTS == 1 << SITE_BITS);

/// Size in bytes of a node without its slots.
pub const CONTEXT_NODE_SIZE: usize = core::mem::size_of::<ContextNode>();

/// Offset of [`ContextWord::burst`].
pub const WORD_BURST_OFFSET: usize = core::mem::offset_of!(ContextWord, burst);

/// Offset of [`ContextWord::last`].
pub const WORD_LAST_OFFSET: usize = core::mem::offset_of!(ContextWord, last);

/// Offset of [`ContextNode::record`].
pub const CONTEXT_RECORD_OFFSET: usize = core::mem::offset_of!(ContextNode, record);

/// Offset of [`ContextNode::back`].
pub const CONTEXT_BACK_OFFSET: usize = core::mem::offset_of!(ContextNode, back);

/// Offset of [`ContextNode::parent`].
pub const CONTEXT_PARENT_OFFSET: usize = core::mem::offset_of!(ContextNode, parent);

/// Offset of [`ContextNode::frame`].
pub const CONTEXT_FRAME_OFFSET: usize = core::mem::offset_of!(ContextNode, frame);

/// Offset of the slot of a call site.
pub const fn context_slot_offset(site: u32) -> usize {
    CONTEXT_NODE_SIZE + site as usize * core::mem::size_of::<*mut ContextNode>()
}
