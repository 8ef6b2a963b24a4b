//! Edge counts, recovered from path counts.

use crate::analysis::edge_counts::recover;
use crate::format::json::{Each, Functions};
use crate::input::function::Function;
use midflight_profile::table::{CutReason, Edge};
use midflight_profile::visible;
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    unit: &'a str,
    key: String,
    entries: u64,
    completed: u64,
    interrupted: u64,
    edges: Vec<EdgeRow>,
}

#[derive(Serialize)]
struct EdgeRow {
    from: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<u32>,
    kind: &'static str,
    count: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    started: Option<u64>,
}

/// A stable name for the kind of an edge.
pub fn kind_name(edge: &Edge) -> &'static str {
    match edge {
        Edge::Flow { .. } => "flow",
        Edge::Exit { .. } => "exit",
        Edge::Cut { why, .. } => match why {
            CutReason::Retreating => "retreating",
            CutReason::Bound => "bound",
            CutReason::Unsplittable => "unsplittable",
            CutReason::Restart => "restart",
        },
    }
}

/// An edge in words: from where, to where, and its kind.
pub fn words(edge: &Edge) -> String {
    let to = edge.to().map_or("exit".to_string(), |to| to.to_string());
    format!("{} -> {to}: {}", edge.from(), kind_name(edge))
}

fn row<'a>(function: &'a Function<'_>) -> Row<'a> {
    let counts = recover(function);
    let edges = function.table.edges.iter().enumerate().map(|(index, edge)| EdgeRow {
        from: edge.from(),
        to: edge.to(),
        kind: kind_name(edge),
        count: counts.edges[index],
        started: matches!(edge, Edge::Cut { .. }).then(|| counts.started[index]),
    });
    Row {
        name: &function.table.name,
        unit: &function.table.unit,
        key: format!("{:016x}", function.table.key),
        entries: function.entries(),
        completed: function.completed(),
        interrupted: function.interrupted(),
        edges: edges.collect(),
    }
}

/// What is shown as JSON: the edges of all functions, those that never ran too.
pub fn document(functions: &[Function<'_>]) -> impl Serialize {
    Functions { version: 1, functions: Each(move || functions.iter().map(row)) }
}

/// As text: a line an edge.
pub fn write(out: &mut dyn Write, functions: &[Function<'_>]) -> io::Result<()> {
    for function in functions.iter().filter(|f| f.profile.is_some()) {
        let row = row(function);
        writeln!(
            out,
            "{} entries={} completed={} interrupted={}",
            visible(row.name),
            row.entries,
            row.completed,
            row.interrupted
        )?;
        for (edge, counted) in function.table.edges.iter().zip(&row.edges) {
            let started = counted.started.map_or(String::new(), |n| format!(" started={n}"));
            writeln!(out, "  {} {}{started}", words(edge), counted.count)?;
        }
    }
    Ok(())
}
