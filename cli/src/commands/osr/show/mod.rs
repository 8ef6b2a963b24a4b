//! `midflight osr show`: the OSR mappings that a binary carries (`osr-opt<maps=section>`), as text
//! ([`text`]) or JSON.

pub mod text;

use crate::commands::CommandError;
use crate::commands::arguments::Format;
use crate::format::json::Functions;
use crate::format::names::is_name;
use crate::input::binary::{self, BinaryError};
use clap::Args;
use midflight_abi::osr::OSR_MAPS_SECTION;
use midflight_profile::osr_maps::{FunctionMaps, MapsError, read_section};
use serde::Serialize;
use std::path::{Path, PathBuf};

pub(crate) const HELP: &str = "\
Of programs whose plugin was told to leave them there. The JSON has the shape of `print<osr-map;maps>`.

Examples:
  midflight cc '--midflight-osr-opt=gvn;maps=section' -O2 -o prog prog.c && midflight osr show prog
  midflight osr show prog --function compress --format json >compress.json";

#[derive(Args, Debug)]
pub(crate) struct OsrShow {
    /// A program, library or object file
    binary: PathBuf,
    /// Only this function, by its name or demangled name
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// As text or JSON
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    format: Format,
}

impl OsrShow {
    pub(crate) fn run(self) -> Result<(), CommandError> {
        let functions = read(&self.binary, self.function.as_deref())?;
        Ok(self.format.print(&document(&functions), |out| text::write(out, &functions))?)
    }
}

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
    #[error("reading the OSR mappings of '{0}': {1}")]
    Damaged(String, MapsError),
    /// There is no such function in the binary.
    #[error(
        "there is no function '{0}' with OSR mappings in '{1}'; `midflight osr show` without \
         --function shows them all"
    )]
    NoFunction(String, String),
}

/// The mappings of a binary, of one function if it is named, by file and name. What is
/// there several times, because several modules have the function, is there once.
pub fn read(path: &Path, function: Option<&str>) -> Result<Vec<FunctionMaps>, ShowError> {
    let name = path.display().to_string();
    let mut functions: Vec<FunctionMaps> = Vec::new();
    let [sections] = binary::sections(path, [OSR_MAPS_SECTION])?;
    for section in sections {
        let found =
            read_section(&section).map_err(|error| ShowError::Damaged(name.clone(), error))?;
        functions.extend(found);
    }
    if functions.is_empty() {
        return Err(ShowError::NoMaps(name));
    }
    if let Some(wanted) = function {
        functions.retain(|f| is_name(&f.name, wanted));
        if functions.is_empty() {
            return Err(ShowError::NoFunction(wanted.to_string(), name));
        }
    }
    functions.sort_by(|a, b| (&a.file, &a.name).cmp(&(&b.file, &b.name)));
    functions.dedup();
    Ok(functions)
}

/// What is shown as JSON.
pub fn document(functions: &[FunctionMaps]) -> impl Serialize {
    Functions { version: VERSION, functions }
}
