//! `midflight cc` and `midflight c++`: clang with the plugin and the runtime.
//!
//! Everything goes to clang as it is. In front come the plugin and its options, and behind, for the
//! linker, the runtime; between `--start-no-unused-arguments` and its end, so that clang does not
//! warn where a call does not compile or does not link. The plugin's options travel as
//! `-Xclang -mllvm -Xclang …`, because a plain `-mllvm` goes to the integrated assembler too.

use crate::install::{self, Install};
use midflight_abi::MAX_K;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The language that the driver compiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// `midflight cc`
    C,
    /// `midflight c++`
    Cxx,
}

/// What is wrong with the driver's own options.
#[derive(Debug, thiserror::Error)]
pub enum DriverError {
    /// k is no number in range.
    #[error("'{0}': k must be a whole number from 1 to {MAX_K}")]
    K(String),
    /// The stage is neither of the two.
    #[error("'{0}': the stage must be early or late")]
    Stage(String),
    /// The LLVM version is no number.
    #[error("'{0}': the LLVM must be a major version, as 22")]
    Llvm(String),
    /// An option that does not exist.
    #[error(
        "unknown option '{0}'; known are --midflight-k=K, --midflight-stage=early|late, \
         --midflight-llvm=VERSION, --midflight-functions=@FILE, --midflight-clang=PATH and \
         --midflight-verbose"
    )]
    Unknown(String),
    /// The list of functions cannot be read.
    #[error("reading the list of functions '{path}': {error}")]
    List {
        /// The file
        path: String,
        /// Why
        error: std::io::Error,
    },
    /// The plugin's options are separated by `;`, so a path cannot have one.
    #[error("the path '{0}' has a ';' in it, which separates options; use another path")]
    Separator(String),
    /// Something is not where it should be.
    #[error(transparent)]
    Install(#[from] install::InstallError),
    /// Clang does not start.
    #[error("running '{path}': {error}")]
    Exec {
        /// The program
        path: String,
        /// Why
        error: std::io::Error,
    },
}

/// The driver's own options.
#[derive(Debug, Default, PartialEq, Eq)]
struct Options {
    k: Option<u32>,
    stage: Option<String>,
    llvm: Option<u32>,
    functions: Option<PathBuf>,
    clang: Option<PathBuf>,
    verbose: bool,
}

/// Becomes clang. Returns only if that fails.
pub fn run(language: Language, arguments: impl Iterator<Item = OsString>) -> DriverError {
    match command(language, arguments) {
        Ok((mut command, verbose)) => {
            if verbose {
                eprintln!("{}", quoted(&command));
            }
            let error = command.exec();
            DriverError::Exec { path: command.get_program().to_string_lossy().into_owned(), error }
        }
        Err(error) => error,
    }
}

/// The command line of clang, and whether it is to be printed.
fn command(
    language: Language,
    arguments: impl Iterator<Item = OsString>,
) -> Result<(Command, bool), DriverError> {
    let mut options = Options::default();
    let from_environment = std::env::var("MIDFLIGHT_CC_OPTIONS").unwrap_or_default();
    for word in from_environment.split_ascii_whitespace() {
        options.take(OsStr::new(word))?;
    }
    let mut rest = Vec::new();
    for argument in arguments {
        if argument.as_bytes().starts_with(b"--midflight-") {
            options.take(&argument)?;
        } else {
            rest.push(argument);
        }
    }
    let install = Install::find(options.llvm)?;
    let clang = match &options.clang {
        Some(path) => path.clone(),
        None => install::find_clang(install.llvm, language == Language::Cxx)?,
    };
    let mut command = Command::new(clang);
    command.args(in_front(&install, &options)?);
    // Behind `--` everything is an input file, so what goes to the linker must come before.
    let inputs = rest.iter().position(|a| a == "--").unwrap_or(rest.len());
    command.args(&rest[..inputs]);
    command.args(behind(&install, &rest, inputs < rest.len()));
    command.args(&rest[inputs..]);
    Ok((command, options.verbose))
}

impl Options {
    fn take(&mut self, argument: &OsStr) -> Result<(), DriverError> {
        let text = argument.to_string_lossy().into_owned();
        let bytes = argument.as_bytes();
        let split = bytes.iter().position(|&b| b == b'=').unwrap_or(bytes.len());
        let value = OsString::from_vec(bytes.get(split + 1..).unwrap_or_default().to_vec());
        let value_text = value.to_string_lossy();
        match &bytes[..split] {
            b"--midflight-k" => match value_text.parse() {
                Ok(k) if (1..=MAX_K).contains(&k) => self.k = Some(k),
                _ => return Err(DriverError::K(text)),
            },
            b"--midflight-stage" => match &*value_text {
                "early" | "late" => self.stage = Some(value_text.into_owned()),
                _ => return Err(DriverError::Stage(text)),
            },
            b"--midflight-llvm" => {
                self.llvm = Some(value_text.parse().map_err(|_| DriverError::Llvm(text))?);
            }
            b"--midflight-functions" => self.functions = Some(list_path(&value)?),
            b"--midflight-clang" => self.clang = Some(PathBuf::from(value)),
            b"--midflight-verbose" => self.verbose = true,
            _ => return Err(DriverError::Unknown(text)),
        }
        Ok(())
    }

    /// As the plugin reads them.
    fn for_plugin(&self) -> Result<OsString, DriverError> {
        let stage = self.stage.as_deref().unwrap_or("early");
        let mut text = OsString::from(format!("stage={stage}"));
        if let Some(k) = self.k {
            text.push(format!(";k={k}"));
        }
        if let Some(path) = &self.functions {
            if path.as_os_str().as_bytes().contains(&b';') {
                return Err(DriverError::Separator(path.display().to_string()));
            }
            text.push(";functions=");
            text.push(path);
        }
        Ok(text)
    }
}

/// The absolute path of a list, which must be readable; `@` before it is allowed.
fn list_path(value: &OsStr) -> Result<PathBuf, DriverError> {
    let bytes = value.as_bytes();
    let path = Path::new(OsStr::from_bytes(bytes.strip_prefix(b"@").unwrap_or(bytes)));
    let unreadable = |error| DriverError::List { path: path.display().to_string(), error };
    std::fs::File::open(path).map_err(unreadable)?;
    path.canonicalize().map_err(unreadable)
}

fn in_front(install: &Install, options: &Options) -> Result<Vec<OsString>, DriverError> {
    let with_path = |option: &str| {
        let mut text = OsString::from(option);
        text.push(&install.plugin);
        text
    };
    let mut plugin_options = OsString::from("-midflight=");
    plugin_options.push(options.for_plugin()?);
    let mut result = vec!["--start-no-unused-arguments".into(), with_path("-fpass-plugin=")];
    if install.llvm < 20 {
        // It must be loaded before -mllvm is read.
        result.push(with_path("-fplugin="));
    }
    // MIDFLIGHT_OPTIONS is for what has no option here; -mllvm would hide it.
    if let Some(more) = std::env::var_os("MIDFLIGHT_OPTIONS").filter(|more| !more.is_empty()) {
        plugin_options.push(";");
        plugin_options.push(more);
    }
    result.extend(["-Xclang", "-mllvm", "-Xclang"].map(OsString::from));
    result.push(plugin_options);
    // The first -g option, so that any other overrules it.
    result.push("-gline-tables-only".into());
    result.push("--end-no-unused-arguments".into());
    Ok(result)
}

fn behind(install: &Install, arguments: &[OsString], before_inputs: bool) -> Vec<OsString> {
    // A relocatable link is not the last one: that one gets the runtime.
    let relocatable = ["-r", "-Wl,-r", "-Wl,--relocatable", "--relocatable"];
    if arguments.iter().any(|a| relocatable.iter().any(|r| a == r)) {
        return Vec::new();
    }
    let mut result: Vec<OsString> = vec!["--start-no-unused-arguments".into()];
    let mut linker = |argument: &OsStr| {
        result.push("-Xlinker".into());
        result.push(argument.into());
    };
    if before_inputs {
        linker(OsStr::new("--undefined=midflight_enter"));
    }
    // As a linker argument the archive is not subject to -x.
    linker(install.runtime.as_os_str());
    // Instrumented libraries that are loaded later must find this runtime.
    linker(OsStr::new("--export-dynamic-symbol=midflight_*"));
    result.push("--end-no-unused-arguments".into());
    result
}

/// A command line that a shell reads as it is.
fn quoted(command: &Command) -> String {
    let plain = |b: u8| b.is_ascii_alphanumeric() || b"-_=+,./:@%^".contains(&b);
    let quote = |word: &OsStr| {
        let text = word.to_string_lossy();
        if !text.is_empty() && text.bytes().all(plain) {
            text.into_owned()
        } else {
            format!("'{}'", text.replace('\'', r"'\''"))
        }
    };
    std::iter::once(command.get_program())
        .chain(command.get_args())
        .map(quote)
        .collect::<Vec<_>>()
        .join(" ")
}
