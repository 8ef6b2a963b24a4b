//! Gates: phis that a single branch decides.
//!
//! Where the ways of a branch meet again, a phi has what came in on the way that the branch took:
//! it is `condition ? a : b`, as a gated SSA form writes it (K. J. Ottenstein, R. A. Ballance, A.
//! B. MacCabe: The Program Dependence Web, PLDI 1990, the function γ). A block is the join of a
//! branch if that ends the block's immediate dominator D, and if D's one successor dominates some
//! of the block's predecessors, and the other one all the rest; an edge from D itself counts for
//! its own side.
//!
//! Why the condition is the right one: between the last time that D ran and the time that the join
//! is entered, the way goes over one side. It cannot come over a predecessor of the other side:
//! that side's head would have to have run, D is the only block before it, and D did not run again.
//! So at all places that the join dominates, the phi is what the last run of D decided; and the
//! condition, which dominates D, has there still the value that it had then.
//!
//! The condition is no poison where the phi is there: the branch on it was taken. An operand of the
//! side that was not taken may be poison, or never have been computed; a select does not look at
//! it.

use crate::versions::graph::{Graph, Operand};
use crate::versions::live::Live;
use crate::versions::scopes::Scopes;
use midflight_ir::ids::{BlockId, InstId};
use typed_index_collections::TiVec;

/// What decides a join.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gate {
    /// The branch
    pub branch: InstId,
    /// The join's predecessors, and whether control comes from them if the condition holds
    pub sides: Vec<(BlockId, bool)>,
}

impl Gate {
    /// The condition of the branch.
    pub fn condition(&self, graph: &Graph) -> Option<Operand> {
        graph.operands(self.branch).first().copied()
    }

    /// The predecessors of a side.
    pub fn side(&self, holds: bool) -> impl Iterator<Item = BlockId> {
        self.sides.iter().filter(move |&&(_, side)| side == holds).map(|&(from, _)| from)
    }

    /// What a phi of the join has from a side, by number; none if it depends on the predecessor.
    pub fn one<N: PartialEq>(
        &self,
        holds: bool,
        number: impl Fn(BlockId) -> Option<N>,
    ) -> Option<N> {
        let mut numbers = self.side(holds).map(number);
        let first = numbers.next()??;
        numbers.all(|other| other.as_ref() == Some(&first)).then_some(first)
    }

    /// What a phi of the join has from a side; none if it depends on the predecessor, as far as
    /// `same` tells operands apart.
    pub fn arm<N: PartialEq>(
        &self,
        graph: &Graph,
        phi: InstId,
        holds: bool,
        same: impl Fn(Operand) -> N,
    ) -> Option<Operand> {
        let incoming = |from| graph.incoming(phi, from);
        self.one(holds, |from| incoming(from).map(&same))?;
        incoming(self.side(holds).next()?)
    }
}

/// What several branches decide at a join, one behind the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// Control comes from this predecessor.
    From(BlockId),
    /// This branch decides which way it takes, first if its condition holds.
    Branch(InstId, Box<[Way; 2]>),
}

/// Branches before a join that are followed
const MOST_BRANCHES: usize = 6;

/// Blocks that they lead over, counted once for each way
const MOST_BLOCKS: usize = 16;

/// The ways from the immediate dominator of a join to it; none if they may lead elsewhere, or round
/// in a loop, or if control may come to the join or to a block on them from elsewhere. So each of
/// these is run at most once since the immediate dominator was, and the conditions of those that
/// were are what decided.
pub fn ways(graph: &Graph, live: &Live, scopes: &Scopes, join: BlockId) -> Option<Way> {
    let above = scopes.immediate(join)?;
    let mut region = Region { graph, live, above, join, blocks: vec![above], branches: 0 };
    let way = region.from(above)?;
    let comes_from =
        |block: &BlockId| live.predecessors[*block].iter().all(|from| region.blocks.contains(from));
    region.blocks[1..].iter().chain([&join]).all(comes_from).then_some(way)
}

/// The blocks between a join and its immediate dominator
struct Region<'a> {
    graph: &'a Graph,
    live: &'a Live,
    above: BlockId,
    join: BlockId,
    /// Those found, and the immediate dominator as the first one
    blocks: Vec<BlockId>,
    /// Branches that were followed
    branches: usize,
}

impl Region<'_> {
    /// The ways from a block of the region.
    fn from(&mut self, block: BlockId) -> Option<Way> {
        match self.live.successors[block][..] {
            [to] => self.over(block, to),
            [holds, fails] => {
                let branch = self.graph.terminator(block);
                self.branches += 1;
                let can_be = self.graph.nodes[branch].facts.is_conditional();
                (can_be && self.branches <= MOST_BRANCHES).then_some(())?;
                let arms = [self.over(block, holds)?, self.over(block, fails)?];
                Some(Way::Branch(branch, Box::new(arms)))
            }
            _ => None,
        }
    }

    /// The ways from a block over one of its edges.
    fn over(&mut self, from: BlockId, to: BlockId) -> Option<Way> {
        if to == self.join {
            return Some(Way::From(from));
        }
        (to != self.above && self.blocks.len() <= MOST_BLOCKS).then_some(())?;
        self.blocks.push(to);
        self.from(to)
    }
}

/// For each block what decides it, if it is the join of a branch and has phis, of values or memory.
pub fn gates(graph: &Graph, live: &Live, scopes: &Scopes) -> TiVec<BlockId, Option<Gate>> {
    graph.blocks.keys().map(|join| gate(graph, live, scopes, join)).collect()
}

fn gate(graph: &Graph, live: &Live, scopes: &Scopes, join: BlockId) -> Option<Gate> {
    let predecessors = &live.predecessors[join];
    let has_phis = graph.phis(join).next().is_some() || graph.blocks[join].memory_phi.is_some();
    (has_phis && predecessors.len() > 1).then_some(())?;
    let above = scopes.immediate(join)?;
    let branch = graph.terminator(above);
    let [holds, fails] = live.successors[above][..] else { return None };
    graph.nodes[branch].facts.is_conditional().then_some(())?;
    let side = |from: BlockId| {
        if from == above {
            return Some(join == holds);
        }
        let is_on = |head: BlockId| {
            head != join && live.predecessors[head] == [above] && scopes.dominates(head, from)
        };
        if is_on(holds) { Some(true) } else { is_on(fails).then_some(false) }
    };
    let sides: Option<Vec<(BlockId, bool)>> =
        predecessors.iter().map(|&from| Some((from, side(from)?))).collect();
    let gate = Gate { branch, sides: sides? };
    [true, false].iter().all(|&s| gate.side(s).next().is_some()).then_some(gate)
}
