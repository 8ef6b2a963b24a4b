//! The report as text.

use crate::analysis::sequences::folded;
use crate::commands::report::{dispatch, flat, loops, memory, paths, tree};
use crate::document::{Document, Events, Extent, FunctionDocument, Pruning};
use crate::format::known;
use crate::format::names::file_name;
use crate::format::numbers::{Percent, grouped, plural};
use crate::input::samples::PARTS;
use crate::input::session::Skipped;
use crate::input::sources::Sources;
use anstyle::{AnsiColor, Style};
use midflight_profile::table::{CutReason, Edge};
use midflight_profile::visible;
use std::collections::BTreeSet;
use std::fmt::Write;

/// What is shown of the document.
pub struct Options {
    /// How many loops of each function
    pub loops: usize,
    /// Explain what the words mean
    pub legend: bool,
}

/// Functions that were left alone for one reason and are named, at most.
const NAMES: usize = 6;

pub(super) const TITLE: Style = Style::new().bold();
pub(crate) const LETTER: Style = AnsiColor::Cyan.on_default().bold();
pub(crate) const HOT: Style = AnsiColor::Red.on_default().bold();
pub(crate) const HINT: Style = AnsiColor::Green.on_default();
pub(crate) const DIM: Style = Style::new().dimmed();

const LEGEND: &str = "\
A path is one way through a function: from where it is entered, or from the head of a loop, to where
it is left or goes back. Paths have letters, A for the one with the most work. Work is counted in
instructions executed, those of LLVM: a function has so much of all that was profiled, a path or a
loop so much of its function. A sequence A → B says that one activation of the function took A and
then, in the next iteration, B; A ×8 is A eight times in a row.
  count      how often the whole sequence was taken (sequences overlap: A ×9 contains A ×8 twice)
  % parent   how often the sequence without its last path went on like this
  % root     how often its first path was the beginning of the whole sequence
  % ways     of the iterations behind the first, the share that went this way around the loop
  mean run   how many times on end it went this way
";

/// What is added to the legend where not all counts are known.
const BOUNDS: &str = concat!(
    "  7 (≤ 9)    memory was full: the count is 7 to 9. ≥ 50 % is that or more, ≈ 50 % nearly that, and\n",
    "             ? is not known\n",
);

/// The report of a document of this extent: of each function chosen sequences, or trees that are
/// pruned by counts; or a line a function.
pub fn report(
    title: &str,
    document: &Document<'_>,
    extent: &Extent,
    options: &Options,
    sources: &mut Sources,
) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail, here and in what is called.
    let _ = writeln!(
        text,
        "{TITLE}{}{}{TITLE:#}\n{}",
        visible(title),
        k_words(&document.ks),
        events_line(&document.events)
    );
    memory::write(&mut text, document);
    if !document.skipped_names.is_empty() {
        let _ = writeln!(text, "{}", skipped_line(document.profiled, &document.skipped_names));
    }
    if let Some(samples) = document.samples {
        let _ = writeln!(text, "{}", samples_line(samples, document.work));
    }
    text.push('\n');
    if options.legend && !extent.flat {
        let bounds = if document.shortage.functions > 0 { BOUNDS } else { "" };
        let _ = writeln!(text, "{DIM}{LEGEND}{bounds}{DIM:#}");
    }
    if document.list.is_empty() {
        let _ = writeln!(text, "no function that ran is to be shown");
    } else if extent.flat {
        flat::write(&mut text, document);
    } else {
        for (f, number) in document.functions.iter().zip(1..) {
            write_head(&mut text, number, f, document);
            write_function(&mut text, f, extent, options, sources);
        }
    }
    let hidden = document.left_out;
    if hidden > 0 {
        let plural = plural(hidden);
        let _ = writeln!(text, "{DIM}{hidden} more function{plural} ran; --top shows more{DIM:#}");
    }
    text
}

/// One line on how whole the profile is.
fn events_line(events: &Events) -> String {
    let Events { paths, activations, interrupted, truncated, lost } = *events;
    let [paths, activations, interrupted, truncated, lost] =
        [paths, activations, interrupted, truncated, lost].map(grouped);
    format!(
        "emitted: {paths} paths by {activations} activations; interrupted activations: \
         {interrupted}; paths truncated: {truncated}, lost: {lost}"
    )
}

/// `, k = 4`, or all of them where functions were compiled with several.
fn k_words(ks: &BTreeSet<u32>) -> String {
    let words: Vec<String> = ks.iter().map(u32::to_string).collect();
    match words.split_last() {
        None => String::new(),
        Some((only, [])) => format!(", k = {only}"),
        Some((last, others)) => {
            format!(", k = {} and {last}, as functions were compiled", others.join(", "))
        }
    }
}

/// What is not profiled, by the names of the reasons that remarks have.
pub(super) fn skipped_line(instrumented: usize, skipped: &Skipped) -> String {
    let reason = |(why, names): (&String, &Vec<String>)| {
        let more = if names.len() > NAMES { ", …" } else { "" };
        let first: Vec<&str> = names.iter().take(NAMES).map(String::as_str).collect();
        format!("{} {} ({}{more})", names.len(), visible(why), first.join(", "))
    };
    let reasons: Vec<String> = skipped.iter().map(reason).collect();
    let number: usize = skipped.values().map(Vec::len).sum();
    format!("functions: {instrumented} profiled, {number} left alone: {}", reasons.join(", "))
}

/// What work is counted in where there are samples.
fn samples_line(samples: u64, work: u128) -> String {
    let found = work as f64 / PARTS / samples as f64;
    format!(
        "work is counted in samples, not in instructions: {} of them, {} on lines of functions \
         that were profiled and ran",
        grouped(samples),
        Percent::share(found)
    )
}

fn write_head(text: &mut String, number: usize, f: &FunctionDocument<'_>, document: &Document<'_>) {
    let _ = writeln!(
        text,
        "{TITLE}{number}. {}{TITLE:#}  {}:{}  {HOT}{} of the work{HOT:#}",
        f.readable,
        file_name(&f.file),
        f.line,
        Percent::of(f.work, document.work)
    );
    let _ = write!(text, "   entered {}", times(f.entries));
    if f.interrupted > 0 {
        let _ = write!(text, ", {} of them interrupted", grouped(f.interrupted));
    }
    let k = if document.ks.len() > 1 { format!("; k = {}", f.k) } else { String::new() };
    let paths = taken(f.paths.len() as u64, f.function.table.num_paths);
    let _ = writeln!(text, "; {paths}{}{k}", short_words(f));
}

/// How much of a function was counted in part only, where something was.
fn short_words(f: &FunctionDocument<'_>) -> String {
    let part = |(number, what): (u64, &str)| {
        if number == 0 { String::new() } else { format!("; {} {what}", grouped(number)) }
    };
    [(f.truncated, "truncated"), (f.restarts, "restarts"), (f.lost, "lost")].map(part).concat()
}

fn write_function(
    text: &mut String,
    f: &FunctionDocument<'_>,
    extent: &Extent,
    options: &Options,
    sources: &mut Sources,
) {
    write_bound(text, f);
    let loops = loops::pick(f, options.loops, extent.min_percent);
    paths::write(text, f, &loops, sources);
    if extent.pruning == Pruning::ByCount {
        tree::write(text, f);
    } else if !f.sequences.is_empty() {
        write_sequences(text, f);
    }
    loops::write(text, f, &loops);
    dispatch::write(text, &f.dispatches);
    text.push('\n');
}

fn write_bound(text: &mut String, f: &FunctionDocument<'_>) {
    let bound = |e: &&Edge| matches!(e, Edge::Cut { why: CutReason::Bound, .. });
    let edges = match f.function.table.edges.iter().filter(bound).count() {
        0 => return,
        1 => "1 edge was".into(),
        more => format!("{more} edges were"),
    };
    let _ = writeln!(
        text,
        "   {DIM}{edges} cut because it has too many paths: a path ends there as at a back edge{DIM:#}"
    );
}

fn write_sequences(text: &mut String, f: &FunctionDocument<'_>) {
    let counts: Vec<String> = f.sequences.iter().map(|s| known::count(s.times())).collect();
    // A bound of a count takes more room than most counts do.
    let wide = counts.iter().map(|count| count.chars().count()).fold(15, usize::max);
    let _ = writeln!(text, "   {DIM}{:>wide$}   % parent     % root   sequence{DIM:#}", "count");
    for (sequence, count) in f.sequences.iter().zip(counts) {
        let paths = || sequence.paths.iter().map(|&place| &f.paths[place]);
        let letters: Vec<&str> = paths().map(|path| path.letter.as_str()).collect();
        let _ = writeln!(
            text,
            "   {count:>wide$}   {:>8}   {:>8}   {LETTER}{}{LETTER:#}{DIM}  ({} paths, {} instructions){DIM:#}",
            known::percent(sequence.times().share_of(sequence.parent)),
            known::percent(sequence.times().share_of(sequence.root)),
            folded(&letters),
            letters.len(),
            paths().map(|path| path.instructions).sum::<u64>(),
        );
    }
}

fn taken(seen: u64, of: u32) -> String {
    match (seen, of) {
        (1, 1) => "its only path was taken".into(),
        (1, _) => format!("1 of its {} paths was taken", grouped(u64::from(of))),
        _ => format!("{} of its {} paths were taken", grouped(seen), grouped(u64::from(of))),
    }
}

fn times(count: u64) -> String {
    match count {
        1 => "once".into(),
        _ => format!("{} times", grouped(count)),
    }
}
