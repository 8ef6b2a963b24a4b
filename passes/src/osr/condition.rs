//! When a point fires: each condition's name, its number in the ABI, and the check that it inserts.

use crate::osr::record::Record;
use crate::osr::site::{Site, begin_entry};
use midflight_abi::osr::{self, OSR_FUEL_SYMBOL, OSR_HIT_SYMBOL};
use midflight_bridge::builder::Builder;
use midflight_bridge::ir::{Block, Value};
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
    /// When a value is not what the version was made for: in versions that are made at run time.
    Guard,
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
            Condition::Guard => unreachable!("versions that are made at run time have no records"),
        }
    }
}

/// The entry of a patchable point, behind its label and its nop, that tells the runtime where it
/// is. `$0` is the site's identity, `$1` the label of the block that fires. The entry is linked to
/// the code ("o") and in its group ("?"), so that the linker keeps or drops both.
macro_rules! patchable {
    ($alignment:literal, $nop:literal) => {
        concat!(
            $alignment,
            "\n.Lmidflight_osr_${:uid}:\n\t",
            $nop,
            "
\t.pushsection midflight_osr_patch,\"ao?\",@progbits,.Lmidflight_osr_${:uid}
\t.balign 8
\t.long .Lmidflight_osr_${:uid}-.
\t.long ${1:l}-.
\t.quad ${0:c}
\t.popsection"
        )
    };
}

/// A nop of 5 bytes. The alignment skips at most 4 bytes, just when the nop would otherwise cross a
/// boundary of 8.
const PATCHABLE_X86_64: &str = patchable!(".p2align 3,,4", ".byte 0x0f,0x1f,0x44,0x00,0x00");

/// A word, as all instructions are.
const PATCHABLE_AARCH64: &str = patchable!(".p2align 2", "nop");

impl<'m> Site<'_, 'm> {
    /// Ends `block`, which leads to `rest`, with the check that may lead to `fire`. Returns the
    /// counter, if it is a variable.
    pub(super) fn check(
        &self,
        builder: &Builder<'m>,
        block: Block<'m>,
        fire: Block<'m>,
        rest: Block<'m>,
    ) -> Option<Value<'m>> {
        let module = self.function.module();
        let (int1, int32, int64) = (module.int_type(1), module.int_type(32), module.int_type(64));
        builder.before(block.terminator());
        let fires = match self.condition {
            Condition::Always => int1.constant(1),
            Condition::Count(n) => {
                let counter = self.counter(builder, n);
                builder.before(block.terminator());
                let old = builder.load(int32, counter);
                let new = builder.sub(old, int32.constant(1));
                builder.store(new, counter);
                let fires = builder.equal(new, int32.constant(0));
                builder.branch_unlikely(block, fires, fire, rest);
                return Some(counter);
            }
            Condition::Never | Condition::Flag => match self.record {
                Some(record) => {
                    let armed = builder.load_relaxed(int32, record.armed(builder, self.armed));
                    builder.differs(armed, int32.constant(0))
                }
                None => int1.constant(0),
            },
            Condition::Every(n) => match self.record {
                Some(record) => {
                    self.check_every(builder, n, record, block, fire, rest);
                    return None;
                }
                None => int1.constant(u64::from(n == 1)),
            },
            Condition::Guard => {
                let guard = self.guard.expect("it has a guard");
                guard.fails(builder)
            }
            Condition::Patch => {
                let id = self.record.map_or(0, |record| record.id(self.number));
                let is_x86_64 = module.is_for_x86_64();
                let code = if is_x86_64 { PATCHABLE_X86_64 } else { PATCHABLE_AARCH64 };
                builder.asm_goto(block, code, id, fire, rest);
                return None;
            }
            Condition::Fuzz => {
                let record = self.record?;
                let fuel_at = module.runtime_variable(OSR_FUEL_SYMBOL, int64);
                let fuel = builder.load_relaxed(int64, fuel_at);
                let fuel = builder.sub(fuel, int64.constant(1));
                builder.store_relaxed(fuel, fuel_at);
                // Another thread may have taken it past zero.
                let spent = builder.at_most(fuel, int64.constant(0));
                let armed = builder.load_relaxed(int32, record.armed(builder, self.point));
                let asked = builder.or(spent, builder.differs(armed, int32.constant(0)));
                let ask = self.function.add_block("osr.ask");
                builder.branch_unlikely(block, asked, ask, rest);
                builder.at_end(ask);
                let hit =
                    module.runtime_function(OSR_HIT_SYMBOL, int1, &[module.pointer_type(), int32]);
                let number = int32.constant(self.number as u64);
                let fires = builder.call(hit, &[record.address, number]);
                builder.branch(rest);
                builder.branch_unlikely(ask, fires, fire, rest);
                return None;
            }
        };
        builder.branch_unlikely(block, fires, fire, rest);
        None
    }

    /// `every:N`: counts down in the record, and begins again when it fires.
    fn check_every(
        &self,
        builder: &Builder<'m>,
        n: u32,
        record: &Record<'m>,
        block: Block<'m>,
        fire: Block<'m>,
        rest: Block<'m>,
    ) {
        let int32 = self.function.module().int_type(32);
        let left_at = record.left(builder, self.number);
        let left = builder.sub(builder.load_relaxed(int32, left_at), int32.constant(1));
        builder.store_relaxed(left, left_at);
        let fires = builder.equal(left, int32.constant(0));
        builder.branch_unlikely(block, fires, fire, rest);
        builder.at_end(fire);
        builder.store_relaxed(int32.constant(n.into()), left_at);
    }

    /// The hotness counter of thesis Fig. 4.5: it begins with N in each activation. To be promoted
    /// to a register when all blocks are complete.
    fn counter(&self, builder: &Builder<'m>, n: u32) -> Value<'m> {
        let int32 = self.function.module().int_type(32);
        begin_entry(builder, self.function);
        let counter = builder.variable(int32, c"p.osr");
        builder.store(int32.constant(n.into()), counter);
        counter
    }
}
