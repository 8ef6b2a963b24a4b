//! OSR mappings as data: where on-stack replacement leads from each point of a function with two
//! versions, and how the values that are needed there are reconstructed (thesis 4.2, Def. 4.15).
//!
//! `print<osr-map;maps>` writes them as JSON, see `docs/osr-report.md`. `osr-opt<maps=section>`
//! leaves them in the binary, see `docs/format.md`, "The section of mappings":
//!
//! * [`Maps`]: the mappings of a function, both ways
//! * [`FunctionMaps::encode`]: a record of the section
//! * [`read_section`]: all records of a binary

mod decode;
mod encode;
mod model;
mod pieces;
#[cfg(feature = "serde")]
pub mod report;
pub mod version;

use alloc::format;
use alloc::string::String;

pub use crate::record::{Damage, key_of};
pub use decode::{MapsError, MapsErrorKind, read_section};
pub use model::{
    Ahead, Both, Came, Expr, FunctionMaps, MapExpr, MapPoint, Maps, OwedStore, sources,
};
pub use version::{PerVersion, Version};

/// The name of a value where values of both versions are spoken of, `base` and `opt`. Values
/// without a name have numbers, which each version gives anew.
pub fn name_in(version: &str, name: &str) -> String {
    let number = name.strip_prefix('%').unwrap_or_default();
    if !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()) {
        return format!("{version}:{name}");
    }
    name.into()
}

/// Bits of an expression's number that say what it is.
const TAG_BITS: u32 = 3;

/// A value of the version that is left
const TAG_SOURCE: u64 = 0;
/// A constant
const TAG_CONSTANT: u64 = 1;
/// An instruction that is done again
const TAG_REPEAT: u64 = 2;
/// What memory has in the place of a store
const TAG_CONTENT: u64 = 3;
/// What is extended to something
const TAG_NARROW: u64 = 4;

#[cfg(test)]
mod tests {
    use super::name_in;

    #[test]
    fn numbers_are_those_of_a_version() {
        assert_eq!(name_in("base", "%5"), "base:%5");
        assert_eq!(name_in("opt", "%5"), "opt:%5");
        for name in ["%x", "%5x", "%x5", "%", "", "%\"5 6\"", "instruction 5"] {
            assert_eq!(name_in("opt", name), name);
        }
    }
}
