//! The flat view: a line a function.

use crate::analysis::rank::Ranked;
use crate::commands::report::text::{DIM, HOT};
use crate::format::names::{file_name, readable};
use crate::format::numbers::grouped;
use crate::format::numbers::share;
use std::fmt::Write;

/// Writes functions, which are in the order of their work; `total` is that of all.
pub fn write(text: &mut String, shown: &[&Ranked<'_>], total: u128) {
    // Writing to a string cannot fail.
    let _ = writeln!(
        text,
        "{DIM} % work  % so far           entered     paths            of   function{DIM:#}"
    );
    let mut so_far = 0;
    for ranked in shown {
        so_far += ranked.work;
        let function = ranked.function;
        let _ = writeln!(
            text,
            "{HOT}{:5.1} %{HOT:#}   {:5.1} %  {:>16}  {:>8}  {:>12}   {}  {DIM}{}:{}{DIM:#}",
            100.0 * share(ranked.work, total),
            100.0 * share(so_far, total),
            grouped(function.entries()),
            grouped(ranked.paths.len() as u64),
            grouped(function.table.num_paths),
            readable(&function.table.name),
            file_name(function.file()),
            function.table.line,
        );
    }
}
