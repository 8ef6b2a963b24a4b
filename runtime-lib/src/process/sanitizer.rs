//! Sanitizers and libFuzzer, if the program is linked with one.
//!
//! They take signals that end the program themselves, and then end it in a way that runs no
//! destructor. Sanitizers also end it where they have found something, without a signal. They let
//! others know: the profile is written from their *death callback*. There is one for the program,
//! which libFuzzer takes as well, and a list of others, which is run after it; the runtime is on
//! the list. A sanitizer that is a shared library does not show the list, and the runtime takes the
//! program's.
//!
//! libFuzzer sets its handlers after the runtime has set its own, and only where there is none. So
//! the runtime leaves all signals alone that libFuzzer may want, and libFuzzer writes the input
//! that a crash came of. It ends by `_Exit`, which `midflight cc` links to `midflight_exit`.

use crate::file::output;
use core::ffi::c_int;

core::arch::global_asm!(
    ".pushsection .data.rel.ro.sanitizers, \"aw\", %progbits",
    ".p2align 3",
    ".hidden sanitizers",
    ".globl sanitizers",
    ".type sanitizers, %object",
    "sanitizers:",
    // void __sanitizer::AddDieCallback(void (*)())
    ".weak _ZN11__sanitizer14AddDieCallbackEPFvvE",
    ".8byte _ZN11__sanitizer14AddDieCallbackEPFvvE",
    ".weak __sanitizer_set_death_callback",
    ".8byte __sanitizer_set_death_callback",
    ".weak LLVMFuzzerRunDriver",
    ".8byte LLVMFuzzerRunDriver",
    ".size sanitizers, 24",
    ".popsection",
);

type Callback = extern "C" fn();

/// What the linker finds.
#[repr(C)]
struct Sanitizers {
    add_callback: Option<unsafe extern "C" fn(Callback) -> bool>,
    set_callback: Option<unsafe extern "C" fn(Callback)>,
    fuzzer: Option<unsafe extern "C" fn()>,
}

unsafe extern "C" {
    #[link_name = "sanitizers"]
    static SANITIZERS: Sanitizers;
}

/// Signals that libFuzzer handles.
const OF_FUZZER: [c_int; 11] = [
    libc::SIGABRT,
    libc::SIGALRM,
    libc::SIGBUS,
    libc::SIGFPE,
    libc::SIGILL,
    libc::SIGINT,
    libc::SIGSEGV,
    libc::SIGTERM,
    libc::SIGUSR1,
    libc::SIGUSR2,
    libc::SIGXFSZ,
];

/// Whether a signal is left alone.
pub fn handles(signal: c_int) -> bool {
    // SAFETY: it is read only.
    unsafe { SANITIZERS.fuzzer }.is_some() && OF_FUZZER.contains(&signal)
}

/// Whether the program is linked with a sanitizer.
pub fn is_there() -> bool {
    // SAFETY: it is read only.
    unsafe { SANITIZERS.add_callback.is_some() || SANITIZERS.set_callback.is_some() }
}

/// Has the profile written when a sanitizer ends the program. Only for a runtime that is never
/// unloaded.
pub fn catch_death() {
    // SAFETY: the functions are the sanitizer's, and the callback stays where it is.
    unsafe {
        match &SANITIZERS {
            Sanitizers { add_callback: Some(add), .. } => _ = add(output::write_before_end),
            Sanitizers { set_callback: Some(set), .. } => set(output::write_before_end),
            _ => {}
        }
    }
}
