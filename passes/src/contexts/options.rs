//! Options of `cct-profile-gen`.

use crate::function_list::FunctionList;
use crate::option_table::{self, Item, OptionError, choice, flag, functions, hidden, item, set};
use midflight_profile::table::{Granularity, Recursion, Stage};

/// Options of calling contexts.
#[derive(Clone, Debug)]
pub struct Options {
    /// Where in the pipeline
    pub stage: Stage,
    /// What distinguishes two calls of a function by another.
    pub granularity: Granularity,
    /// Which functions; all if there is no list
    pub functions: Option<FunctionList>,
    /// Count in bursts: between them a function does as if it were not profiled.
    pub bursts: bool,
    /// Take the times that contexts take.
    pub times: bool,
    /// Count the paths of functions of which paths are profiled for each context.
    pub paths: bool,
    /// What becomes of a call of a function that is under way.
    pub recursion: Recursion,
    /// Verify each function after it is changed.
    pub verify: bool,
    /// Add an independent instrumentation for checks.
    pub oracle: bool,
    /// Remove locations that were tracked for this pass alone, once they have been read.
    pub strip_lines: bool,
    /// Test only: panic when this function is instrumented.
    pub panic_at: Option<String>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            stage: Stage::Late,
            granularity: Granularity::Sites,
            functions: None,
            bursts: false,
            times: false,
            paths: false,
            recursion: Recursion::Levels,
            verify: cfg!(debug_assertions),
            oracle: false,
            strip_lines: false,
            panic_at: None,
        }
    }
}

/// What `cct-profile-gen` takes.
pub(crate) const OPTIONS: &[Item<Options>] = &[
    item("stage=early|inlined|late", |o, value| {
        let stages = Stage::ALL.map(|stage| (stage.name(), stage));
        set(&mut o.stage, choice("stage", value, &stages))
    }),
    item("granularity=sites|functions", |o, value| {
        let known = [("sites", Granularity::Sites), ("functions", Granularity::Functions)];
        set(&mut o.granularity, choice("granularity", value, &known))
    }),
    item("functions=FILE", |o, value| set(&mut o.functions, functions(value))),
    flag("bursts", |o| o.bursts = true),
    flag("times", |o| o.times = true),
    flag("context-paths", |o| o.paths = true),
    item("recursion=levels|folded", |o, value| {
        let known = [("levels", Recursion::Levels), ("folded", Recursion::Folded)];
        set(&mut o.recursion, choice("recursion", value, &known))
    }),
    flag("verify", |o| o.verify = true),
    flag("oracle", |o| o.oracle = true),
    flag("strip-lines", |o| o.strip_lines = true),
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
    Ok(options)
}
