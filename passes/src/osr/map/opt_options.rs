//! Options of `osr-opt`.

use crate::function_list::FunctionList;
use crate::option_table::{
    self, Item, OptionError, choice, condition, flag, functions, hidden, item, most_points, number,
    place, set, text,
};
use crate::osr::condition::Condition;
use crate::osr::map::optimize::{THESIS_PIPELINE, Trust};
use crate::osr::place::{Strategy, Where};
use midflight_mapping::versions::version::Version;
use midflight_profile::table::Stage;

/// What is done to a function before it is taken as base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behind {
    /// It is taken as it is
    Nothing,
    /// Allocas are promoted to registers
    Mem2Reg,
    /// Structures are taken apart, too
    Sroa,
}

/// One version by itself, for measuring what it costs to have two.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Alone {
    /// Which one
    pub version: Version,
    /// It keeps the flags that transitions would have it lose.
    pub keeps_flags: bool,
}

/// Options of `osr-opt`.
#[derive(Clone, Debug)]
pub struct OptOptions {
    /// The passes that make opt of base
    pub pipeline: String,
    /// Where points of base are put
    pub up_at: Where,
    /// When they fire
    pub up: Condition,
    /// They lead to continuations of base that are optimized as a whole, and nothing leads back up.
    pub by_entry: bool,
    /// Where points of opt are put
    pub down_at: Where,
    /// When they fire
    pub down: Condition,
    /// Whether what tracking says is checked
    pub trust: Trust,
    /// At most so many points of a version, spread evenly
    pub max_points: Option<u32>,
    /// Passes that leave less than so many percent of a function's points a way to the other
    /// version are left out for it.
    pub keep: Option<u32>,
    /// Which functions; all if there is no list
    pub functions: Option<FunctionList>,
    /// Where in clang's pipeline
    pub stage: Stage,
    /// What base is taken behind
    pub behind: Behind,
    /// Verify each function after it is changed.
    pub verify: bool,
    /// Leave the mappings in the binary.
    pub describe: bool,
    /// No points are woven: a function is this version.
    pub alone: Option<Alone>,
    /// Test only: what to do wrong
    #[cfg(feature = "mutants")]
    pub mutant: Option<crate::osr::mutants::Mutant>,
    /// Test only: panic when this function is processed.
    pub panic_at: Option<String>,
}

pub(crate) const OPTIONS: &[Item<OptOptions>] = &[
    item("up=CONDITION|entry[:CONDITION]", |o, value| {
        let of_entry = value.strip_prefix("entry");
        o.by_entry = of_entry.is_some();
        let value = match of_entry {
            Some("") => return Ok(()),
            Some(rest) => rest.strip_prefix(':').unwrap_or(value),
            None => value,
        };
        set(&mut o.up, condition("up", value))
    }),
    item("up-at=PLACE", |o, value| set(&mut o.up_at, place("up-at", value))),
    item("down=CONDITION", |o, value| set(&mut o.down, condition("down", value))),
    item("down-at=PLACE", |o, value| set(&mut o.down_at, place("down-at", value))),
    flag("fuzz", |o| {
        (o.up, o.down) = (Condition::Fuzz, Condition::Fuzz);
        (o.up_at, o.down_at) = (Where::All, Where::All);
    }),
    flag("checked", |o| o.trust = Trust::Proved),
    flag("unchecked", |o| o.trust = Trust::Claimed),
    item("passes=PIPELINE", |o, value| set(&mut o.pipeline, text("passes", value))),
    item("max-points=N", |o, value| set(&mut o.max_points, most_points(value))),
    item("keep=PERCENT", |o, value| {
        let percent = value.strip_suffix('%').unwrap_or(value);
        set(&mut o.keep, number("keep", percent, 0, 100).map(Some))
    }),
    item("functions=FILE", |o, value| set(&mut o.functions, functions(value))),
    item("maps=section|none", |o, value| {
        set(&mut o.describe, choice("maps", value, &[("section", true), ("none", false)]))
    }),
    item("alone=base|opt[:flags]", |o, value| {
        let alone = |version, keeps_flags| Some(Alone { version, keeps_flags });
        let versions = [
            ("base", alone(Version::Base, false)),
            ("base:flags", alone(Version::Base, true)),
            ("opt", alone(Version::Opt, false)),
            ("opt:flags", alone(Version::Opt, true)),
        ];
        set(&mut o.alone, choice("alone", value, &versions))
    }),
    item("stage=early|inlined|late", |o, value| {
        let stages = Stage::ALL.map(|stage| (stage.name(), stage));
        set(&mut o.stage, choice("stage", value, &stages))
    }),
    flag("mem2reg", |o| o.behind = Behind::Mem2Reg),
    flag("sroa", |o| o.behind = Behind::Sroa),
    flag("verify", |o| o.verify = true),
    #[cfg(feature = "mutants")]
    hidden(item("debug-mutant=NAME", |o, value| {
        let names = &crate::osr::mutants::Mutant::NAMES;
        set(&mut o.mutant, choice("debug-mutant", value, names).map(Some))
    })),
    hidden(item("debug-panic-at=FUNCTION", |o, value| {
        set(&mut o.panic_at, Ok(Some(value.to_string())))
    })),
];

/// Options that choose points, which `fuzz` does as well.
const CHOICES: [&str; 4] = ["up", "down", "up-at", "down-at"];

/// Options that are about points, of which a version by itself has none, and what is tried by them.
const OF_POINTS: [&str; 4] = ["fuzz", "max-points", "keep", "maps"];

impl OptOptions {
    /// These options where clang's code comes without optimization: base is taken behind what the
    /// pipeline would begin with anyway.
    pub fn of_unoptimized(mut self) -> Self {
        if self.behind == Behind::Nothing {
            let is_level = self.pipeline.trim_start().starts_with("default<");
            self.behind = if is_level { Behind::Sroa } else { Behind::Mem2Reg };
        }
        self
    }

    /// Parses options. `pipeline` is what stood behind them in parentheses.
    ///
    /// # Errors
    /// [`OptionError`] for the first option that is wrong.
    pub fn parse(text: &str, pipeline: Option<&str>) -> Result<Self, OptionError> {
        let mut result = OptOptions {
            pipeline: pipeline.unwrap_or(THESIS_PIPELINE).to_string(),
            up_at: Where::LoopHeader(Strategy::All),
            up: Condition::Count(1000),
            by_entry: false,
            down_at: Where::LoopHeader(Strategy::All),
            down: Condition::Flag,
            trust: Trust::Proved,
            max_points: None,
            keep: None,
            functions: None,
            stage: Stage::Early,
            behind: Behind::Nothing,
            verify: cfg!(debug_assertions),
            describe: false,
            alone: None,
            #[cfg(feature = "mutants")]
            mutant: None,
            panic_at: None,
        };
        let keys = option_table::parse(&[OPTIONS], text, &mut result)?;
        if result.by_entry {
            // The heads of other loops are no places to enter the loops around them.
            let outer = Where::LoopHeader(Strategy::Outer);
            for (key, place) in [("up-at", &mut result.up_at), ("down-at", &mut result.down_at)] {
                if !keys.contains(&key) && !keys.contains(&"fuzz") {
                    *place = outer.clone();
                }
            }
            if result.keep.is_some() {
                return Err(OptionError::Conflict("up=entry", "keep"));
            }
            if result.describe {
                return Err(OptionError::Conflict("up=entry", "maps=section"));
            }
        }
        if result.alone.is_some() {
            let mut of_points = CHOICES.iter().chain(&OF_POINTS);
            if let Some(option) = of_points.find(|option| keys.contains(option)) {
                return Err(OptionError::Conflict("alone", option));
            }
        }
        // With `up=entry` alone it is said where points lead, and not when they fire.
        let says_where = result.by_entry && result.up == Condition::Fuzz;
        let chooses = |key: &&&str| CHOICES.contains(*key) && (**key != "up" || !says_where);
        match keys.iter().find(chooses) {
            // There are points everywhere, and the environment says which ones fire.
            Some(choice) if keys.contains(&"fuzz") => Err(OptionError::Conflict("fuzz", choice)),
            _ if ["mem2reg", "sroa"].iter().all(|key| keys.contains(key)) => {
                Err(OptionError::Conflict("sroa", "mem2reg"))
            }
            _ => Ok(result),
        }
    }
}
