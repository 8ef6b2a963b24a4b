//! What emitted code, the runtime library and the command agree on.
//!
//! Three parties meet here and nowhere else: the code that `path-profile-gen` inserts into a
//! program, the runtime library that this code calls, and the command that reads the program's
//! binary and its profile. A change to anything in this crate is a change of the ABI between a
//! compiled program and its runtime; raise [`ABI_VERSION`] with it.
//!
//! # The protocol of emitted code
//!
//! Every instrumented function `f` has a constant *record* in the section [`RECORD_SECTION`]
//! (a [`RecordHeader`] and a body that `midflight_profile::table` encodes), and a thread-local
//! *slot*: one pointer, null until the thread first enters `f`.
//!
//! ```text
//! on entry:   forest = *slot
//!             if forest is null: forest = midflight_enter(&record, &slot)
//!             forest->entries += 1
//!             state = forest                      // the marker ∗ of thesis 3.2.2
//! on a path:  state = midflight_step(state, id)   // automaton mode
//!             forest->counts[id] += 1             // counting mode, see FLAG_COUNTING
//! ```
//!
//! `state` is an SSA value of the activation, so recursion, threads and calls in between leave it
//! undisturbed. A [`Forest`] begins with a [`Node`], hence the start state is the forest itself.
#![no_std]

pub mod osr;

/// Version of everything in this crate. The runtime refuses records of another version.
pub const ABI_VERSION: u16 = 1;

/// Name of the read-only ELF section that holds the records. It is a C identifier, so that the
/// linker defines `__start_…` and `__stop_…` symbols for it.
pub const RECORD_SECTION: &str = "midflight_tables";

/// `fn(record: *const RecordHeader, slot: *mut *mut Forest) -> *mut Forest`: makes the calling
/// thread's forest for a function, stores it in the slot and returns it. Never returns null.
pub const ENTER_SYMBOL: &str = "midflight_enter";

/// `fn(state: *mut Node, id: u32) -> *mut Node`: one step of Algorithm 4 for path `id`. Counts the
/// node reached and returns the state after it. Never returns null.
pub const STEP_SYMBOL: &str = "midflight_step";

/// The largest k that can be asked for.
pub const MAX_K: u32 = 64;

/// [`RecordHeader::flags`]: the function was instrumented late in the pipeline.
pub const FLAG_LATE: u16 = 1 << 0;

/// [`RecordHeader::flags`]: counting mode. Emitted code adds to [`Forest::counts`] and never calls
/// [`STEP_SYMBOL`]. Used when k is 1, and when every stream of the function has length 1 (it has
/// no cut edge), where all of a k-SF is its roots.
pub const FLAG_COUNTING: u16 = 1 << 1;

/// First bytes of a profile file. As in PNG, the odd bytes catch transfers that change line ends.
pub const PROFILE_MAGIC: [u8; 8] = *b"\x89MFP\r\n\x1a\n";

/// Version of the profile file format.
pub const PROFILE_VERSION: u32 = 1;

/// Size in bytes of the header of a profile file.
pub const PROFILE_HEADER_SIZE: u32 = 64;

/// Head of a function's record, little-endian, aligned to 8 bytes.
///
/// Records follow each other in the section; the linker may put zero bytes between them, in
/// multiples of 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct RecordHeader {
    /// Size in bytes of the record with this header; a multiple of 8, never 0.
    pub size: u32,
    /// [`ABI_VERSION`] of the compiler.
    pub version: u16,
    /// `FLAG_…` bits.
    pub flags: u16,
    /// Identity of the function as compiled: a hash of all of the record but `size` and `key`.
    pub key: u64,
    /// Hash of the control flow graph that was numbered.
    pub cfg_hash: u64,
    /// Paths of up to `k` acyclic paths are profiled; 1 to [`MAX_K`].
    pub k: u32,
    /// Number of acyclic paths; IDs are below it.
    pub num_paths: u32,
}

/// Size in bytes of a [`RecordHeader`].
pub const RECORD_HEADER_SIZE: usize = core::mem::size_of::<RecordHeader>();

/// A state of the automaton: a node of the k-SF that is not at full depth, or the forest's start.
///
/// A node at full depth (level 2k−3) is only a [`Slot`]: its transitions are those of its τ.
#[derive(Debug)]
#[repr(C)]
pub struct Node {
    /// Hash table of the children, `mask + 1` slots; in counting mode `[u64; num_paths]`.
    pub slots: *mut Slot,
    /// Number of slots − 1; a power of two − 1.
    pub mask: u32,
    /// Slots in use.
    pub used: u32,
    /// While this node is β: the τ of Algorithm 4 that belongs to it. Null in the upper slab.
    pub tau: *mut Node,
    /// The forest that this node belongs to.
    pub forest: *mut Forest,
    /// Depth of the node in the k-SF: 0 for a root, [`START_LEVEL`] for the forest's start.
    pub level: u32,
    /// Padding; zero.
    pub reserved: u32,
}

/// [`Node::level`] of a forest's start.
pub const START_LEVEL: u32 = u32::MAX;

/// A child in the k-SF, keyed by its label: the edge to it and its counter.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Slot {
    /// The state after this child: its node, or its τ where it is at full depth. Null: empty slot.
    pub next: *mut Node,
    /// The child's label, a path ID.
    pub label: u32,
    /// Padding; zero.
    pub reserved: u32,
    /// The child's counter.
    pub count: u64,
}

/// What one thread has counted in one function.
#[derive(Debug)]
#[repr(C)]
pub struct Forest {
    /// The start state; its children are the roots of the k-SF.
    pub start: Node,
    /// Activations begun.
    pub entries: u64,
    /// Events after which the stream was restarted because memory ran out: counts of paths longer
    /// than one acyclic path are lower bounds then.
    pub restarts: u64,
    /// Events that could not be counted at all, because memory ran out.
    pub lost: u64,
}

/// Byte offset of [`Forest::entries`], for emitted code.
pub const FOREST_ENTRIES_OFFSET: usize = core::mem::offset_of!(Forest, entries);

/// Byte offset of [`Node::slots`] (`counts` in counting mode), for emitted code.
pub const NODE_SLOTS_OFFSET: usize = core::mem::offset_of!(Node, slots);
