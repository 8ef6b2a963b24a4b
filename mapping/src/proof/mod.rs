//! What is proved of two versions.
//!
//! [`matching`] and [`congruence`] prove, together, which chains run at the same time and which
//! values are the same; [`pending`] which stores opt has yet to do, [`contents`] what is in memory.

use crate::proof::congruence::Congruence;
use crate::proof::matching::{Matching, Versions};
use crate::proof::pending::Pending;
use crate::versions::graph::Oracle;
use crate::versions::version::Version;
use midflight_ir::ids::ValueId;

pub mod congruence;
pub mod contents;
mod guesses;
mod keys;
pub mod matching;
pub mod pending;
mod round;
mod shape;

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
    /// Proves what it can.
    pub fn new(mut versions: Versions, oracle: &dyn Oracle) -> Self {
        let (matching, congruence, pending) = pending::matched(&mut versions, oracle);
        Proof { versions, matching, congruence, pending }
    }

    /// What tracking says, unchecked.
    pub fn claimed(versions: Versions, oracle: &dyn Oracle) -> Self {
        let (matching, congruence) = versions.claimed(oracle);
        Proof { versions, matching, congruence, pending: Pending::default() }
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
