//! The constructor and the destructor of each linked image.
//!
//! Every image that this library is linked to statically has a copy of them. They run first and
//! last of the image's own: the lowest priority comes first in `.init_array`, and last in
//! `.fini_array`, after everything that `atexit` has registered.
//!
//! The runtime's functions are called by pointers that the dynamic linker fills in, since a copy in
//! another image may stand in for this one. The bounds of the section of records are weak: an
//! image without records has none.

use crate::{output, process};

core::arch::global_asm!(
    ".pushsection .data.rel.ro.midflight, \"aw\", %progbits",
    ".p2align 3",
    ".hidden links_of_midflight",
    ".globl links_of_midflight",
    ".type links_of_midflight, %object",
    "links_of_midflight:",
    ".weak __start_midflight_tables",
    ".hidden __start_midflight_tables",
    ".8byte __start_midflight_tables",
    ".weak __stop_midflight_tables",
    ".hidden __stop_midflight_tables",
    ".8byte __stop_midflight_tables",
    ".8byte midflight_register_image",
    ".8byte midflight_unregister_image",
    ".size links_of_midflight, 32",
    ".popsection",
);

/// What the linkers fill in.
#[repr(C)]
struct Links {
    start: *const u8,
    stop: *const u8,
    register: unsafe extern "C" fn(*const u8, *const u8),
    unregister: unsafe extern "C" fn(*const u8),
}

// SAFETY: it is read only.
unsafe impl Sync for Links {}

unsafe extern "C" {
    #[link_name = "links_of_midflight"]
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
    // SAFETY: the section of records is mapped until the image's destructors have run.
    unsafe {
        if !LINKS.start.is_null() {
            (LINKS.register)(LINKS.start, LINKS.stop);
        }
    }
}

extern "C" fn image_ends() {
    if process::is_started() {
        output::write_at_exit();
        return;
    }
    // SAFETY: as above.
    unsafe {
        if !LINKS.start.is_null() {
            (LINKS.unregister)(LINKS.start);
        }
    }
}
