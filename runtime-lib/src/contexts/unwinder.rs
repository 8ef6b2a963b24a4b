//! The unwinder, if the program has one: a C program has it where `midflight cc` has linked it.

use core::ffi::{c_int, c_void};

core::arch::global_asm!(
    ".pushsection .data.rel.ro.unwinder_link, \"aw\", %progbits",
    ".p2align 3",
    ".hidden unwinder_link",
    ".globl unwinder_link",
    ".type unwinder_link, %object",
    "unwinder_link:",
    // What is in `unwinder.s`
    ".weak midflight_unwinder",
    ".8byte midflight_unwinder",
    ".size unwinder_link, 8",
    ".popsection",
);

/// What is called with each frame, from the innermost on: go on, or stop.
pub type Visit = extern "C" fn(*mut c_void, *mut c_void) -> c_int;

/// What [`Visit`] returns to see the next frame.
pub const GO_ON: c_int = 0;
/// What [`Visit`] returns to see no more.
pub const STOP: c_int = 4;

/// Functions of the unwinder.
#[repr(C)]
struct Functions {
    backtrace: unsafe extern "C" fn(Visit, *mut c_void) -> c_int,
    cfa: unsafe extern "C" fn(*mut c_void) -> u64,
    region_start: unsafe extern "C" fn(*mut c_void) -> u64,
    enclosing_function: unsafe extern "C" fn(u64) -> u64,
    register: unsafe extern "C" fn(*mut c_void, c_int) -> u64,
    address: unsafe extern "C" fn(*mut c_void) -> u64,
}

unsafe extern "C" {
    /// What the linker finds
    #[link_name = "unwinder_link"]
    static FUNCTIONS: Option<&'static Functions>;
}

fn functions() -> Option<&'static Functions> {
    // SAFETY: it is read only.
    unsafe { FUNCTIONS }
}

/// Whether the program has one.
pub fn is_there() -> bool {
    functions().is_some()
}

/// The lower half of where the code begins that an address is in; 0: that is not known.
pub fn code_of(address: u64) -> u32 {
    code_around(address).unwrap_or(0) as u32
}

/// Where the code begins that an address is in; `None`: that is not known.
pub fn code_around(address: u64) -> Option<u64> {
    let unwinder = functions()?;
    // SAFETY: it is the unwinder's, and takes any address.
    Some(unsafe { (unwinder.enclosing_function)(address) }).filter(|&code| code != 0)
}

/// Where a frame goes on.
///
/// # Safety
/// It is what the unwinder has given.
pub unsafe fn address_in(context: *mut c_void) -> u64 {
    // SAFETY: the caller's.
    functions().map_or(0, |unwinder| unsafe { (unwinder.address)(context) })
}

/// A frame that the unwinder has come to.
#[derive(Clone, Copy)]
pub struct Frame {
    /// The address by which emitted code knows it or, on x86-64, the one that it has called
    pub address: u64,
    /// Where the code begins that it runs
    pub code: u64,
}

impl Frame {
    /// Whether `address` is that of the frame that was called.
    pub const IS_OF_CALLEE: bool = cfg!(target_arch = "x86_64");

    /// # Safety
    /// It is what the unwinder has given.
    pub unsafe fn of(context: *mut c_void) -> Self {
        let Some(unwinder) = functions() else { return Self { address: 0, code: 0 } };
        // SAFETY: the caller's.
        unsafe {
            let address = if Self::IS_OF_CALLEE {
                // A call leaves the return address below.
                (unwinder.cfa)(context).wrapping_sub(8)
            } else {
                /// AArch64's frame pointer, above which the return address is.
                const FRAME_POINTER: c_int = 29;
                (unwinder.register)(context, FRAME_POINTER).wrapping_add(8)
            };
            Self { address, code: (unwinder.region_start)(context) }
        }
    }
}

/// Shows all frames to `visit`, with `argument`.
///
/// # Safety
/// As `visit` needs it.
pub unsafe fn for_each_frame(visit: Visit, argument: *mut c_void) {
    if let Some(unwinder) = functions() {
        // SAFETY: the caller's.
        unsafe { (unwinder.backtrace)(visit, argument) };
    }
}
