//! The runtime's memory, as a file that it is mapped from has it.
//!
//! A program that is run with `%c` in `MIDFLIGHT_PROFILE` counts in such a file, which is a profile
//! for whoever reads it: while the program runs, and after it was killed. The file is mapped as one
//! piece from [`MemoryHeader::base`] on, and all pointers in it are addresses of the program: what
//! is at address `a` is at offset `a - base` of the file.
//!
//! ```text
//! header ──► images (a list)
//!    └─────► contexts (a list) ──► forests (a list) ──► start node ──► tables of slots ──► nodes …
//!                  └──► baselines
//! ```
//!
//! Whatever is reached from the header was whole before it could be reached, at each instruction of
//! the program. Memory that nothing leads to yet, or any more, is of no meaning. What takes more
//! than one store is arranged so that one of them decides: the docs of the fields tell which.

use crate::{Forest, Mode, RecordHeader};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize};

/// First bytes of the file.
pub const MEMORY_MAGIC: [u8; 8] = *b"\x89MFC\r\n\x1a\n";

/// Version of the layouts in this module.
pub const MEMORY_VERSION: u32 = 3;

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
    /// The start of the automaton; null in counting mode. Replaced by one store where the forest is
    /// pruned, after the new one is whole.
    pub start: *mut Node,
    /// What emitted code works on. The last field.
    pub forest: Forest,
}

/// A node of the k-SF that is not at full depth, or the forest's start.
#[derive(Debug)]
#[repr(C)]
pub struct Node {
    /// The state that leads here: the table of the children. Replaced by one store where it grows;
    /// counts stay in the table that was outgrown. 0: the node was dropped.
    pub table: u64,
    /// The τ of Algorithm 4 that belongs to it; null in the upper slab
    pub tau: *mut Node,
    /// The node in whose table the slot of this one is; null: there is none
    pub parent: *mut Node,
    /// What few nodes have, or null
    pub extra: *mut Extra,
    /// Its label
    pub label: u32,
    /// The runtime's own: for walks, how many children have a count in or below them; for pruning,
    /// the largest count below
    pub marked: u32,
    /// Slots in use
    pub used: u16,
    /// Depth of the node in the k-SF: 0 for a root, `u8::MAX` for the forest's start
    pub level: u8,
    /// Slots of a table that has one for each path; 0: it has not
    pub dense: u8,
    /// The runtime's own: whether this node has a count in or below it
    pub is_marked: bool,
}

/// What few nodes have.
#[derive(Debug)]
#[repr(C)]
pub struct Extra {
    /// Has the children for which the table has no room, as a node that stands beside this one
    pub more: *mut Node,
    /// What was taken out of counters that had overflowed: a list
    pub taken: *mut Taken,
}

/// What was taken out of the counter of one child in the node's table.
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
    /// The child's label
    pub label: u32,
    /// Whether it is being done
    pub is_taking: u32,
}

/// Stands before a table's slots.
#[derive(Debug)]
#[repr(C)]
pub struct TableHead {
    /// The node whose children it has
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
/// The counter's owner is the address of a node, for a child with the label; of a forest, for the
/// field of its [totals](crate::Totals) with that number, from 0; or of a forest plus
/// 1, for the path with that number in counting mode.
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
    assert!(size_of::<MemoryHeader>() == 88 && size_of::<Image>() == 48);
    assert!(size_of::<Context>() == 24 && size_of::<ThreadForest>() == 120);
    assert!(size_of::<Node>() == 48 && size_of::<Taken>() == 32 && size_of::<Baseline>() == 32);
};
