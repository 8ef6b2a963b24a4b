//! Bytes in memory: the functions that compilers call by themselves, too.
//!
//! Accesses are volatile or assembly: what looks like a loop that copies is made a call of the very
//! function that it is in.

use core::ffi::{c_char, c_int, c_void};

#[unsafe(no_mangle)]
unsafe extern "C" fn memcpy(to: *mut c_void, from: *const c_void, size: usize) -> *mut c_void {
    // SAFETY: the caller's.
    unsafe { copy_up(to.cast(), from.cast(), size) };
    to
}

#[unsafe(no_mangle)]
unsafe extern "C" fn memmove(to: *mut c_void, from: *const c_void, size: usize) -> *mut c_void {
    let is_behind = (to as usize).wrapping_sub(from as usize) < size;
    // SAFETY: the caller's. From the end, a byte is read before it is written.
    unsafe {
        if is_behind {
            let (to, from) = (to.cast::<u8>(), from.cast::<u8>());
            (0..size).rev().for_each(|at| to.add(at).write_volatile(from.add(at).read_volatile()));
        } else {
            copy_up(to.cast(), from.cast(), size);
        }
    }
    to
}

#[unsafe(no_mangle)]
unsafe extern "C" fn memset(to: *mut c_void, byte: c_int, size: usize) -> *mut c_void {
    // SAFETY: the caller's.
    unsafe { fill(to.cast(), byte as u8, size) };
    to
}

#[unsafe(no_mangle)]
unsafe extern "C" fn memcmp(left: *const c_void, right: *const c_void, size: usize) -> c_int {
    let (left, right) = (left.cast::<u8>(), right.cast::<u8>());
    for at in 0..size {
        // SAFETY: the caller's.
        let (left, right) =
            unsafe { (left.add(at).read_volatile(), right.add(at).read_volatile()) };
        if left != right {
            return c_int::from(left) - c_int::from(right);
        }
    }
    0
}

#[unsafe(no_mangle)]
unsafe extern "C" fn bcmp(left: *const c_void, right: *const c_void, size: usize) -> c_int {
    // SAFETY: the caller's.
    unsafe { memcmp(left, right, size) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn strlen(text: *const c_char) -> usize {
    let mut size = 0;
    // SAFETY: the caller's.
    while unsafe { text.add(size).read_volatile() } != 0 {
        size += 1;
    }
    size
}

/// Copies from the first byte to the last.
#[cfg(target_arch = "x86_64")]
unsafe fn copy_up(to: *mut u8, from: *const u8, size: usize) {
    // SAFETY: the caller's; the direction flag is clear in all functions.
    unsafe {
        core::arch::asm!(
            "rep movsb",
            inout("rcx") size => _,
            inout("rdi") to => _,
            inout("rsi") from => _,
            options(nostack, preserves_flags),
        );
    }
}

/// Copies from the first byte to the last.
#[cfg(not(target_arch = "x86_64"))]
unsafe fn copy_up(to: *mut u8, from: *const u8, size: usize) {
    const WORD: usize = size_of::<u64>();
    let is_aligned = (to as usize | from as usize).is_multiple_of(WORD);
    // Where the end of what is copied is its beginning's source, words would overlap.
    let is_apart = (to as usize).abs_diff(from as usize) >= WORD;
    let words = if is_aligned && is_apart { size / WORD } else { 0 };
    // SAFETY: the caller's.
    unsafe {
        let (to_words, from_words) = (to.cast::<u64>(), from.cast::<u64>());
        (0..words)
            .for_each(|at| to_words.add(at).write_volatile(from_words.add(at).read_volatile()));
        (words * WORD..size).for_each(|at| to.add(at).write_volatile(from.add(at).read_volatile()));
    }
}

#[cfg(target_arch = "x86_64")]
unsafe fn fill(to: *mut u8, byte: u8, size: usize) {
    // SAFETY: the caller's; the direction flag is clear in all functions.
    unsafe {
        core::arch::asm!(
            "rep stosb",
            inout("rcx") size => _,
            inout("rdi") to => _,
            in("al") byte,
            options(nostack, preserves_flags),
        );
    }
}

#[cfg(not(target_arch = "x86_64"))]
unsafe fn fill(to: *mut u8, byte: u8, size: usize) {
    // SAFETY: the caller's.
    (0..size).for_each(|at| unsafe { to.add(at).write_volatile(byte) });
}
