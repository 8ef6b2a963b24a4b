//! What the plugin's pass `print<osr-map>` writes: the thesis's Tables 5.5 to 5.8 and Figures 5.21
//! and 5.22. The page `docs/osr-report.md` describes it.

use super::{Both, Maps, PerVersion};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::ops::AddAssign;
use serde::{Deserialize, Serialize};

/// The version of the format.
pub const VERSION: u32 = 1;

/// How often each reason was met.
pub type Reasons = BTreeMap<String, u64>;

/// All that was found in a module.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// [`VERSION`]
    pub version: u32,
    /// The passes that made opt of base
    pub pipeline: String,
    /// The functions that were mapped, in the module's order
    pub functions: Vec<Function>,
    /// Why others were not
    pub refused_functions: Reasons,
}

/// A function in its two versions.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Function {
    /// As the linker knows it
    pub name: String,
    /// |π|, phis among them
    pub instructions: PerVersion<u64>,
    /// |φ|
    pub phis: PerVersion<u64>,
    /// What the passes did
    pub actions: Actions,
    /// How much of what tracking says is proved
    pub claims: Claims,
    /// At how many points OSR is possible
    pub points: Both<Points>,
    /// The same of parts of the points
    #[serde(default)]
    pub parts: Both<Parts>,
    /// |χ|, in instructions
    pub compensation: Both<Compensation>,
    /// |K|, in values
    pub keep: Both<Size>,
    /// Why OSR is not possible
    pub refused: Both<Reasons>,
    /// Where the proof ended, in the order of control flow
    #[serde(default)]
    pub unproved: Vec<Unproved>,
    /// What the mappings of the single passes give, composed, if that was asked for
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub composed: Option<Both<Composed>>,
    /// The mappings as data, if they were asked for
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub maps: Option<Maps>,
    /// Code and mappings in words, if they were asked for
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Detail>,
}

/// The primitive actions (thesis 4.2.5, Tab. 5.6).
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Actions {
    /// `add(inst, loc)`: instructions that base does not have
    pub add: u64,
    /// `delete(loc)`: instructions that opt does not have
    pub delete: u64,
    /// `hoist(loc, newLoc)`: to a block that dominates the former one
    pub hoist: u64,
    /// `sink(loc, newLoc)`: to any other block
    pub sink: u64,
    /// `replace_operand(inst, old, new)`, apart from what `replace_all` did
    pub replace_operand: u64,
    /// `replace_all(old, new)`
    pub replace_all: ReplaceAll,
}

/// By what values were replaced: RAUW{I,C,A} of Tab. 5.6.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReplaceAll {
    /// By instructions
    pub instruction: u64,
    /// By constants
    pub constant: u64,
    /// By arguments
    pub argument: u64,
}

/// What tracking claims to be equal, and how much of it is proved. Instructions that stayed where
/// they are do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Claims {
    /// Instructions that were hoisted or sunk
    pub moved: Share,
    /// Instructions that were replaced by other values
    pub replaced: Share,
}

/// A part of a whole.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Share {
    /// The whole
    pub total: u64,
    /// The part
    pub proved: u64,
}

impl Share {
    /// Adds one of the whole.
    pub fn add(&mut self, is_proved: bool) {
        self.total += 1;
        self.proved += u64::from(is_proved);
    }
}

/// Points of a direction. Each variant's include those of the variant before.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct Points {
    /// That are reachable, and not refused for themselves
    pub total: u64,
    /// Without any compensation
    pub empty: u64,
    /// By what is live
    pub live: u64,
    /// live(e): by arguments too, and phis of one value
    pub live_e: u64,
    /// By values that replaced others too
    pub alias: u64,
    /// By values that are kept for it too
    pub avail: u64,
    /// Possible, and all that is passed is proved equal
    pub proved: u64,
}

impl Points {
    /// The points of each variant, each with those of the variant before.
    pub fn by_variant(&self) -> [u64; 5] {
        [self.empty, self.live, self.live_e, self.alias, self.avail]
    }
}

impl AddAssign for Points {
    fn add_assign(&mut self, other: Points) {
        self.total += other.total;
        self.empty += other.empty;
        self.live += other.live;
        self.live_e += other.live_e;
        self.alias += other.alias;
        self.avail += other.avail;
        self.proved += other.proved;
    }
}

/// Points of a direction that say more than all of them do: those of most blocks are left as they
/// are by any pass, and most never run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Parts {
    /// In chains that the passes changed
    pub changed: Feasible,
    /// At the heads of loops
    pub headers: Feasible,
    /// All, each as often as the function's profile says that it ran, if it has one
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executed: Option<Feasible>,
    /// How often points ran, as that says, that are proved never to be reached: anything but 0 is an
    /// error of the proof. What ran once is left out, which clang's weights do not tell from never
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub executed_unreached: Option<u64>,
}

impl AddAssign for Parts {
    fn add_assign(&mut self, other: Parts) {
        self.changed += other.changed;
        self.headers += other.headers;
        if let Some(executed) = other.executed {
            *self.executed.get_or_insert_default() += executed;
        }
        if let Some(unreached) = other.executed_unreached {
            *self.executed_unreached.get_or_insert_default() += unreached;
        }
    }
}

/// At how many points of some OSR is possible.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Feasible {
    /// All
    pub total: u64,
    /// Those at which it is
    pub avail: u64,
}

impl Feasible {
    /// Adds a point that counts as several.
    pub fn add(&mut self, count: u64, is_feasible: bool) {
        self.total = self.total.saturating_add(count);
        self.avail = self.avail.saturating_add(if is_feasible { count } else { 0 });
    }
}

impl AddAssign for Feasible {
    fn add_assign(&mut self, other: Feasible) {
        self.total = self.total.saturating_add(other.total);
        self.avail = self.avail.saturating_add(other.avail);
    }
}

/// |χ| of each variant, over the points at which it makes OSR possible.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Compensation {
    /// By what is live
    pub live: Size,
    /// live(e)
    pub live_e: Size,
    /// By aliases too
    pub alias: Size,
    /// By kept values too
    pub avail: Size,
}

/// Mean and maximum over points.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Size {
    /// Per point
    pub mean: f64,
    /// At one point
    pub max: u64,
}

/// Something that could not be proved, so that nothing behind it is matched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unproved {
    /// What it is: `Anchor`, `Operand`, `Branch`, `Condition` or `Successors`
    pub cause: String,
    /// In each version what was compared: the anchors, or the terminators
    pub at: PerVersion<Place>,
    /// The innermost values that are not proved the same, if operands are the cause
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub values: Option<PerVersion<Place>>,
    /// The points without a mapping that are behind it, and behind none before it
    pub lost: Both<u64>,
}

impl Unproved {
    /// What is not proved to be the same: values, or else what was compared.
    pub fn unlike(&self) -> &PerVersion<Place> {
        self.values.as_ref().unwrap_or(&self.at)
    }
}

/// An instruction of a version, or what it is done to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// As LLVM prints it
    pub text: String,
    /// The name of its opcode; `argument` or `constant` if it is no instruction
    pub operation: String,
    /// The line of the source that it is from; 0 if that is not known
    pub line: u32,
}

/// What composition gives in one direction, in points.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Composed {
    /// Points that can be reached and are not refused for themselves
    pub total: u64,
    /// Those that the comparison of the first and the last version has a mapping for
    pub direct: u64,
    /// Those that the composition has one for
    pub composed: u64,
    /// Those that all steps lead on from, where one needs a value that the one before does not give
    pub lost: u64,
    /// Of `composed`: the direct comparison says the same.
    pub checked: u64,
    /// Of `composed`: the direct comparison says nothing of the landing, or of a value.
    pub undecided: u64,
    /// Of `composed`: the direct comparison says something else.
    pub wrong: u64,
}

/// The code of both versions, and where each point leads.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Detail {
    /// Before the passes
    pub base: Vec<Block>,
    /// After them
    pub opt: Vec<Block>,
    /// The mapping of each point of base
    pub base_to_opt: Vec<Mapping>,
    /// The mapping of each point of opt
    pub opt_to_base: Vec<Mapping>,
}

/// A basic block.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Block {
    /// Its label
    pub block: String,
    /// In order
    pub instructions: Vec<Instruction>,
}

/// An instruction, and the point before it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Instruction {
    /// As LLVM prints it
    pub text: String,
    /// The point's number in its version
    pub point: Option<u64>,
}

/// What OSR at a point takes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Mapping {
    /// Where it is fired
    pub point: u64,
    /// If that depends on how control came there: the blocks that it came from over the last edge
    /// into the block, or into one that dominates it. The point has one such entry for each way.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub came_from: Vec<String>,
    /// The point of the other version that it goes to
    pub landing: Option<u64>,
    /// The weakest variant that makes it possible
    pub variant: Option<Variant>,
    /// χ, in LLVM's words
    pub compensation: Vec<String>,
    /// K: what must be kept for it
    pub keep: Vec<String>,
    /// Why it is not possible
    pub refused: Option<String>,
}

/// What `reconstruct` (thesis 4.2.5) may use, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Variant {
    /// Nothing is to be computed.
    Empty,
    /// Live values
    Live,
    /// Arguments too, and phis of one value
    LiveE,
    /// Live values that replaced others too
    Alias,
    /// Values kept for it too
    Avail,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_pass_writes_is_read() {
        let sizes = r#"{"live":{"mean":0.5,"max":1},"live_e":{"mean":0.5,"max":1},
            "alias":{"mean":1.5,"max":3},"avail":{"mean":1.5,"max":3}}"#;
        let points = r#"{"total":8,"empty":1,"live":3,"live_e":4,"alias":5,"avail":7,"proved":7}"#;
        let size = r#"{"mean":1.0,"max":2}"#;
        let text = alloc::format!(
            r#"{{"version":1,"pipeline":"adce","functions":[{{"name":"f",
                "instructions":{{"base":11,"opt":9}},"phis":{{"base":2,"opt":1}},
                "actions":{{"add":0,"delete":2,"hoist":1,"sink":0,"replace_operand":3,
                            "replace_all":{{"instruction":1,"constant":4,"argument":0}}}},
                "claims":{{"moved":{{"total":5,"proved":4}},"replaced":{{"total":1,"proved":1}}}},
                "points":{{"base_to_opt":{points},"opt_to_base":{points}}},
                "compensation":{{"base_to_opt":{sizes},"opt_to_base":{sizes}}},
                "keep":{{"base_to_opt":{size},"opt_to_base":{size}}},
                "refused":{{"base_to_opt":{{"Unmatched":1}},"opt_to_base":{{}}}},
                "unproved":[{{"cause":"Anchor","at":{{
                    "base":{{"text":"store","operation":"store","line":3}},
                    "opt":{{"text":"ret void","operation":"ret","line":0}}}},
                    "lost":{{"base_to_opt":1,"opt_to_base":0}}}}]}}],
                "refused_functions":{{"ReturnsTwice":1}}}}"#
        );
        let report: Report = serde_json::from_str(&text).unwrap();
        let function = &report.functions[0];
        assert_eq!((function.instructions.base, function.phis.opt), (11, 1));
        assert_eq!((function.claims.moved.total, function.claims.moved.proved), (5, 4));
        assert_eq!(function.points.each().map(|p| (p.live_e, p.avail)), [(4, 7); 2]);
        assert_eq!(function.compensation.base_to_opt.avail.max, 3);
        assert_eq!(function.refused.base_to_opt["Unmatched"], 1);
        assert_eq!(
            (function.unproved[0].at.base.line, function.unproved[0].lost.base_to_opt),
            (3, 1)
        );
        assert_eq!(report.refused_functions["ReturnsTwice"], 1);
    }
}
