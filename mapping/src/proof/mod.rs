//! What is proved of two versions.
//!
//! What is found is data: which chains run at the same time ([`matching`]), which values are the
//! same ([`congruence`], by [`numbers`], and `places` in memory), which stores opt has yet to do
//! ([`pending`]). Each algorithm reads that and is a file of its own; [`prove`] runs them all.

use crate::proof::congruence::Congruence;
use crate::proof::matching::Matching;
use crate::proof::numbers::Number;
use crate::proof::pending::Pending;
use crate::unfold::Product;
use crate::unfold::memory::is_there;
use crate::versions::facts::Versions;
use crate::versions::graph::Operand;
use crate::versions::version::Version;
use midflight_ir::ids::{InstId, ValueId};

mod addresses;
mod bisimulation;
mod candidates;
pub mod congruence;
mod epochs;
mod guesses;
mod keys;
mod lone;
pub mod matching;
pub mod numbers;
pub mod partings;
pub mod pending;
mod places;
pub mod prove;
mod round;
mod shape;
pub mod terms;

/// What is proved of two versions.
#[derive(Clone, Debug)]
pub struct Proof {
    /// The versions
    pub versions: Versions,
    /// The versions unfolded, if what follows is of these ([`Proof::proved`])
    pub product: Option<Product>,
    /// Which chains run together
    pub matching: Matching,
    /// Which values are the same
    pub congruence: Congruence,
    /// What opt owes to memory
    pub pending: Pending,
}

impl Proof {
    /// The versions that are matched, and whose values are numbered: as they are, or unfolded.
    pub fn proved(&self) -> &Versions {
        self.product.as_ref().map_or(&self.versions, |product| &product.versions)
    }

    /// The instruction of a version that one of the proved version is.
    pub fn folded(&self, which: Version, inst: InstId) -> InstId {
        self.product.as_ref().map_or(inst, |product| product.folds[which].insts[inst])
    }

    /// True for an instruction of the proved version that the version has, too.
    pub fn is_of_version(&self, which: Version, inst: InstId) -> bool {
        self.product.as_ref().is_none_or(|product| product.folds[which].is_copy(inst))
    }

    /// The same for a value
    pub fn folded_value(&self, which: Version, value: ValueId) -> ValueId {
        self.product.as_ref().map_or(value, |product| product.folds[which].value(value))
    }

    /// Where an instruction is in the proved version, if it may be reached there.
    pub fn instances(&self, which: Version, inst: InstId) -> Vec<InstId> {
        match &self.product {
            Some(product) => product.instances(which, inst).collect(),
            None => vec![inst],
        }
    }

    /// The numbers that an operand has in the proved version: one for each copy of what defines it;
    /// sorted.
    pub fn numbers(&self, which: Version, operand: Operand) -> Vec<Number> {
        let proved = self.proved().graph(which);
        let copies = self.versions.graph(which).definition_of(operand);
        let Some(inst) = copies else { return vec![self.congruence.number(which, operand)] };
        let copies = self.instances(which, inst).into_iter();
        let mut numbers: Vec<Number> =
            copies.map(|copy| self.congruence.of[which][proved.result(copy)]).collect();
        numbers.sort_unstable();
        numbers.dedup();
        numbers
    }

    /// The value of the proved version that has what a value of the version has before an
    /// instruction of the proved version; none if there is none.
    pub fn reaching(&self, which: Version, value: ValueId, before: InstId) -> Option<ValueId> {
        match &self.product {
            Some(product) => product.folds[which].reaching(value, before),
            None => Some(value),
        }
    }

    /// The same of a value that need not be there on all ways of the version: what it was when it
    /// was computed last.
    pub fn last(&self, which: Version, value: ValueId, before: InstId) -> Option<ValueId> {
        match &self.product {
            Some(product) => product.folds[which].last(value, before),
            None => Some(value),
        }
    }

    /// True if an address that an instruction of the proved version accesses is what it would be if
    /// it were computed before another one.
    pub fn has_address_at(&self, which: Version, place_of: InstId, before: InstId) -> bool {
        let Some(Product { versions, folds }) = &self.product else { return true };
        let graph = versions.graph(which);
        let pointer = graph.pointer(place_of);
        pointer.is_some_and(|pointer| is_there(graph, &folds[which], pointer, before))
    }

    /// The value of the other version that tracking says is this one.
    pub fn counterpart(&self, which: Version, value: ValueId) -> Option<ValueId> {
        let versions = &self.versions;
        let Some(inst) = versions.graph(which).definition(value) else { return Some(value) };
        let tracked = &versions.tracked;
        let other = if which == Version::Base { tracked.kept[inst] } else { tracked.origin[inst] };
        Some(versions.graph(which.other()).result(other?))
    }
}
