//! Loops of which the length of a run is counted in a register, in automaton mode.
//!
//! An innermost loop with a single acyclic path from its header to its only back edge emits one
//! path again and again: first that on which the loop was reached, then the repeated one. Where V
//! is the sum of the values from the header to the latch, that is
//!
//! ```text
//! repeated = start + V + end
//! ```
//!
//! Most loops are left soon, so the first k−1 rounds are emitted as they come. Behind them the
//! state is the window that has nothing but the repeated path, and leads back to itself: it is
//! enough to count the rounds, and to emit them where the loop is left, which the runtime does by
//! one addition.
//!
//! Nothing in the loop may leave the function in another way, or wait: the rounds would be lost
//! with the register, as they would be in a loop that nothing leaves.

use crate::paths::plan::{Plan, Transfer};
use midflight_ir::body::{Body, EdgeKind};
use midflight_ir::dominators::dominators;
use midflight_ir::ids::BlockId;
use midflight_ir::loops::{Loop, loops};

/// Edges that leave a loop, each with code of its own.
const MOST_EXITS: usize = 3;

/// A loop of which rounds are counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    /// The source of the back edge
    pub latch: BlockId,
    /// The path of each round behind the first
    pub repeated: u32,
    /// So many rounds are emitted one by one; those behind them where the loop is left
    pub singles: u32,
}

/// Changes the plan for paths of up to `k` acyclic paths, for all loops with a single one.
pub fn plan_runs(body: &Body, plan: &mut Plan, k: u32) {
    let loops = loops(body, &dominators(body));
    let innermost = loops.innermost(body.blocks.len());
    for (index, l) in loops.loops.iter().enumerate() {
        let is_innermost = l.blocks.iter().all(|&block| innermost[block] == Some(index));
        if is_innermost && let Some((run, exits)) = run_of(body, plan, l, k - 1) {
            plan.leaves.extend(exits.into_iter().map(|edge| (edge, l.header)));
            plan.runs.insert(l.header, run);
        }
    }
}

/// The loop as a run, with the edges that leave it.
fn run_of(
    body: &Body,
    plan: &Plan,
    l: &Loop,
    singles: u32,
) -> Option<(Run, Vec<(BlockId, BlockId)>)> {
    let is_inside = |block: BlockId| l.blocks.binary_search(&block).is_ok();
    let (mut sum, mut block, mut length) = (0u32, l.header, 1);
    let mut exits = Vec::new();
    loop {
        if !body.profile[block].stays || plan.heads.contains(&block) {
            return None;
        }
        let mut inside = None;
        for edge in &body.blocks[block].edges {
            let key = (block, edge.to);
            match (is_inside(edge.to), plan.transfers.get(&key)?) {
                (true, &transfer) if inside.is_none() => inside = Some((edge.to, transfer)),
                (false, Transfer::Add(_) | Transfer::OnEdge { .. })
                    if edge.kind == EdgeKind::Plain =>
                {
                    exits.push(key);
                }
                _ => return None,
            }
        }
        match inside? {
            (next, Transfer::Add(value)) if next != l.header => {
                sum = sum.wrapping_add(value);
                (block, length) = (next, length + 1);
            }
            // Round the loop, with all of its blocks on the way.
            (next, Transfer::OnEdge { end, start })
                if next == l.header && length == l.blocks.len() =>
            {
                let repeated = start.wrapping_add(sum).wrapping_add(end);
                let run = Run { latch: block, repeated, singles };
                return (1..=MOST_EXITS).contains(&exits.len()).then_some((run, exits));
            }
            _ => return None,
        }
    }
}
