//! In how many places a mutant of the plugin has done something wrong, as the binary says.

use crate::error::{Error, Result, read};
use midflight_abi::osr::OSR_MUTANT_SECTION;
use object::{Object, ObjectSection};
use std::path::Path;

/// Reads the number of changes of all functions of a binary; 0 if it says nothing.
///
/// # Errors
/// If it is no object file.
pub fn changes(binary: &Path) -> Result<u64> {
    let malformed = |error: object::Error| Error::Malformed {
        what: format!("'{}'", binary.display()),
        problem: error.to_string(),
    };
    let bytes = read(binary)?;
    let file = object::File::parse(&*bytes).map_err(malformed)?;
    let Some(section) = file.section_by_name(OSR_MUTANT_SECTION) else { return Ok(0) };
    Ok(sum(section.data().map_err(malformed)?))
}

/// The sum of numbers of 8 bytes.
fn sum(data: &[u8]) -> u64 {
    data.chunks_exact(8)
        .map(|number| number.iter().rev().fold(0, |n, &b| n << 8 | u64::from(b)))
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_little_endian() {
        assert_eq!(sum(&[1, 2, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0]), 0x201 + 5);
        assert_eq!(sum(&[]), 0);
    }
}
