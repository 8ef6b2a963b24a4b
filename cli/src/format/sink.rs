//! Where a command's result goes: standard output, or a file that is whole or not there.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A result cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("writing '{path}': {error}")]
pub struct WriteError {
    pub path: String,
    pub error: io::Error,
}

impl WriteError {
    /// True if the reader of a pipe has gone away: nothing to complain about.
    pub fn is_broken_pipe(&self) -> bool {
        self.error.kind() == io::ErrorKind::BrokenPipe
    }
}

/// Lets `body` write to standard output, or to `path` by way of a temporary file beside it. A link
/// there is replaced, unless it stands for an open file, as `/dev/stdout`: what is written is added
/// to that.
///
/// # Errors
/// If anything cannot be written; the file at `path` is then as it was.
pub fn write_to(
    path: Option<&Path>,
    body: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> Result<(), WriteError> {
    let name = path.map_or("standard output".into(), |p| p.display().to_string());
    let failed = |error| WriteError { path: name.clone(), error };
    let out: Box<dyn Write> = match path {
        None => Box::new(io::stdout().lock()),
        Some(path) if is_descriptor(path) => {
            Box::new(File::options().append(true).open(path).map_err(failed)?)
        }
        // A device or a pipe is written to as it is; renaming would replace it.
        Some(path) if path.metadata().is_ok_and(|m| !m.is_file() && !m.is_dir()) => {
            Box::new(File::create(path).map_err(failed)?)
        }
        Some(path) => return write_file(path, body).map_err(failed),
    };
    let mut out = BufWriter::new(out);
    body(&mut out).and_then(|()| out.flush()).map_err(failed)
}

/// Whether a name leads to a link in `/proc`, which stands for what a process has open.
fn is_descriptor(path: &Path) -> bool {
    let mut path = path.to_path_buf();
    for _ in 0..MAX_LINKS {
        let Ok(target) = path.read_link() else { return false };
        let Ok(folder) = folder_of(&path).canonicalize() else { return false };
        if folder.starts_with("/proc") {
            return true;
        }
        path = folder.join(target);
    }
    false
}

/// Links that are followed, as in Linux.
const MAX_LINKS: u32 = 40;

fn folder_of(path: &Path) -> PathBuf {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder.to_path_buf(),
        _ => PathBuf::from("."),
    }
}

fn write_file(path: &Path, body: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let folder = folder_of(path);
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    // As any new file: readable for whom the umask allows it.
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o666);
    let file =
        tempfile::Builder::new().prefix(".midflight-").permissions(mode).tempfile_in(folder)?;
    let mut out = BufWriter::new(file);
    body(&mut out)?;
    let file = out.into_inner().map_err(io::IntoInnerError::into_error)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}
