//! `midflight osr fuzz`: fires the OSR points of a program, and compares what it does with what it
//! does without.
//!
//! As JavaScriptCore's OSR-exit fuzzer and V8's `--deopt-every-n-times`: the `plan` of runs fires
//! everything, every n-th hit, at random, and single points, and leaves versions of open points so;
//! `judge` carries it out on a `program`, whose [`log`] tells what fired; a run that differs is
//! narrowed down to one point by `bisect`; `report` tells what was found.

mod bisect;
pub(crate) mod judge;
pub mod log;
mod plan;
mod program;
mod report;

use crate::commands::arguments::Format;
use clap::Args;
use judge::{FuzzError, fuzz};
use program::Program;
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

pub(crate) const HELP: &str = "\
The program must be built with --midflight-osr-fuzz, or with open points (--midflight-osr-point and
to=open:GENERATOR), whose versions are made at once and left where they need not be; and it must do the
same each time. Exit status: 0 if all runs did the same, 1 if one did not, 2 if nothing can be said.

Examples:
  midflight cc -O2 --midflight-osr-fuzz -o prog prog.c && midflight osr fuzz -- ./prog args
  midflight osr fuzz --seconds 0 --keep-going --format json -- ./prog >prog.json
  midflight osr fuzz --compare out.bz2 -- ./compress -o out.bz2 in";

#[derive(Args, Debug)]
pub(crate) struct Fuzz {
    /// Begin no run after so many seconds; 0: make all runs
    #[arg(long, default_value_t = 60, value_name = "N")]
    seconds: u64,
    /// Chooses the order of points and the random firings
    #[arg(long, default_value_t = 1, value_name = "N")]
    seed: u64,
    /// Only points with this in their names, FILE:NAME
    #[arg(long, value_name = "PATTERN")]
    points: Option<String>,
    /// Runs at the same time; -j1 for programs that write files of fixed names [default: cores]
    #[arg(short, long, value_name = "N")]
    jobs: Option<std::num::NonZeroUsize>,
    /// Do not compare standard error
    #[arg(long)]
    ignore_stderr: bool,
    /// A file that the command writes, removed before each run and compared after it; implies -j1;
    /// may be repeated
    #[arg(long, value_name = "FILE")]
    compare: Vec<PathBuf>,
    /// The command's standard input [default: nothing]
    #[arg(long, value_name = "FILE")]
    stdin: Option<PathBuf>,
    /// Go on after a mismatch
    #[arg(long)]
    keep_going: bool,
    /// As text or JSON
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    format: Format,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "COMMAND")]
    command: Vec<OsString>,
}

impl Fuzz {
    /// Status 1 if there is a mismatch.
    pub(crate) fn run(self) -> Result<ExitCode, FuzzError> {
        let interrupted = Arc::new(AtomicBool::new(false));
        for signal in [signal_hook::consts::SIGINT, signal_hook::consts::SIGTERM] {
            signal_hook::flag::register(signal, interrupted.clone()).map_err(FuzzError::Signals)?;
        }
        let summary = fuzz(&Program { options: &self, interrupted })?;
        self.format.print(&summary, |out| report::write_text(out, &summary))?;
        Ok(ExitCode::from(u8::from(!summary.mismatches.is_empty())))
    }

    /// Runs at the same time.
    fn jobs(&self) -> usize {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        if self.compare.is_empty() { self.jobs.map_or(cores, usize::from) } else { 1 }
    }

    /// When the runs that begin to be made now must have begun; none: all are made.
    fn deadline(&self) -> Option<Instant> {
        (self.seconds > 0).then(|| Instant::now() + Duration::from_secs(self.seconds))
    }
}
