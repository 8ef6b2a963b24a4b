//! Calling contexts: instrumentation of calls (thesis 3.1).
//!
//! [`plan`](mod@plan) finds the calls of a function and its ways out, [`apply`] inserts the code of
//! the protocol (`midflight_abi::contexts`), and [`cct_profile_gen`] is the pass. The trees are the
//! runtime's.

pub mod apply;
pub mod bursts;
pub mod cct_profile_gen;
pub mod options;
pub mod oracle;
pub mod paths;
pub mod plan;
pub mod record;
pub mod time;
