//! Where two versions part, and what could not be proved there.
//!
//! Behind the end of a pair whose versions do not go on alike nothing is matched. What stopped the
//! proof is found by the steps of [`super::bisimulation`]: the first anchors that do not
//! correspond, or the branches that do not decide alike. Of operands that are not proved the same
//! it is the innermost ones: where both versions do the same to operands of which one differs, that
//! one is looked at.

use crate::proof::Proof;
use crate::proof::congruence::{Congruence, value_over};
use crate::proof::matching::{Matching, PairId};
use crate::versions::chains::ChainId;
use crate::versions::facts::{VersionFacts, Versions};
use crate::versions::graph::{Boolean, Node, Operand};
use crate::versions::version::{PerVersion, Version};
use midflight_ir::depth_first::postorder;
use midflight_ir::ids::{InstId, ValueId};
use rustc_hash::FxHashSet as HashSet;
use typed_index_collections::TiVec;

/// Operands are looked into so far.
const DEEPEST: usize = 64;

/// Expressions that are different operations are.
const DEEPEST_EXPRESSION: usize = 6;

/// What could not be proved.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Cause {
    /// The next anchors are different operations, or only one version has another one
    Anchor,
    /// The next anchors are the same operation, on operands that are not proved the same
    Operand,
    /// The versions end in different terminators, as where only one has a branch
    Branch,
    /// They end in the same branch, on conditions that are not proved the same
    Condition,
    /// They take the same edges, but these lead to chains that are not matched, as copied ones
    Successors,
}

impl Cause {
    /// Its name in reports
    pub fn name(self) -> &'static str {
        match self {
            Cause::Anchor => "Anchor",
            Cause::Operand => "Operand",
            Cause::Branch => "Branch",
            Cause::Condition => "Condition",
            Cause::Successors => "Successors",
        }
    }
}

/// Where the versions part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parting {
    /// The chains within which, or at the end of which, they do
    pub chains: PerVersion<ChainId>,
    /// What could not be proved
    pub cause: Cause,
    /// For each version the anchor or terminator that was compared
    pub at: PerVersion<InstId>,
    /// The innermost operands that are not proved the same
    pub unlike: Option<PerVersion<Operand>>,
    /// The chains have no anchors: they were no longer compared, which costs nothing if both lead
    /// to the same chains whatever is decided in them.
    pub is_silent: bool,
    /// The round in which this was found: what is not proved in the first one is so though all else
    /// that tracking says was taken to hold, and what is in a later one may only follow from that.
    pub round: usize,
}

/// All partings of two versions, and which of them costs a chain its match.
#[derive(Clone, Debug, Default)]
pub struct Partings {
    /// Those that only follow from others are left out
    pub all: Vec<Parting>,
    /// For each version and chain the first parting within which it is, or behind which it can be
    /// reached
    of_chain: PerVersion<TiVec<ChainId, Option<usize>>>,
}

impl Partings {
    /// Those that were found while the versions were matched, causes before what follows from them.
    pub fn new(proof: &Proof) -> Self {
        let of_chain =
            proof.proved().of.as_ref().map(|v| TiVec::from(vec![None; v.chains.chains.len()]));
        let mut partings = Partings { all: Vec::new(), of_chain };
        let places = order(proof);
        let mut found = proof.matching.partings.clone();
        let follows = |p: &Parting| p.cause == Cause::Successors;
        found.sort_by_key(|p| (p.round, follows(p), p.is_silent, places[p.chains.base]));
        for parting in found {
            if !follows(&parting) || !partings.has(proof, &parting) {
                partings.add(proof, parting);
            }
        }
        partings
    }

    /// The parting that costs an instruction its match, if one does.
    pub fn of_inst(&self, proof: &Proof, which: Version, inst: InstId) -> Option<usize> {
        let version = &proof.proved().of[which];
        proof
            .instances(which, inst)
            .into_iter()
            .find_map(|inst| self.of_chain[which][version.chains.of_inst(&version.graph, inst)?])
    }

    /// True if all that is lost behind a parting is behind another one, too.
    fn has(&self, proof: &Proof, parting: &Parting) -> bool {
        Version::BOTH.into_iter().any(|which| {
            let ahead = next_anchored(proof, which, parting.chains[which]);
            ahead.iter().any(|&chain| self.of_chain[which][chain].is_some())
        })
    }

    fn add(&mut self, proof: &Proof, parting: Parting) {
        let number = self.all.len();
        for which in Version::BOTH {
            let version = &proof.proved().of[which];
            let of_chain = &mut self.of_chain[which];
            of_chain[parting.chains[which]].get_or_insert(number);
            let mut work: Vec<ChainId> = version.successors(parting.chains[which]).collect();
            while let Some(chain) = work.pop() {
                let is_matched = proof.matching.of_chain[which][chain].is_some();
                if !is_matched && of_chain[chain].is_none() {
                    of_chain[chain] = Some(number);
                    work.extend(version.successors(chain));
                }
            }
        }
        self.all.push(parting);
    }
}

/// For each chain of base its place in reverse postorder.
fn order(proof: &Proof) -> TiVec<ChainId, usize> {
    let base = &proof.proved().of.base;
    let mut places = TiVec::from(vec![usize::MAX; base.chains.chains.len()]);
    for (place, block) in postorder(&base.live.successors).into_iter().rev().enumerate() {
        if let Some(chain) = base.chains.of_block[block] {
            places[chain] = places[chain].min(place);
        }
    }
    places
}

/// The first chains behind one that are not silent.
fn next_anchored(proof: &Proof, which: Version, chain: ChainId) -> Vec<ChainId> {
    let version = &proof.proved().of[which];
    let mut seen: HashSet<ChainId> = HashSet::default();
    let mut work: Vec<ChainId> = version.successors(chain).collect();
    let mut found = Vec::new();
    while let Some(chain) = work.pop() {
        if !seen.insert(chain) {
            continue;
        }
        if proof.proved().is_silent(which, chain) {
            work.extend(version.successors(chain));
        } else {
            found.push(chain);
        }
    }
    found
}

/// Why a pair's versions do not go on alike. `congruence` is none as long as the graphs alone say
/// that.
pub(super) fn parting(
    versions: &Versions,
    matching: &Matching,
    congruence: Option<&Congruence>,
    id: PairId,
) -> Parting {
    let pair = &matching.pairs[id];
    let last = PerVersion::from_fn(|w| versions.of[w].chains.last(pair.chains[w]));
    let terminators = PerVersion::from_fn(|w| versions.graph(w).terminator(last[w]));
    let does_same = |at: PerVersion<InstId>| {
        let [a, b] = Version::BOTH.map(|w| versions.graph(w).nodes[at[w]].operation);
        a == b
    };
    let anchors =
        PerVersion::from_fn(|w| versions.of[w].chains.chains[pair.chains[w]].anchors.as_slice());
    let most = anchors.base.len().max(anchors.opt.len());
    let mut places = (0..most).map(|n| anchors.map(|anchors| anchors.get(n).copied()));
    let differs = |at: &PerVersion<Option<InstId>>| match (at.base, at.opt) {
        (Some(base), Some(opt)) => {
            let at = PerVersion { base, opt };
            !congruence.map_or(does_same(at), |c| c.are_alike(versions, at))
        }
        _ => true,
    };
    let (cause, at) = match places.find(differs) {
        Some(next) => {
            let at = PerVersion::from_fn(|w| next[w].unwrap_or(terminators[w]));
            (if does_same(at) { Cause::Operand } else { Cause::Anchor }, at)
        }
        None => {
            let taken = PerVersion::from_fn(|w| &versions.of[w].live.taken[last[w]]);
            let are_switches = Version::BOTH
                .into_iter()
                .all(|w| versions.graph(w).nodes[terminators[w]].cases.is_some());
            let differ = |c: &Congruence| {
                pair.condition.is_some_and(|condition| !c.decide_alike(versions, condition))
            };
            let are_alike = does_same(terminators) && taken.base == taken.opt;
            let cause = if !are_switches && !are_alike {
                Cause::Branch
            } else if congruence.is_some_and(differ) {
                Cause::Condition
            } else {
                Cause::Successors
            };
            (cause, terminators)
        }
    };
    let has_operands = matches!(cause, Cause::Operand | Cause::Condition);
    let unlike = congruence.filter(|_| has_operands).map(|c| unlike(versions, matching, c, at));
    let is_silent = versions.are_silent(pair.chains);
    Parting { chains: pair.chains, cause, at, unlike, is_silent, round: 0 }
}

/// The innermost operands of two instructions that are not proved the same; the instructions' own
/// ones if there are more of the one than of the other.
fn unlike(
    versions: &Versions,
    matching: &Matching,
    congruence: &Congruence,
    at: PerVersion<InstId>,
) -> PerVersion<Operand> {
    let mut at = at;
    let mut result: Option<PerVersion<Operand>> = None;
    let mut seen: HashSet<(InstId, InstId)> = HashSet::default();
    for _ in 0..DEEPEST {
        let node = PerVersion::from_fn(|w| &versions.graph(w).nodes[at[w]]);
        let operands = PerVersion::from_fn(|w| versions.graph(w).operands(at[w]));
        let block = PerVersion::from_fn(|w| versions.graph(w).block(at[w]));
        let is_first = result.is_none();
        let choices = Version::BOTH.map(|w| choice(&versions.of[w], at[w]));
        let next: Option<PerVersion<Operand>> = if let [Some(base), Some(opt)] = choices
            && !(node.base.facts.is_phi() && node.opt.facts.is_phi())
        {
            let mut pairs = std::iter::zip(base, opt).map(|(base, opt)| PerVersion { base, opt });
            let number = |which: Version, operand| congruence.number(which, operand);
            pairs.find(|of| number(Version::Base, of.base) != number(Version::Opt, of.opt))
        } else if node.base.facts.is_phi() {
            let entered = PerVersion::from_fn(|w| matching.entered(versions, w, block[w]));
            let edges =
                entered.base.filter(|_| entered.base == entered.opt && node.opt.facts.is_phi());
            edges.and_then(|pair| incoming_unlike(versions, matching, congruence, pair, at))
        } else {
            let operands = compared(node, operands);
            let mut pairs = operands.into_iter().flatten();
            pairs.find(|&of| !congruence.are_congruent(versions, of, block))
        };
        let next = next.or_else(|| {
            let are_total = node.base.is_total && node.opt.is_total;
            are_total.then(|| leaves_unlike(versions, congruence, at)).flatten()
        });
        let Some(next) = next else { break };
        if !is_first && !seen.insert((at.base, at.opt)) {
            break;
        }
        result = Some(next);
        let definition = |which: Version| versions.graph(which).definition_of(next[which]);
        match (definition(Version::Base), definition(Version::Opt)) {
            (Some(base), Some(opt)) => at = PerVersion { base, opt },
            _ => break,
        }
    }
    result
        .unwrap_or_else(|| PerVersion::from_fn(|w| Operand::Value(versions.graph(w).result(at[w]))))
}

/// What decides a select, or a phi that a branch decides, and what it has either way.
fn choice(version: &VersionFacts, inst: InstId) -> Option<[Operand; 3]> {
    let graph = &version.graph;
    match *graph.operands(inst) {
        [condition, holds, fails] if graph.nodes[inst].facts.is_select() => {
            Some([condition, holds, fails])
        }
        _ if graph.nodes[inst].facts.is_phi() => {
            let gate = version.gates[graph.block(inst)].as_ref()?;
            let arm = |holds: bool| gate.arm(graph, inst, holds, |operand| operand);
            Some([gate.condition(graph)?, arm(true)?, arm(false)?])
        }
        _ => None,
    }
}

/// For each of two expressions the first value that it is made of and that the other one is not, if
/// both have one.
fn leaves_unlike(
    versions: &Versions,
    congruence: &Congruence,
    at: PerVersion<InstId>,
) -> Option<PerVersion<Operand>> {
    let leaves = PerVersion::from_fn(|w| {
        let graph = versions.graph(w);
        let mut leaves: Vec<ValueId> = Vec::new();
        let mut work = vec![(at[w], DEEPEST_EXPRESSION)];
        while let Some((inst, depth)) = work.pop() {
            for &operand in graph.operands(inst) {
                let Operand::Value(value) = operand else { continue };
                match graph.definition(value).filter(|&i| graph.nodes[i].is_total && depth > 0) {
                    Some(inst) => work.push((inst, depth - 1)),
                    None if leaves.contains(&value) => {}
                    None => leaves.push(value),
                }
            }
        }
        leaves.into_iter().map(|value| (value, congruence.of[w][value])).collect::<Vec<_>>()
    });
    let lacks = |w: Version| {
        let there = &leaves[w.other()];
        leaves[w].iter().find(|(_, number)| there.iter().all(|(_, other)| other != number))
    };
    let unlike = lacks(Version::Base).zip(lacks(Version::Opt));
    unlike.map(|(&(base, _), &(opt, _))| PerVersion {
        base: Operand::Value(base),
        opt: Operand::Value(opt),
    })
}

/// The operands that two instructions have in the same places, if they are the same operation but
/// for flags: comparisons are if one is the other's inverse, or has the operands swapped.
fn compared(
    nodes: PerVersion<&Node>,
    operands: PerVersion<&[Operand]>,
) -> Option<Vec<PerVersion<Operand>>> {
    let PerVersion { base, opt } = operands;
    let mut pairs: Vec<_> =
        base.iter().zip(opt).map(|(&base, &opt)| PerVersion { base, opt }).collect();
    let comparisons = [nodes.base, nodes.opt].map(|node| match node.boolean {
        Some(Boolean::Comparison { predicate, swapped, .. }) => Some((predicate, swapped)),
        _ => None,
    });
    if let [Some((of_base, base_swapped)), Some((of_opt, opt_swapped))] = comparisons {
        if base_swapped != opt_swapped
            && let [first, second] = &mut pairs[..]
        {
            std::mem::swap(&mut first.opt, &mut second.opt);
        }
        return (of_base == of_opt).then_some(pairs);
    }
    let is_same = nodes.base.operation == nodes.opt.operation && base.len() == opt.len();
    is_same.then_some(pairs)
}

/// What comes in at two phis of a pair's entries over the first edge on which that is not proved
/// the same.
fn incoming_unlike(
    versions: &Versions,
    matching: &Matching,
    congruence: &Congruence,
    pair: PairId,
    phis: PerVersion<InstId>,
) -> Option<PerVersion<Operand>> {
    let edges = matching.pairs[pair].incoming.iter();
    edges
        .filter_map(|&(from, place)| {
            let edge = &matching.pairs[from].out.as_ref()?[place];
            let over = |which: Version| {
                let walk = edge.walks[which].first()?;
                value_over(versions, congruence, which, phis[which], walk)
            };
            Some(PerVersion { base: over(Version::Base)?, opt: over(Version::Opt)? })
        })
        .find(|operands| {
            congruence.number(Version::Base, operands.base)
                != congruence.number(Version::Opt, operands.opt)
        })
}
