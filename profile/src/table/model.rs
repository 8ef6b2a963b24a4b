//! What a record says.

use alloc::string::String;
use alloc::vec::Vec;
use midflight_abi::Mode;

/// The record of an instrumented function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionTable {
    /// Identity of the function as compiled: the hash of all else in the record. Set by
    /// [`decode`](FunctionTable::decode); [`encode`](FunctionTable::encode) computes it anew and
    /// does not look at it.
    pub key: u64,
    /// Hash of the control flow graph that was numbered.
    pub cfg_hash: u64,
    /// Paths of up to this many acyclic paths are profiled.
    pub k: u32,
    /// Number of acyclic paths; IDs are below it.
    pub num_paths: u32,
    /// When in the pipeline the function was instrumented.
    pub stage: Stage,
    /// How paths are counted.
    pub mode: Mode,
    /// Major version of the LLVM that compiled the function; 0 if it is not known.
    pub llvm: u8,
    /// The function's name, as the linker knows it.
    pub name: String,
    /// The translation unit that a local function belongs to; empty for others.
    pub unit: String,
    /// Source files that locations refer to.
    pub files: Vec<String>,
    /// The file that the function was declared in: an index in `files`. Meaningless where `files`
    /// is empty.
    pub file: u32,
    /// The line that the function was declared at; 0 if it is not known.
    pub line: u32,
    /// The basic blocks; the first is the entry.
    pub blocks: Vec<Block>,
    /// The edges of the numbered graph, except for that from START to the entry.
    pub edges: Vec<Edge>,
}

/// When in the pipeline a function was instrumented.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "lowercase"))]
pub enum Stage {
    /// On what the front end made: blocks are those of the source.
    Early,
    /// Behind the inlining of small functions, which clang does before it instruments the IR
    /// itself; before the rest of optimization.
    Inlined,
    /// Behind all optimizations: perturbs least.
    Late,
}

impl Stage {
    /// All, in their order.
    pub const ALL: [Stage; 3] = [Stage::Early, Stage::Inlined, Stage::Late];

    /// The name of its option.
    pub fn name(self) -> &'static str {
        match self {
            Stage::Early => "early",
            Stage::Inlined => "inlined",
            Stage::Late => "late",
        }
    }
}

impl core::fmt::Display for Stage {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str(self.name())
    }
}

/// A name that is none of a [`Stage`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the stage must be early, inlined or late")]
pub struct UnknownStage;

impl core::str::FromStr for Stage {
    type Err = UnknownStage;

    fn from_str(name: &str) -> Result<Stage, UnknownStage> {
        Stage::ALL.into_iter().find(|stage| stage.name() == name).ok_or(UnknownStage)
    }
}

/// A basic block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Block {
    /// Instructions of LLVM in it, but for phis, allocas and markers: a measure of what it costs.
    pub instructions: u32,
    /// True if one of them calls a function.
    pub calls: bool,
    /// The source lines of the block, in the order in which it executes them.
    pub locs: Vec<Loc>,
}

/// A source line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Loc {
    /// Index in [`FunctionTable::files`].
    pub file: u32,
    /// The line.
    pub line: u32,
    /// Where the code was inlined, the line of the outermost call in the function's own file; else
    /// the same as `line`.
    pub outer_line: u32,
}

/// An edge of the control flow graph with its numbers, or an end of paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Edge {
    /// An edge of the numbered graph.
    Flow {
        /// Source block
        from: u32,
        /// Target block
        to: u32,
        /// val(e) of Algorithm 3
        value: u32,
    },
    /// An edge that two dummies stand for: a path ends on it, and the next begins.
    Cut {
        /// Source block
        from: u32,
        /// Target block
        to: u32,
        /// Value of the dummy from the source to EXIT
        end: u32,
        /// Value of the dummy from START to the target
        start: u32,
        /// Why the edge was cut
        why: CutReason,
    },
    /// The edge to EXIT of a block where paths end for good: `ret`, `resume`, `unreachable`.
    Exit {
        /// The block
        from: u32,
        /// val(e) of Algorithm 3
        value: u32,
    },
}

impl Edge {
    /// The block that the edge leaves.
    pub fn from(&self) -> u32 {
        match *self {
            Edge::Flow { from, .. } | Edge::Cut { from, .. } | Edge::Exit { from, .. } => from,
        }
    }

    /// The block that the edge enters, if it enters one.
    pub fn to(&self) -> Option<u32> {
        match *self {
            Edge::Flow { to, .. } | Edge::Cut { to, .. } => Some(to),
            Edge::Exit { .. } => None,
        }
    }
}

/// Why an edge was cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CutReason {
    /// It closes a cycle (thesis 3.2.2).
    Retreating,
    /// The function would have more paths than the bound.
    Bound,
    /// It enters a block where a path must end on every incoming edge, since one of them cannot be
    /// split (thesis 5.2.1).
    Unsplittable,
    /// It follows a call that returns twice. The stream restarts (∗), so no path continues one that
    /// ends here.
    Restart,
}
