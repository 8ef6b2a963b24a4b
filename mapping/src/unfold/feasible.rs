//! Which edges of an unfolded version can be taken.
//!
//! In a copy of a block less can come in than in the block: a phi has one value only, or a branch
//! that all ways to the copy took has decided already what it branches on. M. N. Wegman, F. K.
//! Zadeck: Constant Propagation with Conditional Branches, TOPLAS 13(2), 1991.

use crate::unfold::compared::{Compared, all_same};
use crate::versions::facts::VersionFacts;
use crate::versions::graph::{ConstId, Operand, Oracle};
use crate::versions::version::Version;
use midflight_ir::depth_first::postorder;
use midflight_ir::ids::{BlockId, InstId, ValueId};
use rustc_hash::FxHashSet as HashSet;
use typed_index_collections::TiVec;

/// What is known of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// Nothing yet
    Nothing,
    Constant(ConstId),
    /// It may be anything.
    Any,
}

/// Branches above one are looked at so far.
const MOST_ABOVE: usize = 32;

/// Edges that are followed back where nothing above decided
const MOST_BEFORE: usize = 4;

/// Work in progress.
struct Propagation<'a> {
    version: &'a VersionFacts,
    which: Version,
    oracle: &'a dyn Oracle,
    /// Blocks whose branches both versions take together
    together: &'a HashSet<BlockId>,
    known: TiVec<InstId, Known>,
    /// Edges that may be taken
    taken: HashSet<(BlockId, BlockId)>,
    reached: TiVec<BlockId, bool>,
}

/// The edges of a version's blocks that are never taken, as far as they may be for all that was
/// known before. What a branch above decided is made no use of for branches that both versions take
/// `together`: it may be known of the one, and not of the other.
pub(crate) fn untaken(
    version: &VersionFacts,
    which: Version,
    oracle: &dyn Oracle,
    together: &HashSet<BlockId>,
) -> Vec<(BlockId, BlockId)> {
    let graph = &version.graph;
    let mut propagation = Propagation {
        version,
        which,
        oracle,
        together,
        known: vec![Known::Nothing; graph.nodes.len()].into(),
        taken: HashSet::default(),
        reached: vec![false; graph.blocks.len()].into(),
    };
    let mut order = postorder(&version.live.successors);
    order.reverse();
    propagation.reached[BlockId::ENTRY] = true;
    // What is known only shrinks.
    let mut changed = true;
    while changed {
        changed = false;
        for &block in &order {
            if propagation.reached[block] {
                changed |= propagation.visit(block);
            }
        }
    }
    let edges = order.iter().filter(|&&b| propagation.reached[b]);
    let edges = edges.flat_map(|&b| version.live.successors[b].iter().map(move |&to| (b, to)));
    edges.filter(|edge| !propagation.taken.contains(edge)).collect()
}

impl Propagation<'_> {
    /// True if that changed something.
    fn visit(&mut self, block: BlockId) -> bool {
        let graph = &self.version.graph;
        let mut changed = false;
        for inst in graph.insts(block).iter().filter(|&i| graph.has_result(i)) {
            let found = self.evaluate(inst);
            let old = self.known[inst];
            let next = match (old, found) {
                (Known::Nothing, found) => found,
                (Known::Constant(a), Known::Constant(b)) if a == b => old,
                (old, Known::Nothing) => old,
                _ => Known::Any,
            };
            changed |= next != old;
            self.known[inst] = next;
        }
        for to in self.ways(block) {
            changed |= self.taken.insert((block, to));
            self.reached[to] = true;
        }
        changed
    }

    fn operand(&self, operand: Operand, block: BlockId) -> Known {
        self.known_by(operand, |value| self.version.scopes.at(value, block))
    }

    fn known_by(&self, operand: Operand, said: impl Fn(ValueId) -> Option<ConstId>) -> Known {
        let value = match operand {
            Operand::Constant(constant) => return Known::Constant(constant),
            Operand::Value(value) => value,
        };
        if let Some(constant) = said(value) {
            return Known::Constant(constant);
        }
        self.version.graph.definition(value).map_or(Known::Any, |inst| self.known[inst])
    }

    fn evaluate(&self, inst: InstId) -> Known {
        let graph = &self.version.graph;
        let node = &graph.nodes[inst];
        let block = graph.block(inst);
        if let Some(constant) = node.constant {
            return Known::Constant(constant);
        }
        if node.facts.is_phi() {
            let mut met = Known::Nothing;
            for from in self.sources(block) {
                let Some(operand) = graph.incoming(inst, from) else { return Known::Any };
                let scopes = &self.version.scopes;
                let known = self.known_by(operand, |value| scopes.on_edge(value, from, block));
                met = match (met, known) {
                    (Known::Nothing, known) | (known, Known::Nothing) => known,
                    (Known::Constant(a), Known::Constant(b)) if a == b => met,
                    _ => return Known::Any,
                };
            }
            return met;
        }
        if !node.facts.is_repeatable() {
            return Known::Any;
        }
        let mut constants = Vec::new();
        for &operand in graph.operands(inst) {
            match self.operand(operand, block) {
                Known::Constant(constant) => constants.push(Operand::Constant(constant)),
                Known::Nothing => return Known::Nothing,
                Known::Any => return Known::Any,
            }
        }
        match self.oracle.simplify(self.which, inst, &constants) {
            Some(Operand::Constant(constant)) => Known::Constant(constant),
            _ => Known::Any,
        }
    }

    /// The blocks that control may go to from a block.
    fn ways(&self, block: BlockId) -> Vec<BlockId> {
        let live = &self.version.live;
        let all = || live.successors[block].clone();
        let graph = &self.version.graph;
        let terminator = graph.terminator(block);
        let node = &graph.nodes[terminator];
        let Some(&operand) = graph.operands(terminator).first() else { return all() };
        if !node.facts.is_conditional() && node.cases.is_none() {
            return all();
        }
        let index = match self.operand(operand, block) {
            Known::Nothing => return Vec::new(),
            Known::Any => self.decided_before(block, operand).map(|holds| usize::from(!holds)),
            Known::Constant(constant) => self.oracle.integer(constant).map(|integer| {
                node.cases.as_ref().map_or(usize::from(integer == 0), |cases| cases.way(integer))
            }),
        };
        let Some(index) = index else { return all() };
        match live.taken[block].contains(&index) {
            true => graph.body.successors(block).nth(index).into_iter().collect(),
            false => all(),
        }
    }

    /// Whether a condition holds that the same comparison of the same values decided before, on
    /// which a branch above went one way. That was not poison or undefined, so it gave the one
    /// value that these can have.
    fn decided_before(&self, block: BlockId, condition: Operand) -> Option<bool> {
        (!self.together.contains(&block)).then_some(())?;
        let compared = self.compared(self.only(condition))?;
        self.decided_at(block, &compared, MOST_BEFORE)
    }

    /// The operation that a value is of, on the only values that its operands can be.
    fn compared(&self, operand: Operand) -> Option<Compared> {
        let graph = &self.version.graph;
        let inst = graph.definition_of(operand)?;
        Some(Compared::of(graph, inst).map(|operand| self.only(operand)))
    }

    /// The same of a comparison of what its operands are at the end of a block: by a branch above,
    /// or by one on each way to the block.
    fn decided_at(&self, block: BlockId, compared: &Compared, deepest: usize) -> Option<bool> {
        if let Some(held) = self.decided_above(block, compared) {
            return Some(held);
        }
        let deepest = deepest.checked_sub(1)?;
        let graph = &self.version.graph;
        all_same(self.sources(block).map(|from| {
            let compared = compared.before(graph, from, block)?.map(|operand| self.only(operand));
            let decided = compared.decided(self.which, self.oracle);
            let over = || self.decided_over((from, block), &compared);
            decided.or_else(over).or_else(|| self.decided_at(from, &compared, deepest))
        }))
    }

    /// The same, by the branch over whose edge control came.
    fn decided_over(&self, (from, to): (BlockId, BlockId), compared: &Compared) -> Option<bool> {
        let VersionFacts { graph, live, .. } = self.version;
        let (by, holds) = graph.said_over((from, to)).filter(|_| live.taken[from].len() == 2)?;
        let known = self.compared(self.only(by))?;
        compared.said_by(graph, (&known, holds), self.which, self.oracle)
    }

    /// The same, by a branch that is above on all ways.
    fn decided_above(&self, block: BlockId, compared: &Compared) -> Option<bool> {
        let mut below = block;
        for _ in 0..MOST_ABOVE {
            let above = self.version.scopes.immediate(below)?;
            if self.version.live.predecessors[below] == [above]
                && let Some(held) = self.decided_over((above, below), compared)
            {
                return Some(held);
            }
            below = above;
        }
        None
    }

    /// The blocks from which another one may be entered.
    fn sources(&self, block: BlockId) -> impl Iterator<Item = BlockId> {
        let sources = self.version.live.predecessors[block].iter().copied();
        sources.filter(move |&from| self.taken.contains(&(from, block)))
    }

    /// The only value that comes into a phi over edges that may be taken; else the value itself.
    fn only(&self, mut operand: Operand) -> Operand {
        let graph = &self.version.graph;
        for _ in 0..MOST_ABOVE {
            let phi = graph.definition_of(operand).filter(|&inst| graph.nodes[inst].facts.is_phi());
            let Some(phi) = phi else { break };
            let mut sources = self.sources(graph.block(phi));
            let (Some(from), None) = (sources.next(), sources.next()) else { break };
            let Some(only) = graph.incoming(phi, from) else { break };
            operand = only;
        }
        operand
    }
}
