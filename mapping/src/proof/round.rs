//! Numbering a version in rounds over reverse postorder, until nothing changes.
//!
//! In each round each instruction is given the number of the first one of the round that is the
//! same operation on the same numbers. Most stay what they were: an instruction is looked at again
//! only if something has changed that this depends on ([`Seen`]). So each of a clock's ticks is a
//! visit, and all that may change has the time at which it did. What is proved depends on more than
//! that: all proofs are tried again in the last round.
//!
//! By operations alone numbers would only ever come apart. What branches say of a number may undo
//! that: it need not hold of the number that a value gets by it. So what keeps changing is numbered
//! without that, and in the end by itself alone ([`Restless`]).

use crate::proof::candidates::Candidates;
use crate::proof::congruence::Congruence;
use crate::proof::epochs::Epochs;
use crate::proof::guesses::{Guess, Guesses, Refuted, guesses};
use crate::proof::keys::{Atom, Form, Key, KeyId, Keys, Literal};
use crate::proof::matching::Matching;
use crate::proof::numbers::{Number, UNKNOWN};
use crate::proof::round::stored::stored_alone;
use crate::proof::shape::{Entry, Shape, entries};
use crate::proof::terms::LookedInto;
use crate::versions::facts::Versions;
use crate::versions::graph::{Access, Boolean, Linear, Operand, Oracle};
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::{BlockId, InstId, ValueId};
use rustc_hash::FxHashMap as HashMap;
use std::cell::RefCell;
use typed_index_collections::TiVec;

mod cases;
mod contents;
mod equal;
mod guessed;
mod loads;
mod over;
mod phi_of_loads;
mod phis;
mod stored;
mod through_phis;
mod uses;
mod ways;

/// Rounds until each value is given a number of its own instead.
const MOST_ROUNDS: usize = 500;

/// Rounds in which phis may change before they are restless, and then all may.
const PATIENCE: u32 = 20;

/// In place of the number of what does not come in
const MISSING: Number = Number::MAX;

/// Ticks of the clock
type Time = u32;

/// What gives an instruction its number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Found {
    /// It is this one.
    Number(Number),
    /// It is that of a value.
    Same(ValueId),
    /// It is that of the first with this key.
    Key(KeyId),
    /// The same, or else this one
    Said(KeyId, Number),
    /// The same for a sum
    Sum(KeyId),
    /// The same for a comparison, or a negation
    Boolean(KeyId, Literal),
    /// It is that of the first with either key.
    Either(KeyId, KeyId),
}

/// What was found of an instruction when it was looked at last.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// Never, if zero
    at: Time,
    found: Found,
    /// A value that this depends on, besides the operands
    via: Option<ValueId>,
}

/// What is known of a number of a version.
#[derive(Clone, Copy, Debug, Default)]
struct Fact {
    /// A value that is above the others with it, in this round
    leader: u32,
    round: u32,
    /// When that changed, or what branches and sums say of it
    changed: Time,
}

/// How what keeps changing is numbered.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Restless {
    #[default]
    No,
    /// A phi, by what comes in, whatever branches say of that
    Plain,
    /// By itself alone
    Own,
}

/// Work in progress.
pub(super) struct Round<'a> {
    versions: &'a Versions,
    matching: &'a Matching,
    oracle: &'a dyn Oracle,
    pub(super) congruence: Congruence,
    guesses: Guesses,
    candidates: Candidates,
    /// For each version and instruction how often a proof was given up again
    lost: PerVersion<TiVec<InstId, u8>>,
    shapes: &'a PerVersion<Shape>,
    entries: PerVersion<TiVec<BlockId, Entry>>,
    /// Those that did not hold in this round
    refuted: Vec<Guess>,
    keys: Keys,
    /// For each version and key the round in which it was seen last, and the number of the first
    /// then
    holders: PerVersion<Vec<(u32, Number)>>,
    /// For each version the number of the round, from 1
    rounds: PerVersion<u32>,
    now: Time,
    seen: PerVersion<TiVec<InstId, Seen>>,
    restless: PerVersion<TiVec<InstId, Restless>>,
    /// For each version the round before the first one with nothing known
    begun: PerVersion<u32>,
    /// For each version and value when its number changed
    changed: PerVersion<TiVec<ValueId, Time>>,
    /// The same for the states of memory that meet at blocks
    memory_changed: PerVersion<TiVec<BlockId, Time>>,
    /// For each version and the place of a number
    facts: PerVersion<Vec<Fact>>,
    /// By the place of a number the key of its sum
    forms: Vec<Option<KeyId>>,
    /// What memory has between lone stores
    epochs: Epochs,
    /// Instructions of opt whose results it stores where base has several stores, and these
    stored_alone: HashMap<InstId, Vec<InstId>>,
    /// Branches of opt, and the instructions that were looked into to prove where they go
    looked_into_on_ways: RefCell<Vec<(InstId, LookedInto)>>,
    /// Of one instruction: memory that the next one uses again
    scratch: Scratch,
}

#[derive(Default)]
struct Scratch {
    numbers: Vec<Number>,
    over: Vec<Number>,
    operands: Vec<Operand>,
    form: Form,
}

impl<'a> Round<'a> {
    /// Nothing is numbered yet.
    pub(super) fn new(
        versions: &'a Versions,
        matching: &'a Matching,
        oracle: &'a dyn Oracle,
        shapes: &'a PerVersion<Shape>,
        congruence: Congruence,
        refuted: &Refuted,
    ) -> Self {
        let unseen = Seen { at: 0, found: Found::Number(UNKNOWN), via: None };
        let candidates = Candidates::new(versions, matching);
        let mut round = Round {
            versions,
            matching,
            oracle,
            congruence,
            guesses: guesses(versions, matching, &candidates, refuted),
            candidates,
            lost: PerVersion::from_fn(|w| vec![0; versions.graph(w).nodes.len()].into()),
            shapes,
            entries: PerVersion::from_fn(|which| entries(versions, matching, which)),
            refuted: Vec::new(),
            keys: Keys::default(),
            holders: PerVersion::default(),
            rounds: PerVersion::default(),
            now: 0,
            seen: PerVersion::from_fn(|w| vec![unseen; versions.graph(w).nodes.len()].into()),
            restless: PerVersion::from_fn(|w| {
                vec![Restless::No; versions.graph(w).nodes.len()].into()
            }),
            begun: PerVersion::default(),
            changed: PerVersion::from_fn(|w| {
                vec![0; versions.graph(w).body.code.num_values()].into()
            }),
            memory_changed: PerVersion::from_fn(|w| vec![0; versions.graph(w).blocks.len()].into()),
            facts: PerVersion::default(),
            forms: Vec::new(),
            epochs: Epochs::new(versions),
            stored_alone: stored_alone(versions),
            looked_into_on_ways: RefCell::default(),
            scratch: Scratch::default(),
        };
        if versions.has_places {
            round.prepare_contents();
        }
        round
    }

    /// Numbers a version, base first: nothing of that depends on opt. False if it was given up.
    /// Tells which guesses did not hold.
    pub(super) fn settle(&mut self, which: Version, refuted: &mut Refuted) -> bool {
        if self.versions.has_places {
            self.run(which);
            self.begin_again(which);
        }
        let settled = (0..MOST_ROUNDS)
            .any(|_| !self.run(which) && !self.prove_again(which) && !self.drop_refuted(refuted));
        debug_assert!(!settled || self.is_settled(which), "what was found before holds");
        settled
    }

    /// A round in which each proof is tried again; true if a number changed. In others that is not
    /// done as long as what an instruction is made of does not change; but proofs look further.
    fn prove_again(&mut self, which: Version) -> bool {
        let insts = self.versions.graph(which).nodes.keys();
        let unsure: Vec<InstId> = insts.filter(|&i| self.rests_on_proof(which, i)).collect();
        unsure.iter().for_each(|&inst| self.seen[which][inst].at = 0);
        !unsure.is_empty() && self.run(which)
    }

    /// True if what was found of an instruction may change though what it is made of does not.
    fn rests_on_proof(&self, which: Version, inst: InstId) -> bool {
        self.has_candidates(which, inst) && !self.is_of_base(self.seen[which][inst].found)
    }

    /// True if nothing changes when all is looked at again.
    fn is_settled(&mut self, which: Version) -> bool {
        self.seen[which].iter_mut().for_each(|seen| seen.at = 0);
        !self.run(which)
    }

    /// True if a number changed.
    fn run(&mut self, which: Version) -> bool {
        self.rounds[which] += 1;
        self.now += 1;
        self.refuted.clear();
        let versions = self.versions;
        let graph = versions.graph(which);
        for argument in (0..graph.body.code.arguments).map(ValueId::from) {
            self.lead(which, self.congruence.of[which][argument], argument);
        }
        let shapes = self.shapes;
        let mut changed = false;
        for &block in &shapes[which].order {
            if let Some(number) = self.memory_phi(which, block) {
                let number = self.guessed(which, Guess::Memory(block), number);
                let place = &mut self.congruence.memory[which][block];
                if std::mem::replace(place, number) != number {
                    self.memory_changed[which][block] = self.now;
                    changed = true;
                }
            }
            changed |= self.contents_at(which, block);
            for inst in graph.insts(block).iter().filter(|&i| graph.has_result(i)) {
                self.now += 1;
                let mut number = match self.restless[which][inst] {
                    Restless::Own => self.congruence.layout.values[which] + u32::from(inst),
                    _ => self.number(which, inst),
                };
                let is_guessed = || which == Version::Opt && self.guesses.phis[inst].is_some();
                if graph.nodes[inst].facts.is_phi() || is_guessed() {
                    number = self.guessed(which, Guess::Phi(inst), number);
                }
                let value = graph.result(inst);
                if self.set(which, value, number) {
                    changed = true;
                    self.note_change(which, inst);
                }
                self.lead(which, number, value);
            }
        }
        changed
    }

    /// How what changes now is to be numbered.
    fn restlessness(&self, which: Version) -> Restless {
        match (self.rounds[which] - self.begun[which]) / PATIENCE {
            0 => Restless::No,
            1 => Restless::Plain,
            _ => Restless::Own,
        }
    }

    /// An instruction has another number than in the round before.
    fn note_change(&mut self, which: Version, inst: InstId) {
        let now = self.restlessness(which);
        let is_phi = self.versions.graph(which).nodes[inst].facts.is_phi();
        if now == Restless::Own || (now == Restless::Plain && is_phi) {
            self.restless[which][inst] = now;
            self.seen[which][inst].at = 0;
        }
    }

    /// Gives a value another number; true if it is another.
    fn set(&mut self, which: Version, value: ValueId, number: Number) -> bool {
        let old = self.congruence.of[which][value];
        if !self.congruence.set(self.versions, which, value, number) {
            return false;
        }
        self.changed[which][value] = self.now;
        if self.versions.of[which].scopes.has(value) {
            for number in [old, number] {
                let now = self.now;
                self.fact(which, number, |fact| fact.changed = now);
            }
        }
        true
    }

    /// Changes what is known of a number that is no constant's.
    fn fact(&mut self, which: Version, number: Number, change: impl FnOnce(&mut Fact)) {
        let Some(place) = self.congruence.layout.place(number) else { return };
        let facts = &mut self.facts[which];
        if facts.len() <= place {
            facts.resize(place + 1, Fact::default());
        }
        change(&mut facts[place]);
    }

    fn fact_of(&self, which: Version, number: Number) -> Option<&Fact> {
        self.facts[which].get(self.congruence.layout.place(number)?)
    }

    /// A value has a number in this round: the first one leads.
    fn lead(&mut self, which: Version, number: Number, value: ValueId) {
        let (round, now, value) = (self.rounds[which], self.now, u32::from(value));
        self.fact(which, number, |fact| {
            if fact.round != round {
                fact.round = round;
                if std::mem::replace(&mut fact.leader, value) != value {
                    fact.changed = now;
                }
            }
        });
    }

    fn leader(&self, which: Version, number: Number) -> Option<ValueId> {
        let fact = self.fact_of(which, number)?;
        (fact.round == self.rounds[which]).then(|| ValueId::from(fact.leader as usize))
    }

    /// The number of a key's first holder, if it has one: in base, or in this round.
    fn held(&self, which: Version, key: KeyId) -> Option<Number> {
        let of = |which: Version| {
            let &(round, number) = self.holders[which].get(key as usize)?;
            (round == self.rounds[which]).then_some(number)
        };
        of(Version::Base).or_else(|| if which == Version::Opt { of(Version::Opt) } else { None })
    }

    /// The number of a key of a version; a new key has that of its first holder.
    fn holder(&mut self, which: Version, key: KeyId, own: Number) -> Number {
        if let Some(number) = self.held(which, key) {
            return number;
        }
        let holders = &mut self.holders[which];
        if holders.len() <= key as usize {
            holders.resize(key as usize + 1, (0, UNKNOWN));
        }
        holders[key as usize] = (self.rounds[which], own);
        own
    }

    /// The same for two keys of one number, of which either may have a holder.
    fn holder_of_either(&mut self, which: Version, keys: [KeyId; 2], own: Number) -> Number {
        let held = keys.into_iter().find_map(|key| self.held(which, key));
        let number = self.holder(which, keys[0], held.unwrap_or(own));
        self.holder(which, keys[1], number);
        number
    }

    /// The same for a key on numbers.
    fn holder_of(&mut self, which: Version, key: Key, numbers: &[Number], own: Number) -> Number {
        let key = self.keys.id(key, numbers);
        self.holder(which, key, own)
    }

    fn number(&mut self, which: Version, inst: InstId) -> Number {
        let versions = self.versions;
        let graph = versions.graph(which);
        let node = &graph.nodes[inst];
        let own = self.congruence.layout.values[which] + u32::from(inst);
        if let Some(constant) = node.constant {
            return self.congruence.layout.constants + constant;
        }
        if let Some(copied) = node.copied {
            return self.congruence.number(which, copied);
        }
        let is_pad = node.facts.is_landing_pad() && versions.own_selectors;
        if node.facts.is_own() || node.facts.is_marker() || is_pad {
            return own;
        }
        // LLVM does not say of the arguments of what it makes of a call that they are well defined.
        let is_compared = node.compares_memory && which == Version::Opt;
        if node.facts.is_anchor() || (node.facts.is_pinned() && !is_compared) {
            return self.pinned(which, inst, own);
        }
        if node.facts.is_pad_pointer()
            && let Some(&Operand::Value(pad)) = graph.operands(inst).first()
            && let Some(pad) = graph.definition(pad)
        {
            let pad_own = self.congruence.layout.values[which] + u32::from(pad);
            let pair = self.pinned(which, pad, pad_own);
            return self.holder_of(which, Key::Pad, &[pair], own);
        }
        if !self.is_current(which, inst) {
            let (found, via) = match node.facts.is_phi() {
                true => self.phi(which, inst, own),
                false => self.operation(which, inst, own),
            };
            let proved = match self.has_candidates(which, inst) && !self.is_of_base(found) {
                true => self.proved(which, inst, found),
                false => None,
            };
            let (found, via) = proved.unwrap_or((found, via));
            self.seen[which][inst] = Seen { at: self.now, found, via };
        }
        match self.seen[which][inst].found {
            Found::Number(number) => number,
            Found::Same(value) => self.congruence.of[which][value],
            Found::Key(key) => self.holder(which, key, own),
            Found::Said(key, number) => self.holder(which, key, number),
            Found::Either(one, other) => self.holder_of_either(which, [one, other], own),
            Found::Sum(key) => {
                let number = self.holder(which, key, own);
                self.add_form(which, number, key);
                number
            }
            Found::Boolean(key, literal) => {
                let number = self.holder(which, key, own);
                self.add_literal(which, number, literal);
                number
            }
        }
    }

    /// True if nothing has changed since an instruction was looked at that this depended on.
    fn is_current(&self, which: Version, inst: InstId) -> bool {
        let graph = self.versions.graph(which);
        let node = &graph.nodes[inst];
        let seen = self.seen[which][inst];
        let is_old = |value: ValueId| self.changed[which][value] < seen.at;
        let is_same = |operand: &Operand| match *operand {
            Operand::Constant(_) => true,
            Operand::Value(value) => {
                let number = self.congruence.of[which][value];
                let is_known = |fact: &Fact| fact.changed < seen.at;
                is_old(value) && self.fact_of(which, number).is_none_or(is_known)
            }
        };
        seen.at != 0
            && graph.operands(inst).iter().all(is_same)
            && seen.via.is_none_or(is_old)
            && match node.clobber {
                _ if node.facts.is_phi() => self.entries[which][graph.block(inst)] != Entry::Over,
                None => true,
                // What places have, and what stands for what, may change without them.
                Some(_) if self.versions.has_lone => false,
                Some(Access::Entry) => true,
                Some(Access::Phi(block)) => {
                    let place = || self.congruence.accessed(self.versions, which, inst);
                    self.memory_changed[which][block] < seen.at
                        && (!node.sees_place
                            || place().is_some_and(|place| self.is_old(&place, block, seen.at)))
                }
                // It may have stored what was there before, of which more is known then.
                Some(Access::Def(def)) if self.may_leave_alone(which, inst, def) => false,
                Some(Access::Def(inst)) => graph.operands(inst).iter().all(is_same),
            }
    }

    /// What gives an operation that is no phi its number, and another value that this depends on.
    fn operation(&mut self, which: Version, inst: InstId, own: Number) -> (Found, Option<ValueId>) {
        let versions = self.versions;
        let node = &versions.graph(which).nodes[inst];
        let mut numbers = std::mem::take(&mut self.scratch.numbers);
        numbers.clear();
        let block = versions.graph(which).block(inst);
        let number = |&operand: &Operand| self.congruence.at(versions, which, operand, block);
        numbers.extend(versions.graph(which).operands(inst).iter().map(number));
        let equal = self.simplified(which, inst, &numbers);
        let via = if let Some(Operand::Value(value)) = equal { Some(value) } else { None };
        let found = match equal {
            Some(Operand::Constant(constant)) => {
                Found::Number(self.congruence.number(which, Operand::Constant(constant)))
            }
            Some(Operand::Value(value)) if self.congruence.of[which][value] != UNKNOWN => {
                Found::Same(value)
            }
            _ => match (&node.linear, node.boolean) {
                (Some(linear), _) => self.sum(node.data_type, linear, &mut numbers),
                (None, Some(boolean)) => self.boolean(boolean, &numbers),
                (None, None) => self.plain(which, inst, &mut numbers, own),
            },
        };
        self.scratch.numbers = numbers;
        (found, via)
    }

    /// The same for one that is no sum, and that LLVM knows nothing of.
    fn plain(
        &mut self,
        which: Version,
        inst: InstId,
        numbers: &mut Vec<Number>,
        own: Number,
    ) -> Found {
        let versions = self.versions;
        let node = &versions.graph(which).nodes[inst];
        if node.compares_memory {
            numbers.pop();
        }
        if let Some(bytes) = node.compared_bytes {
            numbers.truncate(2);
            numbers.push(self.congruence.layout.constants + bytes);
        }
        if node.facts.is_commutative() && numbers.len() >= 2 && numbers[0] > numbers[1] {
            numbers.swap(0, 1);
        }
        if let Some(clobber) = node.clobber {
            if node.facts.is_load()
                && let Some(found) = self.load(which, inst, numbers[0], clobber)
            {
                return found;
            }
            return self.read(which, inst, numbers, clobber, own);
        }
        if let [condition, holds, fails] = numbers[..]
            && node.facts.is_select()
        {
            return Found::Key(self.choice_of(node.data_type, condition, holds, fails));
        }
        let key = Key::Operation(node.as_unsigned.unwrap_or(node.operation));
        Found::Key(self.keys.id(key, numbers))
    }

    /// The same for one that reads what memory has, but for what its place has: what any gives that
    /// does the same to the same in the same state of memory, or between the same matched anchors.
    fn read(
        &mut self,
        which: Version,
        inst: InstId,
        numbers: &mut Vec<Number>,
        clobber: Access,
        own: Number,
    ) -> Found {
        let node = &self.versions.graph(which).nodes[inst];
        let (key, word) = match node.compares_memory {
            true => (Key::Compared, Number::MAX),
            false => (Key::Operation(node.operation), node.operation),
        };
        let words: Vec<Number> = std::iter::once(word).chain(numbers.iter().copied()).collect();
        let together = self.read_together(which, inst, &words);
        let is_of_base = |round: &Self, key: KeyId| round.held(Version::Base, key).is_some();
        if node.reads_lone {
            let together = together.filter(|&key| !node.facts.is_pinned() || is_of_base(self, key));
            return together.map_or(Found::Number(own), Found::Key);
        }
        numbers.push(self.congruence.access(self.versions, which, clobber));
        let in_state = self.keys.id(key, numbers);
        let mut keys = std::iter::once(in_state).chain(together);
        if node.facts.is_pinned() && !keys.any(|key| is_of_base(self, key)) {
            return Found::Number(own);
        }
        together.map_or(Found::Key(in_state), |together| Found::Either(together, in_state))
    }

    /// The same for a comparison or a negation: a comparison, its inverse, and both with swapped
    /// operands are one atom, or its negation.
    fn boolean(&mut self, boolean: Boolean, numbers: &[Number]) -> Found {
        let literal = match boolean {
            Boolean::Comparison { predicate, swapped, negated, symmetric } => {
                let mut of = [numbers[0], numbers[1]];
                if swapped || (symmetric && of[0] > of[1]) {
                    of.swap(0, 1);
                }
                let atom = Atom::Comparison(self.keys.id(Key::Comparison(predicate), &of));
                Literal { atom, negated }
            }
            Boolean::Not(place) => self.congruence.literal(numbers[place]).not(),
        };
        self.literal(literal)
    }

    fn literal(&mut self, literal: Literal) -> Found {
        match literal {
            Literal { atom: Atom::Number(number), negated: false } => Found::Number(number),
            Literal { atom, negated } => {
                Found::Boolean(self.keys.id(Key::Literal(negated), &atom.words()), literal)
            }
        }
    }

    /// The key of a choice; if the condition is a negation, the other way round.
    fn choice_of(&mut self, ty: u32, condition: Number, holds: Number, fails: Number) -> KeyId {
        let Literal { atom, negated } = self.congruence.literal(condition);
        let [kind, id] = atom.words();
        let (holds, fails) = if negated { (fails, holds) } else { (holds, fails) };
        self.keys.id(Key::Choice(ty), &[kind, id, holds, fails])
    }

    /// The same for a sum: sums of sums are one sum, in whatever order (LICM and `reassociate`
    /// change that).
    fn sum(&mut self, data_type: u32, linear: &Linear, numbers: &mut Vec<Number>) -> Found {
        let mut form = std::mem::take(&mut self.scratch.form);
        (form.constant, form.bits) = (linear.constant, linear.bits);
        form.terms.clear();
        for &(place, factor) in &linear.terms {
            self.add_to_sum(&mut form, numbers[place], factor);
        }
        form.constant = form.wrap(form.constant);
        let found = match form.single() {
            Some(number) => Found::Number(number),
            None => {
                form.words(numbers);
                Found::Sum(self.keys.id(Key::Sum(data_type, form.bits), numbers))
            }
        };
        self.scratch.form = form;
        found
    }

    /// Adds a multiple of a number to a sum; of what adds up itself, its parts.
    fn add_to_sum(&self, form: &mut Form, number: Number, factor: i64) {
        let constant = self.congruence.constant(number).and_then(|c| self.oracle.integer(c));
        if let Some(constant) = constant {
            form.constant = form.constant.wrapping_add(constant.wrapping_mul(factor));
            return;
        }
        let of_global = self.congruence.constant(number).and_then(|c| self.oracle.address(c));
        if let Some((global, bytes)) = of_global {
            form.constant = form.constant.wrapping_add(bytes.wrapping_mul(factor));
            form.add(self.congruence.layout.constants + global, factor, &|_| true);
            return;
        }
        let is_well_defined = |number: Number| self.is_well_defined(number);
        // An index of less bits is extended, so that its sum may have wrapped before.
        let inner = self.form(number).filter(|&i| self.keys.bits_of_sum(i) == Some(form.bits));
        let is_added = inner
            .is_some_and(|inner| form.add_form(self.keys.numbers(inner), factor, &is_well_defined));
        if !is_added {
            form.add(number, factor, &is_well_defined);
        }
    }

    /// True if what has a number is neither poison nor undefined, as LLVM knows of the first that
    /// has it.
    fn is_well_defined(&self, number: Number) -> bool {
        let congruence = &self.congruence;
        if let Some(constant) = congruence.constant(number) {
            return self.oracle.is_well_defined(Version::Base, Operand::Constant(constant));
        }
        let first = congruence.layout.value(self.versions, number);
        first
            .is_some_and(|(which, value)| self.oracle.is_well_defined(which, Operand::Value(value)))
    }

    /// What a number adds up, by its key
    fn form(&self, number: Number) -> Option<KeyId> {
        self.forms.get(self.congruence.layout.place(number)?).copied().flatten()
    }

    fn add_form(&mut self, which: Version, number: Number, key: KeyId) {
        let Some(place) = self.congruence.layout.place(number) else { return };
        if self.forms.len() <= place {
            self.forms.resize(place + 1, None);
        }
        if self.forms[place].replace(key) != Some(key) {
            let now = self.now;
            self.fact(which, number, |fact| fact.changed = now);
        }
    }

    /// What a number adds up but for a constant, with factors, and the constant.
    fn terms_and_constant(&self, number: Number) -> (Vec<(Number, i64)>, i64) {
        match self.form(number) {
            Some(key) => Form::parts(self.keys.numbers(key)),
            None => (vec![(number, 1)], 0),
        }
    }

    fn add_literal(&mut self, which: Version, number: Number, literal: Literal) {
        let Some(place) = self.congruence.layout.place(number) else { return };
        let literals = &mut self.congruence.literals;
        if literals.len() <= place {
            literals.resize(place + 1, None);
        }
        if literals[place].replace(literal) != Some(literal) {
            let now = self.now;
            self.fact(which, number, |fact| fact.changed = now);
        }
    }

    /// What LLVM knows an operation to be equal to, given what its operands are equal to.
    fn simplified(&mut self, which: Version, inst: InstId, numbers: &[Number]) -> Option<Operand> {
        let node = &self.versions.graph(which).nodes[inst];
        if !(node.facts.is_repeatable() || node.facts.is_load()) || numbers.contains(&UNKNOWN) {
            return None;
        }
        let mut operands = std::mem::take(&mut self.scratch.operands);
        operands.clear();
        let leader = |(&operand, &number): (&Operand, &Number)| match operand {
            Operand::Constant(_) => operand,
            Operand::Value(_) => match self.congruence.constant(number) {
                Some(constant) => Operand::Constant(constant),
                None => self.leader(which, number).map_or(operand, Operand::Value),
            },
        };
        operands.extend(self.versions.graph(which).operands(inst).iter().zip(numbers).map(leader));
        let equal = self.oracle.simplify(which, inst, &operands);
        self.scratch.operands = operands;
        equal
    }

    /// The number of an instruction that is tied to the time it ran.
    fn pinned(&self, which: Version, inst: InstId, own: Number) -> Number {
        let Some(partner) = self.congruence.partner(which, inst) else { return own };
        let [base, opt] =
            [&self.versions.of.base.graph.nodes[partner], &self.versions.of.opt.graph.nodes[inst]];
        // Of what only does the same nothing uses the result.
        if base.operation != opt.operation {
            return own;
        }
        // Matched anchors are checked with the matching.
        if opt.facts.is_anchor()
            || self.congruence.are_alike(self.versions, PerVersion { base: partner, opt: inst })
        {
            self.congruence.layout.values.base + u32::from(partner)
        } else {
            own
        }
    }
}
