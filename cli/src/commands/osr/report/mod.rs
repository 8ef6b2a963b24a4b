//! `midflight osr report`: the OSR mappings between a function (base) and its optimized version
//! (opt), after section 5.4 of the thesis.
//!
//! `compile` makes bitcode, on which `opt` runs the plugin, which maps the points and writes
//! down what it found, a [`Report`]. `text` prints it as tables, `page` as a page for browsers.

mod bar;
mod compile;
mod opt;
mod page;
mod text;

use crate::commands::CommandError;
use crate::commands::arguments::Format;
use crate::format::names::{is_name, readable};
use crate::format::sink::write_to;
use crate::install::{self, Install, InstallError};
use clap::Args;
use midflight_profile::osr_maps::report::Report;
use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

pub(crate) const HELP: &str = "\
Base is the function with mem2reg alone, opt what the passes make of it. Source is compiled by
clang, with the arguments behind --.

Examples:
  midflight osr report blocksort.c --function mainSort -- -Iinclude
  midflight osr report prog.bc --passes 'adce,gvn' --html prog.html
  midflight osr report prog.ll --format json --detail >prog.json";

#[derive(Args, Debug)]
pub(crate) struct OsrReport {
    /// C or C++ source, bitcode (.bc) or LLVM IR as text (.ll)
    file: PathBuf,
    /// What makes opt of base, as for `opt -passes`
    #[arg(long, default_value = PASSES, value_name = "PIPELINE")]
    passes: String,
    /// Only this function, by its name or demangled name; may be repeated
    #[arg(long, value_name = "NAME")]
    function: Vec<String>,
    /// Which LLVM [default: the newest that there is a plugin for]
    #[arg(long, value_name = "VERSION")]
    llvm: Option<u32>,
    /// As text or JSON
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    format: Format,
    /// The JSON has the code and each point's mapping too
    #[arg(long)]
    detail: bool,
    /// Write a page for browsers, which shows each point's mapping, too
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Arguments for clang
    #[arg(last = true, value_name = "CLANG-ARGUMENTS")]
    arguments: Vec<OsString>,
}

impl OsrReport {
    pub(crate) fn run(self) -> Result<(), CommandError> {
        let source = self.file.display().to_string();
        let mut report = report(&self)?;
        if let Some(path) = &self.html {
            write_to(Some(path), |out| page::write(out, &source, &report))?;
        }
        if !self.detail {
            report.functions.iter_mut().for_each(|function| function.detail = None);
        }
        Ok(self.format.print(&report, |out| text::write(out, &source, &report))?)
    }
}

/// The optimizations of the thesis (Tab. 5.5), as LLVM's passes.
const PASSES: &str = "adce,sccp,early-cse,loop-simplify,lcssa,loop-mssa(licm),sink";

/// Why there is no report.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReportError {
    #[error(transparent)]
    Install(#[from] InstallError),
    #[error("reading '{0}': {1}")]
    Read(String, io::Error),
    #[error(
        "'{0}': its name does not tell what it is; it must end in .c, .cc, .cpp, .cxx, .C, .i or \
         .ii for source, .bc or .ll for LLVM IR"
    )]
    Kind(String),
    #[error("'{0}' is not LLVM bitcode")]
    NotBitcode(String),
    #[error("'{0}' is not compiled, so it takes no arguments for clang (those behind --)")]
    Arguments(String),
    #[error("running '{0}': {1}")]
    Run(String, io::Error),
    #[error("compiling '{0}': clang ended with {1}")]
    Compile(String, std::process::ExitStatus),
    #[error("running the passes '{passes}' on '{path}': {message}")]
    Opt { passes: String, path: String, message: String },
    #[error("reading what the plugin found in '{0}': {1}; are plugin and command of one build?")]
    Found(String, String),
    #[error("there is no function '{name}' in '{path}' that could be mapped{refused}")]
    NoFunction { name: String, path: String, refused: String },
    #[error("making a temporary folder: {0}")]
    Temporary(io::Error),
}

/// Compiles, optimizes, and maps points.
fn report(request: &OsrReport) -> Result<Report, ReportError> {
    let install = Install::find(request.llvm)?;
    let opt = install::find_opt(install.llvm)?;
    let folder = tempfile::tempdir().map_err(ReportError::Temporary)?;
    let input = compile::to_ir(request, install.llvm, folder.path())?;
    let mut report = opt::run(&opt, &install.plugin, request, &input, folder.path())?;
    keep_only(request, &mut report)?;
    Ok(report)
}

/// Leaves the functions that were asked for.
fn keep_only(request: &OsrReport, report: &mut Report) -> Result<(), ReportError> {
    if request.function.is_empty() {
        return Ok(());
    }
    for name in &request.function {
        if !report.functions.iter().any(|function| is_name(&function.name, name)) {
            let reasons: Vec<String> = report
                .refused_functions
                .iter()
                .map(|(reason, count)| format!("{}: {count}", readable(reason)))
                .collect();
            let refused = match reasons.is_empty() {
                true => String::new(),
                false => format!(" (refused functions: {})", reasons.join(", ")),
            };
            let path = request.file.display().to_string();
            return Err(ReportError::NoFunction { name: name.clone(), path, refused });
        }
    }
    report.functions.retain(|f| request.function.iter().any(|name| is_name(&f.name, name)));
    Ok(())
}
