//! Plans that count rounds of loops, or paths when they are decided, emit what plans emit that do
//! neither, on random walks.

mod graphs;

use graphs::bodies;
use midflight_abi::Mode;
use midflight_ir::body::{Block, BlockProfile, Body, Edge, EdgeKind, Terminator};
use midflight_ir::ids::BlockId;
use midflight_passes::paths::numbering::number_paths;
use midflight_passes::paths::plan::{Plan, Transfer, plan};
use proptest::prelude::*;

/// Where a walk leads: at each block the edge of this number, modulo how many there are.
fn walk(body: &Body, choices: &[usize]) -> Vec<BlockId> {
    let mut blocks = vec![BlockId::ENTRY];
    for choice in choices {
        let edges = &body.blocks[*blocks.last().unwrap()].edges;
        if edges.is_empty() {
            break;
        }
        blocks.push(edges[choice % edges.len()].to);
    }
    blocks
}

/// The paths that a plan's code emits along a walk that ends at an exit, in the order of their
/// emission; in counting mode in order of their IDs, since they are counted when they are decided.
fn emitted(plan: &Plan, walk: &[BlockId]) -> Vec<u32> {
    let mut emitted = Vec::new();
    let (mut register, mut rounds) = (Some(0u32), 0u32);
    let plus = |register: Option<u32>, value: u32| {
        register.expect("code uses a register that nobody keeps").wrapping_add(value)
    };
    for (index, block) in walk.iter().enumerate() {
        if let Some(&end) = plan.counted.get(block) {
            emitted.push(plus(register, end));
        }
        let Some(&to) = walk.get(index + 1) else { break };
        let key = (*block, to);
        if let Some(&end) = plan.undone.get(&key) {
            let id = plus(register, end);
            let at = emitted.iter().rposition(|&counted| counted == id);
            emitted.remove(at.expect("what is undone was not counted"));
        }
        if let Some(header) = plan.leaves.get(&key) {
            let run = &plan.runs[header];
            emitted.extend((run.singles..rounds).map(|_| run.repeated));
        }
        let run = plan.runs.get(&to).filter(|run| run.latch == *block);
        match plan.transfers[&key] {
            Transfer::Add(value) => register = register.map(|r| r.wrapping_add(value)),
            Transfer::Emit { value, end } => {
                emitted.push(plus(register, end));
                register = Some(plus(register, value));
            }
            Transfer::Begin { start } => register = Some(start),
            Transfer::OnEdge { end, start }
            | Transfer::AtHead { end, start }
            | Transfer::Restart { end, start } => {
                if run.is_none_or(|run| rounds < run.singles) {
                    emitted.push(plus(register, end));
                }
                register = Some(start);
            }
        }
        if run.is_some() {
            rounds += 1;
        } else if plan.runs.contains_key(&to) {
            rounds = 0;
        }
        if plan.unneeded.contains(&to) {
            register = None;
        }
    }
    if let Some(value) = walk.last().and_then(|last| plan.exits.get(last)) {
        emitted.push(plus(register, *value));
    }
    if plan.mode == Mode::Counting {
        emitted.sort_unstable();
    }
    emitted
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 2000 / 256))]

    #[test]
    fn paths_are_emitted_as_they_are_where_nothing_stays(
        body in bodies(),
        bound in 1u32..5000,
        k in prop::sample::select(vec![1u32, 2, 4]),
        choices in prop::collection::vec(any::<usize>(), 0..300),
    ) {
        let numbering = number_paths(&body, bound).unwrap();
        let counted = plan(&body, &numbering, Mode::Automaton, k);
        let mut restless = body.clone();
        restless.profile.iter_mut().for_each(|block| block.stays = false);
        let plain = plan(&restless, &numbering, Mode::Automaton, k);
        prop_assert!(plain.runs.is_empty() && plain.counted.is_empty() && plain.undone.is_empty());
        let mut walk = walk(&body, &choices);
        // To an exit: what is in a register on the way is another matter.
        while walk.last().is_some_and(|&last| !body.blocks[last].edges.is_empty()) {
            walk.pop();
        }
        prop_assert_eq!(emitted(&counted, &walk), emitted(&plain, &walk));
        let published = plan(&body, &numbering, Mode::Published, k);
        prop_assert!(published.mode == Mode::Published && published.runs.is_empty());
        let sorted = |mut paths: Vec<u32>| {
            if plain.mode == Mode::Counting {
                paths.sort_unstable();
            }
            paths
        };
        prop_assert_eq!(sorted(emitted(&published, &walk)), emitted(&plain, &walk));
        // Another number on a way that is taken is another path.
        let mut wrong = published.clone();
        if let Some(value) = walk.last().and_then(|last| wrong.exits.get_mut(last)) {
            *value += 1;
            prop_assert_ne!(sorted(emitted(&wrong, &walk)), emitted(&plain, &walk));
        }
    }
}

/// Blocks at whose end, or on whose edges, paths are counted.
fn counting_blocks(body: &Body, plan: &Plan) -> Vec<BlockId> {
    let counts = |block: &BlockId| {
        let on_edge = body.blocks[*block].edges.iter().any(|edge| {
            let key = (*block, edge.to);
            let emits = |t: &Transfer| matches!(t, Transfer::OnEdge { .. } | Transfer::Emit { .. });
            plan.undone.contains_key(&key) || plan.transfers.get(&key).is_some_and(emits)
        });
        on_edge || plan.counted.contains_key(block) || plan.exits.contains_key(block)
    };
    body.blocks.keys().filter(counts).collect()
}

proptest! {
    #[test]
    fn where_forests_are_looked_up_again_none_lives_across_a_call(
        body in bodies(),
        choices in prop::collection::vec(any::<usize>(), 0..300),
    ) {
        let plan = plan(&body, &number_paths(&body, 4096).unwrap(), Mode::Automaton, 1);
        let counting = counting_blocks(&body, &plan);
        prop_assert!(plan.lookup.is_none_or(|block| counting.contains(&block)));
        let mut called = false;
        for block in walk(&body, &choices) {
            called |= body.profile[block].calls > 0;
            if plan.lookup.is_some() && counting.contains(&block) {
                prop_assert!(!called || plan.lookup == Some(block));
            }
        }
    }
}

/// A block that branches to those blocks, each as likely.
fn block(targets: &[usize], calls: u32) -> (Block, BlockProfile) {
    let edge = |&to: &usize| Edge { to: to.into(), kind: EdgeKind::Plain };
    let edges = targets.iter().map(edge).collect();
    let probabilities = targets.iter().map(|_| (1 << 31) / targets.len() as u32).collect();
    let profile = BlockProfile { probabilities, stays: true, calls, ..BlockProfile::default() };
    (Block { terminator: Terminator::Switch, edges }, profile)
}

fn lookup(blocks: Vec<(Block, BlockProfile)>) -> Option<BlockId> {
    let (blocks, profile) = blocks.into_iter().unzip();
    let body = Body { blocks, profile, ..Body::default() };
    plan(&body, &number_paths(&body, 4096).unwrap(), Mode::Automaton, 1).lookup
}

#[test]
fn forests_are_looked_up_again_in_one_block_behind_calls() {
    let early_exit = vec![block(&[1, 2], 0), block(&[], 1), block(&[], 0)];
    assert_eq!(lookup(early_exit), Some(1.into()));
    let mut call_in_tail_position = vec![block(&[1, 2], 0), block(&[], 1), block(&[], 0)];
    call_in_tail_position[1].1.ends_at_call = true;
    assert_eq!(lookup(call_in_tail_position), None);
    let two_blocks = vec![block(&[1, 2], 1), block(&[], 1), block(&[], 0)];
    assert_eq!(lookup(two_blocks), None);
}

#[test]
fn forests_live_across_calls_before_loops_without_calls() {
    let calls_then_loops = vec![block(&[1], 1), block(&[1, 2], 0), block(&[], 0)];
    assert_eq!(lookup(calls_then_loops), None);
    let one_block_that_counts = vec![block(&[1], 1), block(&[1], 0)];
    assert_eq!(lookup(one_block_that_counts), None);
    let calls_behind_a_loop =
        vec![block(&[1], 0), block(&[1, 2], 0), block(&[3], 1), block(&[], 0)];
    assert_eq!(lookup(calls_behind_a_loop), Some(2.into()));
}

/// Random graphs have such loops at all, and paths that are counted early, and that is undone.
#[test]
fn random_graphs_have_them_all() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let mut found = [0; 5];
    for _ in 0..2000 {
        let body = bodies().new_tree(&mut runner).unwrap().current();
        let numbering = number_paths(&body, 4096).unwrap();
        let runs = plan(&body, &numbering, Mode::Automaton, 4).runs;
        let plan = plan(&body, &numbering, Mode::Automaton, 1);
        let emits = |transfer: &Transfer| matches!(transfer, Transfer::Emit { .. });
        let has = [
            !runs.is_empty(),
            !plan.counted.is_empty(),
            !plan.undone.is_empty(),
            plan.lookup.is_some(),
            plan.transfers.values().any(emits),
        ];
        found.iter_mut().zip(has).for_each(|(number, has)| *number += u32::from(has));
    }
    assert!(found.iter().all(|&number| number > 20), "{found:?}");
}
