//! Path profiling: instrumentation, and what a profile is used for.
//!
//! [`read`] takes a snapshot of a function, pure functions turn it into a plan ([`cut`],
//! [`numbering`], [`plan`]), and [`apply`] carries the plan out: [`path_profile_gen`] is the pass.
//! [`endings`] keeps profiles on ways out of the process that run no destructor;
//! [`path_profile_use`] puts a profile's weights into a module.

pub mod apply;
pub mod cut;
pub mod decided;
pub mod endings;
pub mod enter;
pub mod lookup;
pub mod numbering;
pub mod options;
pub mod oracle;
pub mod path_profile_gen;
pub mod path_profile_use;
pub mod plan;
pub mod print_numbering;
pub mod read;
pub mod record;
pub mod runs;
pub mod skip;
pub mod step;
pub mod weights_file;
