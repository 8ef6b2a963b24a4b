//! What is taken to be the same until it is refuted: values of a cycle that came apart while the
//! rest was not settled would never come together by themselves.

use crate::proof::candidates::{Candidate, Candidates};
use crate::proof::matching::{Matching, Pair};
use crate::proof::places::AtHead;
use crate::versions::facts::Versions;
use crate::versions::graph::{Graph, Operand};
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::{BlockId, InstId};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use typed_index_collections::TiVec;

/// Guesses
pub(super) struct Guesses {
    /// For each phi of opt, and each load or operation that came in the place of a phi, the phi of
    /// base that it is, as tracking says, or what is used in the same place
    pub(super) phis: TiVec<InstId, Option<InstId>>,
    /// For phis of opt of which tracking says nothing, phis of base that they may be, by what comes
    /// in. The last one is the guess.
    pub(super) others: HashMap<InstId, Vec<InstId>>,
    /// For each operation that is taken for a phi of base what phis that it is made of may be if it
    /// is not
    pub(super) before: HashMap<InstId, Vec<(InstId, Vec<InstId>)>>,
    /// For phis of opt that are new what they may have: what base has in memory there
    /// (see [`super::round::contents`]). The last one is the guess.
    pub(super) contents: HashMap<InstId, Vec<AtHead>>,
    /// For places at heads of blocks of opt the same place of base
    pub(super) places: HashMap<AtHead, AtHead>,
    /// For each block of opt the block of base at whose head the same states of memory meet
    pub(super) memory: TiVec<BlockId, Option<BlockId>>,
}

impl Guesses {
    /// The phi of base that a phi of opt is taken for.
    pub(super) fn phi(&self, phi: InstId) -> Option<InstId> {
        self.phis[phi].or_else(|| self.others.get(&phi)?.last().copied())
    }
}

/// Those of phis and of memory that did not hold under a matching: they do not hold either if less
/// is matched.
#[derive(Clone, Debug, Default)]
pub(super) struct Refuted {
    pub(super) phis: HashSet<InstId>,
    pub(super) memory: HashSet<BlockId>,
}

/// One of them, by the side of opt.
#[derive(Clone, Copy)]
pub(super) enum Guess {
    Phi(InstId),
    Memory(BlockId),
    Place(AtHead),
}

/// Phis that one of opt may be
const MOST_OTHERS: usize = 4;

/// Phis are looked through that have one value so far.
const DEEPEST_COPY: usize = 8;

/// The phis of base that come in the same as one of opt, or a part of that, as far as tracking says
/// so; the likeliest last.
fn alike(versions: &Versions, phi: InstId, all: impl Iterator<Item = InstId>) -> Vec<InstId> {
    let PerVersion { base, opt } = versions.of.as_ref().map(|version| &version.graph);
    let tracked = &versions.tracked;
    let is_same = |of_base: Operand, of_opt: Operand| match (of_base, of_opt) {
        (Operand::Value(a), Operand::Value(b)) => match (base.definition(a), opt.definition(b)) {
            (None, None) => a == b,
            (Some(a), Some(b)) => {
                tracked.kept[a] == Some(b)
                    || tracked.replaced[a] == Some(b)
                    || tracked.origin[b] == Some(a)
            }
            _ => false,
        },
        (a, b) => a == b,
    };
    let of_opt: Vec<Vec<Operand>> = opt.operands(phi).iter().map(|&o| copied(opt, o)).collect();
    let mut found: Vec<(usize, InstId)> = all
        .filter(|&other| base.nodes[other].data_type == opt.nodes[phi].data_type)
        .map(|other| {
            let of_base: Vec<Operand> =
                base.operands(other).iter().flat_map(|&o| copied(base, o)).collect();
            let is_of_base = |&b: &Operand| of_base.iter().any(|&a| is_same(a, b));
            let comes_in = |copied: &&Vec<Operand>| copied.iter().any(is_of_base);
            (of_opt.iter().filter(comes_in).count(), other)
        })
        .filter(|&(count, _)| count > 0)
        .collect();
    found.sort_by_key(|&(count, other)| (count, std::cmp::Reverse(other)));
    let first = found.len().saturating_sub(MOST_OTHERS);
    found[first..].iter().map(|&(_, other)| other).collect()
}

/// An operand, and what it is a copy of, as far as phis have one value only.
fn copied(graph: &Graph, operand: Operand) -> Vec<Operand> {
    let copied = |&operand: &Operand| {
        let phi = graph.definition_of(operand)?;
        graph.nodes[phi].facts.is_phi().then(|| only(graph, phi))?
    };
    std::iter::successors(Some(operand), copied).take(DEEPEST_COPY).collect()
}

/// What comes in at a phi, if that is one value only.
pub(super) fn only(graph: &Graph, phi: InstId) -> Option<Operand> {
    match *graph.operands(phi) {
        [first, ref rest @ ..] if rest.iter().all(|&other| other == first) => Some(first),
        _ => None,
    }
}

/// True for an instruction on a phi of these blocks, or on an operation on one.
fn is_of_phi(graph: &Graph, inst: InstId, blocks: &[BlockId]) -> bool {
    let definitions = |inst: InstId| {
        graph.operands(inst).iter().filter_map(|&operand| graph.definition_of(operand))
    };
    let is_phi =
        |inst: InstId| graph.nodes[inst].facts.is_phi() && blocks.contains(&graph.block(inst));
    definitions(inst)
        .any(|of| is_phi(of) || (!graph.nodes[of].facts.is_phi() && definitions(of).any(is_phi)))
}

/// The phi of base that is a candidate of an operation of opt on phis, at the entries of whose pair
/// it is: an operation that all ways in did may have been sunk behind them.
fn sunk(
    versions: &Versions,
    matching: &Matching,
    operation: InstId,
    candidate: Candidate,
) -> Option<InstId> {
    let (base, opt) = (&versions.of.base.graph, &versions.of.opt);
    opt.graph.nodes[operation].is_total.then_some(())?;
    let phi = base.definition_of(candidate.operand).filter(|_| !candidate.negated)?;
    base.nodes[phi].facts.is_phi().then_some(())?;
    let pair = matching.entered(versions, Version::Base, base.block(phi))?;
    let Pair { chains, entries, .. } = &matching.pairs[pair];
    let is_below = opt.scopes.dominates(opt.chains.head(chains.opt), opt.graph.block(operation));
    (is_below && is_of_phi(&opt.graph, operation, &entries.opt)).then_some(phi)
}

/// All that may be guessed: at the entries of pairs.
pub(super) fn guesses(
    versions: &Versions,
    matching: &Matching,
    candidates: &Candidates,
    refuted: &Refuted,
) -> Guesses {
    let opt = &versions.of.opt.graph;
    let mut guesses = Guesses {
        phis: vec![None; opt.nodes.len()].into(),
        others: HashMap::default(),
        before: HashMap::default(),
        contents: HashMap::default(),
        places: HashMap::default(),
        memory: vec![None; opt.blocks.len()].into(),
    };
    let tracked = &versions.tracked;
    for (id, pair) in matching.pairs.iter_enumerated() {
        for base in matching.entry_phis(versions, Version::Base, id) {
            let Some(phi) = tracked.kept[base].or(tracked.replaced[base]) else { continue };
            let node = &opt.nodes[phi];
            let is_entry = node.facts.is_phi() && pair.entries.opt.contains(&opt.block(phi));
            // A load reads what memory has at the head, an operation may have been sunk.
            let at_head = versions.of.opt.chains.of_inst(opt, phi) == Some(pair.chains.opt);
            let head = versions.of.opt.chains.head(pair.chains.opt);
            let is_below =
                || node.is_total && versions.of.opt.scopes.dominates(head, opt.block(phi));
            let is_behind = ((node.facts.is_load() && at_head) || is_below())
                && is_of_phi(opt, phi, &pair.entries.opt);
            if is_entry || is_behind {
                guesses.phis[phi] = Some(base);
            }
        }
        let all = |w: Version| matching.entry_phis(versions, w, id);
        for phi in all(Version::Opt).filter(|&phi| guesses.phis[phi].is_none()) {
            let others = alike(versions, phi, all(Version::Base));
            if !others.is_empty() && !refuted.phis.contains(&phi) {
                guesses.others.insert(phi, others);
            }
        }
        let [base, opt] = Version::BOTH.map(|w| {
            let blocks = pair.entries[w].iter().copied();
            blocks.filter(move |&b| versions.graph(w).blocks[b].memory_phi.is_some())
        });
        opt.zip(base).for_each(|(opt, base)| guesses.memory[opt] = Some(base));
    }
    for (inst, candidates) in candidates.opt.iter_enumerated() {
        if guesses.phis[inst].is_none() {
            let mut candidates = candidates.iter();
            let phi = candidates.find_map(|&candidate| sunk(versions, matching, inst, candidate));
            let Some(base) = phi.filter(|_| !refuted.phis.contains(&inst)) else { continue };
            guesses.phis[inst] = Some(base);
            // What that is made of is not the same.
            for phi in opt.operands(inst).iter().filter_map(|&operand| opt.definition_of(operand)) {
                if let Some(others) = guesses.others.get_mut(&phi) {
                    guesses.before.entry(inst).or_default().push((phi, others.clone()));
                    others.retain(|&other| other != base);
                }
            }
        }
    }
    refuted.phis.iter().for_each(|&phi| guesses.phis[phi] = None);
    refuted.memory.iter().for_each(|&block| guesses.memory[block] = None);
    guesses
}
