//! What `midflight check` prints.

use crate::check::{Checked, Violation};
use crate::names::readable;
use serde::Serialize;
use std::fmt;
use std::io::{self, Write};

#[derive(Serialize)]
struct Document<'a> {
    version: u32,
    conserved: bool,
    functions: &'a [Checked<'a>],
}

/// Writes all functions as JSON.
///
/// # Errors
/// If the output cannot be written.
pub fn write_json(out: &mut dyn Write, checked: &[Checked<'_>]) -> io::Result<()> {
    let conserved = checked.iter().all(|function| function.violations.is_empty());
    serde_json::to_writer(&mut *out, &Document { version: 1, conserved, functions: checked })?;
    writeln!(out)
}

/// Writes what is wrong, and a summary.
///
/// # Errors
/// If the output cannot be written.
pub fn write_text(out: &mut dyn Write, checked: &[Checked<'_>]) -> io::Result<()> {
    for function in checked {
        for violation in &function.violations {
            writeln!(out, "{}: {violation}", readable(function.name))?;
        }
    }
    let sum =
        |part: fn(&Checked<'_>) -> u64| -> u128 { checked.iter().map(part).map(u128::from).sum() };
    let paths: u128 = checked.iter().map(|function| function.paths).sum();
    writeln!(
        out,
        "functions={} entries={} paths={paths} interrupted={} pruned={} lost={}",
        checked.len(),
        sum(|f| f.entries),
        sum(|f| f.interrupted),
        sum(|f| f.pruned),
        sum(|f| f.lost)
    )?;
    match checked.iter().filter(|function| !function.violations.is_empty()).count() {
        0 => writeln!(out, "flow is conserved"),
        wrong => writeln!(out, "flow is not conserved in {wrong} of {} functions", checked.len()),
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Violation::Entry { paths, entries } => {
                write!(f, "{paths} paths begin at the entry, of {entries} activations")
            }
            Violation::Edge { from, to, started, ended } => write!(
                f,
                "{started} paths begin behind the edge from block {from} to block {to}, and {ended} \
                 end with it"
            ),
            Violation::Block { block, entered, left } => {
                write!(f, "block {block} is entered {entered} times and left {left} times")
            }
            Violation::Sequence { ids, count, continued } => {
                let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
                let ids = ids.join(" ");
                write!(
                    f,
                    "the sequence {ids} occurs {count} times and is continued {continued} times"
                )
            }
        }
    }
}
