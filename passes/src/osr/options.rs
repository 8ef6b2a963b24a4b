//! Options of `osr-point` and `osr-fuzz`.

use crate::function_list::FunctionList;
use crate::option_table::{
    self, Item, OptionError, choice, condition, flag, functions, hidden, item, most_points, place,
    set, text,
};
use crate::osr::condition::Condition;
use crate::osr::open::generator::Generator;
use crate::osr::place::{Strategy, Where};
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
    /// Ask for a version made by this, in place of a continuation.
    pub open: Option<Generator>,
    /// The value that an open point profiles; if there is none, its generator chooses.
    pub key: Option<String>,
    /// At most so many points of a function, spread evenly
    pub max_points: Option<u32>,
    /// Which functions; all if there is no list
    pub functions: Option<FunctionList>,
    /// Where in clang's pipeline, if it is said
    pub stage: Option<Stage>,
    /// First promote allocas to registers.
    pub promote: bool,
    /// Verify each function after it is changed.
    pub verify: bool,
    /// Test only: exchange two values at each landing.
    #[cfg(feature = "mutants")]
    pub swap: bool,
    /// Test only: panic when this function is processed.
    pub panic_at: Option<String>,
}

/// What `osr-point` takes besides what both take.
pub(crate) const POINT_OPTIONS: &[Item<OsrOptions>] = &[
    item("where=PLACE", |o, value| set(&mut o.place, place("where", value))),
    item("when=CONDITION", |o, value| set(&mut o.condition, condition("when", value))),
    item("callee=NAME", |o, value| set(&mut o.callee, Ok(Some(WildMatch::new(value))))),
    flag("chain", |o| o.chain = true),
    item("exit=FUNCTION", |o, value| set(&mut o.exit, text("exit", value).map(Some))),
    item("to=open:GENERATOR", |o, value| set(&mut o.open, destination(value))),
    item("key=VALUE", |o, value| set(&mut o.key, text("key", value).map(Some))),
];

/// What `osr-fuzz` takes besides.
pub(crate) const FUZZ_OPTIONS: &[Item<OsrOptions>] = &[
    #[cfg(feature = "mutants")]
    hidden(flag("debug-swap", |o| o.swap = true)),
];

/// What both take.
pub(crate) const COMMON_OPTIONS: &[Item<OsrOptions>] = &[
    item("form=single|multi", |o, value| {
        set(&mut o.form, choice("form", value, &[("single", Form::Single), ("multi", Form::Multi)]))
    }),
    item("max-points=N", |o, value| set(&mut o.max_points, most_points(value))),
    item("functions=FILE", |o, value| set(&mut o.functions, functions(value))),
    item("stage=early|late", |o, value| set(&mut o.stage, stage(value).map(Some))),
    flag("mem2reg", |o| o.promote = true),
    flag("verify", |o| o.verify = true),
    hidden(item("debug-panic-at=FUNCTION", |o, value| {
        set(&mut o.panic_at, Ok(Some(value.to_string())))
    })),
];

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
            open: None,
            key: None,
            max_points: None,
            functions: None,
            stage: None,
            promote: false,
            verify: cfg!(debug_assertions),
            #[cfg(feature = "mutants")]
            swap: false,
            panic_at: None,
        }
    }

    /// Where in clang's pipeline. A patchable point would stop optimizations, so it comes behind
    /// them. Others are early by default: what they lead to goes through the rest of the pipeline
    /// too. Open ones cost least when they are late, and their versions go through a whole pipeline
    /// in any case; but what is vectorized for one processor gains nothing on another, and
    /// generators of one's own look for what the source has.
    pub fn stage(&self) -> Stage {
        match (self.condition, self.stage, &self.open) {
            (Condition::Patch, ..) => Stage::Late,
            (_, Some(stage), _) => stage,
            (_, None, Some(Generator::InlineCallee | Generator::SpecializeValue)) => Stage::Late,
            (_, None, _) => Stage::Early,
        }
    }

    /// Parses the options of `osr-point`.
    ///
    /// # Errors
    /// [`OptionError`] for the first option that is wrong.
    pub fn parse_point(text: &str) -> Result<Self, OptionError> {
        let mut result = Self::of_point();
        option_table::parse(&[POINT_OPTIONS, COMMON_OPTIONS], text, &mut result)?;
        if result.callee.is_some() && !matches!(result.place, Where::Call | Where::LoopHeader(_)) {
            return Err(OptionError::Callee);
        }
        let open = [
            (result.exit.is_some(), "exit"),
            (result.chain, "chain"),
            (result.form == Form::Multi, "form=multi"),
        ];
        if let Some(&(_, other)) = open.iter().find(|(is_given, _)| *is_given)
            && result.open.is_some()
        {
            return Err(OptionError::Conflict("to=open:…", other));
        }
        if result.key.is_some()
            && result.open.as_ref().is_none_or(|open| *open == Generator::Reoptimize)
        {
            return Err(OptionError::Key);
        }
        if result.exit.is_some() && result.chain {
            return Err(OptionError::Conflict("exit", "chain"));
        }
        if result.exit.is_some() && result.form == Form::Multi {
            return Err(OptionError::Conflict("exit", "form=multi"));
        }
        Ok(result)
    }

    /// Parses the options of `osr-fuzz`.
    ///
    /// # Errors
    /// [`OptionError`] for the first option that is wrong.
    pub fn parse_fuzz(text: &str) -> Result<Self, OptionError> {
        let mut result = OsrOptions {
            place: Where::All,
            condition: Condition::Fuzz,
            form: Form::Multi,
            chain: true,
            ..Self::of_point()
        };
        option_table::parse(&[FUZZ_OPTIONS, COMMON_OPTIONS], text, &mut result)?;
        if result.form == Form::Single && result.max_points.is_none() {
            result.max_points = Some(DEFAULT_SINGLE_POINTS);
        }
        Ok(result)
    }
}

/// Where open points lead.
fn destination(value: &str) -> Result<Option<Generator>, OptionError> {
    value.parse().map(Some).map_err(OptionError::Destination)
}

/// The stages of OSR points: versions are made of what the front end made, or of what is left in
/// the end.
///
/// # Errors
/// [`OptionError::Choice`] if it is neither.
pub fn stage(value: &str) -> Result<Stage, OptionError> {
    choice("stage", value, &[Stage::Early, Stage::Late].map(|stage| (stage.name(), stage)))
}
