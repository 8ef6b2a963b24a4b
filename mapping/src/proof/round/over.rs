//! What comes over the edges to a pair, where a version may take several walks over one.

use super::Round;
use crate::proof::congruence::{value_at_end, value_over};
use crate::proof::matching::{PairId, Walk};
use crate::proof::numbers::Number;
use crate::versions::facts::Versions;
use crate::versions::graph::Access;
use crate::versions::version::Version;
use midflight_ir::ids::{BlockId, InstId};

impl Round<'_> {
    /// The one number that comes over walks at the head of a block, on some of which branches may
    /// have said that it is the constant that comes over these.
    fn one_over(
        &self,
        which: Version,
        block: BlockId,
        walks: &[Walk],
        numbers: &[Number],
    ) -> Option<Number> {
        let (congruence, versions) = (&self.congruence, self.versions);
        let is_constant = |number: &Number| congruence.constant(*number).is_some();
        let first = numbers.iter().find(|number| !is_constant(number)).or(numbers.first());
        let &one = first?;
        let is_one = |(&number, walk): (&Number, &Walk)| {
            let said = || match walk.crossed(block).flatten() {
                Some((from, before)) => {
                    congruence.number_on_walk(versions, which, one, before, (from, block))
                }
                None => one,
            };
            number == one || (is_constant(&number) && number == said())
        };
        numbers.iter().zip(walks).all(is_one).then_some(one)
    }

    /// For a block that is an entry, its pair, and for each edge to that the number of what comes
    /// over it; none if it is not the same on all walks.
    pub(super) fn over_edges(
        &self,
        which: Version,
        block: BlockId,
        number: impl Fn(&Self, &Walk, bool) -> Option<Number>,
    ) -> Option<(PairId, Vec<Number>)> {
        let pair = self.matching.entered(self.versions, which, block)?;
        let pairs = &self.matching.pairs;
        if pairs[pair].incoming.is_empty() {
            return None;
        }
        let edges = pairs[pair].incoming.iter();
        let numbers: Option<Vec<Number>> =
            edges.map(|&edge| self.over_edge(which, block, edge, &number)).collect();
        Some((pair, numbers?))
    }

    /// The number of what comes over one edge to the pair that a block is an entry of; none if it
    /// is not the same on all walks. `number` gives that of what comes over a walk, with what the
    /// walk says of it: phis of silent chains are looked through, and branches may say that it is a
    /// constant. Where that is not the same on all walks, what comes over their last edges may be:
    /// a phi of a silent chain that a branch decides, or what only one of the walks says something
    /// of.
    fn over_edge(
        &self,
        which: Version,
        block: BlockId,
        (from, place): (PairId, usize),
        number: &impl Fn(&Self, &Walk, bool) -> Option<Number>,
    ) -> Option<Number> {
        let walks = &self.matching.pairs[from].out.as_ref()?[place].walks[which];
        let one = |is_said: bool| {
            let numbers: Option<Vec<Number>> =
                walks.iter().map(|walk| number(self, walk, is_said)).collect();
            self.one_over(which, block, walks, &numbers?)
        };
        one(true).or_else(|| one(false))
    }

    /// The number of what comes in at a phi over one edge to its pair.
    pub(super) fn phi_over_edge(
        &self,
        which: Version,
        phi: InstId,
        edge: (PairId, usize),
    ) -> Option<Number> {
        let block = self.versions.graph(which).block(phi);
        self.over_edge(which, block, edge, &|round, walk, is_said| {
            round.phi_over_walk(which, phi, walk, is_said)
        })
    }

    /// The same over a walk, with what that says of it, or as it comes over the last edge.
    pub(super) fn phi_over_walk(
        &self,
        which: Version,
        phi: InstId,
        walk: &Walk,
        is_said: bool,
    ) -> Option<Number> {
        let (versions, congruence) = (self.versions, &self.congruence);
        let operand = match is_said {
            true => value_over(versions, congruence, which, phi, walk)?,
            false => value_at_end(versions, which, phi, walk)?,
        };
        Some(congruence.number(which, operand))
    }
}

/// What [`crate::proof::congruence::value_over`] is for phis, for memory.
pub(super) fn memory_over(
    versions: &Versions,
    which: Version,
    block: BlockId,
    walk: &Walk,
) -> Option<Access> {
    let graph = versions.graph(which);
    let state = |block: BlockId, from: BlockId| {
        let states = graph.blocks[block].memory_phi.as_ref()?;
        states.iter().find(|(b, _)| *b == from).map(|&(_, access)| access)
    };
    let Some((from, before)) = walk.crossed(block)? else { return Some(Access::Phi(block)) };
    let mut access = state(block, from)?;
    for &(from, head) in before.iter().rev() {
        if access == Access::Phi(head) {
            access = state(head, from)?;
        }
    }
    Some(access)
}
