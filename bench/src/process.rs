//! Running a child process: its output, its end and its CPU time, with a limit on the wall clock.

use crate::error::{Error, Result, io};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, pidfd_open};
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Read, Seek};
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;
use wait4::Wait4;

/// A command to run.
#[derive(Clone, Debug)]
pub struct Job {
    /// The program
    pub program: PathBuf,
    /// Its arguments
    pub arguments: Vec<OsString>,
    /// Environment added to that of the harness
    pub environment: Vec<(String, OsString)>,
    /// Where it runs; where the harness does if not given
    pub folder: Option<PathBuf>,
    /// A file for its standard input; empty if not given
    pub stdin: Option<PathBuf>,
    /// When it is killed, by the wall clock
    pub limit: Duration,
}

/// How a process ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// With this status
    Exit(i32),
    /// By this signal
    Signal(i32),
    /// By the harness, for taking too long
    Timeout,
}

/// What a process did.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How it ended
    pub end: End,
    /// What it wrote to its standard output
    pub stdout: Vec<u8>,
    /// What it wrote to its standard error
    pub stderr: Vec<u8>,
    /// User and system time that it and its children took
    pub cpu: Duration,
}

impl Job {
    /// A job without arguments, that may take two minutes.
    pub fn new(program: impl Into<PathBuf>) -> Job {
        Job {
            program: program.into(),
            arguments: Vec::new(),
            environment: Vec::new(),
            folder: None,
            stdin: None,
            limit: Duration::from_secs(120),
        }
    }

    /// Adds an argument.
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Job {
        self.arguments.push(argument.as_ref().to_os_string());
        self
    }

    /// Adds arguments.
    pub fn args<I: IntoIterator<Item: AsRef<OsStr>>>(mut self, arguments: I) -> Job {
        self.arguments.extend(arguments.into_iter().map(|a| a.as_ref().to_os_string()));
        self
    }

    /// Sets a variable of the environment.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Job {
        self.environment.push((name.to_string(), value.as_ref().to_os_string()));
        self
    }

    /// Sets the folder that it runs in.
    pub fn folder(mut self, folder: &Path) -> Job {
        self.folder = Some(folder.to_path_buf());
        self
    }

    /// Sets the limit on the wall clock.
    pub fn limit(mut self, seconds: u64) -> Job {
        self.limit = Duration::from_secs(seconds);
        self
    }

    /// Has the kernel choose no addresses at random.
    pub fn at_fixed_addresses(mut self) -> Job {
        let program = std::mem::replace(&mut self.program, "setarch".into());
        self.arguments.splice(0..0, ["-R".into(), program.into()]);
        self
    }

    /// The command line for a person, who can paste it into a shell.
    pub fn command_line(&self) -> String {
        let mut words: Vec<String> = self
            .environment
            .iter()
            .map(|(name, value)| format!("{name}={}", quoted(value)))
            .collect();
        words.push(quoted(self.program.as_os_str()));
        words.extend(self.arguments.iter().map(|a| quoted(a)));
        words.join(" ")
    }

    /// Runs it to its end.
    ///
    /// # Errors
    /// If it cannot be started. How it ends is in the outcome.
    pub fn run(&self) -> Result<Outcome> {
        let failed = |source: std::io::Error| self.error(source.to_string());
        let mut stdout = tempfile::tempfile().map_err(failed)?;
        let mut stderr = tempfile::tempfile().map_err(failed)?;
        let mut command = Command::new(&self.program);
        command
            .args(&self.arguments)
            .envs(self.environment.iter().map(|(name, value)| (name, value)))
            .stdin(self.input()?)
            .stdout(stdout.try_clone().map_err(failed)?)
            .stderr(stderr.try_clone().map_err(failed)?);
        if let Some(folder) = &self.folder {
            command.current_dir(folder);
        }
        let mut child = command.spawn().map_err(failed)?;
        let in_time = ended_within(&child, self.limit).map_err(failed)?;
        if !in_time {
            child.kill().map_err(failed)?;
        }
        let used = child.wait4().map_err(failed)?;
        Ok(Outcome {
            end: if in_time { end_of(used.status) } else { End::Timeout },
            stdout: content(&mut stdout).map_err(failed)?,
            stderr: content(&mut stderr).map_err(failed)?,
            cpu: used.rusage.utime + used.rusage.stime,
        })
    }

    /// Runs it; anything but a successful end is an error that shows the first lines it wrote.
    ///
    /// # Errors
    /// If it cannot be started or does not succeed.
    pub fn expect_success(&self) -> Result<Outcome> {
        let outcome = self.run()?;
        if outcome.end == End::Exit(0) {
            return Ok(outcome);
        }
        let text = String::from_utf8_lossy(&outcome.stderr);
        let head: Vec<&str> = text.lines().take(12).collect();
        Err(self.error(format!("{}\n{}", outcome.end, head.join("\n"))))
    }

    fn input(&self) -> Result<Stdio> {
        match &self.stdin {
            None => Ok(Stdio::null()),
            Some(path) => Ok(File::open(path).map_err(io("opening", path))?.into()),
        }
    }

    pub(crate) fn error(&self, what: String) -> Error {
        Error::Command { command: self.command_line(), what }
    }
}

impl std::fmt::Display for End {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            End::Exit(status) => write!(f, "exit status {status}"),
            End::Signal(signal) => write!(f, "killed by signal {signal}"),
            End::Timeout => write!(f, "killed for taking too long"),
        }
    }
}

fn quoted(word: &OsStr) -> String {
    let text = word.to_string_lossy();
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./=+:,%@".contains(c);
    if !text.is_empty() && text.chars().all(plain) {
        return text.into_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// Waits for the end of a child that is not reaped yet. False if it takes longer.
fn ended_within(child: &Child, limit: Duration) -> std::io::Result<bool> {
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    let pid = pid.ok_or_else(|| std::io::Error::other("it has no process number"))?;
    let handle = pidfd_open(pid, PidfdFlags::empty())?;
    let limit = Timespec::try_from(limit).map_err(std::io::Error::other)?;
    loop {
        match poll(&mut [PollFd::new(&handle, PollFlags::IN)], Some(&limit)) {
            Ok(ready) => return Ok(ready > 0),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

fn end_of(status: ExitStatus) -> End {
    match (status.code(), status.signal()) {
        (Some(code), _) => End::Exit(code),
        (None, signal) => End::Signal(signal.unwrap_or(0)),
    }
}

fn content(file: &mut File) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_writes_and_how_it_ends_is_seen() {
        let outcome = Job::new("sh").args(["-c", "echo out; echo err >&2; exit 3"]).run().unwrap();
        assert_eq!(outcome.end, End::Exit(3));
        assert_eq!((outcome.stdout, outcome.stderr), (b"out\n".to_vec(), b"err\n".to_vec()));
    }

    #[test]
    fn a_signal_is_told_from_a_status() {
        let outcome = Job::new("sh").args(["-c", "kill -ABRT $$"]).run().unwrap();
        assert_eq!(outcome.end, End::Signal(6));
    }

    #[test]
    fn a_process_that_takes_too_long_is_killed() {
        let job = Job::new("sleep").arg("30").limit(0);
        assert_eq!(job.run().unwrap().end, End::Timeout);
    }

    #[test]
    fn addresses_can_be_fixed() {
        let job = Job::new("sh").args(["-c", "grep stack /proc/$$/maps"]).at_fixed_addresses();
        let runs = [(); 2].map(|()| job.expect_success().unwrap().stdout);
        assert_eq!(runs[0], runs[1]);
    }

    #[test]
    fn command_lines_can_be_pasted() {
        let job = Job::new("cc").arg("-D'x'").arg("a b").env("V", "k=8;verify");
        assert_eq!(job.command_line(), r"V='k=8;verify' cc '-D'\''x'\''' 'a b'");
    }
}
