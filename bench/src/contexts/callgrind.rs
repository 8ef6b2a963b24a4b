//! What valgrind's callgrind takes, which counts calls without a compiler's help.

use crate::error::Result;
use crate::process::Job;
use crate::simulated::without_debug_information;

/// Runs, of which the fastest counts, outside of valgrind.
const RUNS: usize = 3;

/// Times programs in callgrind.
pub struct Callgrind {
    /// CPU time of a program that does nothing, in callgrind and by itself
    start: [f64; 2],
}

impl Callgrind {
    /// Finds out what it takes to start.
    ///
    /// # Errors
    /// If there is no valgrind.
    pub fn new() -> Result<Callgrind> {
        let nothing = Job::new("true");
        Ok(Callgrind { start: [in_callgrind(&nothing, "true".as_ref())?, fastest(&nothing)?] })
    }

    /// CPU time of a program in callgrind over that by itself, both without what starting takes.
    /// None if that is all that it takes.
    ///
    /// # Errors
    /// If it cannot be run.
    pub fn ratio(&self, job: &Job) -> Result<Option<f64>> {
        let folder = tempfile::tempdir().map_err(|error| job.error(error.to_string()))?;
        let program = without_debug_information(job, folder.path())?;
        let slow = in_callgrind(job, program.as_os_str())? - self.start[0];
        let native = fastest(job)? - self.start[1];
        Ok((slow > 0.0 && native > 0.0).then(|| slow / native))
    }
}

fn in_callgrind(job: &Job, program: &std::ffi::OsStr) -> Result<f64> {
    let mut simulator = Job { program: "valgrind".into(), arguments: Vec::new(), ..job.clone() }
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null", "--log-file=/dev/null"])
        .arg(program)
        .args(&job.arguments);
    simulator.limit *= 100;
    Ok(simulator.expect_success()?.cpu.as_secs_f64())
}

fn fastest(job: &Job) -> Result<f64> {
    let mut least = f64::INFINITY;
    for _ in 0..RUNS {
        least = least.min(job.run()?.cpu.as_secs_f64());
    }
    Ok(least)
}
