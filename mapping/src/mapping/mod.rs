//! OSR mappings: for each point its landing, and the compensation code.
//!
//! [`reconstruct`] builds compensation code for a point (Alg. 8, 9), [`mapper`] chooses landings and
//! keep sets for all of them (Alg. 7); [`compose`] makes one mapping of several (Lemma 4.6), which
//! [`check_composed`] compares with what is proved directly.

mod ahead;
pub mod check_composed;
pub mod compose;
pub mod history;
pub mod live_sets;
pub mod mapper;
pub mod marks;
pub mod positions;
pub mod reconstruct;
pub mod side;
