//! Builds the packaged runtime and the test programs, runs them, and reads their profiles.
#![allow(dead_code, reason = "each file of tests uses a part of it")]

use midflight_profile::format::Profile;
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Output, Stdio};
use std::rc::Rc;
use std::sync::OnceLock;
use tempfile::TempDir;

const SOURCES: &str = env!("CARGO_MANIFEST_DIR");

fn checked(command: &mut Command) -> Output {
    let output = command.output().unwrap_or_else(|error| panic!("{command:?}: {error}"));
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {}\n{stderr}", output.status);
    output
}

/// The folder with the packaged libraries for AArch64, if that is what is tested, in QEMU.
fn for_aarch64() -> Option<PathBuf> {
    std::env::var_os("MIDFLIGHT_TEST_AARCH64").map(PathBuf::from)
}

/// Bytes of code and constants of the packaged shared library.
pub fn code_size() -> usize {
    let output = checked(Command::new("size").arg(library("libmidflight_rt.so")));
    let sizes = String::from_utf8(output.stdout).unwrap();
    let row = sizes.lines().nth(1).unwrap();
    row.split_whitespace().next().unwrap().parse().unwrap()
}

/// Whether programs run in QEMU.
pub fn is_emulated() -> bool {
    for_aarch64().is_some()
}

/// What a program wrote, without what QEMU tells of its end.
fn without_qemus_lines(stderr: String) -> String {
    match for_aarch64() {
        None => stderr,
        Some(_) => stderr
            .split_inclusive('\n')
            .filter(|line| !line.starts_with("qemu: uncaught target signal"))
            .collect(),
    }
}

/// Whether programs run on x86-64.
pub fn is_x86_64() -> bool {
    cfg!(target_arch = "x86_64") && !is_emulated()
}

/// The directory with the packaged static and shared library, built once.
fn libraries() -> &'static Path {
    static LIBRARIES: OnceLock<PathBuf> = OnceLock::new();
    LIBRARIES.get_or_init(|| {
        if let Some(folder) = for_aarch64() {
            return folder;
        }
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("runtime");
        // As the Makefile has it.
        let flags = ["--", "-C", "llvm-args=-inline-threshold=20"];
        checked(cargo("standalone").arg("--target-dir").arg(&target).args(flags));
        let built = target.join("runtime/libmidflight_rt.a");
        let packaged = target.join("packaged");
        for (kind, name) in [("static", "libmidflight_rt.a"), ("shared", "libmidflight_rt.so")] {
            let mut package = Command::new(Path::new(SOURCES).join("package.sh"));
            checked(package.arg(kind).arg(&built).arg(packaged.join(name)));
        }
        packaged
    })
}

/// `cargo` that builds the static library.
fn cargo(features: &str) -> Command {
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["rustc", "--quiet", "--manifest-path"]).arg(Path::new(SOURCES).join("Cargo.toml"));
    cargo.args(["--profile", "runtime", "--features", features, "--crate-type", "staticlib"]);
    cargo
}

/// The static library as ThreadSanitizer watches it, built once. `core` is not watched, but nearly
/// all of it that is used here is compiled anew.
fn watched_library() -> &'static Path {
    static LIBRARY: OnceLock<PathBuf> = OnceLock::new();
    LIBRARY.get_or_init(|| {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("watched");
        let host = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
        let flags = "-Zsanitizer=thread -Cunsafe-allow-abi-mismatch=sanitizer";
        // With a target the flags are not for what runs while building.
        let mut cargo = cargo("standalone,tsan");
        cargo.args(["--target", &host]).arg("--target-dir").arg(&target);
        cargo.env("RUSTC_BOOTSTRAP", "1").env("RUSTFLAGS", flags);
        checked(cargo.env("CARGO_PROFILE_RUNTIME_DEBUG", "line-tables-only"));
        target.join(host).join("runtime/libmidflight_rt.a")
    })
}

/// A packaged library.
pub fn library(name: &str) -> PathBuf {
    libraries().join(name)
}

fn first_command(names: &[&str]) -> Option<String> {
    let works = |name: &&&str| {
        Command::new(name).arg("--version").output().is_ok_and(|output| output.status.success())
    };
    names.iter().find(works).map(|name| (*name).to_owned())
}

/// The path of lld, if it is installed and the compiler is clang.
pub fn lld() -> Option<String> {
    let names = ["ld.lld-22", "ld.lld-21", "ld.lld-20", "ld.lld-19", "ld.lld"];
    let name = first_command(&names)?;
    let path = checked(Command::new("sh").arg("-c").arg(format!("command -v {name}"))).stdout;
    compiler().contains("clang").then(|| String::from_utf8(path).unwrap().trim().to_owned())
}

fn compiler() -> &'static str {
    static COMPILER: OnceLock<String> = OnceLock::new();
    COMPILER.get_or_init(|| {
        first_command(&["clang-22", "clang-21", "clang-20", "clang-19", "clang", "cc"])
            .expect("no C compiler")
    })
}

fn symbols(library: &Path, flags: &[&str]) -> Vec<String> {
    let nm = first_command(&["llvm-nm-22", "llvm-nm-19", "llvm-nm", "nm"]).expect("no nm");
    let output = checked(Command::new(nm).args(flags).arg("-P").arg(library));
    let text = String::from_utf8(output.stdout).unwrap();
    let mut names: Vec<String> = text
        .lines()
        .filter(|line| !line.ends_with(':'))
        .filter_map(|line| line.split_whitespace().next().map(str::to_owned))
        .collect();
    names.sort();
    names
}

/// Global symbols that a packaged library defines.
pub fn defined_symbols(library: &str, flags: &[&str]) -> Vec<String> {
    symbols(&libraries().join(library), &[flags, &["--defined-only"]].concat())
}

/// Symbols that a packaged library needs.
pub fn undefined_symbols(library: &str) -> Vec<String> {
    symbols(&libraries().join(library), &["--undefined-only"])
}

/// All symbols of a packaged library.
pub fn all_symbols(library: &str) -> Vec<String> {
    symbols(&libraries().join(library), &[])
}

/// All symbols of the library that ThreadSanitizer watches.
pub fn watched_symbols() -> Vec<String> {
    symbols(watched_library(), &[])
}

/// A program of `programs/` that is to be built.
pub struct Build {
    name: String,
    flags: Vec<String>,
    runtime: Option<fn() -> PathBuf>,
}

impl Build {
    /// `programs/NAME.c` with the static runtime.
    pub fn new(name: &str) -> Self {
        let runtime = || library("libmidflight_rt.a");
        Self { name: name.to_owned(), flags: Vec::new(), runtime: Some(runtime) }
    }

    /// Adds a flag for the compiler.
    pub fn flag(mut self, flag: &str) -> Self {
        self.flags.push(flag.to_owned());
        self
    }

    /// Leaves the runtime out.
    pub fn without_runtime(mut self) -> Self {
        self.runtime = None;
        self
    }

    /// Has ThreadSanitizer watch the program and the runtime.
    pub fn watched(mut self) -> Self {
        self.runtime = Some(|| watched_library().to_owned());
        self.flag("-fsanitize=thread").flag("-g").flag("-DWATCHED")
    }

    /// Compiles and links.
    pub fn program(self) -> Program {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().canonicalize().unwrap().join(&self.name);
        let programs = Path::new(SOURCES).join("tests/programs");
        let mut command = Command::new(compiler());
        if is_emulated() {
            command.arg("--target=aarch64-linux-gnu");
            if !self.flags.iter().any(|flag| flag.starts_with("-static")) {
                // With its option -L, QEMU would lead `/` to the folder with the libraries.
                command.args([
                    "-Wl,--dynamic-linker=/usr/aarch64-linux-gnu/lib/ld-linux-aarch64.so.1",
                    "-Wl,-rpath,/usr/aarch64-linux-gnu/lib",
                ]);
            }
        }
        command.args(["-std=gnu11", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread", "-I"]);
        command.arg(&programs).arg("-I").arg(Path::new(SOURCES).join("include"));
        command.arg(programs.join(&self.name).with_extension("c")).arg("-o").arg(&path);
        if let Some(runtime) = self.runtime {
            command.arg("-Wl,-u,midflight_osr_register").arg(runtime());
        }
        checked(command.args(&self.flags));
        Program { path, directory: Rc::new(directory) }
    }
}

/// A program that was built.
pub struct Program {
    path: PathBuf,
    directory: Rc<TempDir>,
}

impl Program {
    /// Builds `programs/NAME.c` with the static runtime.
    pub fn build(name: &str) -> Self {
        Build::new(name).program()
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Runs it without arguments.
    pub fn run(&self) -> Run {
        self.command().run()
    }

    /// A run that is to be made, in a new directory.
    pub fn command(&self) -> Invocation {
        match for_aarch64() {
            None => self.command_of(&self.path),
            Some(_) => self.command_of("qemu-aarch64").arg(&self.path),
        }
    }

    /// The same, of another program that runs it.
    pub fn command_of(&self, program: impl AsRef<OsStr>) -> Invocation {
        let directory = tempfile::tempdir().unwrap();
        let mut command = Command::new(program);
        for variable in [
            "PROFILE",
            "MAX_MEMORY",
            "THREAD_MEMORY",
            "OSR_FIRE",
            "OSR_LOG",
            "OSR_SIGNAL",
            "OSR_COMPILE",
            "OSR_EXIT",
            "JIT",
            "JIT_MEMORY",
            "OSR_COMPILE",
            "JIT",
            "SIGNALS",
            "CONTEXTS",
            "PROFILE_SIGNAL",
        ] {
            command.env_remove(format!("MIDFLIGHT_{variable}"));
        }
        command.current_dir(directory.path()).stdin(Stdio::null());
        // As in a terminal: below `nohup`, or behind `&` in a shell, they are ignored.
        // SAFETY: signal may be called between fork and exec.
        unsafe {
            command.pre_exec(|| {
                for ignored in [libc::SIGHUP, libc::SIGINT, libc::SIGQUIT] {
                    libc::signal(ignored, libc::SIG_DFL);
                }
                Ok(())
            });
        }
        Invocation { command, directory, _program: Rc::clone(&self.directory) }
    }
}

/// A run that is to be made.
pub struct Invocation {
    command: Command,
    directory: TempDir,
    /// Keeps the program from being deleted.
    _program: Rc<TempDir>,
}

impl Invocation {
    /// Adds an argument.
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.command.arg(argument);
        self
    }

    /// Sets a variable of the environment.
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    /// Runs it elsewhere.
    pub fn current_dir(mut self, directory: &Path) -> Self {
        self.command.current_dir(directory);
        self
    }

    /// Runs it as another user; root alone may do so. The program and the directory are made
    /// readable for all.
    pub fn user(mut self, user: u32) -> Self {
        for path in [self.directory.path(), self._program.path()] {
            let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
            std::fs::set_permissions(path, mode).unwrap();
        }
        self.command.uid(user).gid(user);
        self
    }

    /// Has standard output go to a new file.
    pub fn stdout(mut self, path: &Path) -> Self {
        self.command.stdout(std::fs::File::create(path).unwrap());
        self
    }

    /// Limits the address space to that many bytes.
    pub fn address_space(mut self, bytes: u64) -> Self {
        let limit = libc::rlimit { rlim_cur: bytes, rlim_max: bytes };
        // SAFETY: setrlimit may be called between fork and exec.
        unsafe {
            self.command.pre_exec(move || {
                match libc::setrlimit(libc::RLIMIT_AS, &raw const limit) {
                    0 => Ok(()),
                    _ => Err(std::io::Error::last_os_error()),
                }
            });
        }
        self
    }

    /// Where it is going to run.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Runs it to its end.
    pub fn run(mut self) -> Run {
        Run::new(self.command.output().unwrap(), self.directory)
    }

    /// Starts it.
    pub fn spawn(mut self) -> Started {
        self.command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let child = self.command.spawn().unwrap();
        Started { child, directory: self.directory, _program: self._program }
    }

    /// Runs it with a pipe for standard error that nobody reads.
    pub fn run_with_broken_stderr(mut self) -> ExitStatus {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        self.command.stderr(writer).status().unwrap()
    }
}

/// A run that is under way.
pub struct Started {
    child: Child,
    directory: TempDir,
    _program: Rc<TempDir>,
}

impl Started {
    /// Waits until it prints a line, its first.
    pub fn wait_for_line(&mut self, line: &str) {
        let mut found = vec![0; line.len() + 1];
        self.child.stdout.as_mut().unwrap().read_exact(&mut found).unwrap();
        assert_eq!(found, format!("{line}\n").as_bytes());
    }

    /// Sends it a signal.
    pub fn kill(&self, signal: i32) {
        // SAFETY: the process is a child that was not waited for.
        assert_eq!(unsafe { libc::kill(self.child.id().try_into().unwrap(), signal) }, 0);
    }

    /// Names of the files in its directory, in order.
    pub fn names(&self) -> Vec<String> {
        files_below(self.directory.path())
    }

    /// Where it runs.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// Waits for its end.
    pub fn finish(self) -> Run {
        Run::new(self.child.wait_with_output().unwrap(), self.directory)
    }
}

/// A run that was made.
pub struct Run {
    status: ExitStatus,
    stdout: String,
    stderr: String,
    directory: TempDir,
}

impl Run {
    fn new(output: Output, directory: TempDir) -> Self {
        Self {
            status: output.status,
            stdout: String::from_utf8(output.stdout).unwrap(),
            // It has values of variables in it.
            stderr: without_qemus_lines(String::from_utf8_lossy(&output.stderr).into_owned()),
            directory,
        }
    }

    /// Its exit status; it must not have died of a signal.
    pub fn status(&self) -> i32 {
        self.status.code().unwrap_or_else(|| panic!("{}: {}", self.status, self.stderr))
    }

    /// The signal that it died of.
    pub fn signal(&self) -> Option<i32> {
        self.status.signal()
    }

    /// What it wrote to standard output.
    pub fn stdout(&self) -> &str {
        &self.stdout
    }

    /// What it wrote to standard error.
    pub fn stderr(&self) -> &str {
        &self.stderr
    }

    /// Names of the files in its directory, in order.
    pub fn names(&self) -> Vec<String> {
        files_below(self.directory.path())
    }

    /// What is in a file of its directory.
    pub fn text(&self, name: &str) -> String {
        let path = self.directory.path().join(name);
        std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// What is in a file of its directory, as it is.
    pub fn bytes(&self, name: &str) -> Vec<u8> {
        let path = self.directory.path().join(name);
        std::fs::read(&path).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// The profiles that it wrote, with their names.
    pub fn named_profiles(&self) -> Vec<(String, Profile)> {
        let read = |name: String| {
            let profile =
                Profile::read(&self.bytes(&name)).unwrap_or_else(|error| panic!("{name}: {error}"));
            (name, profile)
        };
        self.names().into_iter().map(read).collect()
    }

    /// The profiles that it wrote.
    pub fn profiles(&self) -> Vec<Profile> {
        self.named_profiles().into_iter().map(|(_, profile)| profile).collect()
    }

    /// The only profile that it wrote.
    pub fn profile(&self) -> Profile {
        let mut profiles = self.profiles();
        assert_eq!(profiles.len(), 1, "{:?}", self.names());
        profiles.remove(0)
    }
}

fn files_below(directory: &Path) -> Vec<String> {
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory).unwrap() {
        let entry = entry.unwrap();
        let name = entry.file_name().into_string().unwrap();
        if entry.file_type().unwrap().is_dir() {
            names.extend(
                files_below(&entry.path()).into_iter().map(|below| format!("{name}/{below}")),
            );
        } else {
            names.push(name);
        }
    }
    names.sort();
    names
}

/// What a profile says about a function, over all forests of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Activations.
    pub entries: u64,
    /// Paths counted.
    pub events: u64,
    /// Paths that were counted with fewer paths before them than there were.
    pub short: u64,
    /// Paths not counted.
    pub lost: u64,
}

impl Counts {
    /// Adds up the forests of the function with that key.
    pub fn of(profile: &Profile, key: u64) -> Self {
        let mut counts = Self::default();
        for function in profile.functions.iter().filter(|function| function.key == key) {
            counts.entries += function.totals.entries;
            counts.events += u64::try_from(function.forest.total()).unwrap();
            counts.short += function.totals.restarts;
            counts.short += u64::try_from(function.truncated.total()).unwrap();
            counts.lost += function.totals.lost;
        }
        counts
    }
}

/// What `signals` must have counted, however its handlers interrupted the runtime.
#[track_caller]
pub fn check_signals(run: &Run) {
    assert_eq!((run.status(), run.stderr()), (0, ""));
    let handled: u64 = run.stdout().trim().parse().unwrap();
    assert!(handled > 100, "only {handled} signals");
    let profile = run.profile();
    let shared =
        Counts { entries: 1500 + handled, events: 1_500_000 + 3 * handled, short: 0, lost: 0 };
    assert_eq!(Counts::of(&profile, 1), shared);
    let other = Counts { entries: handled, events: 2 * handled, short: 0, lost: 0 };
    assert_eq!(Counts::of(&profile, 2), other);
}

/// What `explosion` must state of 300,000 events for which `MIDFLIGHT_MAX_MEMORY` did not suffice;
/// its profile.
#[track_caller]
pub fn check_limit(run: &Run) -> Profile {
    assert_eq!(run.status(), 7);
    assert_eq!(run.stderr().lines().count(), 1, "{}", run.stderr());
    assert!(run.stderr().contains("lower bounds"), "{}", run.stderr());
    let profile = run.profile();
    assert_eq!(profile.flags & 1, 1);
    let counts = Counts::of(&profile, 1);
    assert_eq!((counts.entries, counts.events + counts.lost), (1, 300_000));
    assert!(counts.short > 0);
    profile
}

/// A small file system, with no room left or little.
pub struct FullDisk(TempDir);

impl FullDisk {
    /// Mounts one; `None` where that is not permitted.
    pub fn mount() -> Option<Self> {
        let disk = Self::with_room("4k")?;
        std::fs::write(disk.path().join("ballast"), [1; 4096]).unwrap();
        Some(disk)
    }

    /// The same, with room for so many bytes.
    pub fn with_room(size: &str) -> Option<Self> {
        let directory = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount
            .args(["-t", "tmpfs", "-o"])
            .arg(format!("size={size},nr_inodes=10"))
            .arg("midflight-test")
            .arg(directory.path());
        if !mount.output().is_ok_and(|output| output.status.success()) {
            return None;
        }
        Some(Self(directory))
    }

    /// Where it is mounted.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Names of the files on it.
    pub fn names(&self) -> Vec<String> {
        files_below(self.path())
    }
}

impl Drop for FullDisk {
    fn drop(&mut self) {
        // A mount that stays makes the directory's deletion fail, which is no harm.
        _ = Command::new("umount").arg(self.path()).status();
    }
}
