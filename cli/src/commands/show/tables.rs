//! The functions of a binary, from the binary alone: blocks with their lines, edges with their
//! values.

use crate::commands::show::edges::{kind_name, words};
use crate::format::json::Each;
use crate::format::lines::ranges;
use midflight_profile::table::{ContextTable, Edge, FunctionTable, Granularity, Loc};
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

#[derive(Serialize)]
struct ContextRow<'a> {
    name: &'a str,
    unit: &'a str,
    key: String,
    file: &'a str,
    line: u32,
    stage: &'static str,
    granularity: &'static str,
    slots: usize,
    sites: Vec<SiteRow<'a>>,
    llvm: u8,
}

#[derive(Serialize)]
struct SiteRow<'a> {
    #[serde(flatten)]
    loc: LocRow<'a>,
    tail: bool,
}

#[derive(Serialize)]
struct Document<F, C> {
    version: u32,
    functions: F,
    #[serde(skip_serializing_if = "Option::is_none")]
    contexts: Option<C>,
}

fn edge_row(edge: &Edge) -> EdgeRow {
    let (value, start) = match *edge {
        Edge::Flow { value, .. } | Edge::Exit { value, .. } => (value, None),
        Edge::Cut { end, start, .. } => (end, Some(start)),
    };
    EdgeRow { from: edge.from(), to: edge.to(), kind: kind_name(edge), value, start }
}

fn row(table: &FunctionTable) -> Row<'_> {
    let files = &table.files;
    let blocks =
        table.blocks.iter().map(|block| block.locs.iter().map(|loc| loc_row(files, loc)).collect());
    Row {
        name: &table.name,
        unit: &table.unit,
        key: format!("{:016x}", table.key),
        file: file(files, table.file),
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

fn file(files: &[String], index: u32) -> &str {
    files.get(index as usize).map_or("", String::as_str)
}

fn loc_row<'a>(files: &'a [String], loc: &Loc) -> LocRow<'a> {
    let file = if loc.line == 0 { "" } else { file(files, loc.file) };
    LocRow { file, line: loc.line, outer_line: loc.outer_line }
}

fn context_row(table: &ContextTable) -> ContextRow<'_> {
    let files = &table.files;
    let sites = table.sites.iter();
    ContextRow {
        name: &table.name,
        unit: &table.unit,
        key: format!("{:016x}", table.key),
        file: file(files, table.file),
        line: table.line,
        stage: table.stage.name(),
        granularity: match table.granularity {
            Granularity::Sites => "sites",
            Granularity::Functions => "functions",
        },
        slots: table.slots(),
        sites: sites
            .map(|site| SiteRow { loc: loc_row(files, &site.loc), tail: site.is_tail })
            .collect(),
        llvm: table.llvm,
    }
}

/// What is shown as JSON.
pub fn document(tables: &[&FunctionTable], contexts: &[&ContextTable]) -> impl Serialize {
    let rows = Each(move || contexts.iter().map(|table| context_row(table)));
    Document {
        version: 1,
        functions: Each(move || tables.iter().map(|table| row(table))),
        contexts: (!contexts.is_empty()).then_some(rows),
    }
}

/// As text: a line a block, a line an edge, a line a call site.
pub fn write(
    out: &mut dyn Write,
    tables: &[&FunctionTable],
    contexts: &[&ContextTable],
) -> io::Result<()> {
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
    contexts.iter().try_for_each(|table| write_sites(out, table))
}

fn write_sites(out: &mut dyn Write, table: &ContextTable) -> io::Result<()> {
    let row = context_row(table);
    writeln!(
        out,
        "{} {}:{} contexts={} stage={} slots={}",
        visible(row.name),
        visible(row.file),
        row.line,
        row.granularity,
        row.stage,
        row.slots
    )?;
    for (index, SiteRow { loc, tail }) in row.sites.iter().enumerate() {
        let LocRow { file, line, outer_line } = loc;
        let outer = if line == outer_line { String::new() } else { format!(" outer={outer_line}") };
        let tail = if *tail { " tail" } else { "" };
        match line {
            0 => writeln!(out, "  site {index}: unknown{tail}")?,
            _ => writeln!(out, "  site {index}: {}:{line}{outer}{tail}", visible(file))?,
        }
    }
    Ok(())
}
