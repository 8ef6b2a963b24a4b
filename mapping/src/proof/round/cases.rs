//! Switches that go to the same case though they decide by other values: by one that a pass
//! narrowed, or added a constant to.

use crate::proof::matching::{Condition, PairId, Relation};
use crate::proof::numbers::{Number, UNKNOWN};
use crate::proof::round::Round;
use crate::proof::terms::{DEEPEST, LookedInto, Term, Terms};
use crate::versions::graph::{Cases, Extends, Operand};
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::InstId;

/// An operand of a version, with its number where it is used.
#[derive(Clone, Copy)]
pub(super) struct Numbered {
    pub(super) which: Version,
    pub(super) operand: Operand,
    pub(super) number: Number,
}

impl Round<'_> {
    /// Finds the switches of opt that are proved to go to the case that base's one goes to.
    pub(in crate::proof) fn settle_cases(&mut self) {
        for (id, pair) in self.matching.pairs.iter_enumerated() {
            if let Some(Condition { insts, relation: Relation::Cases }) = pair.condition
                && let Some(looked_into) = self.have_same_cases(id, insts)
            {
                self.congruence.same_cases.insert(insts.opt);
                self.congruence.looked_into.insert((Version::Opt, insts.opt), looked_into);
            }
        }
    }

    /// True if one switch decides by what the other one does with something added, and its cases
    /// are those of the other one with that added; or if the wider one decides by what the other
    /// one does, extended.
    fn have_same_cases(&self, pair: PairId, insts: PerVersion<InstId>) -> Option<LookedInto> {
        let versions = self.versions;
        let cases = PerVersion::from_fn(|w| versions.graph(w).nodes[insts[w]].cases.as_ref());
        let (base, opt) = (cases.base?, cases.opt?);
        let decides = PerVersion::from_fn(|w| {
            let operand = versions.graph(w).operands(insts[w])[0];
            let block = versions.graph(w).block(insts[w]);
            (operand, self.congruence.at(versions, w, operand, block))
        });
        if decides.iter().any(|&(_, number)| number == UNKNOWN) {
            return None;
        }
        let mask = |bits: u32| if bits == 64 { u64::MAX } else { (1 << bits) - 1 };
        if base.bits == opt.bits {
            let added = |number: Number| self.terms_and_constant(number);
            let (of_base, by_base) = added(decides.base.1);
            let (of_opt, by_opt) = added(decides.opt.1);
            let by = by_base.wrapping_sub(by_opt) as u64;
            let mut values = base.values.iter().zip(&opt.values);
            let is_same =
                values.all(|(b, o)| b.wrapping_sub(*o).wrapping_sub(by) & mask(base.bits) == 0);
            return (of_base == of_opt && is_same).then(Vec::new);
        }
        let (wide, narrow) = if base.bits > opt.bits {
            (Version::Base, Version::Opt)
        } else {
            (Version::Opt, Version::Base)
        };
        let cases = PerVersion { base, opt };
        let decided =
            |w: Version| Numbered { which: w, operand: decides[w].0, number: decides[w].1 };
        let operands = decides.map(|(operand, _)| operand);
        Cases::extensions(cases).find_map(|Extends { signed, .. }| {
            self.is_extended(decided(wide), decided(narrow), Some(signed))
                .or_else(|| self.is_extended_on_each_way(pair, operands, (wide, signed)))
        })
    }

    /// The same of an operand of the wider version behind the head of a pair, if it is the one of
    /// the narrower one extended on each way in.
    fn is_extended_on_each_way(
        &self,
        pair: PairId,
        operands: PerVersion<Operand>,
        (wide, signed): (Version, bool),
    ) -> Option<LookedInto> {
        let Operand::Value(like) = operands[wide] else { return None };
        let proves = |terms: &Terms, _| {
            let mut terms = terms.clone();
            let narrow = usize::from(wide == Version::Base);
            let term = terms.roots[narrow];
            terms.roots[narrow] =
                terms.add_unknown(Term::Extended { term, signed, like: (wide, like) });
            self.are_equal(&terms, false)
        };
        self.over_ways(pair, operands, &mut Vec::new(), &proves)
    }

    /// The instructions that were looked into to prove that a value is another one, extended if it
    /// is said how.
    pub(super) fn is_extended(
        &self,
        wide: Numbered,
        narrow: Numbered,
        signed: Option<bool>,
    ) -> Option<LookedInto> {
        let Operand::Value(like) = wide.operand else { return None };
        let mut terms = Terms::default();
        let [of_wide, of_narrow] = [wide, narrow].map(|Numbered { which, operand, number }| {
            self.term_of(&mut terms, which, operand, Some(number), DEEPEST)
        });
        let (of_wide, term) = (of_wide?, of_narrow?);
        let of_narrow = match signed {
            Some(signed) => {
                terms.add_unknown(Term::Extended { term, signed, like: (wide.which, like) })
            }
            None => term,
        };
        terms.roots = [of_wide, of_narrow];
        self.are_equal(&terms, false)
    }
}
