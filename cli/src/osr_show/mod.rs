//! `midflight osr show`: the OSR mappings that a binary carries (`osr-opt<maps=section>`), as text
//! ([`text`]) or JSON.

pub mod text;

use crate::binary::{self, BinaryError};
use crate::json;
use crate::names::readable;
use midflight_abi::osr::OSR_MAPS_SECTION;
use midflight_profile::osr_maps::{FunctionMaps, MapsError, read_section};
use serde::Serialize;
use std::io::{self, Write};
use std::path::Path;

/// The version of the format.
pub const VERSION: u32 = 1;

/// Why mappings cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum ShowError {
    /// It is no binary.
    #[error(transparent)]
    Binary(#[from] BinaryError),
    /// It has none.
    #[error(
        "reading the binary '{0}': it has no OSR mappings; was it built with \
         `midflight cc --midflight-osr-opt` and its option maps=section?"
    )]
    NoMaps(String),
    /// The section is damaged.
    #[error("reading the OSR mappings of '{path}': {error}")]
    Damaged {
        /// The file
        path: String,
        /// Why
        error: MapsError,
    },
    /// No such function.
    #[error(
        "there is no function '{name}' with OSR mappings in '{path}'; `midflight osr show` without \
         --function shows them all"
    )]
    NoFunction {
        /// As it was asked for
        name: String,
        /// The binary
        path: String,
    },
}

/// The mappings of a binary, of one function if it is named, by file and name. What is
/// there several times, because several modules have the function, is there once.
///
/// # Errors
/// [`ShowError`]
pub fn read(path: &Path, function: Option<&str>) -> Result<Vec<FunctionMaps>, ShowError> {
    let name = path.display().to_string();
    let mut functions: Vec<FunctionMaps> = Vec::new();
    let [sections] = binary::sections(path, [OSR_MAPS_SECTION])?;
    for section in sections {
        let found = read_section(&section)
            .map_err(|error| ShowError::Damaged { path: name.clone(), error })?;
        functions.extend(found);
    }
    if functions.is_empty() {
        return Err(ShowError::NoMaps(name));
    }
    if let Some(wanted) = function {
        functions.retain(|f| f.name == wanted || readable(&f.name) == wanted);
        if functions.is_empty() {
            return Err(ShowError::NoFunction { name: wanted.to_string(), path: name });
        }
    }
    functions.sort_by(|a, b| (&a.file, &a.name).cmp(&(&b.file, &b.name)));
    functions.dedup();
    Ok(functions)
}

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    functions: &'a [FunctionMaps],
}

/// As JSON.
///
/// # Errors
/// Of the output.
pub fn write_json(out: &mut dyn Write, functions: &[FunctionMaps]) -> io::Result<()> {
    json::write(out, &Document { version: VERSION, functions })?;
    writeln!(out)
}
