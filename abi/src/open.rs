//! Open on-stack replacement (thesis 4.1, Figs. 4.3 and 4.5): what emitted code, the runtime and
//! the code generator agree on.
//!
//! A function with *open points* has one [`OpenSite`] for each of them in the writable section
//! [`OPEN_SECTION`], and one [`OpenCode`]: the IR of the function as it was when its points were
//! chosen, as compressed bitcode, with a *link table* of the addresses of all that it refers to.
//! Functions that a generator may inline where their address comes along as a key have an
//! [`OpenBody`] each, in [`OPEN_BODY_SECTION`].
//!
//! # The protocol of emitted code
//!
//! ```text
//! firing:  key = the profiled value (thesis Fig. 4.3, val), as an integer
//!          made = site.cache                       // acquire
//!          if made == null or made.key != key or made.invalid: // relaxed
//!              made = midflight_osr_open(&site, key)
//!          if made != null: states[site].transitions += 1; return made.target(live values)
//!          go on
//! ```
//!
//! `target` has the prototype of a continuation of that point: the live values in their slots, and
//! the function's result.
//!
//! # Bitcode
//!
//! The module defines the function, under the name [`OPEN_FUNCTION`]. What it refers to is declared
//! as [`OPEN_LINK_PREFIX`] and a number, whose address stands at that place of the link table; a
//! thread-local variable is reached by a function without parameters that returns its address.
//! Constants and small functions have an `available_externally` definition, so that they can be
//! folded and inlined. The bytes begin with one that says how they are compressed
//! (`OPEN_PLAIN`, …), and 8 with the length of the bitcode, little-endian.

use core::ffi::{c_char, c_void};

/// Name of the writable ELF section that holds the [`OpenSite`]s.
pub const OPEN_SECTION: &str = "midflight_open";

/// Name of the writable ELF section that holds the [`OpenBody`]s. They are relocated.
pub const OPEN_BODY_SECTION: &str = "midflight_open_body";

/// Version of everything in this module.
pub const OPEN_VERSION: u16 = 2;

/// `fn(site: *mut OpenSite, key: u64) -> *const OpenMade`: the version to go on in, or null.
pub const OPEN_SYMBOL: &str = "midflight_osr_open";

/// `fn(site: *mut OpenSite, made: *const OpenMade)`: a guard of that version has failed.
pub const OPEN_EXIT_SYMBOL: &str = "midflight_osr_left";

/// `fn(site: *mut OpenSite, made: *const OpenMade) -> bool`: whether a guard that holds is to fail
/// all the same. Guards of versions ask it where exits are tested.
pub const OPEN_GUARD_SYMBOL: &str = "midflight_osr_guard";

/// What the code generator exports:
/// `fn(request: *const OpenRequest, answer: *mut OpenAnswer)`.
pub const OPEN_COMPILE_SYMBOL: &str = "midflight_jit_compile";

/// A variable that a code generator exports whose objects are never destroyed: the end of the
/// program need not wait for it.
pub const OPEN_STAYS_SYMBOL: &str = "midflight_jit_stays";

/// The name of the function in its bitcode.
pub const OPEN_FUNCTION: &str = "midflight.base";

/// What names of links begin with.
pub const OPEN_LINK_PREFIX: &str = "midflight.link.";

/// Bitcode as it is.
pub const OPEN_PLAIN: u8 = 0;
/// Bitcode compressed by zlib.
pub const OPEN_ZLIB: u8 = 1;
/// Bitcode compressed by Zstandard.
pub const OPEN_ZSTD: u8 = 2;
/// Bytes before the compressed ones: the compression, and the length of the bitcode.
pub const OPEN_HEAD: usize = 9;

/// [`OpenSite::key_kind`]: there is no key, it is always 0.
pub const OPEN_NO_KEY: u16 = 0;
/// [`OpenSite::key_kind`]: the value with the number [`OpenSite::key`], which is live at the point.
pub const OPEN_KEY_VALUE: u16 = 1;
/// [`OpenSite::key_kind`]: the address that the call with the number [`OpenSite::key`] called when
/// this activation came by it last.
pub const OPEN_KEY_CALLEE: u16 = 2;

/// An open point of a function's base version.
#[derive(Debug)]
#[repr(C)]
pub struct OpenSite {
    /// The version that fired last, an [`OpenMade`], or null.
    pub cache: *const c_void,
    /// The runtime's own, null at the beginning.
    pub runtime: *mut c_void,
    /// The IR of the function.
    pub code: *const OpenCode,
    /// What makes versions: a C string.
    pub generator: *const c_char,
    /// Name of the function, as the linker knows it: a C string.
    pub function: *const c_char,
    /// Name of the point: a C string.
    pub point: *const c_char,
    /// [`OPEN_VERSION`] of the compiler.
    pub version: u16,
    /// `OPEN_NO_KEY`, …
    pub key_kind: u16,
    /// Number of the value or call that gives the key, in the bitcode.
    pub key: u32,
    /// Number of the instruction that the point is before, in the bitcode.
    pub at: u32,
    /// Major version of the LLVM that the bitcode is of.
    pub llvm: u32,
    /// Rounds between two hits that fire (`count:N`); 0 where the condition does not count.
    pub count: u32,
    /// Padding; zero.
    pub reserved: u32,
    /// Source file of the module, as it was given to the compiler: a C string.
    pub file: *const c_char,
}

/// A version that was made. But for `invalid` it is never changed once it is seen.
#[derive(Debug)]
#[repr(C)]
pub struct OpenMade {
    /// The key that it is for.
    pub key: u64,
    /// What emitted code goes on in.
    pub target: *const c_void,
    /// What versions of the same function go on in: the same with their prototype.
    pub next: *const c_void,
    /// Not 0: what it assumes does not hold any more, and it is left at its next point. Atomic.
    pub invalid: u64,
}

/// Byte offset of [`OpenMade::target`], for emitted code; `key` is at 0.
pub const OPEN_MADE_TARGET: usize = core::mem::offset_of!(OpenMade, target);
/// Byte offset of [`OpenMade::next`], for code of versions.
pub const OPEN_MADE_NEXT: usize = core::mem::offset_of!(OpenMade, next);
/// Byte offset of [`OpenMade::invalid`], for guards.
pub const OPEN_MADE_INVALID: usize = core::mem::offset_of!(OpenMade, invalid);

/// IR that a program carries.
#[derive(Debug)]
#[repr(C)]
pub struct OpenCode {
    /// See the module's documentation.
    pub bytes: *const u8,
    /// How many.
    pub length: u64,
    /// Addresses of what it refers to.
    pub links: *const *const c_void,
    /// How many.
    pub num_links: u64,
    /// Where calls of the function look for a version to begin in; null if they do not. What is
    /// there is null or the address of a function of the same type.
    pub entry: *mut *const c_void,
}

/// A function whose address may be a key, and its IR.
#[derive(Debug)]
#[repr(C)]
pub struct OpenBody {
    /// Its address.
    pub function: *const c_void,
    /// Its IR.
    pub code: *const OpenCode,
}

/// A variable on whose value a version relies. Only `midflight_invalidate` changes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct OpenAssumption {
    /// Where it is.
    pub address: *const i64,
    /// What it holds in the version.
    pub value: i64,
}

/// What the runtime asks the code generator for. All that it points to stays until the generator
/// returns.
#[derive(Debug)]
#[repr(C)]
pub struct OpenRequest {
    /// [`OPEN_VERSION`]
    pub version: u32,
    /// `OPEN_NO_KEY`, …
    pub key_kind: u32,
    /// The site, which versions refer to; it is not read.
    pub site: *mut OpenSite,
    /// The key.
    pub key: u64,
    /// The record that emitted code will see; its address is a constant of versions.
    pub made: *const OpenMade,
    /// The IR of the function.
    pub code: OpenCode,
    /// The IR of the function whose address the key is; no bytes if it is not known.
    pub body: OpenCode,
    /// As in [`OpenSite`].
    pub generator: *const c_char,
    /// As in [`OpenSite`].
    pub function: *const c_char,
    /// As in [`OpenSite`].
    pub point: *const c_char,
    /// As in [`OpenSite::key`].
    pub key_number: u32,
    /// As in [`OpenSite`].
    pub at: u32,
    /// As in [`OpenSite`].
    pub count: u32,
    /// Not 0: a version for all keys, without points and guards.
    pub is_generic: u32,
    /// The address of [`OPEN_SYMBOL`], for versions.
    pub open: *const c_void,
    /// The address of [`OPEN_EXIT_SYMBOL`].
    pub left: *const c_void,
    /// The address of [`OPEN_GUARD_SYMBOL`] if guards are to ask it, or null.
    pub guard: *const c_void,
    /// Reads what is assumed.
    pub read: OpenRead,
    /// The program's own generator of that name, or none.
    pub make: Option<OpenMake>,
    /// What it is called with.
    pub user: *mut c_void,
}

/// Reads a variable on which the version with this record is to rely: 0, or another number where
/// the variable is gone with its library.
pub type OpenRead =
    unsafe extern "C" fn(made: *const OpenMade, address: *const i64, value: *mut i64) -> i32;

/// A generator of the program's own: 0 for a version, 1 where there is nothing to gain for this
/// key, any other number for a failure.
pub type OpenMake = unsafe extern "C" fn(generation: *mut OpenGeneration, user: *mut c_void) -> i32;

/// Changes a function of a version, an `LLVMValueRef`; not 0 for a failure.
pub type OpenTransform = unsafe extern "C" fn(function: *mut c_void, user: *mut c_void) -> i32;

/// Version of [`OpenGeneration`], `MIDFLIGHT_GENERATION_VERSION` of `midflight.h`.
pub const OPEN_GENERATION_VERSION: u32 = 1;

/// What a generator of the program's own gets, `struct midflight_generation` of `midflight.h`. It
/// is valid while the generator runs.
#[repr(C)]
pub struct OpenGeneration {
    /// [`OPEN_GENERATION_VERSION`]
    pub version: u32,
    /// Major version of the LLVM whose references follow.
    pub llvm: u32,
    /// The base version, an `LLVMValueRef`, which is not to be changed.
    pub function: *mut c_void,
    /// The instruction that the point is before, an `LLVMValueRef`.
    pub point: *mut c_void,
    /// The value that is profiled, an `LLVMValueRef`, or null.
    pub value: *mut c_void,
    /// The key.
    pub key: u64,
    /// Assumes that a value is a constant from an instruction on. Not 0: it cannot.
    pub assume: unsafe extern "C" fn(
        generation: *mut OpenGeneration,
        value: *mut c_void,
        before: *mut c_void,
        is: u64,
    ) -> i32,
    /// Has each function of the version changed when its guards are in it.
    pub transform: unsafe extern "C" fn(
        generation: *mut OpenGeneration,
        transform: OpenTransform,
        user: *mut c_void,
    ),
    /// Says why the generator fails.
    pub fail: unsafe extern "C" fn(generation: *mut OpenGeneration, why: *const c_char),
}

/// What names of programs' own generators begin with.
pub const OPEN_USER: &str = "user:";

/// What the code generator has made.
#[derive(Debug)]
#[repr(C)]
pub struct OpenAnswer {
    /// `OPEN_MADE`, …
    pub status: u32,
    /// Guards of the version.
    pub guards: u32,
    /// See [`OpenMade`].
    pub target: *const c_void,
    /// See [`OpenMade`].
    pub next: *const c_void,
    /// A version of the whole function, for calls; null if there is none.
    pub entry: *const c_void,
    /// What it relies on. It stays.
    pub assumptions: *const OpenAssumption,
    /// How many.
    pub num_assumptions: u64,
    /// Bytes of code and data.
    pub size: u64,
    /// Why there is no version: a C string.
    pub message: [c_char; OPEN_MESSAGE],
}

/// Bytes of a message.
pub const OPEN_MESSAGE: usize = 512;

/// [`OpenAnswer::status`]: there is a version.
pub const OPEN_MADE: u32 = 0;
/// [`OpenAnswer::status`]: for this key there is nothing to gain; others may be asked for.
pub const OPEN_NOTHING: u32 = 1;
/// [`OpenAnswer::status`]: none can be made for this point.
pub const OPEN_FAILED: u32 = 2;
