//! What of a version is the same under all matchings: the order in which it is numbered, and what
//! comes in at the heads of blocks.

use crate::proof::matching::{Matching, PairId};
use crate::versions::facts::{VersionFacts, Versions};
use crate::versions::graph::{Access, Operand};
use crate::versions::version::{PerVersion, Version};
use midflight_ir::depth_first::postorder;
use midflight_ir::ids::{BlockId, InstId};
use typed_index_collections::TiVec;

/// What is asked of a version again and again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shape {
    /// Its blocks that may be reached, in reverse postorder
    pub(super) order: Vec<BlockId>,
    /// For each instruction where its operands begin, if it is a phi
    first: TiVec<InstId, usize>,
    operands: Vec<Option<Operand>>,
    /// For each block where states of memory meet what comes in, in the order of its predecessors
    pub(super) states: TiVec<BlockId, Option<Vec<Option<Access>>>>,
}

impl Shape {
    /// What may come in at a phi, in the order of its block's predecessors: each phi may have an
    /// order of its own.
    pub(super) fn incoming(&self, version: &VersionFacts, phi: InstId) -> &[Option<Operand>] {
        let count = version.live.predecessors[version.graph.block(phi)].len();
        &self.operands[self.first[phi]..][..count]
    }
}

/// Those of both versions.
pub(super) fn shapes(versions: &Versions) -> PerVersion<Shape> {
    PerVersion::from_fn(|which| shape(&versions.of[which]))
}

fn shape(version: &VersionFacts) -> Shape {
    let (graph, live) = (&version.graph, &version.live);
    let mut order = postorder(&live.successors);
    order.reverse();
    let mut first = TiVec::from(vec![0; graph.nodes.len()]);
    let mut operands = Vec::new();
    let mut states = TiVec::from(vec![None; graph.blocks.len()]);
    let mut places = Places::new(graph.blocks.len());
    for &block in &order {
        let predecessors = &live.predecessors[block];
        if predecessors.is_empty() {
            continue;
        }
        places.set(predecessors);
        for phi in graph.phis(block) {
            first[phi] = operands.len();
            operands.resize(first[phi] + predecessors.len(), None);
            let from = graph.body.code.incoming_blocks(phi);
            for (&from, &operand) in from.iter().zip(graph.operands(phi)) {
                if let Some(place) = places.of(from) {
                    operands[first[phi] + place].get_or_insert(operand);
                }
            }
        }
        if let Some(all) = &graph.blocks[block].memory_phi {
            let mut incoming = vec![None; predecessors.len()];
            for &(from, access) in all {
                if let Some(place) = places.of(from) {
                    incoming[place].get_or_insert(access);
                }
            }
            states[block] = Some(incoming);
        }
    }
    Shape { order, first, operands, states }
}

/// For some blocks at a time the place of each.
struct Places {
    /// For each block the time at which it had a place, and that
    of: TiVec<BlockId, (usize, usize)>,
    time: usize,
}

impl Places {
    fn new(blocks: usize) -> Self {
        Places { of: vec![(0, 0); blocks].into(), time: 0 }
    }

    fn set(&mut self, blocks: &[BlockId]) {
        self.time += 1;
        for (place, &block) in blocks.iter().enumerate() {
            self.of[block] = (self.time, place);
        }
    }

    fn of(&self, block: BlockId) -> Option<usize> {
        let (time, place) = self.of[block];
        (time == self.time).then_some(place)
    }
}

/// How a block is entered under a matching.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Entry {
    /// It is no entry of a pair, or both versions do not take the same ways to that.
    Alone,
    /// From its predecessors: for each edge to the pair the places of those that it leads over
    Direct(PairId, Vec<Vec<usize>>),
    /// Over blocks with phis
    Over,
}

/// For each block of a version how it is entered.
pub(super) fn entries(
    versions: &Versions,
    matching: &Matching,
    which: Version,
) -> TiVec<BlockId, Entry> {
    let live = &versions.of[which].live;
    let mut entries = TiVec::from(vec![Entry::Alone; live.predecessors.len()]);
    let mut places = Places::new(entries.len());
    for (id, pair) in matching.pairs.iter_enumerated().filter(|(_, p)| !p.incoming.is_empty()) {
        for &block in &pair.entries[which] {
            places.set(&live.predecessors[block]);
            let of_edge = |&(from, place): &(PairId, usize)| -> Option<Vec<usize>> {
                let walks = &matching.pairs[from].out.as_ref()?[place].walks[which];
                let of_walk = walks.iter().map(|walk| match walk.edges[..] {
                    [(from, to)] if to == block => places.of(from),
                    _ => None,
                });
                of_walk.collect()
            };
            let edges: Option<Vec<_>> = pair.incoming.iter().map(of_edge).collect();
            entries[block] = edges.map_or(Entry::Over, |edges| Entry::Direct(id, edges));
        }
    }
    entries
}
