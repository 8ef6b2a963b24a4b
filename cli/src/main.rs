//! The `midflight` command.

use clap::Parser;
use midflight_cli::command::{Command, CommandError, driver_call};
use midflight_cli::driver;
use midflight_profile::visible;
use std::ffi::OsString;
use std::io::Write;
use std::panic::catch_unwind;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    // Nothing that a user or a file says should get here; if it does, it is one line all the same.
    std::panic::set_hook(Box::new(|defect| {
        complain(&format!("internal error, please report it: {defect}"));
    }));
    match catch_unwind(|| run(arguments)) {
        Ok(Ok(code)) => code,
        Ok(Err(CommandError::Write(error))) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Ok(Err(error)) => {
            complain(&error.to_string());
            error.exit_code()
        }
        Err(_) => ExitCode::FAILURE,
    }
}

fn run(arguments: Vec<OsString>) -> Result<ExitCode, CommandError> {
    match driver_call(&arguments) {
        Some((language, rest)) => Err(driver::run(language, rest.iter().cloned()).into()),
        None => Command::parse_from(arguments).run(),
    }
}

/// One line on standard error. If that is closed, there is nobody to tell.
fn complain(message: &str) {
    let _ = writeln!(std::io::stderr(), "midflight: error: {}", visible(message));
}
