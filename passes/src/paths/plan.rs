//! From a numbering to a plan: what is to be inserted where (thesis 3.2.2).
//!
//! The path register r and, in automaton mode, the state σ are SSA values. Along an edge they
//! change as its [`Transfer`] says; where edges join there is a phi. [`crate::paths::apply`] carries the
//! plan out.

use crate::paths::cut::unsplittable_heads;
use crate::paths::decided::count_when_decided;
use crate::paths::lookup::lookup;
use crate::paths::numbering::Numbering;
use crate::paths::runs::{Run, plan_runs};
use midflight_abi::Mode;
use midflight_ir::body::Body;
use midflight_ir::ids::BlockId;
use midflight_profile::table;
use std::collections::{BTreeMap, BTreeSet};
use typed_index_collections::TiVec;

/// Most paths of a function of which each has a counter of its own, unless options say otherwise:
/// such an array still fits a first-level cache.
pub const MOST_COUNTERS: u32 = 4096;

/// What is inserted into one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// How paths are counted. There is a state σ in automaton mode only; as published, there is a
    /// cursor in the frame, and every path is handed to the runtime where it ends.
    pub mode: Mode,
    /// What happens on each edge
    pub transfers: BTreeMap<(BlockId, BlockId), Transfer>,
    /// Blocks at whose head a path is emitted, on whatever edge it came
    pub heads: BTreeSet<BlockId>,
    /// In counting mode, blocks at whose end the path is counted before it has ended, with what is
    /// added to r
    pub counted: BTreeMap<BlockId, u32>,
    /// Edges on which a path goes another way than it was counted for, with what was added to r; in
    /// a block of its own, before what the edge's transfer says
    pub undone: BTreeMap<(BlockId, BlockId), u32>,
    /// Blocks in which nobody needs r
    pub unneeded: BTreeSet<BlockId>,
    /// In counting mode, the block that looks for the forest again for what it counts at its end or
    /// on edges from it
    pub lookup: Option<BlockId>,
    /// In automaton mode, loops of which rounds are counted, by their headers
    pub runs: BTreeMap<BlockId, Run>,
    /// Edges that leave such a loop, with its header: rounds are emitted there, on the edge in a
    /// block of its own, before what the edge's transfer says
    pub leaves: BTreeMap<(BlockId, BlockId), BlockId>,
    /// Blocks where a path ends for good, with what is added to r there
    pub exits: BTreeMap<BlockId, u32>,
}

/// What happens to the path register on an edge, and where the path is emitted if it ends there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transfer {
    /// r ← r + value
    Add(u32),
    /// On the edge, in a block of its own: emit r + end, for a path that goes on; r ← r + value
    Emit {
        /// Added to r in the target
        value: u32,
        /// Added to r before it is emitted
        end: u32,
    },
    /// The path was counted before: r ← start
    Begin {
        /// The value of r in the target
        start: u32,
    },
    /// On the edge, in a block of its own: emit r + end; r ← start
    OnEdge {
        /// Added to r before it is emitted
        end: u32,
        /// The value of r in the target
        start: u32,
    },
    /// At the head of the target: emit r + end; r ← start
    AtHead {
        /// Added to r before it is emitted
        end: u32,
        /// The value of r in the target
        start: u32,
    },
    /// Before the call at the source's end that returns twice: emit r + end. In the target
    /// r ← start, and the stream begins anew (∗).
    Restart {
        /// Added to r before it is emitted
        end: u32,
        /// The value of r in the target
        start: u32,
    },
}

/// How a function counts that is asked to count as `asked`: it has a counter for each path instead
/// of an automaton if k is 1, or if all streams have length 1 and there are few paths.
fn mode_of(asked: Mode, numbering: &Numbering, k: u32) -> Mode {
    let is_array = k == 1 || !numbering.has_cuts() && numbering.num_paths <= MOST_COUNTERS;
    if asked == Mode::Automaton && is_array { Mode::Counting } else { asked }
}

/// Plans the instrumentation of a body for paths of up to `k` acyclic paths.
pub fn plan(body: &Body, numbering: &Numbering, asked: Mode, k: u32) -> Plan {
    let mode = mode_of(asked, numbering, k);
    let mut plan = plan_transfers(body, numbering, mode);
    match mode {
        Mode::Automaton => plan_runs(body, &mut plan, k),
        Mode::Counting => {
            count_when_decided(body, &mut plan);
            plan.lookup = lookup(body, &plan);
        }
        Mode::Published => {}
    }
    plan
}

/// What happens on edges, where each path is emitted when it ends.
fn plan_transfers(body: &Body, numbering: &Numbering, mode: Mode) -> Plan {
    let id = |block: u32| BlockId::from(block as usize);
    let cut: BTreeSet<(BlockId, BlockId)> = numbering
        .edges
        .iter()
        .filter_map(|edge| match *edge {
            table::Edge::Cut { from, to, .. } => Some((id(from), id(to))),
            _ => None,
        })
        .collect();
    let mut plan = Plan {
        mode,
        transfers: BTreeMap::new(),
        heads: unsplittable_heads(body, |edge| cut.contains(&edge)),
        counted: BTreeMap::new(),
        undone: BTreeMap::new(),
        unneeded: BTreeSet::new(),
        lookup: None,
        runs: BTreeMap::new(),
        leaves: BTreeMap::new(),
        exits: BTreeMap::new(),
    };
    for edge in &numbering.edges {
        match *edge {
            table::Edge::Flow { from, to, value } => {
                plan.transfers.insert((id(from), id(to)), Transfer::Add(value));
            }
            table::Edge::Cut { from, to, end, start, why } => {
                let key = (id(from), id(to));
                let transfer = if why == table::CutReason::Restart {
                    Transfer::Restart { end, start }
                } else if plan.heads.contains(&key.1) {
                    Transfer::AtHead { end, start }
                } else {
                    Transfer::OnEdge { end, start }
                };
                plan.transfers.insert(key, transfer);
            }
            table::Edge::Exit { from, value } => {
                plan.exits.insert(id(from), value);
            }
        }
    }
    plan
}

impl Plan {
    /// Whether the plan puts a block on an edge.
    pub fn is_split(&self, edge: (BlockId, BlockId)) -> bool {
        let transfer = self.transfers.get(&edge);
        matches!(transfer, Some(Transfer::OnEdge { .. } | Transfer::Emit { .. }))
            || self.leaves.contains_key(&edge)
            || self.undone.contains_key(&edge)
    }
}

/// The edges that a body has after the plan is applied, with the blocks that the plan adds behind
/// the body's own in the order of its edges: what a new snapshot must show.
pub fn predicted_edges(body: &Body, plan: &Plan) -> TiVec<BlockId, Vec<BlockId>> {
    let mut shape: TiVec<BlockId, Vec<BlockId>> = TiVec::new();
    let mut added = Vec::new();
    let own = body.blocks.len();
    for (from, block) in body.blocks.iter_enumerated() {
        let targets = block.edges.iter().map(|edge| {
            if plan.is_split((from, edge.to)) {
                added.push(vec![edge.to]);
                BlockId::from(own + added.len() - 1)
            } else {
                edge.to
            }
        });
        shape.push(targets.collect());
    }
    shape.extend(added);
    shape
}
