//! Paths as source lines.

use crate::join::Function;
use midflight_profile::table::{Loc, Path};
use std::fmt::Write;

/// The lines of a path in the function's own file, in order, runs of the same line once. Inlined
/// code has the line of its outermost call.
pub fn outer_lines(function: &Function<'_>, path: &Path) -> Vec<u32> {
    let mut lines = Vec::new();
    for loc in locs(function, path) {
        if lines.last() != Some(&loc.outer_line) {
            lines.push(loc.outer_line);
        }
    }
    lines
}

/// The locations of a path, in order.
pub fn locs<'a>(function: &'a Function<'_>, path: &'a Path) -> impl Iterator<Item = &'a Loc> {
    path.blocks
        .iter()
        .filter_map(|&block| function.table.blocks.get(block as usize))
        .flat_map(|block| &block.locs)
}

/// Lines as people write them: `12-14 17 12`, where lines that follow each other are a range.
pub fn ranges(lines: &[u32]) -> String {
    let mut text = String::new();
    let mut index = 0;
    while index < lines.len() {
        let first = lines[index];
        let mut last = first;
        while index + 1 < lines.len() && lines[index + 1] == last + 1 {
            index += 1;
            last += 1;
        }
        let space = if text.is_empty() { "" } else { " " };
        // Writing to a string cannot fail.
        let _ = if last > first {
            write!(text, "{space}{first}-{last}")
        } else {
            write!(text, "{space}{first}")
        };
        index += 1;
    }
    text
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn lines_that_follow_each_other_are_a_range() {
        assert_eq!(ranges(&[]), "");
        assert_eq!(ranges(&[7]), "7");
        assert_eq!(ranges(&[7, 8, 9, 12, 11, 12]), "7-9 12 11-12");
        assert_eq!(ranges(&[3, 2, 1]), "3 2 1");
    }
}
