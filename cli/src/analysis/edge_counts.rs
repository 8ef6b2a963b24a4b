//! Counts of edges, blocks and lines, recovered from the counts of acyclic paths (thesis 3.2.2).

use crate::format::numbers::add;
use crate::input::function::Function;
use midflight_profile::table::{Edge, Loc, PathEnd, PathStart};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The counts of a function's control flow graph.
pub struct GraphCounts {
    /// For each edge of the table: paths through it, or paths that ended with it
    pub edges: Vec<u64>,
    /// For each edge of the table: paths that began behind it, if it is a cut edge
    pub started: Vec<u64>,
    /// For each block
    pub blocks: Vec<u64>,
}

/// Recovers the counts.
pub fn recover(function: &Function<'_>) -> GraphCounts {
    let table = function.table;
    let mut counts = GraphCounts {
        edges: vec![0; table.edges.len()],
        started: vec![0; table.edges.len()],
        blocks: vec![0; table.blocks.len()],
    };
    // The place of each edge that paths go on by, by its ends.
    let edges = table.edges.iter().enumerate();
    let places: FxHashMap<(u32, Option<u32>), usize> = edges
        .filter(|(_, edge)| !matches!(edge, Edge::Cut { .. }))
        .map(|(index, edge)| ((edge.from(), edge.to()), index))
        .collect();
    let place = |from, to| places.get(&(from, to)).copied();
    for (_, count, path) in function.taken() {
        for &block in &path.blocks {
            add_at(&mut counts.blocks, Some(block as usize), count);
        }
        for pair in path.blocks.windows(2) {
            add_at(&mut counts.edges, place(pair[0], Some(pair[1])), count);
        }
        match path.end {
            PathEnd::Exit(block) => add_at(&mut counts.edges, place(block, None), count),
            PathEnd::Cut(edge) => add_at(&mut counts.edges, Some(edge), count),
        }
        if let PathStart::After(edge) = path.start {
            add_at(&mut counts.started, Some(edge), count);
        }
    }
    counts
}

/// For each line, as `line` names it, the count of the block that ran most of those that have it,
/// as in gcov and llvm-cov.
pub fn line_counts<L: Ord>(
    function: &Function<'_>,
    line: impl Fn(&Loc) -> Option<L>,
) -> BTreeMap<L, u64> {
    let mut counts: BTreeMap<L, u64> = BTreeMap::new();
    for (block, count) in function.table.blocks.iter().zip(recover(function).blocks) {
        for line in block.locs.iter().filter_map(&line) {
            let most = counts.entry(line).or_default();
            *most = (*most).max(count);
        }
    }
    counts
}

/// Adds to one of the counts, if there is one with this index.
pub fn add_at(counts: &mut [u64], index: Option<usize>, count: u64) {
    if let Some(slot) = index.and_then(|index| counts.get_mut(index)) {
        add(slot, count);
    }
}
