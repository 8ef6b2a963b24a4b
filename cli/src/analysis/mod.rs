//! What the counts of a profile tell: counts of edges ([`edge_counts`]), which functions and paths
//! have the most work ([`rank`]), how often sequences occurred ([`ipf`]), which of them are worth a
//! look ([`sequences`]), and how loops and dispatches behave ([`behaviour`]). Where memory was
//! short numbers are intervals ([`interval`]).

pub mod behaviour;
pub mod edge_counts;
pub mod interval;
pub mod ipf;
pub mod rank;
pub mod sequences;
