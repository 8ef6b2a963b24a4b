//! Reading the profile that a run has left.

use crate::error::{Error, Result, read};
use midflight_profile::format::Profile;
use std::path::Path;

/// Reads a profile.
///
/// # Errors
/// If it is not there, or is none.
pub fn read_profile(file: &Path) -> Result<Profile> {
    Profile::read(&read(file)?).map_err(|error| Error::Malformed {
        what: format!("the profile '{}'", file.display()),
        problem: error.to_string(),
    })
}
