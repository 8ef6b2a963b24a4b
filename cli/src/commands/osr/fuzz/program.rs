//! Runs of the program under test, and what they are compared by.

use crate::commands::osr::fuzz::Fuzz;
use crate::commands::osr::fuzz::log::Log;
use crate::commands::osr::fuzz::plan::COMPILE;
use crate::format::shell::quoted_word;
use rustix::process::{Pid, Signal, kill_process_group};
use std::ffi::OsString;
use std::fmt;
use std::fs::File;
use std::io;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tempfile::TempDir;

/// What runs are told of OSR points, and nobody else tells them.
const VARIABLES: [&str; 5] = [
    "MIDFLIGHT_OSR_FIRE",
    "MIDFLIGHT_OSR_LOG",
    "MIDFLIGHT_OSR_SIGNAL",
    COMPILE,
    "MIDFLIGHT_OSR_EXIT",
];

/// Why the program cannot be run.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProgramError {
    #[error("running '{0}': {1}; give the program and its arguments behind --")]
    Start(String, io::Error),
    #[error("running the program: {what} '{path}': {error}")]
    File { what: &'static str, path: String, error: io::Error },
    #[error("reading the log of {0}: {1}; is something else writing it?")]
    Log(String, serde_json::Error),
    #[error("interrupted; the program was ended")]
    Interrupted,
}

/// The program under test.
pub struct Program<'a> {
    /// How it is run, and compared
    pub options: &'a Fuzz,
    /// Set by a signal: end what runs.
    pub interrupted: Arc<AtomicBool>,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    Status(i32),
    Signal(i32),
    /// Not in time
    Hang,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ending::Status(status) => write!(f, "status {status}"),
            Ending::Signal(signal) => write!(f, "signal {signal}"),
            Ending::Hang => f.write_str("hang"),
        }
    }
}

impl From<ExitStatus> for Ending {
    fn from(status: ExitStatus) -> Self {
        match (status.code(), status.signal()) {
            (Some(status), _) => Ending::Status(status),
            (None, signal) => Ending::Signal(signal.unwrap_or_default()),
        }
    }
}

/// A stream or a file by its name, and what is in it; none if there is no such file.
pub type Captured = (String, Option<Vec<u8>>);

/// What a run did.
#[derive(Debug)]
pub struct Outcome {
    pub ending: Ending,
    /// `stdout`, `stderr` unless it is ignored, and files
    pub outputs: Vec<Captured>,
    pub log: Log,
    pub elapsed: Duration,
}

/// How a run differs from the reference.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// `hang`, `status`, `stdout`, `stderr`, `file` or `not-fired`
    pub kind: &'static str,
    /// For people
    pub text: String,
}

impl Program<'_> {
    /// Runs it, with variables of the environment; if there are any it writes a log too. Where they
    /// do not say that versions are made, none are.
    pub fn run(
        &self,
        variables: &[(&'static str, String)],
        limit: Option<Duration>,
    ) -> Result<Outcome, ProgramError> {
        let folder = tempfile::tempdir().map_err(file_error("making", Path::new("a folder")))?;
        self.remove_compared()?;
        let mut command = self.command(&folder)?;
        command.env(COMPILE, "never");
        if !variables.is_empty() {
            command.envs(variables.iter().map(|(name, value)| (name, value)));
            command.env("MIDFLIGHT_OSR_LOG", folder.path().join("%p.log"));
        }
        let begun = Instant::now();
        let child = command.spawn().map_err(|error| {
            ProgramError::Start(command.get_program().to_string_lossy().into_owned(), error)
        })?;
        let ending = self.wait(child, begun, limit)?;
        let elapsed = begun.elapsed();
        let log = read_log(folder.path(), variables)?;
        Ok(Outcome { ending, outputs: self.outputs(folder.path())?, log, elapsed })
    }

    fn command(&self, folder: &TempDir) -> Result<Command, ProgramError> {
        let create = |name: &str| {
            let path = folder.path().join(name);
            File::create(&path).map_err(file_error("making", &path))
        };
        let stdin = match &self.options.stdin {
            Some(path) => File::open(path).map_err(file_error("reading", path))?.into(),
            None => Stdio::null(),
        };
        let mut words = self.options.command.iter();
        let mut command = Command::new(words.next().map(OsString::as_os_str).unwrap_or_default());
        command.args(words).stdin(stdin).stdout(create("stdout")?).stderr(create("stderr")?);
        for variable in VARIABLES {
            command.env_remove(variable);
        }
        // So that all that it starts can be ended with it.
        command.process_group(0);
        Ok(command)
    }

    /// Waits for its end, and brings it about if that takes too long.
    fn wait(
        &self,
        mut child: Child,
        begun: Instant,
        limit: Option<Duration>,
    ) -> Result<Ending, ProgramError> {
        let failed = file_error("waiting for", Path::new(&self.options.command[0]));
        let mut pause = Duration::from_micros(200);
        loop {
            match child.try_wait() {
                Ok(Some(status)) => return Ok(status.into()),
                Ok(None) => {}
                Err(error) => return Err(failed(error)),
            }
            let interrupted = self.interrupted.load(Ordering::Relaxed);
            if interrupted || limit.is_some_and(|limit| begun.elapsed() > limit) {
                // It is not waited for yet, so the number is still its own.
                if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
                    let _ = kill_process_group(group, Signal::KILL);
                }
                child.wait().map_err(failed)?;
                return if interrupted { Err(ProgramError::Interrupted) } else { Ok(Ending::Hang) };
            }
            std::thread::sleep(pause);
            pause = (pause * 2).min(Duration::from_millis(10));
        }
    }

    /// A file of the run before must not pass for one of this run.
    fn remove_compared(&self) -> Result<(), ProgramError> {
        for path in &self.options.compare {
            match std::fs::remove_file(path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => {
                    return Err(file_error("removing", path)(error));
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn outputs(&self, folder: &Path) -> Result<Vec<Captured>, ProgramError> {
        let mut outputs = Vec::new();
        let streams =
            if self.options.ignore_stderr { &["stdout"][..] } else { &["stdout", "stderr"] };
        for name in streams {
            let path = folder.join(name);
            let bytes = std::fs::read(&path).map_err(file_error("reading", &path))?;
            outputs.push(((*name).to_string(), Some(bytes)));
        }
        for path in &self.options.compare {
            let bytes = match std::fs::read(path) {
                Ok(bytes) => Some(bytes),
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                Err(error) => return Err(file_error("reading", path)(error)),
            };
            outputs.push((path.display().to_string(), bytes));
        }
        Ok(outputs)
    }
}

fn file_error(what: &'static str, path: &Path) -> impl Fn(io::Error) -> ProgramError + use<> {
    let path = path.display().to_string();
    move |error| ProgramError::File { what, path: path.clone(), error }
}

/// As a shell has them.
pub fn assignments(variables: &[(&'static str, String)]) -> String {
    let words = variables.iter();
    let words = words.map(|(name, value)| format!("{name}={}", quoted_word(value.as_ref())));
    words.collect::<Vec<_>>().join(" ")
}

fn read_log(folder: &Path, variables: &[(&'static str, String)]) -> Result<Log, ProgramError> {
    let mut log = Log::default();
    for entry in std::fs::read_dir(folder).map_err(file_error("reading", folder))? {
        let path = entry.map_err(file_error("reading", folder))?.path();
        if path.extension().is_some_and(|extension| extension == "log") {
            let bytes = std::fs::read(&path).map_err(file_error("reading", &path))?;
            log.add(&String::from_utf8_lossy(&bytes))
                .map_err(|error| ProgramError::Log(assignments(variables), error))?;
        }
    }
    Ok(log)
}

impl Outcome {
    /// What differs in another run.
    pub fn difference(&self, other: &Outcome) -> Option<Difference> {
        if self.ending != other.ending {
            let kind = if other.ending == Ending::Hang { "hang" } else { "status" };
            let text = format!("{} in place of {}", other.ending, self.ending);
            return Some(Difference { kind, text });
        }
        let pairs = self.outputs.iter().zip(&other.outputs);
        let ((name, expected), (_, found)) = pairs.into_iter().find(|(a, b)| a.1 != b.1)?;
        let kind = match name.as_str() {
            "stdout" => "stdout",
            "stderr" => "stderr",
            _ => "file",
        };
        let text = match (expected, found) {
            (Some(expected), Some(found)) => first_line(name, expected, found),
            (None, _) => format!("{name} was written, and was not without"),
            (_, None) => format!("{name} was not written, and was without"),
        };
        Some(Difference { kind, text })
    }
}

/// The first line that differs.
fn first_line(name: &str, expected: &[u8], found: &[u8]) -> String {
    let (mut expected, mut found) = (expected.split(|&b| b == b'\n'), found.split(|&b| b == b'\n'));
    let mut number = 1;
    loop {
        let (line, other) = (expected.next(), found.next());
        if line != other || line.is_none() {
            return format!("{name}, line {number}: {} in place of {}", shown(other), shown(line));
        }
        number += 1;
    }
}

/// The most characters of a line that are shown.
const WIDTH: usize = 120;

fn shown(line: Option<&[u8]>) -> String {
    let Some(line) = line else { return "nothing".into() };
    let text: String = String::from_utf8_lossy(line).chars().take(WIDTH).collect();
    format!("{text:?}")
}
