//! What a program tells of itself: times on standard error, results on standard output.

use crate::compare::difference;
use crate::error::{Error, Result};
use crate::osr::log::{Log, Made};
use crate::process::{Job, Outcome};
use std::collections::BTreeMap;

/// Seconds by their names.
pub type Times = BTreeMap<String, f64>;

/// What a run told.
#[derive(Clone, Debug)]
pub struct Told {
    /// How it ended, and what its results are
    pub outcome: Outcome,
    /// What took how long
    pub times: Times,
}

impl Told {
    /// CPU seconds of the first and the second call.
    pub fn calls(&self) -> [f64; 2] {
        ["first", "second"].map(|name| self.times.get(name).copied().unwrap_or(f64::NAN))
    }
}

/// Runs a program.
///
/// # Errors
/// If it cannot be started, does not succeed, or writes something else to its standard error than
/// times.
pub fn run(job: &Job) -> Result<Told> {
    let mut outcome = job.expect_success()?;
    let text = String::from_utf8_lossy(&outcome.stderr).into_owned();
    let times = parse(&text).ok_or_else(|| Error::Malformed {
        what: format!("what '{}' wrote to its standard error", job.command_line()),
        problem: text.lines().find(|line| time(line).is_none()).unwrap_or_default().to_string(),
    })?;
    outcome.stderr.clear();
    Ok(Told { outcome, times })
}

/// Runs a program whose results must be those of another run.
///
/// # Errors
/// As [`run`], and if they are others.
pub fn run_as(expected: &Told, job: &Job) -> Result<Told> {
    let found = run(job)?;
    match difference(&expected.outcome, &found.outcome) {
        None => Ok(found),
        Some(problem) => Err(job.error(problem)),
    }
}

/// Runs a program with a log; the versions that it has.
///
/// # Errors
/// As [`run`], and if there is a log that cannot be understood.
pub fn versions(job: &Job) -> Result<Vec<Made>> {
    let folder = tempfile::tempdir().map_err(|error| job.error(error.to_string()))?;
    let log = folder.path().join("log.json");
    run(&job.clone().env("MIDFLIGHT_OSR_LOG", &log))?;
    // Without a point that fired there is none.
    if log.is_file() { Ok(Log::read(&log)?.versions().cloned().collect()) } else { Ok(Vec::new()) }
}

fn parse(text: &str) -> Option<Times> {
    text.lines().map(time).collect()
}

fn time(line: &str) -> Option<(String, f64)> {
    let (name, seconds) = line.split_once(' ')?;
    Some((name.to_string(), seconds.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read_and_warnings_are_none() {
        let times = parse("first 0.5\nfirst.wall 0.75\n").unwrap();
        assert_eq!((times["first"], times["first.wall"]), (0.5, 0.75));
        assert_eq!(parse("first 0.5\nmidflight: no version of 'f'\n"), None);
    }
}
