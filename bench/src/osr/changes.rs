//! In how many places a mutant of the plugin has done something wrong, as the binary says.

use crate::error::Result;
use crate::sections::section;
use midflight_abi::osr::OSR_MUTANT_SECTION;
use std::path::Path;

/// Reads the number of changes of all functions of a binary; 0 if it says nothing.
///
/// # Errors
/// If it is no object file.
pub fn changes(binary: &Path) -> Result<u64> {
    Ok(section(binary, OSR_MUTANT_SECTION)?.map_or(0, |data| sum(&data)))
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
