//! What a command works on: binaries with their records ([`binary`]), [`profiles`], both joined to
//! functions with what was counted in them ([`session`], [`function`]) and to calling contexts
//! ([`contexts`]), samples of `perf` ([`samples`]), and source text ([`sources`]).

pub mod binary;
pub mod contexts;
pub mod file;
pub mod function;
pub mod profiles;
pub mod samples;
pub mod session;
pub mod sources;
