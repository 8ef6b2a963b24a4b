//! What was found, for people and for machines.

use crate::commands::osr::fuzz::Fuzz;
use crate::commands::osr::fuzz::judge::Judge;
use crate::commands::osr::fuzz::plan::Fire;
use crate::commands::osr::fuzz::program::Difference;
use crate::format::shell::quoted_word;
use midflight_profile::visible;
use serde::Serialize;
use std::io::{self, Write};

/// The result of `osr fuzz`.
#[derive(Debug, Default, Serialize)]
pub struct Summary {
    pub version: u32,
    /// Fuzzed points of the program
    pub points: usize,
    /// Points that are hit, in the run that counts or where others have fired, and were asked for
    pub points_hit: usize,
    /// Points that fired in some run
    pub fired: usize,
    /// Points that were fired on their own
    pub fired_alone: usize,
    /// Firings of single hits that their runs did not reach: the program does not hit its points
    /// equally often each time
    pub unreached: usize,
    /// Runs that fired something
    pub runs: usize,
    /// How often points fired in all runs
    pub transitions: u64,
    pub seconds: f64,
    /// All planned runs were made.
    pub complete: bool,
    pub mismatches: Vec<Mismatch>,
}

/// A firing that makes the program do something else.
#[derive(Debug, Serialize)]
pub struct Mismatch {
    /// `MIDFLIGHT_OSR_FIRE`
    pub fire: String,
    /// The point, if one alone does it
    pub point: Option<String>,
    pub file: Option<String>,
    /// Its source line, 0 if it is not known
    pub line: Option<u64>,
    /// The hit, if one alone does it
    pub hit: Option<u64>,
    /// `hang`, `status`, `stdout`, `stderr`, `file` or `not-fired`
    pub kind: &'static str,
    pub difference: String,
    /// A command for a shell
    pub reproduce: String,
}

impl Mismatch {
    /// Of a firing.
    pub fn new(judge: &Judge<'_>, fire: &Fire, difference: Difference) -> Self {
        let (name, hit) = match fire {
            Fire::At(name, hit) => (Some(name), *hit),
            _ => (None, None),
        };
        let point = judge.points.iter().find(|point| Some(&point.name) == name);
        let Difference { kind, text: difference } = difference;
        Mismatch {
            fire: fire.to_string(),
            point: name.cloned(),
            file: point.map(|point| point.file.clone()),
            line: point.map(|point| point.line),
            hit,
            kind,
            difference,
            reproduce: reproduce(fire, judge.program.options),
        }
    }

    /// True if they are of one point, or of one firing.
    pub fn is_same(&self, other: &Mismatch) -> bool {
        self.kind == other.kind
            && match (&self.point, &other.point) {
                (Some(a), Some(b)) => a == b,
                _ => self.fire == other.fire,
            }
    }
}

fn reproduce(fire: &Fire, options: &Fuzz) -> String {
    let mut words = vec![format!("MIDFLIGHT_OSR_FIRE={}", quoted_word(fire.to_string().as_ref()))];
    words.extend(options.command.iter().map(|word| quoted_word(word)));
    if let Some(path) = &options.stdin {
        words.push(format!("<{}", quoted_word(path.as_os_str())));
    }
    words.join(" ")
}

/// As text.
pub fn write_text(out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
    for mismatch in &summary.mismatches {
        match (&mismatch.point, mismatch.hit) {
            (Some(point), Some(hit)) => write!(out, "mismatch at {}, hit {hit}", visible(point))?,
            (Some(point), None) => write!(out, "mismatch at {}, at each hit", visible(point))?,
            (None, _) => {
                write!(out, "mismatch with {}, by no point alone", visible(&mismatch.fire))?
            }
        }
        if let (Some(file), Some(line @ 1..)) = (&mismatch.file, mismatch.line) {
            write!(out, " ({}:{line})", visible(file))?;
        }
        writeln!(out, "\n  {}: {}", mismatch.kind, visible(&mismatch.difference))?;
        writeln!(out, "  reproduce: {}", visible(&mismatch.reproduce))?;
    }
    let s = summary;
    writeln!(
        out,
        "{} of {} points hit fired, {} of them alone; {} points; {} runs, {} transitions, {:.1} s{}",
        s.fired,
        s.points_hit,
        s.fired_alone,
        s.points,
        s.runs,
        s.transitions,
        s.seconds,
        if s.complete { "" } else { "; not all planned runs were made" }
    )?;
    if s.unreached > 0 {
        writeln!(
            out,
            "{} of the hits to fire were not reached: the program does not hit its points equally \
             often in each run",
            s.unreached
        )?;
    }
    match s.mismatches.len() {
        0 => writeln!(out, "no mismatch"),
        1 => writeln!(out, "1 mismatch"),
        n => writeln!(out, "{n} mismatches"),
    }
}
