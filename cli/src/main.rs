//! The `midflight` command.

use midflight_cli::commands::{complain, run};
use std::ffi::OsString;
use std::panic::catch_unwind;
use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    // Nothing that a user or a file says should get here; if it does, it is one line all the same.
    std::panic::set_hook(Box::new(|defect| {
        complain(&format!("internal error, please report it: {defect}"));
    }));
    catch_unwind(|| run(arguments)).unwrap_or(ExitCode::FAILURE)
}
