//! Lines on standard error.

use crate::file::place;
use crate::file::{Failure, Refusal};
use crate::process::signal::Blocked;
use crate::sys;
use core::ffi::CStr;
use midflight_profile::visible_pieces;

/// Pieces of a line that are written with one system call.
const MAX_PIECES: usize = 64;

/// Prints `midflight: `, the parts and a line end. Parts may be any bytes: what would end the line
/// or control a terminal is shown as such (`midflight_profile::visible_pieces`).
///
/// That is a single system call, so that lines of several processes do not mix, unless a part has
/// very much that is shown so. A standard error that is closed is no error.
pub fn print(parts: &[&[u8]]) {
    print_all(parts.iter().copied());
}

fn print_all<'a>(parts: impl Iterator<Item = &'a [u8]>) {
    let blocked = Blocked::new();
    let texts = [b"midflight: ".as_slice()].into_iter().chain(parts);
    let mut line = Line { pieces: [piece(b""); MAX_PIECES], used: 0, error: 0 };
    for text in texts.flat_map(visible_pieces).chain([b"\n".as_slice()]) {
        line.add(text);
    }
    line.write();
    blocked.discard_write_signal(line.error);
}

struct Line {
    pieces: [libc::iovec; MAX_PIECES],
    used: usize,
    /// The last error number.
    error: i32,
}

impl Line {
    fn add(&mut self, text: &[u8]) {
        if self.used == MAX_PIECES {
            self.write();
        }
        if let Some(place) = self.pieces.get_mut(self.used) {
            *place = piece(text);
            self.used += 1;
        }
    }

    fn write(&mut self) {
        // SAFETY: the pieces live through the call, and what they point to lives as long as the
        // message.
        let written = unsafe {
            libc::writev(libc::STDERR_FILENO, self.pieces.as_ptr(), self.used as libc::c_int)
        };
        if written < 0 {
            self.error = sys::errno();
        }
        self.used = 0;
    }
}

fn piece(bytes: &[u8]) -> libc::iovec {
    libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() }
}

/// A number in decimal digits.
pub struct Decimal {
    digits: [u8; 20],
    start: usize,
}

impl Decimal {
    pub fn new(mut value: u64) -> Self {
        let mut digits = [b'0'; 20];
        let mut start = digits.len();
        for (index, digit) in digits.iter_mut().enumerate().rev() {
            *digit = b'0' + (value % 10) as u8;
            value /= 10;
            start = index;
            if value == 0 {
                break;
            }
        }
        Self { digits, start }
    }

    pub fn bytes(&self) -> &[u8] {
        self.digits.get(self.start..).unwrap_or_default()
    }
}

/// A number in decimal digits, read back; none if there is anything else, or nothing.
pub fn parse_decimal(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |value, digit| {
        let digit = digit.is_ascii_digit().then(|| u64::from(digit - b'0'))?;
        value.checked_mul(10)?.checked_add(digit)
    })
}

/// Tells that a file was not written. `variable` is the one that gives its name.
pub fn tell_failure(kind: &[u8], name: &[u8], failure: Failure, variable: &CStr) {
    let (what, advice) = explain(failure);
    let end: &[u8] = if place::is_root_changed() {
        b"' below the root directory that the program has changed to: "
    } else {
        b"': "
    };
    tell(&[b"cannot write the ", kind, b" '", name, end], what, advice, variable);
}

/// Tells of a file that was written where it is, if names lead elsewhere than when the program
/// started.
pub fn tell_new_root(kind: &[u8], name: &[u8]) {
    if place::is_root_changed() {
        print(&[
            b"the ",
            kind,
            b" '",
            name,
            b"' is below the root directory that the program has changed to",
        ]);
    }
}

/// Prints the parts, what is wrong, and what to do about it, in which `@` stands for the variable.
pub fn tell(parts: &[&[u8]], what: &str, advice: &str, variable: &CStr) {
    let (before, after) = advice.split_once('@').unwrap_or((advice, ""));
    let variable = if before.len() == advice.len() { b"" } else { variable.to_bytes() };
    let end: [&[u8]; 5] = [what.as_bytes(), b"; ", before.as_bytes(), variable, after.as_bytes()];
    print_all(parts.iter().chain(&end).copied());
}

/// What went wrong, and what its reader can do about it.
///
/// libc's own texts are not asked for: they depend on the locale, and making them may allocate.
pub fn explain(failure: Failure) -> (&'static str, &'static str) {
    use Failure::{Refused, System};
    match failure {
        Refused(Refusal::Descriptor) => (
            "that is an open file of the program, as its standard output is, and no place for it",
            "set @ to the name of a file",
        ),
        Refused(Refusal::ForeignLink) => (
            "a symbolic link on the way there belongs to another user",
            "set @ to a file in a directory of your own",
        ),
        Refused(Refusal::ForeignFile) => (
            "the file that is there belongs to another user",
            "set @ to a file in a directory of your own",
        ),
        System(libc::EACCES | libc::EPERM) => {
            ("permission denied", "set @ to a file in a directory that the program may write to")
        }
        System(libc::EROFS) => (
            "read-only file system",
            "set @ to a file in a directory that the program may write to",
        ),
        System(libc::ENOSPC) => {
            ("no space left on device", "free space there or set @ to another place")
        }
        System(libc::EDQUOT) => {
            ("disk quota exceeded", "free space there or set @ to another place")
        }
        System(libc::EFBIG) => ("file too large", "raise the limit on file sizes (ulimit -f)"),
        System(libc::ENOENT) => {
            ("no such file or directory", "set @ to a file in a directory that exists")
        }
        System(libc::ENOTDIR) => ("not a directory", "set @ to a file in a directory that exists"),
        System(libc::EISDIR) => ("is a directory", "set @ to the name of a file"),
        System(libc::ENAMETOOLONG) => ("file name too long", "set @ to a shorter name"),
        System(libc::ELOOP) => ("too many symbolic links", "set @ to a file without such links"),
        System(libc::EMFILE | libc::ENFILE) => {
            ("too many open files", "raise the limit on open files (ulimit -n)")
        }
        System(libc::EIO) => ("input/output error", "check the device or set @ to another place"),
        System(libc::EINVAL) => {
            ("not a regular file", "set @ to the name of a regular or of a new file")
        }
        System(libc::EEXIST) => {
            ("too many temporary files of that name exist", "remove its '.tmp.*' neighbours")
        }
        System(libc::EBADMSG) => (
            "what is there is damaged or of another version, and cannot be added to",
            "remove it or set @ to another place",
        ),
        System(libc::ETIMEDOUT) => ("another process keeps it locked", "set @ to another place"),
        System(libc::ENOMEM) => ("no memory to add to what is there", "set @ to a name with %p"),
        System(_) => ("the system refused", "set @ to another place"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_no_leading_zeroes() {
        for value in [0, 7, 10, 1234567890, u64::MAX] {
            assert_eq!(Decimal::new(value).bytes(), value.to_string().as_bytes());
        }
    }
}
