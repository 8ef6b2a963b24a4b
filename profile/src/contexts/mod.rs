//! Hot calling contexts in small space: thesis 3.1.
//!
//! A calling context is the sequence of calls that have not returned, a node of the calling context
//! tree (CCT), which counts how often the context was entered. N is the sum of all counts. A
//! context is *hot* if it was entered at least ⌊φN⌋ times (Definition 3.1); the hot calling context
//! tree (HCCT, Definition 3.2) is the hot nodes and their ancestors. Since CCTs have tens of
//! millions of nodes, a program does not keep its own:
//!
//! ```text
//!     calls and returns
//!           │  space_saving: at most |M| = 1/ε contexts are monitored; a new one takes over the
//!           │                counter of the least, its victim
//!           │  lazy_queue:   Algorithm 2 finds the least in constant amortized time
//!           │  hot_contexts: Algorithm 1 removes what spans no monitored context
//!           ▼
//!     MCCT, the monitored contexts and their ancestors
//!           │  hot_tree: the query, and sums over threads, processes and runs
//!           ▼
//!     (φ, ε)-HCCT (Definition 3.4), of which the HCCT is a part
//! ```
//!
//! What a program runs is generic over where nodes and entries of M are kept: it allocates nothing,
//! and nothing of it panics. `reference` has the same to the letter of the thesis, for tests.
//!
//! # What a count means
//!
//! A monitored context has a count and an error: it was entered at most `count` times and at least
//! `count − error` times. One that is not monitored was entered at most [`SpaceSaving::floor`]
//! times. Both error and floor are at most the least monitored count, and so at most N / |M|; as
//! long as no context has been a victim both are 0, and all counts exact.
//!
//! # Where the definitions need care
//!
//! * That no hot context is missed takes more than ε < φ: with ⌊φN⌋ ≤ εN, as N = 7, φ = 0.5 and
//!   ε = 0.45 give, a context may be hot that was just a victim. It is certain where the floor is
//!   below ⌊φN⌋ ([`HotTree::misses_none`]), hence where (φ − ε)N ≥ 1.
//! * Definition 3.3 asks for no context with a count of ⌊(φ − ε)N⌋ or less. Space-Saving gives what
//!   is said below Definition 3.4: none with less.
//! * The HCCT of Definition 3.2 is empty where nothing is hot, that of the Steiner tree has the
//!   root. Here it is empty.

pub mod hot_contexts;
#[cfg(feature = "alloc")]
pub mod hot_tree;
pub mod lazy_queue;
#[cfg(feature = "alloc")]
pub mod reference;
mod share;
pub mod space_saving;

pub use hot_contexts::ContextTree;
#[cfg(feature = "alloc")]
pub use hot_tree::HotTree;
pub use lazy_queue::{Counters, Entries, LazyQueue};
pub use share::Share;
pub use space_saving::{Monitor, SpaceSaving};

/// A call, the label of a node: which function is called, and from where.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Call {
    /// The function that is called
    pub function: u64,
    /// The number of the call site in the function that calls
    pub site: u32,
}
