//! `midflight export --to lcov`: line counts as an lcov tracefile.
//!
//! Lines have the counts of [`line_counts`]; over functions (an inline function of several units,
//! instances of a template) they add up.
//!
//! The format has no way to escape anything: what would end a line is [`visible`] in names.

use crate::analysis::edge_counts::line_counts;
use crate::commands::export::{Format, Writer};
use crate::format::numbers::add;
use crate::input::function::Function;
use midflight_profile::visible;
use std::collections::BTreeMap;
use std::io::{self, Write};

/// The format.
pub(super) const FORMAT: Format = Format {
    name: "lcov",
    about: "a tracefile with the counts of lines, for genhtml and editors",
    writer: Writer::Functions(write),
};

#[derive(Default)]
struct SourceFile {
    lines: BTreeMap<u32, u64>,
    functions: BTreeMap<(u32, String), u64>,
}

/// Writes a tracefile.
pub fn write(out: &mut dyn Write, functions: &[Function<'_>]) -> io::Result<()> {
    let mut files: BTreeMap<String, SourceFile> = BTreeMap::new();
    for function in functions {
        collect(function, &mut files);
    }
    writeln!(out, "TN:")?;
    for (name, file) in files.iter().filter(|(name, _)| !name.is_empty()) {
        write_file(out, name, file)?;
    }
    Ok(())
}

fn collect(function: &Function<'_>, files: &mut BTreeMap<String, SourceFile>) {
    let table = function.table;
    for ((file, line), count) in line_counts(function, |loc| Some((loc.file, loc.line))) {
        if let Some(name) = table.files.get(file as usize) {
            let file = files.entry(name.clone()).or_default();
            add(file.lines.entry(line).or_default(), count);
        }
    }
    if table.line > 0 {
        let file = files.entry(function.file().to_string()).or_default();
        let declared = (table.line, table.name.clone());
        add(file.functions.entry(declared).or_default(), function.entries());
    }
}

fn write_file(out: &mut dyn Write, name: &str, file: &SourceFile) -> io::Result<()> {
    writeln!(out, "SF:{}", visible(name))?;
    for (line, function) in file.functions.keys() {
        writeln!(out, "FN:{line},{}", visible(function))?;
    }
    for ((_, function), entries) in &file.functions {
        writeln!(out, "FNDA:{entries},{}", visible(function))?;
    }
    writeln!(out, "FNF:{}", file.functions.len())?;
    writeln!(out, "FNH:{}", file.functions.values().filter(|&&n| n > 0).count())?;
    for (line, count) in &file.lines {
        writeln!(out, "DA:{line},{count}")?;
    }
    writeln!(out, "LF:{}", file.lines.len())?;
    writeln!(out, "LH:{}", file.lines.values().filter(|&&n| n > 0).count())?;
    writeln!(out, "end_of_record")
}
