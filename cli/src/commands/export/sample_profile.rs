//! The text that `clang -fprofile-sample-use=FILE` takes, as `llvm-profdata show --sample` reads
//! it:
//!
//! ```text
//! FUNCTION:TOTAL:ENTRIES
//!  OFFSET: COUNT
//! ```
//!
//! with lines as offsets from the function's declaration. Counts are exact where other profiles
//! have samples. A line's is that of its block that ran most, as LLVM takes the most of a block's
//! instructions. Code that was inlined when the program was instrumented is left out, since its
//! line is another function's; so profile with the stage `early`, as is the default.
//!
//! A name that the format cannot hold is written as it may be shown, and so meets no function.

use crate::analysis::edge_counts::line_counts;
use crate::commands::export::{Format, Writer, sample_contexts};
use crate::format::numbers::add;
use crate::input::function::Function;
use midflight_profile::table::Loc;
use midflight_profile::visible;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The format.
pub(super) const FORMAT: Format = Format {
    name: "sample-profile",
    about: "the text that clang -fprofile-sample-use takes, of paths or calls (--contexts)",
    writer: Writer::Samples(write, sample_contexts::write),
};

/// LLVM keeps so many bits of an offset.
const OFFSET: u32 = 0xffff;

/// What a function has, or several of one name.
#[derive(Clone, Default)]
pub(super) struct Samples {
    /// Activations
    pub(super) entries: u64,
    /// Counts of its lines, by their offsets
    pub(super) lines: BTreeMap<u32, u64>,
}

/// Writes all functions, those that never ran too.
pub fn write(out: &mut dyn Write, functions: &[Function<'_>]) -> io::Result<()> {
    let mut by_name: BTreeMap<&str, Samples> = BTreeMap::new();
    // Without debug information there is nothing to count lines from.
    for function in functions.iter().filter(|f| f.table.line > 0) {
        by_name.entry(&function.table.name).or_default().collect(function);
    }
    for (name, samples) in by_name {
        let total = samples.lines.values().copied().fold(0, u64::saturating_add);
        writeln!(out, "{}:{total}:{}", held(name), samples.entries)?;
        for (offset, count) in samples.lines {
            writeln!(out, " {offset}: {count}")?;
        }
    }
    Ok(())
}

/// A name that a line may begin with: one of a comment, a line or a context is none, nor is an
/// empty one.
fn held(name: &str) -> String {
    match (name.chars().next(), visible(name)) {
        (None, _) => r"\x00".into(),
        (Some(first @ (' ' | '#' | '[')), name) => format!(r"\x{:02x}{}", first as u32, &name[1..]),
        (_, name) => name,
    }
}

impl Samples {
    /// Adds a function. Local functions of one name in several units are one to LLVM.
    pub(super) fn collect(&mut self, function: &Function<'_>) {
        let table = function.table;
        add(&mut self.entries, function.entries());
        let offset = |loc: &Loc| own_offset(loc, table.file, table.line);
        for (offset, count) in line_counts(function, offset) {
            add(self.lines.entry(offset).or_default(), count);
        }
    }
}

/// How far a line is behind the declaration of its function, as far as LLVM tells that; none of
/// code that was inlined.
pub(super) fn own_offset(loc: &Loc, file: u32, line: u32) -> Option<u32> {
    let is_own = loc.line > 0 && loc.file == file && loc.line == loc.outer_line;
    loc.line.checked_sub(line).filter(|_| is_own).map(|offset| offset & OFFSET)
}
