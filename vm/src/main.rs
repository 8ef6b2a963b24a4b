//! `midflight-vm`: an interactive environment for functions, their versions and OSR points, after
//! TinyVM of the thesis (5.3.1). `midflight vm` starts it.
//!
//! [`shell`] reads commands and keeps what there is, [`commands`] has a file for each family of
//! them; [`program`] is the program with its versions and points. [`ir`] and [`code`] are
//! LLVM: modules, and code in memory. [`words`] and [`values`] read what is
//! typed.

mod code;
mod commands;
mod ir;
mod problem;
mod program;
mod shell;
mod sys;
mod terminal;
mod values;
mod words;

use problem::Problem;
use shell::{Shell, complain};
use std::io::{BufRead, IsTerminal, Write};
use std::process::ExitCode;

const USAGE: &str = "\
usage: midflight-vm [SCRIPT]

Reads commands from SCRIPT, from standard input, or from the terminal. `help` lists them.
";

/// When open points get their versions, unless the environment says it.
const COMPILE: &str = "MIDFLIGHT_OSR_COMPILE";

fn main() -> ExitCode {
    midflight_bridge::pass::quiet_guarded_panics();
    if std::env::var_os(COMPILE).is_none() {
        // SAFETY: this is the only thread.
        unsafe { std::env::set_var(COMPILE, "now") };
    }
    let mut arguments = std::env::args_os().skip(1);
    let script = arguments.next();
    if arguments.next().is_some() {
        complain("starting: there is more than one script; `source` reads others");
        return ExitCode::FAILURE;
    }
    if script.as_ref().is_some_and(|script| script == "--help" || script == "-h") {
        let _ = std::io::stdout().write_all(USAGE.as_bytes());
        return ExitCode::SUCCESS;
    }
    let mut shell = match Shell::new() {
        Ok(shell) => shell,
        Err(problem) => {
            complain(&problem.to_string());
            return ExitCode::FAILURE;
        }
    };
    let done = match script {
        Some(script) => shell.script(&script.to_string_lossy()),
        None if std::io::stdin().is_terminal() => return terminal::talk(&mut shell),
        None => read(&mut shell),
    };
    if let Err(problem) = done {
        shell.has_failed = true;
        complain(&problem.to_string());
    }
    if shell.has_failed { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}

/// Does the lines of standard input.
fn read(shell: &mut Shell) -> Result<(), Problem> {
    for (number, line) in std::io::stdin().lock().split(b'\n').enumerate() {
        let line =
            line.map_err(|error| Problem::new("reading standard input", error.to_string(), ""))?;
        shell.line(&String::from_utf8_lossy(&line), &format!("line {}: ", number + 1));
        if !shell.is_open {
            break;
        }
    }
    Ok(())
}
