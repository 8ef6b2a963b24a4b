//! Options: `key=value` and flags, separated by `;`, the same in a pass's `<…>`, in
//! `-mllvm -midflight=…` and in `MIDFLIGHT_OPTIONS`.

use crate::function_list::{FunctionList, ListError};
use crate::oracle::Oracle;
use crate::path_profile_use::PathProfileUse;
use crate::plan::MOST_COUNTERS;
use crate::weights_file::{WeightsError, WeightsFile};
use midflight_abi::MAX_K;
use midflight_profile::table::Stage;

/// k if it is not said: deep enough to tell runs from alternation; the forests of irregular
/// programs stay small.
pub const DEFAULT_K: u32 = 4;

/// The bound on paths for an automaton if it is not said. A cut ends a path early, so that there
/// are more of them to step on; but the fewer cuts, the more different paths there are to remember.
/// Measured.
pub const DEFAULT_MAX_PATHS: u32 = 1 << 20;

/// How sequences of paths are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// By an automaton, of which the step is inlined; paths alone in an array.
    #[default]
    Automaton,
    /// By Algorithm 4 of the thesis as it was published: a call for each path.
    Published,
}

/// Options of path profiling.
#[derive(Clone, Debug)]
pub struct Options {
    /// Paths of up to k acyclic paths are profiled.
    pub k: u32,
    /// Where in the pipeline
    pub stage: Stage,
    /// How they are counted
    pub algorithm: Algorithm,
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
            algorithm: Algorithm::Automaton,
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

/// What is wrong with options.
#[derive(Debug, thiserror::Error)]
pub enum OptionError {
    /// A number is missing, no number, or out of range.
    #[error("option '{key}={value}': it must be a whole number from {min} to {max}")]
    Number {
        /// The option
        key: &'static str,
        /// What was given
        value: String,
        /// Least value
        min: u32,
        /// Greatest value
        max: u32,
    },
    /// A value that is not one of a few.
    #[error("option '{key}={value}': it must be {choices}")]
    Choice {
        /// The option
        key: &'static str,
        /// What was given
        value: String,
        /// What may be given
        choices: &'static str,
    },
    /// Algorithm 4 takes a remainder by k − 1.
    #[error(
        "option 'algorithm=published': that algorithm is for k of 2 and more; leave it out for k=1"
    )]
    PublishedOne,
    /// An option that does not exist.
    #[error(
        "unknown option '{0}'; known are k=K, stage=early|inlined|late, algorithm=automaton|published, \
         max-paths=N, functions=FILE, verify, strip-lines, oracle=edges|blocks"
    )]
    Unknown(String),
    /// The list of functions cannot be used.
    #[error(transparent)]
    List(#[from] ListError),
}

/// What is wrong with the options of `path-profile-use`.
#[derive(Debug, thiserror::Error)]
pub enum UseError {
    /// There is no file.
    #[error("the option file=FILE is missing; make one with `midflight export --to weights`")]
    NoFile,
    /// An option that does not exist.
    #[error("unknown option '{0}'; known are file=FILE and verify")]
    Unknown(String),
    /// An option with a value that makes no sense.
    #[error(transparent)]
    Option(#[from] OptionError),
    /// The file cannot be used.
    #[error(transparent)]
    Weights(#[from] WeightsError),
}

/// Parses the options of `path-profile-use`: `file=FILE`, and `verify`.
///
/// # Errors
/// [`UseError`] for the first option that is wrong, or if the file cannot be used.
pub fn parse_use(text: &str) -> Result<PathProfileUse, UseError> {
    let (mut weights, mut verify) = (None, cfg!(debug_assertions));
    for item in text.split(';').map(str::trim).filter(|item| !item.is_empty()) {
        match item.split_once('=').unwrap_or((item, "")) {
            ("file", path) => weights = Some(WeightsFile::read(path)?),
            ("verify", "") => verify = true,
            // For the driver, which says it of all passes: the file knows better.
            ("stage", value) => {
                stage(value)?;
            }
            _ => return Err(UseError::Unknown(item.to_string())),
        }
    }
    Ok(PathProfileUse { weights: weights.ok_or(UseError::NoFile)?, verify })
}

/// Parses options; empty text gives the defaults.
///
/// # Errors
/// [`OptionError`] for the first option that is wrong.
pub fn parse(text: &str) -> Result<Options, OptionError> {
    let mut options = Options::default();
    for item in text.split(';').map(str::trim).filter(|item| !item.is_empty()) {
        let (key, value) = item.split_once('=').unwrap_or((item, ""));
        match key {
            "k" => options.k = number("k", value, 1, MAX_K)?,
            "max-paths" => options.max_paths = Some(number("max-paths", value, 1, 1 << 24)?),
            "stage" => options.stage = stage(value)?,
            "algorithm" => options.algorithm = algorithm(value)?,
            "functions" => options.functions = Some(FunctionList::read(value)?),
            "oracle" => options.oracle = oracle(value)?,
            "debug-panic-at" => options.panic_at = Some(value.to_string()),
            "verify" if value.is_empty() => options.verify = true,
            "strip-lines" if value.is_empty() => options.strip_lines = true,
            _ => return Err(OptionError::Unknown(item.to_string())),
        }
    }
    match (options.algorithm, options.k) {
        (Algorithm::Published, 1) => Err(OptionError::PublishedOne),
        _ => Ok(options),
    }
}

pub(crate) fn number(
    key: &'static str,
    value: &str,
    min: u32,
    max: u32,
) -> Result<u32, OptionError> {
    match value.parse() {
        Ok(number) if (min..=max).contains(&number) => Ok(number),
        _ => Err(OptionError::Number { key, value: value.to_string(), min, max }),
    }
}

fn stage(value: &str) -> Result<Stage, OptionError> {
    choice("stage", value, "early, inlined or late", &Stage::ALL.map(|stage| (stage.name(), stage)))
}

/// The stages of OSR points: versions are made of what the front end made, or of what is left in
/// the end.
pub(crate) fn osr_stage(value: &str) -> Result<Stage, OptionError> {
    let known = [Stage::Early, Stage::Late].map(|stage| (stage.name(), stage));
    choice("stage", value, "early or late", &known)
}

fn algorithm(value: &str) -> Result<Algorithm, OptionError> {
    let known = [("automaton", Algorithm::Automaton), ("published", Algorithm::Published)];
    choice("algorithm", value, "automaton or published", &known)
}

fn oracle(value: &str) -> Result<Oracle, OptionError> {
    let known = [("edges", Oracle::Edges), ("blocks", Oracle::Blocks)];
    choice("oracle", value, "edges or blocks", &known)
}

/// One of the values that are known; `choices` names them.
fn choice<T: Copy>(
    key: &'static str,
    value: &str,
    choices: &'static str,
    known: &[(&str, T)],
) -> Result<T, OptionError> {
    let found = known.iter().find(|(name, _)| *name == value);
    found.map(|&(_, found)| found).ok_or_else(|| OptionError::Choice {
        key,
        value: value.to_string(),
        choices,
    })
}
