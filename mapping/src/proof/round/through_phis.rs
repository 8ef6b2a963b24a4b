//! What a pass moved over a phi: an operation on a phi that became a phi of operations, and a phi
//! of loads that became a load of a phi.

use crate::proof::addresses::made;
use crate::proof::candidates::Candidate;
use crate::proof::congruence::value_over;
use crate::proof::keys::Form;
use crate::proof::matching::{OutEdge, PairId, Walk};
use crate::proof::numbers::{Number, UNKNOWN};
use crate::proof::round::Round;
use crate::proof::terms::{DEEPEST, LookedInto, MOST_TERMS, Term, Terms};
use crate::versions::graph::{Access, Operand};
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::{BlockId, InstId};

/// Instructions that are looked at for what a place has
const MOST_STEPS: usize = 2000;

/// An address that need not be computed anywhere
#[derive(Clone, Debug, PartialEq, Eq)]
enum Address {
    /// What has this number
    Number(Number),
    /// A sum, by its words
    Sum { bits: u32, words: Vec<u32> },
}

impl Round<'_> {
    /// The instructions that were looked into to prove that a phi of opt has on each way in what an
    /// operation of base gives on what comes in there.
    pub(super) fn through_phi(&self, phi: InstId, candidate: Candidate) -> Option<LookedInto> {
        let opt = &self.versions.of.opt.graph;
        let pair = self.matching.entered(self.versions, Version::Opt, opt.block(phi))?;
        let Operand::Value(value) = candidate.operand else { return None };
        let operation = self.versions.of.base.graph.definition(value)?;
        if !self.versions.of.base.graph.nodes[operation].is_total {
            return None;
        }
        let mut all = LookedInto::new();
        for walks in self.ways_in(pair)? {
            let mut terms = Terms::default();
            let of_base = self.term_behind(&mut terms, pair, walks, candidate.operand, DEEPEST)?;
            let incoming = self.comes_in(Version::Opt, phi, walks.opt)?;
            let number = self.congruence.number(Version::Opt, incoming);
            if number == UNKNOWN {
                // It is taken to be the same until it is known.
                continue;
            }
            let of_opt = self.term_of(&mut terms, Version::Opt, incoming, Some(number), DEEPEST)?;
            terms.roots = [of_base, of_opt];
            all.extend(self.are_equal(&terms, candidate.negated)?);
        }
        Some(all)
    }

    /// The same for a load of opt at the head of a pair, of an address that is a phi, and a phi of
    /// base: on each way in that has what was loaded from the address that comes in, which nothing
    /// has written to since. There memory is the same in both versions.
    pub(super) fn load_of_phi(&self, load: InstId, candidate: Candidate) -> Option<LookedInto> {
        let opt = &self.versions.of.opt;
        let base = &self.versions.of.base.graph;
        let Operand::Value(value) = candidate.operand else { return None };
        let phi = base.definition(value)?;
        let Operand::Value(address) = opt.graph.pointer(load)? else { return None };
        let address = opt.graph.definition(address)?;
        let pair = self.matching.entered(self.versions, Version::Opt, opt.graph.block(address))?;
        let is_at_head = opt.chains.of_inst(&opt.graph, load)
            == Some(self.matching.pairs[pair].chains.opt)
            && opt.chains.segment[load] == 0;
        let are_entries = opt.graph.nodes[address].facts.is_phi()
            && self.matching.entered(self.versions, Version::Base, base.block(phi)) == Some(pair);
        (is_at_head && are_entries && !self.versions.has_lone).then_some(())?;
        let mut looked_into = vec![(Version::Opt, load)];
        for walks in self.ways_in(pair)? {
            let Operand::Value(loaded) = self.comes_in(Version::Base, phi, walks.base)? else {
                return None;
            };
            let from = base.definition(loaded)?;
            let (was_loaded, is_loaded) = (&base.nodes[from], &opt.graph.nodes[load]);
            let number = self
                .congruence
                .number(Version::Opt, self.comes_in(Version::Opt, address, walks.opt)?);
            let &(last, _) = walks.base.edges.last()?;
            // What is not known yet is taken to be the same until it is.
            let is_address = number == UNKNOWN
                || self.congruence.number(Version::Base, base.pointer(from)?) == number;
            let is_same = was_loaded.facts.is_load()
                && was_loaded.operation == is_loaded.operation
                && is_address
                && was_loaded.clobber.is_some()
                && self.oracle.place_at_end(Version::Base, from, last) == was_loaded.clobber;
            is_same.then_some(())?;
            looked_into.push((Version::Base, from));
        }
        Some(looked_into)
    }

    /// The same for a phi of opt at the head of a pair, and a load of base behind it that reads what
    /// memory has there: on each way in the phi has what the place has that is loaded from, which
    /// was loaded from it or stored to it, with nothing written to it since.
    pub(super) fn phi_of_loads(&self, phi: InstId, candidate: Candidate) -> Option<LookedInto> {
        let opt = &self.versions.of.opt.graph;
        let base = &self.versions.of.base;
        let Operand::Value(value) = candidate.operand else { return None };
        let load = base.graph.definition(value)?;
        let node = &base.graph.nodes[load];
        let pair = self.matching.entered(self.versions, Version::Opt, opt.block(phi))?;
        let is_load = node.facts.is_load() && node.data_type == opt.nodes[phi].data_type;
        (is_load && !self.versions.has_lone).then_some(())?;
        let is_of_head = match node.clobber? {
            Access::Entry => true,
            Access::Def(inst) => self.is_above(pair, base.graph.block(inst)),
            Access::Phi(block) => {
                self.matching.pairs[pair].entries.base.contains(&block)
                    || self.is_above(pair, block)
            }
        };
        is_of_head.then_some(())?;
        let address = base.graph.pointer(load)?;
        let mut looked_into = vec![(Version::Base, load)];
        for walks in self.ways_in(pair)? {
            let incoming = self.comes_in(Version::Opt, phi, walks.opt)?;
            let number = self.congruence.number(Version::Opt, incoming);
            let address = self.address_over(&mut looked_into, pair, walks, address, DEEPEST)?;
            // What is not known yet is taken to be the same until it is.
            if number != UNKNOWN && address != Address::Number(UNKNOWN) {
                self.witness(&mut looked_into, walks, &address, node.data_type, number)?;
            }
        }
        Some(looked_into)
    }

    /// True if a block is above all entries of a pair of base.
    fn is_above(&self, pair: PairId, block: BlockId) -> bool {
        let mut entries = self.matching.pairs[pair].entries.base.iter();
        let scopes = &self.versions.of.base.scopes;
        entries.all(|&entry| block != entry && scopes.dominates(block, entry))
    }

    /// What an address of base is that is computed behind the head of a pair, if that was entered
    /// over a walk: phis of its entries are what comes in.
    fn address_over(
        &self,
        looked_into: &mut LookedInto,
        pair: PairId,
        walks: PerVersion<&Walk>,
        operand: Operand,
        depth: usize,
    ) -> Option<Address> {
        let base = &self.versions.of.base;
        let plain = |which: Version, operand: Operand| {
            Address::Number(self.congruence.number(which, operand))
        };
        let Operand::Value(value) = operand else { return Some(plain(Version::Base, operand)) };
        let Some(inst) = base.graph.definition(value) else {
            return Some(plain(Version::Base, operand));
        };
        let entries = &self.matching.pairs[pair].entries.base;
        let (block, node) = (base.graph.block(inst), &base.graph.nodes[inst]);
        if node.facts.is_phi() && entries.contains(&block) {
            return Some(plain(Version::Base, self.comes_in(Version::Base, inst, walks.base)?));
        }
        if self.is_above(pair, block) {
            return Some(plain(Version::Base, operand));
        }
        if let Some(phi) = self.phi_with(pair, self.congruence.of.base[value]) {
            return Some(plain(Version::Opt, self.comes_in(Version::Opt, phi, walks.opt)?));
        }
        (depth > 0 && node.facts.is_repeatable() && !node.facts.is_phi()).then_some(())?;
        let Some(linear) = &node.linear else {
            // It is what it is if its operands are.
            let is_same = |&operand: &Operand| {
                let plain = self.congruence.number(Version::Base, operand);
                let address = self.address_over(looked_into, pair, walks, operand, depth - 1);
                address == Some(Address::Number(plain))
                    && self.congruence.at(self.versions, Version::Base, operand, block) == plain
            };
            let is_same = base.graph.operands(inst).iter().all(is_same);
            return is_same.then(|| plain(Version::Base, operand));
        };
        looked_into.push((Version::Base, inst));
        let mut sum = Form { constant: linear.constant, bits: linear.bits, terms: Vec::new() };
        for &(place, factor) in &linear.terms {
            let operand = base.graph.operands(inst)[place];
            match self.address_over(looked_into, pair, walks, operand, depth - 1)? {
                Address::Number(UNKNOWN) => return Some(Address::Number(UNKNOWN)),
                Address::Number(number) => {
                    self.add_to_sum(&mut sum, number, factor);
                }
                Address::Sum { bits, words } => {
                    let is_well_defined = |number: Number| self.is_well_defined(number);
                    let is_added =
                        bits == sum.bits && sum.add_form(&words, factor, &is_well_defined);
                    is_added.then_some(())?;
                }
            }
        }
        sum.constant = sum.wrap(sum.constant);
        Some(match sum.terms[..] {
            [(number, 1)] if sum.constant == 0 => Address::Number(number),
            _ => {
                let mut words = Vec::new();
                sum.words(&mut words);
                Address::Sum { bits: sum.bits, words }
            }
        })
    }

    /// The phi of opt at the entries of a pair that has a number.
    fn phi_with(&self, pair: PairId, number: Number) -> Option<InstId> {
        let graph = &self.versions.of.opt.graph;
        let mut phis = self.matching.entry_phis(self.versions, Version::Opt, pair);
        phis.find(|&phi| number != UNKNOWN && self.congruence.of.opt[graph.result(phi)] == number)
    }

    /// A load or store of either version that says that a place has what has this number where
    /// a walk ends: nothing has written to it since.
    fn witness(
        &self,
        looked_into: &mut LookedInto,
        walks: PerVersion<&Walk>,
        address: &Address,
        data_type: u32,
        number: Number,
    ) -> Option<()> {
        let mut steps = MOST_STEPS;
        for which in [Version::Opt, Version::Base] {
            let version = &self.versions.of[which];
            let graph = &version.graph;
            let &(last, to) = walks[which].edges.last()?;
            let mut at = Some(last);
            while let Some(block) = at {
                for inst in graph.insts(block).iter().rev() {
                    steps -= 1;
                    if steps == 0 {
                        return None;
                    }
                    let node = &graph.nodes[inst];
                    if node.data_type != data_type {
                        continue;
                    }
                    let (value, left) = match *graph.operands(inst) {
                        [value, _] if node.facts.is_store() => (value, Some(Access::Def(inst))),
                        [_] if node.facts.is_load() => {
                            (Operand::Value(graph.result(inst)), node.clobber)
                        }
                        _ => continue,
                    };
                    let Some(pointer) = graph.pointer(inst) else { continue };
                    let value = self.congruence.number(which, value);
                    if self.is_address(which, pointer, address)
                        && self.said_on_edge(which, value, (last, to)) == number
                        && left.is_some()
                        && self.oracle.place_at_end(which, inst, last) == left
                    {
                        looked_into.push((which, inst));
                        let made = made(graph, pointer);
                        let operations = made.map(|made| made.operations).unwrap_or_default();
                        looked_into.extend(operations.into_iter().map(|inst| (which, inst)));
                        return Some(());
                    }
                }
                at = version.scopes.immediate(block);
            }
        }
        None
    }

    fn is_address(&self, which: Version, pointer: Operand, address: &Address) -> bool {
        let number = self.congruence.number(which, pointer);
        match address {
            Address::Number(of) => number == *of,
            Address::Sum { bits, words } => self.form(number).is_some_and(|key| {
                self.keys.bits_of_sum(key) == Some(*bits) && self.keys.numbers(key) == words
            }),
        }
    }

    /// The ways into a pair, if each version has one for each edge.
    fn ways_in(&self, pair: PairId) -> Option<Vec<PerVersion<&Walk>>> {
        let edges = &self.matching.pairs[pair].incoming;
        let way = |&(from, place): &(PairId, usize)| {
            let OutEdge { walks, .. } = &self.matching.pairs[from].out.as_ref()?[place];
            match (&walks.base[..], &walks.opt[..]) {
                ([base], [opt]) => Some(PerVersion { base, opt }),
                _ => None,
            }
        };
        if edges.is_empty() {
            return None;
        }
        edges.iter().map(way).collect()
    }

    fn comes_in(&self, which: Version, phi: InstId, walk: &Walk) -> Option<Operand> {
        value_over(self.versions, &self.congruence, which, phi, walk)
    }

    /// The term of an operand of base behind the head of a pair, which was entered over a walk:
    /// phis of its entries are what comes in. None if it is made of what is computed behind the
    /// head.
    fn term_behind(
        &self,
        terms: &mut Terms,
        pair: PairId,
        walks: PerVersion<&Walk>,
        operand: Operand,
        depth: usize,
    ) -> Option<usize> {
        let base = &self.versions.of.base;
        let plain = |terms: &mut Terms, operand: Operand| {
            let number = self.congruence.number(Version::Base, operand);
            self.term_of(terms, Version::Base, operand, Some(number), depth)
        };
        let Operand::Value(value) = operand else { return plain(terms, operand) };
        let Some(inst) = base.graph.definition(value) else { return plain(terms, operand) };
        let entries = &self.matching.pairs[pair].entries.base;
        let block = base.graph.block(inst);
        if base.graph.nodes[inst].facts.is_phi() && entries.contains(&block) {
            let incoming = self.comes_in(Version::Base, inst, walks.base)?;
            return plain(terms, incoming);
        }
        let is_above = |&entry: &_| block != entry && base.scopes.dominates(block, entry);
        if entries.iter().all(is_above) {
            return plain(terms, operand);
        }
        if !base.graph.nodes[inst].is_total
            && let Some(phi) = self.phi_with(pair, self.congruence.of.base[value])
        {
            let incoming = self.comes_in(Version::Opt, phi, walks.opt)?;
            let number = self.congruence.number(Version::Opt, incoming);
            return self.term_of(terms, Version::Opt, incoming, Some(number), depth);
        }
        let can_be = base.graph.nodes[inst].is_total
            && depth > 0
            && terms.terms.len() < MOST_TERMS
            && self.congruence.of.base[value] != UNKNOWN;
        can_be.then_some(())?;
        let operands = base.graph.operands(inst).iter();
        let operands: Option<Vec<usize>> =
            operands.map(|&o| self.term_behind(terms, pair, walks, o, depth - 1)).collect();
        Some(terms.add_unknown(Term::Operation(Version::Base, inst, operands?)))
    }
}
