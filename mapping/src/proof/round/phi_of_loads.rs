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
use crate::proof::terms::{DEEPEST, LookedInto};
use crate::versions::facts::VersionFacts;
use crate::versions::graph::{Access, Operand};
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::InstId;

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
        let address = base.graph.pointer(load)?;
        let mut looked_into = vec![(Version::Base, load)];
        for walks in self.ways_in(pair)? {
            let incoming = self.comes_in(Version::Opt, phi, walks.opt)?;
            let number = self.congruence.number(Version::Opt, incoming);
            let address =
                self.address_over(&mut looked_into, pair, walks, Version::Base, address, DEEPEST)?;
            // What is not known yet is taken to be the same until it is.
            if number != UNKNOWN && !address.is_unknown() {
                let place = (&address, node.data_type);
                self.witness(&mut looked_into, walks, Version::Base, place, number)?;
            }
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

    /// A load or store of either version that says that a place has what has this number where
    /// a walk ends, when a version reads it: nothing has written to it since. What is pending opt
    /// does not read.
    pub(super) fn witness(
        &self,
        looked_into: &mut LookedInto,
        walks: PerVersion<&Walk>,
        reads: Version,
        (address, data_type): (&Address, u32),
        number: Number,
    ) -> Option<()> {
        let mut steps = MOST_STEPS;
        let is_same = reads == Version::Opt || !self.versions.has_lone;
        let versions = [Version::Opt, Version::Base];
        let versions = if is_same { &versions[..] } else { &versions[1..] };
        for &which in versions {
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
}
