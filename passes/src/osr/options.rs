//! Options of the OSR passes: `key=value` and flags, separated by `;`.

use crate::function_list::{FunctionList, ListError};
use crate::options::{self, OptionError};
use crate::osr::condition::{Condition, UnknownCondition};
use crate::osr::place::{Strategy, UnknownPlace, Where};
use midflight_profile::table::Stage;
use wildmatch::WildMatch;

/// How many functions the continuations are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// One for each point
    Single,
    /// One for all points, with a dispatcher
    Multi,
}

/// Points of a function for `osr-fuzz<form=single>` if it is not said.
const DEFAULT_SINGLE_POINTS: u32 = 8;

/// Options of an OSR pass.
#[derive(Clone, Debug)]
pub struct OsrOptions {
    /// Where points are put
    pub place: Where,
    /// Only calls of functions with such names are of interest.
    pub callee: Option<WildMatch>,
    /// When they fire
    pub condition: Condition,
    /// One continuation for each point, or for all
    pub form: Form,
    /// Continuations have points too.
    pub chain: bool,
    /// Hand over to this function of the host, in place of a continuation.
    pub exit: Option<String>,
    /// At most so many points of a function, spread evenly
    pub max_points: Option<u32>,
    /// Which functions; all if there is no list
    pub functions: Option<FunctionList>,
    /// Where in clang's pipeline
    pub stage: Stage,
    /// First promote allocas to registers.
    pub promote: bool,
    /// Verify each function after it is changed.
    pub verify: bool,
    /// Test only: exchange two values at each landing.
    pub swap: bool,
    /// Test only: panic when this function is processed.
    pub panic_at: Option<String>,
}

/// What is wrong with options.
#[derive(Debug, thiserror::Error)]
pub enum OsrOptionError {
    /// An option that path profiling has too
    #[error(transparent)]
    Common(#[from] OptionError),
    /// A place that does not exist
    #[error("option '{0}': {1}")]
    Place(&'static str, UnknownPlace),
    /// A condition that does not exist
    #[error("option '{0}': {1}")]
    Condition(&'static str, UnknownCondition),
    /// A form that does not exist
    #[error("option 'form={0}': it must be single or multi")]
    Form(String),
    /// No place for mappings
    #[error("option 'maps={0}': it must be section or none")]
    Maps(String),
    /// An option that does not exist
    #[error("unknown option '{option}'; known are {known}")]
    Unknown {
        /// The option
        option: String,
        /// Those that exist
        known: &'static str,
    },
    /// Options that exclude each other
    #[error("'{0}' and '{1}' exclude each other")]
    Conflict(&'static str, &'static str),
    /// A callee where no calls are of interest
    #[error("'callee' needs 'where=call' or 'where=loop-header…'")]
    Callee,
    /// The list of functions cannot be used.
    #[error(transparent)]
    List(#[from] ListError),
}

const POINT_OPTIONS: &str = "where=PLACE, when=CONDITION, callee=NAME, form=single|multi, chain, \
                             exit=FUNCTION, max-points=N, functions=FILE, stage=early|late, \
                             mem2reg and verify";
const FUZZ_OPTIONS: &str =
    "form=single|multi, max-points=N, functions=FILE, stage=early|late, mem2reg and verify";

impl OsrOptions {
    /// The options of `osr-point` if nothing is said.
    fn of_point() -> Self {
        OsrOptions {
            place: Where::LoopHeader(Strategy::Outer),
            callee: None,
            condition: Condition::Flag,
            form: Form::Single,
            chain: false,
            exit: None,
            max_points: None,
            functions: None,
            stage: Stage::Early,
            promote: false,
            verify: cfg!(debug_assertions),
            swap: false,
            panic_at: None,
        }
    }

    /// Parses the options of `osr-point`.
    ///
    /// # Errors
    /// [`OsrOptionError`] for the first option that is wrong.
    pub fn parse_point(text: &str) -> Result<Self, OsrOptionError> {
        let mut result = Self::of_point();
        for (key, value, item) in items(text) {
            match key {
                "where" => result.place = place("where", value)?,
                "when" => result.condition = condition("when", value)?,
                "callee" => result.callee = Some(WildMatch::new(value)),
                "chain" if value.is_empty() => result.chain = true,
                "exit" if !value.is_empty() => result.exit = Some(value.to_string()),
                _ => result.common(key, value, item, POINT_OPTIONS)?,
            }
        }
        if result.callee.is_some() && !matches!(result.place, Where::Call | Where::LoopHeader(_)) {
            return Err(OsrOptionError::Callee);
        }
        if result.exit.is_some() && result.chain {
            return Err(OsrOptionError::Conflict("exit", "chain"));
        }
        if result.exit.is_some() && result.form == Form::Multi {
            return Err(OsrOptionError::Conflict("exit", "form=multi"));
        }
        Ok(result)
    }

    /// Parses the options of `osr-fuzz`.
    ///
    /// # Errors
    /// [`OsrOptionError`] for the first option that is wrong.
    pub fn parse_fuzz(text: &str) -> Result<Self, OsrOptionError> {
        let mut result = OsrOptions {
            place: Where::All,
            condition: Condition::Fuzz,
            form: Form::Multi,
            chain: true,
            ..Self::of_point()
        };
        for (key, value, item) in items(text) {
            match key {
                "debug-swap" if value.is_empty() => result.swap = true,
                _ => result.common(key, value, item, FUZZ_OPTIONS)?,
            }
        }
        if result.form == Form::Single && result.max_points.is_none() {
            result.max_points = Some(DEFAULT_SINGLE_POINTS);
        }
        Ok(result)
    }

    fn common(
        &mut self,
        key: &str,
        value: &str,
        item: &str,
        known: &'static str,
    ) -> Result<(), OsrOptionError> {
        match key {
            "form" => {
                self.form = match value {
                    "single" => Form::Single,
                    "multi" => Form::Multi,
                    _ => return Err(OsrOptionError::Form(value.to_string())),
                }
            }
            "max-points" => {
                self.max_points = Some(options::number("max-points", value, 1, u32::MAX)?);
            }
            "functions" => self.functions = Some(FunctionList::read(value)?),
            "stage" => self.stage = options::osr_stage(value)?,
            "mem2reg" if value.is_empty() => self.promote = true,
            "verify" if value.is_empty() => self.verify = true,
            "debug-panic-at" => self.panic_at = Some(value.to_string()),
            _ => return Err(OsrOptionError::Unknown { option: item.to_string(), known }),
        }
        Ok(())
    }
}

/// The place that an option names.
///
/// # Errors
/// If there is no such place.
pub fn place(option: &'static str, value: &str) -> Result<Where, OsrOptionError> {
    value.parse().map_err(|error| OsrOptionError::Place(option, error))
}

/// The condition that an option names.
///
/// # Errors
/// If there is no such condition.
pub fn condition(option: &'static str, value: &str) -> Result<Condition, OsrOptionError> {
    value.parse().map_err(|error| OsrOptionError::Condition(option, error))
}

/// The options of a text: key, value, and the whole.
fn items(text: &str) -> impl Iterator<Item = (&str, &str, &str)> {
    text.split(';').map(str::trim).filter(|item| !item.is_empty()).map(|item| {
        let (key, value) = item.split_once('=').unwrap_or((item, ""));
        (key, value, item)
    })
}
