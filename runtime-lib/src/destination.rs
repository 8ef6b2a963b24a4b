//! Where a profile goes: the temporary file, and the name that it gets when it is whole.

use crate::file::{Failure, File};
use crate::message::Decimal;
use crate::sys;
use crate::text::Text;

/// Temporary names that are tried.
const MAX_ATTEMPTS: u64 = 100;

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

fn kind_of(name: &Text) -> Option<libc::stat> {
    // SAFETY: zeroes are a valid value; the name is a C string.
    unsafe {
        let mut kind: libc::stat = core::mem::zeroed();
        (libc::lstat(name.c_str().as_ptr(), &raw mut kind) == 0).then_some(kind)
    }
}

/// Creates a new file beside the profile's name, and the directories that it is in.
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
fn make_directories(name: &mut Text) {
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
