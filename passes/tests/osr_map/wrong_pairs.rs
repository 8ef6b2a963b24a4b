//! Pairs of values that are made wrong in the graph of the optimized version, as a defect in
//! reading it would make them: another operation, another state of memory. Unlike
//! [`super::mutants`], the IR stays as it is, so what only the graph says is changed alone.

use super::generator::Random;
use midflight_bridge::ir::Function;
use midflight_bridge::sandbox::Sandbox;
use midflight_ir::ids::InstId;
use midflight_mapping::proof::congruence::Congruence;
use midflight_mapping::proof::matching::Matching;
use midflight_mapping::proof::prove;
use midflight_mapping::versions::facts::Versions;
use midflight_mapping::versions::graph::{Access, Boolean, Graph, Oracle};
use midflight_mapping::versions::version::Version;
use midflight_passes::osr::map::optimize::TwoVersions;
use midflight_passes::osr::map::read::{Handles, read};
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
            wrong(&mut versions, &handles, &right, inst, random, tried).map_err(|what| {
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

fn wrong(
    versions: &mut Versions,
    handles: &Handles<'_, '_>,
    right: &(Matching, Congruence),
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
        return exchanged(versions, handles, right, inst, tried);
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
    let (what, count) = match other_access(versions.graph(Version::Opt), old.clobber, random) {
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

/// A select, or a phi that a branch decides, is not the same when what it chooses from is
/// exchanged.
fn exchanged(
    versions: &mut Versions,
    handles: &Handles<'_, '_>,
    right: &(Matching, Congruence),
    inst: InstId,
    tried: &mut Tried,
) -> Result<(), String> {
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
        _ => return Ok(()),
    };
    let Some(partner) = partner(versions, right, inst) else { return Ok(()) };
    let numbers = arms.map(|arm| right.1.number(Version::Opt, operands[arm]));
    let own = number(versions, &right.1, Version::Opt, inst);
    // What follows from its arms alone, or is equal to something older, is not known by them.
    let is_known = numbers[0] == numbers[1]
        || numbers.contains(&own)
        || right.1.of.base[..versions.of.base.graph.result(partner)].contains(&own)
        || facts.is_select() && handles.simplify(Version::Opt, inst, operands).is_some();
    if is_known {
        return Ok(());
    }
    tried.arms += 1;
    let body = Rc::make_mut(&mut versions.of.opt.graph.body);
    body.code.operands_mut(inst).swap(arms[0], arms[1]);
    let (_, congruence) = prove::matched(versions, handles);
    let is_accepted = is_same(versions, &congruence, inst, partner);
    versions.of.opt.graph.body = old;
    if is_accepted { Err("exchanged arms are taken for the same".to_string()) } else { Ok(()) }
}

/// A state of memory that is surely another one: the caller's for what an anchor has left, and that
/// of an anchor for the caller's.
fn other_access(graph: &Graph, old: Option<Access>, random: &mut Random) -> Option<Access> {
    match old? {
        Access::Def(_) => Some(Access::Entry),
        Access::Entry => {
            let writes = |i: &InstId| graph.nodes[*i].facts.is_anchor();
            let anchors: Vec<InstId> = graph.nodes.keys().filter(writes).collect();
            (!anchors.is_empty()).then(|| Access::Def(anchors[random.below(anchors.len())]))
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
