//! The stages of a proof, in order.
//!
//! What tracking says of chains is matched ([`super::bisimulation`]); under the matching values are
//! numbered ([`super::round`]); what the numbers refute is taken out of the matching, until nothing
//! is. Where that leaves instructions that do not run together, stores that only one version has
//! are left out of account ([`super::lone`]), and all is proved anew.

use crate::proof::Proof;
use crate::proof::bisimulation::Candidate;
use crate::proof::congruence::Congruence;
use crate::proof::guesses::Refuted;
use crate::proof::lone::{
    Candidates, candidates, is_at_parting, likely_lone, pending, set_lone, sort,
};
use crate::proof::matching::Matching;
use crate::proof::pending::Pending;
use crate::proof::places::{Contents, are_in_partings, lost_loads, see_places};
use crate::proof::round::Round;
use crate::proof::shape::{Shape, shapes};
use crate::unfold::product::reached;
use crate::unfold::projected::Projected;
use crate::unfold::{Fold, Product};
use crate::versions::facts::Versions;
use crate::versions::graph::Oracle;
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::InstId;

/// Rounds until a matching and its congruence are given up.
const MOST_ROUNDS: usize = 64;

/// Lone stores of a function, with more it has none
const MOST_LONE: usize = 128;

/// How often all is proved anew for loads that are seen by their places: what these are may let
/// addresses of further ones be the same
const MOST_PLACES_ROUNDS: usize = 3;

/// The same for lone stores
const MOST_LONE_ROUNDS: usize = 12;

/// What unfolding has come to.
#[derive(Default)]
struct Unfolding {
    /// What is proved, and how much runs together, if that is more than without
    proof: Option<(Proof, usize)>,
    /// Stores that may be lone, where copies part
    likely: Candidates,
}

impl Proof {
    /// Proves what it can: of the versions as they are, and if not all is matched then, of unfolded
    /// ones. What says more is taken.
    pub fn new(versions: Versions, oracle: &dyn Oracle) -> Self {
        let proof = Proof::one_to_one(versions, oracle);
        proof.unfolded(oracle).unwrap_or(proof)
    }

    /// The same, without copies.
    pub fn one_to_one(mut versions: Versions, oracle: &dyn Oracle) -> Self {
        let (matching, congruence, pending) =
            matched_with_lone(&mut versions, oracle, Needed::default(), &extent);
        Proof { versions, product: None, matching, congruence, pending }
    }

    /// What is proved of unfolded versions, if that is more.
    fn unfolded(&self, oracle: &dyn Oracle) -> Option<Self> {
        if !self.matching.has_parted() && !self.matching.leaves_chains(&self.versions) {
            return None;
        }
        let alone = extent(&self.versions, &self.matching);
        let Unfolding { proof: plain, likely: of_copies } =
            self.unfolded_along(&PerVersion::default(), alone, oracle);
        // The walk along which they are unfolded stops at stores that only one version has.
        let mut likely = likely_lone(&self.versions, &self.matching, &self.congruence);
        Version::BOTH.iter().for_each(|&which| likely[which].extend(&of_copies[which]));
        sort(&mut likely);
        let may_help = plain.as_ref().is_none_or(|(proof, _)| proof.matching.has_parted())
            && likely.iter().any(|stores| !stores.is_empty());
        let without = plain.as_ref().map_or(alone, |&(_, extent)| extent);
        let along = may_help.then(|| self.unfolded_along(&likely, without, oracle).proof).flatten();
        along.or(plain).map(|(proof, _)| proof)
    }

    /// The same, if the walk along which versions are unfolded leaves out these stores, with how
    /// much that is.
    fn unfolded_along(
        &self,
        left_out: &PerVersion<Vec<InstId>>,
        without: usize,
        oracle: &dyn Oracle,
    ) -> Unfolding {
        let mut versions = self.versions.clone();
        let leaves_out = left_out.iter().any(|stores| !stores.is_empty());
        if versions.has_lone || leaves_out {
            set_lone(&mut versions, left_out, oracle);
        }
        let lost = lost_loads(&versions, &self.congruence);
        see_places(&mut versions, &lost);
        let Some(mut product) = Product::new(&versions, oracle) else {
            return Unfolding::default();
        };
        if leaves_out {
            set_lone(&mut versions, &PerVersion::default(), oracle);
            see_places(&mut versions, &lost);
        }
        let Product { versions: unfolded, folds } = &mut product;
        let graphs = unfolded.of.as_ref().map(|version| version.graph.clone());
        let projected = Projected { oracle, folds, graphs: graphs.as_ref() };
        let count = |unfolded: &Versions, matching: &Matching| {
            extent_of_product(&versions, unfolded, folds, matching)
        };
        // Where nothing parts, unfolding can only let run together what is crossed: blocks alone
        // show whether it does, if no stores are left out.
        if !self.matching.has_parted() && !leaves_out && !self.versions.has_lone {
            let structure = unfolded.settled_structure(unfolded.candidates(), &mut Vec::new());
            if count(unfolded, &structure) <= without {
                return Unfolding::default();
            }
        }
        // What copies alone do not improve is tried again with the stores that may be lone.
        let needed = Needed { least: without + 1, at_once: !leaves_out };
        let (matching, congruence, pending) =
            matched_with_lone(unfolded, &projected, needed, &count);
        let extent = count(unfolded, &matching);
        // Those that were left out are not to be tried again.
        let likely = match matching.has_parted() && !leaves_out {
            true => likely_lone(unfolded, &matching, &congruence),
            false => Candidates::default(),
        };
        let of = |which: Version, store: &InstId| folds[which].insts[*store];
        let likely = PerVersion::from_fn(|w| likely[w].iter().map(|s| of(w, s)).collect());
        if extent <= without {
            return Unfolding { proof: None, likely };
        }
        for which in Version::BOTH {
            let insts = unfolded.of[which].graph.nodes.iter_enumerated();
            for (inst, _) in insts.filter(|(_, node)| node.reads_lone) {
                versions.of[which].graph.nodes[folds[which].insts[inst]].reads_lone = true;
            }
        }
        let proof = Proof { versions, product: Some(product), matching, congruence, pending };
        Unfolding { proof: Some((proof, extent)), likely }
    }

    /// What tracking says, unchecked.
    pub fn claimed(versions: Versions, oracle: &dyn Oracle) -> Self {
        let (matching, congruence) = claimed(&versions, oracle);
        Proof { versions, product: None, matching, congruence, pending: Pending::default() }
    }
}

/// How much a matching matches, as a number of instructions
type Extent<'a> = &'a dyn Fn(&Versions, &Matching) -> usize;

/// Matches the versions as they are, and numbers their values.
pub fn matched(versions: &Versions, oracle: &dyn Oracle) -> (Matching, Congruence) {
    matched_if_enough(versions, oracle, 0, &extent)
}

/// The same, until it is known that less than `least` is matched: then what comes is no more than
/// that, but it is not proved.
fn matched_if_enough(
    versions: &Versions,
    oracle: &dyn Oracle,
    least: usize,
    extent: Extent<'_>,
) -> (Matching, Congruence) {
    let mut candidates = versions.candidates();
    let shapes = shapes(versions);
    let mut refuted = Refuted::default();
    let mut partings = Vec::new();
    let mut numbered: Option<Congruence> = None;
    let mut likely = PerVersion::default();
    for round in 0..MOST_ROUNDS {
        let known = partings.len();
        let mut matching = versions.settled_structure(candidates, &mut partings);
        if let Some(mut congruence) = numbered.take_if(|_| extent(versions, &matching) < least) {
            congruence.likely = likely;
            matching.parted = versions.parted(&matching, |_| false);
            matching.partings = partings;
            return (matching, congruence);
        }
        let mut congruence = congruence(versions, &matching, oracle, &shapes, &mut refuted);
        let (kept, dropped) = versions.check(&matching, &congruence, &mut partings);
        partings[known..].iter_mut().for_each(|parting| parting.round = round);
        if dropped {
            refuted = Refuted::default();
        }
        let before: Vec<Candidate> = matching.pairs.iter().map(|p| (p.chains, p.prefix)).collect();
        if !dropped && kept == before {
            congruence.likely = likely;
            matching.parted = versions.parted(&matching, |id| matching.pairs[id].out.is_some());
            matching.partings = partings;
            return (matching, congruence);
        }
        if round == 0 {
            likely.clone_from(&congruence.of);
        }
        candidates = kept;
        numbered = Some(congruence);
    }
    let mut matching = versions.structure(&[]);
    matching.parted = versions.parted(&matching, |_| true);
    let congruence = congruence(versions, &matching, oracle, &shapes, &mut Refuted::default());
    (matching, congruence)
}

/// What tracking says, unchecked: blocks that were kept run together, and instructions that were
/// kept give the same values.
pub fn claimed(versions: &Versions, oracle: &dyn Oracle) -> (Matching, Congruence) {
    let matching = versions.structure(&versions.candidates());
    let shapes = shapes(versions);
    let mut congruence = congruence(versions, &matching, oracle, &shapes, &mut Refuted::default());
    let PerVersion { base, opt } = versions.of.as_ref().map(|version| &version.graph);
    for (from, to) in versions.tracked.kept.iter_enumerated() {
        if let Some(to) = *to {
            let number = congruence.of.base[base.result(from)];
            congruence.set(versions, Version::Opt, opt.result(to), number);
        }
    }
    (matching, congruence)
}

/// Numbers the values of two versions under a matching. `shapes` is the same under all matchings;
/// of the guesses, `refuted` has those that are known not to hold, and those that are found not to.
fn congruence(
    versions: &Versions,
    matching: &Matching,
    oracle: &dyn Oracle,
    shapes: &PerVersion<Shape>,
    refuted: &mut Refuted,
) -> Congruence {
    let congruence = Congruence::new(versions, matching);
    let mut round = Round::new(versions, matching, oracle, shapes, congruence, refuted);
    if Version::BOTH.into_iter().all(|which| round.settle(which, refuted)) {
        round.settle_cases();
        round.settle_uses();
        round.settle_ways();
        return round.congruence;
    }
    // Nothing is proved: each value is equal to itself alone.
    let mut congruence = round.congruence;
    congruence.contents = Contents::default();
    for which in Version::BOTH {
        for inst in versions.graph(which).nodes.keys() {
            let number = congruence.layout.values[which] + u32::from(inst);
            congruence.set(versions, which, versions.graph(which).result(inst), number);
        }
    }
    congruence
}

/// How much must be matched to be of use.
#[derive(Clone, Copy, Default)]
struct Needed {
    least: usize,
    /// Without lone stores
    at_once: bool,
}

/// Makes stores of one version lone where that can be proved and is of use, and matches the
/// versions. What matches less than is needed may not be proved.
fn matched_with_lone(
    versions: &mut Versions,
    oracle: &dyn Oracle,
    needed: Needed,
    extent: Extent<'_>,
) -> (Matching, Congruence, Pending) {
    let (mut matching, mut congruence) = matched_if_enough(versions, oracle, needed.least, extent);
    let mut without = extent(versions, &matching);
    if needed.at_once && without < needed.least {
        return (matching, congruence, Pending::default());
    }
    let mut seen = PerVersion::default();
    for _ in 0..MOST_PLACES_ROUNDS {
        let lost = lost_loads(versions, &congruence);
        if without < needed.least
            || !matching.has_parted()
            || lost == seen
            || !are_in_partings(versions, &matching.partings, &lost)
        {
            break;
        }
        see_places(versions, &lost);
        let with = matched_if_enough(versions, oracle, without + 1, extent);
        let extent = extent(versions, &with.0);
        if extent <= without {
            break;
        }
        ((matching, congruence), without, seen) = (with, extent, lost);
    }
    let with = match matching.has_parted() {
        true => {
            let least = needed.least.max(without + 1);
            with_lone(versions, (&matching, &congruence), least, oracle, extent)
        }
        false => None,
    };
    if let Some(with) = with {
        return with;
    }
    if versions.has_lone {
        set_lone(versions, &PerVersion::default(), oracle);
    }
    see_places(versions, &seen);
    (matching, congruence, Pending::default())
}

/// Number of instructions that run together
fn extent(versions: &Versions, matching: &Matching) -> usize {
    let count = |which: Version| {
        let insts = versions.graph(which).nodes.keys();
        insts.filter(|&inst| is_matched(versions, matching, which, inst)).count()
    };
    count(Version::Base) + count(Version::Opt)
}

/// True for an instruction that runs together with the other version.
fn is_matched(versions: &Versions, matching: &Matching, which: Version, inst: InstId) -> bool {
    matching.segment(versions, which, inst).is_some()
}

/// Number of instructions all of whose copies run together with the other version
fn extent_of_product(
    versions: &Versions,
    unfolded: &Versions,
    folds: &PerVersion<Fold>,
    matching: &Matching,
) -> usize {
    let count = |which: Version| {
        let is_matched = |&inst: &InstId| {
            let mut copies = reached(unfolded, folds, which, inst).peekable();
            copies.peek().is_some()
                && copies.all(|copy| is_matched(unfolded, matching, which, copy))
        };
        versions.graph(which).nodes.keys().filter(is_matched).count()
    };
    count(Version::Base) + count(Version::Opt)
}

/// The matching with lone stores, if at least so much runs together then: of the places that are
/// written to where the versions part, as long as that helps.
fn with_lone(
    versions: &mut Versions,
    (matching, congruence): (&Matching, &Congruence),
    least: usize,
    oracle: &dyn Oracle,
    extent: Extent<'_>,
) -> Option<(Matching, Congruence, Pending)> {
    let mut groups = candidates(versions, congruence);
    let mut chosen = Candidates::default();
    let mut partings = matching.partings.clone();
    let mut has_failed = false;
    let mut best: Option<(usize, Candidates, (Matching, Congruence, Pending))> = None;
    let mut set = Candidates::default();
    for _ in 0..MOST_LONE_ROUNDS {
        let (now, later): (Vec<_>, Vec<_>) =
            groups.into_iter().partition(|group| is_at_parting(versions, &partings, group));
        groups = later;
        let is_new = !now.is_empty();
        for which in Version::BOTH {
            now.iter().for_each(|group| chosen[which].extend(&group[which]));
            chosen[which].sort_unstable();
        }
        let count = chosen.iter().map(Vec::len).sum::<usize>();
        let is_known = !is_new && !has_failed;
        if is_known || chosen.iter().any(Vec::is_empty) || count > MOST_LONE {
            break;
        }
        set_lone(versions, &chosen, oracle);
        set.clone_from(&chosen);
        // Where the versions' structure parts them before, nothing of this round is of use but
        // that.
        let mut parted = Vec::new();
        let structure = versions.settled_structure(versions.candidates(), &mut parted);
        if extent(versions, &structure) < least {
            (partings, has_failed) = (parted, false);
            continue;
        }
        let (matching, congruence) = matched(versions, oracle);
        let (pending, failed) = pending(versions, &matching, &congruence, oracle, &chosen);
        has_failed = !failed.is_empty();
        if !has_failed {
            let extent = extent(versions, &matching);
            // Of several reasons why versions part each may have to go before more is matched.
            if extent < best.as_ref().map_or(0, |&(extent, ..)| extent) {
                break;
            }
            partings.clone_from(&matching.partings);
            best = Some((extent, chosen.clone(), (matching, congruence, pending)));
        } else if groups.iter().any(|group| is_at_parting(versions, &matching.partings, group)) {
            // They may fail only since the versions part behind them.
            (partings, has_failed) = (matching.partings, false);
        } else {
            for which in Version::BOTH {
                chosen[which].retain(|&store| !failed.contains(&(which, store)));
            }
            partings = Vec::new();
        }
    }
    let (_, lone, found) = best.filter(|&(extent, ..)| extent >= least)?;
    if lone != set {
        set_lone(versions, &lone, oracle);
    }
    Some(found)
}
