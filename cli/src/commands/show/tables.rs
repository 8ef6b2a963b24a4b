//! The functions of a binary, from the binary alone: blocks with their lines, edges with their
//! values.

use crate::commands::show::edges::{kind_name, words};
use crate::format::json::{Each, Functions};
use crate::format::lines::ranges;
use midflight_profile::table::{Edge, FunctionTable};
use midflight_profile::visible;
use serde::Serialize;
use std::io::{self, Write};

#[derive(Serialize)]
struct Row<'a> {
    name: &'a str,
    unit: &'a str,
    key: String,
    file: &'a str,
    line: u32,
    k: u32,
    stage: &'static str,
    num_paths: u32,
    blocks: Vec<Vec<LocRow<'a>>>,
    edges: Vec<EdgeRow>,
    instructions: Vec<u32>,
    calls: Vec<usize>,
    llvm: u8,
}

#[derive(Serialize)]
struct LocRow<'a> {
    file: &'a str,
    line: u32,
    outer_line: u32,
}

#[derive(Serialize)]
struct EdgeRow {
    from: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<u32>,
    kind: &'static str,
    value: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    start: Option<u32>,
}

fn edge_row(edge: &Edge) -> EdgeRow {
    let (value, start) = match *edge {
        Edge::Flow { value, .. } | Edge::Exit { value, .. } => (value, None),
        Edge::Cut { end, start, .. } => (end, Some(start)),
    };
    EdgeRow { from: edge.from(), to: edge.to(), kind: kind_name(edge), value, start }
}

fn row(table: &FunctionTable) -> Row<'_> {
    let file = |index: u32| table.files.get(index as usize).map_or("", String::as_str);
    let blocks = table.blocks.iter().map(|block| {
        let locs = block.locs.iter();
        locs.map(|l| LocRow { file: file(l.file), line: l.line, outer_line: l.outer_line })
            .collect()
    });
    Row {
        name: &table.name,
        unit: &table.unit,
        key: format!("{:016x}", table.key),
        file: file(table.file),
        line: table.line,
        k: table.k,
        stage: table.stage.name(),
        num_paths: table.num_paths,
        blocks: blocks.collect(),
        edges: table.edges.iter().map(edge_row).collect(),
        instructions: table.blocks.iter().map(|block| block.instructions).collect(),
        calls: (0..table.blocks.len()).filter(|&block| table.blocks[block].calls).collect(),
        llvm: table.llvm,
    }
}

/// What is shown as JSON.
pub fn document(tables: &[&FunctionTable]) -> impl Serialize {
    Functions { version: 1, functions: Each(move || tables.iter().map(|table| row(table))) }
}

/// As text: a line a block, a line an edge.
pub fn write(out: &mut dyn Write, tables: &[&FunctionTable]) -> io::Result<()> {
    for table in tables {
        let row = row(table);
        writeln!(
            out,
            "{} {}:{} k={} stage={} paths={}",
            visible(row.name),
            visible(row.file),
            row.line,
            row.k,
            row.stage,
            row.num_paths
        )?;
        for (index, (block, instructions)) in row.blocks.iter().zip(&row.instructions).enumerate() {
            let lines: Vec<u32> = block.iter().map(|l| l.line).collect();
            writeln!(out, "  block {index}: instructions={instructions} lines {}", ranges(&lines))?;
        }
        for (edge, valued) in table.edges.iter().zip(&row.edges) {
            let start = valued.start.map_or(String::new(), |n| format!(" start={n}"));
            writeln!(out, "  {} value={}{start}", words(edge), valued.value)?;
        }
    }
    Ok(())
}
