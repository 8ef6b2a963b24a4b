//! What opt stores in place of several stores of base: the value that the place has in base then,
//! as an expression. `*p = a; if (c) *p = b;` has become a store of what `c` chooses, or of what
//! LLVM made of that.

use crate::proof::numbers::{Number, UNKNOWN};
use crate::proof::places::Content;
use crate::proof::round::Round;
use crate::proof::terms::{DEPTHS, LookedInto, MOST_TERMS, Term, Terms};
use crate::versions::facts::{VersionFacts, Versions};
use crate::versions::graph::{Access, Operand};
use crate::versions::version::Version;
use midflight_ir::ids::{BlockId, InstId};
use rustc_hash::FxHashMap as HashMap;

/// Of several stores of base, that one of opt may stand for, so many are tried.
const MOST_EVENTS: usize = 4;

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
        let stores = self.stored_alone.get(&inst)?.iter();
        let mut written = stores.flat_map(|&store| self.before_store(store));
        written.find_map(|(place, access)| {
            let number = self.congruence.content_of(self.versions, &place, access)?;
            (number != UNKNOWN).then_some(())?;
            let own = Operand::Value(self.versions.of.opt.graph.result(inst));
            let looked_into = DEPTHS.into_iter().find_map(|(depth, into)| {
                let mut terms = Terms::new(into);
                let content = self.content_term(&mut terms, (&place, access), inst, depth)?;
                let stored = self.term_of(&mut terms, Version::Opt, own, None, depth)?;
                terms.roots = [content, stored];
                self.are_equal(&terms, false)
            })?;
            Some((number, looked_into))
        })
    }

    /// For a store of opt alone the place in base, and what wrote to it last there, as may be: of
    /// what does so in the segment, behind as many as stores of opt are before this one, and before
    /// as many as are behind it; the last one first.
    fn before_store(&self, store: InstId) -> Vec<(Content, Access)> {
        let all = (self.versions, self.matching, &self.congruence);
        let Some(beside) = self.epochs.beside(all, store) else { return Vec::new() };
        if beside.written.is_empty() {
            let before = (beside.behind == 0).then(|| self.before_segment(store));
            return before.flatten().into_iter().collect();
        }
        let written = beside.written.into_iter().skip(beside.before).rev().skip(beside.behind);
        written.take(MOST_EVENTS).collect()
    }

    /// The same where the place was written to before the segment, where the ways of a branch are
    /// silent.
    fn before_segment(&self, store: InstId) -> Option<(Content, Access)> {
        let versions = self.versions;
        let (pair, segment) = self.matching.segment(versions, Version::Opt, store)?;
        let VersionFacts { graph, chains, .. } = &versions.of.base;
        let end = chains.end_of_segment(graph, self.matching.pairs[pair].chains.base, segment);
        let place = self.congruence.accessed(versions, Version::Opt, store)?;
        let mut stores = graph.nodes.iter_enumerated().filter_map(|(inst, node)| {
            let other = self.congruence.accessed(versions, Version::Base, inst)?;
            (node.lone.is_some() && other.is_same_place(&place)).then_some(other)
        });
        let of_base = stores.next()?;
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
                let mut found = [0; 3];
                for (place_of, holds) in [(1, true), (2, false)] {
                    let content = |from: BlockId| {
                        self.congruence.content_of(self.versions, place, head.access_from(from)?)
                    };
                    gate.one(holds, content)?;
                    let access = head.access_from(gate.side(holds).next()?)?;
                    found[place_of] =
                        self.content_term(terms, (place, access), stored, depth - 1)?;
                }
                // What it compares with what the place had before is that.
                let condition = gate.condition(graph)?;
                let of_condition = Some(self.congruence.number(Version::Base, condition));
                found[0] = self.term_of(terms, Version::Base, condition, of_condition, depth)?;
                Some(terms.add(Term::Chosen(Version::Opt, stored, found), number))
            }
            Access::Entry => None,
        }
    }
}
