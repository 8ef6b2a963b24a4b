//! What a branch decides by, followed back over the edges by which control came to it.

use crate::versions::graph::{Boolean, Graph, Operand, Oracle};
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
        if own.operation == of_other.operation && self.operands == other.operands {
            return Some(holds);
        }
        let [one, known] = [own, of_other].map(|node| node.boolean);
        let comparison = |of| match of {
            Some(Boolean::Comparison { predicate, swapped, negated, symmetric }) => {
                Some((predicate, swapped, negated, symmetric))
            }
            _ => None,
        };
        let (predicate, swapped, negated, symmetric) = comparison(one)?;
        let (of_other, is_swapped, is_negated, _) = comparison(known)?;
        let [own, known] = [self, other].map(|of| <[Operand; 2]>::try_from(&of.operands[..]).ok());
        let (own, known) = (own?, known?);
        let reversed = [known[1], known[0]];
        let same_order = swapped == is_swapped;
        let are_same = if same_order { own == known } else { own == reversed };
        if predicate == of_other && (are_same || symmetric && (own == known || own == reversed)) {
            return Some(holds ^ (negated != is_negated));
        }
        let of_value = |operands: [Operand; 2]| {
            let mut values = operands.into_iter().filter(|o| matches!(o, Operand::Value(_)));
            values.next().filter(|_| values.next().is_none())
        };
        let value = of_value(own)?;
        (of_value(known) == Some(value)).then_some(())?;
        oracle.said(which, (self.inst, own), (other.inst, known, holds))
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
