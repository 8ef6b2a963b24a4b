//! Depth-first order of a body, and its retreating edges.

use crate::body::{BlockId, Body};

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
    #[derive(Clone, Copy, PartialEq)]
    enum Mark {
        New,
        Open,
        Done,
    }
    let mut mark = vec![Mark::New; body.blocks.len()];
    let mut result = DepthFirst { postorder: Vec::new(), retreating: Vec::new() };
    if body.blocks.is_empty() {
        return result;
    }
    let mut stack: Vec<(BlockId, usize)> = vec![(0, 0)];
    mark[0] = Mark::Open;
    while let Some((block, next)) = stack.last_mut() {
        let from = *block;
        let Some(edge) = body.blocks[from].edges.get(*next) else {
            mark[from] = Mark::Done;
            result.postorder.push(from);
            stack.pop();
            continue;
        };
        *next += 1;
        match mark[edge.to] {
            Mark::New => {
                mark[edge.to] = Mark::Open;
                stack.push((edge.to, 0));
            }
            Mark::Open => result.retreating.push((from, edge.to)),
            Mark::Done => {}
        }
    }
    result
}

/// The nodes of a graph that can be reached from node 0, each behind what it can reach by edges that
/// do not retreat.
pub fn postorder(successors: &[Vec<usize>]) -> Vec<usize> {
    let mut seen = vec![false; successors.len()];
    let mut result = Vec::new();
    if successors.is_empty() {
        return result;
    }
    let mut stack = vec![(0, 0)];
    seen[0] = true;
    while let Some((node, next)) = stack.last_mut() {
        let Some(&to) = successors[*node].get(*next) else {
            result.push(*node);
            stack.pop();
            continue;
        };
        *next += 1;
        if !std::mem::replace(&mut seen[to], true) {
            stack.push((to, 0));
        }
    }
    result
}
