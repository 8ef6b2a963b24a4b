//! The dictionary of a function's acyclic paths: a letter, the lines, the source.

use crate::commands::report::loops::names;
use crate::commands::report::text::{DIM, LETTER};
use crate::document::{FunctionDocument, LoopDocument, PathDocument};
use crate::format::known;
use crate::format::lines::shortened;
use crate::format::names::file_name;
use crate::format::numbers::{Percent, grouped, plural};
use crate::input::function::Function;
use crate::input::sources::Sources;
use midflight_profile::table::Loc;
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
/// Lines whose parts are named to tell paths apart, at most.
const PARTS: usize = 4;
/// Characters of a source line that are shown, at most.
const WIDTH: usize = 100;

/// Writes the hottest acyclic paths, and those that a shown sequence or loop names.
pub fn write(
    text: &mut String,
    f: &FunctionDocument<'_>,
    loops: &[&LoopDocument],
    sources: &mut Sources,
) {
    let is_named = |place: usize, path: &PathDocument| {
        f.sequences.iter().any(|s| s.paths.contains(&place))
            || loops.iter().any(|l| names(&l.report, path.id))
    };
    let places = f.paths.iter().enumerate();
    let shown = places.filter(|(place, path)| *place < PATHS || is_named(*place, path));
    let shown: Vec<&PathDocument> = shown.map(|(_, path)| path).collect();
    let _ = writeln!(text, "   {DIM}      % work             count   path{DIM:#}");
    for (index, &path) in shown.iter().enumerate() {
        write_head(text, f, path, &distinction(f.function, path, &shown));
        match shown[..index].iter().find(|other| other.lines == path.lines) {
            Some(other) if sources.has(&f.file) && !path.lines.is_empty() => {
                let _ = writeln!(text, "        {DIM}       | as {}{DIM:#}", other.letter);
            }
            _ if index < PATHS || path.work() * COLD >= f.work => {
                write_source(text, f, path, sources);
            }
            _ => {}
        }
    }
    let left_out = f.paths.len() - shown.len();
    if left_out > 0 {
        let (number, plural) = (grouped(left_out as u64), plural(left_out));
        let _ = writeln!(text, "   {DIM}{number} colder path{plural}{DIM:#}");
    }
}

fn write_head(text: &mut String, f: &FunctionDocument<'_>, path: &PathDocument, distinction: &str) {
    let (share, count) = (Percent::of(path.work(), f.work), known::count(path.times()));
    let PathDocument { letter, route, .. } = path;
    let _ = writeln!(
        text,
        "   {LETTER}{letter:>3}{LETTER:#}  {share:>7}  {count:>15}×  {distinction}{route}"
    );
}

/// The text of a path's lines, each once.
fn write_source(
    text: &mut String,
    f: &FunctionDocument<'_>,
    path: &PathDocument,
    sources: &mut Sources,
) {
    let mut seen = FxHashSet::default();
    let mut shown = 0;
    for &line in path.lines.iter().filter(|&&line| seen.insert(line)) {
        let Some(source) = sources.line(&f.file, line) else { continue };
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

/// What tells a path from those that look the same, in terms of the source: lines that were inlined
/// and not all of them have, or else parts of lines.
fn distinction(function: &Function<'_>, path: &PathDocument, shown: &[&PathDocument]) -> String {
    let twins: Vec<&PathDocument> =
        shown.iter().copied().filter(|other| other.route == path.route).collect();
    let has = |twin: &PathDocument, loc: &Loc| function.locs(&twin.blocks).any(|l| l == loc);
    let inlined: Vec<&Loc> = function
        .locs(&path.blocks)
        .filter(|loc| loc.line != loc.outer_line || loc.file != function.table.file)
        .filter(|loc| !twins.iter().all(|twin| has(twin, loc)))
        .collect();
    if !inlined.is_empty() {
        return format!("through {}, ", inlined_words(function, &inlined));
    }
    let not_of_all = |path: &PathDocument| -> Vec<u32> {
        let of_all = |block: &u32| twins.iter().all(|twin| twin.blocks.contains(block));
        path.blocks.iter().copied().filter(|block| !of_all(block)).collect()
    };
    let own = not_of_all(path);
    if !own.is_empty() {
        return format!("through {}, ", parts(function, &own));
    }
    let mut others: Vec<u32> = twins.iter().flat_map(|twin| not_of_all(twin)).collect();
    others.sort_unstable();
    others.dedup();
    if others.is_empty() {
        String::new()
    } else {
        format!("not through {}, ", parts(function, &others))
    }
}

/// Lines of inlined code, with the names of their files.
fn inlined_words(function: &Function<'_>, locs: &[&Loc]) -> String {
    let mut words: Vec<String> = Vec::new();
    for of_file in locs.chunk_by(|a, b| a.file == b.file) {
        let mut lines: Vec<u32> = of_file.iter().map(|loc| loc.line).collect();
        lines.dedup();
        let file = function.table.files.get(of_file[0].file as usize).map_or("", String::as_str);
        words.push(format!("{}:{}", file_name(file), shortened(&lines, RANGES)));
    }
    words.join(" ")
}

/// Blocks as parts of the lines that they begin with: those of a line are counted in the order of
/// the function.
fn parts(function: &Function<'_>, blocks: &[u32]) -> String {
    let lines: Vec<u32> =
        (0..function.table.blocks.len() as u32).map(|block| function.line_of(block)).collect();
    let mut of_line: FxHashMap<u32, usize> = FxHashMap::default();
    let mut number: Vec<usize> = Vec::with_capacity(lines.len());
    for &line in &lines {
        let before = of_line.entry(line).or_default();
        *before += 1;
        number.push(*before);
    }
    let part = |&block: &u32| {
        let line = *lines.get(block as usize)?;
        Some((line, number[block as usize], of_line[&line]))
    };
    let parts: Vec<(u32, usize, usize)> = blocks.iter().filter_map(part).collect();
    let mut words: Vec<String> = Vec::new();
    let mut at = 0;
    // What has no line is a block, each for itself.
    for group in parts.chunk_by(|a, b| a.0 == b.0 && a.0 > 0) {
        let (line, _, of) = group[0];
        let block = blocks[at];
        at += group.len();
        let numbers: Vec<String> = group.iter().map(|(_, number, _)| number.to_string()).collect();
        words.push(match (line, &numbers[..]) {
            (0, _) => format!("block {block}"),
            (_, _) if of == 1 => format!("line {line}"),
            (_, [one]) => format!("part {one} of {of} of line {line}"),
            _ => format!("parts {} of {of} of line {line}", numbers.join(" ")),
        });
    }
    match &words[..] {
        [first, .., last] if words.len() > PARTS => format!("{first} … {last}"),
        _ => words.join(" and "),
    }
}
