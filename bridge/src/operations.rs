//! Several operations at once: which are the same, and with which flags.

use crate::ir::Inst;
use crate::sys;

/// Gives instructions the same number just if they are the same operation, but for operands, and
/// for flags and metadata that can make a result poison. With `as_unsigned`, one that says of
/// itself that no operand is negative has the number of its unsigned counterpart.
pub fn number_operations(instructions: &[Inst<'_>], as_unsigned: &[bool]) -> Vec<u32> {
    assert_eq!(instructions.len(), as_unsigned.len(), "one for each instruction");
    let mut numbers = vec![0; instructions.len()];
    // SAFETY: the instructions are live; all arrays have the length that is passed; what is marked
    // is of a kind that has an unsigned counterpart.
    unsafe {
        sys::mfb_number_operations(
            Inst::list(instructions),
            as_unsigned.as_ptr(),
            instructions.len(),
            numbers.as_mut_ptr(),
        );
    }
    numbers
}

/// Leaves instructions of the same operation only those flags, and that metadata, which can make a
/// result poison and which all of them have. A program stays right that way: less is poison.
pub fn intersect_flags(instructions: &[Inst<'_>]) {
    if instructions.len() > 1 {
        // SAFETY: the instructions are live.
        unsafe { sys::mfb_intersect_flags(Inst::list(instructions), instructions.len()) };
    }
}

/// For each instruction whether [`intersect_flags`] takes something from it.
pub fn losing_flags(instructions: &[Inst<'_>]) -> Vec<bool> {
    let mut losing = vec![false; instructions.len()];
    if instructions.len() > 1 {
        // SAFETY: the instructions are live; there is a place for each.
        unsafe {
            sys::mfb_losing_flags(Inst::list(instructions), instructions.len(), losing.as_mut_ptr())
        };
    }
    losing
}

/// Takes from instructions the flags and the metadata that can make a result poison.
pub fn drop_flags(instructions: &[Inst<'_>]) {
    // SAFETY: the instructions are live.
    unsafe { sys::mfb_drop_flags(Inst::list(instructions), instructions.len()) };
}

/// Removes instructions that only each other use. They are not used again.
pub fn erase_dead(instructions: &[Inst<'_>]) {
    // SAFETY: the instructions are live, and no terminators; the caller does not use them again.
    unsafe { sys::mfb_erase_dead(Inst::list(instructions), instructions.len()) };
}
