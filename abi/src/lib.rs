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
//! on a path:  place = the slot that the path has in state's table, see below
//!             if it is the path's:
//!                 place->tally += 1
//!                 state = place->next
//!             else: state = forest->step(state, register, forest)
//!             forest's counter[id] += 1           // counting mode, see Mode
//! ```
//!
//! In counting mode a path may be counted before it ends, when it is clear how it most likely will;
//! `counter[id] -= 1` undoes that on another way.
//!
//! Where Algorithm 4 is carried out as it was published ([`Mode::Published`]), an activation has
//! a [`Cursor`] in its frame in the place of the state, and all else is the runtime's:
//!
//! ```text
//! on entry:   cursor.n = 0; cursor.tau = null     // the marker ∗
//! on a path:  midflight_published_step(&cursor, id, forest)
//! ```
//!
//! In counting mode emitted code may find the forest again behind calls, as on entry.
//!
//! `state` is an SSA value of the activation, so recursion, threads and calls in between leave it
//! undisturbed.
//!
//! # States
//!
//! A state of the automaton is a 64-bit *word* that leads to a table of [`Slot`]s, which is aligned
//! to the size of a slot. There are two kinds of tables, and the function's number of paths
//! decides. What the path register has for an ID is arranged so that there is little left to
//! compute ([`Register`]).
//!
//! **Dense** tables, in functions of few paths ([`is_dense`]), have a slot for each path. The
//! word is the address of the first slot's tally, and the register has the slot's distance in
//! bytes. A slot is empty while its `next` is 0:
//!
//! ```text
//! place->tally is at state + register, place->next before it
//! it is the path's if place->next != 0
//! ```
//!
//! **Sparse** tables are hash tables. The word is the table's address, shifted by [`WORD_SHIFT`],
//! and below it the number of slots less one, times the size of a slot. So the slot that a path may
//! be in is found without a load, and the only load that an event has to wait for is that of the
//! slot's `next`, the state after it. The register has the path's [`key`]:
//!
//! ```text
//! table = state >> 16
//! place = table + (hash(register) and state)
//! it is the path's if place->tally's upper half == register
//! ```
//!
//! A tally has the key in its upper half and counts in the lower one. Keys are even: a counter that
//! overflows makes the key an odd one, which is no path's, so that the runtime gets to see it. An
//! empty slot's key is 0. The runtime may *close* a slot, to see each of its events: it makes the
//! key odd, and counts from [`CLOSED`] on.
//!
//! The key, or `next`, is read first: a signal handler may fill a slot at any time, and writes last
//! what is read first.
//!
//! # Calls
//!
//! `fn step(state: u64, register: u32, forest: *mut Forest) -> u64` counts the path at the window
//! of the state and returns the state after it. Where the activation ends with the path, [`FINAL`]
//! is added to the forest, and the result has no meaning. Emitted code calls it where it has not
//! found the path, and where it does not look for it, since hardly anybody comes by.
//!
//! That is in the middle of code that wants its registers. On x86-64 it leaves all general ones but
//! `rax` and `r11` as they are, as LLVM's `preserve_most` has it. So it is called by
//! [`Forest::step`]: the dynamic linker, which looks a function up at its first call, keeps fewer.
#![forbid(unsafe_code)]
#![no_std]

pub mod contexts;
pub mod memory;
pub mod open;
pub mod osr;

use core::ffi::c_void;

/// Version of everything in this crate. The runtime refuses records of another version.
pub const ABI_VERSION: u16 = 8;

/// Name of the read-only ELF section that holds the records. It is a C identifier, so that the
/// linker defines `__start_…` and `__stop_…` symbols for it.
pub const RECORD_SECTION: &str = "midflight_tables";

/// Name of the read-only ELF section that tells which functions were left alone: for each the name
/// of the function and that of the reason, both ended by a zero byte. Only the command reads it.
pub const SKIPPED_SECTION: &str = "midflight_skipped";

/// `fn(record: *const RecordHeader, slot: *mut *mut Forest) -> *mut Forest`: makes the calling
/// thread's forest for a function, stores it in the slot and returns it. Never returns null.
pub const ENTER_SYMBOL: &str = "midflight_enter";

/// The same on x86-64, but it is jumped to, with the slot in `rax`, the record in `r10` and in
/// `r11` where to go on: there the result is in `rax`, and all other general registers and `xmm0`
/// to `xmm15` are what they were. The 128 bytes below the stack pointer are not touched, so that
/// code that has no frame yet needs none for this.
pub const SPARING_ENTER_SYMBOL: &str = "midflight_enter_sparing";

/// `fn(state: u64, id: u32, n: u64, forest: *mut Forest) -> u64`: `n` events in a row, all of path
/// `id`; returns the state after them. Called where a loop is left of which emitted code has
/// counted the rounds.
pub const RUN_SYMBOL: &str = "midflight_run";

/// `fn(cursor: *mut Cursor, id: u32, forest: *mut Forest)`: one event of Algorithm 4 as published,
/// in functions of [`Mode::Published`].
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

/// What emitted code calls in the place of libc's `sigset`.
pub const SIGSET_SYMBOL: &str = "midflight_sigset";

/// What emitted code calls in the place of libc's `sigaltstack`.
pub const SIGALTSTACK_SYMBOL: &str = "midflight_sigaltstack";

/// What emitted code calls in the place of libc's `daemon`.
pub const DAEMON_SYMBOL: &str = "midflight_daemon";

/// `void midflight_exit(int status)`: writes the profile and ends the process. libFuzzer is linked
/// with it in the place of `_Exit`.
pub const EXIT_SYMBOL: &str = "midflight_exit";

/// What the runtime exports, on other machines than x86-64 without [`SPARING_ENTER_SYMBOL`]. All
/// images of a process must use the same. A list, because gold knows no patterns.
pub const RUNTIME_SYMBOLS: [&str; 41] = [
    ENTER_SYMBOL,
    SPARING_ENTER_SYMBOL,
    RUN_SYMBOL,
    PUBLISHED_STEP_SYMBOL,
    BEFORE_END_SYMBOL,
    SIGACTION_SYMBOL,
    SIGNAL_SYMBOL,
    SYSV_SIGNAL_SYMBOL,
    SIGSET_SYMBOL,
    SIGALTSTACK_SYMBOL,
    DAEMON_SYMBOL,
    EXIT_SYMBOL,
    "midflight_register_image",
    "midflight_unregister_image",
    "midflight_register_calls",
    "midflight_unregister_calls",
    "midflight_profile_write",
    "midflight_profile_reset",
    "midflight_profile_pause",
    "midflight_profile_resume",
    "midflight_osr_register",
    "midflight_osr_unregister",
    osr::OSR_HIT_SYMBOL,
    osr::OSR_FUEL_SYMBOL,
    "midflight_osr_arm",
    "midflight_osr_disarm",
    "midflight_osr_count",
    "midflight_osr_flag",
    "midflight_osr_register_code",
    "midflight_osr_unregister_code",
    contexts::CONTEXT_ENTER_SYMBOL,
    contexts::SPARING_CONTEXT_ENTER_SYMBOL,
    contexts::CONTEXT_WORD_SYMBOL,
    contexts::CONTEXT_VISIT_SYMBOL,
    contexts::CONTEXT_BURST_SYMBOL,
    open::OPEN_SYMBOL,
    open::OPEN_EXIT_SYMBOL,
    "midflight_osr_register_open",
    "midflight_invalidate",
    "midflight_osr_generator",
    "midflight_osr_unregister_open",
];

/// The largest k that can be asked for.
pub const MAX_K: u32 = 64;

/// [`RecordHeader::flags`]: the function was instrumented late in the pipeline.
pub const FLAG_LATE: u16 = 1 << 0;

/// [`RecordHeader::flags`]: the function was instrumented after small functions had been inlined,
/// before the rest of the pipeline. Excludes [`FLAG_LATE`].
pub const FLAG_INLINED: u16 = 1 << 3;

/// [`RecordHeader::flags`]: its upper byte is the major version of the LLVM that compiled the
/// function.
pub const LLVM_SHIFT: u32 = 8;

/// First bytes of a profile file. As in PNG, the odd bytes catch transfers that change line ends.
pub const PROFILE_MAGIC: [u8; 8] = *b"\x89MFP\r\n\x1a\n";

/// Version of the profile file format.
pub const PROFILE_VERSION: u32 = 5;

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

impl RecordHeader {
    /// How the function counts; none if the flags name no mode.
    pub const fn mode(&self) -> Option<Mode> {
        Mode::of_flags(self.flags)
    }
}

/// How the paths of a function are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Mode {
    /// By the states of an automaton, of which emitted code has the step.
    #[default]
    Automaton,
    /// Emitted code adds to the counters behind the [`Forest`], one `u64` a path, and never calls
    /// [`Forest::step`]. For k = 1, and where every stream of the function has length 1 (it has no
    /// cut edge), so that all of a k-SF is its roots.
    Counting,
    /// By Algorithm 4 of the thesis as it was published, with two cursors in a forest that the
    /// runtime keeps: emitted code calls [`PUBLISHED_STEP_SYMBOL`] for each path, and nothing is
    /// counted by itself. k is 2 or more.
    Published,
}

impl Mode {
    /// Where the mode is in [`RecordHeader::flags`].
    const SHIFT: u32 = 1;

    /// The bits of [`RecordHeader::flags`] that name the mode.
    pub const FLAGS: u16 = 3 << Self::SHIFT;

    /// The mode that a byte stands for.
    pub const fn of_byte(byte: u8) -> Option<Self> {
        match byte {
            0 => Some(Self::Automaton),
            1 => Some(Self::Counting),
            2 => Some(Self::Published),
            _ => None,
        }
    }

    /// The mode that a record's flags name.
    pub const fn of_flags(flags: u16) -> Option<Self> {
        Self::of_byte(((flags & Self::FLAGS) >> Self::SHIFT) as u8)
    }

    /// The mode as flags of a record.
    pub const fn flags(self) -> u16 {
        (self as u16) << Self::SHIFT
    }
}

/// Size in bytes of a [`RecordHeader`].
pub const RECORD_HEADER_SIZE: usize = core::mem::size_of::<RecordHeader>();

/// Functions with more paths than so many have no dense tables.
pub const DENSE_PATHS: u32 = 4;

/// Functions that may come to more states than so many have no dense tables.
const DENSE_STATES: u32 = 256;

/// Whether a function has dense tables, whose windows of k − 1 paths are all soon there: no table
/// is ever dropped, shortened or watched by the runtime.
pub const fn is_dense(num_paths: u32, k: u32) -> bool {
    let states = num_paths.checked_pow(k.saturating_sub(1));
    num_paths <= DENSE_PATHS && matches!(states, Some(0..=DENSE_STATES))
}

/// Set in the forest that emitted code passes to the [step](self#calls) of a path at whose end the
/// activation ends: no state is needed behind it, and none is made.
pub const FINAL: u64 = 1;

/// A dense table's word is its address plus this, which distinguishes it from that of a sparse one.
pub const DENSE_OFFSET: u64 = SLOT_TALLY_OFFSET as u64;

/// How far left of a sparse table's word its address is.
pub const WORD_SHIFT: u32 = 16;

/// Most slots that a word can speak of.
pub const MOST_SLOTS: u32 = 1 << (WORD_SHIFT - SLOT_SHIFT);

/// Binary logarithm of the size of a [`Slot`].
pub const SLOT_SHIFT: u32 = 4;

/// Factor of [`key`]: 2^32 over the golden ratio, so that the upper bits of keys differ.
const KEY_FACTOR: u32 = 0x9E37_79B1;

/// What undoes a multiplication by [`KEY_FACTOR`].
const KEY_INVERSE: u32 = inverse(KEY_FACTOR);

/// Shift of [`hash`].
pub const HASH_SHIFT: u32 = 16;

/// Where the slot of a key is, in bytes from a sparse table's beginning, after it was masked with
/// the lower bits of the word.
#[inline(always)]
pub const fn hash(key: u32) -> u32 {
    key >> HASH_SHIFT
}

/// Most paths of a function: each has a [`key`] of its own.
pub const MOST_PATHS: u32 = (1 << 31) - 1;

/// The key of a path in sparse tables: even, and not 0. Sums of increments become keys when the
/// increments are multiplied by the factor; so the path register is a hash already.
pub const fn key(id: u32) -> u32 {
    id.wrapping_add(1).wrapping_mul(2).wrapping_mul(KEY_FACTOR)
}

/// The path of a key, though its counter may have overflowed.
pub const fn id_of_key(key: u32) -> u32 {
    ((key & !1).wrapping_mul(KEY_INVERSE) >> 1).wrapping_sub(1)
}

/// What an odd number times is 1, modulo 2^32, by Newton's iteration.
const fn inverse(odd: u32) -> u32 {
    // Right in the lowest three bits; each round doubles that.
    let mut inverse = odd;
    let mut round = 0;
    while round < 4 {
        inverse = inverse.wrapping_mul(2u32.wrapping_sub(odd.wrapping_mul(inverse)));
        round += 1;
    }
    inverse
}

/// What the path register of a function has for an ID: `id * factor + origin`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// What stands for 1
    pub factor: u32,
    /// What stands for 0
    pub origin: u32,
}

impl Register {
    /// That of a function that is not in counting mode.
    pub const fn new(num_paths: u32, k: u32) -> Self {
        match is_dense(num_paths, k) {
            true => Self { factor: 1 << SLOT_SHIFT, origin: 0 },
            false => Self { factor: key(1).wrapping_sub(key(0)), origin: key(0) },
        }
    }

    /// The ID that a register stands for.
    pub const fn id(self, register: u32) -> u32 {
        if self.origin == 0 { register / self.factor } else { id_of_key(register) }
    }

    /// What the register has for an ID.
    pub const fn value(self, id: u32) -> u32 {
        id.wrapping_mul(self.factor).wrapping_add(self.origin)
    }
}

/// A path that has followed a state's window: the counter of the window with it, and what follows.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Slot {
    /// The state after the path. Not 0 but in an empty slot, and in one of a dense table of which
    /// the runtime is to see each event.
    pub next: u64,
    /// In a dense table the counter. In a sparse one the path's [`key`] in the upper half, 0 in an
    /// empty slot, and the counter in the lower; the key's lowest bit is the counter's next.
    pub tally: u64,
}

/// How far left in a sparse table's tally the key is.
pub const KEY_SHIFT: u32 = 32;

/// What the counter of a closed slot begins with, in a sparse table's tally beside an odd key. One
/// that has overflowed is far below.
pub const CLOSED: u64 = 1 << (KEY_SHIFT - 1);

/// What has been counted in a slot of a sparse table, by its tally.
pub const fn count_of_tally(tally: u64) -> u64 {
    let (key, counter) = (tally >> KEY_SHIFT, tally & ((1 << KEY_SHIFT) - 1));
    match key & 1 {
        0 => counter,
        _ if counter >= CLOSED => counter - CLOSED,
        _ => counter + (1 << KEY_SHIFT),
    }
}

/// What one thread has counted in one function. In counting mode the counters follow, one `u64` for
/// each path.
#[derive(Debug)]
#[repr(C)]
pub struct Forest {
    /// The state of an activation that has just begun: that of the marker ∗.
    pub start: u64,
    /// What is counted besides paths.
    pub totals: Totals,
    /// Address of the [step](self#calls).
    pub step: u64,
}

/// What is counted in a function besides its paths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(C)]
pub struct Totals {
    /// Activations begun.
    pub entries: u64,
    /// Of [`Mode::Published`]: events after which a stream was restarted because memory ran out.
    /// Counts of paths longer than one acyclic path are lower bounds then.
    pub restarts: u64,
    /// Events that could not be counted at all, because memory ran out.
    pub lost: u64,
}

impl Totals {
    /// How many numbers it has.
    pub const LEN: usize = 3;

    /// The numbers in the order of the fields, as totals.
    pub const fn new([entries, restarts, lost]: [u64; Self::LEN]) -> Self {
        Self { entries, restarts, lost }
    }

    /// The numbers in the order of the fields.
    pub const fn numbers(self) -> [u64; Self::LEN] {
        [self.entries, self.restarts, self.lost]
    }

    /// What `operation` makes of each and the other of its kind; none if it makes nothing of one.
    pub fn with(self, other: Self, operation: fn(u64, u64) -> Option<u64>) -> Option<Self> {
        Some(Self {
            entries: operation(self.entries, other.entries)?,
            restarts: operation(self.restarts, other.restarts)?,
            lost: operation(self.lost, other.lost)?,
        })
    }

    /// Adds others. What would pass 2^64 − 1 stays there.
    pub fn add_saturating(&mut self, other: Self) {
        let sum = self.with(other, |a, b| Some(a.saturating_add(b)));
        *self = sum.unwrap_or(*self);
    }

    /// Whether memory was short, so that counts of paths may be lower bounds.
    pub const fn are_short(self) -> bool {
        self.restarts | self.lost != 0
    }
}

/// What an activation keeps of Algorithm 4 (thesis 3.2.3), in its frame, where that is carried out
/// as published.
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

/// Byte offset of [`Totals::entries`], for emitted code.
pub const FOREST_ENTRIES_OFFSET: usize = core::mem::offset_of!(Forest, totals.entries);

/// Byte offset of [`Forest::step`], for emitted code.
pub const FOREST_STEP_OFFSET: usize = core::mem::offset_of!(Forest, step);

/// Byte offset of the first counter in counting mode, for emitted code.
pub const FOREST_COUNTERS_OFFSET: usize = core::mem::size_of::<Forest>();

/// Byte offset of [`Slot::tally`], for emitted code; `next` is at 0.
pub const SLOT_TALLY_OFFSET: usize = core::mem::offset_of!(Slot, tally);

/// Byte offset of the key in a sparse table's slot, for emitted code.
pub const SLOT_KEY_OFFSET: usize = SLOT_TALLY_OFFSET + KEY_SHIFT as usize / 8;

const _: () = assert!(core::mem::size_of::<Slot>() == 1 << SLOT_SHIFT);
const _: () = assert!(cfg!(target_endian = "little"), "a key is behind its counter");
