//! What reconstruction asks of a version: what is live, what is available, which values are the
//! same.

use crate::body::Body;
use crate::code::{InstId, ValueId};
use crate::dominators::{Dominators, dominators};
use crate::osr::map::congruence::{Congruence, Number};
use crate::osr::map::graph::{BASE, Graph, Which};
use crate::osr::map::live_sets::{Handed, LiveSets, Uses};
use crate::osr::map::matching::{Matching, Versions};
use crate::osr::map::pending::Pending;
use crate::osr::points::Boundary;

/// What is proved of two versions.
#[derive(Clone, Copy)]
pub struct Proof<'a> {
    /// The versions
    pub versions: &'a Versions,
    /// Which chains run together
    pub matching: &'a Matching,
    /// Which values are the same
    pub congruence: &'a Congruence,
    /// What opt owes to memory
    pub pending: &'a Pending,
}

impl Proof<'_> {
    /// The value of the other version that tracking says is this one.
    pub fn counterpart(&self, which: Which, value: ValueId) -> Option<ValueId> {
        let versions = self.versions;
        let Some(inst) = versions.graph(which).definition(value) else { return Some(value) };
        let tracked = &versions.tracked;
        let other = if which == BASE { tracked.kept[inst] } else { tracked.origin[inst] };
        Some(versions.graph(1 - which).result(other?))
    }
}

/// A version, as the side of a mapping.
pub struct Side {
    /// Which of the two
    pub which: Which,
    /// Its points
    pub points: Vec<Boundary>,
    /// For each instruction the point before it
    pub point_at: Vec<Option<usize>>,
    uses: Uses,
    /// Without what points hand on
    own: LiveSets,
    /// With it, if there is any
    sets: Option<LiveSets>,
    useful: Vec<bool>,
    arguments: usize,
    dominators: Dominators,
    /// The useful values by their numbers: for each number that is held where those begin
    numbers: Vec<(Number, u32)>,
    members: Vec<ValueId>,
}

impl Side {
    /// A version with its points. `body` is that of the version's snapshot.
    pub fn new(
        which: Which,
        versions: &Versions,
        congruence: &Congruence,
        body: &Body,
        points: Vec<Boundary>,
    ) -> Self {
        let version = &versions.of[which];
        let graph = &version.graph;
        let useful = graph.useful();
        let holds = |&value: &ValueId| match graph.definition(value) {
            Some(inst) => {
                let node = &graph.nodes[inst];
                useful[inst] && node.has_result && version.live.reached[node.block]
            }
            None => true,
        };
        let number = |&value: &ValueId| congruence.of[which][value];
        let mut members: Vec<ValueId> = (0..graph.num_values()).filter(holds).collect();
        members.sort_by_key(number);
        let mut numbers: Vec<(Number, u32)> = Vec::new();
        for (place, value) in members.iter().enumerate() {
            if numbers.last().is_none_or(|&(last, _)| last != number(value)) {
                numbers.push((number(value), place as u32));
            }
        }
        let mut point_at = vec![None; graph.nodes.len()];
        for (number, point) in points.iter().enumerate() {
            point_at[point.at] = Some(number);
        }
        let uses = Uses::new(body, |inst, operand| {
            let block = graph.nodes[inst].block;
            useful[inst]
                && version.live.reached[block]
                && operand.from.is_none_or(|from| version.live.successors[from].contains(&block))
        });
        Side {
            which,
            points,
            point_at,
            own: LiveSets::new(body, &uses),
            sets: None,
            uses,
            useful,
            arguments: graph.arguments,
            dominators: dominators(body),
            numbers,
            members,
        }
    }

    /// The useful values with a number, sorted.
    pub fn members(&self, number: Number) -> &[ValueId] {
        let Ok(place) = self.numbers.binary_search_by_key(&number, |&(n, _)| n) else { return &[] };
        let end = self.numbers.get(place + 1).map_or(self.members.len(), |&(_, end)| end as usize);
        &self.members[self.numbers[place].1 as usize..end]
    }

    /// True unless only dead code uses it.
    pub fn is_useful(&self, value: ValueId) -> bool {
        value.checked_sub(self.arguments).is_none_or(|inst| self.useful[inst])
    }

    /// True for an instruction that is not dead code.
    pub fn is_useful_inst(&self, inst: InstId) -> bool {
        self.useful[inst]
    }

    /// True if the value's definition dominates the point before an instruction.
    pub fn is_available(&self, versions: &Versions, value: ValueId, at: InstId) -> bool {
        let graph = versions.graph(self.which);
        let Some(inst) = graph.definition(value) else { return true };
        let (from, to) = (graph.nodes[inst].block, graph.nodes[at].block);
        if !graph.nodes[inst].facts.is_terminator() {
            return if from == to { inst < at } else { self.dominators.dominates(from, to) };
        }
        // The result of an `invoke` is there on its first edge only.
        let Some(&normal) = graph.blocks[from].successors.first() else { return false };
        let entries = graph.blocks.iter().flat_map(|b| &b.successors).filter(|&&s| s == normal);
        entries.count() == 1 && self.dominators.dominates(normal, to)
    }

    /// Takes over what points hand on besides.
    pub fn set_handed(&mut self, body: &Body, handed: Handed) {
        self.sets = Some(self.own.with(body, handed));
    }

    /// The values live before an instruction that is no phi, what its point hands on included; sorted.
    pub fn live(&self, inst: InstId) -> &[ValueId] {
        self.sets.as_ref().unwrap_or(&self.own).live(&self.uses, inst)
    }

    /// The values that must be had to land before it; sorted.
    pub fn landing(&self, inst: InstId) -> &[ValueId] {
        self.sets.as_ref().unwrap_or(&self.own).landing(&self.uses, inst)
    }

    /// The same, but for what points hand on besides.
    pub fn own_landing(&self, inst: InstId) -> &[ValueId] {
        self.own.landing(&self.uses, inst)
    }

    /// The graph of the version.
    pub fn graph<'a>(&self, versions: &'a Versions) -> &'a Graph {
        versions.graph(self.which)
    }
}
