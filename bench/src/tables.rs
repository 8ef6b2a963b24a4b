//! Reading the path tables of a binary.

use crate::error::{Error, Result, read};
use midflight_profile::table::{FunctionTable, read_section};
use object::{Object, ObjectSection};
use std::path::Path;

/// All tables of a binary, in their order.
///
/// # Errors
/// If it is no object file, has no tables, or they are not right.
pub fn tables(binary: &Path) -> Result<Vec<FunctionTable>> {
    let malformed = |problem: String| Error::Malformed {
        what: format!("the tables of '{}'", binary.display()),
        problem,
    };
    let bytes = read(binary)?;
    let file = object::File::parse(&*bytes).map_err(|error| malformed(error.to_string()))?;
    let section = file.section_by_name(midflight_abi::RECORD_SECTION);
    let section = section.ok_or_else(|| malformed("there are none".to_string()))?;
    let data = section.data().map_err(|error| malformed(error.to_string()))?;
    read_section(data).map_err(|error| malformed(error.to_string()))
}
