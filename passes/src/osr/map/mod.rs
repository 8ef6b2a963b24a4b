//! Versions that differ, mapped both ways (thesis 4.2).
//!
//! `base` is a function, `opt` a clone of it to which passes were applied: a [`version::Version`] is
//! one of them, [`version::PerVersion`] something of each. An OSR mapping (Def. 4.15) says for each
//! point of the one where execution goes on in the other, and how the values that are live there
//! are had:
//!
//! 1. [`read`] reads both versions, and what tracking knows of them, into [`graph::Graph`]s,
//!    [`claims`] what LLVM's solver knows;
//! 2. [`live`] finds the branches that are never taken, [`chains`] and [`hammocks`] the blocks that
//!    always run one after the other, [`gates`] the branches that decide phis;
//! 3. [`matching`] and [`congruence`] prove, together, which chains run at the same time and which
//!    values are the same; [`pending`] which stores opt has yet to do, [`contents`] what is in
//!    memory;
//! 4. [`reconstruct`] builds compensation code for a point (Alg. 8, 9), [`mapping`] chooses
//!    landings and keep sets for all of them (Alg. 7);
//! 5. [`compose`] makes one mapping of several (Lemma 4.6), [`do_passes`] those of a pipeline
//!    (Alg. 10), which [`check_composed`] compares with what is proved directly.

pub mod actions;
pub mod chains;
pub mod check_composed;
pub mod claims;
pub mod compose;
pub mod congruence;
pub mod contents;
pub mod do_passes;
pub mod flags;
pub mod gates;
pub mod graph;
mod guesses;
pub mod hammocks;
mod keys;
pub mod live;
pub mod live_sets;
pub mod mapping;
pub mod maps;
pub mod marks;
pub mod matching;
pub mod mutant;
pub mod opt_options;
pub mod opt_pass;
pub mod optimize;
pub mod pending;
pub mod positions;
pub mod print_map;
pub mod read;
pub mod reconstruct;
pub mod report;
mod round;
pub mod scopes;
mod shape;
pub mod side;
pub mod version;
pub mod weave;
