//! Versions of a function, and the OSR mappings between them (thesis 4.2).
//!
//! `base` is a function, `opt` a clone of it to which passes were applied: a
//! [`versions::version::Version`] is one of them, [`versions::version::PerVersion`] something of
//! each. An OSR mapping (Def. 4.15) says for each of the [`points`] of the one where execution goes
//! on in the other, and how the values that are live there are reconstructed, or names the
//! [`refusal::Refusal`]:
//!
//! 1. [`versions`]: both as graphs, the branches that are never taken, the blocks that always run
//!    one after the other, the branches that decide phis;
//! 2. [`proof`]: which of these run at the same time, which values are the same, which stores opt
//!    has yet to do;
//!    where a pass copied blocks, of both versions as [`unfold`] has them;
//! 3. [`mapping`]: compensation code, landings and keep sets; mappings composed, and checked.
//!
//! What only LLVM can answer comes through [`versions::graph::Oracle`].

#![forbid(unsafe_code)]

pub mod mapping;
pub mod points;
pub mod proof;
pub mod refusal;
pub mod unfold;
pub mod versions;
