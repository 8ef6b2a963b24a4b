//! Which edges are cut: replaced by dummies, so that a path ends on them and the next one begins.
//!
//! Retreating edges are cut because paths are acyclic (thesis 3.2.2). Three more kinds follow:
//!
//! * **Restart**: behind a call that returns twice, control may come from nowhere.
//! * **Unsplittable**: on a cut edge that cannot be split there is no place for the emission. It
//!   moves to the head of the target, where all other edges join, so those are cut too (the thesis
//!   does the same at loop headers, 5.2.1).
//! * **Bound**: where a function would have more paths than a bound, its coldest edges are cut
//!   until it has not. A cut uses up one of k iterations, but no function is left out for size.

use midflight_ir::body::{Body, EdgeKind};
use midflight_ir::depth_first::DepthFirst;
use midflight_ir::ids::BlockId;
use midflight_profile::table::CutReason;
use std::collections::{BTreeMap, BTreeSet};
use typed_index_collections::{TiSlice, TiVec};

/// The cut edges of a body, with the reason.
pub type Cuts = BTreeMap<(BlockId, BlockId), CutReason>;

/// Chooses the cut edges so that, if possible, the numbering has at most `bound` paths.
///
/// A limit on the paths that begin at any one block is halved until the whole function is within
/// the bound. Where no limit achieves that (each cut edge is a start of its own, so a function with
/// more edges than `bound` has more paths), the cuts with the fewest paths are taken.
pub fn choose_cuts(body: &Body, order: &DepthFirst, bound: u64) -> Cuts {
    let needed = needed_cuts(body, order);
    let mut best: Option<(u64, Cuts)> = None;
    let mut limit = bound.max(1);
    loop {
        let cuts = cut_to_limit(body, order, &needed, limit);
        let total = total_paths(body, order, &cuts);
        if total <= bound {
            return cuts;
        }
        if best.as_ref().is_none_or(|(fewest, _)| total < *fewest) {
            best = Some((total, cuts));
        }
        if limit == 1 {
            return best.map_or(needed, |(_, cuts)| cuts);
        }
        limit /= 2;
    }
}

fn needed_cuts(body: &Body, order: &DepthFirst) -> Cuts {
    let mut cuts: Cuts = order.retreating.iter().map(|&e| (e, CutReason::Retreating)).collect();
    for (from, block) in body.blocks.iter_enumerated() {
        for edge in block.edges.iter().filter(|e| e.kind == EdgeKind::Restart) {
            cuts.insert((from, edge.to), CutReason::Restart);
        }
    }
    close_over_unsplittable(body, &mut cuts);
    cuts
}

/// Cuts every edge into a block that has a cut edge which cannot be split. Returns whether any was
/// added. One pass is enough: what it adds leads into blocks that it has seen.
fn close_over_unsplittable(body: &Body, cuts: &mut Cuts) -> bool {
    let heads = unsplittable_heads(body, |edge| cuts.contains_key(&edge));
    if heads.is_empty() {
        return false;
    }
    let predecessors = body.predecessors();
    let before = cuts.len();
    for to in heads {
        for &from in &predecessors[to] {
            cuts.entry((from, to)).or_insert(CutReason::Unsplittable);
        }
    }
    cuts.len() > before
}

/// The blocks with an edge into them that is cut and cannot be split.
pub fn unsplittable_heads(
    body: &Body,
    is_cut: impl Fn((BlockId, BlockId)) -> bool,
) -> BTreeSet<BlockId> {
    let mut heads = BTreeSet::new();
    for (from, block) in body.blocks.iter_enumerated() {
        for edge in block.edges.iter().filter(|e| e.kind == EdgeKind::Unsplittable) {
            if is_cut((from, edge.to)) {
                heads.insert(edge.to);
            }
        }
    }
    heads
}

/// Cuts more edges until no block begins more than `limit` paths, as far as possible.
fn cut_to_limit(body: &Body, order: &DepthFirst, needed: &Cuts, limit: u64) -> Cuts {
    let mut cuts = needed.clone();
    loop {
        let mut paths = TiVec::from(vec![0u64; body.blocks.len()]);
        for &from in &order.postorder {
            paths[from] = paths_from(body, &cuts, &paths, from);
            if paths[from] > limit {
                cut_block(body, &mut cuts, &mut paths, from, limit);
            }
        }
        if !close_over_unsplittable(body, &mut cuts) {
            return cuts;
        }
    }
}

/// Cuts edges of one block: splittable before unsplittable, cold before hot, many paths before few.
fn cut_block(
    body: &Body,
    cuts: &mut Cuts,
    paths: &mut TiSlice<BlockId, u64>,
    from: BlockId,
    limit: u64,
) {
    let mut worth: Vec<_> = body.blocks[from]
        .edges
        .iter()
        .zip(&body.profile[from].probabilities)
        .filter(|(e, _)| paths[e.to] > 1 && !cuts.contains_key(&(from, e.to)))
        .collect();
    worth.sort_by_key(|&(e, probability)| {
        (e.kind, probability, std::cmp::Reverse(paths[e.to]), e.to)
    });
    let mut whole: u128 = body.blocks[from]
        .edges
        .iter()
        .map(|e| if cuts.contains_key(&(from, e.to)) { 1 } else { u128::from(paths[e.to]) })
        .sum();
    for (edge, _) in worth {
        if whole <= u128::from(limit) {
            break;
        }
        cuts.insert((from, edge.to), CutReason::Bound);
        whole -= u128::from(paths[edge.to]) - 1;
    }
    paths[from] = u64::try_from(whole).unwrap_or(u64::MAX);
}

fn paths_from(body: &Body, cuts: &Cuts, paths: &TiSlice<BlockId, u64>, from: BlockId) -> u64 {
    let block = &body.blocks[from];
    if block.edges.is_empty() {
        return 1;
    }
    block.edges.iter().fold(0u64, |sum, e| {
        sum.saturating_add(if cuts.contains_key(&(from, e.to)) { 1 } else { paths[e.to] })
    })
}

/// The number of paths of the whole function: those from the entry and those from each cut edge.
pub fn total_paths(body: &Body, order: &DepthFirst, cuts: &Cuts) -> u64 {
    let mut paths = TiVec::from(vec![0u64; body.blocks.len()]);
    for &from in &order.postorder {
        paths[from] = paths_from(body, cuts, &paths, from);
    }
    cuts.keys().fold(paths[BlockId::ENTRY], |sum, &(_, to)| sum.saturating_add(paths[to]))
}
