//! When a point fires.

use midflight_abi::osr;
use std::str::FromStr;

/// When a point fires (thesis 4.1.1, `osr_cond`).
///
/// ```no_run
/// use midflight_passes::osr::condition::Condition;
///
/// assert_eq!("count:1000".parse(), Ok(Condition::Count(1000)));
/// assert!("sometimes".parse::<Condition>().is_err());
/// // A nop that is patched needs x86-64 or AArch64.
/// assert_eq!(Condition::Patch.on_target("riscv64-linux-gnu"), Condition::Flag);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Every time
    Always,
    /// The check is there, and nothing makes it true: to measure what a point costs.
    Never,
    /// At the N-th hit in each activation: a hotness counter (thesis Fig. 4.5, `p.osr`)
    Count(u32),
    /// At every N-th hit
    Every(u32),
    /// While it is armed: a flag is tested.
    Flag,
    /// While it is armed: a nop that is patched to a jump. Where the target is neither x86-64 nor
    /// AArch64, a flag.
    Patch,
    /// As the environment says, see `osr-fuzz`.
    Fuzz,
}

/// A condition that does not exist.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown condition '{0}'; there are always, never, count:N, every:N, flag and patch, with N \
     from 1 to 4294967295"
)]
pub struct UnknownCondition(pub String);

impl FromStr for Condition {
    type Err = UnknownCondition;

    fn from_str(text: &str) -> Result<Self, UnknownCondition> {
        let unknown = || UnknownCondition(text.to_string());
        let number = |digits: &str| match digits.parse() {
            Ok(0) | Err(_) => Err(unknown()),
            Ok(number) => Ok(number),
        };
        match text.split_once(':') {
            None => match text {
                "always" => Ok(Condition::Always),
                "never" => Ok(Condition::Never),
                "flag" => Ok(Condition::Flag),
                "patch" => Ok(Condition::Patch),
                _ => Err(unknown()),
            },
            Some(("count", digits)) => Ok(Condition::Count(number(digits)?)),
            Some(("every", digits)) => Ok(Condition::Every(number(digits)?)),
            Some(_) => Err(unknown()),
        }
    }
}

impl Condition {
    /// The condition that a target can have.
    pub fn on_target(self, triple: &str) -> Condition {
        let has = |start: &&str| triple.starts_with(start);
        let can_patch = ["x86_64", "amd64", "aarch64-"].iter().any(has);
        if self == Condition::Patch && !can_patch { Condition::Flag } else { self }
    }

    /// Its `OSR_…` number in the ABI, and its N.
    pub fn encoded(self) -> (u32, u32) {
        match self {
            Condition::Always => (osr::OSR_ALWAYS, 0),
            Condition::Never => (osr::OSR_NEVER, 0),
            Condition::Count(n) => (osr::OSR_COUNT, n),
            Condition::Every(n) => (osr::OSR_EVERY, n),
            Condition::Flag => (osr::OSR_FLAG, 0),
            Condition::Patch => (osr::OSR_PATCH, 0),
            Condition::Fuzz => (osr::OSR_FUZZ, 0),
        }
    }
}
