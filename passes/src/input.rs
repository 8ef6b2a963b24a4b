//! Reading the files that options name.

use std::fs;
use std::io;

/// Reads a file. A device or a pipe is none: it may never end, and each compiler reads it anew.
///
/// # Errors
/// If it is none, or cannot be read.
pub fn read(path: &str) -> io::Result<Vec<u8>> {
    let metadata = fs::metadata(path)?;
    if !metadata.is_file() && !metadata.is_dir() {
        return Err(io::Error::other("it is a device or a pipe, and must be a file"));
    }
    fs::read(path)
}
