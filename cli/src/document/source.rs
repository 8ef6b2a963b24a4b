//! The lines of a function with their counts.

use crate::analysis::edge_counts::line_counts;
use crate::analysis::rank::Ranked;
use crate::input::sources::Sources;
use midflight_profile::table::Loc;
use serde::Serialize;
use std::collections::BTreeMap;

/// Lines of one function that are shown, at most: an inlined macro may come from far away.
const LINES: u32 = 5000;
/// Lines in front of the declared one that are shown: a return type, a comment.
const BEFORE: u32 = 1;

/// A part of a source file.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Source {
    /// The number of the first line
    pub first: u32,
    /// The text of the lines, if the file is found; else as many empty ones
    pub text: Vec<String>,
    /// True if the text is there
    pub found: bool,
    /// How often each of the lines that have code ran
    pub counts: BTreeMap<u32, u64>,
}

impl Source {
    /// The lines of a function, from its declaration to the last that has code.
    pub fn of(ranked: &Ranked<'_>, sources: &mut Sources) -> Source {
        let function = ranked.function;
        // Inlined code has the line of its outermost call.
        let outer = |loc: &Loc| Some(loc.outer_line).filter(|&line| line > 0);
        let counts = line_counts(function, outer);
        Self::of_lines((function.file(), function.table.line), counts, sources)
    }

    /// The lines of a function that is declared there, down to the last that has a count.
    pub fn of_lines(
        (file, declared): (&str, u32),
        mut counts: BTreeMap<u32, u64>,
        sources: &mut Sources,
    ) -> Source {
        if declared > 0 {
            // Code from elsewhere in the file is inlined, or a macro's.
            counts.retain(|&line, _| line >= declared && line - declared < LINES);
        }
        let first = match (declared, counts.keys().next()) {
            (0, None) => return Source::default(),
            (0, Some(&line)) => line,
            (declared, _) => declared,
        };
        let first = first.saturating_sub(BEFORE).max(1);
        let last = counts.keys().next_back().copied().unwrap_or(declared).max(first);
        let last = last.min(first.saturating_add(LINES));
        let found = sources.has(file);
        // The closing brace is often behind the last line that has code.
        let last = if found { last + 1 } else { last };
        let text = (first..=last)
            .map(|line| sources.text(file, line).map(str::to_string).unwrap_or_default());
        Source { first, text: text.collect(), found, counts }
    }
}
