//! The page of calling contexts: an icicle, in which one can zoom and search.

use crate::analysis::interval::Interval;
use crate::document::{Context, ContextDocument, Measure, Times};
use crate::format::names::file_name;
use crate::format::page::{Page, element};
use serde::Serialize;
use std::cmp::Reverse;
use std::io::{self, Write};

const STYLE: &str = include_str!("html_calls/page.css");
const BODY: &str = include_str!("html_calls/body.html");
const SCRIPT: &str = include_str!("html_calls/calls.js");

/// Contexts that a page has, at most.
const CONTEXTS: usize = 20_000;

/// And levels of them.
const LEVELS: u32 = 512;

/// What the page knows.
#[derive(Serialize)]
struct Index<'a> {
    binary: &'a str,
    activations: u64,
    elsewhere: u64,
    /// Nanoseconds, if they were taken
    times: Option<Times>,
    /// What contexts are as wide as at first
    by_time: bool,
    /// Contexts that are rarer than all that are there
    left_out: usize,
    functions: Vec<Entry>,
    contexts: Vec<Row>,
}

#[derive(Serialize)]
struct Entry {
    name: String,
    place: String,
}

/// The parent's place or −1, the function's place, the least and the most that it was called,
/// activations with those below, nanoseconds, and these with those below.
#[derive(Serialize)]
struct Row(i64, usize, u64, u64, u64, u64, u64);

/// Writes the page.
pub fn write(out: &mut dyn Write, document: &ContextDocument<'_>) -> io::Result<()> {
    let title = format!("Calls of {}", document.binary);
    let functions = document.functions.iter().map(|called| Entry {
        name: called.readable(),
        place: match called.line() {
            0 => String::new(),
            line => format!("{}:{line}", file_name(called.file())),
        },
    });
    let contexts = rows(document);
    let index = Index {
        binary: &document.binary,
        activations: document.activations,
        elsewhere: document.elsewhere,
        times: document.times,
        by_time: document.measure == Measure::Time,
        left_out: document.contexts.len() - contexts.len(),
        functions: functions.collect(),
        contexts,
    };
    Page { title: &title, style: STYLE, body: BODY, script: SCRIPT }
        .write(out, |out| element(out, "index", &index))
}

/// The contexts with the most activations, or the most time, in and below them, in preorder: none
/// without its parent.
fn rows(document: &ContextDocument<'_>) -> Vec<Row> {
    let contexts = &document.contexts;
    let mut order: Vec<usize> = (0..contexts.len()).collect();
    order.retain(|&index| contexts[index].level < LEVELS);
    // A parent has no less than a child, and stands before it.
    let within = |index: usize| ContextDocument::within(&contexts[index], document.measure);
    order.sort_by_key(|&index| (Reverse(within(index)), index));
    order.truncate(CONTEXTS);
    order.sort_unstable();
    let mut places = vec![-1; contexts.len()];
    order.iter().zip(0..).for_each(|(&index, place)| places[index] = place);
    let row = |&index: &usize| {
        let Context { parent, function, within, time, time_within, .. } = contexts[index];
        let Interval { least, most } = document.times(&contexts[index]);
        let parent = parent.map_or(-1, |parent| places[parent]);
        Row(parent, function, least, most, within, time, time_within)
    };
    order.iter().map(row).collect()
}
