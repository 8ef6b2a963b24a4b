//! The dictionary of a function's acyclic paths: a letter, the lines, the source.

use crate::behaviour::LoopReport;
use crate::join::Function;
use crate::lines::{outer_lines, shortened};
use crate::report::loops::names;
use crate::report::print::{DIM, LETTER, grouped};
use crate::report::rank::{Ranked, Taken};
use crate::report::sequences::Sequence;
use crate::report::source::Sources;
use midflight_profile::table::{CutReason, Edge, Path, PathEnd, PathStart};
use rustc_hash::{FxHashMap, FxHashSet};
use std::fmt::Write;

/// Acyclic paths that are shown, at most, if no sequence names more.
const PATHS: usize = 6;
/// Of a path with less than this part of the function's work, and not among the first, no source is
/// shown.
const COLD: u128 = 100;
/// Source lines of a path that are shown, at most.
const LINES: usize = 12;
/// Ranges of line numbers of a path that are shown, at most.
const RANGES: usize = 8;
/// Blocks that are named to tell paths apart, at most.
const BLOCKS: usize = 6;
/// Characters of a source line that are shown, at most.
const WIDTH: usize = 100;

/// Writes the hottest acyclic paths, and those that a shown sequence or loop names.
pub fn write(
    text: &mut String,
    ranked: &Ranked<'_>,
    chosen: &[Sequence],
    loops: &[LoopReport],
    letters: &FxHashMap<u32, String>,
    sources: &mut Sources,
) {
    let named =
        |id: u32| chosen.iter().any(|s| s.ids.contains(&id)) || loops.iter().any(|l| names(l, id));
    let shown = ranked.paths.iter().enumerate().filter(|(i, taken)| *i < PATHS || named(taken.id));
    let entries: Vec<Entry<'_>> =
        shown.filter_map(|(_, taken)| Entry::new(ranked.function, taken, letters)).collect();
    // Writing to a string cannot fail.
    let _ = writeln!(text, "   {DIM}      % work             count   path{DIM:#}");
    for (index, entry) in entries.iter().enumerate() {
        entry.write_head(text, ranked, &distinction(entry, &entries));
        match entries[..index].iter().find(|other| other.lines == entry.lines) {
            Some(other) if sources.has(ranked.function.file()) && !entry.lines.is_empty() => {
                let _ = writeln!(text, "        {DIM}       | as {}{DIM:#}", other.letter);
            }
            _ if index < PATHS || entry.taken.work() * COLD >= ranked.work => {
                entry.write_source(text, ranked.function, sources);
            }
            _ => {}
        }
    }
    let left_out = ranked.paths.len() - entries.len();
    if left_out > 0 {
        let plural = if left_out == 1 { "" } else { "s" };
        let left_out = grouped(left_out as u64);
        let _ = writeln!(text, "   {DIM}{left_out} colder path{plural}{DIM:#}");
    }
}

/// What tells a path from those that look the same: blocks that not all of them have, as lines with
/// several branches have.
fn distinction(entry: &Entry<'_>, entries: &[Entry<'_>]) -> String {
    let twins: Vec<&Entry<'_>> = entries.iter().filter(|e| e.route == entry.route).collect();
    let special = |block: &u32| twins.iter().any(|twin| !twin.path.blocks.contains(block));
    let blocks: Vec<String> =
        entry.path.blocks.iter().filter(|b| special(b)).map(u32::to_string).collect();
    match &blocks[..] {
        [] => String::new(),
        [block] => format!("through block {block}, "),
        [first, .., last] if blocks.len() > BLOCKS => {
            format!("through blocks {first} … {last}, ")
        }
        _ => format!("through blocks {}, ", blocks.join(" ")),
    }
}

/// A path with what is said of it.
struct Entry<'a> {
    taken: &'a Taken,
    letter: &'a str,
    path: Path,
    lines: Vec<u32>,
    /// From where, on which lines, and where to
    route: String,
}

impl<'a> Entry<'a> {
    fn new(
        function: &Function<'_>,
        taken: &'a Taken,
        letters: &'a FxHashMap<u32, String>,
    ) -> Option<Self> {
        let path = function.path(taken.id)?;
        let letter = letters.get(&taken.id).map_or("?", String::as_str);
        let lines = outer_lines(function, &path);
        let route = route(function, &path);
        Some(Entry { taken, letter, path, lines, route })
    }

    fn write_head(&self, text: &mut String, ranked: &Ranked<'_>, distinction: &str) {
        let share = 100.0 * self.taken.work() as f64 / ranked.work.max(1) as f64;
        let count = grouped(self.taken.count);
        let (letter, route) = (self.letter, &self.route);
        let _ = writeln!(
            text,
            "   {LETTER}{letter:>3}{LETTER:#}  {share:5.1} %  {count:>15}×  {distinction}{route}"
        );
    }

    /// The text of its lines, each once.
    fn write_source(&self, text: &mut String, function: &Function<'_>, sources: &mut Sources) {
        let mut seen = FxHashSet::default();
        let mut shown = 0;
        for &line in self.lines.iter().filter(|&&line| seen.insert(line)) {
            let Some(source) = sources.line(function.file(), line) else { continue };
            if source.chars().all(|c| "{}; ".contains(c)) {
                continue;
            }
            if shown == LINES {
                let _ = writeln!(text, "        {DIM}       | …{DIM:#}");
                break;
            }
            shown += 1;
            let more = if source.chars().nth(WIDTH).is_some() { "…" } else { "" };
            let source: String = source.chars().take(WIDTH).collect();
            let _ = writeln!(text, "        {DIM}{line:>6} |{DIM:#} {source}{more}");
        }
    }
}

/// A path in words: from where, on which lines, and where to.
pub fn route(function: &Function<'_>, path: &Path) -> String {
    let lines = outer_lines(function, path);
    let numbers = match lines[..] {
        [] => "unknown lines".into(),
        [line] => format!("line {line}"),
        _ => format!("lines {}", shortened(&lines, RANGES)),
    };
    let (start, end) = (start_words(function, path), end_words(function, path));
    format!("{start}{numbers}{end}")
}

fn start_words(function: &Function<'_>, path: &Path) -> &'static str {
    match path.start {
        PathStart::Entry => "from the entry, ",
        PathStart::After(edge) => match function.table.edges.get(edge) {
            Some(Edge::Cut { why: CutReason::Restart, .. }) => "behind setjmp, ",
            _ => "",
        },
    }
}

fn end_words(function: &Function<'_>, path: &Path) -> String {
    match path.end {
        PathEnd::Exit(_) => ", then leaves".into(),
        PathEnd::Cut(edge) => match function.table.edges.get(edge) {
            Some(&Edge::Cut { to, why, .. }) => {
                let block = function.table.blocks.get(to as usize);
                let line = block.and_then(|b| b.locs.first()).map(|l| l.outer_line);
                let place = line.map_or(format!("block {to}"), |line| line.to_string());
                match why {
                    CutReason::Retreating => format!(", back to {place}"),
                    CutReason::Restart => ", into setjmp".into(),
                    CutReason::Bound | CutReason::Unsplittable => format!(", on to {place}"),
                }
            }
            _ => String::new(),
        },
    }
}
