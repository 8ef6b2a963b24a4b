//! What was found, in words.

use crate::commands::check::{Checked, Findings, Violation};
use crate::format::names::readable;
use std::fmt;
use std::io::{self, Write};

/// Writes what is wrong, and a summary.
pub fn write(out: &mut dyn Write, findings: &Findings<'_>) -> io::Result<()> {
    let functions = &findings.functions;
    for function in functions {
        for violation in &function.violations {
            writeln!(out, "{}: {violation}", readable(function.name))?;
        }
    }
    let sum = |part: fn(&Checked<'_>) -> u64| -> u128 {
        functions.iter().map(part).map(u128::from).sum()
    };
    let paths: u128 = functions.iter().map(|function| function.paths).sum();
    writeln!(
        out,
        "functions={} entries={} paths={paths} interrupted={} truncated={} lost={}",
        functions.len(),
        sum(|f| f.entries),
        sum(|f| f.interrupted),
        sum(|f| f.truncated),
        sum(|f| f.lost)
    )?;
    let having =
        |part: fn(&Checked<'_>) -> usize| functions.iter().filter(|f| part(f) != 0).count();
    let all = functions.len();
    match (having(|f| f.violations.len()), having(|f| f.explained.len())) {
        (0, 0) => writeln!(out, "flow is conserved"),
        (0, some) => {
            writeln!(
                out,
                "flow is conserved, but in {some} of {all} functions, since {}",
                why(findings)
            )
        }
        (wrong, _) => writeln!(out, "flow is not conserved in {wrong} of {all} functions"),
    }
}

/// What the profile says.
fn why(findings: &Findings<'_>) -> String {
    let reasons = [(findings.began_within, BEGAN_WITHIN), (findings.went_on, WENT_ON)];
    let told: Vec<&str> =
        reasons.into_iter().filter_map(|(holds, reason)| holds.then_some(reason)).collect();
    told.join(", and ")
}

const BEGAN_WITHIN: &str =
    "counting began while they were under way (in a forked child, by a reset or a pause)";
const WENT_ON: &str = "threads counted on while the profile was written";

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
            Violation::Sequence { ids, count, most, continued } => {
                let ids: Vec<String> = ids.iter().map(u32::to_string).collect();
                let ids = ids.join(" ");
                let bound = if most == count { "" } else { &format!(", {most} at most,") };
                write!(
                    f,
                    "the sequence {ids} occurs {count} times{bound} and is continued {continued} \
                     times"
                )
            }
        }
    }
}
