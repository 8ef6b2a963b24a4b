//! Unfolding a version along a plan: its blocks are copied, and values brought into SSA form again.
//!
//! A value that is defined in one copy only has that definition everywhere. Where several copies
//! define it, a use has the definition that reaches it; where several reach a block, a phi is put
//! there, if the value is used behind it: R. Cytron et al., Efficiently Computing Static Single
//! Assignment Form and the Control Dependence Graph, TOPLAS 13(4), 1991, section 5.1, pruned. What
//! left memory in a state that is read later is renamed likewise.

use crate::unfold::{Fold, Plan, joins};
use crate::versions::graph::{Access, Graph, GraphBlock, Node, Operand};
use midflight_ir::body::{Block, Body, Edge};
use midflight_ir::code::Code;
use midflight_ir::depth_first::postorder;
use midflight_ir::dominators::{Dominators, dominators, of_graph};
use midflight_ir::facts::{InstFacts, MapFacts};
use midflight_ir::ids::{BlockId, InstId, ValueId};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::cell::RefCell;
use std::rc::Rc;
use typed_index_collections::TiVec;

/// What has one definition in a version, and one in each copy of its block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Variable {
    /// The result of an instruction
    Value(InstId),
    /// A state of memory
    State(Access),
}

/// A place at which a variable is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Place {
    /// In a block
    In(BlockId),
    /// At its end, where control goes on
    EndOf(BlockId),
}

/// What reaches a use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reaching {
    /// The definition in this copy of its block
    Copy(BlockId),
    /// The phi at the head of this block
    Met(BlockId),
}

/// A version while it is unfolded.
struct Unfolding<'a> {
    graph: &'a Graph,
    plan: &'a Plan,
    predecessors: TiVec<BlockId, Vec<BlockId>>,
    copies: TiVec<BlockId, Vec<BlockId>>,
    dominators: Dominators,
    frontier: TiVec<BlockId, Vec<BlockId>>,
    /// For variables with several definitions the blocks at whose heads they meet, and are used
    /// behind
    met: HashMap<Variable, HashSet<BlockId>>,
}

/// Unfolds a version.
///
/// # Panics
/// If a block of the plan cannot be reached from its first one, or edges are missing.
pub fn unfold(graph: &Graph, plan: &Plan) -> (Graph, Fold) {
    let mut unfolding = Unfolding::new(graph, plan);
    unfolding.find_meetings();
    unfolding.built()
}

impl<'a> Unfolding<'a> {
    fn new(graph: &'a Graph, plan: &'a Plan) -> Self {
        let count = plan.blocks.len();
        let mut predecessors = TiVec::from(vec![Vec::new(); count]);
        for (from, successors) in plan.successors.iter_enumerated() {
            successors.iter().for_each(|&to| predecessors[to].push(from));
        }
        let mut copies = TiVec::from(vec![Vec::new(); graph.blocks.len()]);
        plan.blocks.iter_enumerated().for_each(|(copy, &block)| copies[block].push(copy));
        let order = postorder(&plan.successors);
        assert_eq!(order.len(), count, "all copies can be reached");
        let dominators = of_graph(&order, &predecessors);
        let frontier = frontier(&dominators, &predecessors);
        let met = HashMap::default();
        Unfolding { graph, plan, predecessors, copies, dominators, frontier, met }
    }

    /// The block that defines a variable; none if that is the caller.
    fn definition(&self, variable: Variable) -> Option<BlockId> {
        match variable {
            Variable::Value(inst) | Variable::State(Access::Def(inst)) => {
                Some(self.graph.block(inst))
            }
            Variable::State(Access::Phi(block)) => Some(block),
            Variable::State(Access::Entry) => None,
        }
    }

    /// True for what several copies define.
    fn has_several(&self, variable: Variable) -> bool {
        self.definition(variable).is_some_and(|block| self.copies[block].len() > 1)
    }

    /// The variable that an operand is, if it is one.
    fn variable(&self, operand: Operand) -> Option<Variable> {
        match operand {
            Operand::Value(value) => self.graph.definition(value).map(Variable::Value),
            Operand::Constant(_) => None,
        }
    }

    /// All uses of variables that several copies define.
    fn uses(&self) -> HashMap<Variable, HashSet<Place>> {
        let mut uses: HashMap<Variable, HashSet<Place>> = HashMap::default();
        let mut add = |variable: Option<Variable>, place: Place| {
            if let Some(variable) = variable.filter(|&v| self.has_several(v)) {
                uses.entry(variable).or_default().insert(place);
            }
        };
        let graph = self.graph;
        for (copy, &block) in self.plan.blocks.iter_enumerated() {
            for inst in graph.insts(block).iter() {
                let node = &graph.nodes[inst];
                if !node.facts.is_phi() {
                    for &operand in graph.operands(inst) {
                        add(self.variable(operand), Place::In(copy));
                    }
                }
                if let Some(copied) = node.copied {
                    add(self.variable(copied), Place::In(copy));
                }
                for state in [node.clobber, node.initializes].into_iter().flatten() {
                    add(Some(Variable::State(state)), Place::In(copy));
                }
            }
            for &from in &self.predecessors[copy] {
                let of = self.plan.blocks[from];
                for phi in graph.phis(block) {
                    if let Some(operand) = graph.incoming(phi, of) {
                        add(self.variable(operand), Place::EndOf(from));
                    }
                }
                for &(incoming, access) in graph.blocks[block].memory_phi.iter().flatten() {
                    if incoming == of {
                        add(Some(Variable::State(access)), Place::EndOf(from));
                    }
                }
                for &(incoming, value, _) in &graph.blocks[block].implied {
                    if incoming == of {
                        add(self.variable(Operand::Value(value)), Place::EndOf(from));
                    }
                }
            }
        }
        uses
    }

    /// Finds where definitions meet that are used behind.
    fn find_meetings(&mut self) {
        for (variable, places) in self.uses() {
            let defined = self.definition(variable).expect("several copies define it");
            let joins = joins(&self.copies[defined], &self.frontier);
            if joins.is_empty() {
                continue;
            }
            // Where it is live: at the heads of blocks.
            let mut live: HashSet<BlockId> = HashSet::default();
            let mut work: Vec<BlockId> = Vec::new();
            for place in places {
                let (Place::In(block) | Place::EndOf(block)) = place;
                if self.plan.blocks[block] != defined && live.insert(block) {
                    work.push(block);
                }
            }
            while let Some(block) = work.pop() {
                for &from in &self.predecessors[block] {
                    if self.plan.blocks[from] != defined && live.insert(from) {
                        work.push(from);
                    }
                }
            }
            self.met.insert(variable, joins.intersection(&live).copied().collect());
        }
    }

    /// What reaches a use; none if a variable has no definition that does.
    fn reaching(&self, variable: Variable, place: Place) -> Option<Reaching> {
        let defined = self.definition(variable)?;
        if let [only] = self.copies[defined][..] {
            return Some(Reaching::Copy(only));
        }
        let (Place::In(mut block) | Place::EndOf(mut block)) = place;
        // A use in the block that defines it is behind the definition.
        let met = self.met.get(&variable);
        loop {
            if self.plan.blocks[block] == defined {
                return Some(Reaching::Copy(block));
            }
            if met.is_some_and(|met| met.contains(&block)) {
                return Some(Reaching::Met(block));
            }
            block = self.dominators.immediate(block)?;
        }
    }

    fn built(self) -> (Graph, Fold) {
        let mut fold = self.fold();
        let renamed = Renamed { unfolding: &self, fold: &fold };
        let mut unfolded = Graph {
            body: Rc::new(renamed.body()),
            blocks: self.plan.blocks.keys().map(|copy| renamed.block(copy)).collect(),
            nodes: fold.insts.keys().map(|inst| renamed.node(inst)).collect(),
        };
        let met_states = renamed.add_states(&mut unfolded);
        fold.met_states = met_states;
        (unfolded, fold)
    }

    /// Numbers the instructions.
    fn fold(&self) -> Fold {
        let graph = self.graph;
        let mut phis: TiVec<BlockId, Vec<InstId>> = vec![Vec::new(); self.plan.blocks.len()].into();
        for (variable, met) in &self.met {
            if let Variable::Value(inst) = *variable {
                met.iter().for_each(|&block| phis[block].push(inst));
            }
        }
        let mut fold = Fold {
            arguments: graph.body.code.arguments,
            blocks: self.plan.blocks.clone(),
            insts: TiVec::new(),
            block_of: TiVec::new(),
            copies: self.copies.clone(),
            first: TiVec::new(),
            places: TiVec::new(),
            met: HashMap::default(),
            body: graph.body.clone(),
            above: dominators(&graph.body),
            dominators: self.dominators.clone(),
            frontier: self.frontier.clone(),
            met_states: HashMap::default(),
            joins: RefCell::default(),
        };
        for block in graph.blocks.keys() {
            let places = graph.insts(block).iter().enumerate();
            fold.places.extend(places.map(|(place, _)| (block, place)));
        }
        for (copy, &block) in self.plan.blocks.iter_enumerated() {
            phis[copy].sort_unstable();
            for &inst in &phis[copy] {
                fold.met.insert((inst, copy), fold.insts.next_key());
                fold.insts.push(inst);
            }
            fold.first.push(fold.insts.next_key());
            fold.insts.extend(graph.insts(block));
            fold.block_of.resize(fold.insts.len(), copy);
        }
        fold
    }
}

/// A version whose instructions have their new numbers.
struct Renamed<'a> {
    unfolding: &'a Unfolding<'a>,
    fold: &'a Fold,
}

impl Renamed<'_> {
    /// The instruction that an unfolded one is a copy of, unless it is a phi where copies meet.
    fn copied(&self, inst: InstId) -> Option<InstId> {
        self.fold.is_copy(inst).then(|| self.fold.insts[inst])
    }

    /// The copy of an instruction in a copy of its block.
    fn inst(&self, inst: InstId, copy: BlockId) -> InstId {
        self.fold.copy_in(inst, copy).expect("it is a copy of its block")
    }

    fn operand(&self, operand: Operand, place: Place) -> Operand {
        match self.unfolding.variable(operand) {
            Some(Variable::Value(inst)) => Operand::Value(self.value(inst, place)),
            _ => operand,
        }
    }

    fn value(&self, inst: InstId, place: Place) -> ValueId {
        let reaching = self.unfolding.reaching(Variable::Value(inst), place);
        self.fold.result(match reaching.expect("a definition reaches each use") {
            Reaching::Copy(copy) => self.inst(inst, copy),
            Reaching::Met(block) => self.fold.met[&(inst, block)],
        })
    }

    /// The state of memory that a use has.
    fn state(&self, access: Access, place: Place) -> Access {
        let reaching = self.unfolding.reaching(Variable::State(access), place);
        match (access, reaching) {
            (Access::Entry, _) => Access::Entry,
            (_, Some(Reaching::Met(block))) => Access::Phi(block),
            (Access::Def(inst), Some(Reaching::Copy(copy))) => Access::Def(self.inst(inst, copy)),
            (Access::Phi(_), Some(Reaching::Copy(copy))) => Access::Phi(copy),
            (_, None) => panic!("a state of memory reaches each use"),
        }
    }

    fn body(&self) -> Body {
        let (plan, graph) = (self.unfolding.plan, self.unfolding.graph);
        let mut body = Body { code: Code::new(self.fold.arguments), ..Body::default() };
        for (copy, &of) in plan.blocks.iter_enumerated() {
            let Block { terminator, edges } = &graph.body.blocks[of];
            let edges = edges.iter().zip(&plan.successors[copy]);
            let edges = edges.map(|(edge, &to)| {
                assert_eq!(plan.blocks[to], edge.to, "an edge leads to a copy of its target");
                Edge { to, kind: edge.kind }
            });
            body.blocks.push(Block { terminator: *terminator, edges: edges.collect() });
            body.code.begin_block(graph.body.code.successors[of].clone());
            let start = InstId::from(self.fold.block_of.raw.partition_point(|&block| block < copy));
            for &inst in &self.fold.insts[start..self.fold.first[copy]] {
                let operands = self.unfolding.predecessors[copy].iter().map(|&from| {
                    let value = self.value(inst, Place::EndOf(from));
                    (Operand::Value(value), Some(from))
                });
                body.code.push(InstFacts::PHI, operands.collect::<Vec<_>>());
            }
            for inst in graph.insts(of).iter() {
                let facts = graph.body.code.instructions[inst].facts;
                body.code.push(facts, self.operands(inst, copy));
            }
        }
        body
    }

    /// What a copy of an instruction is done to.
    fn operands(&self, inst: InstId, copy: BlockId) -> Vec<(Operand, Option<BlockId>)> {
        let graph = self.unfolding.graph;
        let operands = graph.operands(inst).iter();
        if !graph.nodes[inst].facts.is_phi() {
            let operand = |&operand: &Operand| (self.operand(operand, Place::In(copy)), None);
            return operands.map(operand).collect();
        }
        let from = graph.body.code.incoming_blocks(inst).iter();
        let incoming = operands.zip(from).flat_map(|(&operand, &of)| {
            let all = self.unfolding.predecessors[copy].iter();
            let all = all.filter(move |&&from| self.fold.blocks[from] == of);
            all.map(move |&from| (self.operand(operand, Place::EndOf(from)), Some(from)))
        });
        incoming.collect()
    }

    fn block(&self, copy: BlockId) -> GraphBlock {
        let block = &self.unfolding.graph.blocks[self.fold.blocks[copy]];
        let all = self.unfolding.predecessors[copy].iter();
        let implied = all.clone().flat_map(|&from| {
            let of = self.fold.blocks[from];
            let of_edge = block.implied.iter().filter(move |(incoming, ..)| *incoming == of);
            of_edge.map(move |&(_, value, constant)| {
                let value = self.operand(Operand::Value(value), Place::EndOf(from));
                let Operand::Value(value) = value else { unreachable!("values stay values") };
                (from, value, constant)
            })
        });
        let memory_phi = block.memory_phi.as_ref().map(|states| {
            let states = all.filter_map(|&from| {
                let of = self.fold.blocks[from];
                let &(_, access) = states.iter().find(|(incoming, _)| *incoming == of)?;
                Some((from, self.state(access, Place::EndOf(from))))
            });
            states.collect()
        });
        GraphBlock { feasible: block.feasible.clone(), implied: implied.collect(), memory_phi }
    }

    fn node(&self, inst: InstId) -> Node {
        let (graph, of) = (self.unfolding.graph, self.fold.insts[inst]);
        let node = &graph.nodes[of];
        if self.copied(inst).is_none() {
            return Node {
                facts: MapFacts::PHI,
                data_type: node.data_type,
                operation: MEETING,
                ..Node::default()
            };
        }
        let place = Place::In(self.fold.block_of[inst]);
        Node {
            copied: node.copied.map(|copied| self.operand(copied, place)),
            clobber: node.clobber.map(|clobber| self.state(clobber, place)),
            local_constant: None,
            initializes: node.initializes.map(|before| self.state(before, place)),
            lone: None,
            reads_lone: false,
            ..node.clone()
        }
    }

    /// Where states of memory meet that met nowhere before: what comes in there. If several meet
    /// that are used, the last one of these stands for the others: what reads one of these reads a
    /// place that nothing has written to since. Gives the one for each block: another one that is
    /// left behind it, but used nowhere, does not meet there ([`Fold::state`]).
    fn add_states(&self, unfolded: &mut Graph) -> HashMap<BlockId, Access> {
        let mut last: HashMap<BlockId, Access> = HashMap::default();
        for (variable, met) in &self.unfolding.met {
            let Variable::State(access) = *variable else { continue };
            for &block in met {
                let known = last.entry(block).or_insert(access);
                if self.fold.is_later(access, *known) {
                    *known = access;
                }
            }
        }
        let graph = self.unfolding.graph;
        last.retain(|&block, _| graph.blocks[self.fold.blocks[block]].memory_phi.is_none());
        for (&block, &access) in &last {
            let incoming = self.unfolding.predecessors[block].iter();
            let state = |&from: &BlockId| (from, self.state(access, Place::EndOf(from)));
            unfolded.blocks[block].memory_phi = Some(incoming.map(state).collect());
        }
        last
    }
}

/// The operation of phis where copies meet; no other has it.
pub(super) const MEETING: u32 = u32::MAX;

/// For each block the blocks at which what it dominates ends: K. D. Cooper, T. J. Harvey, K.
/// Kennedy: A Simple, Fast Dominance Algorithm, 2001, figure 5.
fn frontier(
    dominators: &Dominators,
    predecessors: &TiVec<BlockId, Vec<BlockId>>,
) -> TiVec<BlockId, Vec<BlockId>> {
    let mut frontier: TiVec<BlockId, Vec<BlockId>> = vec![Vec::new(); predecessors.len()].into();
    for (block, from) in predecessors.iter_enumerated() {
        // The entry has what comes from the caller as well.
        if from.len() < 2 && block != BlockId::ENTRY {
            continue;
        }
        for &from in from {
            let mut runner = Some(from);
            while let Some(now) = runner.filter(|&now| Some(now) != dominators.immediate(block)) {
                if frontier[now].last() != Some(&block) {
                    frontier[now].push(block);
                }
                runner = dominators.immediate(now);
            }
        }
    }
    frontier
}
