//! Where the plugin, the runtime and clang are.

use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// What a program says of its version is read up to here.
const LONGEST_ANSWER: u64 = 1 << 16;

/// The files that belong to one LLVM.
#[derive(Debug)]
pub struct Install {
    /// LLVM's major version
    pub llvm: u32,
    /// `libmidflight.so`
    pub plugin: PathBuf,
    /// `libmidflight_rt.a`
    pub runtime: PathBuf,
}

/// Something is not where it should be.
#[derive(Debug, thiserror::Error)]
pub enum InstallError {
    /// The words ` for LLVM 22`, or none, and the folder.
    #[error(
        "looking for the plugin{0}: there is none in '{1}'; run `make build` in \
         midflight's source, or set MIDFLIGHT_LIB_DIR"
    )]
    NoPlugin(String, String),
    /// The file.
    #[error(
        "looking for the environment: there is no '{0}'; run `make build` in midflight's source"
    )]
    NoVm(String),
    #[error("looking for the runtime: there is no '{0}'; run `make build` in midflight's source")]
    NoRuntime(String),
    #[error(
        "looking for clang {0}: neither clang-{0} nor a clang of this version is in PATH; install \
         it (Debian: apt-get install clang-{0}) or give `midflight cc` --midflight-clang=PATH"
    )]
    NoClang(u32),
    /// The program, and the first line that it says.
    #[error(
        "looking for clang: '{0}' is none: to --version it says '{1}'; give \
         --midflight-clang=PATH of a clang"
    )]
    NotClang(String, String),
    #[error(
        "looking for opt {0}: neither opt-{0} nor an opt of this version is in PATH; install it \
         (Debian: apt-get install llvm-{0})"
    )]
    NoOpt(u32),
}

impl Install {
    /// Finds the files for an LLVM, or for the newest that there is a plugin for.
    pub fn find(llvm: Option<u32>) -> Result<Self, InstallError> {
        let folder = library_folder();
        let plugin_of = |llvm: u32| folder.join(format!("llvm-{llvm}")).join("libmidflight.so");
        let found = match llvm {
            Some(llvm) => Some(llvm).filter(|&llvm| plugin_of(llvm).is_file()),
            None => versions(&folder).into_iter().rev().find(|&llvm| plugin_of(llvm).is_file()),
        };
        let Some(found) = found else {
            let version = llvm.map_or(String::new(), |llvm| format!(" for LLVM {llvm}"));
            return Err(InstallError::NoPlugin(version, folder.display().to_string()));
        };
        let runtime = folder.join("libmidflight_rt.a");
        if !runtime.is_file() {
            return Err(InstallError::NoRuntime(runtime.display().to_string()));
        }
        Ok(Install { llvm: found, plugin: plugin_of(found), runtime })
    }

    /// The program of `midflight vm`, beside the plugin.
    pub fn vm(&self) -> Result<PathBuf, InstallError> {
        let program = self.plugin.with_file_name("midflight-vm");
        let is_there = program.is_file();
        if is_there { Ok(program) } else { Err(InstallError::NoVm(program.display().to_string())) }
    }
}

/// `lib/midflight` beside the command, or in its prefix.
fn library_folder() -> PathBuf {
    if let Some(folder) = std::env::var_os("MIDFLIGHT_LIB_DIR") {
        return PathBuf::from(folder);
    }
    let own = std::env::current_exe().and_then(|path| path.canonicalize()).unwrap_or_default();
    let beside = own.parent().unwrap_or(Path::new(".")).join("lib/midflight");
    let in_prefix = own.parent().and_then(Path::parent).map(|p| p.join("lib/midflight"));
    match in_prefix {
        Some(folder) if !beside.is_dir() && folder.is_dir() => folder,
        _ => beside,
    }
}

/// The versions that there are folders for, ascending.
fn versions(folder: &Path) -> Vec<u32> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut versions: Vec<u32> = entries
        .filter_map(|e| e.file_name().to_str()?.strip_prefix("llvm-")?.parse().ok())
        .collect();
    versions.sort_unstable();
    versions
}

/// The `clang` or `clang++` of a version: by its name with the version in PATH, in Debian's folder,
/// or plain.
pub fn find_clang(llvm: u32, name: &str) -> Result<PathBuf, InstallError> {
    find_program(name, "-dumpversion", llvm).ok_or(InstallError::NoClang(llvm))
}

/// The opt of a version, looked for as [`find_clang`] does.
pub fn find_opt(llvm: u32) -> Result<PathBuf, InstallError> {
    find_program("opt", "--version", llvm).ok_or(InstallError::NoOpt(llvm))
}

/// `ask` is the option to which a plain program answers with its version.
fn find_program(name: &str, ask: &str, llvm: u32) -> Option<PathBuf> {
    if let Some(path) = in_path(&format!("{name}-{llvm}")) {
        return Some(path);
    }
    let debian = PathBuf::from(format!("/usr/lib/llvm-{llvm}/bin/{name}"));
    if debian.is_file() {
        return Some(debian);
    }
    in_path(name).filter(|path| is_version(path, ask, llvm))
}

fn in_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|file| file.is_file())
}

/// The major version of a clang, or the first line that it says if it is none.
pub fn clang_version(program: &Path) -> io::Result<Result<u32, String>> {
    let mut child = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let mut answer = Vec::new();
    let stdout = child.stdout.take();
    let read = stdout.map(|out| out.take(LONGEST_ANSWER).read_to_end(&mut answer));
    // One that goes on writing would never end; one that has ended cannot be killed.
    let _ = child.kill();
    child.wait()?;
    read.transpose()?;
    let answer = String::from_utf8_lossy(&answer);
    let version = answer.split_once("clang version ").and_then(|(_, version)| major(version));
    Ok(version.ok_or_else(|| answer.lines().next().unwrap_or_default().to_string()))
}

/// The number that a version begins with.
fn major(version: &str) -> Option<u32> {
    version.split('.').next()?.trim().parse().ok()
}

/// The answer is the version, or has it behind a word: `LLVM version 22.1.0`.
fn is_version(program: &Path, ask: &str, llvm: u32) -> bool {
    let Ok(output) = Command::new(program).arg(ask).output() else { return false };
    let answer = String::from_utf8_lossy(&output.stdout);
    let version = answer.split_once("version ").map_or(&*answer, |(_, version)| version);
    major(version) == Some(llvm)
}
