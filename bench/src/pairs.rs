//! Comparing the time of programs: CPU time, run in turn, or that in a simulated processor.

use crate::compare::difference;
use crate::error::Result;
use crate::measure::{geometric_mean, median};
use crate::process::{Job, Outcome};
use crate::program::Size;
use crate::simulated::simulate;

/// By what programs are compared.
#[derive(Clone, Copy, Debug)]
pub enum Clock {
    /// CPU time, in rounds that run all programs in turn
    Processor {
        /// How many rounds
        rounds: usize,
    },
    /// One run of each in a simulated processor: exact where a busy machine is not, but a model
    Simulated,
}

/// Two ratios to a first program: the median of all rounds and that of the fastest runs, or of
/// simulated cycles and of instructions. None if it could not be measured.
pub type Cell = Option<[f64; 2]>;

/// What a program took, and others beside it.
pub struct Compared {
    /// The first program: median of seconds, or thousand millions of simulated cycles; none if it
    /// could not be measured
    pub first: Option<f64>,
    /// The others' time over that
    pub others: Vec<Cell>,
}

impl Clock {
    /// Times the first program and the others beside it.
    ///
    /// # Errors
    /// If one cannot be started, or not simulated.
    pub fn compare(self, first: &Job, others: &[&Job]) -> Result<Compared> {
        match self {
            Clock::Processor { rounds } => {
                let (mut base, ratios) = compare_all(first, others, &first.run()?, rounds)?;
                let cell = |ratio: Option<Ratio>| ratio.map(|r| [r.median, r.fastest]);
                Ok(Compared {
                    first: median(&mut base),
                    others: ratios.into_iter().map(cell).collect(),
                })
            }
            Clock::Simulated => compare_simulated(first, others),
        }
    }

    /// The work that programs are given: a simulated processor takes a hundred times as long.
    pub fn size(self) -> Size {
        match self {
            Clock::Processor { .. } => Size::Bench,
            Clock::Simulated => Size::Test,
        }
    }

    /// In what the first program's time is given.
    pub fn unit(self) -> &'static str {
        match self {
            Clock::Processor { .. } => "s",
            Clock::Simulated => "10⁹ cycles",
        }
    }

    /// What the two numbers of a cell are, where the first program is of this name.
    pub fn over(self, first: &str) -> String {
        match self {
            Clock::Processor { rounds } => format!(
                "CPU time over {first}, medians of {rounds} rounds, in parentheses the ratio of the fastest runs"
            ),
            Clock::Simulated => format!(
                "cycles over {first}, as cachegrind's counts estimate them, in parentheses instructions"
            ),
        }
    }
}

/// The geometric means of cells; none of no values.
pub fn mean(cells: impl Iterator<Item = Cell> + Clone) -> Cell {
    let of = |part: usize| geometric_mean(cells.clone().flatten().map(|cell| cell[part]));
    Some([of(0)?, of(1)?])
}

/// A cell of a table.
pub fn shown(cell: Cell) -> String {
    cell.map_or("–".to_string(), |[first, second]| format!("{first:.3} ({second:.3})"))
}

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
    let (_, mut ratios) = compare_all(first, &[second], expected, pairs)?;
    Ok(ratios.pop().flatten())
}

/// In each round runs the first and then all others. The seconds of the first, and for each of the
/// others its ratio: none if it or the first does not do what is expected.
///
/// # Errors
/// If one cannot be started.
fn compare_all(
    first: &Job,
    others: &[&Job],
    expected: &Outcome,
    rounds: usize,
) -> Result<(Vec<f64>, Vec<Option<Ratio>>)> {
    let mut base = Vec::new();
    let mut times: Vec<Option<Vec<f64>>> = vec![Some(Vec::new()); others.len()];
    for _ in 0..rounds.max(1) {
        let Some(seconds) = cpu_seconds(first, expected)? else {
            return Ok((Vec::new(), vec![None; others.len()]));
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
    let ratios = times.into_iter().map(|times| times.and_then(|times| ratio(&base, &times)));
    let ratios = ratios.collect();
    Ok((base, ratios))
}

fn compare_simulated(first: &Job, others: &[&Job]) -> Result<Compared> {
    let (expected, base) = simulate(first)?;
    let cell = |job: &&Job| {
        let (outcome, run) = simulate(job)?;
        Ok(as_expected(job, &expected, &outcome)
            .then(|| [run.cycles / base.cycles, run.instructions / base.instructions]))
    };
    let others = others.iter().map(cell).collect::<Result<_>>()?;
    Ok(Compared { first: Some(base.cycles / 1e9), others })
}

/// CPU time of a run; none, and a word about it, if it does not do what is expected.
fn cpu_seconds(job: &Job, expected: &Outcome) -> Result<Option<f64>> {
    let outcome = job.run()?;
    Ok(as_expected(job, expected, &outcome).then_some(outcome.cpu.as_secs_f64()))
}

/// Whether a run did what is expected; else a line says that it did not.
fn as_expected(job: &Job, expected: &Outcome, found: &Outcome) -> bool {
    let Some(problem) = difference(expected, found) else { return true };
    eprintln!("not measured: {}: {problem}", job.command_line());
    false
}

fn ratio(base: &[f64], times: &[f64]) -> Option<Ratio> {
    let mut ratios: Vec<f64> = times.iter().zip(base).map(|(time, base)| time / base).collect();
    let fastest = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
    let seconds = fastest(times);
    Some(Ratio { median: median(&mut ratios)?, fastest: seconds / fastest(base), seconds })
}
