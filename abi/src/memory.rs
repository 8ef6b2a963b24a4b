//! The runtime's memory, as a file that it is mapped from has it.
//!
//! A program that is run with `%c` in `MIDFLIGHT_PROFILE` counts in such a file, which is a profile
//! for whoever reads it: while the program runs, and after it was killed. The file is mapped as one
//! piece from [`MemoryHeader::base`] on, and all pointers in it are addresses of the program: what
//! is at address `a` is at offset `a - base` of the file.
//!
//! ```text
//! header ──► images (a list)
//!    └─────► contexts (a list) ──► forests (a list) ──► nodes (a list) ──► tables of slots
//!                  ├──► baselines
//!                  └──► a tree of calling contexts ──► its root ──► slots ──► rings of nodes ──► …
//!                                  ├──► functions (a list)
//!                                  └──► the monitored nodes
//! ```
//!
//! The nodes of a tree are those of [`crate::contexts`]. The slot of a call site leads to one of a
//! ring of nodes, unless it is [empty](crate::contexts::EMPTY). A node's function is the one of the
//! tree's list that has its record or, where the node's record is the address of a
//! [`CalledFunction`] plus [`IS_FUNCTION`], that one.
//!
//! Whatever is reached from the header was whole before it could be reached, at each instruction of
//! the program. Memory that nothing leads to yet, or any more, is of no meaning. What takes more
//! than one store is arranged so that one of them decides: the docs of the fields tell which.

use crate::contexts::ContextNode;
use crate::{Forest, Mode, RecordHeader};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize};

/// First bytes of the file.
pub const MEMORY_MAGIC: [u8; 8] = *b"\x89MFC\r\n\x1a\n";

/// Version of the layouts in this module.
pub const MEMORY_VERSION: u32 = 6;

/// [`MemoryHeader::byte_order`], as the program's machine stores it.
pub const BYTE_ORDER: u32 = 0x0102_0304;

/// [`MemoryHeader::flags`]: the file could not grow, and the program went on in memory of its own.
/// What is here was counted before.
pub const MEMORY_FROZEN: u32 = 1 << 0;

/// [`MemoryHeader::flags`]: all counters are being set to zero.
pub const MEMORY_CLEARING: u32 = 1 << 1;

/// [`MemoryHeader::flags`]: some events were counted nowhere, for want of memory.
pub const MEMORY_LOST: u32 = 1 << 2;

/// [`MemoryHeader::flags`]: counting began while activations were under way, in a forked child or
/// after a reset.
pub const MEMORY_BEGAN_WITHIN: u32 = 1 << 3;

/// First bytes of the mapping and of the file.
#[derive(Debug)]
#[repr(C)]
pub struct MemoryHeader {
    /// [`MEMORY_MAGIC`]
    pub magic: [u8; 8],
    /// [`MEMORY_VERSION`]
    pub version: u32,
    /// [`BYTE_ORDER`]
    pub byte_order: u32,
    /// Bytes of a pointer: 8
    pub pointer_size: u32,
    /// [`crate::ABI_VERSION`]
    pub abi_version: u32,
    /// `MEMORY_…` bits
    pub flags: AtomicU32,
    /// ID of the process
    pub process: u32,
    /// How many changes were begun that a reader of the running program's file must not see halfway
    pub begun: AtomicU64,
    /// How many of them are over
    pub ended: AtomicU64,
    /// How often the profile was paused and resumed: it is paused while this is odd
    pub turns: AtomicU64,
    /// Address of this header
    pub base: u64,
    /// Bytes of the file that are in use
    pub length: AtomicU64,
    /// The first of the list of contexts
    pub contexts: AtomicPtr<Context>,
    /// The first of the list of images
    pub images: AtomicPtr<Image>,
    /// φ and ε, as the bits of an `f64`, where only hot calling contexts are kept; 0 where all are
    pub shares: [u64; 2],
    /// The node that stands in where no context can be given, or null: its count is how many
    /// activations have none
    pub elsewhere: AtomicPtr<ContextNode>,
    /// Where calling contexts are counted in bursts: nanoseconds from the beginning of one to that
    /// of the next, and of each; else 0. The second is set first
    pub bursts: [AtomicU64; 2],
    /// Where times are taken in calling contexts, a [`ContextHead`](crate::contexts::ContextHead)
    /// stands before each node: how many nanoseconds 2^32 of the counter are; else 0
    pub time_scale: AtomicU64,
}

/// An executable or a shared library with records.
#[derive(Debug)]
#[repr(C)]
pub struct Image {
    /// The image that was registered after it
    pub next: *mut Image,
    /// Address of the first byte of its records; 0 while it is not loaded
    pub start: AtomicUsize,
    /// Address of the first byte after them
    pub stop: AtomicUsize,
    /// Identity of its instrumented functions
    pub signature: u64,
    /// Path of its file
    pub path: *const u8,
    /// Bytes of the path
    pub path_len: usize,
}

/// What one thread counts, or several one after the other.
#[derive(Debug)]
#[repr(C)]
pub struct Context {
    /// The next of the list
    pub next: *mut Context,
    /// The first of the list of its forests
    pub forests: *mut ThreadForest,
    /// What is not to be told of its counters
    pub baselines: *const Baselines,
    /// Its calling contexts
    pub tree: *const ContextTree,
}

/// A tree of calling contexts.
#[derive(Debug)]
#[repr(C)]
pub struct ContextTree {
    /// The parent of all roots, with one slot; null in a tree that has not begun
    pub root: AtomicPtr<ContextNode>,
    /// The first of the list of its functions, of which each is put at the front before it has
    /// nodes
    pub functions: AtomicPtr<CalledFunction>,
    /// Where only hot contexts are kept: which are monitored
    pub monitored: *const Monitored,
    /// The greatest count that a context may have had that is not monitored
    pub floor: AtomicU64,
    /// How much of the counter contexts have taken that were removed
    pub removed_time: AtomicU64,
}

/// A function of a tree.
#[derive(Debug)]
#[repr(C, align(16))]
pub struct CalledFunction {
    /// The one that was made before it
    pub before: *mut CalledFunction,
    /// Its record; null while its image is not loaded
    pub record: AtomicPtr<RecordHeader>,
    /// Its image, once that was unloaded; null: the one that the record is in
    pub image: AtomicPtr<Image>,
    /// Identity of the function
    pub key: u64,
    /// How many call sites are told apart
    pub slots: u32,
    /// The runtime's own: the lower half of where its code begins, where it is never inlined; 0:
    /// that is not known
    pub code: u32,
    /// Its activations that could not be given a context
    pub elsewhere: AtomicU64,
    /// The runtime's own: memory of nodes that were removed, in a list
    pub free: *mut ContextNode,
    /// The runtime's own: the forest of paths in all contexts that have none of their own, or null
    pub forest: AtomicPtr<Forest>,
    /// The runtime's own: while a profile is written, its number there, if it was written
    pub number: u32,
    /// The runtime's own: whether `number` is that of the profile that is being written
    pub epoch: u32,
    /// The runtime's own: the next in a hash table
    pub next: *mut CalledFunction,
}

/// Set in [`ContextNode::record`] where that is the address of a [`CalledFunction`].
pub const IS_FUNCTION: usize = 1;

/// Noted in [`ContextNode::site`]: its activations are counted, where only hot contexts are kept.
pub const MONITORED: u16 = 1 << 15;
const _: () = assert!(crate::contexts::SITE_BITS < 15);

/// Noted in [`ContextNode::slots`]: the node was removed, and may be made another of its function.
pub const FREE: u16 = 1 << 15;

/// The nodes whose activations are counted, where only hot contexts are kept. Their counts together
/// are all activations.
#[derive(Debug)]
#[repr(C)]
pub struct Monitored {
    /// The array of their addresses
    pub nodes: *mut *mut ContextNode,
    /// How many there are
    pub len: usize,
}

/// What a context has counted in a function. In counting mode the counters follow, one `u64` for
/// each path.
#[derive(Debug)]
#[repr(C)]
pub struct ThreadForest {
    /// The context that it belongs to; null in the forest that stands in for all
    pub context: *mut Context,
    /// The function's record; null after its image was unloaded
    pub record: *const RecordHeader,
    /// The image of the record; null until it is looked up, by the record's address
    pub image: *mut Image,
    /// The next forest of the context
    pub next: *mut ThreadForest,
    /// Identity of the function
    pub key: u64,
    /// The function's k
    pub k: u32,
    /// The function's number of paths
    pub num_paths: u32,
    /// Whether there are nodes or counters; never [`Mode::Published`] in a file
    pub mode: Mode,
    /// The runtime's own: lookups since the last refresh that outgrown tables have cost
    pub stale: u32,
    /// The runtime's own: slots made
    pub slots: u32,
    /// The runtime's own: events in closed slots
    pub closed_events: u64,
    /// The list of all nodes, of which each is whole before it is put at the front; null in
    /// counting mode
    pub nodes: *mut Node,
    /// The runtime's own: the node of ε, where nothing is known of what came before; null in
    /// counting mode
    pub unknown: *mut Node,
    /// The runtime's own: bytes that its nodes and tables take
    pub bytes: u64,
    /// The node of the calling context that it counts in alone, or null; 1 if that was removed
    pub node: *mut ContextNode,
    /// What emitted code works on. The last field.
    pub forest: Forest,
}

/// A state of the automaton: a window of the last paths of an activation. Its labels, first to
/// last, have [`label_size`] bytes each, and begin where [`Self::labels`] stands.
#[derive(Debug)]
#[repr(C)]
pub struct Node {
    /// The state that leads here: the table of the paths that have followed. Replaced by one store
    /// where it grows; counts stay in the table that was outgrown.
    pub table: u64,
    /// The next node of the forest
    pub next: *mut Node,
    /// What few nodes have, or null
    pub extra: *mut Extra,
    /// The runtime's own: the node of the longest proper suffix that there was when it was last
    /// looked for; null: it was not
    pub suffix: *mut Node,
    /// The forest that it is of
    pub forest: *mut ThreadForest,
    /// Slots in use
    pub used: u16,
    /// How many labels the window has
    pub length: u8,
    /// What the window begins with
    pub kind: WindowKind,
    /// The runtime's own: events that had no place in the table, modulo 256
    pub misses: u8,
    /// The runtime's own: samples of events whose slots emitted code has not found in the table
    pub detours: u8,
    /// The first of the labels
    pub labels: [u8; 0],
}

/// What few nodes have.
#[derive(Debug)]
#[repr(C)]
pub struct Extra {
    /// The runtime's own: has the paths for which the table has no room, as a node of the same
    /// window that is in the list, too; or null
    pub more: *mut Node,
    /// What was taken out of counters that had overflowed: a list
    pub taken: *mut Taken,
}

/// What is known of the paths before a window. It is k − 1 paths long, or shorter for one of two
/// reasons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum WindowKind {
    /// It is as long as windows of states are: what came before does not matter.
    Full = 0,
    /// It is shorter, since the activation began with it (∗).
    Anchored = 1,
    /// It is shorter, since there was no room for a longer one or nothing is known of what came
    /// before (ε).
    Truncated = 2,
}

/// Bytes of a label in the windows of a function with so many paths.
pub const fn label_size(num_paths: u32) -> usize {
    match num_paths {
        0..=0x100 => 1,
        0x101..=0x1_0000 => 2,
        _ => 4,
    }
}

/// What was taken out of the counter of one slot in the node's table.
///
/// Taking out is done in this order: `sum` gets what `count` and the slot have together,
/// `is_taking` becomes 1, the slot 0, `count` gets the sum, and `is_taking` becomes 0. So while it
/// is 1, `sum` holds, and the slot does not count.
#[derive(Debug)]
#[repr(C)]
pub struct Taken {
    /// The next of the list
    pub next: *mut Taken,
    /// What was taken out
    pub count: u64,
    /// Holds while `is_taking` is 1
    pub sum: u64,
    /// The slot's label
    pub label: u32,
    /// Whether it is being done
    pub is_taking: u32,
}

/// Stands before a table's slots.
#[derive(Debug)]
#[repr(C)]
pub struct TableHead {
    /// The node whose table it is, or was
    pub node: *mut Node,
    /// The table that this one has replaced, as a state; 0: none
    pub before: u64,
}

/// What is not to be told of a context's counters, so that counting can be paused.
#[derive(Debug)]
#[repr(C)]
pub struct Baselines {
    /// The hash table, or null; replaced by one store where it grows
    pub table: *mut BaselineTable,
}

/// A hash table of [`Baseline`]s, which follow.
#[derive(Debug)]
#[repr(C)]
pub struct BaselineTable {
    /// How many follow; most of them empty
    pub size: usize,
}

/// What is not to be told of one counter.
///
/// The counter's owner is the address of a node, for a path in its table; of a forest, for the
/// field of its [totals](crate::Totals) with that number, from 0; of a forest plus
/// 1, for the path with that number in counting mode; or of a calling context, with the label 0 for
/// its count and 1 for its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Baseline {
    /// Whose counter it is; 0: the place is empty
    pub owner: usize,
    /// Which one
    pub label: u32,
    /// X of the counter while [`MemoryHeader::turns`] is even, and while it is odd: the profile has
    /// X while it is paused, else the counter less X
    pub numbers: [u64; 2],
}

#[cfg(target_pointer_width = "64")]
const _: () = {
    assert!(size_of::<MemoryHeader>() == 136 && size_of::<Image>() == 48);
    assert!(size_of::<Context>() == 32 && size_of::<ThreadForest>() == 144);
    assert!(size_of::<ContextTree>() == 40 && size_of::<CalledFunction>() == 80);
    assert!(size_of::<Monitored>() == 16);
    assert!(size_of::<Node>() == 48 && core::mem::offset_of!(Node, labels) == 46);
    assert!(size_of::<Taken>() == 32 && size_of::<Baseline>() == 32);
};
