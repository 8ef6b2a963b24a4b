//! Calling contexts as text: a tree, a line a context.

use crate::document::{Context, ContextDocument, Shape, Times};
use crate::format::tree::indent;
use midflight_profile::format::{Bursts, ContextMode};
use midflight_profile::visible;
use std::io::{self, Write};

/// Writes all of a document.
pub fn write(out: &mut dyn Write, document: &ContextDocument<'_>) -> io::Result<()> {
    let ContextDocument { activations, elsewhere, floor, .. } = document;
    let is_hot = document.mode != ContextMode::All;
    match document.mode {
        ContextMode::All => write!(out, "mode=cct")?,
        ContextMode::Hot { phi, epsilon } => write!(out, "mode=hcct phi={phi} epsilon={epsilon}")?,
    }
    write!(out, " activations={activations} elsewhere={elsewhere} floor={floor}")?;
    if let Some(Bursts { interval, length }) = document.bursts {
        write!(out, " bursts={interval}ns:{length}ns")?;
    }
    if let Some(Times { total, elsewhere }) = document.times {
        write!(out, " time={total}ns time-elsewhere={elsewhere}ns")?;
    }
    match document.shape {
        Shape::Callers(k) => writeln!(out, " callers={k}")?,
        Shape::Tree | Shape::ByFunction => writeln!(out)?,
    }
    let contexts = &document.contexts;
    let count = |context: &Context| document.times(context).most;
    let error_of = |context: &Context| count(context) - document.times(context).least;
    let digits = |part: &dyn Fn(&Context) -> u64| {
        contexts.iter().map(part).max().unwrap_or(0).to_string().len().max("count".len())
    };
    let (counts, errors) = (digits(&count), digits(&error_of));
    let times = digits(&|context| context.time).max("self ns".len());
    let error = |error: &dyn std::fmt::Display| match is_hot {
        true => format!("  {error:>errors$}"),
        false => String::new(),
    };
    let time = |time: &dyn std::fmt::Display| match document.times {
        Some(_) => format!("  {time:>times$}"),
        None => String::new(),
    };
    let (error_title, time_title) = (error(&"error"), time(&"self ns"));
    writeln!(out, "{:>counts$}{error_title}{time_title}  context", "count")?;
    for context in contexts {
        let (_, place) = document.words(context, true);
        let name = visible(&*document.function(context).name());
        let place = if place.is_empty() { place } else { format!("  {place}") };
        let indent = indent(context.level, 2);
        writeln!(
            out,
            "{:>counts$}{}{}  {indent}{name}{place}",
            count(context),
            error(&error_of(context)),
            time(&context.time)
        )?;
    }
    for (function, count) in &document.elsewhere_of {
        let called = &document.functions[*function];
        writeln!(out, "elsewhere={count} {}", visible(&*called.name()))?;
    }
    Ok(())
}
