//! Ball-Larus path numbering: thesis 3.2.2, Algorithm 3.
//!
//! The graph that is numbered has two virtual nodes: START, with an edge to the entry block and a
//! dummy edge to the target of each cut edge, and EXIT, to which go the blocks where a path ends
//! for good and a dummy edge from the source of each cut edge. One pair of dummies for each cut
//! edge makes the count of that edge recoverable.
//!
//! Successors are numbered likeliest first, so that the likeliest edge has value 0 and costs
//! nothing (the "smart numbering" of Bond and McKinley, thesis 5.2.1).

use crate::paths::cut::{Cuts, choose_cuts};
use midflight_abi::MOST_PATHS;
use midflight_ir::body::Body;
use midflight_ir::depth_first::{DepthFirst, depth_first};
use midflight_ir::ids::BlockId;
use midflight_profile::table::Edge;
use typed_index_collections::TiVec;

/// The numbering of a body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Numbering {
    /// Number of paths; IDs are below it
    pub num_paths: u32,
    /// Every edge of the body in its order, and the exits of its blocks, with their values
    pub edges: Vec<Edge>,
}

/// A function has more paths, with all cuts that help, than there are IDs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("it has {paths} paths after all cuts, and there are {MOST_PATHS} IDs")]
pub struct TooManyPaths {
    /// How many
    pub paths: u64,
}

/// Numbers the paths of a body, with at most `bound` paths if possible.
///
/// # Errors
/// [`TooManyPaths`] if the IDs do not fit: a function of thousands of millions of edges.
pub fn number_paths(body: &Body, bound: u32) -> Result<Numbering, TooManyPaths> {
    let order = depth_first(body);
    let cuts = choose_cuts(body, &order, u64::from(bound));
    number_with_cuts(body, &order, &cuts)
}

/// Algorithm 3 for given cuts.
///
/// # Errors
/// [`TooManyPaths`] if the IDs do not fit.
pub fn number_with_cuts(
    body: &Body,
    order: &DepthFirst,
    cuts: &Cuts,
) -> Result<Numbering, TooManyPaths> {
    let mut num_paths = TiVec::from(vec![0u64; body.blocks.len()]);
    let mut values: TiVec<BlockId, Vec<u64>> = vec![Vec::new(); body.blocks.len()].into();
    // Line 1: in reverse topological order. A path that ends at v has numPaths(EXIT) = 1.
    for &v in &order.postorder {
        let block = &body.blocks[v];
        if block.edges.is_empty() {
            num_paths[v] = 1;
            continue;
        }
        values[v] = vec![0; block.edges.len()];
        for e in likeliest_first(body, v) {
            let w = block.edges[e].to;
            values[v][e] = num_paths[v]; // line 7
            let through = if cuts.contains_key(&(v, w)) { 1 } else { num_paths[w] };
            num_paths[v] = num_paths[v].saturating_add(through); // line 8
        }
    }
    // START: the entry first, so that an activation begins with 0, then one dummy a cut edge.
    let mut total = num_paths.first().copied().unwrap_or(0);
    let mut edges = Vec::new();
    let fit = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
    for (from, block) in body.blocks.iter_enumerated() {
        for (e, edge) in block.edges.iter().enumerate() {
            let (value, to) = (fit(values[from][e]), edge.to);
            if let Some(&why) = cuts.get(&(from, to)) {
                let start = fit(total);
                total = total.saturating_add(num_paths[to]);
                edges.push(Edge::Cut { from: from.into(), to: to.into(), end: value, start, why });
            } else {
                edges.push(Edge::Flow { from: from.into(), to: to.into(), value });
            }
        }
        if block.edges.is_empty() {
            edges.push(Edge::Exit { from: from.into(), value: 0 });
        }
    }
    match u32::try_from(total) {
        Ok(num_paths) if num_paths <= MOST_PATHS => Ok(Numbering { num_paths, edges }),
        _ => Err(TooManyPaths { paths: total }),
    }
}

fn likeliest_first(body: &Body, v: BlockId) -> Vec<usize> {
    let probabilities = &body.profile[v].probabilities;
    let mut order: Vec<usize> = (0..probabilities.len()).collect();
    order.sort_by_key(|&e| std::cmp::Reverse(probabilities[e]));
    order
}

impl Numbering {
    /// True if some path ends on an edge, so that an activation may emit more than one ID.
    pub fn has_cuts(&self) -> bool {
        self.edges.iter().any(|e| matches!(e, Edge::Cut { .. }))
    }
}
