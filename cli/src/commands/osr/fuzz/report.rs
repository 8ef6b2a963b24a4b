//! What was found, for people and for machines.

use crate::commands::osr::fuzz::Fuzz;
use crate::commands::osr::fuzz::judge::Judge;
use crate::commands::osr::fuzz::plan::{Fire, Firing};
use crate::commands::osr::fuzz::program::{Difference, assignments};
use crate::format::shell::quoted_word;
use midflight_profile::visible;
use serde::Serialize;
use std::io::{self, Write};

/// The result of `osr fuzz`.
#[derive(Debug, Default, Serialize)]
pub struct Summary {
    pub version: u32,
    /// Fuzzed points of the program, and open points that asked for versions
    pub points: usize,
    /// Of these, open points
    pub open_points: usize,
    /// Versions that were made where none was left
    pub versions: u64,
    /// Points that are hit, or whose versions have guards, in the run that counts or where others
    /// have fired, and were asked for
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
    /// How often points fired, or versions were left, in all runs
    pub transitions: u64,
    pub seconds: f64,
    /// All planned runs were made.
    pub complete: bool,
    pub mismatches: Vec<Mismatch>,
}

/// A firing that makes the program do something else.
#[derive(Debug, Serialize)]
pub struct Mismatch {
    /// What the run did: `points` fired, `versions` were made, or `exits` were taken
    pub what: &'static str,
    /// `MIDFLIGHT_OSR_FIRE`, or `MIDFLIGHT_OSR_EXIT`; null where versions alone make the difference
    pub fire: Option<String>,
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
    pub fn new(judge: &Judge<'_>, firing: &Firing, difference: Difference) -> Self {
        let (name, hit) = match firing.fire() {
            Some(Fire::At(name, hit)) => (Some(name), *hit),
            _ => (None, None),
        };
        let (what, points) = match firing {
            Firing::Points(_) => ("points", &judge.points),
            Firing::Versions => ("versions", &judge.open),
            Firing::Exits(_) => ("exits", &judge.open),
        };
        let point = points.iter().find(|point| Some(&point.name) == name);
        let Difference { kind, text: difference } = difference;
        Mismatch {
            what,
            fire: firing.fire().map(Fire::to_string),
            point: name.cloned(),
            file: point.map(|point| point.file.clone()),
            line: point.map(|point| point.line),
            hit,
            kind,
            difference,
            reproduce: reproduce(firing, judge.program.options),
        }
    }

    /// True if they are of one point, or of one firing.
    pub fn is_same(&self, other: &Mismatch) -> bool {
        (self.kind, self.what) == (other.kind, other.what)
            && match (&self.point, &other.point) {
                (Some(a), Some(b)) => a == b,
                _ => self.fire == other.fire,
            }
    }
}

fn reproduce(firing: &Firing, options: &Fuzz) -> String {
    let mut words = vec![assignments(&firing.variables())];
    words.extend(options.command.iter().map(|word| quoted_word(word)));
    if let Some(path) = &options.stdin {
        words.push(format!("<{}", quoted_word(path.as_os_str())));
    }
    words.join(" ")
}

/// As text.
pub fn write_text(out: &mut dyn Write, summary: &Summary) -> io::Result<()> {
    for mismatch in &summary.mismatches {
        let (where_to, one) = match mismatch.what {
            "exits" => ("exit of a version of ", "check"),
            _ => ("", "hit"),
        };
        match (&mismatch.point, mismatch.hit, &mismatch.fire) {
            (Some(point), Some(hit), _) => {
                write!(out, "mismatch at {where_to}{}, {one} {hit}", visible(point))?
            }
            (Some(point), None, _) => {
                write!(out, "mismatch at {where_to}{}, at each {one}", visible(point))?
            }
            (None, _, Some(fire)) if mismatch.what == "exits" => {
                write!(out, "mismatch with exits {}, by no point alone", visible(fire))?
            }
            (None, _, Some(fire)) => {
                write!(out, "mismatch with {}, by no point alone", visible(fire))?
            }
            (None, _, None) => write!(out, "mismatch with versions that are not left")?,
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
    if s.open_points > 0 {
        writeln!(
            out,
            "{} of the points are open: {} versions; transitions are exits of these",
            s.open_points, s.versions
        )?;
    }
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
