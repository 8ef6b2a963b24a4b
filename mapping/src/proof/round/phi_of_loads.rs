//! Loads that became phis of what was read before (GVN's partial redundancy elimination).
//!
//! A load behind the head of a pair that reads what memory has there may be a phi of opt: memory is
//! the same in both versions when they enter the pair, so the load gives what its place had at the
//! end of the way in. What that is a load or a store on the way says, of either version, if nothing
//! has written to the place since. The address may be made of phis of the head, and is what comes
//! in there, then.

use crate::proof::addresses::made;
use crate::proof::candidates::Candidate;
use crate::proof::keys::Form;
use crate::proof::matching::{PairId, Walk};
use crate::proof::numbers::{Number, UNKNOWN};
use crate::proof::round::Round;
use crate::proof::round::through_phis::Way;
use crate::proof::terms::{DEEPEST, Into, LookedInto, MOST_TERMS, Term, Terms};
use crate::versions::facts::VersionFacts;
use crate::versions::graph::{Access, Operand};
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::{BlockId, InstId};

/// Instructions that are looked at for what a place has
const MOST_STEPS: usize = 2000;

/// An address that need not be computed anywhere
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Address {
    /// What has this number
    Number(Number),
    /// A sum, by its words
    Sum { bits: u32, words: Vec<u32> },
}

impl Address {
    pub(super) fn is_unknown(&self) -> bool {
        *self == Address::Number(UNKNOWN)
    }
}

impl Round<'_> {
    /// The instructions that were looked into to prove that a phi of opt at the head of a pair is
    /// what a load of base behind it reads of what memory has there: on each way in the phi has
    /// what the place has, which was loaded from it or stored to it, with nothing written to it
    /// since.
    pub(super) fn phi_of_loads(&self, phi: InstId, candidate: Candidate) -> Option<LookedInto> {
        let opt = &self.versions.of.opt.graph;
        let base = &self.versions.of.base;
        let Operand::Value(value) = candidate.operand else { return None };
        let load = base.graph.definition(value)?;
        let node = &base.graph.nodes[load];
        let pair = self.matching.entered(self.versions, Version::Opt, opt.block(phi))?;
        let is_load = node.facts.is_load() && node.data_type == opt.nodes[phi].data_type;
        is_load.then_some(())?;
        self.reads_at_head(Version::Base, pair, load)?.then_some(())?;
        let mut looked_into = vec![(Version::Base, load)];
        for (from, walks) in self.ways_from(pair)? {
            let incoming = self.comes_in(Version::Opt, phi, walks.opt)?;
            let number = self.congruence.number(Version::Opt, incoming);
            let way = (from, (pair, walks));
            self.witness(&mut looked_into, way, (Version::Base, load), number)?;
        }
        Some(looked_into)
    }

    /// True if a load is behind an entry of a pair, and reads what its place had there.
    pub(super) fn reads_at_head(&self, which: Version, pair: PairId, load: InstId) -> Option<bool> {
        let VersionFacts { graph, scopes, .. } = &self.versions.of[which];
        // What was loaded before may have been written to since.
        let mut entries = self.matching.pairs[pair].entries[which].iter();
        entries.any(|&entry| scopes.dominates(entry, graph.block(load))).then_some(())?;
        Some(match graph.nodes[load].clobber? {
            Access::Entry => true,
            Access::Def(inst) => self.is_above(which, pair, graph.block(inst)),
            Access::Phi(block) => {
                self.matching.pairs[pair].entries[which].contains(&block)
                    || self.is_above(which, pair, block)
            }
        })
    }

    /// What an address is that a version computes behind the head of a pair, if that was entered
    /// over a walk: phis of its entries are what comes in.
    pub(super) fn address_over(
        &self,
        looked_into: &mut LookedInto,
        pair: PairId,
        walks: PerVersion<&Walk>,
        which: Version,
        operand: Operand,
        depth: usize,
    ) -> Option<Address> {
        let graph = self.versions.graph(which);
        let plain = |which: Version, operand: Operand| {
            Address::Number(self.congruence.number(which, operand))
        };
        let inst = match self.entered_with(which, pair, walks[which], operand)? {
            Ok(operand) => return Some(plain(which, operand)),
            Err(inst) => inst,
        };
        let (block, node) = (graph.block(inst), &graph.nodes[inst]);
        if which == Version::Base
            && let Some(phi) = self.phi_with(pair, self.congruence.number(which, operand))
        {
            return Some(plain(Version::Opt, self.comes_in(Version::Opt, phi, walks.opt)?));
        }
        (depth > 0 && node.facts.is_repeatable() && !node.facts.is_phi()).then_some(())?;
        let Some(linear) = &node.linear else {
            // It is what it is if its operands are.
            let is_same = |&operand: &Operand| {
                let plain = self.congruence.number(which, operand);
                let address =
                    self.address_over(looked_into, pair, walks, which, operand, depth - 1);
                address == Some(Address::Number(plain))
                    && self.congruence.at(self.versions, which, operand, block) == plain
            };
            let is_same = graph.operands(inst).iter().all(is_same);
            return is_same.then(|| plain(which, operand));
        };
        looked_into.push((which, inst));
        let mut sum = Form { constant: linear.constant, bits: linear.bits, terms: Vec::new() };
        for &(place, factor) in &linear.terms {
            let operand = graph.operands(inst)[place];
            match self.address_over(looked_into, pair, walks, which, operand, depth - 1)? {
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
        Some(sum.single().map_or_else(
            || {
                let mut words = Vec::new();
                sum.words(&mut words);
                Address::Sum { bits: sum.bits, words }
            },
            Address::Number,
        ))
    }

    /// The phi of opt at the entries of a pair that has a number.
    pub(super) fn phi_with(&self, pair: PairId, number: Number) -> Option<InstId> {
        let graph = &self.versions.of.opt.graph;
        let mut phis = self.matching.entry_phis(self.versions, Version::Opt, pair);
        phis.find(|&phi| number != UNKNOWN && self.congruence.of.opt[graph.result(phi)] == number)
    }

    /// A load or store of either version that says that the place which a load of a version behind
    /// the head of a pair reads has what has this number where a walk ends: nothing has written to
    /// it since. What is pending opt does not read.
    pub(super) fn witness(
        &self,
        looked_into: &mut LookedInto,
        way @ (_, (pair, walks)): (PairId, Way<'_>),
        (reads, load): (Version, InstId),
        number: Number,
    ) -> Option<()> {
        let graph = self.versions.graph(reads);
        let (address_of, data_type) = (graph.pointer(load)?, graph.nodes[load].data_type);
        let address = self.address_over(looked_into, pair, walks, reads, address_of, DEEPEST);
        // What is not known yet is taken to be the same until it is.
        if number == UNKNOWN || address.as_ref().is_some_and(Address::is_unknown) {
            return Some(());
        }
        let mut unknown = self.matching.entry_phis(self.versions, Version::Opt, pair);
        let is_unknown = |&phi: &InstId| {
            self.congruence.of.opt[self.versions.graph(Version::Opt).result(phi)] == UNKNOWN
        };
        if address.is_none()
            && let Some(phi) = unknown.find(is_unknown)
        {
            looked_into.push((Version::Opt, phi));
            return Some(());
        }
        let mut steps = MOST_STEPS;
        let is_same = reads == Version::Opt || !self.versions.has_lone;
        let versions = [Version::Opt, Version::Base];
        let versions = if is_same { &versions[..] } else { &versions[1..] };
        for &which in versions {
            // Behind the head of a loop that it crosses, numbers of this round and of the last one
            // are the same.
            if walks[which].goes_round || self.computes_again(which, walks[which]) {
                continue;
            }
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
                    let has_it = self.are_same_on_edge(which, [value, number], (last, to))
                        && left.is_some()
                        && self.oracle.place_at_end(which, inst, last) == left;
                    if !has_it {
                        continue;
                    }
                    let is_it =
                        address.as_ref().is_some_and(|a| self.is_address(which, pointer, a));
                    let asked = (reads, address_of, which, pointer);
                    let proved = match is_it {
                        true => Some(LookedInto::new()),
                        false => self.is_same_address(way, asked),
                    };
                    if let Some(proved) = proved {
                        looked_into.push((which, inst));
                        let made = made(graph, pointer);
                        let operations = made.map(|made| made.operations).unwrap_or_default();
                        looked_into.extend(operations.into_iter().map(|inst| (which, inst)));
                        looked_into.extend(proved);
                        return Some(());
                    }
                }
                at = version.scopes.immediate(block);
            }
        }
        None
    }

    /// The instructions that were looked into to prove that an address behind the head of a pair is
    /// one that either version has where the way in ends; if that fails, on each way into the pair
    /// before.
    fn is_same_address(
        &self,
        (from, way): (PairId, Way<'_>),
        (behind, address, which, other): (Version, Operand, Version, Operand),
    ) -> Option<LookedInto> {
        let is_plain = |(_, walks): &Way<'_>| {
            let mut both = Version::BOTH.into_iter();
            both.all(|w| !walks[w].goes_round && !self.computes_again(w, walks[w]))
        };
        let (_, edges) = way.1[which].edges.split_last()?;
        // The other address is where the last way ends, so it is made of what came in before.
        let terms_of = |ways: &[Way<'_>]| {
            ways.iter().all(is_plain).then_some(())?;
            let mut terms = Terms::new(Into::Operations);
            terms.roots = [
                self.term_behind(&mut terms, ways, behind, address, DEEPEST)?,
                self.term_at_end(&mut terms, (edges, &ways[1..]), which, other, DEEPEST)?,
            ];
            Some(terms)
        };
        let terms = terms_of(&[way])?;
        if let Some(looked_into) = self.are_equal(&terms, false) {
            return Some(looked_into);
        }
        let before = self.before_way(from, &terms)?;
        let mut all = LookedInto::new();
        for (_, walks) in self.ways_from(before)? {
            let terms = terms_of(&[way, (before, walks)])?;
            all.extend(self.are_equal(&terms, false)?);
        }
        Some(all)
    }

    /// The term of what an operand is at the end of the chain that edges led to, over some ways
    /// before: phis of silent chains are what came in there.
    fn term_at_end(
        &self,
        terms: &mut Terms,
        (edges, before): (&[(BlockId, BlockId)], &[Way<'_>]),
        which: Version,
        operand: Operand,
        depth: usize,
    ) -> Option<usize> {
        let (version, graph) = (&self.versions.of[which], self.versions.graph(which));
        let crossed = |&inst: &InstId| {
            let value = graph.result(inst);
            edges.iter().any(|&(_, to)| version.is_of_chain(value, to))
        };
        let Some(inst) = graph.definition_of(operand).filter(crossed) else {
            return self.term_behind(terms, before, which, operand, depth);
        };
        if graph.nodes[inst].facts.is_phi() {
            let place = edges.iter().rposition(|&(_, to)| to == graph.block(inst))?;
            let incoming = graph.incoming(inst, edges[place].0)?;
            return self.term_at_end(terms, (&edges[..place], before), which, incoming, depth);
        }
        let can_be = self.can_be(terms, which, inst) && terms.terms.len() < MOST_TERMS;
        let depth = depth.checked_sub(1).filter(|_| can_be)?;
        let operands = graph.operands(inst).iter();
        let operands: Option<Vec<usize>> =
            operands.map(|&o| self.term_at_end(terms, (edges, before), which, o, depth)).collect();
        Some(terms.add_unknown(Term::Operation(which, inst, operands?)))
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
}
