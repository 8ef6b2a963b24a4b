//! The functions of libc that lead to the generator, if there are any: a program that is linked
//! statically has none of them unless it calls them itself.

use core::ffi::{c_char, c_int, c_void};

core::arch::global_asm!(
    ".pushsection .data.rel.ro.open_links, \"aw\", %progbits",
    ".p2align 3",
    ".hidden open_links",
    ".globl open_links",
    ".type open_links, %object",
    "open_links:",
    ".irp function, dlopen, dlsym, dlerror, __cxa_atexit, pthread_create",
    ".weak \\function",
    ".8byte \\function",
    ".endr",
    ".irp function, init, setstacksize, setdetachstate, destroy",
    ".weak pthread_attr_\\function",
    ".8byte pthread_attr_\\function",
    ".endr",
    ".size open_links, 72",
    ".popsection",
);

/// What a thread begins with.
pub type Begin = extern "C" fn(*mut c_void) -> *mut c_void;

/// What the linker finds.
#[repr(C)]
struct Links {
    dlopen: Option<unsafe extern "C" fn(*const c_char, c_int) -> *mut c_void>,
    dlsym: Option<unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void>,
    dlerror: Option<unsafe extern "C" fn() -> *const c_char>,
    at_exit: Option<AtExit>,
    create: Option<Create>,
    init: Option<unsafe extern "C" fn(*mut libc::pthread_attr_t) -> c_int>,
    set_stack_size: Option<unsafe extern "C" fn(*mut libc::pthread_attr_t, usize) -> c_int>,
    set_detach_state: Option<unsafe extern "C" fn(*mut libc::pthread_attr_t, c_int) -> c_int>,
    destroy: Option<unsafe extern "C" fn(*mut libc::pthread_attr_t) -> c_int>,
}

type AtExit = unsafe extern "C" fn(extern "C" fn(*mut c_void), *mut c_void, *mut c_void) -> c_int;
type Create = unsafe extern "C" fn(
    *mut libc::pthread_t,
    *const libc::pthread_attr_t,
    Begin,
    *mut c_void,
) -> c_int;

unsafe extern "C" {
    #[link_name = "open_links"]
    static LINKS: Links;
}

/// The dynamic loader.
#[derive(Clone, Copy)]
pub struct Loader {
    pub open: unsafe extern "C" fn(*const c_char, c_int) -> *mut c_void,
    pub symbol: unsafe extern "C" fn(*mut c_void, *const c_char) -> *mut c_void,
    pub error: unsafe extern "C" fn() -> *const c_char,
}

/// The loader, unless the program was linked statically: what it loads then has a libc of its own.
pub fn loader() -> Option<Loader> {
    // SAFETY: takes a number.
    if unsafe { libc::getauxval(libc::AT_BASE) } == 0 {
        return None;
    }
    // SAFETY: it is read only.
    let links = unsafe { &LINKS };
    Some(Loader { open: links.dlopen?, symbol: links.dlsym?, error: links.dlerror? })
}

/// Has a function called when the program ends, before what was asked for before it.
pub fn call_at_exit(function: extern "C" fn(*mut c_void)) {
    // SAFETY: it is read only.
    if let Some(at_exit) = unsafe { &LINKS }.at_exit {
        // SAFETY: the function is in an image that is not unloaded before (`library::pin`).
        unsafe { at_exit(function, core::ptr::null_mut(), core::ptr::null_mut()) };
    }
}

/// Begins a thread that nobody waits for. `None`: there are no threads, or no memory for one.
pub fn create_thread(begin: Begin, stack_size: usize) -> Option<()> {
    // SAFETY: it is read only.
    let links = unsafe { &LINKS };
    let create = links.create?;
    let (init, destroy) = (links.init?, links.destroy?);
    let (set_stack_size, set_detach_state) = (links.set_stack_size?, links.set_detach_state?);
    // SAFETY: zeroes are valid values, in whose place those of libc are written; the thread needs
    // nothing of this one.
    unsafe {
        let mut attributes: libc::pthread_attr_t = core::mem::zeroed();
        let mut thread: libc::pthread_t = core::mem::zeroed();
        if init(&raw mut attributes) != 0 {
            return None;
        }
        let created = set_stack_size(&raw mut attributes, stack_size) == 0
            && set_detach_state(&raw mut attributes, libc::PTHREAD_CREATE_DETACHED) == 0
            && create(&raw mut thread, &raw const attributes, begin, core::ptr::null_mut()) == 0;
        destroy(&raw mut attributes);
        created.then_some(())
    }
}
