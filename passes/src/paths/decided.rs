//! In counting mode, a path is counted as soon as it is clear how it will most likely end.
//!
//! From a *decided* block there is one way to the end of the path but for edges that are hardly
//! ever taken, as those that leave a loop, and nothing on it leaves the function in another way, or
//! waits. So a path that comes there is counted as if it had ended. On a way aside that is undone.
//!
//! ```text
//! at the end of the first decided block v:  count r + values from v to the end
//!     or, where ways join there, on u → v:  count r + value(u → v) + values from v to the end
//! on the edge that ends the path:           r ← start
//! on a way aside from w:                    undo r + values from w to the end; go on as ever
//! ```
//!
//! What is to be undone is counted early only where ways join, since it costs as much again where a
//! loop is left: on one way alone, the counter that its last edge has is as good. Nor in loops
//! around others, whose rounds take long.
//!
//! So a loop with a condition has a counter for each arm, at an address of its own, instead of one
//! addition behind both whose address depends on the arm: processors forward a value from a store
//! to the next load of an instruction much faster if its address does not change. And there is no
//! block on the edge that goes back.

use crate::paths::plan::{Plan, Transfer};
use midflight_ir::body::{BlockProfile, Body, EdgeKind};
use midflight_ir::depth_first::depth_first;
use midflight_ir::dominators::dominators;
use midflight_ir::ids::BlockId;
use midflight_ir::loops::loops;
use typed_index_collections::TiVec;

/// A way is the main one if it is taken so often, as a numerator over 2^31.
const MAIN: u32 = 7 << 28;

/// How a path goes on from the head of a decided block.
#[derive(Clone, Copy)]
struct Way {
    /// The sum of the values to the end of the path
    end: u32,
    /// The next block, if the path does not end here
    next: Option<BlockId>,
    /// The block that control goes to, unless the function is left
    main: Option<BlockId>,
    /// Whether there is a way aside, here or before the next block where ways join and it may be
    /// counted
    has_asides: bool,
    /// Whether the path register is needed from here on
    needs_register: bool,
}

/// Changes a plan in counting mode so that paths are counted when they are decided.
pub fn count_when_decided(body: &Body, plan: &mut Plan) {
    let predecessors = body.predecessors();
    let mut ways: TiVec<BlockId, Option<Way>> = vec![None; body.blocks.len()].into();
    // Blocks of which all edges into them can have code of their own
    let is_joint: TiVec<BlockId, bool> = body
        .blocks
        .keys()
        .map(|to| {
            to != BlockId::ENTRY
                && predecessors[to].iter().all(|&from| goes_on(body, plan, from, to))
        })
        .collect();
    let is_in_outer = is_in_outer_loop(body);
    // What has ways aside is decided behind such blocks alone.
    let joins =
        |block: BlockId| is_joint[block] && predecessors[block].len() > 1 && !is_in_outer[block];
    let order = depth_first(body).postorder;
    for &block in &order {
        let next = |next: BlockId| {
            let way = ways[next].filter(|_| is_joint[next])?;
            Some(Way { has_asides: way.has_asides && !joins(next), ..way })
        };
        ways[block] = way(body, plan, block, next);
    }
    let mut is_behind_joint = TiVec::from(vec![false; body.blocks.len()]);
    for &block in order.iter().rev() {
        let goes_here = |from: &BlockId| {
            ways[*from].is_some_and(|way| way.next == Some(block)) && is_behind_joint[*from]
        };
        is_behind_joint[block] = joins(block) || predecessors[block].iter().any(goes_here);
        ways[block] = ways[block].filter(|way| is_behind_joint[block] || !way.has_asides);
    }
    let mut changes = Vec::new();
    for (from, block) in body.blocks.iter_enumerated() {
        for edge in &block.edges {
            let key = (from, edge.to);
            let is_main = ways[from].is_some_and(|way| way.main == Some(edge.to));
            let has_own_code = predecessors[edge.to].len() > 1 && is_joint[edge.to];
            match (plan.transfers.get(&key), ways[edge.to]) {
                (Some(&Transfer::OnEdge { start, .. }), _) if is_main => {
                    changes.push((key, Transfer::Begin { start }));
                }
                (Some(&Transfer::Add(value)), Some(way)) if !is_main && has_own_code => {
                    let end = value.wrapping_add(way.end);
                    changes.push((key, Transfer::Emit { value, end }));
                }
                _ => {}
            }
            if let Some(way) = ways[from].filter(|_| !is_main) {
                plan.undone.insert(key, way.end);
            }
        }
    }
    plan.transfers.extend(changes);
    for (block, way) in ways.iter_enumerated() {
        let Some(way) = way else { continue };
        plan.exits.remove(&block);
        let is_entered_counted = is_joint[block]
            && (predecessors[block].len() > 1
                || predecessors[block]
                    .iter()
                    .any(|&from| ways[from].is_some_and(|before| before.next == Some(block))));
        if !is_entered_counted {
            plan.counted.insert(block, way.end);
        } else if !way.needs_register {
            plan.unneeded.insert(block);
        }
    }
}

/// For each block whether the smallest loop that it is in has others in it.
fn is_in_outer_loop(body: &Body) -> TiVec<BlockId, bool> {
    let loops = loops(body, &dominators(body));
    let is_outer = |l: usize| loops.loops.iter().any(|inner| inner.parent == Some(l));
    loops.innermost(body.blocks.len()).into_iter().map(|l| l.is_some_and(is_outer)).collect()
}

/// How a path goes on from a block, if that is decided there.
fn way(
    body: &Body,
    plan: &Plan,
    block: BlockId,
    joint: impl Fn(BlockId) -> Option<Way>,
) -> Option<Way> {
    let edges = &body.blocks[block].edges;
    let BlockProfile { probabilities, stays, .. } = &body.profile[block];
    if !stays || plan.heads.contains(&block) {
        return None;
    }
    if edges.is_empty() {
        let end = *plan.exits.get(&block)?;
        return Some(Way { end, next: None, main: None, has_asides: false, needs_register: false });
    }
    let (main, &likeliest) = edges.iter().zip(probabilities).max_by_key(|(_, p)| **p)?;
    let is_aside = |edge: &&midflight_ir::body::Edge| edge.to != main.to;
    let can_undo = edges.iter().filter(is_aside).all(|edge| {
        let transfer = plan.transfers.get(&(block, edge.to));
        edge.kind == EdgeKind::Plain
            && matches!(transfer, Some(Transfer::Add(_) | Transfer::OnEdge { .. }))
            && !plan.heads.contains(&edge.to)
    });
    if edges.len() > 1 && (likeliest < MAIN || !can_undo) {
        return None;
    }
    let (main, alone) = (Some(main.to), edges.len() == 1);
    match *plan.transfers.get(&(block, main?))? {
        Transfer::Add(value) => {
            let next = joint(main?)?;
            let end = value.wrapping_add(next.end);
            let has_asides = next.has_asides || !alone;
            let needs_register = next.needs_register || !alone;
            Some(Way { end, next: main, main, has_asides, needs_register })
        }
        Transfer::OnEdge { end, .. } => {
            Some(Way { end, next: None, main, has_asides: !alone, needs_register: !alone })
        }
        _ => None,
    }
}

/// Whether a path goes on along an edge, which can have a block of its own.
fn goes_on(body: &Body, plan: &Plan, from: BlockId, to: BlockId) -> bool {
    let goes_on = matches!(plan.transfers.get(&(from, to)), Some(Transfer::Add(_)));
    let edge = body.blocks[from].edges.iter().find(|edge| edge.to == to);
    goes_on && edge.is_some_and(|edge| edge.kind == EdgeKind::Plain)
}
