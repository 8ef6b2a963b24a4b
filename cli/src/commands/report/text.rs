//! The report as text.

use crate::analysis::behaviour::behaviour;
use crate::analysis::behaviour::dispatch::dispatches;
use crate::analysis::rank::{Ranked, rank};
use crate::analysis::sequences::{Sequence, folded, pick};
use crate::commands::report::tree::{self, percent};
use crate::commands::report::{dispatch, flat, loops, memory, paths};
use crate::document::{Events, events, wanted};
use crate::format::names::{file_name, readable};
use crate::format::numbers::grouped;
use crate::input::function::Function;
use crate::input::samples::{PARTS, Samples};
use crate::input::session::Skipped;
use crate::input::sources::Sources;
use anstyle::{AnsiColor, Style};
use midflight_profile::table::{CutReason, Edge};
use midflight_profile::visible;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;
use std::fmt::Write;

/// What is shown.
pub struct Options {
    /// How many functions
    pub top: usize,
    /// How many multi-iteration paths of each
    pub sequences: usize,
    /// Least share of the function's work, in percent
    pub min_percent: f64,
    /// Only functions with this in their names
    pub function: Option<String>,
    /// Samples: what work is counted in, in place of instructions
    pub samples: Option<Samples>,
    /// How many loops of each
    pub loops: usize,
    /// Trees in place of chosen paths
    pub tree: bool,
    /// A line a function, and nothing else of it
    pub flat: bool,
    /// Explain what the words mean
    pub legend: bool,
    /// What is not profiled, by the reason
    pub skipped: Skipped,
}

/// Functions that were left alone for one reason and are named, at most.
const NAMES: usize = 6;

const TITLE: Style = Style::new().bold();
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

/// The report.
pub fn report(
    title: &str,
    functions: &[Function<'_>],
    options: &Options,
    sources: &mut Sources,
    progress: &dyn Fn(u64),
) -> String {
    let all = rank(functions, options.samples.as_ref());
    let total: u128 = all.iter().map(|r| r.work).sum();
    let wanted: Vec<&Ranked<'_>> = wanted(&all, options.function.as_deref()).collect();
    let shown = &wanted[..wanted.len().min(options.top)];
    let mut text = String::new();
    // Writing to a string cannot fail.
    let ks: BTreeSet<u32> = all.iter().map(|ranked| ranked.function.k()).collect();
    let _ = writeln!(
        text,
        "{TITLE}{}{}{TITLE:#}\n{}",
        visible(title),
        k_words(&ks),
        events_line(&events(&all))
    );
    memory::write(&mut text, &all);
    if !options.skipped.is_empty() {
        let _ = writeln!(text, "{}", skipped_line(functions.len(), &options.skipped));
    }
    if let Some(samples) = &options.samples {
        let _ = writeln!(text, "{}", samples_line(samples, total));
    }
    text.push('\n');
    if options.legend && !options.flat {
        let _ = writeln!(text, "{DIM}{LEGEND}{DIM:#}");
    }
    if shown.is_empty() {
        let _ = writeln!(text, "no function that ran is to be shown");
    } else if options.flat {
        flat::write(&mut text, shown, total);
    } else {
        let mut report = Report { text: &mut text, total, mixed: ks.len() > 1, options, sources };
        for (index, ranked) in shown.iter().enumerate() {
            report.write_function(index + 1, ranked);
            progress(index as u64 + 1);
        }
    }
    let hidden = wanted.len() - shown.len();
    if hidden > 0 {
        let plural = if hidden == 1 { "" } else { "s" };
        let _ = writeln!(text, "{DIM}{hidden} more function{plural} ran; --top shows more{DIM:#}");
    }
    text
}

/// One line on how whole the profile is.
fn events_line(events: &Events) -> String {
    let Events { paths, activations, interrupted, pruned, lost } = *events;
    let [paths, activations, interrupted, pruned, lost] =
        [paths, activations, interrupted, pruned, lost].map(grouped);
    format!(
        "emitted: {paths} paths by {activations} activations; interrupted activations: \
         {interrupted}; paths pruned: {pruned}, lost: {lost}"
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
fn skipped_line(instrumented: usize, skipped: &Skipped) -> String {
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
fn samples_line(samples: &Samples, work: u128) -> String {
    let found = work as f64 / PARTS / samples.total as f64;
    format!(
        "work is counted in samples, not in instructions: {} of them, {:.1} % on lines of functions \
         that were profiled and ran",
        grouped(samples.total),
        100.0 * found
    )
}

/// What is written of each function.
struct Report<'a> {
    text: &'a mut String,
    /// Work of all functions
    total: u128,
    /// True if functions have different k
    mixed: bool,
    options: &'a Options,
    sources: &'a mut Sources,
}

impl Report<'_> {
    fn write_function(&mut self, number: usize, ranked: &Ranked<'_>) {
        let options = self.options;
        self.write_head(number, ranked);
        let (text, function) = (&mut *self.text, ranked.function);
        write_notes(text, function);
        let letters = ranked.letters();
        let ipf = ranked.k_ipf();
        let chosen = pick(ranked, &ipf, options.sequences, options.min_percent);
        let loops =
            loops::pick(ranked, behaviour(ranked, &ipf), options.loops, options.min_percent);
        paths::write(text, ranked, &chosen, &loops, &letters, self.sources);
        if options.tree {
            let _ = writeln!(text, "   Trees: % of the parent (% of the root)");
            tree::write(text, ranked, &ipf, &letters, options.min_percent);
        } else if !chosen.is_empty() {
            write_sequences(text, ranked, &chosen, &letters);
        }
        loops::write(text, ranked, &loops, function.k(), &letters);
        dispatch::write(text, &dispatches(ranked, &ipf));
        text.push('\n');
    }

    fn write_head(&mut self, number: usize, ranked: &Ranked<'_>) {
        let function = ranked.function;
        let share = 100.0 * ranked.work as f64 / self.total.max(1) as f64;
        let text = &mut *self.text;
        let _ = writeln!(
            text,
            "{TITLE}{number}. {}{TITLE:#}  {}:{}  {HOT}{share:.1} % of the work{HOT:#}",
            readable(&function.table.name),
            file_name(function.file()),
            function.table.line,
        );
        let (entries, interrupted) = (function.entries(), function.interrupted());
        let _ = write!(text, "   entered {}", times(entries));
        if interrupted > 0 {
            let _ = write!(text, ", {} of them interrupted", grouped(interrupted));
        }
        let k = if self.mixed { format!("; k = {}", function.k()) } else { String::new() };
        let paths = taken(ranked.paths.len() as u64, function.table.num_paths);
        let _ = writeln!(text, "; {paths}{k}");
    }
}

fn write_notes(text: &mut String, function: &Function<'_>) {
    let bound = |e: &&Edge| matches!(e, Edge::Cut { why: CutReason::Bound, .. });
    let cut = function.table.edges.iter().filter(bound).count();
    if cut > 0 {
        let edges = if cut == 1 { "1 edge was".into() } else { format!("{cut} edges were") };
        let _ = writeln!(
            text,
            "   {DIM}{edges} cut because it has too many paths: a path ends there as at a back \
             edge{DIM:#}"
        );
    }
    memory::write_bounds(text, function);
}

fn write_sequences(
    text: &mut String,
    ranked: &Ranked<'_>,
    chosen: &[Sequence],
    letters: &FxHashMap<u32, String>,
) {
    let _ = writeln!(text, "   {DIM}          count   % parent     % root   sequence{DIM:#}");
    let function = ranked.function;
    let instructions = |&id: &u32| function.path(id).map_or(0, |path| function.instructions(&path));
    for sequence in chosen {
        let of_parent = percent(sequence.count, sequence.parent);
        let of_root = percent(sequence.count, sequence.root);
        let length: u64 = sequence.ids.iter().map(instructions).sum();
        let _ = writeln!(
            text,
            "   {:>15}   {of_parent:6.1} %   {of_root:6.1} %   {LETTER}{}{LETTER:#}{DIM}  ({} paths, \
             {length} instructions){DIM:#}",
            grouped(sequence.count),
            folded(&sequence.ids, letters),
            sequence.ids.len(),
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
