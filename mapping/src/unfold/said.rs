//! What branches say of values that they compare with constants, in terms of both versions.
//!
//! One version may decide in several steps what the other one decides at once. Which ways the
//! latter takes then follows from the steps that the former has taken, if both compare the same
//! value, as tracking says.

use crate::versions::facts::Versions;
use crate::versions::graph::{Operand, Oracle};
use crate::versions::version::Version;
use midflight_ir::ids::{BlockId, InstId, ValueId};

/// Extensions that are looked through
const DEEPEST: usize = 4;

/// What an edge says of a value: that it is one of these, or none of them.
#[derive(Debug)]
pub(super) struct Said {
    of: Root,
    constants: Vec<i64>,
    is_one: bool,
    /// Where the version computes it, if it does
    computed_in: Option<BlockId>,
}

/// What is compared: where opt has it, that
#[derive(Debug, PartialEq, Eq)]
enum Root {
    Inst(Version, InstId),
    Argument(ValueId),
}

impl Said {
    /// What the edge of a version from a block to another one says.
    pub(super) fn over(
        versions: &Versions,
        oracle: &dyn Oracle,
        which: Version,
        (from, to): (BlockId, BlockId),
    ) -> Option<Said> {
        let graph = versions.graph(which);
        let terminator = graph.terminator(from);
        let (value, mut constants, is_one) = match &graph.nodes[terminator].cases {
            Some(cases) => {
                let leads_there = graph.body.successors(from).map(|successor| successor == to);
                let mut leads_there = leads_there.collect::<Vec<bool>>().into_iter();
                let is_default = leads_there.next()?;
                let constants = cases.signed().zip(leads_there);
                let constants = constants.filter(|&(_, there)| there != is_default);
                let value = *graph.operands(terminator).first()?;
                (value, constants.map(|(constant, _)| constant).collect(), !is_default)
            }
            None => {
                let (condition, holds) = graph.said_over((from, to))?;
                let compares = graph.definition_of(condition)?;
                let facts = graph.nodes[compares].facts;
                (facts.is_equal() || facts.is_differ()).then_some(())?;
                let [value, Operand::Constant(constant)] = *graph.operands(compares) else {
                    return None;
                };
                (value, vec![oracle.integer(constant)?], holds == facts.is_equal())
            }
        };
        let mut at = value;
        for _ in 0..DEEPEST {
            let Some(inst) = graph.definition_of(at) else { break };
            let Some(extends) = graph.nodes[inst].extends else { break };
            constants = constants.iter().filter_map(|&constant| extends.before(constant)).collect();
            at = graph.operands(inst)[0];
        }
        let of = match (graph.definition_of(at), at) {
            (Some(inst), _) => {
                let tracked = &versions.tracked;
                let there = match which {
                    Version::Base => tracked.kept[inst].or(tracked.replaced[inst]),
                    Version::Opt => Some(inst),
                };
                there.map_or(Root::Inst(which, inst), |inst| Root::Inst(Version::Opt, inst))
            }
            (None, Operand::Value(value)) => Root::Argument(value),
            (None, Operand::Constant(_)) => return None,
        };
        let computed_in = graph.definition_of(value).map(|inst| graph.block(inst));
        Some(Said { of, constants, is_one, computed_in })
    }

    /// True if the value is computed in one of these blocks.
    pub(super) fn is_computed_in(&self, blocks: &[BlockId]) -> bool {
        self.computed_in.is_some_and(|block| blocks.contains(&block))
    }

    /// True if both cannot be.
    pub(super) fn excludes(&self, other: &Said) -> bool {
        let are_in =
            |one: &Said, all: &Said| one.constants.iter().all(|c| all.constants.contains(c));
        self.of == other.of
            && match (self.is_one, other.is_one) {
                (true, true) => !self.constants.iter().any(|c| other.constants.contains(c)),
                (true, false) => are_in(self, other),
                (false, true) => are_in(other, self),
                (false, false) => false,
            }
    }
}
