//! `Body`: a compact snapshot of one function.
//!
//! All algorithms read a `Body` and nothing else, so they are tested without LLVM. Whoever makes
//! one keeps the handles that lead back into LLVM. After a plan is applied the snapshot is stale.

use crate::code::Code;
use crate::ids::BlockId;
use typed_index_collections::TiVec;

/// A function's blocks that can be reached from its entry, in the order of the function; and, in
/// tables beside them, what was read of them besides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Body {
    /// The blocks; the first is the entry.
    pub blocks: TiVec<BlockId, Block>,
    /// What is in the blocks; empty if that was not read
    pub code: Code,
    /// What profiling asks of each block; empty if that was not read
    pub profile: TiVec<BlockId, BlockProfile>,
}

/// A basic block.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Block {
    /// What ends it
    pub terminator: Terminator,
    /// Where control goes next: one edge a target, so parallel edges are one
    pub edges: Vec<Edge>,
}

/// What profiling asks of a block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BlockProfile {
    /// For each edge the probability that it is taken, as a numerator over 2^31
    pub probabilities: Vec<u32>,
    /// Expected executions for each 1024 activations of the function
    pub frequency: u64,
    /// For a block in which a path ends for good: true if the last call is where it does, because
    /// nothing of the function runs after it. False: the path ends at the terminator.
    pub ends_at_call: bool,
    /// Whether all of it runs to its end once it began: nothing in it throws, ends the program, or
    /// waits for another thread.
    pub stays: bool,
    /// Calls of functions in it
    pub calls: u32,
    /// The source lines of its instructions, in order, runs of the same line once
    pub lines: Vec<Line>,
    /// Instructions that take time: neither phis nor allocas nor markers
    pub instructions: u32,
}

/// An edge of the control flow graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The block it leads to
    pub to: BlockId,
    /// What can be done with it
    pub kind: EdgeKind,
}

/// What can be done with an edge.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum EdgeKind {
    /// A block can be put on it.
    Plain,
    /// It cannot be split: an edge of an `indirectbr`, or one to a landing pad.
    Unsplittable,
    /// From a call that returns twice, the last before the terminator, to what follows it: the
    /// target is entered again without its source. Only where blocks were split behind such calls
    Restart,
}

/// What ends a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Terminator {
    /// `ret`
    Return,
    /// `br`
    Branch,
    /// `switch`
    Switch,
    /// `indirectbr`
    IndirectBranch,
    /// `invoke`
    Invoke,
    /// `callbr`
    CallBranch,
    /// `resume`
    Resume,
    /// `unreachable`
    Unreachable,
    /// Another one, of exceptions as Windows has them
    Other,
}

/// A source line, with file names as indices into a table beside the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Line {
    /// Index of the file
    pub file: u32,
    /// Line, from 1
    pub line: u32,
    /// For inlined code the line of the outermost call site, else `line`
    pub outer: u32,
}

/// The edges to the successors of a terminator, one a target; and which of them each successor is.
pub fn edges<S: Copy>(
    successors: impl IntoIterator<Item = S>,
    id: impl Fn(S) -> BlockId,
    kind: impl Fn(S) -> EdgeKind,
) -> (Vec<Edge>, Vec<usize>) {
    let mut edges: Vec<Edge> = Vec::new();
    let place = |successor: S| {
        let to = id(successor);
        let known = edges.iter().position(|edge| edge.to == to);
        known.unwrap_or_else(|| {
            edges.push(Edge { to, kind: kind(successor) });
            edges.len() - 1
        })
    };
    let places = successors.into_iter().map(place).collect();
    (edges, places)
}

impl Body {
    /// For a body with code the successors of a block, each as often as its terminator names it.
    pub fn successors(&self, block: BlockId) -> impl ExactSizeIterator<Item = BlockId> {
        let edges = &self.blocks[block].edges;
        self.code.successors[block].iter().map(|&place| edges[place].to)
    }

    /// Expected executions of an edge for each 1024 activations of the function.
    pub fn edge_frequency(&self, (from, to): (BlockId, BlockId)) -> u64 {
        let BlockProfile { probabilities, frequency, .. } = &self.profile[from];
        let edge = self.blocks[from].edges.iter().position(|edge| edge.to == to);
        let probability = probabilities[edge.expect("there is the edge")];
        ((u128::from(*frequency) * u128::from(probability)) >> 31) as u64
    }

    /// For each block, the blocks with an edge to it, in order.
    pub fn predecessors(&self) -> TiVec<BlockId, Vec<BlockId>> {
        let mut result = TiVec::from(vec![Vec::new(); self.blocks.len()]);
        for (from, block) in self.blocks.iter_enumerated() {
            for edge in &block.edges {
                result[edge.to].push(from);
            }
        }
        result
    }

    /// A hash of the graph: of terminators and edges, not of lines or weights. FNV-1a.
    pub fn cfg_hash(&self) -> u64 {
        let mut hash: u64 = 0xcbf2_9ce4_8422_2325;
        let mut feed = |word: u64| {
            for byte in word.to_le_bytes() {
                hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
            }
        };
        feed(self.blocks.len() as u64);
        for block in &self.blocks {
            feed(block.terminator as u64);
            feed(block.edges.len() as u64);
            for edge in &block.edges {
                feed(u32::from(edge.to).into());
                feed(edge.kind as u64);
            }
        }
        hash
    }
}
