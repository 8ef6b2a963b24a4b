//! The loops of a function, found in its table.
//!
//! A loop is what a retreating edge closes: its header is the block that such edges enter, and its
//! body all that reaches one of them without passing the header. In a graph that is not reducible
//! that may be more than a person would call the loop.

use crate::analysis::edge_counts::{GraphCounts, recover};
use crate::analysis::rank::Ranked;
use crate::format::numbers::add;
use midflight_profile::table::{CutReason, Edge, FunctionTable, Path, PathEnd, PathStart};
use rustc_hash::FxHashSet;
use std::collections::BTreeMap;

/// A loop and what was counted in it.
#[derive(Clone, Debug)]
pub struct NaturalLoop {
    /// The block that its back edges enter
    pub header: u32,
    /// Its blocks, the header too
    pub body: FxHashSet<u32>,
    /// How often it was entered from outside
    pub entered: u64,
    /// How often its back edges were taken
    pub around: u64,
    /// What was spent in its body
    pub work: u128,
    /// What of that was not in a loop within it
    pub own_work: u128,
    /// The paths that were taken from the header on, as in [`Ranked::paths`], behind a back edge
    pub started: FxHashSet<u32>,
    /// Those of them that end with a back edge of this loop
    pub cycles: FxHashSet<u32>,
    /// The first iterations: paths that come from outside through the header, and end with a back
    /// edge of this loop, as ID and count
    pub first: Vec<(u32, u64)>,
}

/// All loops, by their headers.
pub fn loops(ranked: &Ranked<'_>) -> Vec<NaturalLoop> {
    let function = ranked.function;
    let table = function.table;
    let counts = recover(function);
    let taken: Vec<(u32, u64, Path)> = function.taken().collect();
    let mut loops: Vec<NaturalLoop> = back_edges(table)
        .into_iter()
        .map(|(header, latches)| natural_loop(ranked, &counts, &taken, header, &latches))
        .collect();
    let bodies: Vec<(u32, FxHashSet<u32>)> =
        loops.iter().map(|l| (l.header, l.body.clone())).collect();
    for l in &mut loops {
        let inner: Vec<&FxHashSet<u32>> = bodies
            .iter()
            .filter(|(header, body)| l.body.contains(header) && !body.contains(&l.header))
            .map(|(_, body)| body)
            .collect();
        let own = l.body.iter().filter(|b| !inner.iter().any(|body| body.contains(b)));
        l.own_work = own.map(|&b| work_of(ranked, &counts, b)).sum();
    }
    loops
}

/// The sources of the retreating edges, by their targets.
pub(super) fn back_edges(table: &FunctionTable) -> BTreeMap<u32, Vec<u32>> {
    let mut headers: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for edge in &table.edges {
        if let Edge::Cut { from, to, why: CutReason::Retreating, .. } = *edge {
            headers.entry(to).or_default().push(from);
        }
    }
    headers
}

fn natural_loop(
    ranked: &Ranked<'_>,
    counts: &GraphCounts,
    taken: &[(u32, u64, Path)],
    header: u32,
    latches: &[u32],
) -> NaturalLoop {
    let table = ranked.function.table;
    let body = body_of(table, header, latches);
    let closes = |index: usize| {
        matches!(table.edges.get(index),
            Some(&Edge::Cut { to, why: CutReason::Retreating, .. }) if to == header)
    };
    let mut found = NaturalLoop {
        header,
        entered: 0,
        around: 0,
        work: body.iter().map(|&b| work_of(ranked, counts, b)).sum(),
        own_work: 0,
        body,
        started: FxHashSet::default(),
        cycles: FxHashSet::default(),
        first: Vec::new(),
    };
    let mut visits = 0u64;
    let mut behind_back_edge = 0u64;
    for &(id, count, ref path) in taken {
        let way = ranked.merged(id);
        let starts = matches!(path.start, PathStart::After(edge) if closes(edge));
        let ends = matches!(path.end, PathEnd::Cut(edge) if closes(edge));
        let passes = path.blocks.contains(&header);
        if passes {
            add(&mut visits, count);
        }
        if starts {
            found.started.insert(way);
            add(&mut behind_back_edge, count);
        }
        if ends {
            add(&mut found.around, count);
            if starts {
                found.cycles.insert(way);
            } else if passes {
                found.first.push((id, count));
            }
        }
    }
    found.entered = visits.saturating_sub(behind_back_edge);
    found
}

/// What reaches a latch without passing the header.
fn body_of(table: &FunctionTable, header: u32, latches: &[u32]) -> FxHashSet<u32> {
    let mut before: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for edge in &table.edges {
        if let Some(to) = edge.to() {
            before.entry(to).or_default().push(edge.from());
        }
    }
    let mut body = FxHashSet::from_iter([header]);
    let mut work: Vec<u32> = latches.to_vec();
    while let Some(block) = work.pop() {
        if body.insert(block) {
            work.extend(before.get(&block).into_iter().flatten());
        }
    }
    body
}

fn work_of(ranked: &Ranked<'_>, counts: &GraphCounts, block: u32) -> u128 {
    let of = |all: &[u64]| u128::from(all.get(block as usize).copied().unwrap_or(0));
    of(&counts.blocks) * of(&ranked.block_costs)
}
