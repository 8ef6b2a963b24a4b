//! Options of `osr-opt`: `key=value` and flags, separated by `;`.

use crate::function_list::FunctionList;
use crate::options;
use crate::osr::condition::Condition;
use crate::osr::map::mutant::Mutant;
use crate::osr::map::optimize::{THESIS_PIPELINE, Trust};
use crate::osr::options::{OsrOptionError, condition, place};
use crate::osr::place::{Strategy, Where};
use midflight_profile::table::Stage;

/// Options of `osr-opt`.
#[derive(Clone, Debug)]
pub struct OptOptions {
    /// The passes that make opt of base
    pub pipeline: String,
    /// Where points of base are put
    pub up_at: Where,
    /// When they fire
    pub up: Condition,
    /// Where points of opt are put
    pub down_at: Where,
    /// When they fire
    pub down: Condition,
    /// Whether what tracking says is checked
    pub trust: Trust,
    /// At most so many points of a version, spread evenly
    pub max_points: Option<u32>,
    /// Which functions; all if there is no list
    pub functions: Option<FunctionList>,
    /// Where in clang's pipeline
    pub stage: Stage,
    /// First promote allocas to registers.
    pub promote: bool,
    /// Verify each function after it is changed.
    pub verify: bool,
    /// Leave the mappings in the binary.
    pub describe: bool,
    /// Test only: what to do wrong
    pub mutant: Option<Mutant>,
    /// Test only: panic when this function is processed.
    pub panic_at: Option<String>,
}

const OPTIONS: &str = "up=CONDITION, up-at=PLACE, down=CONDITION, down-at=PLACE, fuzz, \
                       checked, unchecked, passes=PIPELINE, max-points=N, functions=FILE, maps=section|none, \
                       stage=early|late, mem2reg and verify";

/// Options that choose points, which `fuzz` does as well.
const CHOICES: [&str; 4] = ["up", "down", "up-at", "down-at"];

impl OptOptions {
    /// Parses options. `pipeline` is what stood behind them in parentheses.
    ///
    /// # Errors
    /// [`OsrOptionError`] for the first option that is wrong.
    pub fn parse(text: &str, pipeline: Option<&str>) -> Result<Self, OsrOptionError> {
        let mut result = OptOptions {
            pipeline: pipeline.unwrap_or(THESIS_PIPELINE).to_string(),
            up_at: Where::LoopHeader(Strategy::All),
            up: Condition::Count(1000),
            down_at: Where::LoopHeader(Strategy::All),
            down: Condition::Flag,
            trust: Trust::Proved,
            max_points: None,
            functions: None,
            stage: Stage::Early,
            promote: false,
            verify: cfg!(debug_assertions),
            describe: false,
            mutant: None,
            panic_at: None,
        };
        let (mut fuzzed, mut chosen) = (false, None);
        for item in text.split(';').map(str::trim).filter(|item| !item.is_empty()) {
            let (key, value) = item.split_once('=').unwrap_or((item, ""));
            chosen = chosen.or(CHOICES.into_iter().find(|&choice| choice == key));
            match key {
                "up" => result.up = condition("up", value)?,
                "down" => result.down = condition("down", value)?,
                "up-at" => result.up_at = place("up-at", value)?,
                "down-at" => result.down_at = place("down-at", value)?,
                "fuzz" if value.is_empty() => {
                    fuzzed = true;
                    (result.up, result.down) = (Condition::Fuzz, Condition::Fuzz);
                    (result.up_at, result.down_at) = (Where::All, Where::All);
                }
                "checked" if value.is_empty() => result.trust = Trust::Proved,
                "unchecked" if value.is_empty() => result.trust = Trust::Claimed,
                "passes" if !value.is_empty() => result.pipeline = value.to_string(),
                "max-points" => {
                    let most = options::number("max-points", value, 1, u32::MAX)?;
                    result.max_points = Some(most);
                }
                "functions" => result.functions = Some(FunctionList::read(value)?),
                "stage" => result.stage = options::osr_stage(value)?,
                "mem2reg" if value.is_empty() => result.promote = true,
                "verify" if value.is_empty() => result.verify = true,
                "maps" => {
                    result.describe = match value {
                        "section" => true,
                        "none" => false,
                        _ => return Err(OsrOptionError::Maps(value.to_string())),
                    }
                }
                "debug-mutant" if Mutant::named(value).is_some() => {
                    result.mutant = Mutant::named(value);
                }
                "debug-panic-at" => result.panic_at = Some(value.to_string()),
                _ => {
                    let option = item.to_string();
                    return Err(OsrOptionError::Unknown { option, known: OPTIONS });
                }
            }
        }
        match chosen {
            // There are points everywhere, and the environment says which ones fire.
            Some(choice) if fuzzed => Err(OsrOptionError::Conflict("fuzz", choice)),
            _ => Ok(result),
        }
    }
}
