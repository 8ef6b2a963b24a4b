//! What branches say of values in the blocks behind them: where `x == 5` held, `x` is 5.
//!
//! LLVM's `early-cse`, `gvn` and `sccp` replace uses of a value by the constant that a dominating
//! branch compared it to. Both versions are read with that in mind. What holds of a value holds of
//! those congruent with it, too ([`crate::proof::congruence`]).

use crate::versions::graph::{ConstId, Graph};
use crate::versions::live::Live;
use midflight_ir::depth_first::postorder;
use midflight_ir::dominators::{Dominators, of_graph};
use midflight_ir::ids::{BlockId, ValueId};
use typed_index_collections::TiVec;

/// For values that are constants in places: what they are, and in which blocks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scopes {
    /// For each value its place among the scopes, counted from 1; 0 if it is a constant nowhere
    places: TiVec<ValueId, u32>,
    scopes: Vec<Scope>,
    /// What branches say of two values
    equalities: Vec<Equality>,
    /// The dominator tree of the blocks that may be reached
    dominators: Dominators,
}

/// Where a value is a constant
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Scope {
    /// In what a block dominates
    below: Vec<(BlockId, ConstId)>,
    /// On edges to blocks that can be entered from elsewhere too
    on_edge: Vec<(BlockId, BlockId, ConstId)>,
}

/// An edge over which two values are equal
#[derive(Clone, Debug, PartialEq, Eq)]
struct Equality {
    edge: (BlockId, BlockId),
    /// Where that block can be entered over it alone
    is_only: bool,
    values: [ValueId; 2],
}

impl Scopes {
    fn of(&self, value: ValueId) -> Option<&Scope> {
        self.scopes.get((self.places[value] as usize).checked_sub(1)?)
    }

    fn of_mut(&mut self, value: ValueId) -> &mut Scope {
        let count = self.scopes.len();
        let place = &mut self.places[value];
        if *place == 0 {
            self.scopes.push(Scope::default());
            *place = count as u32 + 1;
        }
        &mut self.scopes[*place as usize - 1]
    }

    /// True if a value is a constant somewhere.
    pub fn has(&self, value: ValueId) -> bool {
        self.places[value] != 0
    }

    /// What a value is where control goes from one block to another.
    pub fn on_edge(&self, value: ValueId, from: BlockId, to: BlockId) -> Option<ConstId> {
        let of_edge = || {
            let mut edges = self.of(value)?.on_edge.iter().copied();
            edges.find_map(|(f, t, constant)| (f == from && t == to).then_some(constant))
        };
        self.at(value, from).or_else(of_edge)
    }

    /// What a value is in a block.
    pub fn at(&self, value: ValueId, block: BlockId) -> Option<ConstId> {
        let mut heads = self.of(value)?.below.iter().copied();
        heads.find_map(|(head, constant)| self.dominates(head, block).then_some(constant))
    }

    /// The values that are equal where control goes from one block to another, as a branch said.
    pub fn equal_on_edge(&self, edge: (BlockId, BlockId)) -> impl Iterator<Item = [ValueId; 2]> {
        let holds = move |equality: &&Equality| {
            equality.edge == edge || (equality.is_only && self.dominates(equality.edge.1, edge.0))
        };
        self.equalities.iter().filter(holds).map(|equality| equality.values)
    }

    /// The immediate dominator of a block.
    pub fn immediate(&self, block: BlockId) -> Option<BlockId> {
        self.dominators.immediate(block)
    }

    /// True if a block is reached only over another one, or is that.
    pub fn dominates(&self, head: BlockId, block: BlockId) -> bool {
        self.dominators.dominates(head, block)
    }
}

/// Collects what the branches of a version say.
pub fn scopes(graph: &Graph, live: &Live) -> Scopes {
    let mut scopes = Scopes {
        places: vec![0; graph.body.code.num_values()].into(),
        scopes: Vec::new(),
        equalities: Vec::new(),
        dominators: of_graph(&postorder(&live.successors), &live.predecessors),
    };
    for (head, block) in graph.blocks.iter_enumerated().filter(|(b, _)| live.reached[*b]) {
        for &(from, value, constant) in &block.implied {
            if live.predecessors[head] == [from] {
                scopes.of_mut(value).below.push((head, constant));
            } else {
                scopes.of_mut(value).on_edge.push((from, head, constant));
            }
        }
        for &from in &live.predecessors[head] {
            if let Some(values) = graph.said_equal((from, head)) {
                let is_only = live.predecessors[head] == [from];
                scopes.equalities.push(Equality { edge: (from, head), is_only, values });
            }
        }
    }
    scopes
}
