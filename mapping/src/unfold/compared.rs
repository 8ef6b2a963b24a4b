//! What a branch decides by, followed back over the edges by which control came to it.

use crate::versions::graph::{Graph, Operand, Oracle};
use crate::versions::version::Version;
use midflight_ir::ids::{BlockId, InstId};

/// An operation, on what its operands are at a place
#[derive(Clone, Debug)]
pub(super) struct Compared {
    inst: InstId,
    operands: Vec<Operand>,
}

impl Compared {
    /// On what it has itself
    pub(super) fn of(graph: &Graph, inst: InstId) -> Self {
        Compared { inst, operands: graph.operands(inst).to_vec() }
    }

    /// On what that is at the end of a block from which another one is entered; none if that
    /// computes an operand.
    pub(super) fn before(&self, graph: &Graph, from: BlockId, block: BlockId) -> Option<Self> {
        let before = |&operand: &Operand| match graph
            .definition_of(operand)
            .filter(|&inst| graph.block(inst) == block)
        {
            Some(inst) if graph.nodes[inst].facts.is_phi() => graph.incoming(inst, from),
            Some(_) => None,
            None => Some(operand),
        };
        let operands = self.operands.iter().map(before).collect::<Option<Vec<Operand>>>()?;
        Some(Compared { operands, ..*self })
    }

    /// With each operand changed
    pub(super) fn map(&self, change: impl Fn(Operand) -> Operand) -> Self {
        Compared { operands: self.operands.iter().map(|&o| change(o)).collect(), ..*self }
    }

    /// True for total operations that do the same to the same.
    pub(super) fn is_same(&self, graph: &Graph, other: &Compared) -> bool {
        let [own, of_other] = [self.inst, other.inst].map(|inst| &graph.nodes[inst]);
        own.is_total && own.operation == of_other.operation && self.operands == other.operands
    }

    /// What it gives, if that is known of these operands.
    pub(super) fn decided(&self, which: Version, oracle: &dyn Oracle) -> Option<bool> {
        let is_constant = |operand: &Operand| matches!(operand, Operand::Constant(_));
        self.operands.iter().all(is_constant).then_some(())?;
        match oracle.simplify(which, self.inst, &self.operands)? {
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
