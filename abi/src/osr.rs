//! On-stack replacement: what emitted code, the runtime and hosts agree on.
//!
//! A function with OSR points has one [`OsrFunction`] in the writable section [`OSR_SECTION`],
//! followed by the state of each of its *sites*. A site is a point in one version of the function:
//! a point of the base that is also a point of the continuation has two sites, which share the
//! point's number, name and hits. Emitted code refers to the function's record, so a linker that
//! drops unused sections keeps the record if and only if it keeps the code.
//!
//! # The protocol of emitted code
//!
//! ```text
//! flag:    fire if states[site].armed != 0
//! every:N  left = states[site].left - 1; fire if left == 0, and then left = N
//! fuzz:    fuel = midflight_osr_fuel - 1; midflight_osr_fuel = fuel
//!          if fuel <= 0 or states[point].armed != 0: fire if midflight_osr_hit(function, site)
//! patch:   a nop that is patched to a jump; its places are in OSR_PATCH_SECTION
//! firing:  states[site].transitions += 1 (not for fuzz, where midflight_osr_hit counts), then
//!          the continuation is called
//! ```
//!
//! All accesses are relaxed atomics; counts of several threads may lose increments under `flag`,
//! `every` and `patch`, never under `fuzz`.

use core::ffi::{c_char, c_void};

/// Name of the writable ELF section that holds the [`OsrFunction`]s.
pub const OSR_SECTION: &str = "midflight_osr";

/// Name of the read-only ELF section that holds the [`OsrPatch`]es.
pub const OSR_PATCH_SECTION: &str = "midflight_osr_patch";

/// Name of the ELF section in which a mutant of the plugin, which does something wrong for a test,
/// says in how many places it does: for each function a little-endian number of 8 bytes.
pub const OSR_MUTANT_SECTION: &str = "midflight_osr_mutant";

/// Version of everything in this module.
pub const OSR_VERSION: u16 = 1;

/// `fn(function: *mut OsrFunction, site: u32) -> bool`: decides whether a fuzzed site fires.
pub const OSR_HIT_SYMBOL: &str = "midflight_osr_hit";

/// `i64`, in the runtime: hits of fuzzed points until the runtime wants to be asked.
pub const OSR_FUEL_SYMBOL: &str = "midflight_osr_fuel";

/// [`OsrPointInfo::condition`]: every time.
pub const OSR_ALWAYS: u32 = 0;
/// [`OsrPointInfo::condition`]: the check is there, and nothing makes it true.
pub const OSR_NEVER: u32 = 1;
/// [`OsrPointInfo::condition`]: at the N-th hit of each activation.
pub const OSR_COUNT: u32 = 2;
/// [`OsrPointInfo::condition`]: every N-th hit of the site.
pub const OSR_EVERY: u32 = 3;
/// [`OsrPointInfo::condition`]: while it is armed.
pub const OSR_FLAG: u32 = 4;
/// [`OsrPointInfo::condition`]: while it is armed, at no cost while it is not.
pub const OSR_PATCH: u32 = 5;
/// [`OsrPointInfo::condition`]: as `MIDFLIGHT_OSR_FIRE` says.
pub const OSR_FUZZ: u32 = 6;

/// The names of conditions, in the order of their numbers.
pub const OSR_CONDITIONS: [&str; 7] =
    ["always", "never", "count", "every", "flag", "patch", "fuzz"];

/// Head of a function's record, followed by `sites` times [`OsrPointState`]. Aligned to 8.
///
/// Records follow each other in the section; the linker may put zero bytes between them, in
/// multiples of 8.
#[derive(Debug)]
#[repr(C)]
pub struct OsrFunction {
    /// Size in bytes of the record with its states; a multiple of 8, never 0.
    pub size: u32,
    /// [`OSR_VERSION`] of the compiler.
    pub version: u16,
    /// Padding; zero.
    pub reserved: u16,
    /// Number of points. Sites with lower numbers are those of the base version: site p is point
    /// p there.
    pub points: u32,
    /// Number of sites, at least `points`.
    pub sites: u32,
    /// Name of the function, as the linker knows it: a C string.
    pub name: *const c_char,
    /// Source file of the module, as it was given to the compiler: a C string.
    pub file: *const c_char,
    /// What is known of each site.
    pub infos: *const OsrPointInfo,
}

/// Size in bytes of an [`OsrFunction`], where its states begin.
pub const OSR_FUNCTION_SIZE: usize = core::mem::size_of::<OsrFunction>();

/// What is known of a site when it is compiled.
#[derive(Debug)]
#[repr(C)]
pub struct OsrPointInfo {
    /// Identity of the site; in every build the same for the same file, function, point and
    /// version.
    pub id: u64,
    /// Name of the point: that of its source marker, or `function#number`. A C string.
    pub name: *const c_char,
    /// Name of the version that the site is in. A C string.
    pub from: *const c_char,
    /// Name of the version that it leads to. A C string.
    pub to: *const c_char,
    /// Number of the point in its function.
    pub point: u32,
    /// Source line, 0 if it is not known.
    pub line: u32,
    /// `OSR_…` condition.
    pub condition: u32,
    /// N of `count:N` and `every:N`, else 0.
    pub number: u32,
}

/// What changes while the program runs.
#[derive(Debug, Default)]
#[repr(C)]
pub struct OsrPointState {
    /// Not 0: armed (flag), or the runtime wants to hear of each hit (fuzz).
    pub armed: u32,
    /// Under `every:N`, hits until it fires.
    pub left: u32,
    /// Under fuzz: how often the point was hit, as far as it was armed; in the state of the base
    /// version's site.
    pub hits: u64,
    /// How often the site has fired.
    pub transitions: u64,
}

/// Size in bytes of an [`OsrPointState`].
pub const OSR_STATE_SIZE: usize = core::mem::size_of::<OsrPointState>();
/// Byte offset of [`OsrPointState::left`], for emitted code; `armed` is at 0.
pub const OSR_STATE_LEFT: usize = core::mem::offset_of!(OsrPointState, left);
/// Byte offset of [`OsrPointState::transitions`], for emitted code.
pub const OSR_STATE_TRANSITIONS: usize = core::mem::offset_of!(OsrPointState, transitions);

/// A place in the code that is a nop while its point is not armed, and a jump while it
/// is. A point may have none, or many: code is dropped and duplicated.
///
/// On x86-64 they are 5 bytes that never cross a boundary of 8, on AArch64 an aligned word of 4.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct OsrPatch {
    /// Address of the nop, relative to the address of this field.
    pub nop: i32,
    /// Address to jump to, relative to the address of this field.
    pub target: i32,
    /// [`OsrPointInfo::id`] of the site.
    pub id: u64,
}

/// An integer value of [`OsrValue::bits`] bits.
pub const OSR_INTEGER: u32 = 0;
/// An IEEE binary floating-point value of [`OsrValue::bits`] bits.
pub const OSR_FLOAT: u32 = 1;
/// A pointer.
pub const OSR_POINTER: u32 = 2;
/// A value of another type, as it is laid out in memory.
pub const OSR_OTHER: u32 = 3;

/// A live value that a point hands to a host.
#[derive(Debug)]
#[repr(C)]
pub struct OsrValue {
    /// Its name in the IR, or that of the source variable. A C string.
    pub name: *const c_char,
    /// Where the value is until the host returns.
    pub address: *const c_void,
    /// `OSR_INTEGER`, …
    pub kind: u32,
    /// Its size in bits.
    pub bits: u32,
}

/// What a point hands to a host's callback, `void callback(struct midflight_osr_exit *)`.
///
/// The host does the rest of the activation's work, and stores what the function returns in
/// `result`.
#[derive(Debug)]
#[repr(C)]
pub struct OsrExit {
    /// [`OSR_VERSION`]
    pub version: u32,
    /// Number of live values.
    pub count: u32,
    /// Name of the function. A C string.
    pub function: *const c_char,
    /// Name of the point. A C string.
    pub point: *const c_char,
    /// The live values.
    pub values: *const OsrValue,
    /// Where the function's result goes; null if it returns none.
    pub result: *mut c_void,
    /// `OSR_INTEGER`, … of the result
    pub result_kind: u32,
    /// The result's size in bits, 0 if there is none.
    pub result_bits: u32,
}

/// Name of the read-only ELF section that holds the mappings of functions with two versions, if
/// they were asked for (`osr-opt<maps=section>`): records, each an [`OsrMapsHeader`] and a body
/// that `midflight_profile::osr_maps` encodes.
///
/// The array [`OsrFunction::infos`] of such a function is followed by the address of its record, so
/// that a linker that drops unused sections keeps the one if and only if it keeps the other.
pub const OSR_MAPS_SECTION: &str = "midflight_osr_maps";

/// Version of [`OsrMapsHeader`] and of what follows it.
pub const OSR_MAPS_VERSION: u16 = 3;

/// Head of a record of mappings, little-endian, aligned to 8 bytes.
///
/// Records follow each other in the section; the linker may put zero bytes between them, in
/// multiples of 8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct OsrMapsHeader {
    /// Size in bytes of the record with this header; a multiple of 8, never 0.
    pub size: u32,
    /// [`OSR_MAPS_VERSION`] of the compiler.
    pub version: u16,
    /// Padding; zero.
    pub reserved: u16,
    /// A hash of all of the record but `size` and `key`.
    pub key: u64,
}

/// Size in bytes of an [`OsrMapsHeader`].
pub const OSR_MAPS_HEADER_SIZE: usize = core::mem::size_of::<OsrMapsHeader>();
