//! The flat view: a line a function.

use crate::names::readable;
use crate::report::print::{DIM, HOT, grouped, short};
use crate::report::rank::Ranked;
use crate::share::share;
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
            grouped(function.table.num_paths.into()),
            readable(&function.table.name),
            short(function.file()),
            function.table.line,
        );
    }
}
