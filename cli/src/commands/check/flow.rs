//! Flow conservation in one function.

use crate::analysis::edge_counts::{GraphCounts, add_at, recover};
use crate::analysis::ipf::Ipf;
use crate::commands::check::Violation;
use crate::format::numbers::add;
use crate::input::function::Function;
use midflight_profile::format::FunctionProfile;
use midflight_profile::table::{CutReason, Edge, PathStart};

/// Sequences of one function that are reported, at most: one wrong count makes many of them wrong.
const SEQUENCES: usize = 5;

/// What cannot be.
pub fn violations(function: &Function<'_>, profile: &FunctionProfile) -> Vec<Violation> {
    let counts = recover(function);
    let at_entry = from_entry(function);
    let mut found = Vec::new();
    if at_entry > profile.totals.entries {
        found.push(Violation::Entry { paths: at_entry, entries: profile.totals.entries });
    }
    found.extend(edges(function, &counts, profile.totals.lost));
    found.extend(blocks(function, &counts, at_entry));
    found.extend(sequences(&Ipf::of(profile)));
    found
}

/// Paths that begin at the entry.
fn from_entry(function: &Function<'_>) -> u64 {
    let begun = function.taken().filter(|(_, _, path)| path.start == PathStart::Entry);
    begun.map(|(_, count, _)| count).fold(0, u64::saturating_add)
}

fn edges(function: &Function<'_>, counts: &GraphCounts, lost: u64) -> Vec<Violation> {
    let cut = function.table.edges.iter().enumerate().filter_map(|(index, edge)| match *edge {
        Edge::Cut { why: CutReason::Restart, .. } => None,
        Edge::Cut { from, to, .. } => {
            let (started, ended) = (counts.started[index], counts.edges[index]);
            let wrong = started > ended.saturating_add(lost);
            wrong.then_some(Violation::Edge { from, to, started, ended })
        }
        _ => None,
    });
    cut.collect()
}

fn blocks(function: &Function<'_>, counts: &GraphCounts, at_entry: u64) -> Vec<Violation> {
    let mut entered = vec![0u64; counts.blocks.len()];
    let mut left = vec![0u64; counts.blocks.len()];
    add_at(&mut entered, Some(0), at_entry);
    for (index, edge) in function.table.edges.iter().enumerate() {
        add_at(&mut left, Some(edge.from() as usize), counts.edges[index]);
        let is_cut = matches!(edge, Edge::Cut { .. });
        let came = if is_cut { counts.started[index] } else { counts.edges[index] };
        add_at(&mut entered, edge.to().map(|to| to as usize), came);
    }
    let wrong = (0..).zip(entered.into_iter().zip(left)).zip(&counts.blocks);
    wrong
        .filter(|((_, (entered, left)), count)| entered != left || entered != *count)
        .map(|((block, (entered, left)), _)| Violation::Block { block, entered, left })
        .collect()
}

fn sequences(ipf: &Ipf) -> Vec<Violation> {
    let paths = &ipf.paths;
    let mut continued = vec![0u64; paths.len()];
    for node in paths.ids() {
        if let Some(parent) = paths.parent(node) {
            add(&mut continued[parent.index()], paths.count(node));
        }
    }
    let violation = |node| {
        let (count, continued) = (paths.count(node), continued[node.index()]);
        let most = count.saturating_add(ipf.missing(node));
        let ids = || paths.labels(node);
        (continued > most).then(|| Violation::Sequence { ids: ids(), count, most, continued })
    };
    paths.ids().filter_map(violation).take(SEQUENCES).collect()
}
