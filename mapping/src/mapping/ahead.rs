//! Points from which execution goes on before the version is left: where no mapping is known at a
//! point, but at one that is always come to next, with nothing between that must run just once.
//!
//! The transition then runs what is between, and leaves from there. So the values that the source
//! computes next are there, and a point at the end of a block leads where the next block does.

use crate::mapping::reconstruct::{Ahead, PointMap};
use crate::mapping::side::Side;
use crate::versions::graph::{Graph, Operand};
use midflight_ir::ids::{BlockId, InstId, ValueId};
use std::collections::BTreeSet;

/// Instructions that a transition runs at most before it leaves the version
const MOST_PASSED: usize = 32;

/// A way ahead of a point that can be gone without effect.
pub(super) struct WayAhead<'a> {
    graph: &'a Graph,
    /// The next instruction
    pub at: InstId,
    /// The instructions before it, with the phis and branches that it leads over
    passed: Vec<InstId>,
    /// The blocks that it has come through
    blocks: Vec<BlockId>,
}

impl<'a> WayAhead<'a> {
    pub fn new(graph: &'a Graph, at: InstId) -> Self {
        WayAhead { graph, at, passed: Vec::new(), blocks: vec![graph.block(at)] }
    }

    /// One instruction further; none if that has an effect, or may lead elsewhere.
    pub fn step(&mut self) -> Option<()> {
        let (graph, at) = (self.graph, self.at);
        let facts = graph.nodes[at].facts;
        (self.passed.len() < MOST_PASSED).then_some(())?;
        if facts.is_unconditional() {
            let to = graph.body.successors(graph.block(at)).next()?;
            (!self.blocks.contains(&to)).then_some(())?;
            self.blocks.push(to);
            self.passed.push(at);
            self.passed.extend(graph.phis(to));
            self.at = graph.body.code.first_non_phi(to);
            return Some(());
        }
        let can_run = facts.is_repeatable() || facts.is_load() || facts.is_marker();
        (can_run && !facts.is_terminator()).then_some(())?;
        self.passed.push(at);
        self.at = at.next();
        Some(())
    }

    /// The mapping of the point where this began, by that of the point where it is; none if that
    /// needs what is not to be kept.
    pub fn mapped(&self, map: PointMap, side: &Side, without: &[ValueId]) -> Option<PointMap> {
        let first = *self.passed.first()?;
        let mut uses: BTreeSet<ValueId> = map.sources.iter().copied().collect();
        let runs = needed(self.graph, &self.passed, &mut uses);
        let is_kept = |value: &ValueId| {
            let is_live = || side.live(first).binary_search(value).is_ok();
            self.graph.definition(*value).is_some() && !is_live()
        };
        let keep: Vec<ValueId> = uses.into_iter().filter(is_kept).collect();
        let can_keep = keep.iter().all(|value| !without.contains(value));
        can_keep.then_some(PointMap { ahead: Some(Ahead { to: self.at, runs }), keep, ..map })
    }
}

/// The values that a version has at a point and that are used, by what it runs ahead or later;
/// sorted.
pub(super) fn uses(graph: &Graph, map: &PointMap) -> Vec<ValueId> {
    let mut uses: BTreeSet<ValueId> = map.sources.iter().copied().collect();
    needed(graph, map.ahead.as_ref().map_or(&[], |ahead| &ahead.runs), &mut uses);
    uses.into_iter().collect()
}

/// Of instructions that run one after the other those that values are made of, which become the
/// values that there must be before.
fn needed(graph: &Graph, insts: &[InstId], values: &mut BTreeSet<ValueId>) -> Vec<InstId> {
    let value = |&operand: &Operand| match operand {
        Operand::Value(value) => Some(value),
        Operand::Constant(_) => None,
    };
    let mut found = Vec::new();
    for &inst in insts.iter().rev() {
        let node = &graph.nodes[inst].facts;
        if node.is_unconditional() {
            // All phis behind a branch take over what was there before it.
            let block = graph.block(inst);
            let to = graph.body.successors(block).next().expect("a branch leads to a block");
            let phis: Vec<InstId> =
                graph.phis(to).filter(|&phi| values.remove(&graph.result(phi))).collect();
            let incoming = phis.iter().filter_map(|&phi| graph.incoming(phi, block));
            values.extend(incoming.filter_map(|operand| value(&operand)));
            if !phis.is_empty() {
                found.extend(phis.into_iter().rev().chain([inst]));
            }
        } else if !node.is_phi() && values.remove(&graph.result(inst)) {
            values.extend(graph.operands(inst).iter().filter_map(value));
            found.push(inst);
        }
    }
    found.reverse();
    found
}
