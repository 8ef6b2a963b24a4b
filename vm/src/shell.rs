//! The shell: what it keeps between commands, and how it reads and does them.

use crate::code::{Code, Jit};
use crate::commands::{COMMANDS, Command};
use crate::ir::{Context, Ir, first_error};
use crate::problem::{Problem, nearest};
use crate::program::Program;
use crate::values::Buffer;
use crate::words;
use midflight_bridge::pass::guard;
use midflight_orc::Machine;
use midflight_profile::visible;
use std::collections::BTreeSet;
use std::io::Write;

/// Scripts that read scripts, one in the other.
const MOST_SCRIPTS: usize = 64;

/// The program with its points, and its code.
pub struct Built {
    /// The module with points
    pub ir: Ir,
    /// Its code, once it was asked for
    pub code: Option<Code>,
}

/// All that there is.
pub struct Shell {
    /// The program
    pub program: Program,
    /// What compiles it
    pub jit: Jit,
    /// This machine
    pub machine: Machine,
    /// The program with points; none after it was changed
    pub built: Option<Built>,
    /// Names of points that are armed
    pub armed: BTreeSet<String>,
    /// Buffers of the last call, with the numbers of their arguments
    pub buffers: Vec<(usize, Buffer)>,
    /// Say more
    pub verbose: bool,
    /// Print each command before it is done
    pub echo: bool,
    /// Whether to go on
    pub is_open: bool,
    /// Whether a command has failed
    pub has_failed: bool,
    scripts: usize,
}

impl Shell {
    /// A shell without a program.
    ///
    /// # Errors
    /// LLVM's message.
    pub fn new() -> Result<Shell, Problem> {
        let problem = |what| Problem::new("starting LLVM", what, "");
        let machine = Machine::new().map_err(problem)?;
        let context = Context::new();
        let jit = Jit::new(machine, context).map_err(problem)?;
        Ok(Shell {
            program: Program::new(context, machine),
            jit,
            machine,
            built: None,
            armed: BTreeSet::new(),
            buffers: Vec::new(),
            verbose: false,
            echo: false,
            is_open: true,
            has_failed: false,
            scripts: 0,
        })
    }

    /// Does one line. What goes wrong is told, with `place`: where the line stands.
    pub fn line(&mut self, line: &str, place: &str) {
        if self.echo && !line.trim().is_empty() && !line.trim_start().starts_with('#') {
            self.say(&format!("> {}", line.trim_end()));
        }
        if let Err(problem) = self.command(line) {
            self.has_failed = true;
            let text = problem.to_string().replace('\n', " ");
            complain(&format!("{place}{text}"));
        }
        // What the commands have reported by themselves is told as problems.
        first_error();
    }

    fn command(&mut self, line: &str) -> Result<(), Problem> {
        let words = words::split(line)
            .map_err(|what| Problem::new("reading a command", what, "close it on the same line"))?;
        let Some((name, arguments)) = words.split_first() else { return Ok(()) };
        let command = command_named(name)?;
        match guard(|| (command.run)(self, arguments)) {
            Ok(done) => done,
            Err(defect) => Err(Problem::new(
                command.name,
                format!("a defect of midflight: {}", defect.message),
                "please report it",
            )),
        }
    }

    /// Does the lines of a file.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn script(&mut self, file: &str) -> Result<(), Problem> {
        let doing = || format!("reading the script '{file}'");
        if self.scripts >= MOST_SCRIPTS {
            let todo = "see whether it reads itself";
            return Err(Problem::new(doing(), "too many scripts read each other", todo));
        }
        let text = std::fs::read_to_string(file)
            .map_err(|error| Problem::new(doing(), error.to_string(), ""))?;
        self.scripts += 1;
        for (number, line) in text.lines().enumerate() {
            if !self.is_open {
                break;
            }
            self.line(line, &format!("{file}:{}: ", number + 1));
        }
        self.scripts -= 1;
        Ok(())
    }

    /// Writes lines to standard output.
    pub fn say(&self, text: &str) {
        let mut out = std::io::stdout().lock();
        for line in text.lines() {
            let line: Vec<String> = line.split('\t').map(visible).collect();
            if writeln!(out, "{}", line.join("\t")).is_err() {
                // Nobody reads it any more.
                std::process::exit(i32::from(self.has_failed));
            }
        }
    }

    /// To be called after whatever changes the program or its points.
    pub fn changed(&mut self) {
        self.built = None;
    }

    /// The program with its points.
    ///
    /// # Errors
    /// Why they cannot be inserted.
    pub fn built(&mut self) -> Result<&mut Built, Problem> {
        if self.built.is_none() {
            let woven = self.program.woven();
            let ir = woven.map_err(|what| Problem::new("inserting points", what, ""))?;
            self.built = Some(Built { ir, code: None });
        }
        self.built.as_mut().ok_or_else(|| Problem::new("inserting points", "nothing is there", ""))
    }
}

/// The command of a name.
///
/// # Errors
/// [`Problem::NoCommand`]
pub fn command_named(name: &str) -> Result<&'static Command, Problem> {
    COMMANDS.iter().find(|command| command.name == name).ok_or_else(|| Problem::NoCommand {
        word: name.to_string(),
        nearest: nearest(name, COMMANDS.iter().map(|command| command.name)),
    })
}

/// One line on standard error. If that is closed, there is nobody to tell.
pub fn complain(message: &str) {
    let _ = writeln!(std::io::stderr(), "midflight vm: error: {}", visible(message));
}
