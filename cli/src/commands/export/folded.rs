//! Folded stacks: a line a stack, frames with `;` between them, a space and a number, as
//! `flamegraph.pl`, inferno and speedscope read them.
//!
//! A stack is a function, and the paths that followed each other in it. Its number is instructions
//! executed on the first of these paths, so a function is as wide as its work, a path as its own,
//! and what stands on it shows how it went on from there.
//!
//! A stack of calls is a calling context. Its number is activations of the last function, or
//! nanoseconds in it.

use crate::commands::export::{Format, View, Writer};
use crate::document::{ContextDocument, Document, FunctionDocument, Measure, Shape};
use crate::format::names::base_name;
use midflight_profile::visible;
use std::io::{self, Write};

/// The format.
pub(super) const FORMAT: Format = Format {
    name: "folded",
    about: "stacks of paths, or of calls (--contexts), for speedscope, inferno and flamegraph.pl",
    writer: Writer::Both(write, View { shape: Shape::ByFunction, write: write_contexts }),
};

/// Writes all functions.
pub fn write(out: &mut dyn Write, document: &Document<'_>) -> io::Result<()> {
    for function in &document.functions {
        write_function(out, function)?;
    }
    Ok(())
}

fn write_function(out: &mut dyn Write, function: &FunctionDocument<'_>) -> io::Result<()> {
    let nodes = &function.forest.nodes;
    let head = frame(&format!("{} ({})", function.readable, base_name(&function.file)));
    let mut shown: u128 = 0;
    let mut stack: Vec<String> = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        let level = node.level as usize;
        stack.truncate(level);
        let path = &function.paths[node.path];
        stack.push(frame(&format!("{}: {}", path.letter, path.route)));
        let below = nodes[index + 1..].iter().take_while(|n| n.level > node.level);
        let below: u128 = below.filter(|n| n.level == node.level + 1).map(|n| n.work).sum();
        if level == 0 {
            shown += node.work;
        }
        // What did not go on, or went on too rarely to be kept.
        let own = node.work.saturating_sub(below);
        if own > 0 {
            writeln!(out, "{head};{} {own}", stack.join(";"))?;
        }
    }
    match function.work.saturating_sub(shown) {
        0 => Ok(()),
        rest => writeln!(out, "{head} {rest}"),
    }
}

/// Calls of a stack that are written, at most: stacks are as deep as recursion is, and each has a
/// line.
const CALLS: u32 = 512;

/// Activations that have no context.
const ELSEWHERE: &str = "[no context]";

/// Writes all contexts; what is deeper counts for the deepest that is written.
pub fn write_contexts(out: &mut dyn Write, document: &ContextDocument<'_>) -> io::Result<()> {
    let names: Vec<String> = document.functions.iter().map(|f| frame(&f.readable())).collect();
    let mut stack: Vec<&str> = Vec::new();
    for (context, [count, time]) in document.down_to(CALLS) {
        let weight = if document.measure == Measure::Time { time } else { count };
        stack.truncate(context.level as usize);
        stack.push(&names[context.function]);
        if weight > 0 {
            writeln!(out, "{} {weight}", stack.join(";"))?;
        }
    }
    match document.all_elsewhere() {
        0 => Ok(()),
        elsewhere => writeln!(out, "{ELSEWHERE} {elsewhere}"),
    }
}

/// A frame's name must not have what ends it.
fn frame(name: &str) -> String {
    visible(name).replace(';', ":")
}
