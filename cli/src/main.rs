//! The `midflight` command.

use midflight_cli::commands::{self, CommandError};
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
    match catch_unwind(|| commands::run(arguments)) {
        Ok(Ok(code)) => code,
        Ok(Err(CommandError::Write(error))) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Ok(Err(error)) => {
            complain(&error.to_string());
            error.exit_code()
        }
        Err(_) => ExitCode::FAILURE,
    }
}

/// One line on standard error. If that is closed, there is nobody to tell.
fn complain(message: &str) {
    let _ = writeln!(std::io::stderr(), "midflight: error: {}", visible(message));
}
