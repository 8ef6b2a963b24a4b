//! What is proved of two versions.
//!
//! What is found is data: which chains run at the same time ([`matching`]), which values are the
//! same ([`congruence`], by [`numbers`], and `places` in memory), which stores opt has yet to do
//! ([`pending`]). Each algorithm reads that and is a file of its own; [`prove`] runs them all.

use crate::proof::congruence::Congruence;
use crate::proof::matching::Matching;
use crate::proof::pending::Pending;
use crate::versions::facts::Versions;
use crate::versions::version::Version;
use midflight_ir::ids::ValueId;

mod addresses;
mod bisimulation;
mod candidates;
pub mod congruence;
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
    /// Which chains run together
    pub matching: Matching,
    /// Which values are the same
    pub congruence: Congruence,
    /// What opt owes to memory
    pub pending: Pending,
}

impl Proof {
    /// The value of the other version that tracking says is this one.
    pub fn counterpart(&self, which: Version, value: ValueId) -> Option<ValueId> {
        let versions = &self.versions;
        let Some(inst) = versions.graph(which).definition(value) else { return Some(value) };
        let tracked = &versions.tracked;
        let other = if which == Version::Base { tracked.kept[inst] } else { tracked.origin[inst] };
        Some(versions.graph(which.other()).result(other?))
    }
}
