//! Comparing the CPU time of two programs, run in turn.

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
    let (mut ratios, mut fastest) = (Vec::new(), [f64::INFINITY; 2]);
    for _ in 0..pairs.max(1) {
        let mut seconds = [0.0; 2];
        for (index, job) in [first, second].into_iter().enumerate() {
            let outcome = job.run()?;
            if let Some(problem) = difference(expected, &outcome) {
                eprintln!("not measured: {}: {problem}", job.command_line());
                return Ok(None);
            }
            seconds[index] = outcome.cpu.as_secs_f64();
            fastest[index] = fastest[index].min(seconds[index]);
        }
        ratios.push(seconds[1] / seconds[0]);
    }
    Ok(median(&mut ratios).map(|median| Ratio {
        median,
        fastest: fastest[1] / fastest[0],
        seconds: fastest[1],
    }))
}
