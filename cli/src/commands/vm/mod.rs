//! `midflight vm`: starts the environment of an LLVM, which has LLVM in it as this command has not.

use crate::install::{Install, InstallError};
use clap::Args;
use std::io;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

pub(crate) const HELP: &str = "\
Commands are read from SCRIPT, from standard input, or from the terminal, with line editing, history
and completion. `help` lists them, `help COMMAND` explains one. The exit status is 1 if a command of a
script has failed.

Examples:
  midflight vm                            on the terminal
  midflight vm SCRIPT                     do what a file says

  load isord.c                            compile C, and bring it into SSA form
  lines isord                             its instructions, with the numbers of points
  insert isord 4 count:1000 to open:inline-callee
  run isord buffer:i64[0..3000] 3000 @cmp
  osr-opt thesis isord                    make a second version, and
  maps isord                              see what maps between the two
docs/vm.md has all commands.";

#[derive(Args, Debug)]
pub(crate) struct Vm {
    /// Which LLVM [default: the newest that there is a plugin for]
    #[arg(long, alias = "midflight-llvm", value_name = "VERSION")]
    llvm: Option<u32>,
    /// Commands to do, in place of those on standard input
    script: Option<PathBuf>,
}

/// Why it does not start.
#[derive(Debug, thiserror::Error)]
pub(crate) enum VmError {
    #[error(transparent)]
    Install(#[from] InstallError),
    #[error("starting '{0}': {1}")]
    Start(String, io::Error),
}

impl Vm {
    /// Becomes the environment; returns only if that fails.
    pub(crate) fn run(self) -> VmError {
        let program = match Install::find(self.llvm).and_then(|install| install.vm()) {
            Ok(program) => program,
            Err(error) => return error.into(),
        };
        let mut command = Command::new(&program);
        // A name that begins with a dash is a file here: the options were taken.
        command.args(self.script.map(|script| std::path::Path::new(".").join(script)));
        VmError::Start(program.display().to_string(), command.exec())
    }
}
