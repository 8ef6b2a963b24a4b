//! Dominators, loops and liveness on random bodies, against brute force from their definitions.

use midflight_ir::body::{Block, Body, Edge, EdgeKind, Terminator};
use midflight_ir::code::{Code, ConstId, Operand};
use midflight_ir::dominators::dominators;
use midflight_ir::facts::InstFacts;
use midflight_ir::ids::{BlockId, InstId, ValueId};
use midflight_ir::liveness::liveness;
use midflight_ir::loops::loops;
use midflight_mapping::mapping::live_sets::{Handed, LiveSets, Uses};
use proptest::prelude::*;
use std::collections::BTreeSet;
use std::rc::Rc;
use typed_index_collections::{TiSlice, TiVec};

/// A random graph in which every block is reached from block 0 and none leads back to it. Reducible
/// or not.
fn graphs() -> impl Strategy<Value = Body> {
    let block = prop::collection::vec(0usize..64, 0..4);
    prop::collection::vec(block, 1..12).prop_map(|raw| {
        let count = raw.len();
        let blocks = raw.into_iter().enumerate().map(|(from, targets)| {
            // A spine keeps every block reachable.
            let spine = (from + 1 < count).then_some(from + 1);
            let others = targets.into_iter().map(|to| 1 + to % count).filter(|&to| to < count);
            let targets: BTreeSet<usize> = spine.into_iter().chain(others).collect();
            let edge = |to| Edge { to: BlockId::from(to), kind: EdgeKind::Plain };
            let edges = targets.into_iter().map(edge).collect();
            Block { terminator: Terminator::Switch, edges }
        });
        Body { blocks: blocks.collect(), ..Body::default() }
    })
}

/// For each block of a graph the number of its phis and instructions, and numbers to choose what
/// they use.
type Choices = Vec<(usize, usize, Vec<u32>)>;

/// A random body in SSA form.
fn bodies() -> impl Strategy<Value = Body> {
    let choice = (0usize..3, 0usize..5, prop::collection::vec(any::<u32>(), 64));
    let choices = prop::collection::vec(choice, 12);
    (graphs(), 0usize..4, choices)
        .prop_map(|(graph, arguments, choices)| fill(graph, arguments, &choices))
}

/// Fills a graph with phis and instructions that use only what dominates them.
fn fill(mut body: Body, arguments: usize, choices: &Choices) -> Body {
    let above = brute_dominators(&body);
    let predecessors = body.predecessors();
    // Where each instruction will be, first.
    let mut at = Vec::new();
    for (block, (phis, others, _)) in body.blocks.keys().zip(choices) {
        let phis = if predecessors[block].is_empty() { 0 } else { *phis };
        at.extend((0..phis).map(|_| (block, true)));
        at.extend((0..=*others).map(|_| (block, false)));
    }
    // The last instruction of a block defines nothing that is used, as most terminators do.
    let defines = |inst: usize| at.get(inst + 1).is_some_and(|next| next.0 == at[inst].0);
    let available = |block: BlockId, before: usize| -> Vec<usize> {
        let dominates = |i: &usize| {
            let of = at[*i].0;
            defines(*i) && if of == block { *i < before } else { above[block].contains(&of) }
        };
        (0..arguments).chain((0..at.len()).filter(dominates).map(|i| arguments + i)).collect()
    };
    let mut code = Code::new(arguments);
    for inst in 0..at.len() {
        let (block, is_phi) = at[inst];
        if inst == 0 || at[inst - 1].0 != block {
            code.begin_block((0..body.blocks[block].edges.len()).collect());
        }
        let draw = |n: usize| choices[usize::from(block)].2[(inst * 7 + n) % 64] as usize;
        let operand = |place: usize, from: Option<BlockId>, all: Vec<usize>| {
            // Some operands are constants.
            let value = all.get(draw(place) % (all.len() + 1));
            let value = value.map(|&value| Operand::Value(value.into()));
            (value.unwrap_or(Operand::Constant(place as ConstId)), from)
        };
        let operands: Vec<(Operand, Option<BlockId>)> = if is_phi {
            let of_edge = |(place, &from): (usize, &BlockId)| {
                operand(place, Some(from), available(from, usize::MAX))
            };
            predecessors[block].iter().enumerate().map(of_edge).collect()
        } else {
            // A phi's result is there behind the whole group.
            (0..draw(9) % 4).map(|p| operand(p, None, available(block, inst))).collect()
        };
        let facts = if is_phi { InstFacts::PHI } else { InstFacts::default() };
        code.push(facts, operands);
    }
    body.code = code;
    body
}

/// The blocks that can be reached from `start` without `without`.
fn reached(body: &Body, start: BlockId, without: Option<BlockId>) -> BTreeSet<BlockId> {
    let mut seen = BTreeSet::new();
    let mut work = vec![start];
    while let Some(block) = work.pop() {
        if Some(block) != without && seen.insert(block) {
            work.extend(body.blocks[block].edges.iter().map(|e| e.to));
        }
    }
    seen
}

/// For each block those that dominate it: without them it cannot be reached.
fn brute_dominators(body: &Body) -> TiVec<BlockId, BTreeSet<BlockId>> {
    let blocks = || body.blocks.keys();
    let without: TiVec<BlockId, _> =
        blocks().map(|b| reached(body, BlockId::ENTRY, Some(b))).collect();
    let dominate = |block| blocks().filter(|&above| !without[above].contains(&block)).collect();
    blocks().map(dominate).collect()
}

/// For each instruction the values live before it, by the equations of data flow at every boundary,
/// until nothing changes. Before a phi: before its group, whatever the edge, without what phis use.
fn brute_liveness(body: &Body) -> TiVec<InstId, BTreeSet<ValueId>> {
    let code = &body.code;
    let mut before: TiVec<InstId, BTreeSet<ValueId>> =
        vec![BTreeSet::new(); code.instructions.len()].into();
    let is_phi = |i: InstId| code.instructions[i].facts.is_phi();
    loop {
        let old = before.clone();
        for inst in code.instructions.keys().rev() {
            let block = code.instructions[inst].block;
            let mut live: BTreeSet<ValueId> = BTreeSet::new();
            if inst.next() < code.of_block[block].end {
                live.extend(&before[inst.next()]);
            } else {
                for edge in &body.blocks[block].edges {
                    let head = code.of_block[edge.to];
                    live.extend(&before[head.start]);
                    for phi in head.iter().filter(|&i| is_phi(i)) {
                        let used = code.uses(phi).filter(|used| used.from == Some(block));
                        live.extend(used.map(|used| used.value));
                    }
                }
            }
            live.remove(&code.result(inst));
            if !is_phi(inst) {
                live.extend(code.uses(inst).map(|used| used.value));
            }
            before[inst] = live;
        }
        if before == old {
            break;
        }
    }
    // The group is one: before each of its phis the same is live as before the first.
    for inst in code.instructions.keys() {
        let first = code.of_block[code.instructions[inst].block].start;
        if is_phi(inst) {
            before[inst] = before[first].clone();
        }
    }
    before
}

/// The natural loop of all back edges to a header, by definition: the header, and each block from
/// which one of their sources is reached without the header.
fn brute_loop(
    body: &Body,
    header: BlockId,
    above: &TiSlice<BlockId, BTreeSet<BlockId>>,
) -> Vec<BlockId> {
    let latches: Vec<BlockId> = body
        .blocks
        .keys()
        .filter(|&b| above[b].contains(&header))
        .filter(|&b| body.blocks[b].edges.iter().any(|e| e.to == header))
        .collect();
    let inside = |&block: &BlockId| {
        let there = reached(body, block, Some(header));
        block == header || latches.iter().any(|latch| there.contains(latch))
    };
    if latches.is_empty() { Vec::new() } else { body.blocks.keys().filter(inside).collect() }
}

/// True if every cycle goes through a back edge: without the edges to a block that dominates their
/// source there is none.
fn is_reducible(body: &Body, above: &TiSlice<BlockId, BTreeSet<BlockId>>) -> bool {
    let mut forward = body.clone();
    for (block, above) in forward.blocks.iter_mut().zip(above) {
        block.edges.retain(|e| !above.contains(&e.to));
    }
    forward.blocks.keys().all(|block| {
        forward.blocks[block].edges.iter().all(|e| !reached(&forward, e.to, None).contains(&block))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 400 / 256))]

    #[test]
    fn dominators_are_the_blocks_that_cannot_be_avoided(body in graphs()) {
        let (tree, above) = (dominators(&body), brute_dominators(&body));
        for block in body.blocks.keys() {
            for other in body.blocks.keys() {
                prop_assert_eq!(tree.dominates(other, block), above[block].contains(&other));
            }
            // The immediate one is dominated by all others.
            let strict: Vec<_> = above[block].iter().copied().filter(|&b| b != block).collect();
            let nearest = strict.iter().copied().find(|&b| strict.iter().all(|s| above[b].contains(s)));
            prop_assert_eq!(tree.immediate(block), nearest);
        }
    }

    #[test]
    fn loops_are_natural_loops(body in graphs()) {
        let above = brute_dominators(&body);
        let found = loops(&body, &dominators(&body));
        for header in body.blocks.keys() {
            let expected = brute_loop(&body, header, &above);
            let blocks = found.loops.iter().find(|l| l.header == header).map(|l| l.blocks.clone());
            prop_assert_eq!(blocks.unwrap_or_default(), expected);
        }
        for (index, inner) in found.loops.iter().enumerate() {
            // The parent is the smallest loop around, and comes before.
            let around = found.loops.iter().enumerate().filter(|(other, l)| {
                *other != index && l.blocks.contains(&inner.header) && l.header != inner.header
            });
            let smallest = around.min_by_key(|(_, l)| l.blocks.len()).map(|(other, _)| other);
            prop_assert_eq!(
                inner.parent.map(|p| found.loops[p].blocks.len()),
                smallest.map(|p| found.loops[p].blocks.len())
            );
            prop_assert!(inner.parent.is_none_or(|parent| parent < index));
        }
        let innermost = found.innermost(body.blocks.len());
        for (block, &loop_of) in innermost.iter_enumerated() {
            let sizes = found.loops.iter().filter(|l| l.blocks.contains(&block)).map(|l| l.blocks.len());
            prop_assert_eq!(loop_of.map(|l| found.loops[l].blocks.len()), sizes.min());
        }
    }

    #[test]
    fn loops_with_several_entries_are_told(body in graphs()) {
        let above = brute_dominators(&body);
        let found = loops(&body, &dominators(&body));
        prop_assert_eq!(found.irreducible.is_empty(), is_reducible(&body, &above));
        for &block in &found.irreducible {
            // It is on a cycle.
            let back = body.blocks[block].edges.iter().any(|e| reached(&body, e.to, None).contains(&block));
            prop_assert!(back);
        }
    }

    #[test]
    fn liveness_is_the_solution_of_its_equations(body in bodies()) {
        let (live, expected) = (liveness(&body), brute_liveness(&body));
        for (inst, expected) in expected.iter_enumerated() {
            let of_inst: Vec<ValueId> = expected.iter().copied().collect();
            prop_assert_eq!(live.before(&body, inst), of_inst, "before {}", inst);
        }
        for block in body.blocks.keys() {
            let head = &expected[body.code.of_block[block].start];
            prop_assert_eq!(live.live_in[block].clone(), head.iter().copied().collect::<Vec<_>>());
        }
    }

    /// What points hand on is live as if their instructions used it.
    #[test]
    fn values_handed_on_are_live_before_their_points(body in bodies(), seed in 0..1000_usize) {
        let code = &body.code;
        let mut handed = Handed::default();
        let mut with_uses = Body { code: Code::new(code.arguments), ..body.clone() };
        for (block, &range) in code.of_block.iter_enumerated() {
            with_uses.code.begin_block(code.successors[block].clone());
            for inst in range {
                let facts = code.instructions[inst].facts;
                let from = code.incoming_blocks(inst);
                let operands = code.operands(inst).iter().enumerate();
                let mut operands: Vec<_> =
                    operands.map(|(place, &o)| (o, from.get(place).copied())).collect();
                if !facts.is_phi() && (usize::from(inst) + seed).is_multiple_of(3) {
                    let value = ValueId::from((31 * usize::from(inst) + seed) % code.num_values());
                    handed.entry(inst).or_default().insert(value);
                    operands.push((Operand::Value(value), None));
                }
                with_uses.code.push(facts, operands);
            }
        }
        let expected = liveness(&with_uses);
        let uses = Uses::new(&Rc::new(body.clone()), |_, _| true);
        let sets = LiveSets::new(&uses).with(&uses, handed.clone());
        for inst in code.instructions.keys().filter(|&i| !code.instructions[i].facts.is_phi()) {
            prop_assert_eq!(sets.live(&uses, inst), expected.before(&with_uses, inst));
            let landing = sets.landing(&uses, inst).iter();
            let both: BTreeSet<&ValueId> = landing.chain(handed.get(&inst).into_iter().flatten()).collect();
            prop_assert!(both.into_iter().eq(sets.live(&uses, inst)));
        }
    }

    /// Nothing is live at the entry but arguments: the random bodies are in SSA form.
    #[test]
    fn only_arguments_are_live_at_the_entry(body in bodies()) {
        let live = liveness(&body);
        prop_assert!(live.live_in[BlockId::ENTRY].iter().all(|&v| body.code.definition(v).is_none()));
    }
}

/// The random bodies have what is to be tested: irreducible graphs, nested loops, phis.
#[test]
fn the_generator_makes_what_it_should() {
    use proptest::strategy::ValueTree;
    use proptest::test_runner::TestRunner;
    let mut runner = TestRunner::deterministic();
    let (mut irreducible, mut nested, mut phis) = (0, 0, 0);
    for _ in 0..300 {
        let body = bodies().new_tree(&mut runner).expect("no filter").current();
        let found = loops(&body, &dominators(&body));
        irreducible += usize::from(!found.irreducible.is_empty());
        nested += usize::from(found.loops.iter().any(|l| l.parent.is_some()));
        phis += body.code.instructions.iter().filter(|i| i.facts.is_phi()).count();
    }
    assert!(irreducible > 30 && nested > 30 && phis > 300, "{irreducible} {nested} {phis}");
}
