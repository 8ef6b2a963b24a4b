//! All that reads or rewrites IR: the imperative shell around `midflight-ir` and
//! `midflight-mapping`.
//!
//! [`paths`] has path profiling, [`contexts`] calling contexts, [`osr`] on-stack replacement. They
//! read functions into snapshots ([`read_code`]), decide by pure functions, and carry out what
//! these return. Passes are made from their names in [`registry`], their options by the tables of
//! [`option_table`]. [`driver`] takes them over the functions of a module.

#![forbid(unsafe_code)]

pub mod contexts;
pub mod driver;
pub mod function_list;
pub mod input;
pub mod option_table;
pub mod osr;
pub mod paths;
pub mod read_code;
pub mod registry;
