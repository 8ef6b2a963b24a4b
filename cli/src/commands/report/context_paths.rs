//! `--context-paths`: which paths a function takes for which caller.

use crate::commands::report::text::{DIM, HOT, TITLE};
use crate::document::context_paths::{Caller, ContextOf, ContextPaths, Counted, FunctionPaths};
use crate::format::names::file_name;
use crate::format::numbers::{Percent, grouped, plural};
use midflight_profile::visible;
use std::fmt::Write;

const LEGEND: &str = "\
For each of the hottest functions that were called often enough in several contexts: its acyclic paths, and
below them the contexts, each with its activations and the paths that it takes.
  main:20 → f:8   called by f in line 8, which main has called in line 20
  A 97.5 %        that part of the paths taken in this context are A
";

/// Paths of a context that are named.
const NAMED: usize = 6;

/// Callers that are named of a context, and paths and contexts that are listed of a function.
const CALLERS: usize = 6;
const PATHS: usize = 12;
const CONTEXTS: usize = 20;

/// The report.
pub fn report(title: &str, document: &ContextPaths, legend: bool) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail, here and in what is called.
    let _ = writeln!(text, "{TITLE}{}{TITLE:#}", visible(title));
    if legend {
        let _ = write!(text, "\n{DIM}{LEGEND}{DIM:#}");
    }
    for function in &document.functions {
        write_function(&mut text, function);
    }
    if document.left_out != 0 {
        let _ = writeln!(
            text,
            "\n{DIM}{} more function{}; --top shows more{DIM:#}",
            grouped(document.left_out as u64),
            plural(document.left_out)
        );
    }
    text
}

fn write_function(text: &mut String, function: &FunctionPaths) {
    let FunctionPaths { readable, file, line, entries, paths, contexts, others, .. } = function;
    let place = match line {
        0 => String::new(),
        line => format!("  {DIM}{}:{line}{DIM:#}", file_name(file)),
    };
    let _ = writeln!(
        text,
        "\n{TITLE}{readable}{TITLE:#}{place}\n  {} activations, {} context{} with paths of their own",
        grouped(*entries),
        grouped(contexts.len() as u64),
        plural(contexts.len())
    );
    let all: u64 = paths.iter().fold(0, |sum, path| sum.saturating_add(path.count));
    let width = paths.iter().map(|path| path.letter.len()).max().unwrap_or(1);
    for path in paths.iter().take(PATHS) {
        let share = Percent::of(path.count, all);
        let _ = writeln!(
            text,
            "  {HOT}{:>width$}{HOT:#}  {share:>8}  {:>15}×  {}",
            path.letter,
            grouped(path.count),
            visible(&path.route)
        );
    }
    write_more(text, paths.len().saturating_sub(PATHS), "path");
    let _ = writeln!(text, "  {DIM}    activations   paths{DIM:#}");
    for context in contexts.iter().take(CONTEXTS) {
        let name = named(context);
        write_counted(text, function, &context.counted, &name);
    }
    write_more(text, contexts.len().saturating_sub(CONTEXTS), "context");
    if others.entries != 0 || others.total() != 0 {
        write_counted(text, function, others, "all other contexts");
    }
}

fn write_more(text: &mut String, number: usize, what: &str) {
    if number != 0 {
        let _ = writeln!(
            text,
            "  {DIM}{} more {what}{}, see --format json{DIM:#}",
            grouped(number as u64),
            plural(number)
        );
    }
}

fn write_counted(text: &mut String, function: &FunctionPaths, counted: &Counted, name: &str) {
    let total = counted.total();
    let mut order: Vec<usize> = (0..counted.paths.len()).collect();
    order.retain(|&place| counted.paths[place] != 0);
    order.sort_by_key(|&place| (std::cmp::Reverse(counted.paths[place]), place));
    let more = order.len().saturating_sub(NAMED);
    let share = |&place: &usize| {
        let share = Percent::of(counted.paths[place], total);
        format!("{HOT}{}{HOT:#} {share}", function.paths[place].letter)
    };
    let mut shares: Vec<String> = order.iter().take(NAMED).map(share).collect();
    if more != 0 {
        shares.push(format!("{more} more"));
    }
    if shares.is_empty() {
        shares.push("none ended".to_string());
    }
    let count = grouped(counted.entries);
    let _ = writeln!(text, "  {count:>15}   {}   {DIM}{}{DIM:#}", shares.join(", "), visible(name));
}

/// The last callers of a context.
fn named(context: &ContextOf) -> String {
    let ContextOf { callers, more_callers, .. } = context;
    if callers.is_empty() {
        return "called by nobody who is profiled".to_string();
    }
    let last = &callers[callers.len().saturating_sub(CALLERS)..];
    let name = |Caller { function, line }: &Caller| match line {
        0 => function.clone(),
        line => format!("{function}:{line}"),
    };
    let names: Vec<String> = last.iter().map(name).collect();
    let far = if last.len() < callers.len() || *more_callers != 0 { "… → " } else { "" };
    format!("{far}{}", names.join(" → "))
}
