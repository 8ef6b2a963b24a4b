//! Random control flow graphs.

use midflight_ir::body::{Block, BlockProfile, Body, Edge, EdgeKind, Terminator};
use midflight_ir::ids::BlockId;
use proptest::prelude::*;

/// A random graph in which every block is reached from block 0 and none leads back to it.
pub fn bodies() -> impl Strategy<Value = Body> {
    let block =
        (prop::collection::vec((0usize..64, 0u32..1000, 0u8..8), 0..4), prop::bool::weighted(0.8));
    prop::collection::vec(block, 1..14).prop_map(|raw| {
        let count = raw.len();
        let mut body = Body::default();
        for (from, (targets, stays)) in raw.into_iter().enumerate() {
            let (mut edges, mut probabilities): (Vec<Edge>, Vec<u32>) = Default::default();
            // A spine keeps every block reachable.
            if from + 1 < count {
                let to = BlockId::from(from + 1);
                edges.push(Edge { to, kind: EdgeKind::Plain });
                probabilities.push(500);
            }
            for (to, probability, kind) in targets {
                let to = BlockId::from(1 + to % count.max(2));
                if to < BlockId::from(count) && edges.iter().all(|e| e.to != to) {
                    let kind = if kind == 0 { EdgeKind::Unsplittable } else { EdgeKind::Plain };
                    edges.push(Edge { to, kind });
                    probabilities.push(probability);
                }
            }
            // Weights of which some are far larger than others, as numerators over 2^31
            probabilities.iter_mut().for_each(|p| *p = 1 << (*p / 50));
            let sum: u64 = probabilities.iter().map(|&p| u64::from(p)).sum();
            probabilities.iter_mut().for_each(|p| *p = ((u64::from(*p) << 31) / sum) as u32);
            let terminator = if edges.is_empty() { Terminator::Return } else { Terminator::Switch };
            let calls = u32::from(!stays);
            body.blocks.push(Block { terminator, edges });
            body.profile.push(BlockProfile {
                probabilities,
                stays,
                calls,
                ..BlockProfile::default()
            });
        }
        body
    })
}
