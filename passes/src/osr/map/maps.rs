//! Mappings as data that other programs read (`print<osr-map;maps>`), and back. The format is
//! described in `docs/osr-report.md`.

use crate::code::{InstId, ValueId};
use crate::osr::map::graph::{BASE, ConstId, OPT, Which};
use crate::osr::map::mapping::{Mapper, OsrMap};
use crate::osr::map::read::Handles;
use crate::osr::map::reconstruct::{Expr, PointMap, Variant};
use crate::osr::map::report::{Both, Each, texts};
use crate::osr::refusal::Refusal;
use crate::read_code::CodeSnapshot;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The mappings of two versions, both ways, and what their numbers mean.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Maps {
    /// Number of arguments. Value `arguments + n` is the result of instruction `n` of its version.
    pub arguments: usize,
    /// The instructions of each version, as in the IR
    pub instructions: Each<Vec<String>>,
    /// The constants that the mappings use, as in the IR
    pub constants: BTreeMap<ConstId, String>,
    /// For each point of the version that is left where it leads
    pub points: Both<Vec<MapPoint>>,
}

/// A point.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum MapPoint {
    /// It leads somewhere; [`PointMap`] says what the fields mean.
    Leads {
        /// It is before this instruction.
        at: InstId,
        /// See [`PointMap::landing`].
        landing: InstId,
        /// See [`PointMap::values`].
        values: Vec<(ValueId, usize)>,
        /// See [`PointMap::exprs`].
        exprs: Vec<MapExpr>,
        /// See [`PointMap::keep`].
        keep: Vec<ValueId>,
    },
    /// It leads nowhere.
    Refused {
        /// It is before this instruction.
        at: InstId,
        /// The reason's name
        refused: String,
    },
}

/// An [`Expr`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum MapExpr {
    /// `{"source": VALUE}`
    Source {
        /// Of the version that is left
        source: ValueId,
    },
    /// `{"constant": NUMBER}`
    Constant {
        /// In [`Maps::constants`]
        constant: ConstId,
    },
    /// `{"repeat": INSTRUCTION, "of": [EXPRESSION…]}`
    Repeat {
        /// Of the version that is entered
        repeat: InstId,
        /// Former expressions
        of: Vec<usize>,
    },
}

/// Data that is no mapping.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MapError {
    /// A reason that there is not
    #[error(
        "reading OSR mappings: the point before instruction {at} is refused for '{name}', which is no reason; write one of the names in docs/osr.md"
    )]
    Reason {
        /// The point's instruction
        at: InstId,
        /// The name
        name: String,
    },
    /// An expression that is not there, or comes later
    #[error(
        "reading OSR mappings: the point before instruction {at} uses expression {expr} before it is there; name former expressions only"
    )]
    Order {
        /// The point's instruction
        at: InstId,
        /// The expression
        expr: usize,
    },
}

impl From<&Expr> for MapExpr {
    fn from(expr: &Expr) -> Self {
        match expr {
            Expr::Source(source) => MapExpr::Source { source: *source },
            Expr::Constant(constant) => MapExpr::Constant { constant: *constant },
            Expr::Repeat(repeat, of) => MapExpr::Repeat { repeat: *repeat, of: of.clone() },
        }
    }
}

impl From<&MapExpr> for Expr {
    fn from(expr: &MapExpr) -> Self {
        match expr {
            MapExpr::Source { source } => Expr::Source(*source),
            MapExpr::Constant { constant } => Expr::Constant(*constant),
            MapExpr::Repeat { repeat, of } => Expr::Repeat(*repeat, of.clone()),
        }
    }
}

impl MapPoint {
    /// Of the point before an instruction.
    pub fn new(at: InstId, point: &Result<PointMap, Refusal>) -> Self {
        match point {
            Ok(map) => MapPoint::Leads {
                at,
                landing: map.landing,
                values: map.values.clone(),
                exprs: map.exprs.iter().map(MapExpr::from).collect(),
                keep: map.keep.clone(),
            },
            Err(refusal) => MapPoint::Refused { at, refused: refusal.name().to_string() },
        }
    }

    /// What it was made of.
    ///
    /// # Errors
    /// [`MapError`] if it cannot have been made so.
    pub fn read(&self) -> Result<Result<PointMap, Refusal>, MapError> {
        match self {
            MapPoint::Refused { at, refused } => {
                let reason = Refusal::ALL.into_iter().find(|reason| reason.name() == refused);
                let error = || MapError::Reason { at: *at, name: refused.clone() };
                reason.map(Err).ok_or_else(error)
            }
            MapPoint::Leads { at, landing, values, exprs, keep } => {
                let exprs: Vec<Expr> = exprs.iter().map(Expr::from).collect();
                let mut sources = Vec::new();
                for (number, expr) in exprs.iter().enumerate() {
                    match expr {
                        Expr::Source(value) => sources.push(*value),
                        Expr::Constant(_) => {}
                        Expr::Repeat(_, of) => {
                            if let Some(&expr) = of.iter().find(|&&operand| operand >= number) {
                                return Err(MapError::Order { at: *at, expr });
                            }
                        }
                    }
                }
                if let Some(&(_, expr)) = values.iter().find(|(_, expr)| *expr >= exprs.len()) {
                    return Err(MapError::Order { at: *at, expr });
                }
                sources.sort_unstable();
                sources.dedup();
                let (values, keep) = (values.clone(), keep.clone());
                Ok(Ok(PointMap { landing: *landing, values, exprs, sources, keep }))
            }
        }
    }
}

impl Maps {
    /// The mappings of the strength `avail`.
    pub fn new(
        mapper: &Mapper<'_>,
        handles: &Handles<'_, '_>,
        snapshots: &[CodeSnapshot<'_>; 2],
    ) -> Self {
        let mut constants = BTreeMap::new();
        let mut points = |from: Which| -> Vec<MapPoint> {
            let map: OsrMap = mapper.map(from, Variant::Avail);
            for expr in map.points.iter().flatten().flat_map(|point| &point.exprs) {
                if let Expr::Constant(constant) = expr {
                    constants
                        .entry(*constant)
                        .or_insert_with(|| handles.constant(*constant).text());
                }
            }
            let points = mapper.sides[from].points.iter().zip(&map.points);
            points.map(|(point, map)| MapPoint::new(point.at, map)).collect()
        };
        let points = Both { base_to_opt: points(BASE), opt_to_base: points(OPT) };
        Maps {
            arguments: mapper.proof.versions.graph(BASE).arguments,
            instructions: Each { base: texts(&snapshots[BASE]), opt: texts(&snapshots[OPT]) },
            constants,
            points,
        }
    }
}
