//! Finding the tools of a version of LLVM.

use crate::error::{Error, Result};
use std::path::PathBuf;

/// Finds a tool: `NAME-VERSION` in the path, else in Debian's folder of that version.
///
/// # Errors
/// [`Error::Missing`] with the package to install.
pub fn tool(name: &str, version: u32) -> Result<PathBuf> {
    let versioned = format!("{name}-{version}");
    let in_path = std::env::var_os("PATH").and_then(|path| {
        std::env::split_paths(&path).map(|dir| dir.join(&versioned)).find(|file| file.is_file())
    });
    let debian = PathBuf::from(format!("/usr/lib/llvm-{version}/bin/{name}"));
    match in_path {
        Some(path) => Ok(path),
        None if debian.is_file() => Ok(debian),
        None => Err(Error::Missing {
            what: format!("'{versioned}' is not installed"),
            remedy: format!("install the package clang-{version} or llvm-{version}"),
        }),
    }
}
