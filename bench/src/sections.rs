//! Sections of a binary.

use crate::error::{Error, Result, read};
use object::{Object, ObjectSection};
use std::path::Path;

/// What a section of a binary has; none if there is no such section.
///
/// # Errors
/// If it is no object file.
pub fn section(binary: &Path, name: &str) -> Result<Option<Vec<u8>>> {
    let malformed = |error: object::Error| Error::Malformed {
        what: format!("'{}'", binary.display()),
        problem: error.to_string(),
    };
    let bytes = read(binary)?;
    let file = object::File::parse(&*bytes).map_err(malformed)?;
    let Some(section) = file.section_by_name(name) else { return Ok(None) };
    Ok(Some(section.data().map_err(malformed)?.to_vec()))
}
