//! Where a profile or a log goes: the temporary file, and the name that it gets when it is whole.

use crate::age;
use crate::file::{Failure, File};
use crate::message::Decimal;
use crate::sys;
use crate::text::Text;

/// Temporary names that are tried.
const MAX_ATTEMPTS: u64 = 100;

/// Numbers of names that are tried.
const MAX_SERIAL: u64 = 10_000;

/// Follows a symbolic link, which a rename would replace, and refuses what is no regular file.
/// `false`: the profile is unwanted, it would go to `/dev/null`.
pub fn resolve_target(name: &mut Text) -> Result<bool, Failure> {
    let Some(mut kind) = kind_of(name) else { return Ok(true) };
    if kind.st_mode & libc::S_IFMT == libc::S_IFLNK {
        let mut target = Text::new();
        let link = name.c_str().as_ptr();
        // SAFETY: the room has PATH_MAX bytes, as realpath asks for.
        if !target.fill_with(|room, _| unsafe { !libc::realpath(link, room).is_null() }) {
            return Err(Failure::last());
        }
        name.clear();
        name.push(target.bytes())?;
        kind = kind_of(name).ok_or(Failure(libc::ENOENT))?;
    }
    match kind.st_mode & libc::S_IFMT {
        libc::S_IFREG => Ok(true),
        libc::S_IFCHR if kind.st_rdev == libc::makedev(1, 3) => Ok(false),
        libc::S_IFDIR => Err(Failure(libc::EISDIR)),
        _ => Err(Failure(libc::EINVAL)),
    }
}

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
fn add_number(name: &Text, number: u64, to: &mut Text) -> Result<(), Failure> {
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
    Ok(to.push(extension)?)
}

fn kind_of(name: &Text) -> Option<libc::stat> {
    // SAFETY: zeroes are a valid value; the name is a C string.
    unsafe {
        let mut kind: libc::stat = core::mem::zeroed();
        (libc::lstat(name.c_str().as_ptr(), &raw mut kind) == 0).then_some(kind)
    }
}

/// What is done about a file that has the name already.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Publish {
    /// The new one takes its place.
    InPlace,
    /// It stays; `EEXIST`.
    IfNew,
}

/// Lets `fill` write a new file, which then gets the name. What fails leaves the file that has the
/// name as it is.
pub fn write_whole<T>(
    name: &Text,
    temporary: &mut Text,
    publish: Publish,
    fill: impl FnOnce(&File) -> Result<T, Failure>,
) -> Result<T, Failure> {
    let file = create_temporary(name, temporary)?;
    let result = fill(&file).and_then(|value| {
        file.close()?;
        give_name(temporary, name, publish)?;
        Ok(value)
    });
    if result.is_err() {
        remove(temporary);
    }
    result
}

/// Renames a file.
fn give_name(temporary: &Text, name: &Text, publish: Publish) -> Result<(), Failure> {
    let (from, to) = (temporary.c_str().as_ptr(), name.c_str().as_ptr());
    if publish == Publish::IfNew {
        // SAFETY: both names are C strings.
        if unsafe { libc::link(from, to) } == 0 {
            // SAFETY: the name is a C string.
            unsafe { libc::unlink(from) };
            return Ok(());
        }
        if sys::errno() == libc::EEXIST {
            return Err(Failure(libc::EEXIST));
        }
        // There are file systems without links.
    }
    rename(temporary, name)
}

/// Gives a file another name, and takes it from what has it, if anything has.
pub fn rename(from: &Text, to: &Text) -> Result<(), Failure> {
    // SAFETY: both names are C strings.
    match unsafe { libc::rename(from.c_str().as_ptr(), to.c_str().as_ptr()) } {
        0 => Ok(()),
        _ => Err(Failure::last()),
    }
}

/// Removes a file, if that can be done.
pub fn remove(name: &Text) {
    // SAFETY: the name is a C string.
    unsafe { libc::unlink(name.c_str().as_ptr()) };
}

/// Creates a new file beside the name, and the directories that it is in.
pub fn create_temporary(name: &Text, temporary: &mut Text) -> Result<File, Failure> {
    let mut directories_made = false;
    let mut attempt = 0;
    while attempt < MAX_ATTEMPTS {
        temporary.clear();
        temporary.push(name.bytes())?;
        temporary.push(b".tmp.")?;
        temporary.push(Decimal::new(sys::process_id().unsigned_abs().into()).bytes())?;
        temporary.push(b".")?;
        temporary.push(Decimal::new(attempt).bytes())?;
        match File::create(temporary.c_str()) {
            Ok(file) => return Ok(file),
            Err(Failure(libc::EEXIST)) => attempt += 1,
            Err(Failure(libc::ENOENT)) if !directories_made => {
                directories_made = true;
                make_directories(temporary);
            }
            Err(failure) => return Err(failure),
        }
    }
    Err(Failure(libc::EEXIST))
}

/// Makes all directories on the way to a file. What fails shows when the file is created.
pub fn make_directories(name: &Text) {
    let whole = name.bytes().len();
    let mut path = Text::new();
    for index in 1..whole {
        if name.bytes().get(index) == Some(&b'/') {
            path.clear();
            if path.push(name.bytes().get(..index).unwrap_or_default()).is_ok() {
                // SAFETY: the path is a C string.
                unsafe { libc::mkdir(path.c_str().as_ptr(), 0o777) };
            }
        }
    }
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
            let (mut whole, mut numbered) = (Text::new(), Text::new());
            whole.push(name.as_bytes()).unwrap();
            assert!(add_number(&whole, number, &mut numbered).is_ok());
            assert_eq!(numbered.bytes(), expected.as_bytes());
        }
    }
}
