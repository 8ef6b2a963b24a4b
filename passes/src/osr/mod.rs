//! On-stack replacement (thesis ch. 4): points, continuations, and what moves between them.
//!
//! [`midflight_mapping::points`] says what is live at each instruction boundary and why there may
//! be no point; [`place`] chooses; [`site`] inserts a point into a version; [`continuation`] makes
//! the function that goes on; [`weave`] does all of it for a function, and the passes of [`pass`]
//! for a module.
//!
//! Compiler writers use [`api`].

pub mod api;
pub mod came;
pub mod check;
pub mod compensate;
pub mod condition;
pub mod continuation;
pub mod deopt;
pub mod forms;
pub mod host_exit;
pub mod insert;
pub mod insert_exit;
pub mod jit;
pub mod map;
#[cfg(feature = "mutants")]
pub mod mutants;
pub mod open;
pub mod options;
pub mod pass;
pub mod place;
pub mod print_liveness;
pub mod print_points;
pub mod prototype;
pub mod record;
pub mod site;
pub mod state_map;
pub mod weave;
