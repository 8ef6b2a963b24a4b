//! Composition of OSR mappings (thesis Lemma 4.6, Cor. 4.2): versions that passes made one after
//! the other, and a mapping for each step, make a mapping from the first version to the last one.
//!
//! If π's point `l` leads to `l'` of π' with the code χ, and that leads to `l''` of π'' with χ',
//! then `l` leads to `l''` with χ, then χ'. Here the two become one: where χ' uses a value of π',
//! there stands the expression that χ has for it. Both directions compose alike, with the steps in
//! the order in which they are run.

use crate::mapping::mapper::OsrMap;
use crate::mapping::reconstruct::{Expr, PointMap};
use crate::versions::graph::ConstId;
use midflight_ir::ids::{InstId, ValueId};
use midflight_profile::osr_maps::{self, sources};
use rustc_hash::FxHashMap as HashMap;
use typed_index_collections::TiSlice;

/// Number of a step: of a pair of versions, which number their instructions and their constants.
pub type Step = usize;

/// How a value is reconstructed after several steps: constants, and instructions that are repeated,
/// are those of a step's destination.
pub type StepExpr = osr_maps::Expr<ValueId, (Step, InstId), (Step, ConstId)>;

/// Where execution goes on after several steps; as [`PointMap`] for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ComposedPoint {
    /// Before this instruction of the last version
    pub landing: InstId,
    /// The values of the last version that are live there, each with its expression
    pub values: Vec<(ValueId, usize)>,
    /// The expressions; each uses former ones only, and each is used
    pub exprs: Vec<StepExpr>,
    /// The values of the first version that are used, sorted
    pub sources: Vec<ValueId>,
    /// Those of them that the first step keeps alive, sorted
    pub keep: Vec<ValueId>,
}

/// Why a point does not lead through all steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Broken {
    /// A step's mapping has nothing for the point.
    NoMapping,
    /// A step uses a value that the one before does not give: one that it keeps alive for itself.
    NotGiven(ValueId),
}

/// A mapping over one or more steps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ComposedMap {
    /// For each point of the first version where it leads, or why nowhere
    pub points: Vec<Result<ComposedPoint, Broken>>,
}

/// The points of a version that is passed through.
pub struct Between<'a> {
    /// For each of its instructions the point before it
    pub point_at: &'a TiSlice<InstId, Option<usize>>,
    /// Number of arguments: they are the same in all versions, and need not be given.
    pub arguments: usize,
}

impl ComposedPoint {
    /// Number of instructions of the compensation code, |χ|
    pub fn size(&self) -> usize {
        self.exprs.iter().filter(|e| matches!(e, StepExpr::Repeat { .. })).count()
    }

    /// None if memory is not the same in both versions, on which the next step relies, or if the
    /// version runs ahead first.
    fn of_step(step: Step, map: &PointMap) -> Option<Self> {
        let is_value = |expr: &Expr| {
            matches!(expr, Expr::Source { .. } | Expr::Constant { .. } | Expr::Repeat { .. })
        };
        let is_plain = !map.differs && map.ahead.is_none() && map.stores.is_empty();
        (is_plain && map.exprs.iter().all(is_value)).then_some(())?;
        let code = |_| unreachable!("it has no code");
        let expr = |expr: &Expr| expr.map(|v| v, |inst| (step, inst), |c| (step, c), code);
        Some(ComposedPoint {
            landing: map.landing,
            values: map.values.clone(),
            exprs: map.exprs.iter().map(expr).collect(),
            sources: map.sources.clone(),
            keep: map.keep.clone(),
        })
    }

    /// This one, then another one that begins where it lands.
    fn then(&self, next: &ComposedPoint, arguments: usize) -> Result<ComposedPoint, Broken> {
        let given: HashMap<ValueId, usize> = self.values.iter().copied().collect();
        let mut build = Build {
            first: self,
            exprs: Vec::new(),
            numbers: HashMap::default(),
            copies: vec![None; self.exprs.len()],
        };
        // For each expression of `next` the one that it became
        let mut became: Vec<usize> = Vec::with_capacity(next.exprs.len());
        for expr in &next.exprs {
            became.push(match expr {
                StepExpr::Source { source } => match given.get(source) {
                    Some(&expr) => build.copy(expr),
                    None if usize::from(*source) < arguments => build.add(expr.clone()),
                    None => return Err(Broken::NotGiven(*source)),
                },
                _ => build.add(expr.clone().with_operands(|operand| became[operand])),
            });
        }
        let exprs = build.exprs;
        let sources = sources(&exprs);
        let keep = sources.iter().copied().filter(|v| self.keep.binary_search(v).is_ok());
        Ok(ComposedPoint {
            landing: next.landing,
            values: next.values.iter().map(|&(value, expr)| (value, became[expr])).collect(),
            keep: keep.collect(),
            exprs,
            sources,
        })
    }
}

/// The expressions of a composition: those of the first mapping that the second one uses, and its
/// own. Equal ones are one.
struct Build<'a> {
    first: &'a ComposedPoint,
    exprs: Vec<StepExpr>,
    numbers: HashMap<StepExpr, usize>,
    /// For each expression of the first mapping its copy
    copies: Vec<Option<usize>>,
}

impl Build<'_> {
    fn add(&mut self, expr: StepExpr) -> usize {
        let next = self.exprs.len();
        let number = *self.numbers.entry(expr.clone()).or_insert(next);
        if number == next {
            self.exprs.push(expr);
        }
        number
    }

    /// Takes over an expression of the first mapping, with all that it uses.
    fn copy(&mut self, expr: usize) -> usize {
        if let Some(copy) = self.copies[expr] {
            return copy;
        }
        let first = self.first;
        let copied = first.exprs[expr].clone().with_operands(|operand| self.copy(operand));
        let copy = self.add(copied);
        self.copies[expr] = Some(copy);
        copy
    }
}

impl ComposedMap {
    /// The mapping of one step.
    pub fn of_step(step: Step, map: &OsrMap) -> Self {
        let point = |point: &Result<PointMap, _>| match point {
            Ok(point) => ComposedPoint::of_step(step, point).ok_or(Broken::NoMapping),
            Err(_) => Err(Broken::NoMapping),
        };
        ComposedMap { points: map.points.iter().map(point).collect() }
    }

    /// Composes two mappings, π→π' and π'→π''.
    pub fn then(&self, next: &ComposedMap, between: &Between<'_>) -> ComposedMap {
        let point = |point: &Result<ComposedPoint, Broken>| {
            let first = point.as_ref().map_err(|&broken| broken)?;
            let number = between.point_at[first.landing].ok_or(Broken::NoMapping)?;
            let second = next.points[number].as_ref().map_err(|&broken| broken)?;
            first.then(second, between.arguments)
        };
        ComposedMap { points: self.points.iter().map(point).collect() }
    }
}

/// Composes mappings, in the order in which they are run; `between` are the versions between them.
/// The last two are composed first (thesis Alg. 10): what they do not need of a step need not be
/// given by those before.
pub fn compose(steps: &[ComposedMap], between: &[Between<'_>]) -> ComposedMap {
    let Some((last, before)) = steps.split_last() else { return ComposedMap::default() };
    let pairs = before.iter().zip(between).rev();
    pairs.fold(last.clone(), |after, (step, between)| step.then(&after, between))
}
