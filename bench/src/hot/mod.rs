//! `midflight-bench hot`: the functions on which the thesis evaluates OSR mappings (5.4), as
//! bitcode in `target/hot/LLVM/NAME.bc`.
//!
//! What there is ([`functions`]), how one is compiled and extracted ([`bitcode`]), and how large
//! it is ([`count`]).

pub mod bitcode;
pub mod count;
pub mod functions;

use crate::debian;
use crate::error::{Error, Result};
use crate::fetch::{fetch, version};
use crate::layout::Layout;
use crate::llvm::tool;
use crate::table::markdown;
use crate::tally::Tally;
use bitcode::Extraction;
use count::Size;
use functions::{Hot, Origin};
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
/// One whose source cannot be had is skipped, with a line that says why; one that cannot be
/// extracted has failed.
///
/// # Errors
/// If there is no such LLVM.
pub fn hot(layout: &Layout, functions: &[&Hot], llvm: u32) -> Result<Tally> {
    tool("clang", llvm)?;
    let mut tally = Tally::default();
    let mut rows = Vec::new();
    for hot in functions {
        let source = match source(layout, hot) {
            Err(Error::Missing { what, .. }) => {
                println!("{}: skipped: {what}", hot.name);
                continue;
            }
            source => source,
        };
        match source.and_then(|source| extract(layout, hot, llvm, source)) {
            Ok(row) => {
                rows.push(row);
                tally.check(hot.name, None);
            }
            Err(error) => {
                tally.check(hot.name, Some(error.to_string()));
            }
        }
    }
    println!("{}", markdown(&HEADER, &rows));
    Ok(tally)
}

/// The folder that paths of a function begin from, and the version of what is in it.
struct Source {
    folder: PathBuf,
    version: String,
}

fn source(layout: &Layout, hot: &Hot) -> Result<Source> {
    match hot.origin {
        Origin::Own => Ok(Source {
            folder: layout.corpus().join("shootout"),
            version: env!("CARGO_PKG_VERSION").to_string(),
        }),
        Origin::Crate(name, folder) => {
            fetch(layout, &[name])?;
            let package = layout.sources().join(name);
            let version = version(&package).unwrap_or_default();
            Ok(Source { folder: package.join(folder), version })
        }
        Origin::Debian(main, others) => {
            for package in others {
                debian::fetch(layout, package)?;
            }
            let version = debian::fetch(layout, &main)?;
            Ok(Source { folder: debian::folder(layout, &main), version })
        }
    }
}

/// A row of the table.
fn extract(layout: &Layout, hot: &Hot, llvm: u32, source: Source) -> Result<Vec<String>> {
    let extraction = Extraction {
        llvm,
        folder: &source.folder,
        version: &source.version,
        file: hot.file,
        flags: hot.flags,
        symbol: hot.symbol,
        output: layout.at("target/hot").join(llvm.to_string()).join(hot.name),
    };
    let sizes = |size: Size| [size.instructions, size.phis].map(|number| number.to_string());
    let mut row =
        [hot.name, hot.program, &source.version, hot.function].map(str::to_string).to_vec();
    row.extend(sizes(extraction.run()?));
    row.push(hot.thesis.to_string());
    row.extend(sizes(hot.thesis_size));
    Ok(row)
}
