//! The loops of a function: how they go around, and what could be done about it.

use crate::analysis::behaviour::hints::Worded;
use crate::analysis::behaviour::{Cycle, LoopReport, Next};
use crate::analysis::rank::Ranked;
use crate::commands::report::text::{DIM, HINT, LETTER};
use crate::format::numbers::share;
use crate::format::numbers::{grouped, mean_of};
use rustc_hash::FxHashMap;
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
pub fn pick(
    ranked: &Ranked<'_>,
    mut loops: Vec<LoopReport>,
    most: usize,
    min_percent: f64,
) -> Vec<LoopReport> {
    loops.retain(|l| percent(l.own_work, ranked.work) >= min_percent);
    loops.truncate(most);
    loops
}

/// True if the path is named where the loop is shown.
pub fn names(report: &LoopReport, id: u32) -> bool {
    let follows = |c: &Cycle| next_shown(c).any(|next| next.id == id);
    ways_shown(report).iter().any(|c| c.id == id || follows(c))
        || report.hints.iter().any(|hint| hint.ids().contains(&id))
}

/// Successors of a path that are shown.
fn next_shown(cycle: &Cycle) -> impl Iterator<Item = &Next> {
    let frequent = |next: &&Next| share(next.count, followed(cycle)) >= RARE;
    cycle.next.iter().take(NEXT).filter(frequent)
}

/// Of how many it is known what followed.
fn followed(cycle: &Cycle) -> u64 {
    cycle.next.iter().map(|next| next.count).fold(0, u64::saturating_add)
}

/// Ways around a loop that are shown.
fn ways_shown(report: &LoopReport) -> Vec<&Cycle> {
    let all = iterations(report);
    report.cycles.iter().filter(|c| share(c.count, all) >= RARE).take(WAYS).collect()
}

fn iterations(report: &LoopReport) -> u64 {
    report.cycles.iter().map(|c| c.count).fold(0, u64::saturating_add)
}

/// Writes loops.
pub fn write(
    text: &mut String,
    ranked: &Ranked<'_>,
    loops: &[LoopReport],
    k: u32,
    letters: &FxHashMap<u32, String>,
) {
    for report in loops {
        write_head(text, ranked, report);
        write_ways(text, report, k, letters);
        let name = |id: u32| letters.get(&id).cloned().unwrap_or_else(|| "?".into());
        if let Some(foretold) = &report.foretold {
            let _ = writeln!(
                text,
                "        {DIM}the last path foretells the next in {:.1} %, the last {} in {:.1} %\
                 {DIM:#}",
                100.0 * foretold.by_one,
                foretold.paths,
                100.0 * foretold.by_more
            );
        }
        for hint in &report.hints {
            let _ = writeln!(text, "      {HINT}→ {}{HINT:#}", Worded(hint, name));
        }
    }
}

// Writing to a string cannot fail.

fn write_head(text: &mut String, ranked: &Ranked<'_>, report: &LoopReport) {
    let place = match report.line {
        0 => format!("at block {}", report.header),
        line => format!("at line {line}"),
    };
    let own = if report.own_work == report.work {
        String::new()
    } else {
        format!(" ({:.1} % not in loops within it)", percent(report.own_work, ranked.work))
    };
    let _ = writeln!(
        text,
        "   Loop {place}: {:.1} % of the work{own}; entered {}×, goes around {} times each time",
        percent(report.work, ranked.work),
        grouped(report.entered),
        mean_of(share(report.around, report.entered))
    );
}

fn write_ways(text: &mut String, report: &LoopReport, k: u32, letters: &FxHashMap<u32, String>) {
    let all = iterations(report);
    if all == 0 {
        return;
    }
    // What k is too small to tell has no column.
    let run = RUN.min(k.saturating_sub(1) as usize);
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
        let letter = letters.get(&cycle.id).map_or("?", String::as_str);
        let of_all = 100.0 * share(cycle.count, all);
        let count = grouped(cycle.count);
        let _ = write!(text, "   {LETTER}{letter:>3}{LETTER:#}  {of_all:5.1} %  {count:>15}×");
        if order {
            let _ = write!(text, "   {:>8}", mean_of(cycle.runs.mean()));
        }
        if runs {
            let within = cycle.runs.share_in(run).unwrap_or(0.0);
            let _ = write!(text, "   {:>9.1} %", 100.0 * within);
        }
        let next = followed_by(cycle, letters);
        let _ = writeln!(text, "{}{next}", if next.is_empty() { "" } else { "   " });
    }
    let left_out = report.cycles.len() - ways.len();
    if left_out > 0 {
        let plural = if left_out == 1 { "" } else { "s" };
        let _ = writeln!(text, "   {DIM}{left_out} colder way{plural} around{DIM:#}");
    }
}

fn followed_by(cycle: &Cycle, letters: &FxHashMap<u32, String>) -> String {
    let words = next_shown(cycle).map(|next| {
        let letter = letters.get(&next.id).map_or("?", String::as_str);
        format!("{letter} {:.1} %", 100.0 * share(next.count, followed(cycle)))
    });
    words.collect::<Vec<_>>().join(", ")
}

fn percent(part: u128, whole: u128) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}
