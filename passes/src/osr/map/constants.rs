//! Which branches of a version are never taken: conditional constant propagation.
//!
//! M. N. Wegman, F. K. Zadeck: Constant Propagation with Conditional Branches, TOPLAS 13(2), 1991.
//! In rounds over all blocks instead of with work lists. LLVM's `sccp` removes the blocks that this
//! proves unreachable; they are no obstacle to a matching then.

use crate::body::BlockId;
use crate::code::InstId;
use crate::osr::map::graph::{ConstId, Graph, Operand, Oracle, Which};

/// What a version can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Live {
    /// For each block the successors that it may go to: their indices in
    /// [`super::graph::GraphBlock::successors`]
    pub taken: Vec<Vec<usize>>,
    /// For each block whether it may be reached
    pub reached: Vec<bool>,
    /// For each block the blocks that it may go to, each once
    pub successors: Vec<Vec<BlockId>>,
    /// For each block the blocks that may go to it, each once
    pub predecessors: Vec<Vec<BlockId>>,
}

impl Live {
    /// Sets the lists of blocks from the edges that may be taken.
    fn list_blocks(&mut self, graph: &Graph) {
        for (from, taken) in self.taken.iter().enumerate() {
            for &index in taken {
                let to = graph.blocks[from].successors[index];
                if !self.successors[from].contains(&to) {
                    self.successors[from].push(to);
                    self.predecessors[to].push(from);
                }
            }
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lattice {
    Unknown,
    Constant(ConstId),
    Varying,
}

/// Finds out what a version can do.
pub fn live(which: Which, graph: &Graph, oracle: &dyn Oracle) -> Live {
    let mut state = State {
        which,
        graph,
        oracle,
        values: vec![Lattice::Unknown; graph.num_values()],
        live: Live {
            taken: vec![Vec::new(); graph.blocks.len()],
            reached: vec![false; graph.blocks.len()],
            successors: vec![Vec::new(); graph.blocks.len()],
            predecessors: vec![Vec::new(); graph.blocks.len()],
        },
    };
    state.values[..graph.arguments].fill(Lattice::Varying);
    if let Some(entry) = state.live.reached.first_mut() {
        *entry = true;
    }
    while state.round() {}
    state.live.list_blocks(graph);
    state.live
}

struct State<'a> {
    which: Which,
    graph: &'a Graph,
    oracle: &'a dyn Oracle,
    values: Vec<Lattice>,
    live: Live,
}

impl State<'_> {
    fn of(&self, operand: Operand) -> Lattice {
        match operand {
            Operand::Constant(constant) => Lattice::Constant(constant),
            Operand::Value(value) => self.values[value],
        }
    }

    /// True if anything changed.
    fn round(&mut self) -> bool {
        let mut changed = false;
        for block in 0..self.graph.blocks.len() {
            if !self.live.reached[block] {
                continue;
            }
            for inst in self.graph.blocks[block].nodes.clone() {
                let value = self.graph.result(inst);
                // Values only sink, so that the rounds end.
                let new = match self.values[value] {
                    Lattice::Varying => Lattice::Varying,
                    old => match (old, self.evaluate(inst)) {
                        (Lattice::Constant(a), Lattice::Constant(b)) if a != b => Lattice::Varying,
                        (Lattice::Constant(_), Lattice::Unknown) => old,
                        (_, new) => new,
                    },
                };
                changed |= std::mem::replace(&mut self.values[value], new) != new;
            }
            changed |= self.leave(block);
        }
        changed
    }

    fn evaluate(&self, inst: InstId) -> Lattice {
        let node = &self.graph.nodes[inst];
        if node.facts.is_phi() {
            let edges = node.from.iter().zip(&node.operands);
            return edges.fold(Lattice::Unknown, |met, (&from, &operand)| {
                if !self.goes(from, node.block) {
                    return met;
                }
                match (met, self.of(operand)) {
                    (Lattice::Unknown, other) | (other, Lattice::Unknown) => other,
                    (a, b) if a == b => a,
                    _ => Lattice::Varying,
                }
            });
        }
        if !node.facts.is_repeatable() {
            return Lattice::Varying;
        }
        let mut constants = Vec::with_capacity(node.operands.len());
        for &operand in &node.operands {
            match self.of(operand) {
                Lattice::Constant(constant) => constants.push(Operand::Constant(constant)),
                other => return other,
            }
        }
        match self.oracle.simplify(self.which, inst, &constants) {
            Some(Operand::Constant(constant)) => Lattice::Constant(constant),
            _ => Lattice::Varying,
        }
    }

    fn goes(&self, from: BlockId, to: BlockId) -> bool {
        self.live.taken[from].iter().any(|&i| self.graph.blocks[from].successors[i] == to)
    }

    /// The edges that a block may take. True if there are new ones.
    fn leave(&mut self, block: BlockId) -> bool {
        let all = self.graph.blocks[block].successors.len();
        if self.live.taken[block].len() == all {
            return false;
        }
        let terminator = self.graph.terminator(block);
        let operands = &self.graph.nodes[terminator].operands;
        let condition = operands.first().map(|&operand| self.of(operand));
        let taken: Vec<usize> = match condition {
            _ if all < 2 => (0..all).collect(),
            Some(Lattice::Unknown) => return false,
            Some(Lattice::Constant(constant)) => {
                match self.oracle.taken(self.which, terminator, constant) {
                    Some(index) => vec![index],
                    None => (0..all).collect(),
                }
            }
            _ => (0..all).collect(),
        };
        let mut changed = false;
        for index in taken {
            if !self.live.taken[block].contains(&index) {
                self.live.taken[block].push(index);
                self.live.reached[self.graph.blocks[block].successors[index]] = true;
                changed = true;
            }
        }
        self.live.taken[block].sort_unstable();
        changed
    }
}
