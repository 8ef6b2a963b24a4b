//! The records in a binary.

use crate::input::file::{self, Unreadable};
use midflight_abi::{RECORD_SECTION, SKIPPED_SECTION};
use midflight_profile::table::{ContextTable, FunctionTable, Records, TableError, read_section};
use object::{Object, ObjectSection};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// An executable or a library with its records.
pub struct Image {
    /// The file
    pub path: PathBuf,
    /// What the profile calls it
    pub signature: u64,
    /// The functions of which paths are profiled, in the order of the section
    pub tables: Vec<FunctionTable>,
    /// Those of which calling contexts are profiled
    pub contexts: Vec<ContextTable>,
    /// The functions that were left alone: name and reason
    pub skipped: BTreeSet<(String, String)>,
}

/// Why a binary cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum BinaryError {
    /// The file cannot be read.
    #[error(transparent)]
    Unreadable(#[from] Unreadable),
    /// It is no ELF file.
    #[error("reading the binary '{0}': it is not an ELF executable or library ({1})")]
    NotElf(String, object::Error),
    /// It was not instrumented.
    #[error(
        "reading the binary '{0}': it has no tables of Midflight; was it built with `midflight cc`, and \
         is it the program that wrote the profile?"
    )]
    NoTables(String),
    /// The section is damaged.
    #[error("reading the tables of '{0}': {1}")]
    Damaged(String, TableError),
}

impl Image {
    /// Reads a binary's records.
    pub fn open(path: &Path) -> Result<Self, BinaryError> {
        let name = path.display().to_string();
        let mut all = Records::default();
        let [records, skips] = sections(path, [RECORD_SECTION, SKIPPED_SECTION])?;
        for data in &records {
            let records =
                read_section(data).map_err(|error| BinaryError::Damaged(name.clone(), error))?;
            all.paths.extend(records.paths);
            all.contexts.extend(records.contexts);
        }
        if all.is_empty() {
            return Err(BinaryError::NoTables(name));
        }
        let skipped = skips.iter().flat_map(|data| skipped(data)).collect();
        let signature = all.signature();
        let Records { paths: tables, contexts } = all;
        Ok(Image { path: path.to_path_buf(), signature, tables, contexts, skipped })
    }
}

/// The names and reasons of a section; a name without a reason is left out.
fn skipped(section: &[u8]) -> Vec<(String, String)> {
    let texts: Vec<_> = section.split(|&byte| byte == 0).map(String::from_utf8_lossy).collect();
    // Behind the last zero byte there is an empty text.
    let pairs = texts.chunks_exact(2).filter(|pair| pair.iter().all(|text| !text.is_empty()));
    pairs.map(|pair| (pair[0].to_string(), pair[1].to_string())).collect()
}

/// For each name the contents of the sections of this name. An object file has one for each comdat;
/// a linked image has one.
///
/// # Errors
/// If there is no such file, or it is no ELF file.
pub fn sections<const N: usize>(
    path: &Path,
    names: [&str; N],
) -> Result<[Vec<Vec<u8>>; N], BinaryError> {
    let bytes = file::read("the binary", path)?;
    let not_elf = |error| BinaryError::NotElf(path.display().to_string(), error);
    let file = object::File::parse(&*bytes).map_err(not_elf)?;
    let mut found = [const { Vec::new() }; N];
    for section in file.sections() {
        for (name, found) in names.iter().zip(&mut found) {
            if section.name() == Ok(name) {
                found.push(section.uncompressed_data().map_err(not_elf)?.into_owned());
            }
        }
    }
    Ok(found)
}
