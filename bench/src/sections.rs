//! Sections and symbols of a binary.

use crate::error::{Error, Result, read};
use object::{Object, ObjectSection, ObjectSymbol};
use std::collections::BTreeSet;
use std::path::Path;

/// What a section of a binary has; none if there is no such section.
///
/// # Errors
/// If it is no object file.
pub fn section(binary: &Path, name: &str) -> Result<Option<Vec<u8>>> {
    let bytes = read(binary)?;
    let malformed = malformed(binary);
    let file = object::File::parse(&*bytes).map_err(&malformed)?;
    let Some(section) = file.section_by_name(name) else { return Ok(None) };
    Ok(Some(section.data().map_err(malformed)?.to_vec()))
}

/// The names of the functions and data that a binary defines.
///
/// # Errors
/// If it is no object file.
pub fn defined(binary: &Path) -> Result<BTreeSet<String>> {
    let bytes = read(binary)?;
    let file = object::File::parse(&*bytes).map_err(malformed(binary))?;
    let symbols = file.symbols().filter(|symbol| symbol.is_definition());
    Ok(symbols.filter_map(|symbol| Some(symbol.name().ok()?.to_string())).collect())
}

fn malformed(binary: &Path) -> impl Fn(object::Error) -> Error {
    move |error| Error::Malformed {
        what: format!("'{}'", binary.display()),
        problem: error.to_string(),
    }
}
