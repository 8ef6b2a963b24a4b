//! From path IDs to paths: Algorithm 3 (thesis 3.2.2) checked, then run backwards.

use super::model::{Edge, FunctionTable};
use alloc::vec;
use alloc::vec::Vec;

/// An acyclic path, as an ID stands for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// How the path begins.
    pub start: PathStart,
    /// The blocks on it, in order; at least one.
    pub blocks: Vec<u32>,
    /// How the path ends.
    pub end: PathEnd,
}

/// Where a path begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PathStart {
    /// At the function's entry.
    Entry,
    /// After a cut edge: an index in [`FunctionTable::edges`].
    After(usize),
}

/// Where a path ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum PathEnd {
    /// For good, in this block.
    Exit(u32),
    /// On a cut edge: an index in [`FunctionTable::edges`].
    Cut(usize),
}

/// A table's numbers are not those of Algorithm 3.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NumberingError {
    /// There is no block.
    #[error("it has no blocks")]
    NoBlocks,
    /// There are 2^32 or more edges.
    #[error("it has too many edges")]
    TooManyEdges,
    /// An edge leads from or to a block that is not there.
    #[error("edge {0} names a block that is not there")]
    NoSuchBlock(usize),
    /// Two edges have the same source and target, or two exits the same block.
    #[error("edge {0} is there twice")]
    Twice(usize),
    /// The numbered graph is not acyclic; a block on the cycle, or after it.
    #[error("block {0} is on a cycle without a cut edge")]
    Cycle(u32),
    /// No path leads on from a block.
    #[error("block {0} is entered and has no way out")]
    DeadEnd(u32),
    /// An edge has not the value that Algorithm 3 gives it.
    #[error("edge {edge} has value {found}, where {expected} is due")]
    Value {
        /// Index of the edge
        edge: usize,
        /// The value that it should have
        expected: u32,
        /// The value in the table
        found: u32,
    },
    /// A block begins 2^32 paths or more.
    #[error("it has 2^32 paths or more")]
    TooManyPaths,
    /// The number of paths in the table is not the one computed.
    #[error("it has {expected} paths, and says {found}")]
    NumPaths {
        /// The number computed
        expected: u32,
        /// The number in the table
        found: u32,
    },
}

/// An edge out of a node of the numbered graph, dummies included.
#[derive(Clone, Copy, Debug)]
struct Out {
    value: u32,
    /// Target block; [`EXIT`] for the virtual node
    to: u32,
    /// Index in the table; [`ENTRY`] for that from START to the entry
    edge: u32,
}

/// As a target: the virtual node EXIT.
const EXIT: u32 = u32::MAX;

/// As an edge: the one from START to the entry, which is not in the table.
const ENTRY: u32 = u32::MAX;

/// Turns the IDs of one table into paths, in time proportional to a path's length.
#[derive(Clone, Debug)]
pub struct PathDecoder {
    num_paths: u32,
    /// Edges out of START, by ascending value
    starts: Vec<Out>,
    /// Edges out of all blocks: block by block, by ascending value
    outs: Vec<Out>,
    /// Where those of a block begin in `outs`, and at the end where the last one's end
    first_out: Vec<usize>,
    /// Whether an edge is an exit, not a cut: meaningful for edges to EXIT
    is_exit: Vec<bool>,
}

impl PathDecoder {
    /// Checks a table's numbering, and prepares it for decoding.
    ///
    /// # Errors
    /// [`NumberingError`] if the table's graph is not one that Algorithm 3 numbers, or its values
    /// are not those that it assigns.
    pub fn new(table: &FunctionTable) -> Result<PathDecoder, NumberingError> {
        check_unique(table)?;
        let mut decoder = collect_edges(table)?;
        let paths = decoder.check_values(&decoder.topological_order()?)?;
        let total = decoder.add_starts(table, &paths)?;
        if total != table.num_paths {
            return Err(NumberingError::NumPaths { expected: total, found: table.num_paths });
        }
        Ok(decoder)
    }

    /// Number of paths: IDs are below it.
    pub fn num_paths(&self) -> u32 {
        self.num_paths
    }

    /// The path that an ID stands for, or nothing if no path has that ID.
    pub fn decode(&self, id: u32) -> Option<Path> {
        let mut blocks = Vec::new();
        let (start, end) = self.walk(id, |block| blocks.push(block))?;
        Some(Path { start, blocks, end })
    }

    /// How the path with an ID begins and ends.
    pub fn ends(&self, id: u32) -> Option<(PathStart, PathEnd)> {
        self.walk(id, |_| {})
    }

    fn walk(&self, id: u32, mut visit: impl FnMut(u32)) -> Option<(PathStart, PathEnd)> {
        if id >= self.num_paths {
            return None;
        }
        let first = last_up_to(&self.starts, id)?;
        let start = match first.edge {
            ENTRY => PathStart::Entry,
            edge => PathStart::After(edge as usize),
        };
        let (mut rest, mut block) = (id - first.value, first.to);
        loop {
            visit(block);
            let out = last_up_to(self.outs_of(block), rest)?;
            rest -= out.value;
            if out.to == EXIT {
                let edge = out.edge as usize;
                let end =
                    if self.is_exit[edge] { PathEnd::Exit(block) } else { PathEnd::Cut(edge) };
                return Some((start, end));
            }
            block = out.to;
        }
    }

    fn outs_of(&self, block: u32) -> &[Out] {
        let block = block as usize;
        &self.outs[self.first_out[block]..self.first_out[block + 1]]
    }

    fn num_blocks(&self) -> u32 {
        (self.first_out.len() - 1) as u32
    }

    fn all_outs(&self) -> impl Iterator<Item = (u32, &Out)> {
        (0..self.num_blocks()).flat_map(|b| self.outs_of(b).iter().map(move |out| (b, out)))
    }

    /// The blocks in an order in which each comes before those that its edges enter.
    fn topological_order(&self) -> Result<Vec<u32>, NumberingError> {
        let mut entering = vec![0u32; self.num_blocks() as usize];
        for (_, out) in self.all_outs().filter(|(_, out)| out.to != EXIT) {
            entering[out.to as usize] += 1;
        }
        let is_ready = |&block: &u32| entering[block as usize] == 0;
        let mut order: Vec<u32> = (0..self.num_blocks()).filter(is_ready).collect();
        let mut done = 0;
        while let Some(&block) = order.get(done) {
            done += 1;
            for out in self.outs_of(block).iter().filter(|out| out.to != EXIT) {
                let left = &mut entering[out.to as usize];
                *left -= 1;
                if *left == 0 {
                    order.push(out.to);
                }
            }
        }
        match entering.iter().position(|&left| left != 0) {
            None => Ok(order),
            Some(block) => Err(NumberingError::Cycle(block as u32)),
        }
    }

    /// Algorithm 3 over again: numPaths of each block, where every value must be as it says.
    fn check_values(&self, order: &[u32]) -> Result<Vec<u32>, NumberingError> {
        let mut paths = vec![0u32; order.len()];
        for &block in order.iter().rev() {
            paths[block as usize] = check_node(self.outs_of(block), 0, &paths)?;
        }
        Ok(paths)
    }

    /// START's edges: the entry first, then the dummies of the cut edges. Returns numPaths(START).
    fn add_starts(&mut self, table: &FunctionTable, paths: &[u32]) -> Result<u32, NumberingError> {
        let dummies = table.edges.iter().zip(0..).filter_map(|(edge, index)| match *edge {
            Edge::Cut { to, start, .. } => Some(Out { value: start, to, edge: index }),
            _ => None,
        });
        self.starts = dummies.collect();
        self.starts.sort_unstable_by_key(|out| out.value);
        let of_entry = paths_from(0, paths)?;
        self.num_paths = check_node(&self.starts, of_entry, paths)?;
        self.starts.insert(0, Out { value: 0, to: 0, edge: ENTRY });
        Ok(self.num_paths)
    }
}

/// Lines 6 to 9 of Algorithm 3 for one node, from `num_paths` on; returns the sum.
fn check_node(outs: &[Out], mut num_paths: u32, paths: &[u32]) -> Result<u32, NumberingError> {
    for out in outs {
        if out.value != num_paths {
            let (edge, found) = (out.edge as usize, out.value);
            return Err(NumberingError::Value { edge, expected: num_paths, found });
        }
        let more = if out.to == EXIT { 1 } else { paths_from(out.to, paths)? };
        num_paths = num_paths.checked_add(more).ok_or(NumberingError::TooManyPaths)?;
    }
    Ok(num_paths)
}

fn paths_from(block: u32, paths: &[u32]) -> Result<u32, NumberingError> {
    match paths[block as usize] {
        0 => Err(NumberingError::DeadEnd(block)),
        paths => Ok(paths),
    }
}

/// The edge with the largest value that is not above `rest`.
fn last_up_to(outs: &[Out], rest: u32) -> Option<Out> {
    let after = outs.partition_point(|out| out.value <= rest);
    after.checked_sub(1).map(|last| outs[last])
}

/// No two edges have one source and target, nor two exits one block: else two IDs were one path.
fn check_unique(table: &FunctionTable) -> Result<(), NumberingError> {
    let key = |index: usize| (table.edges[index].from(), table.edges[index].to());
    let mut order: Vec<usize> = (0..table.edges.len()).collect();
    order.sort_unstable_by_key(|&index| key(index));
    match order.windows(2).find(|pair| key(pair[0]) == key(pair[1])) {
        None => Ok(()),
        Some(pair) => Err(NumberingError::Twice(pair[1])),
    }
}

/// The edges out of each block, with all indices checked.
fn collect_edges(table: &FunctionTable) -> Result<PathDecoder, NumberingError> {
    let num_blocks = table.blocks.len();
    if num_blocks == 0 {
        return Err(NumberingError::NoBlocks);
    }
    if table.edges.len() >= u32::MAX as usize {
        return Err(NumberingError::TooManyEdges);
    }
    let exists = |block: u32| (block as usize) < num_blocks && block != EXIT;
    let mut outs: Vec<(u32, Out)> = Vec::with_capacity(table.edges.len());
    for (index, edge) in table.edges.iter().enumerate() {
        if !exists(edge.from()) || !edge.to().is_none_or(exists) {
            return Err(NumberingError::NoSuchBlock(index));
        }
        let (value, to) = match *edge {
            Edge::Flow { to, value, .. } => (value, to),
            Edge::Cut { end, .. } => (end, EXIT),
            Edge::Exit { value, .. } => (value, EXIT),
        };
        outs.push((edge.from(), Out { value, to, edge: index as u32 }));
    }
    outs.sort_unstable_by_key(|(from, out)| (*from, out.value));
    let mut first_out = vec![0; num_blocks + 1];
    for (from, _) in &outs {
        first_out[*from as usize + 1] += 1;
    }
    for block in 0..num_blocks {
        first_out[block + 1] += first_out[block];
    }
    Ok(PathDecoder {
        num_paths: 0,
        starts: Vec::new(),
        outs: outs.into_iter().map(|(_, out)| out).collect(),
        first_out,
        is_exit: table.edges.iter().map(|edge| matches!(edge, Edge::Exit { .. })).collect(),
    })
}
