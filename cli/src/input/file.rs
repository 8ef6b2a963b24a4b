//! Reading files that a person, or another file, has named.

use std::fs::File;
use std::io::{self, Read};
use std::os::unix::fs::FileTypeExt;
use std::path::Path;

/// A file cannot be read.
#[derive(Debug, thiserror::Error)]
#[error("reading {what} '{path}': {error}")]
pub struct Unreadable {
    /// What it is for
    pub what: &'static str,
    /// The file
    pub path: String,
    /// Why
    pub error: io::Error,
}

impl Unreadable {
    /// For `map_err`.
    pub fn of(what: &'static str, path: &Path) -> impl Fn(io::Error) -> Unreadable {
        move |error| Unreadable { what, path: path.display().to_string(), error }
    }
}

/// Bytes that are read of a device, at most.
const MOST: u64 = 1 << 20;

/// Reads a file, `what` for messages. A device that has more than a MiB to give may never end, as
/// `/dev/zero`.
///
/// # Errors
/// If it cannot be read; with [`io::ErrorKind::FileTooLarge`] for such a device.
pub fn read(what: &'static str, path: &Path) -> Result<Vec<u8>, Unreadable> {
    bytes(path).map_err(Unreadable::of(what, path))
}

fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    if !path.metadata()?.file_type().is_char_device() {
        return std::fs::read(path);
    }
    let mut bytes = Vec::new();
    File::open(path)?.take(MOST + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MOST {
        return Err(io::Error::new(io::ErrorKind::FileTooLarge, "it is a device and does not end"));
    }
    Ok(bytes)
}
