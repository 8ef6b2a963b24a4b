//! Options of `osr-deopt`.

#[cfg(feature = "mutants")]
use crate::option_table::hidden;
use crate::option_table::{self, Item, OptionError, condition, flag, item, set};
use crate::osr::condition::Condition;

/// Options of the pass.
#[derive(Clone, Debug)]
pub struct DeoptOptions {
    /// When the points at calls with state fire
    pub condition: Condition,
    /// Keep the versions that frames name, and lower nothing yet.
    pub prepare: bool,
    /// What the functions that are changed or made go through, if anything
    pub pipeline: Option<String>,
    /// Run LLVM's verifier on each function that is changed or made.
    pub verify: bool,
    /// Test only: exchange two values of each transition.
    #[cfg(feature = "mutants")]
    pub swap: bool,
}

impl Default for DeoptOptions {
    /// What the pass does if nothing is said.
    fn default() -> Self {
        DeoptOptions {
            condition: Condition::Flag,
            prepare: false,
            pipeline: None,
            verify: cfg!(debug_assertions),
            #[cfg(feature = "mutants")]
            swap: false,
        }
    }
}

pub(crate) const OPTIONS: &[Item<DeoptOptions>] = &[
    flag("prepare", |o| o.prepare = true),
    item("when=CONDITION", |o, value| set(&mut o.condition, condition("when", value))),
    flag("verify", |o| o.verify = true),
    #[cfg(feature = "mutants")]
    hidden(flag("debug-swap", |o| o.swap = true)),
];

impl DeoptOptions {
    /// Parses options. `pipeline` is what stood behind them in parentheses.
    ///
    /// # Errors
    /// [`OptionError`] for the first option that is wrong.
    pub fn parse(text: &str, pipeline: Option<&str>) -> Result<Self, OptionError> {
        let mut result =
            DeoptOptions { pipeline: pipeline.map(str::to_string), ..DeoptOptions::default() };
        let keys = option_table::parse(&[OPTIONS], text, &mut result)?;
        if result.prepare && keys.contains(&"when") {
            return Err(OptionError::Conflict("prepare", "when"));
        }
        if result.prepare && result.pipeline.is_some() {
            return Err(OptionError::Conflict("prepare", "(PIPELINE)"));
        }
        Ok(result)
    }
}
