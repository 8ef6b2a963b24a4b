//! What mappings are made of.

use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;

/// Something for each direction
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Both<T> {
    /// From base to opt
    pub base_to_opt: T,
    /// From opt to base
    pub opt_to_base: T,
}

impl<T> Both<T> {
    /// Both, base to opt first.
    pub fn each(&self) -> [&T; 2] {
        [&self.base_to_opt, &self.opt_to_base]
    }
}

/// Something for each version
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Each<T> {
    /// Of base, what the passes began with
    pub base: T,
    /// Of opt, what they made of it
    pub opt: T,
}

impl<T> Each<T> {
    /// Both, base first.
    pub fn each(&self) -> [&T; 2] {
        [&self.base, &self.opt]
    }
}

/// The mappings of a function, and where it comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct FunctionMaps {
    /// As the linker knows it
    pub name: String,
    /// Source file of its module, as it was given to the compiler
    pub file: String,
    /// The passes that made opt of base
    pub pipeline: String,
    /// The mappings
    pub maps: Maps,
}

/// The mappings of two versions, both ways, and what their numbers mean. Instructions, values,
/// constants and points are numbered from 0, below 2^32.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Maps {
    /// Number of arguments. Value `arguments + n` is the result of instruction `n` of its version.
    pub arguments: usize,
    /// The instructions of each version, as in the IR. In a binary those that no mapping names are
    /// empty.
    pub instructions: Each<Vec<String>>,
    /// The constants that the mappings use, as in the IR
    pub constants: BTreeMap<u32, String>,
    /// For each point of the version that is left where it leads
    pub points: Both<Vec<MapPoint>>,
}

/// A point.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(untagged))]
pub enum MapPoint {
    /// It leads somewhere.
    Leads {
        /// Its number among the points of its version
        point: usize,
        /// It is before this instruction.
        at: usize,
        /// Execution goes on before this instruction of the other version.
        landing: usize,
        /// All values of the other version that are needed there, each with its place in `exprs`
        values: Vec<(usize, usize)>,
        /// How they are reconstructed; each expression uses former ones only.
        exprs: Vec<MapExpr>,
        /// What is stored before execution goes on, in this order
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Vec::is_empty"))]
        stores: Vec<OwedStore>,
        /// Memory may not be what the other version would have, in places that it does not read.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "core::ops::Not::not"))]
        differs: bool,
        /// The values of the version that is left that are kept alive for the point
        keep: Vec<usize>,
    },
    /// It leads nowhere.
    Refused {
        /// Its number among the points of its version
        point: usize,
        /// It is before this instruction.
        at: usize,
        /// The reason's name
        refused: String,
    },
}

impl MapPoint {
    /// Its number among the points of its version.
    pub fn point(&self) -> usize {
        match self {
            MapPoint::Leads { point, .. } | MapPoint::Refused { point, .. } => *point,
        }
    }

    /// The instruction that it is before.
    pub fn at(&self) -> usize {
        match self {
            MapPoint::Leads { at, .. } | MapPoint::Refused { at, .. } => *at,
        }
    }
}

/// A store that opt still owes to memory when base goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct OwedStore {
    /// The store of base that writes to the place
    pub store: usize,
    /// The expression that is stored
    pub value: usize,
    /// The expression that is the address
    pub address: usize,
}

/// How a value is reconstructed.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(untagged))]
pub enum MapExpr {
    /// `{"source": VALUE}`
    Source {
        /// Of the version that is left
        source: usize,
    },
    /// `{"constant": NUMBER}`
    Constant {
        /// In [`Maps::constants`]
        constant: u32,
    },
    /// `{"repeat": INSTRUCTION, "of": [EXPRESSION…]}`; a phi is repeated as a select, of a
    /// condition
    Repeat {
        /// Of the version that is entered
        repeat: usize,
        /// Former expressions
        of: Vec<usize>,
    },
    /// `{"content": STORE, "address": EXPRESSION}`: what memory has there
    Content {
        /// The store of base that writes to the place
        content: usize,
        /// A former expression
        address: usize,
    },
}
