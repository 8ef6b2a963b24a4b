//! Checks a composed mapping against the direct comparison of the first and the last version, which
//! knows nothing of the versions between them.
//!
//! The landing must be one that the direct matching allows: the same segment of the same pair, or
//! what silent chains lead to. The expression of each value, evaluated in the numbers of the direct
//! congruence, must have the value's number. An instruction of a version between is taken for what
//! it was in the first version, or what it became in the last one, if it still does the same, on
//! operands with the same numbers; a load, too, only if nothing has written to its place since.
//! What the direct comparison says nothing of stays undecided.

use crate::mapping::compose::{ComposedPoint, Step, StepExpr};
use crate::mapping::mapper::Mapper;
use crate::proof::congruence::value_over;
use crate::proof::matching::{PairId, Walk};
use crate::proof::numbers::Number;
use crate::versions::graph::{ConstId, Operand};
use crate::versions::version::Version;
use midflight_ir::ids::{InstId, ValueId};
use typed_index_collections::TiVec;

/// What is found of a point; the worst of its landing and its values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Finding {
    /// The direct comparison says the same of all.
    Right,
    /// It says nothing of the landing, or of a value.
    Undecided,
    /// It says something else.
    Wrong,
}

/// What became of the instructions of all versions.
#[derive(Clone, Debug, Default)]
pub struct Ancestry {
    /// For each version and instruction the one of the first version that it was
    pub first: Vec<TiVec<InstId, Option<InstId>>>,
    /// For each version and instruction the one of the last version that it became
    pub last: Vec<TiVec<InstId, Option<InstId>>>,
}

impl Ancestry {
    /// Follows instructions over steps. Each step has for the instructions of its base those of its
    /// opt that they are, if those do the same; `counts` are the instructions of all versions.
    pub fn new(steps: &[TiVec<InstId, Option<InstId>>], counts: &[usize]) -> Self {
        let own = |count: Option<&usize>| {
            (0..count.copied().unwrap_or(0)).map(|inst| Some(inst.into())).collect()
        };
        let mut first: Vec<TiVec<InstId, Option<InstId>>> = vec![own(counts.first())];
        for (step, kept) in steps.iter().enumerate() {
            let mut next = TiVec::from(vec![None; counts[step + 1]]);
            for (inst, now) in kept.iter_enumerated() {
                if let Some(now) = *now {
                    next[now] = first[step][inst];
                }
            }
            first.push(next);
        }
        let mut last: Vec<TiVec<InstId, Option<InstId>>> = vec![own(counts.last())];
        for kept in steps.iter().rev() {
            let after = &last[last.len() - 1];
            let next = kept.iter().map(|now| now.and_then(|now| after[now])).collect();
            last.push(next);
        }
        last.reverse();
        Ancestry { first, last }
    }
}

/// The direct comparison.
pub struct Check<'a> {
    /// Of the first and the last version
    pub mapper: &'a Mapper<'a>,
    /// What became of the instructions
    pub ancestry: &'a Ancestry,
    /// The direct comparison's number of a step's constant
    pub constant: &'a dyn Fn(Step, ConstId) -> Option<ConstId>,
}

/// How a landing is reached, as far as it is known.
enum Reached {
    /// Both are in the same segment.
    Together,
    /// The source is in a silent chain, on its way to the head of a pair.
    Over(PairId, Vec<Walk>),
}

impl Check<'_> {
    /// Checks a point of the version `from`, the one before instruction `at`.
    pub fn point(&self, from: Version, at: InstId, point: &ComposedPoint) -> Finding {
        // What is known of unfolded versions is of copies.
        if self.mapper.proof.product.is_some() {
            return Finding::Undecided;
        }
        let reached = match self.landing(from, at, point.landing) {
            Ok(reached) => reached,
            Err(finding) => return finding,
        };
        let numbers = self.numbers(from, [at, point.landing], &point.exprs);
        let values = point.values.iter().map(|&(value, expr)| {
            match (self.expected(from, &reached, value), numbers[expr]) {
                (Some(expected), Some(number)) if expected == number => Finding::Right,
                (Some(expected), Some(number)) if self.may_be_same(expected, number) => {
                    Finding::Undecided
                }
                (Some(_), Some(_)) => Finding::Wrong,
                _ => Finding::Undecided,
            }
        });
        values.max().unwrap_or(Finding::Right)
    }

    /// True for constants that are not both integers: an address can be written in several ways.
    fn may_be_same(&self, a: Number, b: Number) -> bool {
        let constants = [a, b].map(|number| self.mapper.proof.congruence.constant(number));
        let [Some(a), Some(b)] = constants else { return false };
        [a, b].into_iter().any(|constant| self.mapper.oracle.integer(constant).is_none())
    }

    /// Whether the direct matching has a landing.
    fn landing(&self, from: Version, at: InstId, landing: InstId) -> Result<Reached, Finding> {
        let (versions, matching) = (&self.mapper.proof.versions, &self.mapper.proof.matching);
        let to = from.other();
        let place = |which: Version, inst: InstId| {
            let version = &versions.of[which];
            let chain = version.chains.of_inst(&version.graph, inst);
            let chain = chain.ok_or(Finding::Undecided)?;
            Ok((chain, matching.of_chain[which][chain], version.chains.segment[inst]))
        };
        let (chain, pair, segment) = place(from, at)?;
        let (_, other, other_segment) = place(to, landing)?;
        let other = other.ok_or(Finding::Undecided)?;
        if let Some(pair) = pair {
            if segment.max(other_segment) > matching.pairs[pair].prefix {
                return Err(Finding::Undecided);
            }
            return match (pair, segment) == (other, other_segment) {
                true => Ok(Reached::Together),
                // Chains without anchors between the two are crossed at any time.
                false if self.leads_on(pair, segment, other, other_segment) => {
                    Err(Finding::Undecided)
                }
                false => Err(Finding::Wrong),
            };
        }
        let (pair, walks) =
            versions.from_silent(matching, from, chain).ok_or(Finding::Undecided)?;
        match (pair, 0) == (other, other_segment) {
            true => Ok(Reached::Over(pair, walks)),
            false if self.leads_on(pair, 0, other, other_segment) => Err(Finding::Undecided),
            false => Err(Finding::Wrong),
        }
    }

    /// True if no anchor runs between two segments, forth or back.
    fn leads_on(&self, a: PairId, a_segment: usize, b: PairId, b_segment: usize) -> bool {
        self.leads_to(a, a_segment, b, b_segment) || self.leads_to(b, b_segment, a, a_segment)
    }

    fn leads_to(&self, mut pair: PairId, segment: usize, to: PairId, to_segment: usize) -> bool {
        let pairs = &self.mapper.proof.matching.pairs;
        if to_segment != 0 || segment < pairs[pair].prefix {
            return false;
        }
        for _ in 0..pairs.len() {
            let Some([edge]) = pairs[pair].out.as_deref() else { return false };
            if pairs[pair].is_lossy() {
                return false;
            }
            pair = edge.to;
            if pair == to {
                return true;
            }
            if pairs[pair].prefix > 0 {
                return false;
            }
        }
        false
    }

    /// The number of what a value of the other version must be.
    fn expected(&self, from: Version, reached: &Reached, value: ValueId) -> Option<Number> {
        let (versions, congruence) = (&self.mapper.proof.versions, &self.mapper.proof.congruence);
        let to = from.other();
        let number = congruence.of[to][value];
        let Reached::Over(pair, walks) = reached else { return Some(number) };
        let graph = versions.graph(to);
        let Some(inst) = graph.definition(value) else { return Some(number) };
        let version = &versions.of[to];
        let matching = &self.mapper.proof.matching;
        let chain = version.chains.of_inst(&version.graph, inst);
        if chain.and_then(|chain| matching.enters[to][chain]) != Some(*pair) {
            return Some(number);
        }
        // What the chain computes itself is not what its last run did.
        if !graph.nodes[inst].facts.is_phi() {
            return None;
        }
        let source = versions.graph(from);
        let phi = matching
            .entry_phis(versions, from, *pair)
            .find(|&p| congruence.of[from][source.result(p)] == number)?;
        let over_walk = |walk: &Walk| value_over(versions, congruence, from, phi, walk);
        let mut incoming = walks.iter().map(over_walk);
        let first = incoming.next()??;
        incoming.all(|other| other == Some(first)).then(|| congruence.number(from, first))
    }

    /// The numbers of expressions, as far as they are known.
    fn numbers(
        &self,
        from: Version,
        [at, landing]: [InstId; 2],
        exprs: &[StepExpr],
    ) -> Vec<Option<Number>> {
        let congruence = &self.mapper.proof.congruence;
        let mut numbers: Vec<Option<Number>> = Vec::with_capacity(exprs.len());
        for expr in exprs {
            let number = match *expr {
                StepExpr::Source { source } => Some(congruence.of[from][source]),
                StepExpr::Constant { constant: (step, constant) } => {
                    (self.constant)(step, constant).map(|constant| {
                        congruence.number(Version::Base, Operand::Constant(constant))
                    })
                }
                StepExpr::Content { .. } | StepExpr::Narrow { .. } => {
                    unreachable!("steps have values and instructions done again only")
                }
                StepExpr::Code { code, .. } => match code {},
                StepExpr::Repeat { repeat: (step, inst), ref of } => {
                    // It is an instruction of the version that the step leads to.
                    let version = if from == Version::Base { step + 1 } else { step };
                    let operands: Option<Vec<Number>> = of.iter().map(|&o| numbers[o]).collect();
                    let first = (Version::Base, self.ancestry.first[version][inst]);
                    let last = (Version::Opt, self.ancestry.last[version][inst]);
                    let mut either = [first, last];
                    // As the version that is entered has it, rather than as the other one.
                    either.sort_by_key(|&(which, _)| which == from);
                    operands.and_then(|operands| {
                        either.into_iter().find_map(|(which, inst)| {
                            let place = if which == from { at } else { landing };
                            self.repeated(which, inst?, place, &operands)
                        })
                    })
                }
            };
            numbers.push(number);
        }
        numbers
    }

    /// The number of an instruction's result, if these are the numbers of its operands, and it
    /// gives the same before another instruction.
    fn repeated(
        &self,
        which: Version,
        inst: InstId,
        place: InstId,
        operands: &[Number],
    ) -> Option<Number> {
        let congruence = &self.mapper.proof.congruence;
        let version = &self.mapper.proof.versions.of[which];
        let node = &version.graph.nodes[inst];
        let is_number = |(&operand, &number): (&Operand, &Number)| {
            let there = congruence.at(
                &self.mapper.proof.versions,
                which,
                operand,
                version.graph.block(inst),
            );
            congruence.number(which, operand) == number || there == number
        };
        let result = version.graph.result(inst);
        if node.facts.reads_memory() {
            let side = &self.mapper.sides[which];
            let stands = node.facts.is_load()
                && side.is_available(&self.mapper.proof.versions, result, place)
                && self.mapper.oracle.is_unchanged(which, inst, place);
            stands.then_some(())?;
        }
        if let (true, [condition, holds, fails]) = (node.facts.is_phi(), operands) {
            return self.chosen(which, inst, [*condition, *holds, *fails]);
        }
        let own = version.graph.operands(inst);
        let same = own.len() == operands.len() && own.iter().zip(operands).all(is_number);
        same.then(|| congruence.of[which][result])
    }

    /// The number of a phi that a branch decides, if these are the numbers of its condition and of
    /// what comes in on its sides.
    fn chosen(&self, which: Version, phi: InstId, numbers: [Number; 3]) -> Option<Number> {
        let congruence = &self.mapper.proof.congruence;
        let version = &self.mapper.proof.versions.of[which];
        let gate = version.gates[version.graph.block(phi)].as_ref()?;
        let number = |operand| congruence.number(which, operand);
        let arm = |holds| gate.one(holds, |from| version.graph.incoming(phi, from).map(number));
        let expected = [number(gate.condition(&version.graph)?), arm(true)?, arm(false)?];
        (expected == numbers).then(|| congruence.of[which][version.graph.result(phi)])
    }
}
