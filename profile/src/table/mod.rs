//! Tables: the records of functions in the section `midflight_tables`, which turn path IDs back
//! into blocks and source lines, and slots of calling contexts into call sites.
//!
//! A record about paths holds the graph that Algorithm 3 (thesis 3.2.2) numbered, with the value of
//! each edge. It has two virtual nodes. START has an edge to block 0 with value 0, and a dummy edge
//! to the target of each cut edge. EXIT has a dummy edge from the source of each cut edge, and an
//! edge from each block where a path ends for good. Values at one node ascend in steps of the
//! number of paths from the target before, so an ID decodes by taking at each node the edge with
//! the largest value that does not exceed what is left of the ID.
//!
//! The layout in bytes is in `docs/format.md`.
//!
//! * [`FunctionTable`]: the record about paths, and how it is written
//! * [`ContextTable`]: that about calling contexts
//! * [`read_section`], [`FunctionTable::decode`], [`ContextTable::decode`]: how records are read,
//!   and
//!   all that is checked
//! * [`PathDecoder`]: IDs to paths
//! * [`FunctionTable::check_forest`]: whether a profile can be one of this function
//! * [`image_signature`]: what says that a profile is one of this binary

#[cfg(feature = "alloc")]
mod contexts;
#[cfg(feature = "alloc")]
mod decode;
#[cfg(feature = "alloc")]
mod encode;
#[cfg(feature = "alloc")]
mod forest_check;
#[cfg(feature = "alloc")]
mod model;
#[cfg(feature = "alloc")]
mod path;
mod signature;

#[cfg(feature = "alloc")]
pub use crate::record::{Damage, key_of};
#[cfg(feature = "alloc")]
pub use contexts::{ContextTable, Granularity, Recursion, Site};
#[cfg(feature = "alloc")]
pub use decode::{Records, TableError, TableErrorKind, read_section};
#[cfg(feature = "alloc")]
pub use forest_check::ForestMismatch;
#[cfg(feature = "alloc")]
pub use midflight_abi::Mode;
#[cfg(feature = "alloc")]
pub use model::{Block, CutReason, Edge, FunctionTable, Loc, Stage, UnknownStage};
#[cfg(feature = "alloc")]
pub use path::{NumberingError, Path, PathDecoder, PathEnd, PathStart};
pub use signature::image_signature;
