//! Operands that must be well defined where an instruction of base runs: conditions, addresses,
//! arguments that are `noundef`.
//!
//! If one is poison or undefined there, base has undefined behavior, and then opt may do anything.
//! So it is enough that opt has the same there where base's operand is well defined: base's flags
//! (`nsw`, `inbounds`) may be used, and what base's branches say of its values. The same expression
//! elsewhere has another number all the same. Opt's must not rest on flags of its own, which
//! `flags.rs` of the passes sees to.

use crate::proof::candidates::Candidate;
use crate::proof::congruence::{Use, corresponding};
use crate::proof::matching::{Condition, Relation};
use crate::proof::numbers::UNKNOWN;
use crate::proof::round::Round;
use crate::proof::terms::{DEEPEST, DEPTHS, LookedInto, MOST_TERMS, Term, Terms};
use crate::versions::graph::Operand;
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::{BlockId, InstId};

/// Blocks before an instruction of which branches are asked
const MOST_DOMINATORS: usize = 24;

/// Branches that are heard
pub(super) const MOST_CONDITIONS: usize = 6;

impl Round<'_> {
    /// Finds the operands of matched anchors and branches that are what base has there.
    pub(in crate::proof) fn settle_uses(&mut self) {
        for pair in &self.matching.pairs {
            let anchors = PerVersion::from_fn(|w| {
                &self.versions.of[w].chains.chains[pair.chains[w]].anchors[..pair.prefix]
            });
            for (&base, &opt) in anchors.base.iter().zip(anchors.opt) {
                let graphs = self.versions.of.as_ref().map(|version| &version.graph);
                let is_same = graphs.base.nodes[base].operation == graphs.opt.nodes[opt].operation;
                let ends_group = graphs.base.ends_group(base) || graphs.opt.ends_group(opt);
                if is_same && !ends_group {
                    for place in 0..graphs.base.operands(base).len() {
                        let uses = PerVersion { base: (base, place), opt: (opt, place) };
                        self.settle_use(uses, false);
                    }
                } else {
                    let uses = corresponding(self.versions, PerVersion { base, opt });
                    uses.into_iter().flatten().for_each(|uses| self.settle_use(uses, false));
                }
            }
            if let Some(Condition { insts, relation }) = pair.condition {
                let uses = insts.map(|inst| (inst, 0));
                match relation {
                    Relation::Same | Relation::Values => self.settle_use(uses, false),
                    Relation::Opposite => self.settle_use(uses, true),
                    Relation::Cases | Relation::Ways => {}
                }
            }
        }
        self.note_silent_branches();
    }

    /// Notes what was looked into for branches of silent chains ([`super::ways`]).
    fn note_silent_branches(&mut self) {
        let opt = &self.versions.of.opt;
        for block in opt.graph.blocks.keys().filter(|&block| opt.live.reached[block]) {
            let branch = opt.graph.terminator(block);
            let is_of_pair = self.congruence.same_uses.contains(&(branch, 0));
            if let Some(insts) = self.versions.branch_of_base(Version::Opt, branch)
                && !is_of_pair
                && let Some(looked_into) = [false, true]
                    .iter()
                    .find_map(|&negated| self.are_same_at(insts.map(|inst| (inst, 0)), negated))
            {
                self.note(branch, looked_into);
            }
        }
    }

    /// Adds what was looked into for an instruction of opt.
    pub(super) fn note(&mut self, inst: InstId, looked_into: LookedInto) {
        let known = self.congruence.looked_into.entry((Version::Opt, inst)).or_default();
        known.extend(looked_into);
    }

    fn settle_use(&mut self, uses: PerVersion<Use>, negated: bool) {
        if let Some(looked_into) = self.are_same_at(uses, negated) {
            self.congruence.same_uses.insert(uses.opt);
            self.note(uses.opt.0, looked_into);
        }
    }

    /// The instructions of opt that were looked into to prove that it has what base has, or with
    /// `negated` the negation, wherever base's instruction runs; none if both have one number.
    pub(super) fn are_same_at(&self, uses: PerVersion<Use>, negated: bool) -> Option<LookedInto> {
        let versions = self.versions;
        let (at, place) = uses.base;
        let is_defined = versions.of.base.graph.nodes[at].is_well_defined(place);
        let operand = |w: Version| versions.graph(w).operands(uses[w].0).get(uses[w].1).copied();
        let operands = PerVersion { base: operand(Version::Base)?, opt: operand(Version::Opt)? };
        let number = |w: Version| {
            self.congruence.at(versions, w, operands[w], versions.graph(w).block(uses[w].0))
        };
        let numbers = PerVersion::from_fn(number);
        let is_known = numbers.iter().all(|&number| number != UNKNOWN);
        (is_defined && is_known && numbers.base != numbers.opt).then_some(())?;
        let looked_into = DEPTHS.into_iter().find_map(|(depth, into)| {
            let mut terms = Terms::new(into);
            let mut root =
                |w: Version| self.term_of(&mut terms, w, operands[w], Some(numbers[w]), depth);
            terms.roots = [root(Version::Base)?, root(Version::Opt)?];
            self.stands_for(&terms, negated, at)
        });
        looked_into
            .or_else(|| self.are_same_over_ways(uses.map(|(inst, _)| inst), operands, negated))
    }

    /// The same on each way into the pair that both instructions are in: with what comes in there.
    fn are_same_over_ways(
        &self,
        insts: PerVersion<InstId>,
        operands: PerVersion<Operand>,
        negated: bool,
    ) -> Option<LookedInto> {
        let pair = |w: Version| {
            let version = &self.versions.of[w];
            self.matching.of_chain[w][version.chains.of_inst(&version.graph, insts[w])?]
        };
        let pair = pair(Version::Base).filter(|&of_base| pair(Version::Opt) == Some(of_base))?;
        let proves = |terms: &Terms, at| self.stands_for(terms, negated, at);
        self.over_ways(pair, operands, &mut Vec::new(), &proves)
    }

    /// The instructions of opt that were looked into, if its expression is proved to be what base's
    /// is where an instruction of base runs that must have that well defined.
    pub(super) fn stands_for(
        &self,
        terms: &Terms,
        negated: bool,
        at: InstId,
    ) -> Option<LookedInto> {
        let is_select = |which: Version, inst: InstId| self.is_select(which, inst);
        let is_well_defined = |number| self.is_well_defined(number);
        let (looked_into, down_to) = terms.defined_with_base(is_select, is_well_defined)?;
        let stands_for = |terms: &Terms| {
            let terms = self.with_own_leaves(terms, &down_to);
            terms.is_some_and(|terms| self.oracle.stands_for(&terms, negated, Some(at)))
        };
        let is_same = stands_for(terms) || {
            let terms = self.with_conditions(terms.clone(), at);
            !terms.conditions.is_empty() && stands_for(&terms)
        };
        is_same.then_some(looked_into)
    }

    /// Adds what branches said that control of base took to an instruction.
    pub(super) fn with_conditions(&self, mut terms: Terms, at: InstId) -> Terms {
        let version = &self.versions.of.base;
        let graph = &version.graph;
        let mut block = Some(graph.block(at));
        for _ in 0..MOST_DOMINATORS {
            let Some(to) = block.filter(|_| terms.conditions.len() < MOST_CONDITIONS) else {
                break;
            };
            block = version.scopes.immediate(to);
            let sources = &version.live.predecessors[to];
            if let [from] = sources[..] {
                terms = self.with_edge(terms, (from, to));
            } else if let Some((conditions, holds)) = self.taken_by_all(sources, to) {
                let met = |terms: &mut Terms| self.copies_met(terms, to, &conditions, DEEPEST);
                terms.add_condition(met, holds);
            }
        }
        terms
    }

    /// Adds what the branch of base said over whose edge a block leads to another one.
    pub(super) fn with_edge(&self, mut terms: Terms, (from, to): (BlockId, BlockId)) -> Terms {
        if let Some((condition, holds)) = self.versions.of.base.graph.said_over((from, to)) {
            terms.add_condition(
                |terms| self.term(terms, Version::Base, condition, from, DEEPEST),
                holds,
            );
        }
        terms
    }

    /// The conditions of the branches over whose edges blocks lead to another one, if all hold
    /// there, or none does.
    fn taken_by_all(&self, sources: &[BlockId], to: BlockId) -> Option<(Vec<Operand>, bool)> {
        let graph = &self.versions.of.base.graph;
        let ways: Option<Vec<_>> =
            sources.iter().map(|&from| graph.said_over((from, to))).collect();
        let (conditions, held): (Vec<Operand>, Vec<bool>) = ways?.into_iter().unzip();
        let &holds = held.first()?;
        held.iter().all(|&of| of == holds).then_some((conditions, holds))
    }

    /// The term of what base has at the head of a block if it has one of these operands at the end
    /// of each predecessor, in their order: of copies of an operation what it gives on what copies
    /// of its operands are there.
    fn copies_met(
        &self,
        terms: &mut Terms,
        to: BlockId,
        operands: &[Operand],
        depth: usize,
    ) -> Option<usize> {
        let version = &self.versions.of.base;
        let graph = &version.graph;
        let first = *operands.first()?;
        let is_above = |operand: Operand| {
            let definition = graph.definition_of(operand);
            definition.is_none_or(|inst| {
                graph.block(inst) != to && version.scopes.dominates(graph.block(inst), to)
            })
        };
        let number = |operand: Operand| self.congruence.number(Version::Base, operand);
        let is_first = |&other: &Operand| {
            other == first || number(other) != UNKNOWN && number(other) == number(first)
        };
        if operands.iter().all(is_first)
            && let Some(&above) = operands.iter().find(|&&operand| is_above(operand))
        {
            return self.term(terms, Version::Base, above, to, depth);
        }
        let sources = &version.live.predecessors[to];
        let has_met = |&phi: &InstId| {
            let comes_in = |(&from, &operand): (&BlockId, &Operand)| {
                graph.incoming(phi, from) == Some(operand)
            };
            sources.iter().zip(operands).all(comes_in)
        };
        if let Some(phi) = graph.phis(to).find(has_met) {
            return self.term(terms, Version::Base, Operand::Value(graph.result(phi)), to, depth);
        }
        let depth = depth.checked_sub(1)?;
        let insts: Option<Vec<InstId>> =
            operands.iter().map(|&operand| graph.definition_of(operand)).collect();
        let insts = insts?;
        let inst = insts[0];
        let is_copy = |&of: &InstId| {
            self.can_be(terms, Version::Base, of)
                && graph.nodes[of].operation == graph.nodes[inst].operation
        };
        (insts.iter().all(is_copy) && terms.terms.len() < MOST_TERMS).then_some(())?;
        let count = graph.operands(inst).len();
        let met = |place: usize, terms: &mut Terms| {
            let operands: Vec<Operand> =
                insts.iter().map(|&of| graph.operands(of)[place]).collect();
            self.copies_met(terms, to, &operands, depth)
        };
        let operands: Option<Vec<usize>> = (0..count).map(|place| met(place, terms)).collect();
        let term = terms.add_unknown(Term::Operation(Version::Base, inst, operands?));
        terms.shared.insert(term);
        Some(term)
    }

    /// The instructions of opt that were looked into to prove that a load gives what one of base
    /// gives that runs at the same time: its address is the same wherever that runs.
    pub(super) fn load_of_use(&mut self, load: InstId, candidate: Candidate) -> Option<LookedInto> {
        let versions = self.versions;
        let Operand::Value(value) = candidate.operand else { return None };
        let base = versions.of.base.graph.definition(value)?;
        let insts = PerVersion { base, opt: load };
        let nodes = PerVersion::from_fn(|w| &versions.graph(w).nodes[insts[w]]);
        let can_be = nodes.base.facts.is_load() && nodes.base.operation == nodes.opt.operation;
        can_be.then_some(())?;
        let place = |w: Version| {
            let version = &versions.of[w];
            let chain = version.chains.of_inst(&version.graph, insts[w])?;
            let pair = self.matching.of_chain[w][chain]?;
            Some((pair, version.chains.segment[insts[w]]))
        };
        // On the ways of a branch that a chain goes on behind it need not run.
        let chains = &versions.of.base.chains;
        (!chains.is_passed(versions.of.base.graph.block(base))).then_some(())?;
        let (pair, segment) = place(Version::Base)?;
        let is_together = place(Version::Opt) == Some((pair, segment))
            && segment <= self.matching.pairs[pair].prefix;
        is_together.then_some(())?;
        let address = {
            let graph = versions.graph(Version::Base);
            self.congruence.at(versions, Version::Base, graph.operands(base)[0], graph.block(base))
        };
        let clobber = nodes.opt.clobber?;
        let number = self.congruence.number(Version::Base, candidate.operand);
        let reads_lone = nodes.iter().any(|node| node.reads_lone);
        let in_state = self.loaded_in_state(Version::Opt, load, address, clobber);
        let keys = [
            Some(in_state).filter(|_| !reads_lone),
            self.loaded_together(Version::Opt, load, address),
        ];
        let is_same = |&key: &_| self.held(Version::Base, key) == Some(number);
        keys.iter().flatten().any(is_same).then_some(())?;
        self.are_same_at(insts.map(|inst| (inst, 0)), false)
    }
}
