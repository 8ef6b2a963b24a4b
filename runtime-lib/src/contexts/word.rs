//! The thread-local word, which emitted code reaches by the model `initial-exec`.
//!
//! It is one for all images of the process that share a runtime, so that a call from one into
//! another is seen. In a thread that begins it leads to [`START`].

use core::ptr::null_mut;
use midflight_abi::contexts::{CONTEXT_NODE_SIZE, ContextNode, ContextWord, EMPTY, NO_BURST};

/// A node with one slot, which is empty.
#[repr(C, align(16))]
pub struct Start {
    node: ContextNode,
    slot: *mut ContextNode,
}

// SAFETY: nothing writes to it.
unsafe impl Sync for Start {}

#[unsafe(export_name = "context_start")]
static START: Start = Start {
    node: ContextNode {
        count: 0,
        record: core::ptr::null(),
        back: null_mut(),
        parent: null_mut(),
        frame: 0,
        next: null_mut(),
        site: 0,
        slots: 1,
        code: 0,
        error: 0,
    },
    slot: (&raw const START).cast_mut().wrapping_byte_add(EMPTY).cast(),
};

core::arch::global_asm!(
    ".pushsection .tdata, \"awT\", %progbits",
    ".p2align 3",
    ".globl midflight_context_word",
    ".type midflight_context_word, %object",
    "midflight_context_word:",
    ".hidden context_start",
    ".8byte context_start + {slot}, 0, 0, {no_burst}, 0",
    ".size midflight_context_word, 40",
    ".popsection",
    slot = const CONTEXT_NODE_SIZE,
    no_burst = const NO_BURST,
);

/// The node that the word of a new thread leads to.
pub fn start() -> *mut ContextNode {
    (&raw const START).cast_mut().cast()
}

/// The calling thread's word.
#[cfg(target_arch = "x86_64")]
pub fn word() -> *mut ContextWord {
    let word: *mut ContextWord;
    // SAFETY: the thread pointer stands at its own address; the offset is the linker's.
    unsafe {
        core::arch::asm!(
            "mov {word}, qword ptr fs:[0]",
            "add {word}, qword ptr [rip + midflight_context_word@GOTTPOFF]",
            word = out(reg) word,
            options(pure, readonly, nostack),
        );
    }
    word
}

/// The same.
#[cfg(target_arch = "aarch64")]
pub fn word() -> *mut ContextWord {
    let word: *mut ContextWord;
    // SAFETY: the offset is the linker's.
    unsafe {
        core::arch::asm!(
            "mrs {word}, tpidr_el0",
            "adrp {offset}, :gottprel:midflight_context_word",
            "ldr {offset}, [{offset}, :gottprel_lo12:midflight_context_word]",
            "add {word}, {word}, {offset}",
            word = out(reg) word,
            offset = out(reg) _,
            options(pure, readonly, nostack),
        );
    }
    word
}
