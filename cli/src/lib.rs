//! What the `midflight` command does, one subcommand a file.
//!
//! [`driver`] is `cc` and `c++`, [`osr`] tests programs with OSR points, [`osr_report`] tells how
//! functions and their optimized versions correspond, [`osr_show`] what a binary says of that. The
//! others join binaries with profiles ([`binary`], [`join`]) and write what they find: [`report`]
//! with [`behaviour`], [`show`], [`mod@check`], [`compare`], [`mod@document`], [`export`],
//! [`mod@annotate`]. The options are in [`command`].

#![forbid(unsafe_code)]

pub mod annotate;
pub mod behaviour;
pub mod binary;
pub mod check;
pub mod command;
pub mod compare;
pub mod document;
pub mod driver;
pub mod edge_counts;
pub mod export;
pub mod input;
pub mod install;
pub mod join;
pub mod json;
pub mod lines;
pub mod names;
pub mod osr;
pub mod osr_report;
pub mod osr_show;
pub mod page;
pub mod progress;
pub mod report;
pub mod samples;
pub mod share;
pub mod show;
pub mod sink;
