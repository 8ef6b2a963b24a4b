//! Pairs of values that are made wrong in the graph of the optimized version, as a defect in
//! reading it would make them: another operation, another state of memory. Unlike
//! [`super::mutants`], the IR stays as it is, so what only the graph says is changed alone.

use super::arms::differ;
use super::generator::Random;
use midflight_bridge::ir::Function;
use midflight_bridge::sandbox::Sandbox;
use midflight_ir::ids::InstId;
use midflight_mapping::proof::congruence::Congruence;
use midflight_mapping::proof::matching::Matching;
use midflight_mapping::proof::prove;
use midflight_mapping::versions::facts::Versions;
use midflight_mapping::versions::graph::{Access, Boolean, Oracle};
use midflight_mapping::versions::version::{PerVersion, Version};
use midflight_passes::osr::map::optimize::TwoVersions;
use midflight_passes::osr::map::read::{Handles, read};
use midflight_passes::read_code::CodeSnapshot;
use std::rc::Rc;

/// What was changed, and how often.
#[derive(Clone, Copy, Debug, Default)]
pub struct Tried {
    /// Operations of values
    pub operations: usize,
    /// Comparisons that became their inverse
    pub comparisons: usize,
    /// States of memory that loads read
    pub clobbers: usize,
    /// Operations of anchors
    pub anchors: usize,
    /// Those that do what others may do, too
    pub effects: usize,
    /// Those that fill memory
    pub fills: usize,
    /// What selects and phis choose from, exchanged
    pub arms: usize,
    /// Those of them that were taken for the same, and are that in all runs
    pub equal_arms: usize,
    /// Wrong pairs of values that tracking alone would accept
    pub claimed: usize,
}

impl Tried {
    /// All of them
    pub fn sum(&self) -> usize {
        self.operations + self.comparisons + self.clobbers + self.anchors + self.arms
    }
}

/// Makes up to `most` pairs of a function and its optimized version wrong, one at a time.
///
/// # Errors
/// The pair that was accepted all the same.
pub fn try_pairs(
    sandbox: &Sandbox,
    function: Function<'_>,
    pipeline: &str,
    random: &mut Random,
    most: usize,
    tried: &mut Tried,
) -> Result<(), String> {
    let two = TwoVersions::make(sandbox, function, pipeline)?;
    let snapshots = two.snapshots();
    let result = {
        let (mut versions, handles) = read(&snapshots, &two.tracker, sandbox, &[]);
        let right = prove::matched(&versions, &handles);
        let count = versions.of.opt.graph.nodes.len();
        (0..most).try_for_each(|_| {
            let inst = InstId::from(random.below(count));
            let of = (&mut versions, &handles, &right);
            wrong(of, &snapshots, inst, random, tried).map_err(|what| {
                let (_, blocks) = two.opt.texts().swap_remove(0);
                format!("{pipeline}: {what}: instruction {inst} of {}", blocks.join("; "))
            })
        })
    };
    sandbox.forget(two.base);
    sandbox.forget(two.opt);
    two.opt.erase();
    result
}

/// The instruction of base that an instruction of opt is taken for, if that says anything.
fn partner(versions: &Versions, right: &(Matching, Congruence), inst: InstId) -> Option<InstId> {
    let partner = versions.tracked.origin[inst]?;
    let own = number(versions, &right.1, Version::Opt, inst);
    let is_same = number(versions, &right.1, Version::Base, partner) == own
        && right.1.constant(own).is_none();
    (versions.of.opt.live.reached[versions.of.opt.graph.block(inst)] && is_same).then_some(partner)
}

fn number(versions: &Versions, congruence: &Congruence, which: Version, inst: InstId) -> u32 {
    congruence.of[which][versions.graph(which).result(inst)]
}

/// What both versions are, and what is proved of them
type Of<'a, 'm, 's> = (&'a mut Versions, &'a Handles<'m, 's>, &'a (Matching, Congruence));

fn wrong(
    (versions, handles, right): Of<'_, '_, '_>,
    snapshots: &PerVersion<CodeSnapshot<'_>>,
    inst: InstId,
    random: &mut Random,
    tried: &mut Tried,
) -> Result<(), String> {
    let old = versions.of.opt.graph.nodes[inst].clone();
    let segment = versions.of.opt.chains.segment[inst];
    if old.facts.is_anchor() {
        return wrong_anchor(versions, handles, right, inst, tried);
    }
    if old.facts.is_select() || old.facts.is_phi() {
        let Some(is_accepted) = exchanged(versions, handles, right, inst) else { return Ok(()) };
        tried.arms += 1;
        // The exchanged arms may be equal, by what they are made of or by what branches above say,
        // and where these contradict each other nothing ever comes there. The prover may know that.
        // So it is asked of runs, which know nothing of proofs: these must not tell the arms apart.
        if is_accepted && differ(snapshots, &versions.of.opt.graph.body, inst, random) {
            return Err("exchanged arms are taken for the same".to_string());
        }
        tried.equal_arms += usize::from(is_accepted);
        return Ok(());
    }
    let operands = versions.graph(Version::Opt).operands(inst);
    let is_plain = versions.of.opt.graph.has_result(inst)
        && !old.facts.is_pinned()
        && !old.facts.is_own()
        && !old.facts.is_pad_pointer()
        && old.linear.is_none()
        && old.copied.is_none()
        && old.constant.is_none()
        && handles.simplify(Version::Opt, inst, operands).is_none();
    let Some(partner) = partner(versions, right, inst).filter(|_| is_plain) else { return Ok(()) };
    // What is equal to something older is equal to that by a rule, not by being the same operation.
    let own = number(versions, &right.1, Version::Opt, inst);
    let older = versions.of.base.graph.result(partner);
    if right.1.of.base[..older].contains(&own) {
        return Ok(());
    }
    let access = other_access(versions, &right.1, PerVersion { base: partner, opt: inst }, random);
    let (what, count) = match access {
        Some(access) if random.one_in(2) => {
            // Between the same anchors loads read the same whatever wrote that.
            versions.of.opt.chains.segment[inst] = usize::MAX;
            versions.of.opt.graph.nodes[inst].clobber = Some(access);
            ("another state of memory", &mut tried.clobbers)
        }
        _ if old.clobber.is_some() => return Ok(()),
        _ => {
            let node = &mut versions.of.opt.graph.nodes[inst];
            // The prover sees what the IR says.
            node.is_total = false;
            match &mut node.boolean {
                Some(Boolean::Comparison { negated, .. }) => {
                    *negated = !*negated;
                    ("the inverse comparison", &mut tried.comparisons)
                }
                boolean => {
                    *boolean = None;
                    (node.operation, node.as_unsigned) = (u32::MAX, None);
                    ("another operation", &mut tried.operations)
                }
            }
        }
    };
    *count += 1;
    let accepted = |(_, congruence)| is_same(versions, &congruence, inst, partner);
    tried.claimed += usize::from(accepted(prove::claimed(versions, handles)));
    let is_accepted = accepted(prove::matched(versions, handles));
    versions.of.opt.graph.nodes[inst] = old;
    versions.of.opt.chains.segment[inst] = segment;
    if is_accepted { Err(format!("{what} is taken for the same")) } else { Ok(()) }
}

/// Whether an instruction of opt and one of base are taken for the same.
fn is_same(versions: &Versions, congruence: &Congruence, inst: InstId, partner: InstId) -> bool {
    number(versions, congruence, Version::Opt, inst)
        == number(versions, congruence, Version::Base, partner)
}

/// Whether a select, or a phi that a branch decides, is taken for the same when what it chooses
/// from is exchanged.
fn exchanged(
    versions: &mut Versions,
    handles: &Handles<'_, '_>,
    right: &(Matching, Congruence),
    inst: InstId,
) -> Option<bool> {
    let old = versions.of.opt.graph.body.clone();
    let facts = versions.of.opt.graph.nodes[inst].facts;
    let operands = old.code.operands(inst);
    let arms = match operands.len() {
        3 if facts.is_select() => [1, 2],
        2 if facts.is_phi()
            && versions.of.opt.gates[versions.of.opt.graph.block(inst)].is_some() =>
        {
            [0, 1]
        }
        _ => return None,
    };
    let partner = partner(versions, right, inst)?;
    let numbers = arms.map(|arm| right.1.number(Version::Opt, operands[arm]));
    let own = number(versions, &right.1, Version::Opt, inst);
    // What follows from its arms alone, or is equal to something older, is not known by them.
    let is_known = numbers[0] == numbers[1]
        || numbers.contains(&own)
        || right.1.of.base[..versions.of.base.graph.result(partner)].contains(&own)
        || facts.is_select() && handles.simplify(Version::Opt, inst, operands).is_some();
    if is_known {
        return None;
    }
    let body = Rc::make_mut(&mut versions.of.opt.graph.body);
    body.code.operands_mut(inst).swap(arms[0], arms[1]);
    let (_, congruence) = prove::matched(versions, handles);
    let is_accepted = is_same(versions, &congruence, inst, partner);
    versions.of.opt.graph.body = old;
    Some(is_accepted)
}

/// A state of memory in which an instruction of opt reads surely something else: the caller's for
/// what an anchor has left, and that of an anchor for the caller's. Not the one that the
/// instruction of base reads: where LLVM sees further in one of both versions, they read different
/// states, and are the same by the anchors that they run between. Nor that of a store of the very
/// value that is read: such a store leaves it in the place.
fn other_access(
    versions: &Versions,
    congruence: &Congruence,
    insts: PerVersion<InstId>,
    random: &mut Random,
) -> Option<Access> {
    let graph = versions.graph(Version::Opt);
    let clobber = |which: Version| versions.graph(which).nodes[insts[which]].clobber;
    let state = |which: Version, access| congruence.access(versions, which, access);
    let of_base = clobber(Version::Base).map(|access| state(Version::Base, access));
    let is_other = |access: &Access| Some(state(Version::Opt, *access)) != of_base;
    let own = number(versions, congruence, Version::Opt, insts.opt);
    let stores_own = |store: InstId| {
        let stored = graph.operands(store).first();
        let stored = stored.map(|&operand| congruence.number(Version::Opt, operand));
        graph.nodes[store].facts.is_store() && stored == Some(own)
    };
    match clobber(Version::Opt)? {
        Access::Def(_) => Some(Access::Entry).filter(is_other),
        Access::Entry => {
            let writes = |i: &InstId| graph.nodes[*i].facts.is_anchor() && !stores_own(*i);
            let anchors = graph.nodes.keys().filter(writes).map(Access::Def);
            let anchors: Vec<Access> = anchors.filter(is_other).collect();
            (!anchors.is_empty()).then(|| anchors[random.below(anchors.len())])
        }
        Access::Phi(_) => None,
    }
}

/// An anchor that does something else is matched with nothing, nor is what comes behind it.
fn wrong_anchor(
    versions: &mut Versions,
    handles: &Handles<'_, '_>,
    right: &(Matching, Congruence),
    inst: InstId,
    tried: &mut Tried,
) -> Result<(), String> {
    let matched = |versions: &Versions, matching: &Matching| {
        let version = &versions.of.opt;
        let chain = version.chains.of_inst(&version.graph, inst)?;
        let place = version.chains.chains[chain].anchors.iter().position(|&a| a == inst)?;
        let pair = matching.of_chain.opt[chain]?;
        (place < matching.pairs[pair].prefix).then_some(())
    };
    if matched(versions, &right.0).is_none() {
        return Ok(());
    }
    tried.anchors += 1;
    let node = &mut versions.of.opt.graph.nodes[inst];
    let old = std::mem::replace(&mut node.operation, u32::MAX);
    let (effect, fills) = (node.effect.clone(), node.fills);
    if let Some(effect) = &mut node.effect {
        effect.what = u32::MAX;
        tried.effects += 1;
    }
    if let Some(fill) = &mut node.fills {
        fill.what = u32::MAX;
        tried.fills += 1;
    }
    let (matching, _) = prove::matched(versions, handles);
    let node = &mut versions.of.opt.graph.nodes[inst];
    (node.operation, node.effect, node.fills) = (old, effect, fills);
    match matched(versions, &matching) {
        Some(()) => Err("an anchor that does something else is matched".to_string()),
        None => Ok(()),
    }
}
