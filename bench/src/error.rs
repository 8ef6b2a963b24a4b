//! What can go wrong in the harness itself, as opposed to a check that fails.

use std::io;
use std::path::PathBuf;

/// An error of the harness.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A file or folder could not be used.
    #[error("{doing} '{}': {source}", path.display())]
    Io {
        /// What was being done
        doing: &'static str,
        /// To which file
        path: PathBuf,
        /// What is wrong
        source: io::Error,
    },
    /// A command could not be started, or failed.
    #[error("running '{command}': {what}")]
    Command {
        /// The command line, for a person
        command: String,
        /// What is wrong
        what: String,
    },
    /// A file does not say what it should.
    #[error("reading {what}: {problem}")]
    Malformed {
        /// Which file
        what: String,
        /// What is wrong
        problem: String,
    },
    /// Something that the user must provide is not there.
    #[error("{what}; {remedy}")]
    Missing {
        /// What is missing
        what: String,
        /// What to do
        remedy: String,
    },
}

/// Result with [`Error`].
pub type Result<T> = std::result::Result<T, Error>;

/// Adds to an I/O error what was being done to which file.
pub fn io(doing: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(io::Error) -> Error {
    let path = path.into();
    move |source| Error::Io { doing, path, source }
}

/// Reads a file whole.
///
/// # Errors
/// [`Error::Io`] with its name.
pub fn read(path: &std::path::Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(io("reading", path))
}

/// Writes a file, and makes the folders above it.
///
/// # Errors
/// [`Error::Io`] with its name.
pub fn write(path: &std::path::Path, bytes: &[u8]) -> Result<()> {
    if let Some(parent) = path.parent() {
        std::fs::create_dir_all(parent).map_err(io("making the folder", parent))?;
    }
    std::fs::write(path, bytes).map_err(io("writing", path))
}
