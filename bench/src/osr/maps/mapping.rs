//! Running `print<osr-map>` and reading what it writes (`docs/osr-report.md`).

use crate::error::{Result, read};
use crate::layout::Layout;
use crate::llvm::tool;
use crate::process::{End, Job};
use midflight_profile::osr_maps::Both;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// The passes of the thesis: what the plugin takes without a pipeline.
pub const THESIS: &str = "adce,sccp,early-cse,loop-simplify,lcssa,loop-mssa(licm),sink";

/// Something for each version.
#[derive(Clone, Copy, Debug, Deserialize)]
pub struct Versions {
    /// Of base
    pub base: usize,
    /// Of opt
    pub opt: usize,
}

/// The mappings of a module.
#[derive(Clone, Debug, Deserialize)]
pub struct Report {
    /// Those of its functions
    pub functions: Vec<Function>,
    /// How many have none, by reason
    pub refused_functions: BTreeMap<String, usize>,
}

/// The mappings of a function.
#[derive(Clone, Debug, Deserialize)]
pub struct Function {
    /// |π|
    pub instructions: Versions,
    /// |φ|
    pub phis: Versions,
    /// What the passes did
    pub actions: Actions,
    /// What tracking says, and what is proved of it
    pub claims: Claims,
    /// Feasible points
    pub points: Both<Points>,
    /// |χ| by variant
    pub compensation: Both<BTreeMap<String, Size>>,
    /// |K|
    pub keep: Both<Size>,
    /// Points that are not feasible, or none, by reason
    pub refused: Both<BTreeMap<String, usize>>,
}

/// Counts of actions.
#[derive(Clone, Debug, Deserialize)]
pub struct Actions {
    /// Instructions that only opt has
    pub add: usize,
    /// Those that only base has
    pub delete: usize,
    /// Moved to where they run earlier
    pub hoist: usize,
    /// Moved to where they run later
    pub sink: usize,
    /// Replaced everywhere
    pub replace_all: ReplaceAll,
}

/// Values that were replaced, by what came in their place.
#[derive(Clone, Debug, Deserialize)]
pub struct ReplaceAll {
    /// An instruction
    pub instruction: usize,
    /// A constant
    pub constant: usize,
    /// An argument
    pub argument: usize,
}

/// What tracking says of values.
#[derive(Clone, Debug, Default, Deserialize)]
pub struct Claims {
    /// They were moved
    pub moved: Share,
    /// Another stands for them
    pub replaced: Share,
}

/// A part of a whole.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct Share {
    /// The whole
    pub total: usize,
    /// The part
    pub proved: usize,
}

/// How many points are feasible; each count has those before it.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct Points {
    /// All
    pub total: usize,
    /// Without compensation code
    pub empty: usize,
    /// With `live`
    pub live: usize,
    /// With `live-e`
    pub live_e: usize,
    /// With `alias`
    pub alias: usize,
    /// With `avail`
    pub avail: usize,
}

/// Mean and maximum.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
pub struct Size {
    /// The mean
    pub mean: f64,
    /// The maximum
    pub max: usize,
}

/// Mapping the functions of a module.
#[derive(Clone, Copy, Debug)]
pub struct Mapping<'a> {
    /// Where the plugin is
    pub layout: &'a Layout,
    /// Version of LLVM
    pub llvm: u32,
    /// The module
    pub module: &'a Path,
    /// The passes that make opt
    pub pipeline: &'a str,
}

impl Mapping<'_> {
    /// The mappings, or how `opt` failed. `output` is written on the way.
    ///
    /// # Errors
    /// If `opt` cannot be run, or what it wrote cannot be read.
    pub fn run(&self, output: &Path) -> Result<std::result::Result<Report, String>> {
        let pass = format!("print<osr-map;file={}>({})", output.display(), self.pipeline);
        let outcome = opt(self.layout, self.llvm, &pass, self.module)?.run()?;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_pass_writes_is_read() {
        let sizes = r#"{"live":{"mean":0.5,"max":1},"avail":{"mean":1.5,"max":3}}"#;
        let points = r#"{"total":8,"empty":1,"live":3,"live_e":4,"alias":5,"avail":7,"proved":7}"#;
        let size = r#"{"mean":1.0,"max":2}"#;
        let text = format!(
            r#"{{"version":1,"pipeline":"adce","functions":[{{"name":"f",
                "instructions":{{"base":11,"opt":9}},"phis":{{"base":2,"opt":1}},
                "actions":{{"add":0,"delete":2,"hoist":1,"sink":0,"replace_operand":3,
                            "replace_all":{{"instruction":1,"constant":4,"argument":0}}}},
                "claims":{{"moved":{{"total":5,"proved":4}},"replaced":{{"total":1,"proved":1}}}},
                "points":{{"base_to_opt":{points},"opt_to_base":{points}}},
                "compensation":{{"base_to_opt":{sizes},"opt_to_base":{sizes}}},
                "keep":{{"base_to_opt":{size},"opt_to_base":{size}}},
                "refused":{{"base_to_opt":{{"Unmatched":1}},"opt_to_base":{{}}}}}}],
                "refused_functions":{{"ReturnsTwice":1}}}}"#
        );
        let report: Report = serde_json::from_str(&text).unwrap();
        let function = &report.functions[0];
        assert_eq!((function.instructions.base, function.phis.opt), (11, 1));
        assert_eq!((function.claims.moved.total, function.claims.moved.proved), (5, 4));
        assert_eq!(function.points.each().map(|p| (p.live_e, p.avail)), [(4, 7); 2]);
        assert_eq!(function.compensation.base_to_opt["avail"].max, 3);
        assert_eq!(function.refused.base_to_opt["Unmatched"], 1);
        assert_eq!(report.refused_functions["ReturnsTwice"], 1);
    }
}
