//! How things are written, in all outputs alike: `numbers` and shares, those of which only bounds
//! may be [`known`], [`names`], source `lines`, words of a `shell`, [`json`], `tree`s, a `page`
//! for browsers; and where to (`sink`, `progress`).

pub mod json;
pub mod known;
pub(crate) mod lines;
pub mod names;
pub(crate) mod numbers;
pub(crate) mod page;
pub(crate) mod progress;
pub(crate) mod shell;
pub(crate) mod sink;
pub(crate) mod tree;
