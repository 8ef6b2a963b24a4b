//! What LLVM says of versions, for their unfolded forms.
//!
//! LLVM knows the versions only. What it says of values that are there at one place holds of the
//! values of the unfolded version that have them there ([`Fold::reaching`]); of others nothing is
//! asked.

use crate::proof::terms::{Term, Terms};
use crate::unfold::Fold;
use crate::unfold::memory::is_there;
use crate::versions::graph::{Access, ConstId, Graph, Operand, Oracle};
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::{BlockId, InstId, ValueId};

/// An oracle for unfolded versions.
pub(crate) struct Projected<'a> {
    /// That of the versions
    pub(crate) oracle: &'a dyn Oracle,
    /// How the unfolded versions lead back
    pub(crate) folds: &'a PerVersion<Fold>,
    /// The unfolded versions
    pub(crate) graphs: PerVersion<&'a Graph>,
}

impl Projected<'_> {
    /// The value of the version that an operand has at an instruction of the unfolded version; none
    /// if it may be of another time.
    fn at(&self, which: Version, operand: Operand, inst: InstId) -> Option<Operand> {
        let Operand::Value(value) = operand else { return Some(operand) };
        let fold = &self.folds[which];
        let of = fold.value(value);
        (fold.reaching(of, inst) == Some(value)).then_some(Operand::Value(of))
    }

    fn value(&self, which: Version, value: ValueId) -> ValueId {
        self.folds[which].value(value)
    }

    /// Expressions of the versions.
    fn folded(&self, terms: &Terms) -> Terms {
        let mut terms = terms.clone();
        for term in &mut terms.terms {
            match term {
                Term::Leaf(which, value) => *value = self.value(*which, *value),
                Term::Operation(which, inst, _) | Term::Chosen(which, inst, _) => {
                    *inst = self.folds[*which].insts[*inst];
                }
                Term::Extended { like: (which, value), .. } => *value = self.value(*which, *value),
                Term::Constant(_) => {}
            }
        }
        terms
    }
}

impl Oracle for Projected<'_> {
    fn simplify(&self, which: Version, inst: InstId, operands: &[Operand]) -> Option<Operand> {
        let fold = &self.folds[which];
        let own = self.graphs[which].operands(inst);
        // What it is done to itself is there, too.
        let operands = operands.iter().zip(own).map(|(&operand, &own)| {
            self.at(which, operand, inst).or_else(|| self.at(which, own, inst))
        });
        let operands: Option<Vec<Operand>> = operands.collect();
        match self.oracle.simplify(which, fold.insts[inst], &operands?)? {
            Operand::Value(value) => fold.reaching(value, inst).map(Operand::Value),
            constant => Some(constant),
        }
    }

    fn is_well_defined(&self, which: Version, operand: Operand) -> bool {
        self.oracle.is_well_defined(which, self.folds[which].operand(operand))
    }

    fn is_defined_by_uses(&self, inst: InstId) -> bool {
        // What copies of an instruction give is that also where they have met.
        self.oracle.is_defined_by_uses(self.folds.base.insts[inst])
    }

    fn are_equal(&self, terms: &Terms, negated: bool) -> bool {
        self.oracle.are_equal(&self.folded(terms), negated)
    }

    fn stands_for(&self, terms: &Terms, negated: bool, at: Option<InstId>) -> bool {
        let fold = &self.folds.base;
        let is_there = |at: InstId| {
            terms.terms.iter().all(|term| match *term {
                Term::Leaf(Version::Base, value) => {
                    fold.reaching(fold.value(value), at) == Some(value)
                }
                _ => true,
            })
        };
        let at = at.filter(|&at| is_there(at)).map(|at| fold.insts[at]);
        self.oracle.stands_for(&self.folded(terms), negated, at)
    }

    fn said(
        &self,
        which: Version,
        (asked, of_asked): (InstId, [Operand; 2]),
        (known, of_known, holds): (InstId, [Operand; 2], bool),
    ) -> Option<bool> {
        let value = |operand: &Operand| matches!(operand, Operand::Value(_));
        let [one, other] = [of_asked, of_known].map(|of| of.into_iter().find(value));
        // Copies of one value need not be the same.
        (one == other).then_some(())?;
        let fold = &self.folds[which];
        let folded = |operands: [Operand; 2]| operands.map(|operand| fold.operand(operand));
        let known = (fold.insts[known], folded(of_known), holds);
        self.oracle.said(which, (fold.insts[asked], folded(of_asked)), known)
    }

    fn integer(&self, constant: ConstId) -> Option<i64> {
        self.oracle.integer(constant)
    }

    fn address(&self, constant: ConstId) -> Option<(ConstId, i64)> {
        self.oracle.address(constant)
    }

    fn place_before(&self, which: Version, place_of: InstId, before: InstId) -> Option<Access> {
        let (graph, fold) = (self.graphs[which], &self.folds[which]);
        let pointer = graph.pointer(place_of)?;
        is_there(graph, fold, pointer, before).then_some(())?;
        let (place_of, of) = (fold.insts[place_of], fold.insts[before]);
        let access = self.oracle.place_before(which, place_of, of)?;
        fold.state(graph, access, before)
    }

    fn place_at_end(&self, which: Version, place_of: InstId, block: BlockId) -> Option<Access> {
        self.place_before(which, place_of, self.graphs[which].terminator(block))
    }

    fn touches(&self, which: Version, place_of: InstId, inst: InstId) -> bool {
        let (graph, fold) = (self.graphs[which], &self.folds[which]);
        let is_there = |pointer| is_there(graph, fold, pointer, inst);
        !graph.pointer(place_of).is_some_and(is_there)
            || self.oracle.touches(which, fold.insts[place_of], fold.insts[inst])
    }

    fn writes_around(&self, which: Version, address: Operand, inst: InstId) -> bool {
        let fold = &self.folds[which];
        self.oracle.writes_around(which, fold.operand(address), fold.insts[inst])
    }

    fn memory_before(&self, which: Version, inst: InstId) -> Option<Access> {
        let fold = &self.folds[which];
        let access = self.oracle.memory_before(which, fold.insts[inst])?;
        fold.state(self.graphs[which], access, inst)
    }

    /// It is asked of versions only: here the load may have run again in another copy since.
    fn is_unchanged(&self, _: Version, _: InstId, _: InstId) -> bool {
        false
    }
}
