//! Which values of two versions are the same: congruence over the union of both.
//!
//! Two values are congruent if they are the same operation on congruent operands; phis of matched
//! chains, if on each edge that both versions take together congruent values come in. B. Alpern,
//! M. N. Wegman, F. K. Zadeck: Detecting Equality of Variables in Programs, POPL 1988; computed by
//! hashing in rounds over reverse postorder, optimistically, as in L. T. Simpson: Value-Driven
//! Redundancy Elimination, Rice University 1996, ch. 4 (the RPO algorithm). A fixpoint is its own
//! proof: every number follows from the numbers of the operands by one of the rules of
//! [`Round::number`].
//!
//! What a number promises: at points of both versions that are reached at the same time, values of
//! the same number that dominate their points are equal. A load depends on the address and on what
//! may have written there last (MemorySSA), and anchors are the same just if they are matched.
//! Where a branch says that a value is a constant, all values with its number are that constant.
//!
//! Values of a cycle that came apart while the rest was not settled would never come together again.
//! So tracking is taken at its word for the phis at the heads of pairs, and for the states of memory
//! that meet there, until the rules refute it ([`Guesses`]); new phis of opt for what base has in memory
//! there ([`super::contents`]).

use crate::body::BlockId;
use crate::code::{InstId, ValueId};
use crate::depth_first::postorder;
use crate::osr::map::contents::{AtHead, Content, Contents};
use crate::osr::map::graph::{Access, BASE, ConstId, Linear, OPT, Operand, Oracle, Which};
use crate::osr::map::matching::{Matching, PairId, Versions, Walk};
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeMap;

/// Number of a value: equal for congruent ones.
pub type Number = u32;

/// Nothing is known yet.
pub(super) const UNKNOWN: Number = 0;

/// There are less constants than this.
const MOST_CONSTANTS: usize = 1 << 24;

/// Rounds until each value is given a number of its own instead.
const MOST_ROUNDS: usize = 200;

/// The numbers of all values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Congruence {
    /// For each version and value its number
    pub of: [Vec<Number>; 2],
    /// For each version and number the values with it that are constants somewhere
    known: [HashMap<Number, Vec<ValueId>>; 2],
    layout: Layout,
    /// What places have
    pub(super) contents: Contents,
    /// For each version and block the number of the state of memory that meets there
    pub(super) memory: [Vec<Number>; 2],
    partners: Vec<Option<InstId>>,
}

/// How numbers are shared out: constants, arguments, memory, then each value's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Layout {
    constants: u32,
    arguments: u32,
    values: [u32; 2],
    defs: [u32; 2],
    phis: [u32; 2],
    contents: u32,
}

impl Layout {
    fn new(versions: &Versions) -> Self {
        let mut next = 1;
        let mut take = |count: usize| {
            let first = next;
            next += u32::try_from(count).unwrap_or(u32::MAX / 16);
            first
        };
        let count = |w: Which| versions.graph(w).nodes.len();
        let blocks = |w: Which| versions.graph(w).blocks.len();
        Layout {
            constants: take(MOST_CONSTANTS),
            arguments: take(versions.graph(BASE).arguments),
            values: [take(count(BASE)), take(count(OPT))],
            // The state that the caller leaves is behind the last block.
            defs: [take(count(BASE)), take(count(OPT))],
            phis: [take(blocks(BASE)), take(blocks(OPT) + 1)],
            contents: take(0),
        }
    }

    fn entry(&self, versions: &Versions) -> Number {
        self.phis[OPT] + versions.graph(OPT).blocks.len() as u32
    }
}

impl Congruence {
    /// The constant that a number stands for.
    pub fn constant(&self, number: Number) -> Option<ConstId> {
        (self.layout.constants..self.layout.arguments)
            .contains(&number)
            .then(|| number - self.layout.constants)
    }

    /// The number of an operand.
    pub fn number(&self, which: Which, operand: Operand) -> Number {
        match operand {
            Operand::Constant(constant) => self.layout.constants + constant,
            Operand::Value(value) => self.of[which][value],
        }
    }

    /// The number of an operand, as it is used in a block: what a branch before it said of the value,
    /// or of one congruent with it, is known there.
    pub fn at(
        &self,
        versions: &Versions,
        which: Which,
        operand: Operand,
        block: BlockId,
    ) -> Number {
        self.known(which, operand, |value| versions.of[which].scopes.at(value, block))
    }

    /// The number of an operand, as it comes over an edge.
    pub fn on_edge(
        &self,
        versions: &Versions,
        which: Which,
        operand: Operand,
        (from, to): (BlockId, BlockId),
    ) -> Number {
        self.known(which, operand, |value| versions.of[which].scopes.on_edge(value, from, to))
    }

    fn known(
        &self,
        which: Which,
        operand: Operand,
        constant: impl FnMut(ValueId) -> Option<ConstId>,
    ) -> Number {
        let number = self.number(which, operand);
        let Operand::Value(value) = operand else { return number };
        if self.constant(number).is_some() {
            return number;
        }
        let same = self.known[which].get(&number).into_iter().flatten().copied();
        let known = std::iter::once(value).chain(same).find_map(constant);
        known.map_or(number, |constant| self.number(which, Operand::Constant(constant)))
    }

    /// Gives a value another number; true if it is another.
    pub(super) fn set(
        &mut self,
        versions: &Versions,
        which: Which,
        value: ValueId,
        number: Number,
    ) -> bool {
        let old = std::mem::replace(&mut self.of[which][value], number);
        if old != number && versions.of[which].scopes.has(value) {
            if let Some(same) = self.known[which].get_mut(&old) {
                same.retain(|&v| v != value);
            }
            self.known[which].entry(number).or_default().push(value);
        }
        old != number
    }

    fn partner(&self, which: Which, inst: InstId) -> Option<InstId> {
        if which == OPT { self.partners[inst] } else { None }
    }

    /// The number of a state of memory. What lone stores write is left out.
    pub(super) fn access(&self, versions: &Versions, which: Which, access: Access) -> Number {
        let layout = &self.layout;
        let mut access = access;
        while let Access::Def(inst) = access
            && let Some(before) = versions.graph(which).nodes[inst].lone
        {
            access = before;
        }
        match access {
            Access::Entry => layout.entry(versions),
            Access::Phi(block) => self.memory[which][block],
            Access::Def(inst) => match self.partner(which, inst) {
                Some(partner) => layout.defs[BASE] + partner as u32,
                None => layout.defs[which] + inst as u32,
            },
        }
    }

    /// The number of what the place has that a load or store accesses, where `access` may have written
    /// to it last; none if that is not known.
    pub fn content(
        &self,
        versions: &Versions,
        which: Which,
        place_of: InstId,
        access: Access,
    ) -> Option<Number> {
        self.content_of(versions, &Content::new(versions, self, which, place_of)?, access)
    }

    pub(super) fn content_of(
        &self,
        versions: &Versions,
        place: &Content,
        access: Access,
    ) -> Option<Number> {
        match place.stored(versions, self, access) {
            Some(stored) => stored,
            None => match access {
                Access::Phi(block) => self.contents.at(place, block),
                _ => self.contents.known(place, self.access(versions, place.which, access)),
            },
        }
    }

    /// True if two instructions are the same operation on congruent operands.
    pub fn are_alike(&self, versions: &Versions, insts: [InstId; 2]) -> bool {
        let [a, b] = [BASE, OPT].map(|w| &versions.graph(w).nodes[insts[w]]);
        a.operation == b.operation && self.have_same_operands(versions, insts)
    }

    /// True if the operands of two instructions are congruent.
    pub fn have_same_operands(&self, versions: &Versions, insts: [InstId; 2]) -> bool {
        let [a, b] = [BASE, OPT].map(|w| &versions.graph(w).nodes[insts[w]]);
        let mut pairs = a.operands.iter().zip(&b.operands).map(|(&x, &y)| {
            (self.at(versions, BASE, x, a.block), self.at(versions, OPT, y, b.block))
        });
        a.operands.len() == b.operands.len() && pairs.all(|(x, y)| x == y)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Key {
    /// An operation on numbers; the last one is that of memory, if it reads it.
    Operation(u32, Vec<Number>),
    /// A phi of a pair, by its edges
    Together(PairId, Vec<Number>),
    /// A phi of a block of one version
    Alone(Which, BlockId, Vec<Number>),
    /// States of memory that meet
    Memory(PairId, Vec<Number>),
    MemoryAlone(Which, BlockId, Vec<Number>),
    /// The exception of the landing pads of a pair
    Pad(Number),
    /// A sum of a type
    Sum(u32, Form),
    /// Of a type: if the first number holds, the second one, else the third one (see [`super::gates`])
    Choice(u32, [Number; 3]),
}

/// A sum of multiples of numbers and a constant.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(super) struct Form {
    constant: i64,
    terms: BTreeMap<Number, i64>,
    /// Bits of the type
    bits: u32,
}

impl Form {
    /// The factor, modulo the size of the type.
    fn wrap(&self, value: i64) -> i64 {
        let unused = 64 - self.bits.clamp(1, 64);
        value.wrapping_shl(unused).wrapping_shr(unused)
    }

    fn add(&mut self, number: Number, factor: i64) {
        let known = self.terms.remove(&number).unwrap_or_default();
        let sum = self.wrap(known.wrapping_add(factor));
        if sum != 0 {
            self.terms.insert(number, sum);
        }
    }
}

/// Longer sums are not looked through.
const MOST_TERMS: usize = 12;

/// Numbers the values of two versions under a matching.
pub fn congruence(versions: &Versions, matching: &Matching, oracle: &dyn Oracle) -> Congruence {
    let layout = Layout::new(versions);
    let mut congruence = Congruence {
        of: [BASE, OPT].map(|w| vec![UNKNOWN; versions.graph(w).num_values()]),
        known: [HashMap::default(), HashMap::default()],
        layout,
        contents: Contents::new(versions, layout.contents),
        memory: [BASE, OPT].map(|w| vec![UNKNOWN; versions.graph(w).blocks.len()]),
        partners: partners(versions, matching),
    };
    for which in [BASE, OPT] {
        for argument in 0..versions.graph(which).arguments {
            let number = layout.arguments + argument as u32;
            congruence.set(versions, which, argument, number);
        }
    }
    let orders = [BASE, OPT].map(|w| {
        let version = &versions.of[w];
        let mut order = postorder(&version.live.successors);
        order.reverse();
        order
    });
    let mut round = Round {
        versions,
        matching,
        oracle,
        congruence,
        table: [HashMap::default(), HashMap::default()],
        leaders: [HashMap::default(), HashMap::default()],
        forms: [HashMap::default(), HashMap::default()],
        guesses: guesses(versions, matching),
        refuted: Vec::new(),
    };
    if versions.has_lone {
        round.prepare_contents();
    }
    let settled = [BASE, OPT].into_iter().all(|w| round.settle(w, &orders[w]));
    let mut congruence = round.congruence;
    if settled {
        return congruence;
    }
    // Nothing is proved: each value is equal to itself alone.
    congruence.contents = Contents::default();
    for which in [BASE, OPT] {
        for inst in 0..versions.graph(which).nodes.len() {
            let value = versions.graph(which).result(inst);
            congruence.set(versions, which, value, layout.values[which] + inst as u32);
        }
    }
    congruence
}

/// For each instruction of opt that runs once for each time that one of base does, that one: matched
/// anchors, and what is tied to the time it ran, in the same segment of a pair.
fn partners(versions: &Versions, matching: &Matching) -> Vec<Option<InstId>> {
    let [base, opt] = &versions.of;
    let mut result = vec![None; opt.graph.nodes.len()];
    for pair in &matching.pairs {
        let [a, b] = [BASE, OPT].map(|w| &versions.of[w].chains.chains[pair.chains[w]].anchors);
        for (&a, &b) in a.iter().zip(b).take(pair.prefix) {
            result[b] = Some(a);
        }
    }
    for (inst, node) in opt.graph.nodes.iter().enumerate().filter(|(_, n)| n.facts.is_pinned()) {
        let Some(origin) = versions.tracked.origin[inst] else { continue };
        let chains = (base.chains.of_inst(&base.graph, origin), opt.chains.of_block[node.block]);
        let (Some(a), Some(b)) = chains else { continue };
        let together = matching.of_chain[OPT][b].filter(|&p| matching.pairs[p].chains[BASE] == a);
        let segments = (base.chains.segment[origin], opt.chains.segment[inst]);
        if together.is_some_and(|p| segments.0 <= matching.pairs[p].prefix)
            && segments.0 == segments.1
            && !node.facts.is_anchor()
        {
            result[inst] = Some(origin);
        }
    }
    result
}

/// What is taken to be the same until it is refuted: values of a cycle that came apart while the rest
/// was not settled would never come together by themselves.
pub(super) struct Guesses {
    /// For each instruction of opt the phi of base that it is, as tracking says
    pub(super) phis: Vec<Option<InstId>>,
    /// For phis of opt that are new what they may have: what base has in memory there
    /// (see [`super::contents`]). The last one is the guess.
    pub(super) contents: HashMap<InstId, Vec<AtHead>>,
    /// For places at heads of blocks of opt the same place of base
    pub(super) places: HashMap<AtHead, AtHead>,
    /// For each block of opt the block of base at whose head the same states of memory meet
    memory: Vec<Option<BlockId>>,
}

/// One of them, by the side of opt.
#[derive(Clone, Copy)]
pub(super) enum Guess {
    Phi(InstId),
    Memory(BlockId),
    Place(AtHead),
}

/// All that may be guessed: at the entries of pairs.
fn guesses(versions: &Versions, matching: &Matching) -> Guesses {
    let opt = versions.graph(OPT);
    let mut guesses = Guesses {
        phis: vec![None; opt.nodes.len()],
        contents: HashMap::default(),
        places: HashMap::default(),
        memory: vec![None; opt.blocks.len()],
    };
    let tracked = &versions.tracked;
    for (id, pair) in matching.pairs.iter().enumerate() {
        for base in matching.entry_phis(versions, BASE, id) {
            let Some(phi) = tracked.kept[base].or(tracked.replaced[base]) else { continue };
            if opt.nodes[phi].facts.is_phi() && pair.entries[OPT].contains(&opt.nodes[phi].block) {
                guesses.phis[phi] = Some(base);
            }
        }
        let [base, opt] = [BASE, OPT].map(|w| {
            let blocks = pair.entries[w].iter().copied();
            blocks.filter(move |&b| versions.graph(w).blocks[b].memory_phi.is_some())
        });
        opt.zip(base).for_each(|(opt, base)| guesses.memory[opt] = Some(base));
    }
    guesses
}

pub(super) struct Round<'a> {
    pub(super) versions: &'a Versions,
    pub(super) matching: &'a Matching,
    pub(super) oracle: &'a dyn Oracle,
    pub(super) congruence: Congruence,
    /// For each version its keys
    table: [HashMap<Key, Number>; 2],
    /// For each version and number a value that is above the others with it
    leaders: [HashMap<Number, ValueId>; 2],
    /// For each version and number of a sum what it adds up
    forms: [HashMap<Number, Form>; 2],
    pub(super) guesses: Guesses,
    /// Those that did not hold in this round
    refuted: Vec<Guess>,
}

impl Round<'_> {
    /// Numbers a version; false if that was given up. Nothing of base depends on opt.
    fn settle(&mut self, which: Which, order: &[BlockId]) -> bool {
        if self.versions.has_lone {
            self.run(which, order);
            self.begin_again(which);
        }
        (0..MOST_ROUNDS).any(|_| !self.run(which, order) && !self.drop_refuted())
    }

    /// True if a number changed.
    fn run(&mut self, which: Which, order: &[BlockId]) -> bool {
        self.table[which].clear();
        self.forms[which].clear();
        self.refuted.clear();
        let versions = self.versions;
        let graph = versions.graph(which);
        self.leaders[which].clear();
        for argument in 0..graph.arguments {
            self.leaders[which].insert(self.congruence.of[which][argument], argument);
        }
        let mut changed = false;
        for &block in order {
            if let Some(number) = self.memory_phi(which, block) {
                let number = self.guessed(which, Guess::Memory(block), number);
                let place = &mut self.congruence.memory[which][block];
                changed |= std::mem::replace(place, number) != number;
            }
            changed |= self.contents_at(which, block);
            for inst in graph.blocks[block].nodes.clone().filter(|&i| graph.nodes[i].has_result) {
                let number = self.number(which, inst);
                let number = self.guessed(which, Guess::Phi(inst), number);
                let value = graph.result(inst);
                changed |= self.congruence.set(versions, which, value, number);
                self.leaders[which].entry(number).or_insert(value);
            }
        }
        changed
    }

    /// The number that is guessed, if there is one; else what it was found to be.
    pub(super) fn guessed(&mut self, which: Which, guess: Guess, found: Number) -> Number {
        let guessed = match guess {
            _ if which == BASE => None,
            Guess::Phi(phi) => match self.guesses.phis[phi] {
                Some(base) => {
                    Some(self.congruence.of[BASE][self.versions.graph(BASE).result(base)])
                }
                None => {
                    let place = self.guesses.contents.get(&phi).and_then(|places| places.last());
                    place.and_then(|place| self.congruence.contents.number(place))
                }
            },
            Guess::Memory(block) => {
                self.guesses.memory[block].map(|b| self.congruence.memory[BASE][b])
            }
            Guess::Place(place) => {
                let base = self.guesses.places.get(&place);
                base.and_then(|base| self.congruence.contents.number(base))
            }
        };
        if guessed.is_some_and(|number| number != found) {
            self.refuted.push(guess);
        }
        guessed.unwrap_or(found)
    }

    /// Drops the guesses that do not follow from the others, and forgets what was built on them; true
    /// if there were any.
    fn drop_refuted(&mut self) -> bool {
        for guess in &self.refuted {
            match *guess {
                Guess::Phi(phi) => {
                    if self.guesses.phis[phi].take().is_none()
                        && let Some(places) = self.guesses.contents.get_mut(&phi)
                    {
                        places.pop();
                    }
                }
                Guess::Place(place) => {
                    self.guesses.places.remove(&place);
                }
                Guess::Memory(block) => self.guesses.memory[block] = None,
            }
        }
        if self.refuted.is_empty() {
            return false;
        }
        self.forget(OPT);
        true
    }

    /// Forgets all numbers of a version but those of its arguments.
    pub(super) fn forget(&mut self, which: Which) {
        let graph = self.versions.graph(which);
        for inst in 0..graph.nodes.len() {
            self.congruence.set(self.versions, which, graph.result(inst), UNKNOWN);
        }
        self.congruence.memory[which].fill(UNKNOWN);
        self.congruence.contents.forget(which);
    }

    /// The number of a key of a version; a new key has that of its first holder.
    pub(super) fn holder(&mut self, which: Which, key: Key, own: Number) -> Number {
        let of_base = if which == OPT { self.table[BASE].get(&key) } else { None };
        match of_base {
            Some(&number) => number,
            None => *self.table[which].entry(key).or_insert(own),
        }
    }

    /// The number of what has two keys: that of the first holder of either.
    fn holder_of(&mut self, which: Which, keys: [Key; 2], own: Number) -> Number {
        let known = |key: &Key| {
            let of_base = self.table[BASE].get(key).filter(|_| which == OPT);
            of_base.or_else(|| self.table[which].get(key)).copied()
        };
        let number = keys.iter().find_map(known).unwrap_or(own);
        for key in keys {
            self.table[which].entry(key).or_insert(number);
        }
        number
    }

    fn number(&mut self, which: Which, inst: InstId) -> Number {
        let versions = self.versions;
        let graph = versions.graph(which);
        let node = &graph.nodes[inst];
        let own = self.congruence.layout.values[which] + inst as u32;
        if let Some(constant) = node.constant {
            return self.congruence.layout.constants + constant;
        }
        if node.facts.is_phi() {
            return self.phi(which, inst, own);
        }
        if let Some(copied) = node.copied {
            return self.congruence.number(which, copied);
        }
        let is_pad = node.facts.is_landing_pad() && versions.own_selectors;
        if node.facts.is_own() || node.facts.is_marker() || is_pad {
            return own;
        }
        if node.facts.is_anchor() || node.facts.is_pinned() {
            return self.pinned(which, inst, own);
        }
        if node.facts.is_pad_pointer()
            && let Some(&Operand::Value(pad)) = node.operands.first()
            && let Some(pad) = graph.definition(pad)
        {
            let pad_own = self.congruence.layout.values[which] + pad as u32;
            let pair = self.pinned(which, pad, pad_own);
            return self.holder(which, Key::Pad(pair), own);
        }
        let number = |&operand: &Operand| self.congruence.at(versions, which, operand, node.block);
        let mut numbers: Vec<Number> = node.operands.iter().map(number).collect();
        if let Some(simple) = self.simplified(which, inst, &numbers) {
            return simple;
        }
        if let Some(linear) = &node.linear {
            return self.sum(which, node.data_type, linear, &numbers, own);
        }
        if node.facts.is_commutative() && numbers.len() >= 2 && numbers[0] > numbers[1] {
            numbers.swap(0, 1);
        }
        if let Some(clobber) = node.clobber {
            if node.facts.is_load()
                && let Some(stored) = self.stored(which, inst, clobber)
            {
                return stored;
            }
            if versions.has_lone {
                if node.facts.is_load()
                    && let Some(content) = self.content(which, inst, clobber)
                {
                    return content;
                }
                if node.reads_lone {
                    return own;
                }
            }
            numbers.push(self.congruence.access(versions, which, clobber));
        }
        if let (true, [condition, holds, fails]) = (node.facts.is_select(), &numbers[..]) {
            let key = Key::Choice(node.data_type, [*condition, *holds, *fails]);
            return self.holder(which, key, own);
        }
        let operation = node.as_unsigned.unwrap_or(node.operation);
        self.holder(which, Key::Operation(operation, numbers), own)
    }

    /// The number of a sum: sums of sums are one sum, in whatever order (LICM and `reassociate`
    /// change that).
    fn sum(
        &mut self,
        which: Which,
        data_type: u32,
        linear: &Linear,
        numbers: &[Number],
        own: Number,
    ) -> Number {
        let mut form =
            Form { constant: linear.constant, terms: BTreeMap::new(), bits: linear.bits };
        for &(place, factor) in &linear.terms {
            let number = numbers[place];
            let constant = self.congruence.constant(number).and_then(|c| self.oracle.integer(c));
            if let Some(constant) = constant {
                form.constant = form.constant.wrapping_add(constant.wrapping_mul(factor));
                continue;
            }
            match self.form(which, number) {
                // An index of less bits is extended, so that its sum may have wrapped before.
                Some(inner) if inner.bits == form.bits && inner.terms.len() <= MOST_TERMS => {
                    form.constant = form.constant.wrapping_add(inner.constant.wrapping_mul(factor));
                    let terms: Vec<_> = inner.terms.iter().map(|(&n, &f)| (n, f)).collect();
                    for (number, inner_factor) in terms {
                        form.add(number, inner_factor.wrapping_mul(factor));
                    }
                }
                _ => form.add(number, factor),
            }
        }
        form.constant = form.wrap(form.constant);
        if form.constant == 0
            && let Some((&number, &1)) = form.terms.first_key_value()
            && form.terms.len() == 1
        {
            return number;
        }
        let number = self.holder(which, Key::Sum(data_type, form.clone()), own);
        self.forms[which].insert(number, form);
        number
    }

    fn form(&self, which: Which, number: Number) -> Option<&Form> {
        self.forms[which].get(&number).or_else(|| self.forms[BASE].get(&number))
    }

    /// The number of what LLVM knows an operation to be equal to, given what its operands are equal
    /// to.
    fn simplified(&self, which: Which, inst: InstId, numbers: &[Number]) -> Option<Number> {
        let node = &self.versions.graph(which).nodes[inst];
        if !(node.facts.is_repeatable() || node.facts.is_load()) || numbers.contains(&UNKNOWN) {
            return None;
        }
        let leader = |(&operand, number): (&Operand, &Number)| match operand {
            Operand::Constant(_) => operand,
            Operand::Value(_) => match self.congruence.constant(*number) {
                Some(constant) => Operand::Constant(constant),
                None => self.leaders[which].get(number).map_or(operand, |&v| Operand::Value(v)),
            },
        };
        let operands: Vec<Operand> = node.operands.iter().zip(numbers).map(leader).collect();
        let equal = self.oracle.simplify(which, inst, &operands)?;
        Some(self.congruence.number(which, equal)).filter(|&number| number != UNKNOWN)
    }

    /// The number of an instruction that is tied to the time it ran.
    fn pinned(&self, which: Which, inst: InstId, own: Number) -> Number {
        let Some(partner) = self.partner(which, inst) else { return own };
        // Matched anchors are checked with the matching.
        let is_anchor = self.versions.graph(which).nodes[inst].facts.is_anchor();
        if is_anchor || self.congruence.are_alike(self.versions, [partner, inst]) {
            self.congruence.layout.values[BASE] + partner as u32
        } else {
            own
        }
    }

    fn partner(&self, which: Which, inst: InstId) -> Option<InstId> {
        self.congruence.partner(which, inst)
    }

    /// What a load gives that reads just what a store wrote.
    fn stored(&self, which: Which, load: InstId, clobber: Access) -> Option<Number> {
        let graph = self.versions.graph(which);
        let Access::Def(store) = clobber else { return None };
        let node = &graph.nodes[store];
        let [value, pointer] = node.operands[..] else { return None };
        let same_place = self.congruence.number(which, pointer)
            == self.congruence.number(which, graph.nodes[load].operands[0]);
        (node.facts.is_store() && same_place && graph.nodes[load].data_type == node.data_type)
            .then(|| self.congruence.number(which, value))
    }

    /// The pair that has a block among its entries.
    fn pair_at(&self, which: Which, block: BlockId) -> Option<PairId> {
        self.matching
            .entered(self.versions, which, block)
            .filter(|&p| !self.matching.pairs[p].incoming.is_empty())
    }

    fn phi(&mut self, which: Which, inst: InstId, own: Number) -> Number {
        let block = self.versions.graph(which).nodes[inst].block;
        let plain =
            self.live_incoming(which, inst, |operand, _| self.congruence.number(which, operand));
        let incoming = self.live_incoming(which, inst, |operand, edge| {
            self.congruence.on_edge(self.versions, which, operand, edge)
        });
        // What comes in everywhere is the same still where an edge says what it is.
        if let Some(copied) = copied(&plain, own).or_else(|| copied(&incoming, own)) {
            return copied;
        }
        let numbers = self.over_edges(which, block, |round, walk| {
            let congruence = &round.congruence;
            let operand = value_over(round.versions, congruence, which, inst, walk)?;
            Some(congruence.number(which, operand))
        });
        let key = match numbers {
            Some((pair, numbers)) => Key::Together(pair, numbers),
            None => Key::Alone(which, block, incoming),
        };
        match self.choice(which, inst) {
            Some(choice) => self.holder_of(which, [key, choice], own),
            None => self.holder(which, key, own),
        }
    }

    /// A phi as the choice of a branch.
    fn choice(&self, which: Which, phi: InstId) -> Option<Key> {
        let version = &self.versions.of[which];
        let node = &version.graph.nodes[phi];
        let gate = version.gates[node.block].as_ref()?;
        let number = |operand: Operand| self.congruence.number(which, operand);
        let arm =
            |holds: bool| gate.one(holds, |from| version.graph.incoming(phi, from).map(number));
        let condition = number(gate.condition(&version.graph)?);
        Some(Key::Choice(node.data_type, [condition, arm(true)?, arm(false)?]))
    }

    /// The numbers of what may come in at a phi, in the order of the block's predecessors: each phi
    /// may have an order of its own.
    fn live_incoming(
        &self,
        which: Which,
        phi: InstId,
        number: impl Fn(Operand, (BlockId, BlockId)) -> Number,
    ) -> Vec<Number> {
        let version = &self.versions.of[which];
        let block = version.graph.nodes[phi].block;
        let of_edge =
            |&from: &BlockId| Some(number(version.graph.incoming(phi, from)?, (from, block)));
        version.live.predecessors[block].iter().filter_map(of_edge).collect()
    }

    /// For a block that is an entry, its pair, and for each edge to that the number of what comes over
    /// it; none if it is not the same on all walks.
    pub(super) fn over_edges(
        &self,
        which: Which,
        block: BlockId,
        number: impl Fn(&Self, &Walk) -> Option<Number>,
    ) -> Option<(PairId, Vec<Number>)> {
        let pair = self.pair_at(which, block)?;
        let pairs = &self.matching.pairs;
        let edges = pairs[pair].incoming.iter();
        let numbers: Option<Vec<Number>> = edges
            .map(|&(from, place)| {
                let walks = &pairs[from].out.as_ref()?[place].walks[which];
                let mut all = walks.iter().map(|walk| number(self, walk));
                let first = all.next()??;
                all.all(|other| other == Some(first)).then_some(first)
            })
            .collect();
        Some((pair, numbers?))
    }

    fn memory_phi(&mut self, which: Which, block: BlockId) -> Option<Number> {
        let version = &self.versions.of[which];
        let states = version.graph.blocks[block].memory_phi.clone()?;
        let own = self.congruence.layout.phis[which] + block as u32;
        let live = |&(from, _): &(BlockId, Access)| version.live.successors[from].contains(&block);
        let of_state =
            |&(_, access): &(BlockId, Access)| self.congruence.access(self.versions, which, access);
        let incoming: Vec<Number> =
            states.iter().copied().filter(live).map(|s| of_state(&s)).collect();
        if let Some(copied) = copied(&incoming, own) {
            return Some(copied);
        }
        let numbers = self.over_edges(which, block, |round, walk| {
            let access = memory_over(round.versions, which, block, walk)?;
            Some(round.congruence.access(round.versions, which, access))
        });
        let key = match numbers {
            Some((pair, numbers)) => Key::Memory(pair, numbers),
            None => Key::MemoryAlone(which, block, incoming),
        };
        Some(self.holder(which, key, own))
    }
}

/// The one number, if but for the phi itself, and for what is not known yet, there is only one.
pub(super) fn copied(incoming: &[Number], own: Number) -> Option<Number> {
    let mut others = incoming.iter().copied().filter(|&n| n != UNKNOWN && n != own);
    let first = others.next()?;
    others.all(|other| other == first).then_some(first)
}

/// What a phi of an entry has when a walk was taken, before it began: phis of silent chains on the way
/// are looked through. One that the walk does not cross keeps what it has.
pub fn value_over(
    versions: &Versions,
    congruence: &Congruence,
    which: Which,
    phi: InstId,
    walk: &Walk,
) -> Option<Operand> {
    let graph = versions.graph(which);
    let incoming = |phi: InstId, from: BlockId, to: BlockId| {
        let operand = graph.incoming(phi, from)?;
        let number = congruence.on_edge(versions, which, operand, (from, to));
        Some(congruence.constant(number).map_or(operand, Operand::Constant))
    };
    let Some((from, before)) = crossed(walk, graph.nodes[phi].block)? else {
        return Some(Operand::Value(graph.result(phi)));
    };
    let mut operand = incoming(phi, from, graph.nodes[phi].block)?;
    for &(from, block) in before.iter().rev() {
        if let Operand::Value(value) = operand
            && let Some(inst) = graph.definition(value)
            && graph.nodes[inst].facts.is_phi()
            && graph.nodes[inst].block == block
        {
            operand = incoming(inst, from, block)?;
        }
    }
    Some(operand)
}

/// The edges of a walk.
pub(super) type Edges = [(BlockId, BlockId)];

/// Where a walk comes from at an entry, and the edges that it took before; the inner option is none if
/// it does not cross that. The outer one is if it may cross it again.
pub(super) fn crossed(walk: &Walk, entry: BlockId) -> Option<Option<(BlockId, &Edges)>> {
    let Some(place) = walk.edges.iter().rposition(|&(_, to)| to == entry) else {
        return (!walk.goes_round).then_some(None);
    };
    let is_end = place + 1 == walk.edges.len();
    (is_end || !walk.goes_round).then_some(())?;
    let before = if walk.goes_round { &[] } else { &walk.edges[..place] };
    Some(Some((walk.edges[place].0, before)))
}

/// The same for memory.
fn memory_over(versions: &Versions, which: Which, block: BlockId, walk: &Walk) -> Option<Access> {
    let graph = versions.graph(which);
    let state = |block: BlockId, from: BlockId| {
        let states = graph.blocks[block].memory_phi.as_ref()?;
        states.iter().find(|(b, _)| *b == from).map(|&(_, access)| access)
    };
    let Some((from, before)) = crossed(walk, block)? else { return Some(Access::Phi(block)) };
    let mut access = state(block, from)?;
    for &(from, head) in before.iter().rev() {
        if access == Access::Phi(head) {
            access = state(head, from)?;
        }
    }
    Some(access)
}
