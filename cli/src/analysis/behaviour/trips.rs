//! How long a loop goes around, where that is always the same.
//!
//! An innermost loop's rounds are paths that follow each other: one from outside through the header
//! to a back edge, then ways around, then one that leaves. So the k-IPF has how many times it was
//! left behind each number of back edges below k, exactly. Of more than that only sums are known:
//! where no stay was shorter, and they are the same number on average to the last one, they are
//! taken to be that number each. Where one of these counts is not known, nothing is.

use crate::analysis::behaviour::loops::NaturalLoop;
use crate::analysis::interval::Interval;
use crate::analysis::ipf::Ipf;
use crate::analysis::rank::Ranked;
use crate::format::numbers::add;
use midflight_profile::forest::NodeId;
use midflight_profile::table::{Edge, PathEnd};
use rustc_hash::FxHashSet;

/// Of so many stays a whole number on average is no accident.
const MANY: u64 = 16;

/// The number of rounds that a loop makes each time that it is entered, if it is always the same
/// and it goes around at all. None of a loop with a loop in it.
pub fn fixed(ranked: &Ranked<'_>, ipf: &Ipf, k: u32, l: &NaturalLoop) -> Option<u64> {
    if ranked.function.lost() != 0 || l.entered == 0 || !is_innermost(ranked, l) {
        return None;
    }
    back_edges(ipf, k, l, ranked)?.checked_add(rounds_without_back_edge(ranked, l)?)
}

/// How many back edges are taken each time, always as many.
fn back_edges(ipf: &Ipf, k: u32, l: &NaturalLoop, ranked: &Ranked<'_>) -> Option<u64> {
    let first: FxHashSet<u32> = l.first.iter().map(|(id, _)| ranked.merged(*id)).collect();
    // For each number of back edges below k: how often the loop was then left; and how often k were
    // taken.
    let mut left = vec![0u64; k as usize];
    let mut on = 0u64;
    // Sequences that end with a back edge, and how many of these they have.
    let roots = ipf.paths.roots().filter(|&root| first.contains(&ipf.paths.label(root)));
    let mut stays: Vec<(NodeId, usize)> = roots.map(|root| (root, 1)).collect();
    while let Some((node, taken)) = stays.pop() {
        if taken == left.len() {
            add(&mut on, known(ipf.count(node))?);
            continue;
        }
        known(ipf.followed(node))?;
        for child in ipf.paths.children(node) {
            let count = known(ipf.count(child))?;
            if l.cycles.contains(&ipf.paths.label(child)) {
                stays.push((child, taken + 1));
            } else {
                add(&mut left[taken], count);
            }
        }
    }
    let mut ended = left.iter().enumerate().filter(|(_, count)| **count > 0);
    match (ended.next(), on) {
        (Some((times, &count)), 0) => {
            (ended.next().is_none() && count == l.entered).then_some(times as u64)
        }
        (None, on) if on == l.entered && on >= MANY => {
            l.around.is_multiple_of(l.entered).then_some(l.around / l.entered)
        }
        _ => None,
    }
}

fn known(count: Interval<u64>) -> Option<u64> {
    count.is_exact().then_some(count.least)
}

/// True if all paths through the loop are rounds: no edge in it is cut but those that close it.
fn is_innermost(ranked: &Ranked<'_>, l: &NaturalLoop) -> bool {
    ranked.function.table.edges.iter().all(|edge| match *edge {
        Edge::Cut { from, to, .. } => {
            !(l.body.contains(&from) && l.body.contains(&to)) || to == l.header
        }
        _ => true,
    })
}

/// How many more rounds than back edges a stay has: none in a loop that is left from its header,
/// and one in a loop that is left from a block that ends with a back edge, since the last round
/// ends with none. Not known if it is left from elsewhere, or from both.
fn rounds_without_back_edge(ranked: &Ranked<'_>, l: &NaturalLoop) -> Option<u64> {
    let function = ranked.function;
    let edges = &function.table.edges;
    let closes = |edge: &Edge| matches!(*edge, Edge::Cut { to, .. } if to == l.header);
    let is_latch = |block: u32| edges.iter().any(|edge| closes(edge) && edge.from() == block);
    let mut found = None;
    for &id in &l.started {
        let path = function.path(id)?;
        if matches!(path.end, PathEnd::Cut(edge) if edges.get(edge).is_some_and(closes)) {
            continue;
        }
        let last = path.blocks.iter().copied().take_while(|block| l.body.contains(block)).last()?;
        let more = u64::from(is_latch(last));
        if more == 0 && last != l.header || found.is_some_and(|found| found != more) {
            return None;
        }
        found = Some(more);
    }
    found
}
