//! Time in a simulated processor: valgrind's cachegrind counts instructions, misses of caches and
//! mispredicted branches, the same in each run, whatever else the machine does.

use crate::error::{Error, Result};
use crate::process::{Job, Outcome};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// What a run took.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Simulated {
    /// Instructions
    pub instructions: f64,
    /// Cycles, estimated as KCachegrind does: an instruction is one, a miss of a first-level cache
    /// or a mispredicted branch ten, a miss of the last level a hundred
    pub cycles: f64,
}

/// Runs a job in the simulator, which takes some fifty times as long as it does.
///
/// # Errors
/// If there is no valgrind, or it reports something else than is known here.
pub fn simulate(job: &Job) -> Result<(Outcome, Simulated)> {
    let folder = tempfile::tempdir().map_err(|error| job.error(error.to_string()))?;
    let report = folder.path().join("cachegrind.out");
    let program = without_debug_information(job, folder.path())?;
    let mut simulator = Job { program: "valgrind".into(), arguments: Vec::new(), ..job.clone() }
        .args(["--tool=cachegrind", "--cache-sim=yes", "--branch-sim=yes"])
        .arg(option("--cachegrind-out-file=", &report))
        .arg(option("--log-file=", &folder.path().join("log")))
        .arg(program)
        .args(&job.arguments);
    simulator.limit *= 100;
    let outcome = simulator.run()?;
    let text = std::fs::read_to_string(&report)
        .map_err(|error| job.error(format!("running it in valgrind: {error}")))?;
    let simulated = read(&text).ok_or_else(|| unknown(job, &text))?;
    Ok((outcome, simulated))
}

/// A copy of the program. What clang 22 tells debuggers is more than valgrind understands.
///
/// # Errors
/// If it cannot be made.
pub fn without_debug_information(job: &Job, folder: &Path) -> Result<PathBuf> {
    let copy = folder.join(Path::new(&job.program).file_name().unwrap_or_default());
    Job::new("strip").arg("-g").arg("-o").arg(&copy).arg(&job.program).expect_success()?;
    Ok(copy)
}

fn option(name: &str, path: &Path) -> std::ffi::OsString {
    let mut option = std::ffi::OsString::from(name);
    option.push(path);
    option
}

fn unknown(job: &Job, text: &str) -> Error {
    let last = text.lines().last().unwrap_or_default();
    job.error(format!("cachegrind's report has no summary of what is counted: '{last}'"))
}

/// Reads the sums of a report: a line `events:` with names, and at its end `summary:` with numbers.
fn read(text: &str) -> Option<Simulated> {
    let line = |name| text.lines().rev().find_map(|line| line.strip_prefix(name));
    let names = line("events:")?.split_whitespace();
    let sums = line("summary:")?.split_whitespace().map(|sum| sum.parse().ok());
    let sums: HashMap<&str, Option<f64>> = names.zip(sums).collect();
    let of =
        |names: &[&str]| names.iter().map(|name| sums.get(name).copied()?).sum::<Option<f64>>();
    let instructions = of(&["Ir"])?;
    let first = of(&["I1mr", "D1mr", "D1mw", "Bcm", "Bim"])?;
    let last = of(&["ILmr", "DLmr", "DLmw"])?;
    Some(Simulated { instructions, cycles: instructions + 10.0 * first + 100.0 * last })
}

#[cfg(test)]
mod tests {
    use super::*;

    const REPORT: &str = "\
desc: I1 cache: 32768 B, 64 B, 8-way associative
cmd: x
events: Ir I1mr ILmr Dr D1mr DLmr Dw D1mw DLmw Bc Bcm Bi Bim
fl=x
1 1 1 1 1 1 1 1 1 1 1 1 1 1
summary: 1000 1 2 300 3 4 100 5 6 50 7 8 9
";

    #[test]
    fn cycles_are_estimated_from_the_sums() {
        let cycles = 1000.0 + 10.0 * (1.0 + 3.0 + 5.0 + 7.0 + 9.0) + 100.0 * (2.0 + 4.0 + 6.0);
        assert_eq!(read(REPORT), Some(Simulated { instructions: 1000.0, cycles }));
    }

    #[test]
    fn what_is_not_counted_is_noticed() {
        assert_eq!(read(&REPORT.replace("Bcm", "Bxx")), None);
        assert_eq!(read(REPORT.split("summary").next().unwrap()), None);
        assert_eq!(read(&REPORT.replace("1000 1", "many 1")), None);
    }
}
