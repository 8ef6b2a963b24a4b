//! One step of the automaton, where emitted code has not found the path or has not looked for it.

use crate::file::live;
use crate::paths::automaton::{self, Event};
use crate::paths::counter;
use crate::paths::fallback;
use crate::paths::forest::ThreadForest;
use crate::paths::table;
use crate::process::signal::Blocked;
use midflight_abi::{FINAL, Forest, Register, Slot};

/// What emitted code calls.
pub type Step = unsafe extern "C" fn(u64, u32, *mut Forest) -> u64;

/// What emitted code finds in a forest ([`Forest::step`]).
pub fn address() -> u64 {
    #[cfg(target_arch = "x86_64")]
    const STEP: Step = if cfg!(miri) { step } else { sparing_step };
    #[cfg(not(target_arch = "x86_64"))]
    const STEP: Step = step;
    STEP as usize as u64
}

/// [`step`], which leaves all general registers but `rax` and `r11` as they are, and is only called
/// where a path is not found as emitted code finds it.
///
/// # Safety
/// As for [`step`].
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "C" fn sparing_step(state: u64, register: u32, forest: *mut Forest) -> u64 {
    // With the return address and seven registers the stack is aligned to 16.
    core::arch::naked_asm!(
        ".cfi_startproc",
        "mov r11d, esi",
        "test edi, {dense_offset}",
        "jnz 2f",
        "shr r11d, {hash_shift}",
        "and r11d, edi",
        "mov rax, rdi",
        "shr rax, {word_shift}",
        "cmp [r11 + rax + {key}], esi",
        "jne 3f",
        "add qword ptr [r11 + rax + {tally}], 1",
        "mov rax, [r11 + rax]",
        "ret",
        "2:",
        "mov rax, [r11 + rdi - {tally}]",
        "test rax, rax",
        "jz 3f",
        "add qword ptr [r11 + rdi], 1",
        "ret",
        "3:",
        ".irp kept, rcx, rdx, rsi, rdi, r8, r9, r10",
        "push \\kept",
        ".endr",
        ".cfi_adjust_cfa_offset 56",
        "call {step}",
        ".irp kept, r10, r9, r8, rdi, rsi, rdx, rcx",
        "pop \\kept",
        ".endr",
        ".cfi_adjust_cfa_offset -56",
        "ret",
        ".cfi_endproc",
        dense_offset = const midflight_abi::DENSE_OFFSET,
        hash_shift = const midflight_abi::HASH_SHIFT,
        word_shift = const midflight_abi::WORD_SHIFT,
        key = const midflight_abi::SLOT_KEY_OFFSET,
        tally = const midflight_abi::SLOT_TALLY_OFFSET,
        step = sym step,
    )
}

/// Counts the window with the path that the path register has, and returns the state after it.
///
/// # Safety
/// `forest` is that of the activation, plus [`FINAL`] if the path is its last; `state` is its start
/// or a state that was found in the forest; `register` stands for an ID below the function's number
/// of paths.
#[cold]
unsafe extern "C" fn step(state: u64, register: u32, forest: *mut Forest) -> u64 {
    // SAFETY: the caller's; the forests of contexts are in thread forests.
    unsafe {
        let is_final = forest as u64 & FINAL != 0;
        let forest = forest.wrapping_byte_sub(usize::from(is_final));
        if fallback::is_fallback(forest) {
            fallback::lose_events(1);
            return state;
        }
        if live::is_stranger() {
            return state;
        }
        let this = ThreadForest::of(forest);
        let label = Register::new((*this).shared.num_paths, (*this).shared.k).id(register);
        count(table::table_of(state), Event { label, is_final, to_come: 0 }, this)
    }
}

/// Counts an event that emitted code has not found; returns the state after it.
///
/// # Safety
/// `forest` is one of the calling thread; one of its states leads or has led to `table`.
pub unsafe fn count(table: *mut Slot, event: Event, this: *mut ThreadForest) -> u64 {
    // SAFETY: the caller's.
    unsafe {
        let context = &*ThreadForest::context(this);
        let room = &raw mut (*context.data.get()).room;
        let why = match automaton::count_unlocked(room, table::owner(table), event) {
            Ok(next) => return next,
            Err(why) => why,
        };
        let _signals = Blocked::new();
        let Some(_guard) = context.lock.lock_as_owner() else {
            let forest = &raw mut (*this).shared.forest;
            counter::increment(&raw mut (*forest).totals.lost);
            return ThreadForest::unknown(this);
        };
        ThreadForest::count(this, &mut (*context.data.get()).room, table, event, why)
    }
}
