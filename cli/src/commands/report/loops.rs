//! The loops of a function: how they go around, and what could be done about it.

use crate::analysis::behaviour::{Cycle, LoopReport, Next};
use crate::commands::report::text::{DIM, HINT, LETTER};
use crate::document::{FunctionDocument, LoopDocument};
use crate::format::known;
use crate::format::numbers::{Percent, grouped, plural};
use std::fmt::Write;

/// Ways around a loop that are shown, at most.
const WAYS: usize = 4;
/// Successors of a path that are shown, at most.
const NEXT: usize = 3;
/// A way with less of the iterations, or a successor with less of what follows, is not shown.
const RARE: f64 = 0.02;
/// Runs of at most this length are reported.
const RUN: usize = 8;

/// Up to `most` of a function's loops, those with at least `min_percent` of its work in themselves.
pub fn pick<'a>(
    f: &'a FunctionDocument<'_>,
    most: usize,
    min_percent: f64,
) -> Vec<&'a LoopDocument> {
    let is_hot = |l: &&LoopDocument| Percent::of(l.report.own_work, f.work).0 >= min_percent;
    f.loops.iter().filter(is_hot).take(most).collect()
}

/// True if the path is named where the loop is shown.
pub fn names(report: &LoopReport, id: u32) -> bool {
    let follows = |c: &Cycle| next_shown(c).any(|next| next.id == id);
    ways_shown(report).iter().any(|c| c.id == id || follows(c))
        || report.hints.iter().any(|hint| hint.ids().contains(&id))
}

/// Successors of a path that are shown.
fn next_shown(cycle: &Cycle) -> impl Iterator<Item = &Next> {
    let frequent = |next: &&Next| !cycle.share(next).is_below(RARE);
    cycle.next.iter().take(NEXT).filter(frequent)
}

/// Ways around a loop that are shown.
fn ways_shown(report: &LoopReport) -> Vec<&Cycle> {
    let frequent = |c: &&Cycle| !report.share(c.times()).is_below(RARE);
    report.cycles.iter().filter(frequent).take(WAYS).collect()
}

/// Writes loops.
pub fn write(text: &mut String, f: &FunctionDocument<'_>, loops: &[&LoopDocument]) {
    for LoopDocument { report, advice } in loops.iter().copied() {
        write_head(text, f, report);
        write_ways(text, f, report);
        if let Some(foretold) = &report.foretold {
            let [by_one, by_more] = [foretold.by_one, foretold.by_more].map(known::percent);
            let _ = writeln!(
                text,
                "        {DIM}the last path foretells the next in {by_one}, the last {} in {by_more}\
                 {DIM:#}",
                foretold.paths
            );
        }
        for hint in advice {
            let _ = writeln!(text, "      {HINT}→ {hint}{HINT:#}");
        }
    }
}

fn write_head(text: &mut String, f: &FunctionDocument<'_>, report: &LoopReport) {
    let place = match report.line {
        0 => format!("at block {}", report.header),
        line => format!("at line {line}"),
    };
    let own = if report.own_work == report.work {
        String::new()
    } else {
        format!(" ({} not in loops within it)", Percent::of(report.own_work, f.work))
    };
    let _ = writeln!(
        text,
        "   Loop {place}: {} of the work{own}; entered {}×, goes around {} times each time",
        Percent::of(report.work, f.work),
        grouped(report.entered),
        known::mean(report.rounds(), 0.0)
    );
}

fn write_ways(text: &mut String, f: &FunctionDocument<'_>, report: &LoopReport) {
    if report.cycles.is_empty() {
        return;
    }
    // What k is too small to tell has no column.
    let run = RUN.min(f.k.saturating_sub(1) as usize);
    let (order, runs) = (run > 0, run > 1);
    let _ = write!(text, "   {DIM}      % ways             count");
    if order {
        let _ = write!(text, "   mean run");
    }
    if runs {
        let _ = write!(text, "   in runs ≥ {run}");
    }
    let _ = writeln!(text, "{}{DIM:#}", if order { "   followed by" } else { "" });
    let ways = ways_shown(report);
    for cycle in &ways {
        let (letter, count) = (f.letter(cycle.id), known::count(cycle.times()));
        let of_all = known::percent(report.share(cycle.times()));
        let _ = write!(text, "   {LETTER}{letter:>3}{LETTER:#}  {of_all:>7}  {count:>15}×");
        if order {
            let _ = write!(text, "   {:>8}", known::mean(cycle.runs.mean(), 1.0));
        }
        if runs {
            let within = cycle.runs.share_in(run).map_or("?".into(), known::percent);
            let _ = write!(text, "   {within:>11}");
        }
        let next = followed_by(f, cycle);
        let _ = writeln!(text, "{}{next}", if next.is_empty() { "" } else { "   " });
    }
    let left_out = report.cycles.len() - ways.len();
    if left_out > 0 {
        let _ = writeln!(text, "   {DIM}{left_out} colder way{} around{DIM:#}", plural(left_out));
    }
}

fn followed_by(f: &FunctionDocument<'_>, cycle: &Cycle) -> String {
    let words = next_shown(cycle)
        .map(|next| format!("{} {}", f.letter(next.id), known::percent(cycle.share(next))));
    words.collect::<Vec<_>>().join(", ")
}
