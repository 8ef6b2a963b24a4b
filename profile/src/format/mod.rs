//! The profile file: what a run of a program leaves behind.
//!
//! A header that lists the sections, then the sections, each with its kind, size and checksum:
//! modules (the images of the process that have records), windows (the counters of each function
//! and thread), k-slab forests (those of functions that count by Algorithm 4 as published), calling
//! contexts (the tree of each thread) and the memory that the run took. All of it is in
//! `docs/format.md`.
//!
//! * [`Encoder`] streams a file out without allocating: the runtime library's side
//! * [`Pair`] adds two files up without allocating: the runtime library's side, too
//! * [`Profile`] is a whole file in memory: the command's side
//!
//! A program may also count in its file (`docs/runtime.md`). Then the file is the program's memory
//! until it ends, and [`Profile::read`] reads that.

mod add;
mod contexts;
mod encoder;
mod error;
mod header;
#[cfg(feature = "alloc")]
mod memory;
#[cfg(feature = "alloc")]
mod merge;
mod modules;
#[cfg(feature = "alloc")]
mod profile;
#[cfg(feature = "alloc")]
mod read;
mod sections;
mod slabs;
mod used;
mod windows;

pub use add::{AddError, Needs, Node, Pair, Piece, Place, Room, SumContext, SumFunction};
pub use contexts::{Bursts, ContextCounts, ContextFunction, ContextMode, ContextsHeader};
#[cfg(feature = "alloc")]
pub use contexts::{CalledFunction, CalledId, ContextId, ContextOverflow, Contexts, ForestError};
pub use encoder::{Encoder, Sink};
pub use error::{ReadError, SumOverflow};
pub use header::ForestHeader;
#[cfg(feature = "alloc")]
pub use memory::MemoryState;
#[cfg(feature = "alloc")]
pub use merge::MergeError;
pub use midflight_abi::Totals;
#[cfg(feature = "alloc")]
pub use profile::{Counters, FunctionProfile, Module, Profile};
pub use sections::{FLAG_BEGAN_WITHIN, FLAG_LOWER_BOUNDS, FLAG_WENT_ON, HEADER_SIZE};
pub use used::MemoryUse;
