//! What a pass moved over a phi: an operation on a phi that became a phi of operations, and a phi
//! of loads that became a load of a phi.

use crate::proof::candidates::Candidate;
use crate::proof::congruence::value_over;
use crate::proof::matching::{OutEdge, PairId, Walk};
use crate::proof::numbers::UNKNOWN;
use crate::proof::round::Round;
use crate::proof::terms::{DEEPEST, LookedInto, MOST_TERMS, Term, Terms};
use crate::versions::graph::Operand;
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::{BlockId, InstId};

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

    /// The ways into a pair, if each version has one for each edge.
    pub(super) fn ways_in(&self, pair: PairId) -> Option<Vec<PerVersion<&Walk>>> {
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

    pub(super) fn comes_in(&self, which: Version, phi: InstId, walk: &Walk) -> Option<Operand> {
        value_over(self.versions, &self.congruence, which, phi, walk)
    }

    /// What an operand of base behind the head of a pair is if that was entered over a walk: of
    /// phis of its entries what comes in. What is computed behind the head is the error.
    pub(super) fn entered_with(
        &self,
        pair: PairId,
        walk: &Walk,
        operand: Operand,
    ) -> Option<Result<Operand, InstId>> {
        let graph = &self.versions.of.base.graph;
        let Operand::Value(value) = operand else { return Some(Ok(operand)) };
        let Some(inst) = graph.definition(value) else { return Some(Ok(operand)) };
        let block = graph.block(inst);
        let is_entry = self.matching.pairs[pair].entries.base.contains(&block);
        if graph.nodes[inst].facts.is_phi() && is_entry {
            return Some(Ok(self.comes_in(Version::Base, inst, walk)?));
        }
        Some(if self.is_above(pair, block) { Ok(operand) } else { Err(inst) })
    }

    /// True if a block is above all entries of a pair of base.
    pub(super) fn is_above(&self, pair: PairId, block: BlockId) -> bool {
        let mut entries = self.matching.pairs[pair].entries.base.iter();
        let scopes = &self.versions.of.base.scopes;
        entries.all(|&entry| block != entry && scopes.dominates(block, entry))
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
        let inst = match self.entered_with(pair, walks.base, operand)? {
            Ok(operand) => {
                let number = self.congruence.number(Version::Base, operand);
                return self.term_of(terms, Version::Base, operand, Some(number), depth);
            }
            Err(inst) => inst,
        };
        let number = self.congruence.of.base[base.graph.result(inst)];
        if !base.graph.nodes[inst].is_total
            && let Some(phi) = self.phi_with(pair, number)
        {
            let incoming = self.comes_in(Version::Opt, phi, walks.opt)?;
            let number = self.congruence.number(Version::Opt, incoming);
            return self.term_of(terms, Version::Opt, incoming, Some(number), depth);
        }
        let can_be = base.graph.nodes[inst].is_total
            && depth > 0
            && terms.terms.len() < MOST_TERMS
            && number != UNKNOWN;
        can_be.then_some(())?;
        let operands = base.graph.operands(inst).iter();
        let operands: Option<Vec<usize>> =
            operands.map(|&o| self.term_behind(terms, pair, walks, o, depth - 1)).collect();
        Some(terms.add_unknown(Term::Operation(Version::Base, inst, operands?)))
    }
}
