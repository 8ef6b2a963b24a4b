//! Which instructions both versions may run at the same time, as far as tracking and their shape say.

use super::Walk;
use crate::versions::facts::Tracked;
use crate::versions::graph::{Boolean, Cases, Operand};
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::InstId;

impl Walk<'_> {
    /// Whether two instructions are the same, as tracking says; none if it says nothing.
    pub(super) fn may_be_same(&self, insts: PerVersion<InstId>) -> Option<bool> {
        let Tracked { kept, origin, .. } = &self.versions.tracked;
        let nodes = PerVersion::from_fn(|w| &self.version(w).graph.nodes[insts[w]]);
        let is_store = nodes.opt.facts.is_store() && nodes.base.copied_bytes.is_some();
        let filled = Version::BOTH.map(|w| nodes[w].fills);
        let is_fill = filled[0].zip(filled[1]).is_some_and(|(base, opt)| base.what == opt.what);
        if filled.iter().flatten().any(|fill| fill.group.is_some()) {
            return (!is_fill).then_some(false);
        }
        let [of_base, of_opt] = Version::BOTH.map(|w| nodes[w].effect.as_ref().map(|e| e.what));
        let has_effect = of_base.is_some() && of_base == of_opt;
        let is_branch = nodes.base.facts.is_terminator() && nodes.opt.facts.is_terminator();
        let is_alike = nodes.base.operation == nodes.opt.operation;
        if origin[insts.opt] == Some(insts.base) {
            Some(true)
        } else if origin[insts.opt].is_some() && kept[insts.base].is_some() {
            Some(false)
        } else if is_alike || has_effect || is_store || is_fill || is_branch {
            None
        } else {
            Some(false)
        }
    }

    /// True if the other version has a branch of this one, as tracking says.
    pub(super) fn is_elsewhere(&self, which: Version, branch: InstId) -> bool {
        let Tracked { kept, origin, .. } = &self.versions.tracked;
        let there = if which == Version::Base { kept[branch] } else { origin[branch] };
        there.is_some_and(|there| self.count_ways(which.other(), there) > 1)
    }

    /// True for branches that versions may take together.
    pub(super) fn branch_together(&self, insts: PerVersion<InstId>) -> bool {
        let Tracked { kept, origin, .. } = &self.versions.tracked;
        let ways = PerVersion::from_fn(|w| self.count_ways(w, insts[w]));
        if self.cases(insts).is_some() && self.may_be_same(insts) == Some(true) {
            return true;
        }
        ways.base == ways.opt
            && match self.may_be_same(insts) {
                Some(is_same) => is_same,
                // One that opt does not have, beside another one that it has from base
                None => {
                    (kept[insts.base].is_some() || origin[insts.opt].is_none())
                        && self.half(insts).is_none()
                }
            }
    }

    /// The version whose branch is the first half of a short circuit, where the other one's decides
    /// by the whole of one.
    pub(super) fn half(&self, insts: PerVersion<InstId>) -> Option<Version> {
        Version::BOTH.into_iter().find(|&which| {
            let other = which.other();
            let is_whole =
                self.combines(other, insts[other]) && !self.combines(which, insts[which]);
            is_whole && self.is_half(which, insts[which])
        })
    }

    /// What branches of both compare, if both do: what a comparison and its inverse have in common,
    /// and which of these it is.
    pub(super) fn compares(&self, insts: PerVersion<InstId>) -> Option<[(u32, bool); 2]> {
        let [base, opt] = Version::BOTH.map(|w| {
            let graph = &self.version(w).graph;
            let condition = graph.definition_of(*graph.operands(insts[w]).first()?)?;
            match graph.nodes[condition].boolean? {
                Boolean::Comparison { predicate, negated, .. } => Some((predicate, negated)),
                Boolean::Not(_) => None,
            }
        });
        Some([base?, opt?])
    }

    /// True for a branch that decides by several booleans.
    fn combines(&self, which: Version, branch: InstId) -> bool {
        let graph = &self.version(which).graph;
        let condition = graph.operands(branch).first();
        let inst = condition.and_then(|&condition| graph.definition_of(condition));
        inst.is_some_and(|inst| {
            let node = &graph.nodes[inst];
            let is_operation = node.boolean.is_none() && graph.operands(inst).len() == 2;
            node.facts.is_select() || (node.is_total && node.bits == Some(1) && is_operation)
        })
    }

    /// True for a branch that leads to one that it decides by a constant.
    fn is_half(&self, which: Version, branch: InstId) -> bool {
        let graph = &self.version(which).graph;
        let block = graph.block(branch);
        self.version(which).live.successors[block].iter().any(|&to| {
            let condition = graph.operands(graph.terminator(to)).first();
            let phi = condition.and_then(|&condition| graph.definition_of(condition));
            let phi = phi.filter(|&inst| graph.nodes[inst].facts.is_phi());
            let incoming = phi.filter(|&phi| graph.block(phi) == to);
            let incoming = incoming.and_then(|phi| graph.incoming(phi, block));
            matches!(incoming, Some(Operand::Constant(_)))
        })
    }

    /// The cases of switches, of which one may decide by what the other one does, extended.
    pub(super) fn cases(&self, insts: PerVersion<InstId>) -> Option<PerVersion<&Cases>> {
        let [base, opt] =
            Version::BOTH.map(|w| self.version(w).graph.nodes[insts[w]].cases.as_ref());
        let cases = PerVersion { base: base?, opt: opt? };
        Cases::extensions(cases).next().map(|_| cases)
    }

    /// Number of ways that a version may take at a branch
    pub(super) fn count_ways(&self, which: Version, branch: InstId) -> usize {
        let version = self.version(which);
        version.live.taken[version.graph.block(branch)].len()
    }
}
