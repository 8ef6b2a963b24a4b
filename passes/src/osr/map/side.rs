//! What reconstruction asks of a version: what is live, what is available, which values are the
//! same.

use crate::body::Body;
use crate::code::{Code, InstId, Operand as Use, ValueId};
use crate::dominators::{Dominators, dominators};
use crate::liveness::liveness;
use crate::osr::map::congruence::{Congruence, Number};
use crate::osr::map::graph::{BASE, Graph, Which};
use crate::osr::map::matching::{Matching, Version, Versions};
use crate::osr::points::Point;
use rustc_hash::FxHashMap as HashMap;
use std::collections::BTreeSet;

/// What is proved of two versions.
#[derive(Clone, Copy)]
pub struct Proof<'a> {
    /// The versions
    pub versions: &'a Versions,
    /// Which chains run together
    pub matching: &'a Matching,
    /// Which values are the same
    pub congruence: &'a Congruence,
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
    pub points: Vec<Point>,
    /// For each instruction the point before it
    pub point_at: Vec<Option<usize>>,
    /// For each instruction the values live before it, what its point hands on included; sorted
    pub live: Vec<Vec<ValueId>>,
    /// For each instruction the values that must be had to land before it; sorted
    pub landing: Vec<Vec<ValueId>>,
    /// The same, but for what points hand on besides
    pub own_landing: Vec<Vec<ValueId>>,
    useful: Vec<bool>,
    arguments: usize,
    dominators: Dominators,
    members: HashMap<Number, Vec<ValueId>>,
}

impl Side {
    /// A version with its points. `body` is that of the version's snapshot.
    pub fn new(
        which: Which,
        versions: &Versions,
        congruence: &Congruence,
        body: &Body,
        points: Vec<Point>,
    ) -> Self {
        let version = &versions.of[which];
        let graph = &version.graph;
        let useful = graph.useful();
        let mut members: HashMap<Number, Vec<ValueId>> = HashMap::default();
        for value in 0..graph.num_values() {
            let holds = match graph.definition(value) {
                Some(inst) => {
                    let node = &graph.nodes[inst];
                    useful[inst] && node.has_result && version.live.reached[node.block]
                }
                None => true,
            };
            if holds {
                members.entry(congruence.of[which][value]).or_default().push(value);
            }
        }
        let mut point_at = vec![None; graph.nodes.len()];
        for (number, point) in points.iter().enumerate() {
            point_at[point.at] = Some(number);
        }
        let mut side = Side {
            which,
            points,
            point_at,
            live: Vec::new(),
            landing: Vec::new(),
            own_landing: Vec::new(),
            useful,
            arguments: graph.arguments,
            dominators: dominators(body),
            members,
        };
        side.set_extra(version, body, &HashMap::default());
        side.own_landing.clone_from(&side.landing);
        side
    }

    /// The useful values with a number, sorted.
    pub fn members(&self, number: Number) -> &[ValueId] {
        self.members.get(&number).map_or(&[], Vec::as_slice)
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

    /// Computes what is live, with strong liveness: what only dead code and blocks that are never
    /// reached use is not. `extra` are values that points hand on besides.
    pub fn set_extra(
        &mut self,
        version: &Version,
        body: &Body,
        extra: &HashMap<InstId, BTreeSet<ValueId>>,
    ) {
        let used = |inst: InstId| {
            let node = &version.graph.nodes[inst];
            let live = self.useful[inst] && version.live.reached[node.block];
            let operands = if live { body.code.operands(inst) } else { &[] };
            operands.iter().filter(move |o| {
                o.from.is_none_or(|from| version.live.successors[from].contains(&node.block))
            })
        };
        let mut strong = Body { blocks: body.blocks.clone(), code: Code::new(self.arguments) };
        for range in &body.code.of_block {
            strong.code.begin_block();
            for inst in range.clone() {
                let handed = extra.get(&inst).into_iter().flatten();
                let handed = handed.map(|&value| Use { value, from: None });
                let operands: Vec<Use> = used(inst).copied().chain(handed).collect();
                strong.code.push(body.code.instructions[inst].facts, operands);
            }
        }
        let liveness = liveness(&strong);
        let count = version.graph.nodes.len();
        (self.live, self.landing) = (vec![Vec::new(); count], vec![Vec::new(); count]);
        for (block, range) in body.code.of_block.iter().enumerate() {
            let mut live: BTreeSet<ValueId> = liveness.live_out[block].iter().copied().collect();
            for inst in range.clone().rev() {
                if body.code.instructions[inst].facts.is_phi() {
                    break;
                }
                live.remove(&body.code.result(inst));
                live.extend(used(inst).map(|o| o.value));
                self.landing[inst] = live.iter().copied().collect();
                live.extend(extra.get(&inst).into_iter().flatten());
                self.live[inst] = live.iter().copied().collect();
            }
        }
    }

    /// The graph of the version.
    pub fn graph<'a>(&self, versions: &'a Versions) -> &'a Graph {
        versions.graph(self.which)
    }
}
