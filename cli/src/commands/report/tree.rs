//! The k-IPF as trees: as thesis Fig. 6.2 draws it, `X%(Y%)` on each edge.

use crate::analysis::interval::Interval;
use crate::document::FunctionDocument;
use crate::format::known::{at_edge, count};
use std::fmt::Write;

/// Writes the trees of a function's paths.
pub fn write(text: &mut String, f: &FunctionDocument<'_>) {
    let _ = writeln!(text, "   Trees: % of the parent (% of the root)");
    // The counts from the root down to the node at hand.
    let mut above: Vec<Interval<u64>> = Vec::new();
    for node in &f.forest.nodes {
        above.truncate(node.level as usize);
        let path = &f.paths[node.path];
        let indent = node.level as usize * 2;
        let _ = match above[..] {
            [] => writeln!(text, "      {} {}×", path.letter, count(node.times())),
            [root, ..] => writeln!(
                text,
                "      {:indent$}└ {} {}",
                "",
                path.letter,
                at_edge(node.times(), above[above.len() - 1], root)
            ),
        };
        above.push(node.times());
    }
}
