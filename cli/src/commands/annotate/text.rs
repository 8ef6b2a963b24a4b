//! `midflight annotate`: the source, with how often each line ran and which paths go over it.

use crate::document::{Document, FunctionDocument, PathDocument};
use crate::format::known;
use crate::format::numbers::{Percent, grouped};
use anstyle::{AnsiColor, Style};
use midflight_profile::visible;
use std::fmt::Write;

/// Paths that have a column, at most: as many as there are colours.
pub const PATHS: usize = COLORS.len();

const COLORS: [AnsiColor; 6] = [
    AnsiColor::Red,
    AnsiColor::Yellow,
    AnsiColor::Green,
    AnsiColor::Cyan,
    AnsiColor::Blue,
    AnsiColor::Magenta,
];
const TITLE: Style = Style::new().bold();
const DIM: Style = Style::new().dimmed();

const LEGEND: &str = "\
Beside each line: how often it ran, and which of the function's hottest paths go over it. The share of
a path is of the function's work, count times instructions.
";

/// Writes the document's functions, with up to `paths` columns.
pub fn annotate(document: &Document<'_>, paths: usize) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{DIM}{LEGEND}{DIM:#}");
    if document.functions.is_empty() {
        let _ = writeln!(text, "no function that ran is to be shown");
    }
    for function in &document.functions {
        let share = Percent::of(function.work, document.work);
        let place = format!("{}:{}", visible(&function.file), function.line);
        let _ =
            writeln!(text, "{TITLE}{}{TITLE:#}  {place}  {share} of the work", function.readable);
        write_function(&mut text, function, paths.min(PATHS));
        text.push('\n');
    }
    text
}

fn write_function(text: &mut String, function: &FunctionDocument<'_>, columns: usize) {
    let paths = &function.paths[..function.paths.len().min(columns)];
    for (path, color) in paths.iter().zip(COLORS) {
        let share = Percent::of(path.work(), function.work);
        let style = color.on_default().bold();
        let _ = writeln!(
            text,
            "  {style}{:>2}{style:#} {share:>7}  {:>15}×  {}",
            path.letter,
            known::count(path.times()),
            path.route
        );
    }
    let source = &function.source;
    if source.counts.is_empty() {
        let _ = writeln!(text, "  {DIM}it has no lines: it was compiled without -g{DIM:#}");
    } else if !source.found {
        let _ =
            writeln!(text, "  {DIM}the file was not found; --source-dir says where to look{DIM:#}");
    }
    for (line, code) in (source.first..).zip(&source.text) {
        let count = source.counts.get(&line);
        // Without the source only lines that have code say anything.
        if source.found || count.is_some() {
            write_line(text, line, count.copied(), code, paths);
        }
    }
}

fn write_line(
    text: &mut String,
    line: u32,
    count: Option<u64>,
    code: &str,
    paths: &[PathDocument],
) {
    let shown = count.map_or(String::new(), grouped);
    let _ = write!(text, "{shown:>15}  ");
    for (path, color) in paths.iter().zip(COLORS) {
        let style = color.on_default().bold();
        if path.lines.contains(&line) {
            let _ = write!(text, "{style}{}{style:#}", path.letter);
        } else {
            text.push('.');
        }
    }
    let dim = if count == Some(0) { DIM } else { Style::new() };
    let ends = code.trim_end();
    let space = if ends.is_empty() { "" } else { " " };
    let _ = writeln!(text, "  {DIM}{line:>6} |{DIM:#}{space}{dim}{ends}{dim:#}");
}
