//! The flat view: a line a function.

use crate::commands::report::text::{DIM, HOT};
use crate::document::Document;
use crate::format::names::{file_name, readable};
use crate::format::numbers::{Percent, grouped, share};
use std::fmt::Write;

/// Writes functions, which are in the order of their work.
pub fn write(text: &mut String, document: &Document<'_>) {
    let _ = writeln!(
        text,
        "{DIM} % work  % so far           entered     paths            of   function{DIM:#}"
    );
    let mut so_far = 0;
    for ranked in &document.list {
        so_far += ranked.work;
        let function = ranked.function;
        let _ = writeln!(
            text,
            "{HOT}{:>7}{HOT:#}   {:>7}  {:>16}  {:>8}  {:>12}   {}  {DIM}{}:{}{DIM:#}",
            Percent::share(share(ranked.work, document.work)),
            Percent::share(share(so_far, document.work)),
            grouped(function.entries()),
            grouped(ranked.paths.len() as u64),
            grouped(function.table.num_paths),
            readable(&function.table.name),
            file_name(function.file()),
            function.table.line,
        );
    }
}
