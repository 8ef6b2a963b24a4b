//! What the path profile says of each line: the counts of the blocks that have code of it.

use super::lcov::plain_name;
use crate::edge_report::{EdgeReport, FunctionEdges};
use midflight_profile::table::FunctionTable;
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Blocks as they touch a line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OurLine {
    /// Counts of the blocks with code of this line
    pub counts: BTreeSet<u64>,
    /// Interrupted activations of the functions that they are in
    pub interrupted: u64,
    /// How many functions these are
    pub functions: usize,
}

/// By file and line.
pub type OurLines = BTreeMap<String, BTreeMap<u32, OurLine>>;

/// Joins the tables of a binary with the counts of their edges.
pub fn our_lines(tables: &[FunctionTable], report: &EdgeReport) -> OurLines {
    let by_key: HashMap<u64, &FunctionEdges> = report
        .functions
        .iter()
        .filter_map(|f| Some((u64::from_str_radix(f.key.trim_start_matches("0x"), 16).ok()?, f)))
        .collect();
    let mut lines = OurLines::new();
    for table in tables {
        if let Some(function) = by_key.get(&table.key) {
            add_function(&mut lines, table, function);
        }
    }
    lines
}

fn add_function(lines: &mut OurLines, table: &FunctionTable, function: &FunctionEdges) {
    let mut counts = vec![0u64; table.blocks.len()];
    for edge in &function.edges {
        if let Some(count) = counts.get_mut(edge.from as usize) {
            *count += edge.count;
        }
    }
    let mut seen = BTreeSet::new();
    for (block, &count) in table.blocks.iter().zip(&counts) {
        for loc in &block.locs {
            let Some(file) = table.files.get(loc.file as usize) else { continue };
            let line = lines.entry(plain_name(file)).or_default().entry(loc.line).or_default();
            line.counts.insert(count);
            if seen.insert((loc.file, loc.line)) {
                line.interrupted += function.interrupted;
                line.functions += 1;
            }
        }
    }
}
