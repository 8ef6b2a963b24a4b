//! Running `print<osr-map>` and reading what it writes (`docs/osr-report.md`).

use crate::error::{Result, read};
use crate::layout::Layout;
use crate::llvm::tool;
use crate::process::{End, Job};
use midflight_profile::osr_maps::report::Report;
use std::path::Path;

/// The passes of the thesis: what the plugin takes without a pipeline.
pub const THESIS: &str = "adce,sccp,early-cse,loop-simplify,lcssa,loop-mssa(licm),sink";

/// Mapping the functions of a module.
#[derive(Clone, Copy, Debug)]
pub struct Mapping<'a> {
    /// Where the plugin is
    pub layout: &'a Layout,
    /// Version of LLVM
    pub llvm: u32,
    /// The module
    pub module: &'a Path,
    /// What base is behind, besides what the module was made with
    pub behind: Option<&'a str>,
    /// The passes that make opt
    pub pipeline: &'a str,
}

impl Mapping<'_> {
    /// The mappings, or how `opt` failed. `output` is written on the way.
    ///
    /// # Errors
    /// If `opt` cannot be run, or what it wrote cannot be read.
    pub fn run(&self, output: &Path) -> Result<std::result::Result<Report, String>> {
        let before = self.behind.map(|pass| format!("function({pass}),")).unwrap_or_default();
        let passes = format!("{before}print<osr-map;file={}>({})", output.display(), self.pipeline);
        let outcome = opt(self.layout, self.llvm, &passes, self.module)?.run()?;
        if outcome.end != End::Exit(0) {
            let text = String::from_utf8_lossy(&outcome.stderr);
            let first = text.lines().next().unwrap_or_default();
            return Ok(Err(format!("{}: {first}", outcome.end)));
        }
        let malformed = |error: serde_json::Error| crate::error::Error::Malformed {
            what: format!("'{}'", output.display()),
            problem: error.to_string(),
        };
        serde_json::from_slice(&read(output)?).map(Ok).map_err(malformed)
    }
}

/// `opt` with the plugin, these passes and no output.
///
/// # Errors
/// If it, or the plugin, is not there.
pub fn opt(layout: &Layout, llvm: u32, passes: &str, module: &Path) -> Result<Job> {
    Ok(Job::new(tool("opt", llvm)?)
        .arg("-load-pass-plugin")
        .arg(layout.plugin(llvm)?)
        .arg(format!("-passes={passes}"))
        .arg("-disable-output")
        .arg(module)
        .limit(600))
}
