//! Reading the tables of a binary.

use crate::error::{Error, Result};
use crate::sections::section;
use midflight_abi::RECORD_SECTION;
use midflight_profile::table::{ContextTable, FunctionTable, Records, read_section};
use std::path::Path;

/// All tables of paths of a binary, in their order.
///
/// # Errors
/// If it is no object file, has no tables, or they are not right.
pub fn tables(binary: &Path) -> Result<Vec<FunctionTable>> {
    records(binary).map(|records| records.paths)
}

/// The same of calling contexts.
///
/// # Errors
/// As for [`tables`].
pub fn context_tables(binary: &Path) -> Result<Vec<ContextTable>> {
    records(binary).map(|records| records.contexts)
}

fn records(binary: &Path) -> Result<Records> {
    let malformed = |problem: String| Error::Malformed {
        what: format!("the tables of '{}'", binary.display()),
        problem,
    };
    let data = section(binary, RECORD_SECTION)?;
    let data = data.ok_or_else(|| malformed("there are none".to_string()))?;
    read_section(&data).map_err(|error| malformed(error.to_string()))
}
