//! Branches that go many ways, as that of an interpreter to the code of an instruction: where they
//! go, and how well the last way foretells the next.
//!
//! Such a branch is a `switch`, or the `goto *` that an interpreter ends each instruction with. A
//! path goes through it once, or ends on it, as on each edge that cannot be split. So the pairs of
//! paths of the k-IPF have which way follows which.

use crate::analysis::behaviour::loops::back_edges;
use crate::analysis::behaviour::order::likeliest;
use crate::analysis::interval::{Interval, share_among};
use crate::analysis::ipf::Ipf;
use crate::analysis::rank::Ranked;
use crate::format::numbers::{add, share};
use midflight_profile::table::{Edge, Path, PathEnd};
use rustc_hash::FxHashMap;
use serde::Serialize;

/// From so many targets on a branch is one of these.
const MANY: usize = 8;
/// Branches with less than this part of the function's paths are left out.
const SOME: f64 = 0.05;
/// Targets, and pairs of them, that are reported.
const SHOWN: usize = 4;

/// A branch with many targets.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Dispatch {
    /// Its block
    pub block: u32,
    /// Its line; 0 if it has none
    pub line: u32,
    /// Blocks that it may go to
    pub targets: usize,
    /// Blocks that it went to
    pub taken: usize,
    /// How often it was taken
    pub count: u64,
    /// The blocks that it went to most often
    pub most: Vec<Target>,
    /// The share of the ways, from 0 to 1, that were the one that most often follows the way
    /// before; none where it is not known what followed
    pub foretold: Option<Interval<f64>>,
    /// Ways that most often followed each other
    pub pairs: Vec<Pair>,
}

/// A block that a branch went to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Target {
    /// The block
    pub block: u32,
    /// Its first line; 0 if it has none
    pub line: u32,
    /// How often it went there
    pub count: u64,
}

/// Two ways, one after the other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pair {
    /// The lines of both targets; 0 where there is none
    pub lines: [u32; 2],
    /// How often the second followed the first, as a share from 0 to 1 of all pairs
    pub share: Interval<f64>,
}

/// The branches of a function that go many ways and were taken again and again, those that were
/// taken most often first; with `ipf` of [`Ranked::k_ipf`].
pub fn dispatches(ranked: &Ranked<'_>, ipf: &Ipf) -> Vec<Dispatch> {
    let table = ranked.function.table;
    let mut targets: FxHashMap<u32, usize> = FxHashMap::default();
    for edge in table.edges.iter().filter(|edge| edge.to().is_some()) {
        *targets.entry(edge.from()).or_default() += 1;
    }
    targets.retain(|_, number| *number >= MANY);
    // Outside of loops it is taken once.
    if targets.is_empty() || back_edges(table).is_empty() {
        return Vec::new();
    }
    let paths: FxHashMap<u32, Path> = ranked
        .paths
        .iter()
        .filter_map(|taken| Some((taken.id, ranked.function.path(taken.id)?)))
        .collect();
    let all = ranked.paths.iter().map(|taken| taken.count).fold(0, u64::saturating_add);
    let mut found: Vec<Dispatch> = targets
        .iter()
        .filter_map(|(&block, &targets)| dispatch(ranked, ipf, &paths, block, targets))
        .filter(|dispatch| share(dispatch.count, all) >= SOME)
        .collect();
    found.sort_by_key(|dispatch| (std::cmp::Reverse(dispatch.count), dispatch.block));
    found
}

fn dispatch(
    ranked: &Ranked<'_>,
    ipf: &Ipf,
    paths: &FxHashMap<u32, Path>,
    block: u32,
    targets: usize,
) -> Option<Dispatch> {
    let edges = &ranked.function.table.edges;
    let ways: FxHashMap<u32, u32> =
        paths.iter().filter_map(|(&id, path)| Some((id, way(edges, path, block)?))).collect();
    let mut counts: FxHashMap<u32, u64> = FxHashMap::default();
    for taken in &ranked.paths {
        if let Some(&to) = ways.get(&taken.id) {
            add(counts.entry(to).or_default(), taken.count);
        }
    }
    let mut pairs: FxHashMap<[u32; 2], u64> = FxHashMap::default();
    for root in ipf.paths.roots() {
        let Some(&first) = ways.get(&ipf.paths.label(root)) else { continue };
        for child in ipf.paths.children(root) {
            if let Some(&second) = ways.get(&ipf.paths.label(child)) {
                add(pairs.entry([first, second]).or_default(), ipf.least(child));
            }
        }
    }
    let missing = ipf.missing_of(2, |(_, last)| ways.contains_key(&last));
    let count = counts.values().copied().fold(0, u64::saturating_add);
    let line = |block: u32| ranked.function.line_of(block);
    let most = most(&counts).into_iter();
    let followed = pairs.values().copied().fold(0, u64::saturating_add);
    let pair = |([a, b], count): ([u32; 2], u64)| Pair {
        lines: [line(a), line(b)],
        share: share_among(count, followed, missing),
    };
    (count > 0).then(|| Dispatch {
        block,
        line: ranked.function.last_line_of(block),
        targets,
        taken: counts.len(),
        count,
        most: most.map(|(block, count)| Target { block, line: line(block), count }).collect(),
        pairs: self::most(&pairs).into_iter().map(pair).collect(),
        foretold: (followed > 0).then(|| share_among(likeliest(pairs), followed, missing)),
    })
}

/// The block that a path goes to from this one, if it goes through it.
fn way(edges: &[Edge], path: &Path, block: u32) -> Option<u32> {
    let place = path.blocks.iter().position(|&other| other == block)?;
    match (path.blocks.get(place + 1), path.end) {
        (Some(&next), _) => Some(next),
        (None, PathEnd::Cut(edge)) => edges.get(edge)?.to(),
        (None, PathEnd::Exit(_)) => None,
    }
}

/// Those with the largest counts, largest first.
fn most<T: Copy + Ord>(counts: &FxHashMap<T, u64>) -> Vec<(T, u64)> {
    let mut sorted: Vec<(T, u64)> = counts.iter().map(|(&of, &count)| (of, count)).collect();
    sorted.sort_by_key(|&(of, count)| (std::cmp::Reverse(count), of));
    sorted.truncate(SHOWN);
    sorted
}
