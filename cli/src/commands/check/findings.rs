//! Whether the counts of a profile can be those of a run.
//!
//! What flows into a place flows out of it, or is interrupted there. Of each function:
//!
//! - an activation takes at most one path from the entry: of these there are no more than entries;
//! - a path behind a cut edge comes after one that ends with it: no more begin behind it than end
//!   with it, but for a call that returns twice, which may return more often than it was reached;
//! - at each block, the recovered counts of the edges in add up to those of the edges out;
//! - a sequence of paths is continued at most as often as it occurred.
//!
//! Events that were lost may make up the difference and, of sequences, those that were counted with
//! less of what came before: single paths are exact if none is lost. What remains of the
//! differences, added up, is the number of interrupted activations.
//!
//! Where a profile says that counting began within activations, or went on while it was written,
//! these explain all but the third: a path that was counted has all of its edges.

use crate::commands::check::flow;
use crate::input::function::Function;
use midflight_profile::format::{FLAG_BEGAN_WITHIN, FLAG_WENT_ON};
use serde::Serialize;

/// Something that no run can have counted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Violation {
    /// More paths begin at the entry than activations.
    Entry {
        /// Paths from the entry
        paths: u64,
        /// Activations begun
        entries: u64,
    },
    /// More paths begin behind a cut edge than end with it.
    Edge {
        /// Its source block
        from: u32,
        /// Its target block
        to: u32,
        /// Paths that begin behind it
        started: u64,
        /// Paths that end with it
        ended: u64,
    },
    /// The edges of a block do not add up.
    Block {
        /// The block
        block: u32,
        /// Counts of the edges in
        entered: u64,
        /// Counts of the edges out
        left: u64,
    },
    /// A sequence is continued more often than it occurred.
    Sequence {
        /// The IDs of its paths
        ids: Vec<u32>,
        /// How often it occurred
        count: u64,
        /// How often it may have occurred at most
        most: u64,
        /// How often it was continued
        continued: u64,
    },
}

impl Violation {
    /// Whether it compares what is counted at different times of an activation.
    fn has_to_do_with_time(&self) -> bool {
        !matches!(self, Self::Block { .. })
    }
}

/// What was found in a function.
#[derive(Clone, Debug, Serialize)]
pub struct Checked<'a> {
    /// Its name
    pub name: &'a str,
    /// The translation unit that a local function belongs to
    pub unit: &'a str,
    /// Activations begun
    pub entries: u64,
    /// Paths counted
    pub paths: u128,
    /// Activations that did not end
    pub interrupted: u64,
    /// Events counted at truncated windows: with fewer paths before them than k tells
    pub truncated: u64,
    /// Events not counted for want of memory
    pub lost: u64,
    /// Events after which the published algorithm has broken sequences off
    pub restarts: u64,
    /// What cannot be; empty if all is well
    pub violations: Vec<Violation>,
    /// What could not be, had all counts been of whole activations and of one moment
    pub explained: Vec<Violation>,
}

/// What was found in a profile.
#[derive(Clone, Debug, Serialize)]
pub struct Findings<'a> {
    /// Of its JSON
    pub version: u32,
    /// Whether flow is conserved, but for what is explained
    pub conserved: bool,
    /// Whether counting began within activations, as the profile says
    pub began_within: bool,
    /// Whether counting went on while the profile was written, as it says
    pub went_on: bool,
    /// The functions that ran
    pub functions: Vec<Checked<'a>>,
}

/// Checks all functions that ran; `flags` are those of the profile.
pub fn check<'a>(functions: &'a [Function<'a>], flags: u32) -> Findings<'a> {
    let began_within = flags & FLAG_BEGAN_WITHIN != 0;
    let went_on = flags & FLAG_WENT_ON != 0;
    let checked = functions.iter().filter_map(|function| {
        let profile = function.profile?;
        let (explained, violations) = flow::violations(function, profile)
            .into_iter()
            .partition(|violation| (began_within || went_on) && violation.has_to_do_with_time());
        Some(Checked {
            name: &function.table.name,
            unit: &function.table.unit,
            entries: profile.totals.entries,
            paths: profile.forest.total(),
            interrupted: function.interrupted(),
            truncated: function.truncated(),
            lost: profile.totals.lost,
            restarts: profile.totals.restarts,
            violations,
            explained,
        })
    });
    let functions: Vec<Checked<'a>> = checked.collect();
    let conserved = functions.iter().all(|function| function.violations.is_empty());
    Findings { version: 2, conserved, began_within, went_on, functions }
}
