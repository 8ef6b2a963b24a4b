//! Branches that decide in several steps what the other version decides at once: `simplifycfg`
//! makes one branch of two that have a target in common, and a switch of comparisons with
//! constants.
//!
//! Both versions are followed through the silent chains behind the ends of a pair. What a branch
//! has decided is known on the way behind it, in both versions: of its condition's number, and of
//! what follows from that. Where what is known does not say which way the other version takes, all
//! its ways are followed. On each way on which nothing contradicts what is known both must come
//! to the same pair.
//!
//! A condition that a version has branched on is neither poison nor undefined. One that it has not
//! may be: so an `and` of two conditions is known by one of them only if the other one is well
//! defined, while a `select` does not look at it.

use crate::proof::congruence::value_over;
use crate::proof::matching::{Condition, PairId, Relation, Walk};
use crate::proof::numbers::{Number, UNKNOWN};
use crate::proof::round::Round;
use crate::proof::round::uses::MOST_CONDITIONS;
use crate::proof::terms::{self, Terms};
use crate::versions::graph::{Boolean, Operand};
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::{BlockId, InstId};

/// Steps of a proof
const MOST_STEPS: usize = 512;

/// The same for what phis have
const MOST_STEPS_OF_PHI: usize = 128;

/// Conditions are looked into so far.
const DEEPEST: usize = 5;

/// What is known on a way.
#[derive(Clone, Default)]
struct Facts {
    /// Atoms, by their words, and whether they hold
    atoms: Vec<([Number; 2], bool)>,
    /// Numbers that are a constant, or are not
    equal: Vec<(Number, i64, bool)>,
    /// Branches of base that were taken, and whether their conditions held
    of_base: Vec<(InstId, bool)>,
    /// It cannot come to this.
    contradicts: bool,
}

/// Where a condition is looked at: in a block of a version that it came to over a walk.
#[derive(Clone, Copy)]
struct At<'a> {
    which: Version,
    block: BlockId,
    walk: &'a [(BlockId, BlockId)],
}

/// Where a version is.
#[derive(Clone)]
struct Place {
    /// The end of the chain that it is in, or the head of the pair that it has come to
    at: Result<BlockId, PairId>,
    /// The edges that it took
    walk: Vec<(BlockId, BlockId)>,
}

impl Round<'_> {
    /// Finds the pairs behind which both versions come to the same pair on each way.
    pub(in crate::proof) fn settle_ways(&mut self) {
        for pair in &self.matching.pairs {
            if let Some(Condition { insts, relation: Relation::Ways }) = pair.condition {
                let start = |w: Version| Place {
                    at: Ok(self.versions.graph(w).block(insts[w])),
                    walk: Vec::new(),
                };
                let mut steps = MOST_STEPS;
                let places = PerVersion::from_fn(start);
                if self.meet(places, &Facts::default(), &|_, _| true, &mut steps) {
                    self.congruence.same_ways.insert(insts.opt);
                }
            }
        }
        for (branch, looked_into) in self.looked_into_on_ways.take() {
            self.note(branch, looked_into);
        }
    }

    /// True if phis of a pair's entries have the same on each way into it.
    pub(super) fn are_same_over(&self, pair: PairId, phis: PerVersion<InstId>) -> bool {
        let pairs = &self.matching.pairs;
        pairs[pair].incoming.iter().all(|&(from, place)| {
            let Some(out) = &pairs[from].out else { return false };
            let walks = &out[place].walks;
            if let ([base], [opt]) = (&walks.base[..], &walks.opt[..]) {
                let over = |which: Version, walk: &Walk| {
                    let value =
                        value_over(self.versions, &self.congruence, which, phis[which], walk)?;
                    Some(self.congruence.number(which, value))
                };
                let base = over(Version::Base, base);
                return base.is_some() && base == over(Version::Opt, opt);
            }
            if walks.iter().flatten().any(|walk| walk.goes_round) {
                return false;
            }
            let start = |w: Version| Place {
                at: Ok(self.versions.of[w].chains.last(pairs[from].chains[w])),
                walk: Vec::new(),
            };
            let is_same = |places: &PerVersion<Place>, facts: &Facts| {
                places.base.at != Err(pair) || self.have_same(places, phis, facts)
            };
            let mut steps = MOST_STEPS_OF_PHI;
            self.meet(PerVersion::from_fn(start), &Facts::default(), &is_same, &mut steps)
        })
    }

    /// True if phis have the same where versions have come to.
    fn have_same(
        &self,
        places: &PerVersion<Place>,
        phis: PerVersion<InstId>,
        facts: &Facts,
    ) -> bool {
        let [base, opt] = Version::BOTH.map(|which| {
            let walk = &places[which].walk;
            let &(block, _) = walk.last()?;
            let at = At { which, block, walk };
            let value = Operand::Value(self.versions.graph(which).result(phis[which]));
            let number = self.number_on(at, value, facts, DEEPEST);
            Some((number, self.integer_of(number).or_else(|| facts.constant(number))))
        });
        match (base, opt) {
            (Some((base, of_base)), Some((opt, of_opt))) => {
                base == opt || of_base.is_some() && of_base == of_opt
            }
            _ => false,
        }
    }

    /// True if both versions come to one pair whatever is not known, and `holds` there.
    fn meet(
        &self,
        places: PerVersion<Place>,
        facts: &Facts,
        holds: &dyn Fn(&PerVersion<Place>, &Facts) -> bool,
        steps: &mut usize,
    ) -> bool {
        if *steps == 0 {
            return false;
        }
        *steps -= 1;
        if let (Err(base), Err(opt)) = (&places.base.at, &places.opt.at) {
            return base == opt && holds(&places, facts);
        }
        for which in Version::BOTH {
            let Ok(block) = places[which].at else { continue };
            if let Some(way) = self.known_way(At { which, block, walk: &places[which].walk }, facts)
            {
                return match self.gone(which, &places[which], way) {
                    Some(place) => self.meet(replaced(&places, which, place), facts, holds, steps),
                    None => false,
                };
            }
        }
        let which = if places.base.at.is_ok() { Version::Base } else { Version::Opt };
        let Ok(block) = places[which].at else { unreachable!("one of them is not there yet") };
        let taken = &self.versions.of[which].live.taken[block];
        taken.iter().all(|&way| {
            let mut facts = facts.clone();
            self.decide(At { which, block, walk: &places[which].walk }, way, &mut facts);
            facts.contradicts
                || self.gone(which, &places[which], way).is_some_and(|place| {
                    self.meet(replaced(&places, which, place), &facts, holds, steps)
                })
        })
    }

    /// Where a version comes to over a successor, by its index.
    fn gone(&self, which: Version, place: &Place, way: usize) -> Option<Place> {
        let (version, &Ok(from)) = (&self.versions.of[which], &place.at) else { return None };
        let to = version.graph.body.successors(from).nth(way)?;
        let chain = version.chains.of_block[to]?;
        let mut walk = place.walk.clone();
        walk.push((from, to));
        let at = match self.matching.of_chain[which][chain] {
            Some(pair) => Err(pair),
            None if self.versions.is_silent(which, chain) => Ok(version.chains.last(chain)),
            None => return None,
        };
        Some(Place { at, walk })
    }

    /// The successor that a version takes at the end of a block, if that is known.
    fn known_way(&self, at: At<'_>, facts: &Facts) -> Option<usize> {
        let version = &self.versions.of[at.which];
        if let [only] = version.live.taken[at.block][..] {
            return Some(only);
        }
        let graph = &version.graph;
        let inst = graph.terminator(at.block);
        let operand = *graph.operands(inst).first()?;
        if let Some(cases) = &graph.nodes[inst].cases {
            let number = self.number_on(at, operand, facts, DEEPEST);
            let constant = self.integer_of(number).or_else(|| facts.constant(number));
            let is_none = |value: i64| facts.is_equal(number, value) == Some(false);
            return match constant {
                Some(constant) => Some(cases.way(constant)),
                None => cases.signed().all(is_none).then_some(0),
            };
        }
        graph.nodes[inst].facts.is_conditional().then_some(())?;
        let holds = self.holds(at, operand, facts, DEEPEST);
        let holds = holds
            .or_else(|| self.holds_as_in_base(at.which, inst, facts))
            .or_else(|| self.follows_from_base(at.which, inst, facts))?;
        Some(usize::from(!holds))
    }

    /// Whether a branch's condition holds, if that is the condition of a branch of base that was
    /// taken, or its negation.
    fn holds_as_in_base(&self, which: Version, branch: InstId, facts: &Facts) -> Option<bool> {
        let insts = self.versions.branch_of_base(which, branch)?;
        let mut taken = facts.of_base.iter().filter(|(base, _)| *base == insts.base);
        let &(_, held) = taken.next()?;
        // Where it was taken twice it is not known which time this is.
        if taken.next().is_some() {
            return None;
        }
        let is = |negated: bool| self.are_same_at(insts.map(|inst| (inst, 0)), negated).is_some();
        if is(false) { Some(held) } else { is(true).then_some(!held) }
    }

    /// Whether the condition of a branch of opt holds, if LLVM proves that by the branches of base
    /// that were taken: whether it is the last one's condition, or its negation, where all are what
    /// they were.
    fn follows_from_base(&self, which: Version, branch: InstId, facts: &Facts) -> Option<bool> {
        let &(last, held) = facts.of_base.last().filter(|_| which == Version::Opt)?;
        // Where one was taken twice it is not known which time this is.
        let is_once = |&(one, _): &(InstId, bool)| {
            facts.of_base.iter().filter(|&&(other, _)| other == one).count() == 1
        };
        (facts.of_base.len() <= MOST_CONDITIONS && facts.of_base.iter().all(is_once))
            .then_some(())?;
        let mut terms = Terms::new(false);
        let term = |terms: &mut Terms, which: Version, branch: InstId| {
            let graph = self.versions.graph(which);
            let condition = *graph.operands(branch).first()?;
            self.term(terms, which, condition, graph.block(branch), terms::DEEPEST)
        };
        let of_opt = term(&mut terms, Version::Opt, branch)?;
        terms.roots = [term(&mut terms, Version::Base, last)?, of_opt];
        for &(branch, held) in &facts.of_base {
            let condition = term(&mut terms, Version::Base, branch)?;
            terms.conditions.push((condition, held));
        }
        let is_select = |which: Version, inst: InstId| self.is_select(which, inst);
        let looked_into =
            terms.defined_with_conditions(is_select, |number| self.is_well_defined(number))?;
        let negated =
            [false, true].into_iter().find(|&n| self.oracle.stands_for(&terms, n, None))?;
        self.looked_into_on_ways.borrow_mut().push((branch, looked_into));
        Some(held != negated)
    }

    /// What is known if a version takes a successor.
    fn decide(&self, at: At<'_>, way: usize, facts: &mut Facts) {
        let graph = self.versions.graph(at.which);
        let inst = graph.terminator(at.block);
        let Some(&operand) = graph.operands(inst).first() else { return };
        if let Some(cases) = &graph.nodes[inst].cases {
            let number = self.number_on(at, operand, facts, DEEPEST);
            for (case, value) in cases.signed().enumerate() {
                if way == 0 || way == case + 1 {
                    facts.add_equal(number, value, way != 0);
                }
            }
        } else if graph.nodes[inst].facts.is_conditional() {
            if at.which == Version::Base {
                facts.of_base.push((inst, way == 0));
            }
            self.imply(at, operand, way == 0, facts, DEEPEST);
        }
    }

    /// Adds that a condition holds, or does not, and what follows from that.
    fn imply(&self, at: At<'_>, operand: Operand, holds: bool, facts: &mut Facts, depth: usize) {
        if let Some(known) = self.holds(at, operand, facts, depth) {
            facts.contradicts |= known != holds;
            return;
        }
        let operand = self.there(at, operand, facts, depth);
        let number = self.congruence.at(self.versions, at.which, operand, at.block);
        if number == UNKNOWN {
            return;
        }
        let literal = self.congruence.literal(number);
        facts.add_atom(literal.atom.words(), holds != literal.negated);
        let graph = self.versions.graph(at.which);
        let Operand::Value(value) = operand else { return };
        let Some(inst) = graph.definition(value) else { return };
        let node = &graph.nodes[inst];
        if let Some((number, constant, is_equal)) = self.compared(at, inst, facts, depth) {
            facts.add_equal(number, constant, is_equal == holds);
        }
        let is_both = match holds {
            true => node.facts.is_logical_and(),
            false => node.facts.is_logical_or(),
        };
        if depth == 0 {
            return;
        }
        let operands = graph.operands(inst);
        if let Some(Boolean::Not(place)) = node.boolean {
            self.imply(at, operands[place], !holds, facts, depth - 1);
        } else if is_both {
            // Of a select one operand is a constant.
            for &operand in operands.iter().filter(|o| matches!(o, Operand::Value(_))) {
                self.imply(at, operand, holds, facts, depth - 1);
            }
        }
    }

    /// Whether a condition holds, if that is known.
    fn holds(&self, at: At<'_>, operand: Operand, facts: &Facts, depth: usize) -> Option<bool> {
        let operand = self.there(at, operand, facts, depth);
        let number = self.congruence.at(self.versions, at.which, operand, at.block);
        if number == UNKNOWN {
            return None;
        }
        if let Some(constant) = self.integer_of(number) {
            return Some(constant != 0);
        }
        let literal = self.congruence.literal(number);
        let words = literal.atom.words();
        if let Some(&(_, holds)) = facts.atoms.iter().find(|(atom, _)| *atom == words) {
            return Some(holds != literal.negated);
        }
        let graph = self.versions.graph(at.which);
        let Operand::Value(value) = operand else { return None };
        let inst = graph.definition(value)?;
        let node = &graph.nodes[inst];
        if depth == 0 {
            return None;
        }
        let operands = graph.operands(inst);
        let of = |place: usize| self.holds(at, operands[place], facts, depth - 1);
        if let Some(Boolean::Not(place)) = node.boolean {
            return of(place).map(|holds| !holds);
        }
        if let Some((number, constant, is_equal)) = self.compared(at, inst, facts, depth) {
            let is = match self.integer_of(number) {
                Some(integer) => integer == constant,
                None => facts.is_equal(number, constant)?,
            };
            return Some(is == is_equal);
        }
        if let Some(Boolean::Comparison { .. }) = node.boolean {
            let number = |&o: &Operand| self.number_on(at, o, facts, depth - 1);
            let constant = |number: Number| self.congruence.constant(number);
            let known = operands.iter().map(number).map(constant);
            let known: Option<Vec<Operand>> = known.map(|c| c.map(Operand::Constant)).collect();
            return match self.oracle.simplify(at.which, inst, &known?)? {
                Operand::Constant(constant) => Some(self.oracle.integer(constant)? != 0),
                Operand::Value(_) => None,
            };
        }
        if node.facts.is_select() {
            return None;
        }
        let absorbs = match (node.facts.is_logical_and(), node.facts.is_logical_or()) {
            (true, _) => false,
            (_, true) => true,
            _ => return None,
        };
        let is_well_defined =
            |place: usize| self.is_well_defined(self.number_on(at, operands[place], facts, depth));
        match [of(0), of(1)] {
            [Some(a), Some(b)] => Some(if absorbs { a || b } else { a && b }),
            [Some(a), None] if a == absorbs && is_well_defined(1) => Some(absorbs),
            [None, Some(b)] if b == absorbs && is_well_defined(0) => Some(absorbs),
            _ => None,
        }
    }

    /// For `icmp eq` or `ne` with a constant: the number that is compared, the constant, and
    /// whether the comparison holds where they are equal.
    fn compared(
        &self,
        at: At<'_>,
        inst: InstId,
        facts: &Facts,
        depth: usize,
    ) -> Option<(Number, i64, bool)> {
        let graph = self.versions.graph(at.which);
        let of_inst = graph.nodes[inst].facts;
        (of_inst.is_equal() || of_inst.is_differ()).then_some(())?;
        let [value, other] = *graph.operands(inst) else { return None };
        let number = |operand| self.number_on(at, operand, facts, depth.saturating_sub(1));
        let constant = self.integer_of(number(other))?;
        let value = number(value);
        let is_known =
            self.congruence.constant(value).is_none_or(|c| self.oracle.integer(c).is_some());
        (value != UNKNOWN && is_known).then_some((value, constant, of_inst.is_equal()))
    }

    fn integer_of(&self, number: Number) -> Option<i64> {
        self.congruence.constant(number).and_then(|constant| self.oracle.integer(constant))
    }

    /// The number of an operand there.
    fn number_on(&self, at: At<'_>, operand: Operand, facts: &Facts, depth: usize) -> Number {
        let operand = self.there(at, operand, facts, depth);
        self.congruence.at(self.versions, at.which, operand, at.block)
    }

    /// What an operand is there: a phi of a block on the walk is what came in, and a select what
    /// its condition chooses.
    fn there(&self, at: At<'_>, mut operand: Operand, facts: &Facts, depth: usize) -> Operand {
        let graph = self.versions.graph(at.which);
        let mut walk = at.walk;
        for _ in 0..depth {
            let Operand::Value(value) = operand else { break };
            let Some(inst) = graph.definition(value) else { break };
            let node = &graph.nodes[inst];
            if node.facts.is_phi() {
                let entered = walk.iter().rposition(|&(_, to)| to == graph.block(inst));
                let incoming = entered.and_then(|n| Some((n, graph.incoming(inst, walk[n].0)?)));
                let Some((entered, incoming)) = incoming else { break };
                (operand, walk) = (incoming, &walk[..entered]);
            } else if let [condition, yes, no] = *graph.operands(inst)
                && node.facts.is_select()
            {
                match self.holds(At { walk, ..at }, condition, facts, depth - 1) {
                    Some(holds) => operand = if holds { yes } else { no },
                    None => break,
                }
            } else {
                break;
            }
        }
        operand
    }
}

impl Facts {
    fn add_atom(&mut self, atom: [Number; 2], holds: bool) {
        match self.atoms.iter().find(|(known, _)| *known == atom) {
            Some(&(_, known)) => self.contradicts |= known != holds,
            None => self.atoms.push((atom, holds)),
        }
    }

    fn add_equal(&mut self, number: Number, constant: i64, holds: bool) {
        match self.is_equal(number, constant) {
            Some(known) => self.contradicts |= known != holds,
            None => self.equal.push((number, constant, holds)),
        }
    }

    /// The constant that a number is, if that is known.
    fn constant(&self, number: Number) -> Option<i64> {
        let mut of_number = self.equal.iter().filter(|(of, ..)| *of == number);
        of_number.find_map(|&(_, constant, holds)| holds.then_some(constant))
    }

    /// Whether a number is a constant, if that is known.
    fn is_equal(&self, number: Number, constant: i64) -> Option<bool> {
        let mut of_number = self.equal.iter().filter(|(of, ..)| *of == number);
        of_number.find_map(|&(_, known, holds)| match (known == constant, holds) {
            (is_same, true) => Some(is_same),
            (true, false) => Some(false),
            (false, false) => None,
        })
    }
}

fn replaced(places: &PerVersion<Place>, which: Version, place: Place) -> PerVersion<Place> {
    let mut places = places.clone();
    places[which] = place;
    places
}
