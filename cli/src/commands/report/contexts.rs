//! `--contexts`: the hot calling contexts as a tree, with the call sites.

use crate::analysis::interval::Interval;
use crate::commands::report::text::{DIM, HOT, TITLE, skipped_line};
use crate::document::{Context, ContextDocument, LeftOut, Measure, Shape, Times};
use crate::format::known;
use crate::format::numbers::{Percent, duration, grouped, plural};
use crate::format::tree::indent;
use midflight_profile::format::{Bursts, ContextMode};
use midflight_profile::visible;
use std::fmt::Write;

const TREE: &str = "\
A context is a function with all calls that lead to it: each line is a function, called by the one that it
stands below, on the line of the source that is named.
  count      activations in this context
  % all      of all activations that were counted
  % parent   for each hundred activations in the context of the call
";

const CALLERS: &str = "\
Below each function stand the functions that have called it, with the lines of the calls, and below these their
callers.
  count      activations of the function at the top that were called like this
  % all      of all activations that were counted
  % parent   of those of the line above
";

const TIMED_TREE: &str = "\
A context is a function with all calls that lead to it: each line is a function, called by the one that it
stands below, on the line of the source that is named.
  count      activations in this context
  self       time in them, waiting included, but not in what they called that is profiled
  total      the same with what they called
  % self, % total   of all time that was measured
";

const TIMED_CALLERS: &str = "\
Below each function stand the functions that have called it, with the lines of the calls, and below these their
callers.
  count      activations of the function at the top that were called like this
  self       time in them, waiting included, but not in what they called that is profiled
  % self     of all time that was measured
";

/// What is added to the legend where contexts were left out while the program ran.
const HOT_ONLY: &str = "  7 (≤ 9)    the count is 7 to 9\n";

/// The report of a document of which the cold contexts have been left out.
pub fn report(title: &str, document: &ContextDocument<'_>, legend: bool) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail, here and in what is called.
    let _ = writeln!(text, "{TITLE}{}{TITLE:#}\n{}", visible(title), counted_line(document));
    let _ = writeln!(text, "{}", mode_line(document));
    if let Some(times) = document.times {
        let _ = writeln!(text, "{}", time_line(times, document.mode));
    }
    if !document.skipped.is_empty() {
        let _ = writeln!(text, "{}", skipped_line(document.profiled, &document.skipped));
    }
    text.push('\n');
    if legend {
        let are_callers = matches!(document.shape, Shape::Callers(_));
        let what = match (document.measure, are_callers) {
            (Measure::Activations, true) => CALLERS,
            (Measure::Activations, false) => TREE,
            (Measure::Time, true) => TIMED_CALLERS,
            (Measure::Time, false) => TIMED_TREE,
        };
        let hot = if document.mode == ContextMode::All { "" } else { HOT_ONLY };
        let _ = writeln!(text, "{DIM}{what}{hot}{DIM:#}");
    }
    write_contexts(&mut text, document);
    write_left_out(&mut text, document);
    text
}

/// One line on how much was counted.
fn counted_line(document: &ContextDocument<'_>) -> String {
    let ContextDocument { activations, elsewhere, functions, bursts, .. } = document;
    let without = match elsewhere {
        0 => String::new(),
        _ => format!(
            "; {} without context, as memory was short or a signal came{}",
            grouped(*elsewhere),
            of_functions(document)
        ),
    };
    let number = functions.len();
    format!(
        "counted: {} activations of {} function{}{}{without}",
        grouped(*activations),
        grouped(number as u64),
        plural(number),
        bursts.map_or(String::new(), |bursts| format!(", in bursts of {}", when(bursts)))
    )
}

/// The functions with the most activations without context: ` (f 12, g 3)`.
fn of_functions(document: &ContextDocument<'_>) -> String {
    const MOST: usize = 3;
    let named = |&(function, count): &(usize, u64)| {
        format!("{} {}", document.functions[function].readable(), grouped(count))
    };
    let functions = &document.elsewhere_of;
    let mut words: Vec<String> = functions.iter().take(MOST).map(named).collect();
    if let Some(more) = functions.len().checked_sub(MOST).filter(|&more| more != 0) {
        words.push(format!("{more} more function{}", plural(more)));
    }
    if words.is_empty() { String::new() } else { format!(" ({})", words.join(", ")) }
}

/// One line on what was measured.
fn time_line(times: Times, mode: ContextMode) -> String {
    let Times { total, elsewhere } = times;
    let what = match mode {
        ContextMode::All => "in activations without context",
        ContextMode::Hot { .. } => {
            "in contexts that were not kept, so that times of others are lower bounds"
        }
    };
    let rest = match elsewhere {
        0 => String::new(),
        _ => format!("; {} of it {what}", duration(elsewhere)),
    };
    format!("measured: {} in functions that are profiled, of all threads{rest}", duration(total))
}

/// When there were bursts: `2 ms, one every 20 ms`.
fn when(bursts: Bursts) -> String {
    format!("{}, one every {}", time(bursts.length), time(bursts.interval))
}

/// Nanoseconds in the largest unit of which there is a whole number.
fn time(nanoseconds: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(1_000_000_000, "s"), (1_000_000, "ms"), (1_000, "µs")];
    let unit = UNITS.iter().find(|(unit, _)| nanoseconds.is_multiple_of(*unit));
    let &(unit, name) = unit.unwrap_or(&(1, "ns"));
    format!("{} {name}", nanoseconds / unit)
}

/// One line on how much of the tree was kept, and what counts may be in truth.
fn mode_line(document: &ContextDocument<'_>) -> String {
    let apart = if document.by_function { "functions that call" } else { "call sites" };
    let shape = match document.shape {
        Shape::Callers(0) => ", functions alone".to_string(),
        Shape::Callers(k) => {
            format!(", the last {k} caller{} of each function", plural(k as usize))
        }
        Shape::Tree | Shape::ByFunction => String::new(),
    };
    match document.mode {
        ContextMode::All => {
            let exact = match document.elsewhere {
                0 => "all counts are exact",
                _ => "counts are exact, but for activations without context",
            };
            if document.bursts.is_some() {
                return format!(
                    "calling contexts, by {apart}{shape}: a sample of the run, of which {exact}"
                );
            }
            format!("the whole calling context tree, by {apart}{shape}: {exact}")
        }
        ContextMode::Hot { phi, epsilon } => {
            let known = format!(
                "hot calling contexts, by {apart}{shape}: all with {} of the activations (φ) are there, \
                 counts are known to {} (ε), and others had {} at most",
                percent(phi),
                percent(epsilon),
                grouped(document.floor)
            );
            match document.elsewhere {
                0 => known,
                _ => known + "; all this but for activations without context",
            }
        }
    }
}

/// A share in percent with all of its digits: it was chosen by a person.
fn percent(share: f64) -> String {
    const DIGITS: f64 = 1e9;
    format!("{} %", (100.0 * share * DIGITS).round() / DIGITS)
}

fn write_contexts(text: &mut String, document: &ContextDocument<'_>) {
    if document.contexts.is_empty() {
        let _ = writeln!(text, "no context is to be shown");
        return;
    }
    let counts = || document.contexts.iter().map(|context| known::count(document.times(context)));
    // A bound of a count takes more room than most counts do.
    let wide = counts().map(|count| count.chars().count()).fold(15, usize::max);
    if document.measure == Measure::Time {
        return write_times(text, document, wide);
    }
    let _ = writeln!(text, "{DIM}{:>wide$}      % all    % parent   context{DIM:#}", "count");
    let all = Interval::exact(document.activations);
    for (context, count) in document.contexts.iter().zip(counts()) {
        let of_parent = match context.parent {
            None => String::new(),
            Some(parent) => {
                of_parent(document.times(context), document.times(&document.contexts[parent]))
            }
        };
        let named = named(document, context);
        let share = known::percent(document.times(context).share_of(all));
        let _ =
            writeln!(text, "{count:>wide$}   {HOT}{share:>8}{HOT:#}   {of_parent:>9}   {named}");
    }
}

/// A context's function, below that which has called it, and the place of the call.
fn named(document: &ContextDocument<'_>, context: &Context) -> String {
    let (name, place) = document.words(context, false);
    let branch = if context.level == 0 { "" } else { "└ " };
    let indent = indent(context.level, 2);
    let place = if place.is_empty() { place } else { format!("  {DIM}{place}{DIM:#}") };
    let recursive = if context.is_recursive { "  recursive" } else { "" };
    format!("{indent}{branch}{name}{place}{recursive}")
}

/// The contexts with their times, where these were taken.
fn write_times(text: &mut String, document: &ContextDocument<'_>, wide: usize) {
    let are_callers = matches!(document.shape, Shape::Callers(_));
    let total = if are_callers { "" } else { "       total    % total" };
    let count = "count";
    let _ = writeln!(text, "{DIM}{count:>wide$}          self     % self{total}   context{DIM:#}");
    let share = |time: u64| Percent::of(time, document.all()).to_string();
    for context in &document.contexts {
        let count = known::count(document.times(context));
        let Context { time, time_within, .. } = *context;
        let total = match are_callers {
            true => String::new(),
            false => format!("   {:>9}   {:>8}", duration(time_within), share(time_within)),
        };
        let (own, percent, named) = (duration(time), share(time), named(document, context));
        let _ = writeln!(
            text,
            "{count:>wide$}   {own:>11}   {HOT}{percent:>8}{HOT:#}{total}   {named}"
        );
    }
}

/// Activations for each hundred of the context above. It may be called many times.
fn of_parent(times: Interval<u64>, parent: Interval<u64>) -> String {
    if parent.least == 0 { "?".into() } else { known::percent(times.for_each(parent)) }
}

fn write_left_out(text: &mut String, document: &ContextDocument<'_>) {
    let LeftOut { contexts, activations, time } = document.left_out;
    if contexts == 0 {
        return;
    }
    let share = match document.measure {
        Measure::Activations => Percent::of(activations, document.activations).to_string(),
        Measure::Time => {
            let time = time.unwrap_or(0);
            format!("{}, {}", duration(time), Percent::of(time, document.all()))
        }
    };
    let _ = writeln!(
        text,
        "{DIM}{} more context{} with {} activation{} ({share}); --min-percent shows more{DIM:#}",
        grouped(contexts as u64),
        plural(contexts),
        grouped(activations),
        plural(activations as usize)
    );
}
