//! The constructor and the destructor of each linked image.
//!
//! Every image that this library is linked to statically has a copy of them. They run first and
//! last of the image's own: the lowest priority comes first in `.init_array`, and last in
//! `.fini_array`, after everything that `atexit` has registered.
//!
//! An archive gives only what is asked for, and a shared library that has the runtime in it gives
//! what instrumented code asks for. So whoever links an image asks for `midflight_image`, which
//! every copy keeps to its image.
//!
//! The runtime's functions are called by pointers that the dynamic linker fills in, since a copy in
//! another image may stand in for this one. The bounds of the sections of records are weak: an
//! image without records has none.

use crate::contexts::burst;
use crate::file::output;
use crate::osr;
use crate::osr::open;
use crate::process;
use midflight_abi::contexts::ContextCall;
use midflight_abi::open::{OpenBody, OpenSite};
use midflight_abi::osr::OsrPatch;

core::arch::global_asm!(
    ".pushsection .data.rel.ro.midflight, \"aw\", %progbits",
    ".p2align 3",
    ".hidden midflight_image",
    ".globl midflight_image",
    ".type midflight_image, %object",
    "midflight_image:",
    ".irp section, tables, calls, osr, osr_patch, open, open_body",
    ".irp bound, __start_midflight_\\section, __stop_midflight_\\section",
    ".weak \\bound",
    ".hidden \\bound",
    ".endr",
    ".endr",
    ".8byte __start_midflight_tables, __stop_midflight_tables",
    ".8byte midflight_register_image, midflight_unregister_image",
    ".8byte __start_midflight_calls, __stop_midflight_calls",
    ".8byte midflight_register_calls, midflight_unregister_calls",
    ".8byte __start_midflight_osr, __stop_midflight_osr",
    ".8byte __start_midflight_osr_patch, __stop_midflight_osr_patch",
    ".8byte midflight_osr_register, midflight_osr_unregister",
    ".8byte __start_midflight_open, __stop_midflight_open",
    ".8byte __start_midflight_open_body, __stop_midflight_open_body",
    ".8byte midflight_osr_register_open, midflight_osr_unregister_open",
    ".size midflight_image, 160",
    ".popsection",
);

/// What the linkers fill in.
#[repr(C)]
struct Links {
    start: *const u8,
    stop: *const u8,
    register: unsafe extern "C" fn(*const u8, *const u8),
    unregister: unsafe extern "C" fn(*const u8),
    calls_start: *const ContextCall,
    calls_stop: *const ContextCall,
    register_calls: unsafe extern "C" fn(*const ContextCall, *const ContextCall),
    unregister_calls: unsafe extern "C" fn(*const ContextCall),
    osr_start: *mut u8,
    osr_stop: *mut u8,
    patch_start: *const OsrPatch,
    patch_stop: *const OsrPatch,
    osr_register: unsafe extern "C" fn(*mut u8, *mut u8, *const OsrPatch, *const OsrPatch),
    osr_unregister: unsafe extern "C" fn(*mut u8),
    sites_start: *mut OpenSite,
    sites_stop: *mut OpenSite,
    bodies_start: *const OpenBody,
    bodies_stop: *const OpenBody,
    open_register:
        unsafe extern "C" fn(*mut OpenSite, *mut OpenSite, *const OpenBody, *const OpenBody),
    open_unregister: unsafe extern "C" fn(*mut OpenSite, *const OpenBody),
}

impl Links {
    /// Whether the image has anything that open points need.
    fn has_open(&self) -> bool {
        !self.sites_start.is_null() || !self.bodies_start.is_null()
    }
}

// SAFETY: it is read only.
unsafe impl Sync for Links {}

unsafe extern "C" {
    #[link_name = "midflight_image"]
    static LINKS: Links;
}

type Hook = extern "C" fn();

#[used]
#[unsafe(link_section = ".init_array.00000")]
static BEGIN: Hook = image_begins;

#[used]
#[unsafe(link_section = ".fini_array.00000")]
static END: Hook = image_ends;

extern "C" fn image_begins() {
    // SAFETY: the sections of records are mapped until the image's destructors have run.
    unsafe {
        if !LINKS.start.is_null() {
            (LINKS.register)(LINKS.start, LINKS.stop);
        }
        if !LINKS.calls_start.is_null() {
            (LINKS.register_calls)(LINKS.calls_start, LINKS.calls_stop);
        }
        if !LINKS.osr_start.is_null() {
            (LINKS.osr_register)(
                LINKS.osr_start,
                LINKS.osr_stop,
                LINKS.patch_start,
                LINKS.patch_stop,
            );
        }
        if LINKS.has_open() {
            (LINKS.open_register)(
                LINKS.sites_start,
                LINKS.sites_stop,
                LINKS.bodies_start,
                LINKS.bodies_stop,
            );
        }
    }
}

/// Paths, points and open points are each told to the copy of the runtime that they were
/// registered with.
extern "C" fn image_ends() {
    // SAFETY: as above.
    unsafe {
        if open::is_started() {
            open::end();
        } else if LINKS.has_open() {
            (LINKS.open_unregister)(LINKS.sites_start, LINKS.bodies_start);
        }
        if process::is_started() {
            burst::end();
            output::write_at_exit();
        } else if !LINKS.start.is_null() {
            (LINKS.unregister)(LINKS.start);
        }
        if !process::is_started() && !LINKS.calls_start.is_null() {
            (LINKS.unregister_calls)(LINKS.calls_start);
        }
        if osr::is_started() {
            osr::write_at_exit();
        } else if !LINKS.osr_start.is_null() {
            (LINKS.osr_unregister)(LINKS.osr_start);
        }
    }
}
