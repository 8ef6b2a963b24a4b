//! What branches say of values in the blocks behind them: where `x == 5` held, `x` is 5.
//!
//! LLVM's `early-cse`, `gvn` and `sccp` replace uses of a value by the constant that a dominating
//! branch compared it to. Both versions are read with that in mind.

use crate::body::BlockId;
use crate::code::ValueId;
use crate::depth_first::postorder;
use crate::dominators::of_graph;
use crate::osr::map::graph::{ConstId, Graph, Operand};
use crate::osr::map::live::Live;
use rustc_hash::FxHashMap as HashMap;

/// For values that are constants in places: what they are, and in which blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scopes {
    constants: HashMap<ValueId, Vec<(BlockId, ConstId)>>,
    /// The same for edges to blocks that can be entered from elsewhere too
    on_edge: HashMap<(BlockId, BlockId, ValueId), ConstId>,
    /// For each block its place in a walk over the dominator tree, and that of the last block below
    below: Vec<(u32, u32)>,
}

impl Scopes {
    /// An operand of a phi, as it comes over an edge.
    pub fn on_edge(&self, operand: Operand, from: BlockId, to: BlockId) -> Operand {
        match self.at(operand, from) {
            Operand::Value(value) => self
                .on_edge
                .get(&(from, to, value))
                .map_or(operand, |&constant| Operand::Constant(constant)),
            constant => constant,
        }
    }

    /// An operand, as it is used in a block.
    pub fn at(&self, operand: Operand, block: BlockId) -> Operand {
        let Operand::Value(value) = operand else { return operand };
        let Some(scopes) = self.constants.get(&value) else { return operand };
        let inside = |head: BlockId| {
            let (first, last) = self.below[head];
            (first..=last).contains(&self.below[block].0)
        };
        let known = scopes.iter().find(|&&(head, _)| inside(head));
        known.map_or(operand, |&(_, constant)| Operand::Constant(constant))
    }
}

/// Collects what the branches of a version say.
pub fn scopes(graph: &Graph, live: &Live) -> Scopes {
    let mut scopes = Scopes { below: below(live), ..Scopes::default() };
    for (head, block) in graph.blocks.iter().enumerate().filter(|(b, _)| live.reached[*b]) {
        for &(from, value, constant) in &block.implied {
            if live.predecessors[head] == [from] {
                scopes.constants.entry(value).or_default().push((head, constant));
            } else {
                scopes.on_edge.insert((from, head, value), constant);
            }
        }
    }
    scopes
}

/// Preorder intervals of the dominator tree of the blocks that may be reached.
fn below(live: &Live) -> Vec<(u32, u32)> {
    let count = live.successors.len();
    let order = postorder(&live.successors);
    let dominators = of_graph(&order, &live.predecessors);
    let mut children: Vec<Vec<BlockId>> = vec![Vec::new(); count];
    for &block in order.iter().rev() {
        if let Some(parent) = dominators.immediate(block) {
            children[parent].push(block);
        }
    }
    let mut below = vec![(u32::MAX, 0); count];
    let mut next = 0;
    let mut stack: Vec<(BlockId, usize)> = order.last().map(|&b| (b, 0)).into_iter().collect();
    while let Some((block, child)) = stack.last_mut() {
        let block = *block;
        if *child == 0 {
            below[block].0 = next;
            next += 1;
        }
        match children[block].get(*child) {
            Some(&to) => {
                *child += 1;
                stack.push((to, 0));
            }
            None => {
                below[block].1 = next - 1;
                stack.pop();
            }
        }
    }
    below
}
