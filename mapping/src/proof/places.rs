//! Places in memory, and the numbers of what they have.

use crate::proof::congruence::Congruence;
use crate::proof::matching::Matching;
use crate::proof::numbers::{Number, UNKNOWN};
use crate::proof::partings::Parting;
use crate::proof::round::Restless;
use crate::versions::facts::{VersionFacts, Versions};
use crate::versions::graph::{Access, Graph, Operand};
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::{BlockId, InstId};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use typed_index_collections::TiVec;

/// The place that a load or store accesses
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Content {
    pub(super) which: Version,
    /// The load or store
    pub(super) place_of: InstId,
    pub(super) pointer: Operand,
    pub(super) number: Number,
    pub(super) data_type: u32,
}

impl Content {
    /// True for a place of the same address and type.
    pub(super) fn is_same_place(&self, other: &Content) -> bool {
        (self.number, self.data_type) == (other.number, other.data_type)
    }

    pub(super) fn key(&self, block: BlockId) -> AtHead {
        let Content { which, pointer, data_type, .. } = *self;
        AtHead { which, pointer, data_type, block }
    }
}

/// A place at the head of a block where states of memory meet
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct AtHead {
    which: Version,
    pointer: Operand,
    pub(super) data_type: u32,
    pub(super) block: BlockId,
}

/// What a place has at the head of a block
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub(super) place: Content,
    /// For each predecessor what may have written to the place last
    pub(super) incoming: Vec<(BlockId, Access)>,
    /// The number if no other value is the same
    pub(super) own: Number,
    pub(super) number: Number,
    /// When that changed
    pub(super) changed: u32,
    pub(super) restless: Restless,
}

impl Head {
    /// What may have written to the place last where control comes from a predecessor.
    pub(super) fn access_from(&self, from: BlockId) -> Option<Access> {
        self.incoming.iter().find(|(block, _)| *block == from).map(|&(_, access)| access)
    }
}

/// What is known of places.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Contents {
    pub(super) heads: HashMap<AtHead, Head>,
    pub(super) of_block: PerVersion<HashMap<BlockId, Vec<AtHead>>>,
    /// By type, address, and state of memory
    pub(super) known: HashMap<(u32, Number, Number), Number>,
    /// The same behind stores that may be to the place but leave it as it was, as this round knows
    pub(super) left_alone: HashMap<(u32, Number, Number), Number>,
    /// Blocks at whose heads states meet that lone stores have left, with the number of the state
    /// at the head of a pair, if that is one
    left: PerVersion<HashMap<BlockId, Option<Number>>>,
    /// The next number that nothing has
    next: Number,
}

impl Contents {
    /// Nothing is known yet; `next` is the first number that nothing has.
    pub(super) fn new(next: Number) -> Self {
        Contents { next, ..Contents::default() }
    }

    pub(super) fn fresh(&mut self) -> Number {
        self.next += 1;
        self.next - 1
    }

    /// Notes where states of memory meet that lone stores have left.
    pub(super) fn note_left(&mut self, versions: &Versions, matching: &Matching) {
        for which in Version::BOTH {
            self.left[which] = left(versions.graph(which)).into_iter().map(|b| (b, None)).collect();
        }
        for pair in &matching.pairs {
            let state = self.fresh();
            for which in Version::BOTH {
                let head = versions.of[which].chains.head(pair.chains[which]);
                if let Some(at_head) = self.left[which].get_mut(&head) {
                    *at_head = Some(state);
                }
            }
        }
    }

    /// True for a block at whose head states meet that lone stores have left.
    pub(super) fn is_left(&self, which: Version, block: BlockId) -> bool {
        self.left[which].contains_key(&block)
    }

    /// For such a block, the number of the state there if a pair begins with it: memory is the same
    /// in both versions then, but for what is pending, which opt does not read.
    pub(super) fn at_pair(&self, which: Version, block: BlockId) -> Option<Number> {
        self.left[which].get(&block).copied().flatten()
    }

    pub(super) fn at(&self, place: &Content, block: BlockId) -> Option<Number> {
        self.heads.get(&place.key(block)).map(|head| head.number)
    }

    /// What a place has at the head of a block, if that is known.
    pub(super) fn number(&self, place: &AtHead) -> Option<Number> {
        self.heads.get(place).map(|head| head.number).filter(|&number| number != UNKNOWN)
    }

    pub(super) fn forget(&mut self, which: Version, now: u32) {
        let heads = self.heads.values_mut().filter(|head| head.place.which == which);
        heads.for_each(|head| {
            (head.number, head.changed, head.restless) = (UNKNOWN, now, Restless::No);
        });
    }

    pub(super) fn at_block(&self, which: Version, block: BlockId) -> &[AtHead] {
        self.of_block[which].get(&block).map_or(&[], |places| places)
    }

    pub(super) fn known(&self, place: &Content, state: Number) -> Option<Number> {
        let key = (place.data_type, place.number, state);
        self.left_alone.get(&key).or_else(|| self.known.get(&key)).copied()
    }
}

/// The blocks at whose heads states of memory meet that lone stores have left.
fn left(graph: &Graph) -> HashSet<BlockId> {
    let phis = graph.blocks.iter_enumerated();
    let phis = phis.filter_map(|(block, of)| Some((block, of.memory_phi.as_ref()?)));
    let mut found: HashSet<BlockId> = HashSet::default();
    let mut is_done = false;
    while !std::mem::replace(&mut is_done, true) {
        for (block, incoming) in phis.clone() {
            let is_one = incoming.iter().any(|&(_, access)| match access {
                Access::Entry => false,
                Access::Def(inst) => graph.nodes[inst].lone.is_some(),
                Access::Phi(block) => found.contains(&block),
            });
            is_done &= !(is_one && found.insert(block));
        }
    }
    found
}

/// Numbers these loads by what their places have, and no others.
pub(super) fn see_places(versions: &mut Versions, loads: &PerVersion<Vec<InstId>>) {
    versions.has_places = loads.iter().any(|loads| !loads.is_empty());
    for which in Version::BOTH {
        let nodes = &mut versions.of[which].graph.nodes;
        nodes.iter_mut().for_each(|node| node.sees_place = false);
        loads[which].iter().for_each(|&load| nodes[load].sees_place = true);
    }
}

/// All loads.
pub(super) fn all_loads(versions: &Versions) -> PerVersion<Vec<InstId>> {
    PerVersion::from_fn(|which| {
        let nodes = versions.graph(which).nodes.iter_enumerated();
        nodes.filter(|(_, node)| node.facts.is_load()).map(|(inst, _)| inst).collect()
    })
}

/// Loads of places that a load of base reads that is gone, where that reads what meets at the head
/// of a block, or a phi came in its place: of these the state of memory as a whole says too little.
pub(super) fn lost_loads(versions: &Versions, congruence: &Congruence) -> PerVersion<Vec<InstId>> {
    let PerVersion { base, opt } = versions.of.as_ref().map(|version| &version.graph);
    let tracked = &versions.tracked;
    // Behind what parts versions early, addresses are one only as long as they have not parted.
    let place = |which: Version, load: InstId| {
        let graph = versions.graph(which);
        let address = congruence.likely_number(which, graph.pointer(load)?);
        Some((address, graph.nodes[load].data_type))
    };
    let lost = base.nodes.iter_enumerated().filter(|&(inst, node)| {
        let is_phi = || tracked.replaced[inst].is_some_and(|to| opt.nodes[to].facts.is_phi());
        node.facts.is_load()
            && tracked.kept[inst].is_none()
            && (matches!(node.clobber, Some(Access::Phi(_))) || is_phi())
    });
    let places: HashSet<(Number, u32)> =
        lost.filter_map(|(inst, _)| place(Version::Base, inst)).collect();
    let is_of = |place: Option<(Number, u32)>| place.is_some_and(|p| places.contains(&p));
    let mut loads = all_loads(versions);
    loads.base.retain(|&load| is_of(place(Version::Base, load)));
    loads.opt.retain(|&load| is_of(place(Version::Opt, load)));
    loads
}

/// True if a value by which versions part, or which decides what it is, is made of what one of
/// these loads gives: else it is of no use to know that.
pub(super) fn are_in_partings(
    versions: &Versions,
    partings: &[Parting],
    loads: &PerVersion<Vec<InstId>>,
) -> bool {
    Version::BOTH.into_iter().any(|which| {
        let VersionFacts { graph, gates, .. } = &versions.of[which];
        let mut seen = TiVec::<InstId, bool>::from(vec![false; graph.nodes.len()]);
        let definition = |operand: Operand| graph.definition_of(operand);
        let unlike = partings.iter().filter_map(|parting| parting.unlike);
        let mut work: Vec<InstId> = unlike.filter_map(|unlike| definition(unlike[which])).collect();
        while let Some(inst) = work.pop() {
            if std::mem::replace(&mut seen[inst], true) {
                continue;
            }
            let gate = match graph.nodes[inst].facts.is_phi() {
                true => gates[graph.block(inst)].as_ref().and_then(|gate| gate.condition(graph)),
                false => None,
            };
            let made_of = graph.operands(inst).iter().copied().chain(gate);
            work.extend(made_of.filter_map(definition));
        }
        loads[which].iter().any(|&load| seen[load])
    })
}
