//! What passes did, as the six primitive actions of the thesis (4.2.5, Table 5.6): seen by value
//! handles and by comparing the versions, with the passes as they are.

use crate::osr::map::optimize::TwoVersions;
use crate::osr::map::read::Handles;
use midflight_bridge::sandbox::Fate;
use midflight_ir::dominators::dominators;
use midflight_ir::ids::{BlockId, InstId};
use midflight_mapping::proof::Proof;
use midflight_mapping::versions::facts::Versions;
use midflight_mapping::versions::graph::Operand;
use midflight_mapping::versions::version::Version;
use midflight_profile::osr_maps::report::{Actions, Claims};

/// Counts the actions between two versions.
pub fn actions(two: &TwoVersions<'_>, handles: &Handles<'_, '_>, versions: &Versions) -> Actions {
    let mut actions = Actions {
        add: versions.tracked.origin.iter().filter(|o| o.is_none()).count() as u64,
        ..Actions::default()
    };
    let all = two.base.blocks().flat_map(|b| b.instructions());
    for number in 0..all.count() {
        match two.tracker.fate(number) {
            Fate::Kept(_) => {}
            Fate::Deleted => actions.delete += 1,
            Fate::Replaced(value) => {
                actions.delete += 1;
                let replaced = &mut actions.replace_all;
                if value.is_constant() {
                    replaced.constant += 1;
                } else if value.as_instruction().is_some() {
                    replaced.instruction += 1;
                } else {
                    replaced.argument += 1;
                }
            }
        }
    }
    let dominators = dominators(&handles.snapshots.opt.body);
    for (from, to) in versions.tracked.kept.iter_enumerated() {
        let Some(to) = *to else { continue };
        match moved(versions, from, to) {
            Some((Some(old), new)) if dominators.dominates(new, old) => actions.hoist += 1,
            Some(_) => actions.sink += 1,
            None => {}
        }
        actions.replace_operand += replaced_operands(versions, from, to);
    }
    actions
}

/// Asks of each value that tracking says is another one whether that is proved.
pub fn claims<'m>(
    two: &TwoVersions<'m>,
    handles: &Handles<'_, 'm>,
    versions: &Versions,
    proof: &Proof,
) -> Claims {
    let mut claims = Claims::default();
    let (base, opt) = (&versions.of.base.graph, &versions.of.opt.graph);
    let all = two.base.blocks().flat_map(|b| b.instructions());
    for (number, inst) in all.enumerate() {
        let Some(from) = handles.snapshots.base.id_of(inst) else { continue };
        // What is never reached has no value.
        if !base.has_result(from) || !versions.of.base.live.reached[base.block(from)] {
            continue;
        }
        let own = proof.numbers(Version::Base, Operand::Value(base.result(from)));
        let is_same = |operand: Operand| own == proof.numbers(Version::Opt, operand);
        if let Some(to) = versions.tracked.kept[from] {
            if moved(versions, from, to).is_some() {
                claims.moved.add(is_same(Operand::Value(opt.result(to))));
            }
        } else if let Fate::Replaced(value) = two.tracker.fate(number)
            && let Some(operand) = handles.operand(Version::Opt, value)
        {
            claims.replaced.add(is_same(operand));
        }
    }
    claims
}

/// For an instruction that is in another block, what became of its old block, and the new one.
fn moved(versions: &Versions, from: InstId, to: InstId) -> Option<(Option<BlockId>, BlockId)> {
    let old = versions.tracked.blocks[versions.of.base.graph.block(from)];
    let new = versions.of.opt.graph.block(to);
    (old != Some(new)).then_some((old, new))
}

/// Operands that another one came in place of, while the instruction that gave it was kept.
fn replaced_operands(versions: &Versions, from: InstId, to: InstId) -> u64 {
    let (base, opt) = (&versions.of.base.graph, &versions.of.opt.graph);
    let pairs = base.operands(from).iter().zip(opt.operands(to));
    let differs = |&(a, b): &(&Operand, &Operand)| match (*a, *b) {
        (Operand::Constant(a), Operand::Constant(b)) => a != b,
        (Operand::Constant(_), Operand::Value(_)) => true,
        (Operand::Value(a), b) => {
            let kept = match base.definition(a) {
                Some(inst) => versions.tracked.kept[inst].map(|i| opt.result(i)),
                None => Some(a),
            };
            kept.is_some_and(|kept| b != Operand::Value(kept))
        }
    };
    pairs.filter(differs).count() as u64
}
