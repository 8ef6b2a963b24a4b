//! Values that may be the same though they are computed in other ways: what is used in the same
//! place of both versions, and what tracking says came in the place of a value.

use crate::proof::matching::{Condition, Matching, Relation};
use crate::versions::facts::Versions;
use crate::versions::graph::{ConstId, Operand};
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::{InstId, ValueId};
use typed_index_collections::TiVec;

/// Candidates of a value
const MOST: usize = 3;

/// What a value of opt may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Candidate {
    /// A value or constant of base
    pub(super) operand: Operand,
    /// It is a boolean, and this one may be its negation.
    pub(super) negated: bool,
}

/// Expressions of which the operands are candidates, too: one that is compared, and what that is
/// made of
const MOST_WITHIN: usize = 4;

/// What values may be.
#[derive(Clone, Debug)]
pub(super) struct Candidates {
    /// For each instruction of opt
    pub(super) opt: TiVec<InstId, Vec<Candidate>>,
    /// For each instruction of base a constant
    pub(super) base: TiVec<InstId, Option<ConstId>>,
}

impl Candidates {
    pub(super) fn new(versions: &Versions, matching: &Matching) -> Self {
        let count = PerVersion::from_fn(|w| versions.graph(w).nodes.len());
        let mut candidates = Candidates {
            opt: vec![Vec::new(); count.opt].into(),
            base: vec![None; count.base].into(),
        };
        let mut add = |base: Operand, opt: Operand, negated: bool| {
            candidates.add(versions, PerVersion { base, opt }, negated);
        };
        let operands = |insts: PerVersion<InstId>| {
            let [base, opt] = Version::BOTH.map(|w| versions.graph(w).operands(insts[w]));
            base.iter().copied().zip(opt.iter().copied())
        };
        // What the same operations are done to
        let within = |base: Operand, opt: Operand| {
            let mut found: Vec<(Operand, Operand)> = vec![(base, opt)];
            let mut next = 0;
            while next < found.len().min(MOST_WITHIN) {
                let (base, opt) = found[next];
                next += 1;
                let insts = versions.of.base.graph.definition_of(base);
                let insts = insts.zip(versions.of.opt.graph.definition_of(opt));
                let Some((base, opt)) = insts else { continue };
                let [a, b] =
                    [&versions.of.base.graph.nodes[base], &versions.of.opt.graph.nodes[opt]];
                if a.operation == b.operation && a.is_total && b.is_total {
                    found.extend(operands(PerVersion { base, opt }));
                }
            }
            found.split_off(1)
        };
        for pair in &matching.pairs {
            let [base, opt] = Version::BOTH
                .map(|w| versions.of[w].chains.chains[pair.chains[w]].anchors.iter().copied());
            let anchors = base.zip(opt).take(pair.prefix);
            for (base, opt) in anchors.flat_map(|(base, opt)| operands(PerVersion { base, opt })) {
                add(base, opt, false);
                within(base, opt).into_iter().for_each(|(b, o)| add(b, o, false));
            }
            if let Some(Condition { insts, relation }) = pair.condition {
                let negated: &[bool] = match relation {
                    Relation::Opposite => &[true],
                    Relation::Ways => &[false, true],
                    Relation::Same | Relation::Values | Relation::Cases => &[false],
                };
                for &negated in negated {
                    operands(insts).for_each(|(b, o)| add(b, o, negated));
                }
                for (base, opt) in operands(insts) {
                    within(base, opt).into_iter().for_each(|(b, o)| add(b, o, false));
                }
            }
        }
        let (tracked, graphs) = (&versions.tracked, versions.of.as_ref().map(|v| &v.graph));
        for base in graphs.base.nodes.keys() {
            let Some(opt) = tracked.kept[base].or(tracked.replaced[base]) else { continue };
            let [of_base, of_opt] = [&graphs.base.nodes[base], &graphs.opt.nodes[opt]];
            if graphs.base.has_result(base) && of_base.data_type == of_opt.data_type {
                let values = (graphs.base.result(base), graphs.opt.result(opt));
                add(Operand::Value(values.0), Operand::Value(values.1), false);
            }
            if of_base.facts.is_phi() && of_opt.facts.is_phi() {
                for &from in graphs.base.body.code.incoming_blocks(base) {
                    let to = tracked.blocks[from].and_then(|from| graphs.opt.incoming(opt, from));
                    let incoming = graphs.base.incoming(base, from).zip(to);
                    incoming.into_iter().for_each(|(b, o)| add(b, o, false));
                }
            } else if of_base.operation == of_opt.operation {
                operands(PerVersion { base, opt }).for_each(|(b, o)| add(b, o, false));
            }
        }
        candidates
    }

    fn add(&mut self, versions: &Versions, operands: PerVersion<Operand>, negated: bool) {
        let definition = |which: Version, value: ValueId| versions.graph(which).definition(value);
        match (operands.base, operands.opt) {
            (Operand::Value(base), Operand::Constant(constant)) if !negated => {
                let inst = definition(Version::Base, base);
                if let Some(inst) = inst.filter(|&i| versions.of.base.graph.nodes[i].is_total) {
                    self.base[inst] = Some(constant);
                }
            }
            (operand, Operand::Value(opt)) => {
                let Some(inst) = definition(Version::Opt, opt) else { return };
                let node = &versions.of.opt.graph.nodes[inst];
                let of_base = match operand {
                    Operand::Value(base) => definition(Version::Base, base),
                    Operand::Constant(_) => None,
                };
                let of_base = of_base.map(|inst| versions.of.base.graph.nodes[inst].facts);
                let is_phi = of_base.is_some_and(|facts| facts.is_phi());
                let is_load = of_base.is_some_and(|facts| facts.is_load());
                // A load may be of a phi what base has in a phi of loads.
                let can_be = node.is_total
                    || (node.facts.is_phi() && !is_phi)
                    || (node.facts.is_load() && (is_phi || is_load));
                if !can_be {
                    return;
                }
                let candidate = Candidate { operand, negated };
                let known = &mut self.opt[inst];
                if known.len() < MOST && !known.contains(&candidate) {
                    known.push(candidate);
                }
            }
            _ => {}
        }
    }
}
