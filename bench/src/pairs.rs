//! Comparing the CPU time of programs, run in turn.

use crate::compare::difference;
use crate::error::Result;
use crate::measure::median;
use crate::process::{Job, Outcome};

/// How much longer one program takes than another.
#[derive(Clone, Copy, Debug)]
pub struct Ratio {
    /// Median of the ratios of all pairs of runs
    pub median: f64,
    /// Ratio of the fastest runs, which a busy machine disturbs least
    pub fastest: f64,
    /// CPU time of the fastest run of the second, in seconds
    pub seconds: f64,
}

/// Runs both in turn; none if one does not do what is expected.
///
/// # Errors
/// If one cannot be started.
pub fn compare(
    first: &Job,
    second: &Job,
    expected: &Outcome,
    pairs: usize,
) -> Result<Option<Ratio>> {
    Ok(compare_all(first, &[second], expected, pairs)?.pop().flatten())
}

/// In each round runs the first and then all others; for each of these, none if it or the first does not do
/// what is expected.
///
/// # Errors
/// If one cannot be started.
pub fn compare_all(
    first: &Job,
    others: &[&Job],
    expected: &Outcome,
    rounds: usize,
) -> Result<Vec<Option<Ratio>>> {
    let mut base = Vec::new();
    let mut times: Vec<Option<Vec<f64>>> = vec![Some(Vec::new()); others.len()];
    for _ in 0..rounds.max(1) {
        let Some(seconds) = cpu_seconds(first, expected)? else {
            return Ok(vec![None; others.len()]);
        };
        base.push(seconds);
        for (job, times) in others.iter().zip(&mut times) {
            if let Some(known) = times {
                match cpu_seconds(job, expected)? {
                    Some(seconds) => known.push(seconds),
                    None => *times = None,
                }
            }
        }
    }
    Ok(times.into_iter().map(|times| times.and_then(|times| ratio(&base, &times))).collect())
}

/// CPU time of a run; none, and a word about it, if it does not do what is expected.
fn cpu_seconds(job: &Job, expected: &Outcome) -> Result<Option<f64>> {
    let outcome = job.run()?;
    if let Some(problem) = difference(expected, &outcome) {
        eprintln!("not measured: {}: {problem}", job.command_line());
        return Ok(None);
    }
    Ok(Some(outcome.cpu.as_secs_f64()))
}

fn ratio(base: &[f64], times: &[f64]) -> Option<Ratio> {
    let mut ratios: Vec<f64> = times.iter().zip(base).map(|(time, base)| time / base).collect();
    let fastest = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
    let seconds = fastest(times);
    Some(Ratio { median: median(&mut ratios)?, fastest: seconds / fastest(base), seconds })
}
