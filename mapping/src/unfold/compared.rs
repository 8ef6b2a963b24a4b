//! What a branch decides by, followed back over the edges by which control came to it.

use crate::versions::graph::{Boolean, Graph, Operand, Oracle};
use crate::versions::version::Version;
use midflight_ir::ids::{BlockId, InstId};

/// Operations that one is made of, one of the other
const DEEPEST: usize = 4;

/// An operation, on what its operands are at a place
#[derive(Clone, Debug)]
pub(super) struct Compared {
    inst: InstId,
    operands: Vec<Expr>,
}

/// What an operand is at a place: a value that is there, or what total operations make of such.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Expr {
    Is(Operand),
    Of(InstId, Vec<Expr>),
}

impl Expr {
    /// The operation that it is, and on what; none for what is no total one.
    fn operation(&self, graph: &Graph) -> Option<(InstId, Vec<Expr>)> {
        match self {
            Expr::Of(inst, operands) => Some((*inst, operands.clone())),
            Expr::Is(operand) => {
                let inst = graph.definition_of(*operand).filter(|&i| graph.nodes[i].is_total)?;
                Some((inst, graph.operands(inst).iter().copied().map(Expr::Is).collect()))
            }
        }
    }

    /// True if both are the same value: that, or the same operations on the same values.
    fn is_same(&self, graph: &Graph, other: &Expr, deepest: usize) -> bool {
        if self == other {
            return true;
        }
        let Some(deepest) = deepest.checked_sub(1) else { return false };
        let operations = self.operation(graph).zip(other.operation(graph));
        operations.is_some_and(|((one, of_one), (other, of_other))| {
            graph.nodes[one].operation == graph.nodes[other].operation
                && Expr::are_same(graph, &of_one, &of_other, deepest)
        })
    }

    fn are_same(graph: &Graph, these: &[Expr], others: &[Expr], deepest: usize) -> bool {
        let mut pairs = these.iter().zip(others);
        these.len() == others.len() && pairs.all(|(one, other)| one.is_same(graph, other, deepest))
    }

    /// See [`Compared::before`].
    fn before(
        &self,
        graph: &Graph,
        edge @ (from, block): (BlockId, BlockId),
        deepest: usize,
    ) -> Option<Expr> {
        let is_here = |&inst: &InstId| graph.block(inst) == block;
        if let Expr::Is(operand) = self {
            match graph.definition_of(*operand).filter(is_here) {
                Some(inst) if graph.nodes[inst].facts.is_phi() => {
                    return graph.incoming(inst, from).map(Expr::Is);
                }
                Some(_) => {}
                None => return Some(self.clone()),
            }
        }
        let deepest = deepest.checked_sub(1)?;
        let (inst, operands) = self.operation(graph)?;
        let before = operands.iter().map(|operand| operand.before(graph, edge, deepest));
        Some(Expr::Of(inst, before.collect::<Option<_>>()?))
    }

    fn map(&self, change: &impl Fn(Operand) -> Operand) -> Expr {
        match self {
            Expr::Is(operand) => Expr::Is(change(*operand)),
            Expr::Of(inst, operands) => {
                Expr::Of(*inst, operands.iter().map(|operand| operand.map(change)).collect())
            }
        }
    }

    fn constant(&self, which: Version, oracle: &dyn Oracle) -> Option<Operand> {
        let is_constant = |operand: &Operand| matches!(operand, Operand::Constant(_));
        match self {
            Expr::Is(operand) => Some(*operand),
            Expr::Of(inst, operands) => {
                let constants = operands.iter().map(|operand| operand.constant(which, oracle));
                oracle.simplify(which, *inst, &constants.collect::<Option<Vec<_>>>()?)
            }
        }
        .filter(is_constant)
    }
}

impl Compared {
    /// On what it has itself
    pub(super) fn of(graph: &Graph, inst: InstId) -> Self {
        let operands = graph.operands(inst).iter();
        Compared { inst, operands: operands.copied().map(Expr::Is).collect() }
    }

    /// On what that is at the end of a block from which another one is entered; none if that
    /// computes an operand by what is no total operation.
    pub(super) fn before(&self, graph: &Graph, from: BlockId, block: BlockId) -> Option<Self> {
        let before = self.operands.iter().map(|of| of.before(graph, (from, block), DEEPEST));
        Some(Compared { operands: before.collect::<Option<_>>()?, ..*self })
    }

    /// With each value that it is made of changed
    pub(super) fn map(&self, change: impl Fn(Operand) -> Operand) -> Self {
        Compared { operands: self.operands.iter().map(|of| of.map(&change)).collect(), ..*self }
    }

    /// What it gives where another one gave a boolean that was branched by: if both do the same to
    /// the same, or are comparisons of one value, of which the one says enough.
    pub(super) fn said_by(
        &self,
        graph: &Graph,
        (other, holds): (&Compared, bool),
        which: Version,
        oracle: &dyn Oracle,
    ) -> Option<bool> {
        let [own, of_other] = [self.inst, other.inst].map(|inst| &graph.nodes[inst]);
        if !own.is_total || !of_other.is_total {
            return None;
        }
        if own.operation == of_other.operation
            && Expr::are_same(graph, &self.operands, &other.operands, DEEPEST)
        {
            return Some(holds);
        }
        let is_same = |one: &Expr, other: &Expr| one.is_same(graph, other, DEEPEST);
        let [one, known] = [own, of_other].map(|node| node.boolean);
        let comparison = |of| match of {
            Some(Boolean::Comparison { predicate, swapped, negated, symmetric }) => {
                Some((predicate, swapped, negated, symmetric))
            }
            _ => None,
        };
        let (predicate, swapped, negated, symmetric) = comparison(one)?;
        let (of_other, is_swapped, is_negated, _) = comparison(known)?;
        let ([first, second], [a, b]) = (&self.operands[..], &other.operands[..]) else {
            return None;
        };
        let straight = || is_same(first, a) && is_same(second, b);
        let reversed = || is_same(first, b) && is_same(second, a);
        let same_order = swapped == is_swapped;
        let are_same = || if same_order { straight() } else { reversed() };
        if predicate == of_other && (are_same() || symmetric && (straight() || reversed())) {
            return Some(holds ^ (negated != is_negated));
        }
        // Each compares a value with a constant.
        let value = |operands: &[Expr; 2]| {
            let is_value = |of: &Expr| !matches!(of, Expr::Is(Operand::Constant(_)));
            let mut places = [0, 1].into_iter().filter(|&place| is_value(&operands[place]));
            places.next().filter(|_| places.next().is_none())
        };
        let (own, known) = ([first.clone(), second.clone()], [a.clone(), b.clone()]);
        let (place, of_known) = (value(&own)?, value(&known)?);
        is_same(&own[place], &known[of_known]).then_some(())?;
        let Expr::Is(compared) = known[of_known] else { return None };
        let operands = |of: [Expr; 2]| {
            of.map(|of| match of {
                Expr::Is(constant @ Operand::Constant(_)) => constant,
                _ => compared,
            })
        };
        oracle.said(which, (self.inst, operands(own)), (other.inst, operands(known), holds))
    }

    /// What it gives, if that is known of these operands.
    pub(super) fn decided(&self, which: Version, oracle: &dyn Oracle) -> Option<bool> {
        let constants = self.operands.iter().map(|operand| operand.constant(which, oracle));
        match oracle.simplify(which, self.inst, &constants.collect::<Option<Vec<_>>>()?)? {
            Operand::Constant(constant) => Some(oracle.integer(constant)? != 0),
            Operand::Value(_) => None,
        }
    }
}

/// What all are, if they are known, and the same.
pub(super) fn all_same(found: impl Iterator<Item = Option<bool>>) -> Option<bool> {
    let found = found.collect::<Option<Vec<bool>>>()?;
    let (&first, others) = found.split_first()?;
    others.iter().all(|&other| other == first).then_some(first)
}
