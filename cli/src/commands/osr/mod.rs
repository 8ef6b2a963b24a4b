//! `midflight osr`: programs with OSR points, and where OSR is possible.

pub mod fuzz;
pub mod report;
pub mod show;

use crate::commands::CommandError;
use clap::Subcommand;
use std::process::ExitCode;

#[derive(Subcommand, Debug)]
pub(crate) enum Osr {
    /// Fire the points of a program, and compare what it does with what it does without
    #[command(after_help = fuzz::HELP)]
    Fuzz(fuzz::Fuzz),
    /// Show where OSR can go between functions and their optimized versions, and what it takes
    #[command(after_help = report::HELP)]
    Report(report::OsrReport),
    /// Show the mappings that a binary carries: where each point leads, and what it takes
    #[command(after_help = show::HELP)]
    Show(show::OsrShow),
}

impl Osr {
    pub(crate) fn run(self) -> Result<ExitCode, CommandError> {
        match self {
            Osr::Fuzz(options) => return Ok(options.run()?),
            Osr::Report(options) => options.run()?,
            Osr::Show(options) => options.run()?,
        }
        Ok(ExitCode::SUCCESS)
    }
}
