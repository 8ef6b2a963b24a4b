//! Calls in annotated source: below the line of a function's declaration those that have called it,
//! below each line those that it calls.

use super::text::DIM;
use crate::document::{Calls, Context, FunctionCalls};
use crate::format::known;
use crate::format::names::file_name;
use crate::format::numbers::grouped;
use midflight_profile::table::Site;
use std::collections::BTreeMap;

/// A line of text that stands below one of the source.
pub struct Row {
    /// How many calls
    pub count: String,
    /// Which these are
    pub what: String,
}

/// What is told of a function's calls.
pub struct Rows {
    /// What stands below the lines of the source
    pub below: BTreeMap<u32, Vec<Row>>,
    /// How often the function was called, at its declaration, and how often each line has called
    pub counts: BTreeMap<u32, String>,
}

impl Rows {
    /// What the longest count takes.
    pub fn width(&self) -> usize {
        let rows = self.below.values().flatten().map(|row| &row.count);
        rows.chain(self.counts.values()).map(|count| count.chars().count()).max().unwrap_or(0)
    }
}

/// What is told of the calls of a function, up to `most` below each line.
pub fn rows(calls: &Calls<'_>, place: usize, most: usize) -> Rows {
    let FunctionCalls { activations, lines, .. } = calls.of_function(place);
    let declared = calls.called(place).line();
    let count = |context: &Context| known::count(calls.document.times(context));
    let mut below = BTreeMap::from([(declared, callers(calls, place, most))]);
    let mut counts = BTreeMap::new();
    for (&line, made) in lines {
        counts.insert(line, Calls::sum(made).map_or("0".into(), |sum| count(&sum)));
        let rows = below.entry(line).or_default();
        rows.extend(
            made.iter()
                .take(most)
                .map(|call| Row {
                    count: count(call), what: format!("→ {}", callee(calls, call))
                }),
        );
        rows.extend(more(calls, &made[made.len().min(most)..], "→"));
    }
    counts.extend(activations.iter().map(|all| (declared, count(all))));
    Rows { below, counts }
}

/// Who has called a function.
fn callers(calls: &Calls<'_>, place: usize, most: usize) -> Vec<Row> {
    let document = &calls.document;
    let FunctionCalls { activations, begun, callers, .. } = calls.of_function(place);
    let row = |context: &Context, name: &str, at: &str| {
        let times = document.times(context);
        let share = activations.map(|all| times.share_of(document.times(&all)));
        let share = share.map_or("?".into(), known::percent);
        let space = if name.is_empty() || at.is_empty() { "" } else { "  " };
        let what = format!("← {share:>8}  {name}{space}{DIM}{at}{DIM:#}");
        Row { count: known::count(times), what }
    };
    let mut rows: Vec<Row> = Vec::new();
    for context in callers.iter().take(most) {
        let (name, at) = document.words(context, false);
        rows.push(row(context, &name, &at));
    }
    rows.extend(more(calls, &callers[callers.len().min(most)..], "←"));
    rows.extend(begun.iter().map(|begun| row(begun, "", "by no function that is profiled")));
    rows
}

/// The function that is called, and what is not to be seen in the line.
fn callee(calls: &Calls<'_>, context: &Context) -> String {
    let document = &calls.document;
    let callee = document.call(context).map(|call| calls.called(call.callee).readable());
    let callee = callee.unwrap_or_default();
    let Some((Site { loc, is_tail }, file)) = document.site(context) else { return callee };
    let from = match loc.line {
        0 => "  on a line that is not known".into(),
        line if line == loc.outer_line => String::new(),
        line => format!("  inlined from {}:{line}", file_name(file)),
    };
    let tail = if *is_tail { "  in tail position" } else { "" };
    format!("{callee}{DIM}{from}{tail}{DIM:#}")
}

/// What is told of calls that have no line each.
fn more(calls: &Calls<'_>, rest: &[Context], arrow: &str) -> Option<Row> {
    let sum = Calls::sum(rest)?;
    let number = grouped(rest.len() as u64);
    let what = format!("{arrow} {DIM}{number} more; --calls shows more{DIM:#}");
    Some(Row { count: known::count(calls.document.times(&sum)), what })
}
