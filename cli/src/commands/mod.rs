//! The subcommands, a folder each: its options, what it does, and what it writes.

pub mod annotate;
mod arguments;
pub mod cc;
pub mod check;
pub mod compare;
pub mod export;
mod merge;
pub mod osr;
pub mod report;
pub mod show;
mod vm;

use crate::format::sink::WriteError;
use crate::input::samples::SamplesError;
use crate::input::session::JoinError;
use cc::DriverError;
use clap::{Parser, Subcommand};
use export::weights::TwoStages;
use midflight_profile::visible;
use osr::fuzz::judge::FuzzError;
use osr::report::ReportError;
use osr::show::ShowError;
use std::ffi::OsString;
use std::io::Write;
use std::process::ExitCode;
use vm::VmError;

/// Profiles the cyclic paths that a program really takes.
#[derive(Parser, Debug)]
#[command(name = "midflight", version, max_term_width = 100, after_help = EXAMPLES)]
struct Command {
    #[command(subcommand)]
    action: Action,
}

const EXAMPLES: &str = "\
Examples:
  midflight cc -O2 -g -o prog prog.c      compile, as with clang
  CC='midflight cc' ./configure && make   compile a whole project
  ./prog                                  run it: writes midflight-<pid>.mfp at exit
  MIDFLIGHT_PROFILE=%c ./prog             the same, and what was counted survives a SIGKILL
  midflight report prog midflight-*.mfp   see its hottest paths
  midflight export --to lcov -o prog.info prog midflight-*.mfp && genhtml prog.info -o html";

#[derive(Subcommand, Debug)]
enum Action {
    /// Compile C: clang with the profiler
    #[command(disable_help_flag = true, after_help = cc::HELP, override_usage = "midflight cc [--midflight-…] CLANG-ARGUMENTS")]
    Cc,
    /// Compile C++: clang++ with the profiler
    #[command(name = "c++", disable_help_flag = true, after_help = cc::HELP, override_usage = "midflight c++ [--midflight-…] CLANG-ARGUMENTS")]
    Cxx,
    /// Show the hottest cyclic paths, or calling contexts, on source lines
    #[command(after_help = report::HELP)]
    Report(report::Report),
    /// Show source beside counts and the colours of the hottest paths
    #[command(after_help = annotate::HELP)]
    Annotate(annotate::Annotate),
    /// Show everything: the whole k-iteration path forest, edges, calling contexts, or tables
    #[command(after_help = show::HELP)]
    Show(show::Show),
    /// Verify that the counts of a profile conserve flow
    #[command(after_help = check::HELP)]
    Check(check::Check),
    /// Show what one profile has more of than another
    #[command(after_help = compare::DIFF_HELP)]
    Diff(compare::Diff),
    /// Measure how alike two profiles are
    #[command(after_help = compare::OVERLAP_HELP)]
    Overlap(compare::Overlap),
    /// Add up profiles of one program
    #[command(after_help = merge::HELP)]
    Merge(merge::Merge),
    /// Write counts in a format of other tools
    #[command(after_help = export::help())]
    Export(export::Export),
    /// Test programs with OSR points, and see where OSR is possible
    #[command(subcommand)]
    Osr(osr::Osr),
    /// Load functions, make versions, insert OSR points and run them, by commands
    #[command(after_help = vm::HELP)]
    Vm(vm::Vm),
}

/// Does what a command line asks for. If that fails, it says why on standard error.
pub fn run(arguments: Vec<OsString>) -> ExitCode {
    let done = match cc::call(&arguments) {
        Some((clang, rest)) => Err(cc::run(clang, rest).into()),
        None => Command::parse_from(arguments).action.run(),
    };
    match done {
        Ok(code) => code,
        Err(CommandError::Write(error)) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            complain(&error.to_string());
            error.exit_code()
        }
    }
}

/// One line on standard error. If that is closed, there is nobody to tell.
pub fn complain(message: &str) {
    let _ = writeln!(std::io::stderr(), "midflight: error: {}", visible(message));
}

impl Action {
    fn run(self) -> Result<ExitCode, CommandError> {
        match self {
            Action::Cc | Action::Cxx => unreachable!("`cc::call` has taken it"),
            Action::Report(options) => options.run()?,
            Action::Annotate(options) => options.run()?,
            Action::Show(options) => options.run()?,
            Action::Check(options) => return options.run(),
            Action::Diff(options) => options.run()?,
            Action::Overlap(options) => options.run()?,
            Action::Merge(options) => options.run()?,
            Action::Export(options) => options.run()?,
            Action::Osr(command) => return command.run(),
            Action::Vm(options) => return Err(options.run().into()),
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Why a command failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    #[error(transparent)]
    Driver(#[from] DriverError),
    #[error(transparent)]
    Join(#[from] JoinError),
    #[error(transparent)]
    TwoStages(#[from] TwoStages),
    #[error(transparent)]
    Samples(#[from] SamplesError),
    #[error("there is no function '{0}' with tables; `midflight show --tables` lists them")]
    NoFunction(String),
    #[error(
        "there are no calling contexts in the profile: compile the program with `midflight cc \
         --midflight-contexts`, and run it anew"
    )]
    NoContexts,
    #[error(
        "there are no times in the profile: compile the program with `midflight cc \
         --midflight-contexts --midflight-times`, and run it anew"
    )]
    NoTimes,
    #[error(
        "no context in the profile has paths of its own: compile the program with `midflight cc \
         --midflight-contexts --midflight-k=K --midflight-context-paths`, and run it anew; or no function was called \
         often enough in one (MIDFLIGHT_CONTEXT_PATHS, 1000 times if it is not set); or it is a sum that the programs \
         made themselves (%m in MIDFLIGHT_PROFILE), which has none"
    )]
    NoContextPaths,
    #[error("there is no function '{0}' of which calling contexts are profiled")]
    NoContextsOf(String),
    #[error("the format {0} cannot show calling contexts; those that can are {1}")]
    NoContextsIn(&'static str, String),
    #[error(transparent)]
    Fuzz(#[from] FuzzError),
    #[error(transparent)]
    OsrReport(#[from] ReportError),
    #[error(transparent)]
    OsrShow(#[from] ShowError),
    #[error(transparent)]
    Vm(#[from] VmError),
    #[error(transparent)]
    Write(#[from] WriteError),
}

impl CommandError {
    /// The command's exit status. For `osr fuzz`, 1 is a mismatch.
    fn exit_code(&self) -> ExitCode {
        match self {
            CommandError::Fuzz(FuzzError::Write(error)) if error.is_broken_pipe() => {
                ExitCode::SUCCESS
            }
            CommandError::Fuzz(_) => ExitCode::from(2),
            _ => ExitCode::FAILURE,
        }
    }
}
