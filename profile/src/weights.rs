//! What `path-profile-use` reads: how often the blocks and edges of each function were taken, as
//! `midflight export --to weights` makes it of a program and its profiles (`docs/format.md`).
//!
//! A function is found by its name, and by the hash of its control flow graph: the counts of
//! another graph say nothing about this one. So lines may move between the profile and its use, and
//! functions may come and go.

use crate::table::Stage;
use alloc::string::String;
use alloc::vec::Vec;
use serde::{Deserialize, Serialize};

/// Version of the file.
pub const WEIGHTS_VERSION: u32 = 2;

/// The whole file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Weights {
    /// [`WEIGHTS_VERSION`]
    pub version: u32,
    /// When in the pipeline the functions were instrumented: there the graphs are the same.
    pub stage: Stage,
    /// Major version of the LLVM that compiled all of them; 0 if that is not one, or not known.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub llvm: u8,
    /// The functions, those that never ran too. Two may have one name and unit if their graphs
    /// differ.
    pub functions: Vec<FunctionWeights>,
}

/// A function's counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionWeights {
    /// The function's name, as the linker knows it
    pub name: String,
    /// The translation unit that a local function belongs to; empty for others
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub unit: String,
    /// Hash of the control flow graph, as 16 hexadecimal digits
    pub cfg_hash: String,
    /// Activations begun
    pub entries: u64,
    /// How often each block ran; block 0 is the entry
    pub blocks: Vec<u64>,
    /// Source block, target block and count of each edge that was taken
    pub edges: Vec<(u32, u32, u64)>,
    /// What cyclic paths tell of its loops
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub loops: Vec<LoopWeights>,
}

/// A loop of which more is known than how often its edges were taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LoopWeights {
    /// The block that its back edges enter
    pub header: u32,
    /// By how much it should be unrolled
    pub unroll: u32,
}

fn is_zero(number: &u8) -> bool {
    *number == 0
}

impl FunctionWeights {
    /// [`Self::cfg_hash`] of a hash.
    pub fn hash_text(cfg_hash: u64) -> String {
        alloc::format!("{cfg_hash:016x}")
    }
}
