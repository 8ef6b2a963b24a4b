//! What reconstruction asks of a version: what is live, what is available, which values are the
//! same.

use crate::mapping::live_sets::{Handed, LiveSets, Uses};
use crate::points::Boundary;
use crate::proof::Proof;
use crate::proof::congruence::Congruence;
use crate::proof::numbers::Number;
use crate::versions::facts::Versions;
use crate::versions::graph::{Graph, Node, Operand};
use crate::versions::version::Version;
use midflight_ir::dominators::{Dominators, dominators};
use midflight_ir::ids::{InstId, ValueId};
use rustc_hash::FxHashMap as HashMap;
use typed_index_collections::{TiSlice, TiVec};

/// A version, as the side of a mapping.
pub struct Side {
    /// Which of the two
    pub which: Version,
    /// Its points
    pub points: Vec<Boundary>,
    /// For each instruction the point before it
    pub point_at: TiVec<InstId, Option<usize>>,
    uses: Uses,
    /// Without what points hand on
    own: LiveSets,
    /// With it, if there is any
    sets: Option<LiveSets>,
    useful: TiVec<InstId, bool>,
    /// For values the useful instructions that extend them
    extensions: HashMap<ValueId, Vec<InstId>>,
    /// Of its blocks
    pub dominators: Dominators,
    /// The useful values of the proved version by their numbers: for the place of each number where
    /// those begin
    first: Vec<u32>,
    members: Vec<ValueId>,
}

impl Side {
    /// A version with its points.
    pub fn new(which: Version, proof: &Proof, points: Vec<Boundary>) -> Self {
        let congruence = &proof.congruence;
        let version = &proof.versions.of[which];
        let graph = &version.graph;
        let useful = graph.useful();
        let proved = &proof.proved().of[which];
        let in_local = graph.in_local_constants();
        let holds = |&value: &ValueId| match proved.graph.definition(value) {
            // The other version would read there before this one has initialized it.
            Some(inst) if in_local.contains(&proof.folded(which, inst)) => false,
            Some(inst) => {
                useful[proof.folded(which, inst)]
                    && proved.graph.has_result(inst)
                    && proved.live.reached[proved.graph.block(inst)]
            }
            None => true,
        };
        let place = |value: ValueId| congruence.place(congruence.of[which][value]);
        let values = || congruence.of[which].keys();
        let count = values().filter_map(place).max().map_or(0, |most| most + 1);
        let mut first = vec![0; count + 1];
        let held = || values().filter(holds).filter_map(|v| Some((v, place(v)?)));
        held().for_each(|(_, place)| first[place + 1] += 1);
        (0..count).for_each(|place| first[place + 1] += first[place]);
        let mut members = vec![ValueId::from(0); first[count] as usize];
        let mut next = first.clone();
        for (value, place) in held() {
            members[next[place] as usize] = value;
            next[place] += 1;
        }
        let mut point_at = TiVec::from(vec![None; graph.nodes.len()]);
        for (number, point) in points.iter().enumerate() {
            point_at[point.at] = Some(number);
        }
        let uses = Uses::new(&graph.body, |inst, operand| {
            let block = graph.block(inst);
            useful[inst]
                && version.live.reached[block]
                && operand.from.is_none_or(|from| version.live.successors[from].contains(&block))
        });
        Side {
            which,
            points,
            point_at,
            own: LiveSets::new(&uses),
            sets: None,
            uses,
            extensions: extensions(graph, &useful),
            useful,
            dominators: dominators(&graph.body),
            first,
            members,
        }
    }

    /// The useful values of the proved version with a number that is no constant's, sorted.
    pub fn members(&self, congruence: &Congruence, number: Number) -> &[ValueId] {
        let bounds = congruence.place(number).and_then(|place| self.first.get(place..place + 2));
        bounds.map_or(&[], |bounds| &self.members[bounds[0] as usize..bounds[1] as usize])
    }

    /// The instructions that extend a value and are no dead code.
    pub fn extensions(&self, value: ValueId) -> &[InstId] {
        self.extensions.get(&value).map_or(&[], |all| all)
    }

    /// True unless only dead code uses it.
    pub fn is_useful(&self, versions: &Versions, value: ValueId) -> bool {
        self.graph(versions).definition(value).is_none_or(|inst| self.useful[inst])
    }

    /// For each instruction whether it is no dead code.
    pub fn useful(&self) -> &TiSlice<InstId, bool> {
        &self.useful
    }

    /// True for an instruction that is not dead code.
    pub fn is_useful_inst(&self, inst: InstId) -> bool {
        self.useful[inst]
    }

    /// True if the value's definition dominates the point before an instruction.
    pub fn is_available(&self, versions: &Versions, value: ValueId, at: InstId) -> bool {
        self.dominators.is_available(&self.graph(versions).body, value, at)
    }

    /// Takes over what points hand on besides.
    pub fn set_handed(&mut self, handed: Handed) {
        self.sets = Some(self.own.with(&self.uses, handed));
    }

    /// The values live before an instruction that is no phi, what its point hands on included;
    /// sorted.
    pub fn live(&self, inst: InstId) -> &[ValueId] {
        self.sets.as_ref().unwrap_or(&self.own).live(&self.uses, inst)
    }

    /// The values that are needed to land before it; sorted.
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

fn extensions(graph: &Graph, useful: &TiSlice<InstId, bool>) -> HashMap<ValueId, Vec<InstId>> {
    let mut extensions: HashMap<ValueId, Vec<InstId>> = HashMap::default();
    let is_one = |&(inst, node): &(InstId, &Node)| useful[inst] && node.extends.is_some();
    for (inst, _) in graph.nodes.iter_enumerated().filter(is_one) {
        if let [Operand::Value(value)] = *graph.operands(inst) {
            extensions.entry(value).or_default().push(inst);
        }
    }
    extensions
}
