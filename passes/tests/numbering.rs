//! Numbering and planning on random graphs, against brute force.

mod graphs;

use graphs::bodies;
use midflight_abi::Mode;
use midflight_ir::body::{Block, BlockProfile, Body, Edge, EdgeKind, Terminator};
use midflight_ir::depth_first::depth_first;
use midflight_ir::ids::BlockId;
use midflight_passes::paths::cut::{choose_cuts, total_paths};
use midflight_passes::paths::numbering::number_paths;
use midflight_passes::paths::plan::{Transfer, plan};
use midflight_profile::table;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// All walks from START to EXIT in the numbered graph, with the sum of their values.
fn all_paths(body: &Body, edges: &[table::Edge]) -> Vec<(u64, Vec<u32>)> {
    let mut starts = vec![(0u64, 0u32)];
    let mut next: BTreeMap<u32, Vec<(u64, Option<u32>)>> = BTreeMap::new();
    for edge in edges {
        match *edge {
            table::Edge::Flow { from, to, value } => {
                next.entry(from).or_default().push((u64::from(value), Some(to)));
            }
            table::Edge::Cut { from, to, end, start, .. } => {
                next.entry(from).or_default().push((u64::from(end), None));
                starts.push((u64::from(start), to));
            }
            table::Edge::Exit { from, value } => {
                next.entry(from).or_default().push((u64::from(value), None));
            }
        }
    }
    let mut found = Vec::new();
    let mut work: Vec<(u64, Vec<u32>)> =
        starts.into_iter().map(|(value, block)| (value, vec![block])).collect();
    while let Some((sum, path)) = work.pop() {
        assert!(path.len() <= body.blocks.len(), "the numbered graph has a cycle: {path:?}");
        for &(value, to) in &next[path.last().unwrap_or(&0)] {
            match to {
                None => found.push((sum + value, path.clone())),
                Some(to) => work.push((sum + value, [path.as_slice(), &[to]].concat())),
            }
        }
    }
    found
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 400 / 256))]

    /// Ball-Larus: the sums along all paths are 0..N, each once.
    #[test]
    fn ids_are_a_bijection(body in bodies(), bound in 1u32..5000) {
        let numbering = number_paths(&body, bound).unwrap();
        prop_assume!(numbering.num_paths < 20_000);
        let paths = all_paths(&body, &numbering.edges);
        let ids: BTreeSet<u64> = paths.iter().map(|(id, _)| *id).collect();
        prop_assert_eq!(ids.len(), paths.len());
        prop_assert_eq!(paths.len() as u32, numbering.num_paths);
        prop_assert_eq!(ids.iter().next_back().copied(), Some(u64::from(numbering.num_paths) - 1));
    }

    /// The bound is kept, unless even with every edge cut there are more paths.
    #[test]
    fn the_bound_is_kept(body in bodies(), bound in 1u64..200) {
        let order = depth_first(&body);
        let cuts = choose_cuts(&body, &order, bound);
        let edges: u64 = body.blocks.iter().map(|b| b.edges.len().max(1) as u64).sum();
        let most = edges * 4 + 1; // one path an edge, from each cut edge again
        prop_assert!(total_paths(&body, &order, &cuts) <= bound.max(most));
    }

    /// Every edge has exactly one transfer, and where a path ends on an edge there is a place for
    /// it to be emitted: a splittable edge, or a head on whose edges all paths end.
    #[test]
    fn emissions_have_a_place(body in bodies(), bound in 1u32..100) {
        let numbering = number_paths(&body, bound).unwrap();
        let plan = plan(&body, &numbering, Mode::Automaton, 4);
        for (from, block) in body.blocks.iter_enumerated() {
            for edge in &block.edges {
                match plan.transfers[&(from, edge.to)] {
                    Transfer::OnEdge { .. } => prop_assert_ne!(edge.kind, EdgeKind::Unsplittable),
                    Transfer::Add(_) => prop_assert!(!plan.heads.contains(&edge.to)),
                    Transfer::AtHead { .. } => prop_assert!(plan.heads.contains(&edge.to)),
                    Transfer::Restart { .. } => prop_assert_eq!(edge.kind, EdgeKind::Restart),
                    Transfer::Emit { .. } | Transfer::Begin { .. } => prop_assert!(plan.mode == Mode::Counting),
                }
            }
            let is_counted = plan.counted.contains_key(&from) || plan.unneeded.contains(&from);
            let stays = plan.mode == Mode::Counting && body.profile[from].stays;
            prop_assert!(!block.edges.is_empty() || plan.exits.contains_key(&from) || stays);
            prop_assert!(!is_counted || stays);
        }
    }

    /// The likeliest edge of a block costs nothing: its value is 0.
    #[test]
    fn likeliest_edge_is_free(body in bodies()) {
        let numbering = number_paths(&body, 4096).unwrap();
        let value = |from: BlockId, to: BlockId| numbering.edges.iter().find_map(|edge| match *edge {
            table::Edge::Flow { from: f, to: t, value } => {
                ((f, t) == (from.into(), to.into())).then_some(value)
            }
            table::Edge::Cut { from: f, to: t, end, .. } => {
                ((f, t) == (from.into(), to.into())).then_some(end)
            }
            table::Edge::Exit { .. } => None,
        });
        for (from, block) in body.blocks.iter_enumerated() {
            let probabilities = &body.profile[from].probabilities;
            let free = block.edges.iter().position(|e| value(from, e.to) == Some(0));
            prop_assert_eq!(free.map(|e| &probabilities[e]), probabilities.iter().max());
        }
    }
}

/// The check above can fail: a numbering with two values swapped is no bijection.
#[test]
fn a_wrong_numbering_is_caught() {
    let mut body = Body::default();
    for targets in [&[1, 2][..], &[3, 4], &[3], &[], &[]] {
        let edge = |&to: &usize| Edge { to: to.into(), kind: EdgeKind::Plain };
        let edges: Vec<Edge> = targets.iter().map(edge).collect();
        let probabilities = vec![1; edges.len()];
        body.profile.push(BlockProfile { probabilities, ..BlockProfile::default() });
        body.blocks.push(Block { terminator: Terminator::Switch, edges });
    }
    let mut numbering = number_paths(&body, 100).unwrap();
    assert_eq!(all_paths(&body, &numbering.edges).len(), 3);
    for edge in &mut numbering.edges {
        if let table::Edge::Flow { from: 0, value, .. } = edge {
            *value = 0;
        }
    }
    let ids: BTreeSet<u64> = all_paths(&body, &numbering.edges).iter().map(|p| p.0).collect();
    assert_eq!(ids.len(), 2, "a mutant went unnoticed");
}
