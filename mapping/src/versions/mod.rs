//! Two versions of a function, and what can be said of each by itself.
//!
//! A version is a [`graph::Graph`]. [`live`] finds the branches that are never taken, [`chains`]
//! and [`hammocks`] the blocks that always run one after the other, [`gates`] the branches that
//! decide phis, by the [`scopes`] that they dominate; [`derive`] all of them, in order.

pub mod chains;
pub mod derive;
pub mod facts;
pub mod gates;
pub mod graph;
pub mod hammocks;
pub mod live;
pub mod scopes;

pub use midflight_profile::osr_maps::version;
