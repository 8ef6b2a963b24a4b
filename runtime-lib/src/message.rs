//! Lines on standard error.

use crate::file::Failure;
use crate::signal::Blocked;
use crate::sys;
use core::ffi::CStr;

/// Parts of a message; more are left out.
const MAX_PARTS: usize = 12;

/// Prints `midflight: `, the parts and a line end with a single system call, so that lines of
/// several processes do not mix. A standard error that is closed is no error.
pub fn print(parts: &[&[u8]]) {
    let blocked = Blocked::new();
    let texts = [b"midflight: ".as_slice()].into_iter();
    let texts = texts.chain(parts.iter().copied().take(MAX_PARTS)).chain([b"\n".as_slice()]);
    let mut pieces = [piece(b""); MAX_PARTS + 2];
    let mut used: libc::c_int = 0;
    for (place, text) in pieces.iter_mut().zip(texts) {
        *place = piece(text);
        used += 1;
    }
    // SAFETY: the pieces and what they point to live through the call.
    let written = unsafe { libc::writev(libc::STDERR_FILENO, pieces.as_ptr(), used) };
    if written < 0 {
        blocked.discard_write_signal(sys::errno());
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
    /// Formats `value`.
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

    /// The digits.
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
    let (what, advice) = explain(failure.0);
    // `@` stands for the variable.
    let (before, after) = advice.split_once('@').unwrap_or((advice, ""));
    let variable = if before.len() == advice.len() { b"" } else { variable.to_bytes() };
    print(&[
        b"cannot write the ",
        kind,
        b" '",
        name,
        b"': ",
        what.as_bytes(),
        b"; ",
        before.as_bytes(),
        variable,
        after.as_bytes(),
    ]);
}

/// What an error number of the system means, and what its reader can do about it.
///
/// libc's own texts are not asked for: they depend on the locale, and making them may allocate.
pub fn explain(error: i32) -> (&'static str, &'static str) {
    match error {
        libc::EACCES | libc::EPERM => {
            ("permission denied", "set @ to a file in a directory that the program may write to")
        }
        libc::EROFS => (
            "read-only file system",
            "set @ to a file in a directory that the program may write to",
        ),
        libc::ENOSPC => ("no space left on device", "free space there or set @ to another place"),
        libc::EDQUOT => ("disk quota exceeded", "free space there or set @ to another place"),
        libc::EFBIG => ("file too large", "raise the limit on file sizes (ulimit -f)"),
        libc::ENOENT => ("no such file or directory", "set @ to a file in a directory that exists"),
        libc::ENOTDIR => ("not a directory", "set @ to a file in a directory that exists"),
        libc::EISDIR => ("is a directory", "set @ to the name of a file"),
        libc::ENAMETOOLONG => ("file name too long", "set @ to a shorter name"),
        libc::ELOOP => ("too many symbolic links", "set @ to a file without such links"),
        libc::EMFILE | libc::ENFILE => {
            ("too many open files", "raise the limit on open files (ulimit -n)")
        }
        libc::EIO => ("input/output error", "check the device or set @ to another place"),
        libc::EINVAL => ("not a regular file", "set @ to the name of a regular or of a new file"),
        libc::EEXIST => {
            ("too many temporary files of that name exist", "remove its '.tmp.*' neighbours")
        }
        libc::EBADMSG => (
            "what is there is damaged or of another version, and cannot be added to",
            "remove it or set @ to another place",
        ),
        libc::ETIMEDOUT => ("another process keeps it locked", "set @ to another place"),
        libc::ENOMEM => ("no memory to add to what is there", "set @ to a name with %p"),
        _ => ("the system refused", "set @ to another place"),
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
