//! `midflight-bench hot`: the functions on which the thesis evaluates OSR mappings (5.4), as
//! bitcode in `target/hot/LLVM/NAME.bc`.
//!
//! What there is ([`functions`]), how one is compiled and extracted ([`bitcode`]), and how large
//! it is ([`count`]).

pub mod bitcode;
pub mod count;
pub mod functions;

use crate::error::Result;
use crate::layout::Layout;
use crate::llvm::tool;
use crate::table::markdown;
use crate::tally::Tally;
use bitcode::Extraction;
use count::Size;
use functions::Hot;
use std::path::PathBuf;

/// The columns of the table, the thesis's function and sizes last.
const HEADER: [&str; 9] = [
    "name",
    "program",
    "version",
    "function",
    "instructions",
    "phis",
    "in the thesis",
    "instructions",
    "phis",
];

/// Fetches, compiles and extracts functions, and prints their sizes beside those in the thesis.
/// One whose source is not available is skipped, with a line that says why; one that cannot be
/// extracted has failed.
///
/// # Errors
/// If there is no such LLVM.
pub fn hot(layout: &Layout, functions: &[&Hot], llvm: u32) -> Result<Tally> {
    tool("clang", llvm)?;
    let mut tally = Tally::default();
    let mut rows = Vec::new();
    for hot in functions {
        let row = match hot.origin.fetch_or_skip(layout, hot.name) {
            Ok(None) => continue,
            Ok(Some(version)) => extract(layout, hot, llvm, version),
            Err(error) => Err(error),
        };
        tally.check(hot.name, row.as_ref().err().map(ToString::to_string));
        rows.extend(row);
    }
    println!("{}", markdown(&HEADER, &rows));
    Ok(tally)
}

/// Fetches, compiles and extracts a function; where its results are, without an extension
/// ([`Extraction::run`]). None if its source is not available, after a line that says why.
///
/// # Errors
/// If it cannot be extracted.
pub fn made(layout: &Layout, hot: &Hot, llvm: u32) -> Result<Option<PathBuf>> {
    let Some(version) = hot.origin.fetch_or_skip(layout, hot.name)? else { return Ok(None) };
    make(layout, hot, llvm, &version).map(|(output, _)| Some(output))
}

fn make(layout: &Layout, hot: &Hot, llvm: u32, version: &str) -> Result<(PathBuf, Size)> {
    let extraction = Extraction {
        llvm,
        folder: &hot.origin.folder(layout),
        version,
        file: hot.file,
        flags: hot.flags,
        symbol: hot.symbol,
        output: layout.at("target/hot").join(llvm.to_string()).join(hot.name),
    };
    let size = extraction.run()?;
    Ok((extraction.output, size))
}

/// A row of the table.
fn extract(layout: &Layout, hot: &Hot, llvm: u32, version: String) -> Result<Vec<String>> {
    let sizes = |size: Size| [size.instructions, size.phis].map(|number| number.to_string());
    let mut row = [hot.name, hot.program, &version, hot.function].map(str::to_string).to_vec();
    row.extend(sizes(make(layout, hot, llvm, &version)?.1));
    row.push(hot.thesis.to_string());
    row.extend(sizes(hot.thesis_size));
    Ok(row)
}
