//! Plans that count rounds of loops emit what plans without them emit, on random walks.

mod graphs;

use graphs::bodies;
use midflight_passes::body::{BlockId, Body};
use midflight_passes::numbering::number_paths;
use midflight_passes::plan::{Plan, Transfer, plan};
use proptest::prelude::*;

/// Where a walk leads: at each block the edge of this number, modulo how many there are.
fn walk(body: &Body, choices: &[usize]) -> Vec<BlockId> {
    let mut blocks = vec![0];
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
/// emission.
fn emitted(plan: &Plan, walk: &[BlockId]) -> Vec<u32> {
    let mut emitted = Vec::new();
    let (mut register, mut first, mut rounds) = (0u32, 0u32, 0u64);
    for edge in walk.windows(2) {
        let key = (edge[0], edge[1]);
        if let Some(header) = plan.leaves.get(&key) {
            let run = &plan.runs[header];
            if rounds > 0 {
                emitted.push(first.wrapping_add(run.first));
                emitted.extend((1..rounds).map(|_| run.repeated));
            }
        }
        match plan.transfers[&key] {
            Transfer::Add(value) => register = register.wrapping_add(value),
            Transfer::OnEdge { end, start }
            | Transfer::AtHead { end, start }
            | Transfer::Restart { end, start } => {
                emitted.push(register.wrapping_add(end));
                register = start;
            }
            Transfer::Again { start } => {
                register = start;
                rounds += 1;
                continue;
            }
        }
        if plan.runs.contains_key(&edge[1]) {
            (first, rounds) = (register, 0);
        }
    }
    if let Some(value) = walk.last().and_then(|last| plan.exits.get(last)) {
        emitted.push(register.wrapping_add(*value));
    }
    emitted
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 2000 / 256))]

    #[test]
    fn rounds_are_emitted_as_they_were_without_counting_them(
        body in bodies(),
        bound in 1u32..5000,
        choices in prop::collection::vec(any::<usize>(), 0..300),
    ) {
        let numbering = number_paths(&body, bound).unwrap();
        let counted = plan(&body, &numbering, 4);
        let mut restless = body.clone();
        restless.blocks.iter_mut().for_each(|block| block.stays = false);
        let plain = plan(&restless, &numbering, 4);
        prop_assert!(plain.runs.is_empty());
        let mut walk = walk(&body, &choices);
        // To an exit: what is in a register on the way is another matter.
        while walk.len() > 1 && !body.blocks[*walk.last().unwrap()].edges.is_empty() {
            walk.pop();
        }
        prop_assert_eq!(emitted(&counted, &walk), emitted(&plain, &walk));
    }
}

/// Random graphs have such loops at all.
#[test]
fn random_graphs_have_runs() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let with_runs = (0..200).filter(|_| {
        let body = bodies().new_tree(&mut runner).unwrap().current();
        let numbering = number_paths(&body, 4096).unwrap();
        !plan(&body, &numbering, 4).runs.is_empty()
    });
    assert!(with_runs.count() > 20);
}
