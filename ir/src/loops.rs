//! Natural loops of a body, and how they are nested.

use crate::body::Body;
use crate::depth_first::depth_first;
use crate::dominators::Dominators;
use crate::ids::BlockId;
use typed_index_collections::{TiSlice, TiVec};

/// A natural loop: the blocks of all back edges to one header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// Its only block with an edge from outside
    pub header: BlockId,
    /// Its blocks, sorted
    pub blocks: Vec<BlockId>,
    /// Index of the smallest loop around it
    pub parent: Option<usize>,
}

/// The loops of a body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Loops {
    /// Each after the loops around it
    pub loops: Vec<Loop>,
    /// Targets of retreating edges that do not dominate the source: loops with several entries,
    /// which have no header
    pub irreducible: Vec<BlockId>,
}

/// Finds the natural loops.
pub fn loops(body: &Body, dominators: &Dominators) -> Loops {
    let predecessors = body.predecessors();
    let mut headers: Vec<(BlockId, Vec<BlockId>)> = Vec::new();
    let mut irreducible = Vec::new();
    for (from, to) in depth_first(body).retreating {
        if !dominators.dominates(to, from) {
            irreducible.push(to);
        } else if let Some((_, latches)) = headers.iter_mut().find(|(header, _)| *header == to) {
            latches.push(from);
        } else {
            headers.push((to, vec![from]));
        }
    }
    let mut loops: Vec<Loop> = headers
        .into_iter()
        .map(|(header, latches)| Loop {
            header,
            blocks: blocks_of(header, latches, &predecessors),
            parent: None,
        })
        .collect();
    // A loop around another one has more blocks.
    loops.sort_by_key(|l| (std::cmp::Reverse(l.blocks.len()), l.header));
    for inner in 0..loops.len() {
        let header = loops[inner].header;
        let around = |outer: &usize| loops[*outer].blocks.binary_search(&header).is_ok();
        loops[inner].parent = (0..inner).rev().find(around);
    }
    irreducible.sort_unstable();
    irreducible.dedup();
    Loops { loops, irreducible }
}

/// The header, and all blocks that reach a back edge without passing it.
fn blocks_of(
    header: BlockId,
    latches: Vec<BlockId>,
    predecessors: &TiSlice<BlockId, Vec<BlockId>>,
) -> Vec<BlockId> {
    let mut inside = TiVec::from(vec![false; predecessors.len()]);
    inside[header] = true;
    let mut work = latches;
    while let Some(block) = work.pop() {
        if !std::mem::replace(&mut inside[block], true) {
            work.extend(&predecessors[block]);
        }
    }
    predecessors.keys().filter(|&b| inside[b]).collect()
}

impl Loops {
    /// For each block the smallest loop that it is in.
    pub fn innermost(&self, num_blocks: usize) -> TiVec<BlockId, Option<usize>> {
        let mut result = TiVec::from(vec![None; num_blocks]);
        // Inner loops come later.
        for (index, l) in self.loops.iter().enumerate() {
            for &block in &l.blocks {
                result[block] = Some(index);
            }
        }
        result
    }
}
