//! Options of path profiling.

use crate::function_list::FunctionList;
use crate::option_table::{
    self, Item, OptionError, choice, flag, functions, hidden, item, number, set,
};
use crate::paths::oracle::Oracle;
use crate::paths::path_profile_use::PathProfileUse;
use crate::paths::plan::MOST_COUNTERS;
use crate::paths::weights_file::WeightsFile;
use midflight_abi::{MAX_K, Mode};
use midflight_profile::table::Stage;
use std::sync::Arc;

/// k if it is not said: deep enough to tell runs from alternation; the forests of irregular
/// programs stay small.
pub const DEFAULT_K: u32 = 4;

/// The bound on paths for an automaton if it is not said. A cut ends a path early, so that there
/// are more of them to step on; but the fewer cuts, the more different paths there are to remember.
/// Measured.
pub const DEFAULT_MAX_PATHS: u32 = 1 << 20;

/// Options of path profiling.
#[derive(Clone, Debug)]
pub struct Options {
    /// Paths of up to k acyclic paths are profiled.
    pub k: u32,
    /// Where in the pipeline
    pub stage: Stage,
    /// How they are counted: by an automaton, or an array where that does, or as published.
    pub algorithm: Mode,
    /// Edges are cut where a function would have more acyclic paths; none: see
    /// [`Options::max_paths`].
    pub max_paths: Option<u32>,
    /// Which functions; all if there is no list
    pub functions: Option<FunctionList>,
    /// Verify each function after it is changed.
    pub verify: bool,
    /// Remove locations that were tracked for this pass alone, once they have been read.
    pub strip_lines: bool,
    /// Add an independent instrumentation for checks.
    pub oracle: Oracle,
    /// Test only: panic when this function is instrumented.
    pub panic_at: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            k: DEFAULT_K,
            stage: Stage::Early,
            algorithm: Mode::Automaton,
            max_paths: None,
            functions: None,
            verify: cfg!(debug_assertions),
            strip_lines: false,
            oracle: Oracle::None,
            panic_at: None,
        }
    }
}

impl Options {
    /// The bound on the acyclic paths of a function.
    pub fn max_paths(&self) -> u32 {
        let default = if self.k == 1 { MOST_COUNTERS } else { DEFAULT_MAX_PATHS };
        self.max_paths.unwrap_or(default)
    }
}

/// What `path-profile-gen` and `print<path-numbering>` take.
pub(crate) const OPTIONS: &[Item<Options>] = &[
    item("k=K", |o, value| set(&mut o.k, number("k", value, 1, MAX_K))),
    item("stage=early|inlined|late", |o, value| set(&mut o.stage, stage(value))),
    item("algorithm=automaton|published", |o, value| set(&mut o.algorithm, algorithm(value))),
    item("max-paths=N", |o, value| {
        set(&mut o.max_paths, number("max-paths", value, 1, 1 << 24).map(Some))
    }),
    item("functions=FILE", |o, value| set(&mut o.functions, functions(value))),
    flag("verify", |o| o.verify = true),
    flag("strip-lines", |o| o.strip_lines = true),
    item("oracle=edges|blocks", |o, value| set(&mut o.oracle, oracle(value))),
    hidden(item("debug-panic-at=FUNCTION", |o, value| {
        set(&mut o.panic_at, Ok(Some(value.to_string())))
    })),
];

/// Parses options; empty text gives the defaults.
///
/// # Errors
/// [`OptionError`] for the first option that is wrong.
pub fn parse(text: &str) -> Result<Options, OptionError> {
    let mut options = Options::default();
    option_table::parse(&[OPTIONS], text, &mut options)?;
    match (options.algorithm, options.k) {
        (Mode::Published, 1) => Err(OptionError::PublishedOne),
        _ => Ok(options),
    }
}

/// The file of weights, if it was named, and whether to verify
type UseOptions = (Option<Arc<WeightsFile>>, bool);

/// What `path-profile-use` takes.
pub(crate) const USE_OPTIONS: &[Item<UseOptions>] = &[
    item("file=FILE", |o, path| set(&mut o.0, Ok(Some(WeightsFile::read(path)?)))),
    flag("verify", |o| o.1 = true),
    // For the driver, which says it of all passes: the file knows better.
    hidden(item("stage=STAGE", |_, value| stage(value).map(drop))),
];

/// Parses the options of `path-profile-use`.
///
/// # Errors
/// [`OptionError`] for the first option that is wrong, or if the file cannot be used.
pub fn parse_use(text: &str) -> Result<PathProfileUse, OptionError> {
    let mut options = (None, cfg!(debug_assertions));
    option_table::parse(&[USE_OPTIONS], text, &mut options)?;
    let (weights, verify) = options;
    Ok(PathProfileUse { weights: weights.ok_or(OptionError::NoFile)?, verify })
}

fn stage(value: &str) -> Result<Stage, OptionError> {
    choice("stage", value, &Stage::ALL.map(|stage| (stage.name(), stage)))
}

fn algorithm(value: &str) -> Result<Mode, OptionError> {
    let known = [("automaton", Mode::Automaton), ("published", Mode::Published)];
    choice("algorithm", value, &known)
}

fn oracle(value: &str) -> Result<Oracle, OptionError> {
    choice("oracle", value, &[("edges", Oracle::Edges), ("blocks", Oracle::Blocks)])
}
