//! Values that are proved to be others' though they are computed in other ways ([`super::terms`]).

use crate::proof::candidates::Candidate;
use crate::proof::guesses::only;
use crate::proof::numbers::{Number, UNKNOWN};
use crate::proof::round::{Found, Round};
use crate::proof::terms::{DEPTHS, DownTo, Into, LookedInto, MOST_TERMS, Term, Terms};
use crate::versions::facts::VersionFacts;
use crate::versions::gates::{Way, ways};
use crate::versions::graph::{Boolean, Operand};
use crate::versions::version::Version;
use midflight_ir::ids::{BlockId, InstId, ValueId};
use std::borrow::Cow;

/// A proof that came and went so often is not tried again, so that rounds end.
const MOST_LOST: u8 = 4;

impl Round<'_> {
    /// True if an instruction may be found to be something else by proof.
    pub(super) fn has_candidates(&self, which: Version, inst: InstId) -> bool {
        let has = match which {
            Version::Base => self.candidates.base[inst].is_some(),
            Version::Opt => {
                !self.candidates.opt[inst].is_empty()
                    || self.guesses.phi(inst).is_some()
                    || self.stored_alone.contains_key(&inst)
            }
        };
        has && self.lost[which][inst] < MOST_LOST
    }

    /// True if base has what an instruction was found to be, so that it needs no proof.
    pub(super) fn is_of_base(&self, found: Found) -> bool {
        match found {
            Found::Key(key) | Found::Sum(key) | Found::Boolean(key, _) => {
                self.held(Version::Base, key).is_some()
            }
            Found::Either(one, other) => {
                [one, other].into_iter().any(|key| self.held(Version::Base, key).is_some())
            }
            Found::Number(_) | Found::Same(_) | Found::Said(..) => false,
        }
    }

    /// What an instruction is proved to be, unless it is that anyway: what gives it its number, and
    /// another value that this depends on.
    pub(super) fn proved(
        &mut self,
        which: Version,
        inst: InstId,
        found: Found,
    ) -> Option<(Found, Option<ValueId>)> {
        let known = self.congruence.looked_into.remove(&(which, inst));
        let proved = self.proof_of(which, inst, found).or_else(|| {
            (which == Version::Opt).then_some(())?;
            let proved = self.phi_as_guessed(inst).or_else(|| self.as_stored(inst));
            let (number, looked_into) = proved?;
            Some((Found::Number(number), looked_into))
        });
        match &proved {
            Some((_, looked_into)) => {
                self.congruence.looked_into.insert((which, inst), looked_into.clone());
            }
            None if known.is_some() => self.lost[which][inst] += 1,
            None => {}
        }
        proved.map(|(found, _)| (found, None))
    }

    fn proof_of(
        &mut self,
        which: Version,
        inst: InstId,
        found: Found,
    ) -> Option<(Found, LookedInto)> {
        if which == Version::Base {
            let constant = self.candidates.base[inst]?;
            let candidate = Candidate { operand: Operand::Constant(constant), negated: false };
            let looked_into = self.looked_into(which, inst, candidate)?;
            let number = self.congruence.number(which, candidate.operand);
            return Some((Found::Number(number), looked_into));
        }
        for place in 0..self.candidates.opt[inst].len() {
            let candidate = self.candidates.opt[inst][place];
            let number = self.congruence.number(Version::Base, candidate.operand);
            if number == UNKNOWN {
                continue;
            }
            let is_known = match found {
                Found::Number(own) | Found::Said(_, own) => own == number && !candidate.negated,
                Found::Same(value) => {
                    self.congruence.of[which][value] == number && !candidate.negated
                }
                Found::Key(key) | Found::Sum(key) | Found::Boolean(key, _) => {
                    self.held(which, key) == Some(number) && !candidate.negated
                }
                Found::Either(..) => false,
            };
            if is_known {
                return None;
            }
            let facts = self.versions.graph(which).nodes[inst].facts;
            // What is loaded is proved to be the candidate itself.
            let is_loaded = !candidate.negated;
            let looked_into = if facts.is_phi() {
                let loaded = || is_loaded.then(|| self.phi_of_loads(inst, candidate)).flatten();
                let chosen = || self.chosen_over_ways(inst, candidate);
                self.through_phi(inst, candidate).or_else(loaded).or_else(chosen)
            } else if facts.is_load() {
                let of_phi = is_loaded.then(|| self.load_of_phi(inst, candidate)).flatten();
                of_phi.or_else(|| is_loaded.then(|| self.load_of_use(inst, candidate)).flatten())
            } else {
                self.looked_into(which, inst, candidate)
                    .or_else(|| self.operation_of_phi(inst, candidate))
                    .or_else(|| self.chosen_over_ways(inst, candidate))
            };
            if let Some(looked_into) = looked_into {
                let found = match candidate.negated {
                    false => Found::Number(number),
                    true => self.literal(self.congruence.literal(number).not()),
                };
                return Some((found, looked_into));
            }
        }
        None
    }

    /// The instructions that were looked into to prove that an instruction is its candidate.
    fn looked_into(
        &self,
        which: Version,
        inst: InstId,
        candidate: Candidate,
    ) -> Option<LookedInto> {
        let graph = self.versions.graph(which);
        let base = &self.versions.of.base.graph;
        let block = match candidate.operand {
            Operand::Value(value) => {
                base.definition(value).map_or(BlockId::ENTRY, |i| base.block(i))
            }
            Operand::Constant(_) => graph.block(inst),
        };
        let own = Operand::Value(graph.result(inst));
        DEPTHS.into_iter().find_map(|(depth, into)| {
            let mut terms = Terms::new(into);
            let of_candidate =
                self.term(&mut terms, Version::Base, candidate.operand, block, depth)?;
            let of_own = self.term_of(&mut terms, which, own, None, depth)?;
            terms.roots = [of_candidate, of_own];
            self.are_equal(&terms, candidate.negated).or_else(|| {
                let at = self.together_with(which, inst)?;
                let terms = self.with_conditions(terms, at);
                let has_conditions = !terms.conditions.is_empty();
                has_conditions.then(|| self.are_equal(&terms, candidate.negated))?
            })
        })
    }

    /// The instruction that base begins with where it runs together with an instruction of a
    /// version.
    fn together_with(&self, which: Version, inst: InstId) -> Option<InstId> {
        let version = &self.versions.of[which];
        if which == Version::Base {
            return Some(inst);
        }
        let chain = version.chains.of_inst(&version.graph, inst)?;
        let base = self.matching.pairs[self.matching.of_chain.opt[chain]?].chains.base;
        let of_base = &self.versions.of.base;
        of_base.graph.insts(of_base.chains.head(base)).iter().next()
    }

    pub(super) fn is_select(&self, which: Version, inst: InstId) -> bool {
        self.versions.graph(which).nodes[inst].facts.is_select()
    }

    fn is_partial(&self, which: Version, inst: InstId) -> bool {
        self.versions.graph(which).nodes[inst].is_partial
    }

    /// The instructions that were looked into, if two expressions are proved to be equal.
    pub(super) fn are_equal(&self, terms: &Terms, negated: bool) -> Option<LookedInto> {
        let node = |which: Version, inst: InstId| &self.versions.graph(which).nodes[inst];
        let is_select = |which: Version, inst: InstId| self.is_select(which, inst);
        let is_exact = |which: Version, inst: InstId| node(which, inst).is_exact;
        let is_partial = |which: Version, inst: InstId| self.is_partial(which, inst);
        let of_insts = [&is_select as _, &is_exact as _, &is_partial as _];
        // What both are made of may be poison only on some ways, and what it is made of on all.
        let looked_into = |to_leaves: bool| {
            terms.looked_into(to_leaves, of_insts, |number| self.is_well_defined(number))
        };
        if let Some((looked_into, down_to)) = looked_into(false)
            && let Some(own) = self.with_own_leaves(terms, &down_to)
        {
            if self.oracle.are_equal(&own, negated) {
                return Some(looked_into);
            }
            if matches!(own, Cow::Borrowed(_)) {
                return None;
            }
        }
        let (looked_into, _) = looked_into(true)?;
        self.oracle.are_equal(terms, negated).then_some(looked_into)
    }

    /// The terms that LLVM is asked about if they were looked into down to some; none if it must
    /// not be asked.
    pub(super) fn with_own_leaves<'t>(
        &self,
        terms: &'t Terms,
        down_to: &DownTo,
    ) -> Option<Cow<'t, Terms>> {
        let result = |which: Version, inst: InstId| self.versions.graph(which).result(inst);
        let is_partial = |which: Version, inst: InstId| self.is_partial(which, inst);
        terms.with_own_leaves(down_to, result, is_partial, |number| self.is_well_defined(number))
    }

    /// The term of an operand as it is used in a block; none if it has no number yet.
    pub(super) fn term(
        &self,
        terms: &mut Terms,
        which: Version,
        operand: Operand,
        block: BlockId,
        depth: usize,
    ) -> Option<usize> {
        let number = self.congruence.at(self.versions, which, operand, block);
        self.term_of(terms, which, operand, Some(number), depth)
    }

    /// The term of an operand with a number; with none, of the instruction itself.
    pub(super) fn term_of(
        &self,
        terms: &mut Terms,
        which: Version,
        operand: Operand,
        number: Option<Number>,
        depth: usize,
    ) -> Option<usize> {
        if number == Some(UNKNOWN) {
            return None;
        }
        if let Some(&known) = number.and_then(|number| terms.known.get(&number)) {
            if let Term::Operation(of, inst, _) = terms.terms[known]
                && (of, Operand::Value(self.versions.graph(of).result(inst))) != (which, operand)
            {
                terms.shared.insert(known);
            }
            return Some(known);
        }
        if let Some(number) = number
            && let Some(constant) = self.congruence.constant(number)
        {
            return Some(terms.add(Term::Constant(constant), number));
        }
        let Operand::Value(value) = operand else { return None };
        let graph = self.versions.graph(which);
        let phi = graph.definition(value).filter(|&i| graph.nodes[i].facts.is_phi());
        if number.is_some()
            && let Some(copied) = phi.and_then(|phi| only(graph, phi))
        {
            return self.term_of(terms, which, copied, number, depth);
        }
        // That of the instruction itself is found anew.
        let add = |terms: &mut Terms, term: Term| match number {
            Some(number) => terms.add(term, number),
            None => terms.add_unknown(term),
        };
        if terms.into >= Into::Loads
            && depth > 0
            && terms.terms.len() < MOST_TERMS
            && let Some(phi) = phi
            && let Some(operands) = self.chosen(terms, which, phi, depth - 1)
        {
            return Some(add(terms, Term::Chosen(which, phi, operands)));
        }
        if which == Version::Opt
            && let Some(operation) = self.operation_of_base(value, number)
        {
            return self.term_of(terms, Version::Base, operation, number, depth);
        }
        let known = number.filter(|_| terms.into >= Into::Loads);
        let inst = graph.definition(value).map(|inst| self.computed(terms, which, inst, known));
        let Some(inst) = inst.filter(|&inst| {
            self.can_be(terms, which, inst) && depth > 0 && terms.terms.len() < MOST_TERMS
        }) else {
            return Some(add(terms, Term::Leaf(which, value)));
        };
        let block = graph.block(inst);
        let operands = graph.operands(inst).iter();
        let operands: Option<Vec<usize>> =
            operands.map(|&o| self.term(terms, which, o, block, depth - 1)).collect();
        Some(add(terms, Term::Operation(which, inst, operands?)))
    }

    /// The total operation of base that a phi of opt has the number of, as a loop counter of more
    /// bits has that of a counter extended.
    fn operation_of_base(&self, value: ValueId, number: Option<Number>) -> Option<Operand> {
        let [base, opt] = Version::BOTH.map(|w| self.versions.graph(w));
        opt.definition(value).filter(|&inst| opt.nodes[inst].facts.is_phi())?;
        let (which, first) = self.congruence.layout.value(self.versions, number?)?;
        let operation = base.definition(first).filter(|_| which == Version::Base)?;
        let is_it = self.congruence.of.base[first] == number? && base.nodes[operation].is_total;
        is_it.then_some(Operand::Value(first))
    }

    /// The terms of what a branch decides a phi by, and of what it has then: the branch was taken,
    /// so that its condition is well defined. Without one that does, what several branches decide.
    /// Only what is likely to have become something else is looked into: choices of constants, and
    /// of what the branch compares.
    fn chosen(
        &self,
        terms: &mut Terms,
        which: Version,
        phi: InstId,
        depth: usize,
    ) -> Option<[usize; 3]> {
        let VersionFacts { graph, live, scopes, gates, .. } = &self.versions.of[which];
        let number = |operand: Operand| self.congruence.number(which, operand);
        let is_constant = |&operand: &Operand| self.congruence.constant(number(operand)).is_some();
        let join = graph.block(phi);
        let is_compared = || {
            let condition = gates[join].as_ref()?.condition(graph)?;
            let comparison = graph.definition_of(condition)?;
            let is_one =
                matches!(graph.nodes[comparison].boolean, Some(Boolean::Comparison { .. }));
            let compared: Vec<Number> =
                graph.operands(comparison).iter().map(|&operand| number(operand)).collect();
            let mut chosen = graph.operands(phi).iter();
            is_one.then(|| chosen.any(|&operand| compared.contains(&number(operand))))
        };
        let is_likely = terms.choice == Some((which, phi))
            || graph.operands(phi).iter().any(is_constant)
            || is_compared() == Some(true);
        is_likely.then_some(())?;
        let of_gate = gates[join].as_ref().and_then(|gate| {
            let arm = |holds: bool| gate.arm(graph, phi, holds, number);
            Some([gate.condition(graph)?, arm(true)?, arm(false)?])
        });
        let Some(operands) = of_gate else {
            let Way::Branch(branch, arms) = ways(graph, live, scopes, join)? else { return None };
            return self.chosen_by(terms, (which, phi), (branch, &arms), depth);
        };
        let mut found = [0; 3];
        for (place, operand) in found.iter_mut().zip(operands) {
            *place = self.term_of(terms, which, operand, Some(number(operand)), depth)?;
        }
        Some(found)
    }

    /// The same of a branch and of what comes in at the phi on the ways that it decides for.
    fn chosen_by(
        &self,
        terms: &mut Terms,
        (which, phi): (Version, InstId),
        (branch, arms): (InstId, &[Way; 2]),
        depth: usize,
    ) -> Option<[usize; 3]> {
        let graph = self.versions.graph(which);
        let of = |terms: &mut Terms, operand: Operand| {
            let number = self.congruence.number(which, operand);
            self.term_of(terms, which, operand, Some(number), depth)
        };
        let condition = of(terms, *graph.operands(branch).first()?)?;
        let mut arm = |way: &Way| match way {
            Way::From(from) => of(terms, graph.incoming(phi, *from)?),
            Way::Branch(branch, arms) => {
                let inner = self.chosen_by(terms, (which, phi), (*branch, arms), depth)?;
                Some(terms.add_unknown(Term::Chosen(which, phi, inner)))
            }
        };
        Some([condition, arm(&arms[0])?, arm(&arms[1])?])
    }

    /// True for an operation that these terms may look into.
    pub(super) fn can_be(&self, terms: &Terms, which: Version, inst: InstId) -> bool {
        let is_total = self.versions.graph(which).nodes[inst].is_total;
        is_total && (terms.into == Into::Shifts || !self.is_partial(which, inst))
    }

    /// The total operation above an instruction that has its number, if that is none itself: what
    /// is loaded was computed before it was stored.
    fn computed(
        &self,
        terms: &Terms,
        which: Version,
        inst: InstId,
        number: Option<Number>,
    ) -> InstId {
        let version = &self.versions.of[which];
        let graph = &version.graph;
        if self.can_be(terms, which, inst) {
            return inst;
        }
        let first = number.and_then(|n| self.congruence.layout.value(self.versions, n));
        let computed = first.and_then(|(of, value)| {
            let computed = graph.definition(value).filter(|_| of == which)?;
            let is_it = self.congruence.of[which][value] == number?
                && self.can_be(terms, which, computed)
                && version.is_above(computed, inst);
            is_it.then_some(computed)
        });
        computed.unwrap_or(inst)
    }
}
