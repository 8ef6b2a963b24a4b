//! In counting mode, where emitted code looks for the thread's forest again.
//!
//! What lives across a call takes a register that the function has to save for its caller: in a function
//! that is short, or that leaves early most of the time, this is most of what counting costs. Looking into
//! the slot again costs a load and a test. So this is done, but for places that no call lies before; and
//! but for functions that count, behind a call, in a loop without calls, and for code of shared libraries,
//! where the slot is found by a call.

use crate::body::{BlockId, Body};
use crate::depth_first::depth_first;
use crate::dominators::dominators;
use crate::loops::loops;
use crate::plan::{Plan, Transfer};
use std::collections::BTreeSet;

/// The blocks that look for the forest again for what they count at their end or on edges from them.
pub fn lookups(body: &Body, plan: &Plan) -> BTreeSet<BlockId> {
    let called = called(body);
    let counts = |block: BlockId| {
        let on_edge = body.blocks[block].edges.iter().any(|edge| {
            let key = (block, edge.to);
            plan.undone.contains_key(&key)
                || matches!(
                    plan.transfers.get(&key),
                    Some(Transfer::OnEdge { .. } | Transfer::Emit { .. })
                )
        });
        on_edge || plan.counted.contains_key(&block) || plan.exits.contains_key(&block)
    };
    let found: BTreeSet<BlockId> =
        (0..body.blocks.len()).filter(|&block| called[block] && counts(block)).collect();
    let returns_twice = plan.transfers.values().any(|t| matches!(t, Transfer::Restart { .. }));
    if returns_twice || !plan.heads.is_empty() {
        return BTreeSet::new();
    }
    let loops = loops(body, &dominators(body));
    let innermost = loops.innermost(body.blocks.len());
    let is_in_quiet_loop = |block: &BlockId| {
        innermost[*block]
            .is_some_and(|l| loops.loops[l].blocks.iter().all(|&b| body.blocks[b].calls == 0))
    };
    if found.iter().any(is_in_quiet_loop) { BTreeSet::new() } else { found }
}

/// Whether a call may lie before what is counted at each block's end.
fn called(body: &Body) -> Vec<bool> {
    let predecessors = body.predecessors();
    let mut called: Vec<bool> =
        body.blocks.iter().map(|block| block.calls > u32::from(block.ends_at_call)).collect();
    let order = depth_first(body).postorder;
    loop {
        let mut changed = false;
        for &block in order.iter().rev() {
            let is_called = called[block]
                || predecessors[block]
                    .iter()
                    .any(|&from| called[from] || body.blocks[from].calls > 0);
            changed |= is_called != called[block];
            called[block] = is_called;
        }
        if !changed {
            return called;
        }
    }
}
