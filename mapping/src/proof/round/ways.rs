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

use crate::proof::candidates::Candidate;
use crate::proof::matching::{Condition, PairId, Relation, Walk};
use crate::proof::numbers::{Number, UNKNOWN};
use crate::proof::round::Round;
use crate::proof::round::cases::Numbered;
use crate::proof::round::uses::MOST_CONDITIONS;
use crate::proof::terms::{self, Into, LookedInto, Terms};
use crate::versions::graph::{Boolean, Extends, Linear, Operand};
use crate::versions::scopes::Scopes;
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::{BlockId, InstId};
use std::cmp::Ordering;

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

/// A number of which another one is made.
struct Origin<'a> {
    number: Number,
    /// It is computed again on the way: facts do not speak of it.
    is_again: bool,
    /// If it is a condition, that, and where it is looked at
    condition: Option<(Operand, At<'a>)>,
    /// How, the last step first
    steps: Vec<OneToOne>,
}

/// What gives different numbers for different numbers
#[derive(Clone)]
enum OneToOne {
    Extended(Extends),
    /// The other way round
    ExtendedTo(Extends),
    Added(Linear),
}

impl Origin<'_> {
    /// What this is where what is made of it is a constant; none if that never is.
    fn constant(&self, constant: i64) -> Option<i64> {
        self.steps.iter().try_fold(constant, |constant, step| match step {
            OneToOne::Extended(extends) => extends.before(constant),
            OneToOne::ExtendedTo(extends) => Some(extends.after(constant)),
            OneToOne::Added(linear) => linear.before(constant).map(|(_, before)| before),
        })
    }
}

/// Where a condition is looked at: in a block of a version that it came to over a walk.
#[derive(Clone, Copy)]
struct At<'a> {
    which: Version,
    block: BlockId,
    walk: &'a [(BlockId, BlockId)],
}

impl At<'_> {
    /// The blocks on the walk that were run before it began, too: heads of loops.
    fn computed_again(&self, scopes: &Scopes) -> impl Iterator<Item = BlockId> {
        let begin = self.walk.first().map(|&(from, _)| from);
        let heads = self.walk.iter().map(|&(_, to)| to);
        heads.filter(move |&head| begin.is_some_and(|begin| scopes.dominates(head, begin)))
    }
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

    /// True if operands are the same on each way into a pair: phis of its entries, and what is
    /// computed of such behind its head.
    pub(super) fn are_same_over(&self, pair: PairId, operands: PerVersion<Operand>) -> bool {
        let mut edges = self.matching.pairs[pair].incoming.iter();
        edges.all(|&edge| self.are_same_over_edge(pair, edge, operands))
    }

    /// The same on each way over one edge, of a pair and by its place there.
    pub(super) fn are_same_over_edge(
        &self,
        pair: PairId,
        (from, place): (PairId, usize),
        operands: PerVersion<Operand>,
    ) -> bool {
        let pairs = &self.matching.pairs;
        let Some(out) = &pairs[from].out else { return false };
        let walks = &out[place].walks;
        if let ([base], [opt]) = (&walks.base[..], &walks.opt[..])
            && let Some(is_same) =
                self.are_same_over_walks(pair, operands, PerVersion { base, opt })
        {
            return is_same;
        }
        if walks.iter().flatten().any(|walk| walk.goes_round) {
            return false;
        }
        let start = |w: Version| Place {
            at: Ok(self.versions.of[w].chains.last(pairs[from].chains[w])),
            walk: Vec::new(),
        };
        let is_same = |places: &PerVersion<Place>, facts: &Facts| {
            places.base.at != Err(pair) || self.have_same(places, operands, facts)
        };
        let mut steps = MOST_STEPS_OF_PHI;
        self.meet(PerVersion::from_fn(start), &Facts::default(), &is_same, &mut steps)
    }

    /// The instructions that were looked into to prove that an instruction of opt, a phi or an
    /// operation, has what an operation or a phi of base has on each way into the pair of the phi:
    /// a select may have what several branches choose.
    pub(super) fn chosen_over_ways(
        &self,
        inst: InstId,
        candidate: Candidate,
    ) -> Option<LookedInto> {
        let graphs = self.versions.of.as_ref().map(|version| &version.graph);
        let of_base = graphs.base.definition_of(candidate.operand)?;
        let insts = PerVersion { base: of_base, opt: inst };
        let is_phi = |which: &Version| graphs[*which].nodes[insts[*which]].facts.is_phi();
        let which = Version::BOTH.into_iter().find(is_phi).filter(|_| !candidate.negated)?;
        let block = |w: Version| graphs[w].block(insts[w]);
        let pair = self.matching.entered(self.versions, which, block(which))?;
        let other = which.other();
        let of_other = &self.versions.of[other];
        let head = of_other.chains.head(self.matching.pairs[pair].chains[other]);
        let is_behind = of_other.scopes.dominates(head, block(other));
        (is_behind || self.is_above(other, pair, block(other))).then_some(())?;
        let operands = PerVersion::from_fn(|w| Operand::Value(graphs[w].result(insts[w])));
        self.are_same_over(pair, operands).then(|| vec![(Version::Opt, inst)])
    }

    /// The same over one walk of each version; none if one of them computes it behind the head.
    fn are_same_over_walks(
        &self,
        pair: PairId,
        operands: PerVersion<Operand>,
        walks: PerVersion<&Walk>,
    ) -> Option<bool> {
        let over = |which: Version| {
            let entered = self.entered_with(which, pair, walks[which], operands[which]);
            let number = |operand: Operand| self.congruence.number(which, operand);
            entered.map_or(Some(None), |entered| entered.ok().map(|o| Some(number(o))))
        };
        let (base, opt) = (over(Version::Base)?, over(Version::Opt)?);
        Some(base.is_some() && base == opt)
    }

    /// True if operands are the same where versions have come to.
    fn have_same(
        &self,
        places: &PerVersion<Place>,
        operands: PerVersion<Operand>,
        facts: &Facts,
    ) -> bool {
        let [base, opt] = Version::BOTH.map(|which| {
            let walk = &places[which].walk;
            let &(block, _) = walk.last()?;
            let at = At { which, block, walk };
            let (operand, at) = self.there(at, operands[which], facts, DEEPEST);
            let integer = self.integer_on(at, operand, facts, DEEPEST);
            let number = self.number_at(at, operand);
            let is_old = at.walk.len() < walk.len() || self.is_as_before(at, operand);
            let is_there = is_old && !self.is_open(at, operand, operands[which]);
            Some((Some(number).filter(|_| is_there), integer))
        });
        match (base, opt) {
            (Some((base, of_base)), Some((opt, of_opt))) => {
                base.is_some() && base == opt || of_base.is_some() && of_base == of_opt
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
            let origins = self.origins_of_cases(at, cases.bits, operand, facts);
            let mut is_none = true;
            for (case, value) in cases.signed().enumerate() {
                match self.is_constant(&origins, value, facts, DEEPEST) {
                    Some(true) => return Some(case + 1),
                    is => is_none &= is.is_some(),
                }
            }
            return is_none.then_some(0);
        }
        graph.nodes[inst].facts.is_conditional().then_some(())?;
        let holds = self.holds(at, operand, facts, DEEPEST).or_else(|| {
            (!self.is_again(at)).then_some(())?;
            self.holds_as_in_base(at.which, inst, facts)
                .or_else(|| self.follows_from_base(at.which, inst, facts))
        })?;
        Some(usize::from(!holds))
    }

    /// Whether a branch's condition holds, if that is the condition of a branch of base that was
    /// taken, or its negation.
    fn holds_as_in_base(&self, which: Version, branch: InstId, facts: &Facts) -> Option<bool> {
        let insts = self.versions.branch_of_base(which, branch)?;
        let &(branch, held) = facts.of_base.iter().find(|(base, _)| *base == insts.base)?;
        facts.is_once(branch).then_some(())?;
        let is = |negated: bool| self.are_same_at(insts.map(|inst| (inst, 0)), negated).is_some();
        if is(false) { Some(held) } else { is(true).then_some(!held) }
    }

    /// Whether the condition of a branch of opt holds, if LLVM proves that by the branches of base
    /// that were taken: whether it is the last one's condition, or its negation, where all are what
    /// they were.
    fn follows_from_base(&self, which: Version, branch: InstId, facts: &Facts) -> Option<bool> {
        let &last = facts.of_base.last().filter(|_| which == Version::Opt)?;
        let condition = *self.versions.of.opt.graph.operands(branch).first()?;
        self.follows_from(last, (branch, condition), facts)
    }

    /// The same for a comparison that a branch of opt decides by, among others, and any of these
    /// branches.
    fn compares_as_base(&self, at: At<'_>, operand: Operand, facts: &Facts) -> Option<bool> {
        (at.which == Version::Opt && !self.is_again(at)).then_some(())?;
        let is_comparison = |which: Version, operand: Operand| {
            let graph = self.versions.graph(which);
            let inst = graph.definition_of(operand);
            let boolean = inst.and_then(|inst| graph.nodes[inst].boolean);
            matches!(boolean, Some(Boolean::Comparison { .. }))
        };
        let branch = self.branch(at);
        let is_whole = self.versions.of.opt.graph.operands(branch).first() == Some(&operand);
        (!is_whole && is_comparison(Version::Opt, operand)).then_some(())?;
        facts.of_base.iter().find_map(|&of_base| {
            let condition = *self.versions.of.base.graph.operands(of_base.0).first()?;
            is_comparison(Version::Base, condition).then_some(())?;
            self.follows_from(of_base, (branch, operand), facts)
        })
    }

    /// Whether a condition that a branch of opt decides by holds, if LLVM proves that it is that of
    /// one of the branches of base that were taken, or its negation.
    fn follows_from(
        &self,
        (of_base, held): (InstId, bool),
        (branch, condition): (InstId, Operand),
        facts: &Facts,
    ) -> Option<bool> {
        let are_once = facts.of_base.iter().all(|&(branch, _)| facts.is_once(branch));
        (facts.of_base.len() <= MOST_CONDITIONS && are_once).then_some(())?;
        let mut terms = Terms::new(Into::Operations);
        let term = |terms: &mut Terms, which: Version, condition: Operand, branch: InstId| {
            let block = self.versions.graph(which).block(branch);
            self.term(terms, which, condition, block, terms::DEEPEST)
        };
        let term_of_base = |terms: &mut Terms, branch: InstId| {
            let condition = *self.versions.of.base.graph.operands(branch).first()?;
            term(terms, Version::Base, condition, branch)
        };
        let of_opt = term(&mut terms, Version::Opt, condition, branch)?;
        terms.roots = [term_of_base(&mut terms, of_base)?, of_opt];
        for &(branch, held) in &facts.of_base {
            let condition = term_of_base(&mut terms, branch)?;
            terms.conditions.push((condition, held));
        }
        // What branches above have said holds still: the way has not gone round.
        let &(first, _) = facts.of_base.first()?;
        let terms = self.with_conditions(terms, first);
        let is_select = |which: Version, inst: InstId| self.is_select(which, inst);
        let (looked_into, down_to) =
            terms.defined_with_conditions(is_select, |number| self.is_well_defined(number))?;
        let terms = self.with_own_leaves(&terms, &down_to)?;
        let negated =
            [false, true].into_iter().find(|&n| self.oracle.stands_for(&terms, n, None))?;
        self.look_into(branch, looked_into);
        Some(held != negated)
    }

    /// What is known if a version takes a successor.
    fn decide(&self, at: At<'_>, way: usize, facts: &mut Facts) {
        let graph = self.versions.graph(at.which);
        let inst = graph.terminator(at.block);
        let Some(&operand) = graph.operands(inst).first() else { return };
        if let Some(cases) = &graph.nodes[inst].cases {
            let origins = self.origins_of_cases(at, cases.bits, operand, facts);
            for (case, value) in cases.signed().enumerate() {
                if way == 0 || way == case + 1 {
                    self.suppose(&origins, (value, way != 0), facts, DEEPEST);
                }
            }
        } else if graph.nodes[inst].facts.is_conditional() {
            if at.which == Version::Base && !self.is_again(at) {
                facts.of_base.push((inst, way == 0));
            }
            self.imply(at, operand, way == 0, facts, DEEPEST);
        }
    }

    /// Adds that a condition holds, or does not, and what follows from that.
    fn imply(&self, at: At<'_>, operand: Operand, holds: bool, facts: &mut Facts, depth: usize) {
        // Of one that is known more may follow: another expression may have had its number.
        if self.holds(at, operand, facts, depth) == Some(!holds) {
            facts.contradicts = true;
            return;
        }
        let (operand, at) = self.there(at, operand, facts, depth);
        let number = self.number_at(at, operand);
        if number == UNKNOWN {
            return;
        }
        if self.is_as_before(at, operand) {
            let literal = self.congruence.literal(number);
            facts.add_atom(literal.atom.words(), holds != literal.negated);
        }
        let graph = self.versions.graph(at.which);
        let Operand::Value(value) = operand else { return };
        let Some(inst) = graph.definition(value) else { return };
        let node = &graph.nodes[inst];
        if let Some((origins, constant, is_equal)) = self.compared(at, inst, facts, depth) {
            self.suppose(&origins, (constant, is_equal == holds), facts, depth);
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
        let (operand, at) = self.there(at, operand, facts, depth);
        let holds = self.holds_there(at, operand, facts, depth);
        holds.or_else(|| self.compares_as_base(at, operand, facts))
    }

    fn holds_there(
        &self,
        at: At<'_>,
        operand: Operand,
        facts: &Facts,
        depth: usize,
    ) -> Option<bool> {
        let number = self.number_at(at, operand);
        if number == UNKNOWN {
            return None;
        }
        if let Some(constant) = self.integer_of(number) {
            return Some(constant != 0);
        }
        let literal = self.congruence.literal(number);
        let words = literal.atom.words();
        let known = facts.atoms.iter().find(|(atom, _)| *atom == words);
        if let Some(&(_, holds)) = known.filter(|_| self.is_as_before(at, operand)) {
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
        if let Some((origins, constant, is_equal)) = self.compared(at, inst, facts, depth) {
            return Some(self.is_constant(&origins, constant, facts, depth)? == is_equal);
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

    /// For `icmp eq` or `ne` with a constant on either side: what is compared, the constant, and
    /// whether the comparison holds where they are equal.
    fn compared<'w>(
        &self,
        at: At<'w>,
        inst: InstId,
        facts: &Facts,
        depth: usize,
    ) -> Option<(Vec<Origin<'w>>, i64, bool)> {
        let graph = self.versions.graph(at.which);
        let of_inst = graph.nodes[inst].facts;
        (of_inst.is_equal() || of_inst.is_differ()).then_some(())?;
        let [first, second] = *graph.operands(inst) else { return None };
        let depth = depth.saturating_sub(1);
        let integer = |o: Operand| self.integer_of(self.number_on(at, o, facts, depth));
        let of_second = integer(second).map(|constant| (first, constant));
        let (value, constant) = of_second.or_else(|| Some((second, integer(first)?)))?;
        let origins = self.origins(at, value, facts, depth);
        let is_known = |origin: &Origin<'_>| {
            let constant = self.congruence.constant(origin.number);
            constant.is_none_or(|c| self.oracle.integer(c).is_some())
        };
        (!origins.is_empty() && origins.iter().all(is_known))
            .then(|| (origins, constant, of_inst.is_equal()))
    }

    /// The number of a value there, and those of what it is made of one to one: it is a constant
    /// just if each of them is the constant that it is made of. (A comparison of what is extended
    /// becomes one of what that is made of, and then a case of a switch.)
    fn origins<'w>(
        &self,
        mut at: At<'w>,
        mut operand: Operand,
        facts: &Facts,
        depth: usize,
    ) -> Vec<Origin<'w>> {
        let graph = self.versions.graph(at.which);
        let mut origins = Vec::new();
        let mut steps = Vec::new();
        for _ in 0..=depth {
            (operand, at) = self.there(at, operand, facts, depth);
            let number = self.number_at(at, operand);
            if number == UNKNOWN {
                break;
            }
            let is_condition =
                matches!(steps.last(), Some(OneToOne::Extended(Extends { bits: 1, .. })));
            let condition = Some((operand, at)).filter(|_| is_condition);
            let is_again = !self.is_as_before(at, operand);
            origins.push(Origin { number, is_again, condition, steps: steps.clone() });
            let Operand::Value(value) = operand else { break };
            let Some(inst) = graph.definition(value) else { break };
            let node = &graph.nodes[inst];
            let place = if let Some(extends) = node.extends {
                steps.push(OneToOne::Extended(extends));
                0
            } else if let Some(linear) = &node.linear
                && let Some((place, _)) = linear.before(0)
            {
                steps.push(OneToOne::Added(linear.clone()));
                place
            } else {
                break;
            };
            operand = graph.operands(inst)[place];
            if at.which == Version::Opt {
                self.look_into(self.branch(at), vec![(Version::Opt, inst)]);
            }
        }
        origins
    }

    /// The same for what a switch of some bits decides by, and what branches of base that were
    /// taken have compared, if that is proved to be the same, extended. (A comparison of what is
    /// extended and masked becomes a case of what is masked alone.)
    fn origins_of_cases<'w>(
        &self,
        at: At<'w>,
        bits: u32,
        operand: Operand,
        facts: &Facts,
    ) -> Vec<Origin<'w>> {
        let mut origins = self.origins(at, operand, facts, DEEPEST);
        if at.which == Version::Opt {
            let graph = self.versions.graph(Version::Base);
            let compared = facts.of_base.iter().filter(|(branch, _)| facts.is_once(*branch));
            let compared = compared.filter_map(|&(branch, _)| {
                let inst = graph.definition_of(*graph.operands(branch).first()?)?;
                let of_inst = graph.nodes[inst].facts;
                (of_inst.is_equal() || of_inst.is_differ()).then_some(())?;
                Some((*graph.operands(inst).first()?, graph.block(branch)))
            });
            let mut seen: Vec<Number> = origins.iter().map(|origin| origin.number).collect();
            for (wide, block) in compared {
                let number = self.congruence.at(self.versions, Version::Base, wide, block);
                if number != UNKNOWN && !seen.contains(&number) {
                    seen.push(number);
                    let wide = Numbered { which: Version::Base, operand: wide, number };
                    origins.extend(self.extended_to(at, (operand, bits), wide));
                }
            }
        }
        origins
    }

    /// A value of base, if it is proved to be what opt decides by, of so many bits, extended.
    fn extended_to(
        &self,
        at: At<'_>,
        (narrow, bits): (Operand, u32),
        wide: Numbered,
    ) -> Option<Origin<'static>> {
        let graph = self.versions.graph(Version::Base);
        let of_wide = graph.nodes[graph.definition_of(wide.operand)?].bits?;
        self.is_as_before(at, narrow).then_some(())?;
        let number = self.number_at(at, narrow);
        let narrow = Numbered { which: at.which, operand: narrow, number };
        let ways: &[Option<bool>] = match of_wide.cmp(&bits) {
            Ordering::Less => &[],
            Ordering::Equal => &[None],
            Ordering::Greater => &[Some(false), Some(true)],
        };
        let mut ways = ways.iter();
        let (looked_into, signed) =
            ways.find_map(|&signed| Some((self.is_extended(wide, narrow, signed)?, signed)))?;
        self.look_into(self.branch(at), looked_into);
        let step = signed.map(|signed| OneToOne::ExtendedTo(Extends { bits, signed }));
        let steps = step.into_iter().collect();
        Some(Origin { number: wide.number, is_again: false, condition: None, steps })
    }

    fn branch(&self, at: At<'_>) -> InstId {
        self.versions.graph(at.which).terminator(at.block)
    }

    /// Notes what was looked into for a branch of opt.
    fn look_into(&self, branch: InstId, looked_into: LookedInto) {
        self.looked_into_on_ways.borrow_mut().push((branch, looked_into));
    }

    /// Whether the first of these is a constant, if that is known.
    fn is_constant(
        &self,
        origins: &[Origin<'_>],
        constant: i64,
        facts: &Facts,
        depth: usize,
    ) -> Option<bool> {
        origins.iter().find_map(|origin| {
            let Some(constant) = origin.constant(constant) else { return Some(false) };
            if let Some((condition, at)) = origin.condition.filter(|_| depth > 0) {
                return Some(self.holds(at, condition, facts, depth - 1)? == (constant != 0));
            }
            match self.integer_of(origin.number) {
                Some(integer) => Some(integer == constant),
                None if origin.is_again => None,
                None => facts.is_equal(origin.number, constant),
            }
        })
    }

    /// Adds that the first of these is a constant, or is not.
    fn suppose(
        &self,
        origins: &[Origin<'_>],
        (constant, holds): (i64, bool),
        facts: &mut Facts,
        depth: usize,
    ) {
        for origin in origins {
            match (origin.constant(constant), origin.condition) {
                (Some(constant), Some((condition, at))) if depth > 0 => {
                    self.imply(at, condition, (constant != 0) == holds, facts, depth - 1);
                }
                (Some(_), _) if origin.is_again => {}
                (Some(constant), _) => facts.add_equal(origin.number, constant, holds),
                (None, _) => facts.contradicts |= holds,
            }
        }
    }

    fn integer_of(&self, number: Number) -> Option<i64> {
        self.congruence.constant(number).and_then(|constant| self.oracle.integer(constant))
    }

    /// True if the way leads over the head of a loop that it begins in.
    fn is_again(&self, at: At<'_>) -> bool {
        at.computed_again(&self.versions.of[at.which].scopes).next().is_some()
    }

    /// True unless an operand may be computed again on the way, or made of what is: facts that were
    /// known before are of what it was.
    fn is_as_before(&self, at: At<'_>, operand: Operand) -> bool {
        let version = &self.versions.of[at.which];
        let Some(inst) = version.graph.definition_of(operand) else { return true };
        let block = version.graph.block(inst);
        let mut again = at.computed_again(&version.scopes);
        !again.any(|head| version.scopes.dominates(head, block))
    }

    /// True if what is asked for is computed behind the way only, and the way does not say what it
    /// will be: its number may be what is to be proved.
    fn is_open(&self, at: At<'_>, operand: Operand, asked: Operand) -> bool {
        let version = &self.versions.of[at.which];
        let is_ahead = |i: InstId| !version.scopes.dominates(version.graph.block(i), at.block);
        operand == asked && version.graph.definition_of(operand).is_some_and(is_ahead)
    }

    /// The integer constant that an operand is there, if that is known: also what a condition that
    /// is known to hold, or not to hold, is extended to.
    fn integer_on(&self, at: At<'_>, asked: Operand, facts: &Facts, depth: usize) -> Option<i64> {
        let (operand, at) = self.there(at, asked, facts, depth);
        let number = self.number_at(at, operand);
        let of_facts = || self.is_as_before(at, operand).then(|| facts.constant(number))?;
        let known = || self.integer_of(number).or_else(of_facts);
        if let Some(constant) = (!self.is_open(at, operand, asked)).then(known).flatten() {
            return Some(constant);
        }
        let depth = depth.checked_sub(1)?;
        let graph = self.versions.graph(at.which);
        let inst = graph.definition_of(operand)?;
        let extends = graph.nodes[inst].extends?;
        if at.which == Version::Opt {
            self.look_into(self.branch(at), vec![(Version::Opt, inst)]);
        }
        let narrow = graph.operands(inst)[0];
        match extends.bits {
            1 => self.holds(at, narrow, facts, depth).map(|holds| extends.after(-i64::from(holds))),
            _ => self.integer_on(at, narrow, facts, depth).map(|narrow| extends.after(narrow)),
        }
    }

    /// The number of an operand there, as it stands: if that is a phi on the walk, of the phi.
    fn number_at(&self, at: At<'_>, operand: Operand) -> Number {
        self.congruence.at(self.versions, at.which, operand, at.block)
    }

    /// The number of what an operand is there.
    fn number_on(&self, at: At<'_>, operand: Operand, facts: &Facts, depth: usize) -> Number {
        let (operand, at) = self.there(at, operand, facts, depth);
        self.number_at(at, operand)
    }

    /// What an operand is there: a phi of a block on the walk is what came in, and a select what
    /// its condition chooses. With where that is looked at: what came in at a phi is what it was
    /// before, though the walk may lead over where it is computed again.
    fn there<'w>(
        &self,
        mut at: At<'w>,
        mut operand: Operand,
        facts: &Facts,
        depth: usize,
    ) -> (Operand, At<'w>) {
        let graph = self.versions.graph(at.which);
        for _ in 0..depth {
            let Operand::Value(value) = operand else { break };
            let Some(inst) = graph.definition(value) else { break };
            let node = &graph.nodes[inst];
            if node.facts.is_phi() {
                let entered = at.walk.iter().rposition(|&(_, to)| to == graph.block(inst));
                let Some(entered) = entered else { break };
                let (block, _) = at.walk[entered];
                let Some(incoming) = graph.incoming(inst, block) else { break };
                (operand, at) = (incoming, At { block, walk: &at.walk[..entered], ..at });
            } else if let [condition, yes, no] = *graph.operands(inst)
                && node.facts.is_select()
            {
                match self.holds(at, condition, facts, depth - 1) {
                    Some(holds) => operand = if holds { yes } else { no },
                    None => break,
                }
            } else {
                break;
            }
        }
        (operand, at)
    }
}

impl Facts {
    /// True if a branch of base was not taken twice: else it is not known which time this is.
    fn is_once(&self, branch: InstId) -> bool {
        self.of_base.iter().filter(|&&(other, _)| other == branch).count() == 1
    }

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
