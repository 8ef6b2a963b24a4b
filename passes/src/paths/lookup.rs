//! In counting mode, where emitted code looks for the thread's forest again.
//!
//! What lives across a call takes a register that the function has to save for its caller: in a
//! function that is short, or that leaves early most of the time, this is most of what counting
//! costs. Looking into the slot again costs a load and a test. So this is done where one block
//! behind calls counts, as the end of a function that calls itself. It is not where it counts in a
//! loop without calls; nor in shared libraries, where the slot is found by a call. Where several
//! blocks count, a register is less code than their tests, and no slower.

use crate::paths::plan::{Plan, Transfer};
use midflight_ir::body::Body;
use midflight_ir::depth_first::depth_first;
use midflight_ir::dominators::dominators;
use midflight_ir::ids::BlockId;
use midflight_ir::loops::loops;
use typed_index_collections::TiVec;

/// The block that looks for the forest again for what it counts at its end or on edges from it.
pub fn lookup(body: &Body, plan: &Plan) -> Option<BlockId> {
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
    let mut all = body.blocks.keys().filter(|&block| called[block] && counts(block));
    let (block, None) = (all.next()?, all.next()) else { return None };
    let returns_twice = plan.transfers.values().any(|t| matches!(t, Transfer::Restart { .. }));
    if returns_twice || !plan.heads.is_empty() {
        return None;
    }
    let loops = loops(body, &dominators(body));
    let is_in_quiet_loop = loops.innermost(body.blocks.len())[block]
        .is_some_and(|l| loops.loops[l].blocks.iter().all(|&b| body.profile[b].calls == 0));
    (!is_in_quiet_loop).then_some(block)
}

/// Whether a call may lie before what is counted at each block's end.
fn called(body: &Body) -> TiVec<BlockId, bool> {
    let predecessors = body.predecessors();
    let mut called: TiVec<BlockId, bool> =
        body.profile.iter().map(|block| block.calls > u32::from(block.ends_at_call)).collect();
    let order = depth_first(body).postorder;
    loop {
        let mut changed = false;
        for &block in order.iter().rev() {
            let is_called = called[block]
                || predecessors[block]
                    .iter()
                    .any(|&from| called[from] || body.profile[from].calls > 0);
            changed |= is_called != called[block];
            called[block] = is_called;
        }
        if !changed {
            return called;
        }
    }
}
