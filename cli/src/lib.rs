//! What the `midflight` command does.
//!
//! [`input`] reads binaries and profiles and joins them, [`analysis`] finds out what the counts
//! tell, [`document`] is all that is told of a program, and [`commands`] are the subcommands, a
//! folder each, which write parts of that; numbers, names and JSON look as [`mod@format`] says.
//! `install` finds clang and the plugin.

#![forbid(unsafe_code)]

pub mod analysis;
pub mod commands;
pub mod document;
pub mod format;
pub mod input;
mod install;
