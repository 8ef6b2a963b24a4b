//! What opt stores in place of several stores of base: the value that the place has in base then,
//! as an expression. `*p = a; if (c) *p = b;` has become a store of what `c` chooses, or of what
//! LLVM made of that.

use crate::proof::numbers::{Number, UNKNOWN};
use crate::proof::places::Content;
use crate::proof::round::Round;
use crate::proof::terms::{DEPTHS, LookedInto, MOST_TERMS, Term, Terms};
use crate::versions::facts::{VersionFacts, Versions};
use crate::versions::graph::{Access, Operand};
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::{BlockId, InstId};
use rustc_hash::FxHashMap as HashMap;

/// For each instruction of opt whose result a store of opt alone stores, in its chain, such stores
pub(super) fn stored_alone(versions: &Versions) -> HashMap<InstId, Vec<InstId>> {
    let VersionFacts { graph, chains, .. } = &versions.of.opt;
    let mut stored: HashMap<InstId, Vec<InstId>> = HashMap::default();
    for (store, _) in graph.nodes.iter_enumerated().filter(|(_, node)| node.lone.is_some()) {
        let inst = graph.operands(store).first().and_then(|&o| graph.definition_of(o));
        let chain = |inst: InstId| chains.of_inst(graph, inst);
        if let Some(inst) = inst.filter(|&inst| chain(inst) == chain(store)) {
            stored.entry(inst).or_default().push(store);
        }
    }
    stored
}

impl Round<'_> {
    /// The number of what base has in a place where opt stores the result of an instruction to it,
    /// and the instructions that were looked into to prove that both are the same.
    pub(super) fn as_stored(&self, inst: InstId) -> Option<(Number, LookedInto)> {
        let mut stores = self.stored_alone.get(&inst)?.iter();
        stores.find_map(|&store| {
            let (place, access) = self.before_store(store)?;
            let number = self.congruence.content_of(self.versions, &place, access)?;
            (number != UNKNOWN).then_some(())?;
            let own = Operand::Value(self.versions.of.opt.graph.result(inst));
            let looked_into = DEPTHS.into_iter().find_map(|(depth, is_deep)| {
                let mut terms = Terms::new(is_deep);
                let content = self.content_term(&mut terms, (&place, access), inst, depth)?;
                let stored = self.term_of(&mut terms, Version::Opt, own, None, depth)?;
                terms.roots = [content, stored];
                self.are_equal(&terms, false)
            })?;
            Some((number, looked_into))
        })
    }

    /// The place of a store of opt alone, and what may have written to it last in base where the
    /// segment ends that the store is in.
    fn before_store(&self, store: InstId) -> Option<(Content, Access)> {
        let PerVersion { base, opt } = &self.versions.of;
        let chain = opt.chains.of_inst(&opt.graph, store)?;
        let pair = &self.matching.pairs[self.matching.of_chain.opt[chain]?];
        let segment = opt.chains.segment[store];
        (segment <= pair.prefix).then_some(())?;
        let chain = &base.chains.chains[pair.chains.base];
        let end = chain.anchors.get(segment).copied();
        let end = end.unwrap_or_else(|| base.graph.terminator(base.chains.last(pair.chains.base)));
        let place = self.congruence.accessed(self.versions, Version::Opt, store)?;
        let alone = base
            .graph
            .nodes
            .iter_enumerated()
            .filter(|(_, node)| node.lone.is_some() && node.data_type == place.data_type);
        let accessed = |(inst, _)| self.congruence.accessed(self.versions, Version::Base, inst);
        let of_base = alone.filter_map(accessed).find(|other| other.number == place.number)?;
        Some((of_base, self.oracle.place_before(Version::Base, of_base.place_of, end)?))
    }

    /// The term of what a place of base has where `access` may have written to it last, of the type
    /// of what opt has stored.
    fn content_term(
        &self,
        terms: &mut Terms,
        (place, access): (&Content, Access),
        stored: InstId,
        depth: usize,
    ) -> Option<usize> {
        let number = self.congruence.content_of(self.versions, place, access)?;
        (number != UNKNOWN && terms.terms.len() < MOST_TERMS).then_some(())?;
        if let Some(&known) = terms.known.get(&number) {
            return Some(known);
        }
        let VersionFacts { graph, gates, .. } = &self.versions.of.base;
        match access {
            Access::Def(store) => {
                self.congruence.stored(self.versions, place, access)??;
                let operand = *graph.operands(store).first()?;
                self.term_of(terms, Version::Base, operand, Some(number), depth)
            }
            Access::Phi(join) => {
                (depth > 0).then_some(())?;
                let gate = gates[join].as_ref()?;
                let head = self.congruence.contents.heads.get(&place.key(join))?;
                let access_from = |from: BlockId| {
                    head.incoming.iter().find(|(other, _)| *other == from).map(|&(_, of)| of)
                };
                let condition = gate.condition(graph)?;
                let condition_number = self.congruence.number(Version::Base, condition);
                let mut found = [0; 3];
                found[0] =
                    self.term_of(terms, Version::Base, condition, Some(condition_number), depth)?;
                for (place_of, holds) in [(1, true), (2, false)] {
                    let content = |from: BlockId| {
                        self.congruence.content_of(self.versions, place, access_from(from)?)
                    };
                    gate.one(holds, content)?;
                    let access = access_from(gate.side(holds).next()?)?;
                    found[place_of] =
                        self.content_term(terms, (place, access), stored, depth - 1)?;
                }
                Some(terms.add(Term::Chosen(Version::Opt, stored, found), number))
            }
            Access::Entry => None,
        }
    }
}
