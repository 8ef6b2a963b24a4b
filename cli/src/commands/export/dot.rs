//! Graphviz: the path forest as thesis Fig. 6.2 draws it. A node is a path that followed those
//! above it; an edge `X%(Y%)` tells its count in percent of its parent's and of its root's.

use crate::analysis::interval::Interval;
use crate::commands::export::{Format, Writer};
use crate::document::{Document, FunctionDocument};
use crate::format::known;
use crate::format::names::file_name;
use std::io::{self, Write};

/// The format.
pub(super) const FORMAT: Format =
    Format { name: "dot", about: "the path forest, for Graphviz", writer: Writer::Document(write) };

/// Writes a graph with a cluster a function.
pub fn write(out: &mut dyn Write, document: &Document<'_>) -> io::Result<()> {
    writeln!(out, "digraph midflight {{")?;
    writeln!(out, "  node [shape=box, style=filled, fontname=\"sans-serif\"];")?;
    writeln!(out, "  edge [fontname=\"sans-serif\", fontsize=10];")?;
    for (number, function) in document.functions.iter().enumerate() {
        write_function(out, number, function)?;
    }
    writeln!(out, "}}")
}

fn write_function(out: &mut dyn Write, number: usize, f: &FunctionDocument<'_>) -> io::Result<()> {
    let title = quoted(&format!("{}  {}:{}", f.readable, file_name(&f.file), f.line));
    writeln!(out, "  subgraph cluster_{number} {{\n    label={title};")?;
    // The nodes from the root down to the one at hand.
    let mut above: Vec<(usize, Interval<u64>)> = Vec::new();
    for (index, node) in f.forest.nodes.iter().enumerate() {
        above.truncate(node.level as usize);
        let path = &f.paths[node.path];
        let name = format!("n{number}_{index}");
        let label = format!("{}\n{}×", path.letter, known::count(node.times()));
        let hue = (node.path * 137) % 360;
        writeln!(
            out,
            "    {name} [label={}, tooltip={}, fillcolor=\"{:.3} 0.25 1.0\"];",
            quoted(&label),
            quoted(&path.route),
            hue as f64 / 360.0
        )?;
        if let (Some(&(parent, of_parent)), Some(&(_, of_root))) = (above.last(), above.first()) {
            let share = known::at_edge(node.times(), of_parent, of_root);
            writeln!(out, "    n{number}_{parent} -> {name} [label={}];", quoted(&share))?;
        }
        above.push((index, node.times()));
    }
    writeln!(out, "  }}")
}

/// A string of the language: `"` and `\` are escaped, and a new line is `\n`.
fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
}
