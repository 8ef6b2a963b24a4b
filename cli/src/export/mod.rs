//! `midflight export`: what was counted, in formats of other tools.

pub mod dot;
pub mod folded;
pub mod html;
pub mod lcov;
pub mod sample_profile;
pub mod svg;
pub mod unrolling;
pub mod weights;

use crate::document::Document;
use crate::json;
use std::io::{self, Write};

/// Writes the document as JSON.
///
/// # Errors
/// If the output cannot be written.
pub fn write_json(out: &mut dyn Write, document: &Document) -> io::Result<()> {
    json::write(out, document)?;
    writeln!(out)
}
