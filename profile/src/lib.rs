//! Path forests, path tables and the profile file: what is counted, what a count means, and how
//! both are kept. No LLVM and no operating system.
//!
//! # From a run to a count
//!
//! Ball-Larus numbering (thesis 3.2.2, Algorithm 3) gives each acyclic path of a function an ID.
//! An activation of the function emits a stream: the marker ∗, then one ID for each acyclic path
//! that it takes. Everything here is about such streams:
//!
//! ```text
//!            stream ∗ 6 2 0 0 2 …
//!                 │  windows: each event at the last k paths of its activation
//!                 │  ksf: or Algorithm 4, online, at most two nodes an event
//!                 ▼
//!        windows, or k-slab forest (k-SF)  ──────►  format: the profile file
//!                 │  kipf: Algorithms 5 and 6, on demand
//!                 ▼
//!   k-iteration path forest (k-IPF): the count of every run of up to k acyclic paths
//!                 │  table: ID → blocks → source lines
//!                 ▼
//!              a report
//! ```
//!
//! All of these are prefix forests ([`forest`], Definition 3.5). Windows are what a program counts;
//! the k-IPF is what a person reads. [`ksf`] follows the paper to the letter. It has the same
//! k-IPF, and so is the oracle for the runtime library's automaton, as is [`mod@windows`]. Where
//! memory was short, [`bounds`] says by how much counts may be too low.
//!
//! # Who uses what
//!
//! | who | what | `alloc` |
//! |---|---|---|
//! | the passes | [`table::FunctionTable::encode`]: the record that goes into the binary | yes |
//! | the runtime library | [`format::Encoder`], [`format::Pair`], [`table::image_signature`], [`contexts`] | no |
//! | the command | [`table::read_section`], [`format::Profile`], [`kipf`] | yes |
//! | the last two | [`visible_pieces`], [`visible()`]: names that files give, as they may be shown | no |
//!
//! [`contexts`] is about calls instead of paths: the hot calling contexts of a program, found in
//! small space.
//!
//! [`osr_maps`] is the other thing that a binary may tell of itself: where on-stack replacement
//! leads from each point. The passes write it and the command reads it. [`weights`] goes the other
//! way: what the command recovers from a profile leads the optimizer.
//!
//! Without the feature `alloc` nothing here allocates, and nothing panics.
//!
//! # Foreign bytes
//!
//! Records and profiles come from files that may be truncated, stale or hostile. Readers return an
//! error that says what is wrong, never panic, never recurse, and allocate in proportion to the
//! bytes they were given, whatever numbers stand in them.
#![no_std]
#![forbid(unsafe_code)]

#[cfg(feature = "alloc")]
extern crate alloc;

#[cfg(feature = "alloc")]
pub mod bounds;
mod checksum;
pub mod contexts;
mod cursor;
#[cfg(feature = "alloc")]
pub mod forest;
pub mod format;
#[cfg(feature = "alloc")]
pub mod kipf;
#[cfg(feature = "alloc")]
pub mod ksf;
mod leb128;
#[cfg(feature = "alloc")]
pub mod osr_maps;
#[cfg(feature = "alloc")]
mod put;
#[cfg(feature = "alloc")]
mod record;
pub mod table;
mod visible;
#[cfg(feature = "serde")]
pub mod weights;
#[cfg(feature = "alloc")]
pub mod windows;

pub use cursor::Malformed;
#[cfg(feature = "alloc")]
pub use visible::visible;
pub use visible::{is_visible, visible_pieces};

/// Levels that a k-SF may have: 2k − 2 (thesis 3.2.3), and 1 where k is 1. Windows have k.
pub const fn max_slab_levels(k: u32) -> u32 {
    if k <= 1 { 1 } else { k.saturating_mul(2) - 2 }
}
