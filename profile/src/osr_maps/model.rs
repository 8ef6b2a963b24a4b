//! What mappings are made of.

use super::version::{PerVersion, Version};
use alloc::collections::BTreeMap;
use alloc::string::String;
use alloc::vec::Vec;
use core::convert::Infallible;

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
    /// What is made for each, by the version that it leads from; for base first.
    pub fn from_fn(mut make: impl FnMut(Version) -> T) -> Self {
        Both { base_to_opt: make(Version::Base), opt_to_base: make(Version::Opt) }
    }

    /// Both, base to opt first.
    pub fn each(&self) -> [&T; 2] {
        [&self.base_to_opt, &self.opt_to_base]
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
    pub instructions: PerVersion<Vec<String>>,
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
        /// How far the version that is left runs before that, if it does. The values that are used
        /// are those then.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        ahead: Option<Ahead>,
        /// How control must have come to the point, if it leads elsewhere otherwise: then there are
        /// several entries of it.
        #[cfg_attr(feature = "serde", serde(default, skip_serializing_if = "Option::is_none"))]
        came: Option<Came>,
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

/// What a version runs behind a point before it is left there.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Ahead<I = usize> {
    /// It is left before this instruction, which control always comes to.
    pub to: I,
    /// What of the instructions between is needed, in order: none of them has an effect. A branch
    /// stands before the phis that it leads to.
    pub runs: Vec<I>,
}

impl<I: Copy> Ahead<I> {
    /// The same with other instructions.
    pub fn map<J>(&self, inst: impl Fn(I) -> J) -> Ahead<J> {
        Ahead { to: inst(self.to), runs: self.runs.iter().map(|&run| inst(run)).collect() }
    }

    /// All instructions
    pub fn insts(&self) -> impl Iterator<Item = I> {
        self.runs.iter().copied().chain([self.to])
    }
}

/// How control came to a point: over which edge it came last to a block that dominates the point.
#[derive(Clone, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Came {
    /// The block's first instruction
    pub into: usize,
    /// The last instructions of the blocks that it may have come from, sorted
    pub from: Vec<usize>,
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
pub struct OwedStore<I = usize> {
    /// The store of base that writes to the place, or what copies memory there
    pub store: I,
    /// The expression that is stored, or the address of what is copied
    pub value: usize,
    /// The expression that is the address
    pub address: usize,
}

impl<I: Copy> OwedStore<I> {
    /// The same with other instructions and expressions.
    pub fn map<J>(&self, inst: impl Fn(I) -> J, expr: impl Fn(usize) -> usize) -> OwedStore<J> {
        let OwedStore { store, value, address } = *self;
        OwedStore { store: inst(store), value: expr(value), address: expr(address) }
    }
}

/// An expression of a mapping as data.
pub type MapExpr = Expr<usize, usize, u32>;

/// How a value of the version that is entered is reconstructed, with values `V`, instructions `I`
/// and constants `C`, and with code `X` that is no instruction's, if there is any. What it is made
/// of stands before it in a list of expressions, and is named by its place there.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(untagged))]
pub enum Expr<V, I, C, X = Infallible> {
    /// `{"source": VALUE}`
    Source {
        /// Of the version that is left
        source: V,
    },
    /// `{"constant": NUMBER}`
    Constant {
        /// In [`Maps::constants`]
        constant: C,
    },
    /// `{"repeat": INSTRUCTION, "of": [EXPRESSION…]}`: what the instruction does. A phi is repeated
    /// as a select: of the condition of the branch that decides it, what it has where that holds,
    /// and where it does not.
    Repeat {
        /// Of the version that is entered
        repeat: I,
        /// Former expressions
        of: Vec<usize>,
    },
    /// `{"content": STORE, "address": EXPRESSION}`: what memory has there
    Content {
        /// The store of base that writes to the place
        content: I,
        /// A former expression
        address: usize,
    },
    /// `{"narrow": INSTRUCTION, "of": EXPRESSION}`: what the instruction extends where that gives
    /// the expression
    Narrow {
        /// Of the version that is entered: it extends an integer
        narrow: I,
        /// A former expression
        of: usize,
    },
    /// Code that a compiler writer gave; it is in no data.
    #[cfg_attr(feature = "serde", serde(skip))]
    Code {
        /// Which
        code: X,
        /// Former expressions
        of: Vec<usize>,
    },
}

impl<V: Copy, I: Copy, C: Copy, X: Copy> Expr<V, I, C, X> {
    /// The expressions that it is made of
    pub fn operands(&self) -> &[usize] {
        match self {
            Expr::Source { .. } | Expr::Constant { .. } => &[],
            Expr::Repeat { of, .. } | Expr::Code { of, .. } => of,
            Expr::Content { address: of, .. } | Expr::Narrow { of, .. } => {
                core::slice::from_ref(of)
            }
        }
    }

    /// The instruction of the version that is entered from which its code is made
    pub fn template(&self) -> Option<I> {
        match *self {
            Expr::Repeat { repeat: inst, .. } | Expr::Narrow { narrow: inst, .. } => Some(inst),
            Expr::Source { .. }
            | Expr::Constant { .. }
            | Expr::Content { .. }
            | Expr::Code { .. } => None,
        }
    }

    /// The same, made of other expressions.
    pub fn with_operands(mut self, mut operand: impl FnMut(usize) -> usize) -> Self {
        match &mut self {
            Expr::Source { .. } | Expr::Constant { .. } => {}
            Expr::Repeat { of, .. } | Expr::Code { of, .. } => {
                of.iter_mut().for_each(|o| *o = operand(*o));
            }
            Expr::Content { address: of, .. } | Expr::Narrow { of, .. } => *of = operand(*of),
        }
        self
    }

    /// The same with other values, instructions, constants and code.
    pub fn map<W, J, D, Y>(
        &self,
        value: impl Fn(V) -> W,
        inst: impl Fn(I) -> J,
        constant: impl Fn(C) -> D,
        code: impl Fn(X) -> Y,
    ) -> Expr<W, J, D, Y> {
        match *self {
            Expr::Source { source } => Expr::Source { source: value(source) },
            Expr::Constant { constant: of } => Expr::Constant { constant: constant(of) },
            Expr::Repeat { repeat, ref of } => {
                Expr::Repeat { repeat: inst(repeat), of: of.clone() }
            }
            Expr::Content { content, address } => Expr::Content { content: inst(content), address },
            Expr::Narrow { narrow, of } => Expr::Narrow { narrow: inst(narrow), of },
            Expr::Code { code: of_code, ref of } => {
                Expr::Code { code: code(of_code), of: of.clone() }
            }
        }
    }
}

/// The values that expressions use, sorted.
pub fn sources<V: Copy + Ord, I, C, X>(exprs: &[Expr<V, I, C, X>]) -> Vec<V> {
    let source = |expr: &Expr<V, I, C, X>| match *expr {
        Expr::Source { source } => Some(source),
        _ => None,
    };
    let mut sources: Vec<V> = exprs.iter().filter_map(source).collect();
    sources.sort_unstable();
    sources.dedup();
    sources
}
