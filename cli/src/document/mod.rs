//! All that is told of a program's hot functions, as one document. Reports, annotated source, pages
//! and exports of paths are views of it, and take no figures from elsewhere; as JSON it is what
//! `report --format json` and `export --to json` write, with the schema in `docs/report.md`.
//! Calling contexts have a document of their own ([`ContextDocument`]).

mod calls;
pub mod context_paths;
mod contexts;
mod forest;
mod make;
mod memory;
mod route;
mod source;

pub use calls::{Calls, FunctionCalls};
pub use contexts::{
    Call, Context, ContextDocument, ContextExtent, LeftOut, Measure, Shape, SiteRow, Times,
};
pub use forest::{Pruning, Tree, TreeNode};
pub use make::document;
pub use memory::{Memory, Shortage};
pub use route::route;
pub use source::Source;

use crate::analysis::behaviour::LoopReport;
use crate::analysis::behaviour::dispatch::Dispatch;
use crate::analysis::interval::Interval;
use crate::analysis::rank::Ranked;
use crate::analysis::sequences::Sequence;
use crate::input::function::Function;
use crate::input::samples::Samples;
use crate::input::session::Skipped;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// How much of a program is reported.
#[derive(Default)]
pub struct Extent {
    /// How many functions
    pub top: usize,
    /// How many sequences of each
    pub sequences: usize,
    /// Sequences, and nodes of the forest, with less of a function's work are left out: in percent
    pub min_percent: f64,
    /// What that means for nodes of the forest
    pub pruning: Pruning,
    /// Functions are listed only, and none is gone into
    pub flat: bool,
    /// Only functions with this in their names
    pub function: Option<String>,
    /// Samples: what work is counted in, in place of instructions
    pub samples: Option<Samples>,
}

/// The document.
#[derive(Serialize)]
pub struct Document<'a> {
    /// Of this schema
    pub version: u32,
    /// The binary
    pub binary: String,
    /// The largest k of a function
    pub k: u32,
    /// How whole the profile is
    pub events: Events,
    /// Memory that the run took for sequences, unless the profile is a sum or there are none
    pub memory: Option<Memory>,
    /// How many functions are not profiled, by the reason
    pub skipped: BTreeMap<String, usize>,
    /// Which these are
    pub skipped_names: Skipped,
    /// What was spent in all functions
    pub work: u128,
    /// What work is counted in: `instructions`, or `nanosamples`
    pub unit: &'static str,
    /// Functions that ran and are not in the document
    pub left_out: usize,
    /// Those with the most work first
    pub functions: Vec<FunctionDocument<'a>>,
    /// The same functions, as a list
    #[serde(skip)]
    pub list: Vec<Ranked<'a>>,
    /// How many functions are profiled, those that never ran too
    #[serde(skip)]
    pub profiled: usize,
    /// Each k of a function that ran
    #[serde(skip)]
    pub ks: BTreeSet<u32>,
    /// What memory was short for
    #[serde(skip)]
    pub shortage: Shortage,
    /// How many samples were taken, if work is counted in them
    #[serde(skip)]
    pub samples: Option<u64>,
}

/// What was counted, over all functions.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub struct Events {
    /// Paths emitted
    pub paths: u128,
    /// Activations begun
    pub activations: u128,
    /// Activations that did not end
    pub interrupted: u128,
    /// Paths counted with fewer paths before them than k tells, since memory was full or counting
    /// began within an activation
    pub truncated: u128,
    /// Paths not counted, since memory was full
    pub lost: u128,
}

/// A function.
#[derive(Serialize)]
pub struct FunctionDocument<'a> {
    /// As the linker knows it
    pub name: String,
    /// As the source has it
    pub readable: String,
    /// The translation unit of a local function
    pub unit: String,
    /// Where it is declared
    pub file: String,
    /// Where it is declared; 0 if unknown
    pub line: u32,
    /// `early` or `late`
    pub stage: &'static str,
    /// Sequences of up to so many paths were counted
    pub k: u32,
    /// Activations begun
    pub entries: u64,
    /// Activations that ended
    pub completed: u64,
    /// Those that did not
    pub interrupted: u64,
    /// Events counted at truncated windows: with fewer paths before them than k tells
    pub truncated: u64,
    /// Events not counted
    pub lost: u64,
    /// Events after which the published algorithm has broken sequences off
    pub restarts: u64,
    /// What was spent in it: over its paths, count × cost
    pub work: u128,
    /// Its acyclic paths, most work first; other parts name them by their places in this list
    pub paths: Vec<PathDocument>,
    /// Multi-iteration paths worth a look
    pub sequences: Vec<Sequence>,
    /// Its loops, those with the most work of their own first
    pub loops: Vec<LoopDocument>,
    /// Its branches that go many ways, those that were taken most often first
    pub dispatches: Vec<Dispatch>,
    /// The k-IPF
    pub forest: Tree,
    /// Its lines with their counts
    pub source: Source,
    /// Its table
    #[serde(skip)]
    pub function: &'a Function<'a>,
}

impl FunctionDocument<'_> {
    /// The letter of a path.
    pub fn letter(&self, id: u32) -> &str {
        self.paths.iter().find(|path| path.id == id).map_or("?", |path| &path.letter)
    }
}

/// An acyclic path, or several that differ only in the back edge that they begin behind.
#[derive(Clone, Debug, Serialize)]
pub struct PathDocument {
    /// What stands for it in reports
    pub letter: String,
    /// Its ID
    pub id: u32,
    /// How often it was taken, as far as it is known
    pub count: u64,
    /// How often it may have been taken at most: more only where paths were lost
    pub most: u64,
    /// Instructions on it
    pub instructions: u64,
    /// What taking it costs: the same, or parts of a sample
    pub cost: u64,
    /// From where, on which lines, and where to
    pub route: String,
    /// Its blocks
    pub blocks: Vec<u32>,
    /// Its lines in the function's file, in order, runs of the same line once
    pub lines: Vec<u32>,
    /// The line of the loop's head, if it ends with a back edge and that has a line
    pub back_to: Option<u32>,
}

impl PathDocument {
    /// How often it was taken.
    pub fn times(&self) -> Interval<u64> {
        Interval::new(self.count, self.most)
    }

    /// What was spent on it.
    pub fn work(&self) -> u128 {
        u128::from(self.count) * u128::from(self.cost)
    }
}

/// A loop.
#[derive(Clone, Debug, Serialize)]
pub struct LoopDocument {
    /// How it behaved; IDs in it are those of paths
    #[serde(flatten)]
    pub report: LoopReport,
    /// The hints, in words
    pub advice: Vec<String>,
}
