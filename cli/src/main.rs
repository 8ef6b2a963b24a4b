//! The `midflight` command.

use clap::Parser;
use midflight_cli::command::{Command, CommandError, language_of_name};
use midflight_cli::driver;
use std::ffi::OsString;
use std::process::ExitCode;

fn main() -> ExitCode {
    let mut arguments = std::env::args_os();
    let name = arguments.next().unwrap_or_default();
    let result = match language_of_name(&name.to_string_lossy()) {
        Some(language) => Err(driver::run(language, arguments).into()),
        None => Command::parse_from(std::iter::once(name).chain(arguments)).run(),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(CommandError::Write(error)) if error.is_broken_pipe() => ExitCode::SUCCESS,
        Err(error) => {
            let text: OsString = format!("midflight: error: {error}").into();
            eprintln!("{}", text.to_string_lossy().replace('\n', " "));
            ExitCode::FAILURE
        }
    }
}
