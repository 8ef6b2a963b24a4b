//! A path in words.

use crate::format::lines::shortened;
use crate::input::function::Function;
use midflight_profile::table::{CutReason, Edge, Path, PathEnd, PathStart};

/// Ranges of line numbers of a path that are shown, at most.
const RANGES: usize = 8;

/// From where, on which lines, and where to.
pub fn route(function: &Function<'_>, path: &Path) -> String {
    let lines = function.lines(path);
    let numbers = match lines[..] {
        [] => "unknown lines".into(),
        [line] => format!("line {line}"),
        _ => format!("lines {}", shortened(&lines, RANGES)),
    };
    let (start, end) = (start_words(function, path), end_words(function, path));
    format!("{start}{numbers}{end}")
}

fn start_words(function: &Function<'_>, path: &Path) -> &'static str {
    match path.start {
        PathStart::Entry => "from the entry, ",
        PathStart::After(edge) => match function.table.edges.get(edge) {
            Some(Edge::Cut { why: CutReason::Restart, .. }) => "behind setjmp, ",
            _ => "",
        },
    }
}

fn end_words(function: &Function<'_>, path: &Path) -> String {
    match path.end {
        PathEnd::Exit(_) => ", then leaves".into(),
        PathEnd::Cut(edge) => match function.table.edges.get(edge) {
            Some(&Edge::Cut { to, why, .. }) => {
                let place = match function.line_of(to) {
                    0 => format!("block {to}"),
                    line => line.to_string(),
                };
                match why {
                    CutReason::Retreating => format!(", back to {place}"),
                    CutReason::Restart => ", into setjmp".into(),
                    CutReason::Bound | CutReason::Unsplittable => format!(", on to {place}"),
                }
            }
            _ => String::new(),
        },
    }
}
