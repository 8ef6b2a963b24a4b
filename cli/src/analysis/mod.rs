//! What the counts of a profile tell: counts of edges ([`edge_counts`]), which functions and paths
//! have the most work ([`rank`]), which sequences are worth a look ([`sequences`]), and how loops
//! and dispatches behave ([`behaviour`]).

pub mod behaviour;
pub mod edge_counts;
pub mod rank;
pub mod sequences;
