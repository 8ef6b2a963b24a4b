//! The path forest as an icicle, drawn: one picture that needs nothing else. Each function has a
//! row with its name, and below it its paths, as wide as their work; below each what followed it.

use crate::commands::export::{Format, View, Writer};
use crate::document::{
    Context, ContextDocument, Document, FunctionDocument, Measure, PathDocument, Shape, TreeNode,
};
use crate::format::known;
use crate::format::names::file_name;
use crate::format::numbers::{Percent, duration, grouped};
use crate::format::page::escaped;
use std::io::{self, Write};

/// The format.
pub(super) const FORMAT: Format = Format {
    name: "svg",
    about: "the path forest, or calls (--contexts), as an icicle: a picture for any browser",
    writer: Writer::Both(write, View { shape: Shape::ByFunction, write: write_contexts }),
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
    begin(out, total, &format!("paths of {}", document.binary))?;
    let mut top = GAP;
    for (function, height) in document.functions.iter().zip(heights) {
        write_function(out, document, function, top)?;
        top += height;
    }
    writeln!(out, "</svg>")
}

/// Begins a picture of that height.
fn begin(out: &mut dyn Write, height: f64, what: &str) -> io::Result<()> {
    writeln!(
        out,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {WIDTH} {height}\" width=\"{WIDTH}\" \
         height=\"{height}\" font-family=\"sans-serif\" font-size=\"12\">"
    )?;
    writeln!(out, "<title>midflight: {}</title>", escaped(what))?;
    writeln!(out, "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>")
}

/// Levels of calls that are drawn, at most.
const LEVELS: u32 = 512;

/// Writes the calls: each context as wide as its activations and those below it, or as their time.
pub fn write_contexts(out: &mut dyn Write, document: &ContextDocument<'_>) -> io::Result<()> {
    let roots = document.contexts.iter().filter(|context| context.level == 0);
    let within = |context: &Context| ContextDocument::within(context, document.measure);
    let all: u64 = roots.map(within).sum();
    let scale = WIDTH / all.max(1) as f64;
    let width = |context: &Context| within(context) as f64 * scale;
    let is_drawn = |context: &&Context| context.level < LEVELS && width(context) >= NARROW;
    let levels = document.contexts.iter().filter(is_drawn).map(|context| context.level + 1);
    let height = ROW * f64::from(levels.max().unwrap_or(0)) + 2.0 * GAP;
    begin(out, height, &format!("calls of {}", document.binary))?;
    // Where the next context of each level begins
    let mut left: Vec<f64> = vec![0.0];
    for context in document.contexts.iter().filter(|context| context.level < LEVELS) {
        let level = context.level as usize;
        left.truncate(level + 1);
        let x = left[level];
        left[level] += width(context);
        left.push(x);
        if is_drawn(&context) {
            write_context(out, document, context, (x, GAP + ROW * level as f64, width(context)))?;
        }
    }
    writeln!(out, "</svg>")
}

fn write_context(
    out: &mut dyn Write,
    document: &ContextDocument<'_>,
    context: &Context,
    (x, y, width): (f64, f64, f64),
) -> io::Result<()> {
    let (name, place) = document.words(context, false);
    let place = if place.is_empty() { place } else { format!("  {}", escaped(&place)) };
    let share = Percent::of(ContextDocument::within(context, document.measure), document.all());
    let count = known::count(document.times(context));
    let told = match document.measure {
        Measure::Activations => {
            let within = grouped(context.within);
            format!("{count} activations; {within} with those below, {share} of all")
        }
        Measure::Time => {
            let (own, within) = (duration(context.time), duration(context.time_within));
            format!("{count} activations; {own}, {within} with what they call, {share} of all")
        }
    };
    let told = format!("{}{place}\n{told}", escaped(&name));
    let hue = (context.function * 137) % 360;
    // What there is room for
    let letters = ((width - 6.0) / LETTER).max(0.0) as usize;
    let short: String = name.chars().take(letters).collect();
    write_box(out, &told, hue, &escaped(&short), (x, y, width))
}

/// A box with a text, which is told of it, and one that is in it.
fn write_box(
    out: &mut dyn Write,
    told: &str,
    hue: usize,
    text: &str,
    (x, y, width): (f64, f64, f64),
) -> io::Result<()> {
    write!(
        out,
        "<g><title>{told}</title><rect x=\"{x:.2}\" y=\"{y:.1}\" width=\"{width:.2}\" height=\"{}\" \
         fill=\"hsl({hue} 60% 78%)\" stroke=\"#ffffff\" stroke-width=\"0.5\"/>",
        ROW - 1.0
    )?;
    if !text.is_empty() {
        write!(out, "<text x=\"{:.2}\" y=\"{:.1}\">{text}</text>", x + 3.0, y + ROW - 5.0)?;
    }
    writeln!(out, "</g>")
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
    let fits = width >= LETTER * path.letter.len() as f64 + 4.0;
    let text = if fits { &path.letter[..] } else { "" };
    write_box(out, &told(path, node), hue, text, (x, y, width))
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
