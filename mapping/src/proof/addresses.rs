//! What addresses are made of.

use crate::proof::congruence::Congruence;
use crate::versions::facts::Versions;
use crate::versions::graph::{Graph, Operand};
use crate::versions::version::Version;
use midflight_ir::ids::InstId;

/// Operations that an address may be made of
const MOST_OPERATIONS: usize = 16;

/// What an address is made of.
pub(super) struct Made {
    /// Operations that can be repeated
    pub(super) operations: Vec<InstId>,
    /// What they are done to
    pub(super) leaves: Vec<InstId>,
}

/// None if there are too many operations.
pub(super) fn made(graph: &Graph, address: Operand) -> Option<Made> {
    let mut made = Made { operations: Vec::new(), leaves: Vec::new() };
    let mut work = vec![address];
    while let Some(operand) = work.pop() {
        let Operand::Value(value) = operand else { continue };
        let Some(inst) = graph.definition(value) else { continue };
        if !graph.nodes[inst].facts.is_repeatable() {
            made.leaves.push(inst);
            continue;
        }
        made.operations.push(inst);
        if made.operations.len() > MOST_OPERATIONS {
            return None;
        }
        work.extend(graph.operands(inst));
    }
    Some(made)
}

/// True if the number of an address makes no use of what branches say of values: what its
/// operations are done to may be something else where the branch was not taken.
pub(super) fn is_plain(
    versions: &Versions,
    congruence: &Congruence,
    which: Version,
    address: Operand,
) -> bool {
    let graph = versions.graph(which);
    let is_plain = |&inst: &InstId| {
        let block = graph.block(inst);
        let is_plain = |&operand: &Operand| {
            congruence.at(versions, which, operand, block) == congruence.number(which, operand)
        };
        graph.operands(inst).iter().all(is_plain)
    };
    made(graph, address).is_some_and(|made| made.operations.iter().all(is_plain))
}

/// The instructions that an address is made of by operations that can be repeated; none if there
/// are too many, or if what branches say of values was used.
pub(super) fn leaves(
    versions: &Versions,
    congruence: &Congruence,
    which: Version,
    address: Operand,
) -> Option<Vec<InstId>> {
    is_plain(versions, congruence, which, address).then_some(())?;
    Some(made(versions.graph(which), address)?.leaves)
}
