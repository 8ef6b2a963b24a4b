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
//!             state = forest->start               // the marker ∗ of thesis 3.2.2
//! on a path:  place = state's table + hash(id)    // automaton mode, see below
//!             if place->key == id + 1 and place->count < 2^31:
//!                 place->count += 1
//!                 state = place->next
//!             else: state = midflight_step(state, id, forest)
//!             forest's counter[id] += 1           // counting mode, see FLAG_COUNTING
//! ```
//!
//! In counting mode a path may be counted before it ends, when it is clear how it most likely will;
//! `counter[id] -= 1` undoes that on another way.
//!
//! Where Algorithm 4 is carried out as it was published (see [`FLAG_PUBLISHED`]), an activation has a
//! [`Cursor`] in its frame in the place of the state, and all else is the runtime's:
//!
//! ```text
//! on entry:   cursor.n = 0; cursor.tau = null     // the marker ∗
//! on a path:  midflight_published_step(&cursor, id, forest)
//! ```
//!
//! `state` is an SSA value of the activation, so recursion, threads and calls in between leave it
//! undisturbed.
//!
//! # States
//!
//! A state of the automaton is a 64-bit *word*: the address of a table of [`Slot`]s in its lower 48
//! bits, and above them the number of slots less one, times the size of a slot. So the slot that a
//! path ID may be in is found without a load, and the only load that an event has to wait for is
//! that of the slot's `next`, the state after it:
//!
//! ```text
//! place = (state mod 2^48) + ((state >> 48) and hash(id))
//! ```
//!
//! with [`hash`]. In functions of at most [`DENSE_PATHS`] paths a table has a slot for each path, and
//! the word is its address alone: `place = state + id * 16`.
//!
//! A slot that does not hold the ID, that is empty, or whose counter is half full is left to
//! [`STEP_SYMBOL`]. The key is read first, by an acquiring load: a signal handler may fill a slot at
//! any time, and writes the key last.
#![forbid(unsafe_code)]
#![no_std]

pub mod memory;
pub mod osr;

use core::ffi::c_void;

/// Version of everything in this crate. The runtime refuses records of another version.
pub const ABI_VERSION: u16 = 3;

/// Name of the read-only ELF section that holds the records. It is a C identifier, so that the
/// linker defines `__start_…` and `__stop_…` symbols for it.
pub const RECORD_SECTION: &str = "midflight_tables";

/// Name of the read-only ELF section that tells which functions were left alone: for each the name of the
/// function and that of the reason, both ended by a zero byte. Only the command reads it.
pub const SKIPPED_SECTION: &str = "midflight_skipped";

/// `fn(record: *const RecordHeader, slot: *mut *mut Forest) -> *mut Forest`: makes the calling
/// thread's forest for a function, stores it in the slot and returns it. Never returns null.
pub const ENTER_SYMBOL: &str = "midflight_enter";

/// `fn(state: u64, id: u32, forest: *mut Forest) -> u64`: one step of Algorithm 4 for path `id`, where
/// the emitted code has not found it. Counts the node reached and returns the state after it.
pub const STEP_SYMBOL: &str = "midflight_step";

/// `fn(state: u64, id: u32, n: u64, forest: *mut Forest) -> u64`: the same for `n` events in a row, all
/// of path `id`. Called where a loop is left of which emitted code has counted the rounds.
pub const RUN_SYMBOL: &str = "midflight_run";

/// `fn(cursor: *mut Cursor, id: u32, forest: *mut Forest)`: one event of Algorithm 4 as published, in
/// functions with [`FLAG_PUBLISHED`].
pub const PUBLISHED_STEP_SYMBOL: &str = "midflight_published_step";

/// Called before the process ends, or becomes another program, without running destructors:
/// `void midflight_before_end(void)`.
pub const BEFORE_END_SYMBOL: &str = "midflight_before_end";

/// What emitted code calls in the place of libc's `sigaction`.
pub const SIGACTION_SYMBOL: &str = "midflight_sigaction";

/// What emitted code calls in the place of libc's `signal`.
pub const SIGNAL_SYMBOL: &str = "midflight_signal";

/// What emitted code calls in the place of libc's `__sysv_signal`.
pub const SYSV_SIGNAL_SYMBOL: &str = "midflight_sysv_signal";

/// The largest k that can be asked for.
pub const MAX_K: u32 = 64;

/// [`RecordHeader::flags`]: the function was instrumented late in the pipeline.
pub const FLAG_LATE: u16 = 1 << 0;

/// [`RecordHeader::flags`]: counting mode. Emitted code adds to the counters behind the [`Forest`], one
/// `u64` a path, and never calls [`STEP_SYMBOL`]. Used when k is 1, and when every stream of the function has length 1 (it has
/// no cut edge), where all of a k-SF is its roots.
pub const FLAG_COUNTING: u16 = 1 << 1;

/// [`RecordHeader::flags`]: Algorithm 4 as it was published, with two cursors in a forest that the
/// runtime keeps; emitted code calls [`PUBLISHED_STEP_SYMBOL`] for each path, and nothing is counted by
/// itself. Excludes [`FLAG_COUNTING`]; k is 2 or more.
pub const FLAG_PUBLISHED: u16 = 1 << 2;

/// First bytes of a profile file. As in PNG, the odd bytes catch transfers that change line ends.
pub const PROFILE_MAGIC: [u8; 8] = *b"\x89MFP\r\n\x1a\n";

/// Version of the profile file format.
pub const PROFILE_VERSION: u32 = 3;

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

/// Functions with at most so many paths have a slot for each in every table.
pub const DENSE_PATHS: u32 = 4;

/// Low bits of a word that are an address.
pub const WORD_ADDRESS_BITS: u32 = 48;

/// Most slots that a word can speak of.
pub const MOST_SLOTS: u32 = 1 << (64 - WORD_ADDRESS_BITS - SLOT_SHIFT);

/// Binary logarithm of the size of a [`Slot`].
pub const SLOT_SHIFT: u32 = 4;

/// Factor of [`hash`]: 2^32 over the golden ratio.
pub const HASH_FACTOR: u32 = 0x9E37_79B1;

/// Shift of [`hash`].
pub const HASH_SHIFT: u32 = 12;

/// Where a path's slot is, in bytes from the table's beginning, after it was masked with the upper
/// bits of a word.
#[inline(always)]
pub fn hash(id: u32) -> u32 {
    id.wrapping_mul(HASH_FACTOR) >> HASH_SHIFT
}

/// A child in the k-SF: the edge to it and its counter.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Slot {
    /// The state after this child: that of its node, or of its τ where it is at full depth.
    pub next: u64,
    /// The child's label, a path ID, plus one. 0: the slot is empty.
    pub key: u32,
    /// The child's counter. From 2^31 on emitted code leaves it alone, and the runtime empties it
    /// into a larger one.
    pub count: u32,
}

/// What one thread has counted in one function. In counting mode the counters follow, one `u64` for
/// each path.
#[derive(Debug)]
#[repr(C)]
pub struct Forest {
    /// The state of an activation that has just begun; its table has the roots of the k-SF.
    pub start: u64,
    /// Activations begun.
    pub entries: u64,
    /// Events after which the stream was restarted because memory ran out: counts of paths longer
    /// than one acyclic path are lower bounds then.
    pub restarts: u64,
    /// Events that could not be counted at all, because memory ran out.
    pub lost: u64,
    /// Events that were counted in their sequences and then, since those were rare, at their roots.
    pub pruned: u64,
}

/// What an activation keeps of Algorithm 4 (thesis 3.2.3), in its frame, where that is carried out as
/// published.
#[derive(Debug)]
#[repr(C)]
pub struct Cursor {
    /// n: paths since the marker ∗, modulo k − 1. Line 6 asks for no more.
    pub n: u64,
    /// τ (top): the current node of the upper slab, or null
    pub tau: *mut c_void,
    /// β (bottom): the current node of the lower slab, or null. Line 7 sets it before it is read.
    pub beta: *mut c_void,
}

/// Words of a [`Cursor`], for emitted code.
pub const CURSOR_WORDS: usize = core::mem::size_of::<Cursor>() / core::mem::size_of::<u64>();

/// Byte offset of [`Cursor::tau`], for emitted code; `n` is at 0.
pub const CURSOR_TAU_OFFSET: usize = core::mem::offset_of!(Cursor, tau);

/// Byte offset of [`Forest::start`], for emitted code.
pub const FOREST_START_OFFSET: usize = core::mem::offset_of!(Forest, start);

/// Byte offset of [`Forest::entries`], for emitted code.
pub const FOREST_ENTRIES_OFFSET: usize = core::mem::offset_of!(Forest, entries);

/// Byte offset of the first counter in counting mode, for emitted code.
pub const FOREST_COUNTERS_OFFSET: usize = core::mem::size_of::<Forest>();

/// Byte offset of [`Slot::key`], for emitted code; `next` is at 0.
pub const SLOT_KEY_OFFSET: usize = core::mem::offset_of!(Slot, key);

/// Byte offset of [`Slot::count`], for emitted code.
pub const SLOT_COUNT_OFFSET: usize = core::mem::offset_of!(Slot, count);

const _: () = assert!(core::mem::size_of::<Slot>() == 1 << SLOT_SHIFT);
