//! An unfolded version does what the version does: random programs with random plans, run side by
//! side.

use midflight_ir::body::{Block, Body, Edge, EdgeKind, Terminator, edges};
use midflight_ir::code::Code;
use midflight_ir::dominators::{Dominators, dominators};
use midflight_ir::facts::{InstFacts, MapFacts};
use midflight_ir::ids::{BlockId, InstId, ValueId};
use midflight_mapping::unfold::build::unfold;
use midflight_mapping::unfold::{Fold, Plan};
use midflight_mapping::versions::graph::{Access, Graph, GraphBlock, Node, Operand};
use std::collections::HashMap;
use std::rc::Rc;

const ARGUMENTS: usize = 2;
const PLACES: usize = 3;

/// What memory has
type Memory = [u64; PLACES];

/// Small random numbers
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 33) as usize % bound
    }
}

fn facts(names: &[&str]) -> MapFacts {
    let bit = |name: &&str| {
        let known = MapFacts::NAMES.iter().find(|(known, _)| known == name);
        1 << known.expect("there is the fact").1
    };
    MapFacts::from_bits(names.iter().map(bit).sum())
}

/// The successors of random blocks, all of which can be reached.
fn shape(random: &mut Random) -> Vec<Vec<usize>> {
    let count = 2 + random.below(6);
    let mut successors: Vec<Vec<usize>> = vec![Vec::new(); count];
    // A tree first, then more edges; nothing leads to the entry.
    for block in 1..count {
        let from = (0..block).rfind(|&b| successors[b].len() < 2).unwrap_or(0);
        successors[from].push(block);
    }
    for successors in &mut successors {
        if random.below(3) > 0 && successors.len() < 2 {
            let to = 1 + random.below(count - 1);
            if !successors.contains(&to) {
                successors.push(to);
            }
        }
    }
    successors
}

/// A random program: sums, phis, stores, and loads of what some state of memory above has.
fn program(random: &mut Random) -> Graph {
    let shape = shape(random);
    let sizes: Vec<(usize, usize)> =
        shape.iter().map(|_| (random.below(3), 1 + random.below(4))).collect();
    // The body without operands says what dominates what.
    let skeleton = |operands: &dyn Fn(InstId) -> Vec<(Operand, Option<BlockId>)>| {
        let mut body = Body { code: Code::new(ARGUMENTS), ..Body::default() };
        let mut inst = InstId::from(0);
        for (block, to) in shape.iter().enumerate() {
            let (edges, places) = edges(to.iter().copied(), BlockId::from, |_| EdgeKind::Plain);
            let terminator = if to.is_empty() { Terminator::Return } else { Terminator::Branch };
            let edges: Vec<Edge> = edges;
            body.blocks.push(Block { terminator, edges });
            body.code.begin_block(places);
            let phis = if block == 0 { 0 } else { sizes[block].0 };
            for _ in 0..phis {
                body.code.push(InstFacts::PHI, operands(inst));
                inst = inst.next();
            }
            for _ in 0..sizes[block].1 {
                body.code.push(InstFacts::from_bits(1 << 19), operands(inst));
                inst = inst.next();
            }
            body.code.push(InstFacts::from_bits(1 << 2), Vec::new());
            inst = inst.next();
        }
        body
    };
    let plain = skeleton(&|_| Vec::new());
    let above = dominators(&plain);
    let predecessors = plain.predecessors();
    let is_store: Vec<bool> =
        (0..plain.code.instructions.len()).map(|_| random.below(4) == 0).collect();
    let seed = random.0;
    let (plain, above) = (&plain, &above);
    let operands = |inst: InstId| {
        let mut random = Random(seed ^ (u64::from(u32::from(inst)) + 1) << 17);
        let block = plain.code.instructions[inst].block;
        let values = |at: InstId| {
            let all = (0..plain.code.num_values()).map(ValueId::from);
            all.filter(move |&value| {
                let defined = plain.code.definition(value);
                defined.is_none_or(|i| plain.code.instructions[i].facts.has_result())
                    && above.is_available(plain, value, at)
            })
            .collect::<Vec<_>>()
        };
        if plain.code.instructions[inst].facts.is_phi() {
            let from = predecessors[block].iter();
            return from
                .map(|&from| {
                    let end = plain.code.of_block[from].iter().next_back().unwrap();
                    let values = values(end);
                    (Operand::Value(values[random.below(values.len())]), Some(from))
                })
                .collect();
        }
        let values = values(inst);
        let one = |random: &mut Random| (Operand::Value(values[random.below(values.len())]), None);
        vec![one(&mut random), one(&mut random)]
    };
    let body = skeleton(&operands);
    let mut graph = Graph { body: Rc::new(body), ..Graph::default() };
    graph.nodes = plain
        .code
        .instructions
        .iter_enumerated()
        .map(|(inst, instruction)| {
            let facts = if instruction.facts.is_phi() {
                facts(&["is_phi"])
            } else if instruction.facts.is_terminator() {
                facts(&["is_terminator"])
            } else if is_store[usize::from(inst)] {
                facts(&["is_anchor"])
            } else {
                facts(&["is_load", "reads_memory"])
            };
            Node { facts, ..Node::default() }
        })
        .collect();
    add_memory(&mut graph);
    graph
}

/// The place in memory that an instruction stores to or loads from
fn place(inst: InstId) -> usize {
    (usize::from(inst) * 7 / 3) % PLACES
}

/// States of memory as LLVM's MemorySSA has them: they meet at joins, unless all are the same, and
/// a load reads the last that may have written to its place.
fn add_memory(graph: &mut Graph) {
    let predecessors = graph.body.predecessors();
    let mut joins: Vec<BlockId> =
        graph.body.blocks.keys().filter(|&b| predecessors[b].len() > 1).collect();
    let stores = |graph: &Graph, block: BlockId| {
        let insts = graph.insts(block).iter();
        insts.filter(|&i| graph.nodes[i].facts.is_anchor()).collect::<Vec<_>>()
    };
    let idom = dominators(&graph.body);
    let at_head = |joins: &[BlockId], mut block: BlockId| loop {
        if joins.contains(&block) {
            return Access::Phi(block);
        }
        let Some(above) = idom.immediate(block) else { return Access::Entry };
        if let Some(&last) = stores(graph, above).last() {
            return Access::Def(last);
        }
        block = above;
    };
    let at_end = |joins: &[BlockId], block: BlockId| match stores(graph, block).last() {
        Some(&last) => Access::Def(last),
        None => at_head(joins, block),
    };
    loop {
        let needless = joins.iter().position(|&block| {
            let states = predecessors[block].iter().map(|&from| at_end(&joins, from));
            let mut others = states.filter(|&state| state != Access::Phi(block));
            let first = others.next();
            others.all(|other| Some(other) == first)
        });
        match needless {
            Some(needless) => joins.swap_remove(needless),
            None => break,
        };
    }
    let blocks = graph.body.blocks.keys().map(|block| {
        let states = predecessors[block].iter().map(|&from| (from, at_end(&joins, from)));
        GraphBlock {
            feasible: vec![true; graph.body.blocks[block].edges.len()],
            implied: Vec::new(),
            memory_phi: joins.contains(&block).then(|| states.collect()),
        }
    });
    let blocks = blocks.collect();
    let clobber = |inst: InstId| {
        let mut block = graph.block(inst);
        let mut before: Vec<InstId> =
            stores(graph, block).into_iter().filter(|&store| store < inst).collect();
        loop {
            if let Some(store) = before.into_iter().rfind(|&store| place(store) == place(inst)) {
                return Access::Def(store);
            }
            if joins.contains(&block) {
                return Access::Phi(block);
            }
            let Some(above) = idom.immediate(block) else { return Access::Entry };
            block = above;
            before = stores(graph, block);
        }
    };
    let clobbers: Vec<Option<Access>> = graph
        .nodes
        .keys()
        .map(|inst| graph.nodes[inst].facts.is_load().then(|| clobber(inst)))
        .collect();
    graph.blocks = blocks;
    for (node, clobber) in graph.nodes.iter_mut().zip(clobbers) {
        node.clobber = clobber;
    }
}

/// A plan with up to three copies of each block, which follow each other anyhow.
fn plan(graph: &Graph, random: &mut Random) -> Plan {
    let mut plan = Plan::default();
    let mut known: HashMap<(BlockId, usize), BlockId> = HashMap::new();
    let mut labels = vec![(BlockId::ENTRY, 0)];
    known.insert(labels[0], BlockId::ENTRY);
    let mut next = 0;
    while next < labels.len() {
        let (block, _) = labels[next];
        plan.blocks.push(block);
        let edges = graph.body.blocks[block].edges.iter();
        let successors = edges.map(|edge| {
            let label = (edge.to, random.below(3));
            *known.entry(label).or_insert_with(|| {
                labels.push(label);
                BlockId::from(labels.len() - 1)
            })
        });
        plan.successors.push(successors.collect());
        next += 1;
    }
    plan
}

/// A run: what values and states of memory are.
#[derive(Clone, Default)]
struct Run {
    values: HashMap<ValueId, u64>,
    /// States at the heads of blocks, and what stores left
    met: HashMap<BlockId, Memory>,
    stored: HashMap<InstId, Memory>,
}

impl Run {
    fn operand(&self, operand: Operand) -> u64 {
        let Operand::Value(value) = operand else { panic!("there are no constants") };
        match usize::from(value) {
            argument if argument < ARGUMENTS => argument as u64,
            _ => self.values[&value],
        }
    }

    fn state(&self, access: Access) -> Memory {
        match access {
            Access::Entry => Memory::default(),
            Access::Def(inst) => self.stored[&inst],
            Access::Phi(block) => self.met[&block],
        }
    }

    /// Enters a block: its phis, and the states that meet.
    fn enter(&mut self, graph: &Graph, from: Option<BlockId>, block: BlockId) {
        let Some(from) = from else { return };
        let phis: Vec<(ValueId, u64)> = graph
            .phis(block)
            .map(|phi| {
                let operand = graph.incoming(phi, from).expect("it has a value from there");
                (graph.result(phi), self.operand(operand))
            })
            .collect();
        let met = graph.blocks[block].memory_phi.as_ref().map(|states| {
            let (_, access) = states.iter().find(|(b, _)| *b == from).expect("a state from there");
            self.state(*access)
        });
        self.values.extend(phis);
        if let Some(met) = met {
            self.met.insert(block, met);
        }
    }
}

fn mixed(numbers: impl IntoIterator<Item = u64>) -> u64 {
    numbers.into_iter().fold(0xcbf2_9ce4_8422_2325, |hash, number| {
        (hash ^ number).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(23)
    })
}

/// What was compared.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// Values that reach an instruction
    reached: usize,
    /// Those that are not what the nearest copy above has
    not_nearest: usize,
    /// States that loads read
    loads: usize,
}

/// The value as the nearest copy of its definition above has it, whatever meets between.
fn nearest(
    (unfolded, above): (&Graph, &Dominators),
    fold: &Fold,
    value: ValueId,
    before: InstId,
) -> Option<ValueId> {
    let inst = usize::from(value).checked_sub(ARGUMENTS)?;
    let copies = fold.instances(InstId::from(inst)).map(|inst| unfolded.result(inst));
    let there = copies.filter(|&copy| above.is_available(&unfolded.body, copy, before));
    there.max_by_key(|&copy| {
        let block = |value| unfolded.block(unfolded.definition(value).unwrap());
        (0..unfolded.body.blocks.len())
            .filter(|&b| above.dominates(BlockId::from(b), block(copy)))
            .count()
    })
}

/// Runs both side by side.
fn compare(graph: &Graph, unfolded: &Graph, fold: &Fold, random: &mut Random) -> Counts {
    let above = dominators(&graph.body);
    let above_copies = dominators(&unfolded.body);
    let (mut plain, mut copied) = (Run::default(), Run::default());
    let (mut from, mut block) = (None, BlockId::ENTRY);
    let (mut from_copy, mut copy) = (None, BlockId::ENTRY);
    let mut memory = Memory::default();
    let mut counts = Counts::default();
    for time in 1..60 {
        assert_eq!(fold.blocks[copy], block);
        plain.enter(graph, from, block);
        copied.enter(unfolded, from_copy, copy);
        for (at, inst) in graph.insts(block).iter().enumerate() {
            let first = unfolded.insts(copy).iter().find(|&i| fold.is_copy(i)).unwrap();
            let there = InstId::from(usize::from(first) + at);
            assert_eq!(fold.insts[there], inst);
            // What reaches the instruction is what the value is.
            if !graph.nodes[inst].facts.is_phi() {
                for value in (0..graph.body.code.num_values()).map(ValueId::from) {
                    let defined = graph.definition(value);
                    let has_result = defined.is_none_or(|i| graph.has_result(i));
                    let is_there = has_result && above.is_available(&graph.body, value, inst);
                    let now = fold.reaching(value, there);
                    assert!(is_there || now.is_none() || !has_result);
                    if let Some(now) = now.filter(|_| is_there) {
                        assert_eq!(
                            plain.operand(Operand::Value(value)),
                            copied.operand(Operand::Value(now))
                        );
                        assert_eq!(fold.value(now), value);
                        counts.reached += 1;
                        let nearest = nearest((unfolded, &above_copies), fold, value, there);
                        let differs = |v| {
                            copied.operand(Operand::Value(v)) != copied.operand(Operand::Value(now))
                        };
                        counts.not_nearest += usize::from(nearest.is_some_and(differs));
                    }
                }
                for (&a, &b) in graph.operands(inst).iter().zip(unfolded.operands(there)) {
                    assert_eq!(plain.operand(a), copied.operand(b), "an operand of {inst}");
                    let Operand::Value(value) = a else { unreachable!() };
                    assert_eq!(fold.reaching(value, there).map(Operand::Value), Some(b));
                }
            }
            for (run, clobber) in
                [(&plain, graph.nodes[inst].clobber), (&copied, unfolded.nodes[there].clobber)]
            {
                if let Some(clobber) = clobber {
                    let read = run.state(clobber)[place(inst)];
                    assert_eq!(read, memory[place(inst)], "what {inst} reads, by {clobber:?}");
                    counts.loads += 1;
                }
            }
            if !graph.nodes[inst].facts.is_phi() {
                let operands = graph.operands(inst).iter().map(|&o| plain.operand(o));
                let result = mixed(operands.chain([u64::from(u32::from(inst)), time]));
                plain.values.insert(graph.result(inst), result);
                copied.values.insert(unfolded.result(there), result);
            } else {
                let now = plain.values[&graph.result(inst)];
                assert_eq!(copied.values[&unfolded.result(there)], now, "phi {inst}");
            }
            if graph.nodes[inst].facts.is_anchor() {
                memory[place(inst)] = time << 16 | at as u64;
                plain.stored.insert(inst, memory);
                copied.stored.insert(there, memory);
            }
        }
        let edges = &graph.body.blocks[block].edges;
        if edges.is_empty() {
            break;
        }
        let edge = random.below(edges.len());
        (from, block) = (Some(block), edges[edge].to);
        (from_copy, copy) = (Some(copy), unfolded.body.blocks[copy].edges[edge].to);
    }
    counts
}

#[test]
fn an_unfolded_version_does_what_the_version_does() {
    let cases = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok());
    let mut all = Counts::default();
    for case in 0..cases.unwrap_or(200) {
        let random = &mut Random((case + 1_u64).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let graph = program(random);
        let plan = plan(&graph, random);
        let (unfolded, fold) = unfold(&graph, &plan);
        for _ in 0..4 {
            let counts = compare(&graph, &unfolded, &fold, random);
            all.reached += counts.reached;
            all.not_nearest += counts.not_nearest;
            all.loads += counts.loads;
        }
    }
    // The nearest copy above would be wrong at times.
    assert!(all.reached > 50_000 && all.not_nearest > 100 && all.loads > 1_000, "{all:?}");
}
