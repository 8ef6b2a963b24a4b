//! The path forest as an icicle, drawn: one picture that needs nothing else. Each function has a
//! row with its name, and below it its paths, as wide as their work; below each what followed it.

use crate::commands::export::{Format, Writer};
use crate::document::{Document, FunctionDocument, PathDocument, TreeNode};
use crate::format::known;
use crate::format::names::file_name;
use crate::format::numbers::Percent;
use crate::format::page::escaped;
use std::io::{self, Write};

/// The format.
pub(super) const FORMAT: Format = Format {
    name: "svg",
    about: "the path forest as an icicle: a picture for any browser",
    writer: Writer::Document(write),
};

const WIDTH: f64 = 1200.0;
const ROW: f64 = 18.0;
const GAP: f64 = 14.0;
/// What is narrower is not drawn.
const NARROW: f64 = 0.3;
/// Width of a letter.
const LETTER: f64 = 7.0;

/// Writes the picture.
pub fn write(out: &mut dyn Write, document: &Document<'_>) -> io::Result<()> {
    let heights: Vec<f64> = document.functions.iter().map(height).collect();
    let total: f64 = heights.iter().sum::<f64>() + GAP;
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {total}\" width=\"{WIDTH}\" \
         height=\"{total}\" font-family=\"sans-serif\" font-size=\"12\">"
    )?;
    writeln!(out, "<title>midflight: paths of {}</title>", escaped(&document.binary))?;
    writeln!(out, "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>")?;
    let mut top = GAP;
    for (function, height) in document.functions.iter().zip(heights) {
        write_function(out, document, function, top)?;
        top += height;
    }
    writeln!(out, "</svg>")
}

fn height(function: &FunctionDocument<'_>) -> f64 {
    let levels = function.forest.nodes.iter().map(|node| node.level + 1).max().unwrap_or(0);
    ROW * f64::from(levels + 1) + GAP
}

fn write_function(
    out: &mut dyn Write,
    document: &Document<'_>,
    function: &FunctionDocument<'_>,
    top: f64,
) -> io::Result<()> {
    writeln!(
        out,
        "<text x=\"4\" y=\"{:.1}\" font-weight=\"bold\">{}  {}:{}  {} of the work</text>",
        top + ROW - 5.0,
        escaped(&function.readable),
        escaped(&file_name(&function.file)),
        function.line,
        Percent::of(function.work, document.work)
    )?;
    let scale = WIDTH / function.work.max(1) as f64;
    // Where the next node of each level begins.
    let mut left: Vec<f64> = vec![0.0];
    for node in &function.forest.nodes {
        let level = node.level as usize;
        left.truncate(level + 1);
        let (x, width) = (left[level], node.work as f64 * scale);
        left[level] += width;
        // The children begin where it does.
        left.push(x);
        if width >= NARROW {
            let y = top + ROW * f64::from(node.level + 1);
            write_node(out, function, node, (x, y, width))?;
        }
    }
    Ok(())
}

fn write_node(
    out: &mut dyn Write,
    function: &FunctionDocument<'_>,
    node: &TreeNode,
    (x, y, width): (f64, f64, f64),
) -> io::Result<()> {
    let path = &function.paths[node.path];
    let hue = (node.path * 137) % 360;
    write!(
        out,
        "<g><title>{}</title><rect x=\"{x:.2}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{}\" \
         fill=\"hsl({hue} 60% 78%)\" stroke=\"#ffffff\" stroke-width=\"0.5\"/>",
        told(path, node),
        ROW - 1.0
    )?;
    if width >= LETTER * path.letter.len() as f64 + 4.0 {
        let y = y + ROW - 5.0;
        write!(out, "<text x=\"{:.2}\" y=\"{y:.1}\">{}</text>", x + 3.0, path.letter)?;
    }
    writeln!(out, "</g>")
}

fn told(path: &PathDocument, node: &TreeNode) -> String {
    format!(
        "{}: {}\n{}×; {} of the times that it was taken",
        path.letter,
        escaped(&path.route),
        known::count(node.times()),
        known::percent(node.times().share_of(path.times()))
    )
}
