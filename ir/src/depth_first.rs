//! Depth-first order of a body, and its retreating edges.

use crate::body::Body;
use crate::ids::BlockId;
use typed_index_collections::{TiSlice, TiVec};

/// The result of one depth-first walk from the entry.
#[derive(Clone, Debug)]
pub struct DepthFirst {
    /// All blocks; each comes after every block that it can reach by edges that do not retreat
    /// ("reverse topological order" once retreating edges are gone).
    pub postorder: Vec<BlockId>,
    /// Edges to a block that the walk had entered and not left. In a reducible graph these are the
    /// back edges; in any graph the rest is acyclic.
    pub retreating: Vec<(BlockId, BlockId)>,
}

/// Walks a body depth first, successors in their order.
pub fn depth_first(body: &Body) -> DepthFirst {
    walk(body.blocks.len(), |block, next| body.blocks[block].edges.get(next).map(|edge| edge.to))
}

/// The nodes of a graph that can be reached from node 0, each behind what it can reach by edges
/// that do not retreat.
pub fn postorder(successors: &TiSlice<BlockId, Vec<BlockId>>) -> Vec<BlockId> {
    walk(successors.len(), |node, next| successors[node].get(next).copied()).postorder
}

/// Walks a graph of so many nodes from node 0; `successor` gives the n-th of a node.
fn walk(count: usize, successor: impl Fn(BlockId, usize) -> Option<BlockId>) -> DepthFirst {
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut mark = TiVec::from(vec![Mark::New; count]);
    let mut result = DepthFirst { postorder: Vec::new(), retreating: Vec::new() };
    if count == 0 {
        return result;
    }
    let mut stack: Vec<(BlockId, usize)> = vec![(BlockId::ENTRY, 0)];
    mark[BlockId::ENTRY] = Mark::Open;
    while let Some((block, next)) = stack.last_mut() {
        let from = *block;
        let Some(to) = successor(from, *next) else {
            mark[from] = Mark::Done;
            result.postorder.push(from);
            stack.pop();
            continue;
        };
        *next += 1;
        match mark[to] {
            Mark::New => {
                mark[to] = Mark::Open;
                stack.push((to, 0));
            }
            Mark::Open => result.retreating.push((from, to)),
            Mark::Done => {}
        }
    }
    result
}
