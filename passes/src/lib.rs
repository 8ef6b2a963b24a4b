//! All that reads or rewrites IR.
//!
//! A functional core in an imperative shell: [`read`] takes a snapshot of a function ([`midflight_ir`]),
//! pure functions turn it into a plan ([`cut`], [`numbering`], [`plan`]), and
//! [`apply`] carries the plan out. [`endings`] keeps profiles on ways out of
//! the process that run no destructor. Passes are made from their names in [`registry`].

#![forbid(unsafe_code)]

pub mod apply;
pub mod cut;
pub mod decided;
pub mod endings;
pub mod enter;
pub mod function_list;
pub mod input;
pub mod lookup;
pub mod numbering;
pub mod option_table;
pub mod options;
pub mod oracle;
pub mod osr;
pub mod path_profile_gen;
pub mod path_profile_use;
pub mod plan;
pub mod print_numbering;
pub mod read;
pub mod read_code;
pub mod record;
pub mod registry;
pub mod runs;
pub mod skip;
pub mod step;
pub mod target;
pub mod weights_file;
