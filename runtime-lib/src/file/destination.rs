//! Names that do not replace what the same process has written.

use crate::file::Failure;
use crate::file::age;
use crate::file::text::{Text, TooLong};
use crate::message::Decimal;
use crate::sys;

/// Numbers of names that are tried.
const MAX_SERIAL: u64 = 10_000;

/// Sees to it that a name with the process's ID does not replace a profile of the same process, by
/// a number before its extension.
///
/// A library that has the runtime's state to itself (`is_in_library`) may be one of several in the
/// process, or be loaded again after its profile was written; and a program may have become this
/// one by `exec`. `serial` is the number that was chosen, to be kept for later writes of the same
/// state.
pub fn make_unique(
    name: &mut Text,
    is_in_library: bool,
    serial: &mut Option<u64>,
) -> Result<(), Failure> {
    let is_taken = |name: &Text| {
        kind_of(name).is_some_and(|kind| {
            is_in_library || age::is_of_this_process(kind.st_mtime, kind.st_mtime_nsec)
        })
    };
    let mut whole = Text::new();
    whole.push(name.bytes())?;
    let mut number = serial.unwrap_or(0);
    loop {
        add_number(&whole, number, name)?;
        if serial.is_some() || number == MAX_SERIAL || !is_taken(name) {
            break;
        }
        number += 1;
    }
    *serial = Some(number);
    Ok(())
}

/// Puts `name` with a number before its extension in `to`; 0 is none.
pub fn add_number<const SIZE: usize>(
    name: &Text<SIZE>,
    number: u64,
    to: &mut Text<SIZE>,
) -> Result<(), TooLong> {
    let bytes = name.bytes();
    let file = bytes.iter().rposition(|&byte| byte == b'/').map_or(0, |slash| slash + 1);
    let dot = bytes.iter().rposition(|&byte| byte == b'.').filter(|&dot| dot > file);
    let (stem, extension) =
        bytes.split_at_checked(dot.unwrap_or(bytes.len())).unwrap_or((bytes, b""));
    to.clear();
    to.push(stem)?;
    if number != 0 {
        to.push(b".")?;
        to.push(Decimal::new(number).bytes())?;
    }
    to.push(extension)
}

fn kind_of(name: &Text) -> Option<libc::stat> {
    // SAFETY: zeroes are a valid value; the name is a C string.
    unsafe { sys::written(|kind| libc::lstat(name.c_str().as_ptr(), kind)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_go_before_the_extension() {
        for (name, number, expected) in [
            ("a-7.mfp", 0, "a-7.mfp"),
            ("a-7.mfp", 3, "a-7.3.mfp"),
            ("x.y/a", 2, "x.y/a.2"),
            ("x/.hidden", 1, "x/.hidden.1"),
        ] {
            let (mut whole, mut numbered): (Text, Text) = (Text::new(), Text::new());
            whole.push(name.as_bytes()).unwrap();
            assert!(add_number(&whole, number, &mut numbered).is_ok());
            assert_eq!(numbered.bytes(), expected.as_bytes());
        }
    }
}
