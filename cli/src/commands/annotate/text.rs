//! `midflight annotate`: the source, with how often each line ran, which paths go over it, and
//! which functions it calls.

use super::calls::{Row, Rows, rows};
use crate::analysis::interval::Interval;
use crate::document::{Calls, Document, FunctionDocument, PathDocument, Source};
use crate::format::known;
use crate::format::numbers::{Percent, grouped};
use crate::input::sources::Sources;
use anstyle::{AnsiColor, Style};
use midflight_profile::visible;
use std::borrow::Cow;
use std::collections::BTreeMap;
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
pub(super) const DIM: Style = Style::new().dimmed();

const OF_PATHS: &str = "\
Beside each line: how often it ran, and which of the function's hottest paths go over it. The share of
a path is of the function's work, count times instructions.
";
const OF_CALLS: &str = "\
Beside a function's declaration: how often it was called, and below it by which functions (←), in percent of
that. Beside each line that calls: how often it did, and below it which functions (→).
";
const OF_BOTH: &str = "\
Below a function's declaration: by which functions it was called (←), how often, and in percent of all its
calls. Below each line: which functions it has called (→), and how often.
";

/// What most counts take.
const WIDTH: usize = 15;

/// Lines about one with calls that are shown where it is not known how often each line ran.
const AROUND: u32 = 3;

/// A function with its source.
pub struct Annotated<'d> {
    /// Its paths
    pub paths: Option<&'d FunctionDocument<'d>>,
    /// Its place among the functions of which calls were counted
    pub calls: Option<usize>,
    /// Its lines
    pub source: Cow<'d, Source>,
}

impl<'d> Annotated<'d> {
    /// A function of which no calls were counted.
    pub fn of_paths(paths: &'d FunctionDocument<'d>) -> Self {
        Annotated { paths: Some(paths), calls: None, source: Cow::Borrowed(&paths.source) }
    }

    /// A function of which calls alone were counted.
    pub fn of_calls(calls: &Calls<'_>, place: usize, sources: &mut Sources) -> Self {
        let source = Cow::Owned(calls.source(place, sources));
        Annotated { paths: None, calls: Some(place), source }
    }
}

/// How much is shown.
pub struct Extent {
    /// Columns of paths
    pub paths: usize,
    /// Calls below a line
    pub calls: usize,
}

/// Writes functions of a document, of calls, or of both.
pub fn annotate(
    functions: &[Annotated<'_>],
    document: &Document<'_>,
    calls: Option<&Calls<'_>>,
    extent: &Extent,
) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail, here and in what is called.
    let legend = match (calls, document.profiled) {
        (None, _) => [OF_PATHS, ""],
        (Some(_), 0) => [OF_CALLS, ""],
        (Some(_), _) => [OF_PATHS, OF_BOTH],
    };
    let _ = writeln!(text, "{DIM}{}{DIM:#}", legend.concat());
    if functions.is_empty() {
        let _ = writeln!(text, "no function that ran is to be shown");
    }
    for function in functions {
        write_title(&mut text, function, document, calls);
        let rows = function.calls.zip(calls).map(|(place, calls)| rows(calls, place, extent.calls));
        write_function(&mut text, function, extent.paths.min(PATHS), rows);
        text.push('\n');
    }
    text
}

fn write_title(
    text: &mut String,
    function: &Annotated<'_>,
    document: &Document<'_>,
    calls: Option<&Calls<'_>>,
) {
    let mut about: Vec<String> = Vec::new();
    let mut title: Option<(String, String)> = None;
    if let Some(paths) = function.paths {
        about.push(format!("{} of the work", Percent::of(paths.work, document.work)));
        title = Some((paths.readable.clone(), format!("{}:{}", visible(&paths.file), paths.line)));
    }
    if let Some((place, calls)) = function.calls.zip(calls) {
        let called = calls.called(place);
        let at = match called.line() {
            0 => String::new(),
            line => format!("{}:{line}", visible(called.file())),
        };
        title = title.or(Some((called.readable(), at)));
        if let Some(all) = &calls.of_function(place).activations {
            let times = calls.document.times(all);
            let share = times.share_of(Interval::exact(calls.document.activations));
            let (count, share) = (known::count(times), known::percent(share));
            let activations =
                if times == Interval::exact(1) { "activation" } else { "activations" };
            about.push(format!("{count} {activations}, {share} of all"));
        }
    }
    let (name, place) = title.unwrap_or_default();
    let parts = [place, about.join("; ")].into_iter().filter(|part| !part.is_empty());
    let parts: String = parts.map(|part| format!("  {part}")).collect();
    let _ = writeln!(text, "{TITLE}{name}{TITLE:#}{parts}");
}

fn write_function(text: &mut String, function: &Annotated<'_>, columns: usize, rows: Option<Rows>) {
    let paths = function.paths.map_or(&[][..], |f| &f.paths[..f.paths.len().min(columns)]);
    write_paths(text, paths, function.paths.map_or(0, |paths| paths.work));
    let source = &function.source;
    if source.text.is_empty() {
        let _ = writeln!(text, "  {DIM}it has no lines: it was compiled without -g{DIM:#}");
    } else if !source.found {
        let _ =
            writeln!(text, "  {DIM}the file was not found; --source-dir says where to look{DIM:#}");
    }
    let wide = rows.as_ref().map_or(0, Rows::width).max(WIDTH);
    let (mut below, calls) = rows.map_or_else(Default::default, |rows| (rows.below, rows.counts));
    let mut last = source.first;
    for line in shown_lines(function, &below) {
        if line > last + 1 && source.found {
            let space = wide + paths.len();
            let _ = writeln!(text, "{:space$}    {DIM}{:>6}{DIM:#}", "", "…");
        }
        last = line;
        let count = match function.paths {
            Some(_) => source.counts.get(&line).map(|&count| grouped(count)),
            None => calls.get(&line).cloned(),
        };
        let code = &source.text[(line - source.first) as usize];
        write_line(text, (line, code), count, paths, wide);
        for row in below.remove(&line).into_iter().flatten() {
            write_row(text, &row, wide, paths.len());
        }
    }
    // Lines that are far away, or have no number
    for (line, rows) in below.into_iter().filter(|(_, rows)| !rows.is_empty()) {
        if line > 0 {
            write_line(text, (line, ""), calls.get(&line).cloned(), &[], wide + paths.len());
        }
        rows.iter().for_each(|row| write_row(text, row, wide, paths.len()));
    }
}

fn write_paths(text: &mut String, paths: &[PathDocument], work: u128) {
    for (path, color) in paths.iter().zip(COLORS) {
        let share = Percent::of(path.work(), work);
        let style = color.on_default().bold();
        let _ = writeln!(
            text,
            "  {style}{:>2}{style:#} {share:>7}  {:>15}×  {}",
            path.letter,
            known::count(path.times()),
            path.route
        );
    }
}

/// The lines of the source that are shown. Without the source only those that have code say
/// anything, and where it is not known how often lines ran only those about calls.
fn shown_lines(function: &Annotated<'_>, below: &BTreeMap<u32, Vec<Row>>) -> Vec<u32> {
    let source = &function.source;
    let has_calls = |line: u32| below.get(&line).is_some_and(|rows| !rows.is_empty());
    let is_near =
        |line: u32, by: u32| (line.saturating_sub(by)..=line.saturating_add(by)).any(has_calls);
    let all = (source.first..).zip(&source.text).map(|(line, _)| line);
    all.filter(|&line| match (source.found, function.paths) {
        (true, Some(_)) => true,
        // A line in place of one that says that a line is left out
        (true, None) => {
            is_near(line, AROUND) || is_near(line - 1, AROUND) && is_near(line + 1, AROUND)
        }
        (false, _) => source.counts.contains_key(&line) || has_calls(line),
    })
    .collect()
}

fn write_row(text: &mut String, row: &Row, wide: usize, columns: usize) {
    let _ = writeln!(text, "{:>wide$}  {:columns$}           {}", row.count, "", row.what);
}

fn write_line(
    text: &mut String,
    (line, code): (u32, &str),
    count: Option<String>,
    paths: &[PathDocument],
    wide: usize,
) {
    let is_never = count.as_deref() == Some("0");
    let _ = write!(text, "{:>wide$}  ", count.unwrap_or_default());
    for (path, color) in paths.iter().zip(COLORS) {
        let style = color.on_default().bold();
        if path.lines.contains(&line) {
            let _ = write!(text, "{style}{}{style:#}", path.letter);
        } else {
            text.push('.');
        }
    }
    let dim = if is_never { DIM } else { Style::new() };
    let ends = code.trim_end();
    let space = if ends.is_empty() { "" } else { " " };
    let _ = writeln!(text, "  {DIM}{line:>6} |{DIM:#}{space}{dim}{ends}{dim:#}");
}
