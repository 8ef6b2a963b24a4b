//! Points that say more than all of them do: those in chains that passes changed, those at the
//! heads of loops, and all by how often they ran.

use crate::osr::map::read::Handles;
use crate::osr::map::report::Direction;
use midflight_bridge::sandbox::Sandbox;
use midflight_ir::code::Operand;
use midflight_ir::dominators::dominators;
use midflight_ir::ids::{BlockId, InstId};
use midflight_ir::loops::loops;
use midflight_mapping::mapping::mapper::Mapper;
use midflight_mapping::versions::chains::{Chain, ChainId};
use midflight_mapping::versions::facts::Versions;
use midflight_mapping::versions::version::{PerVersion, Version};
use midflight_profile::osr_maps::Both;
use midflight_profile::osr_maps::report::Parts;
use typed_index_collections::TiVec;

/// At how many of them OSR is possible.
pub(super) fn parts(
    mapper: &Mapper<'_>,
    handles: &Handles<'_, '_>,
    sandbox: &Sandbox,
    directions: &PerVersion<Direction>,
) -> Both<Parts> {
    let versions = &mapper.proof.versions;
    let changed = changed_chains(versions);
    Both::from_fn(|from| {
        let version = &versions.of[from];
        let graph = &version.graph;
        let counts = block_counts(handles, sandbox, from);
        let found = loops(&graph.body, &dominators(&graph.body));
        let mut is_header = TiVec::<BlockId, bool>::from(vec![false; graph.blocks.len()]);
        found.loops.iter().for_each(|found| is_header[found.header] = true);
        let mut parts = Parts::default();
        for point in directions[from].counted() {
            let at = mapper.sides[from].points[point].at;
            let block = graph.block(at);
            let is_feasible = directions[from].is_feasible(point);
            if version.chains.of_block[block].is_some_and(|chain| changed[from][chain]) {
                parts.changed.add(1, is_feasible);
            }
            if is_header[block] && graph.body.code.first_non_phi(block) == at {
                parts.headers.add(1, is_feasible);
            }
            if let Some(counts) = &counts {
                parts.executed.get_or_insert_default().add(counts[block], is_feasible);
            }
        }
        parts.executed_unreached = counts.map(|counts| {
            let unreached = directions[from].unreached();
            let blocks = unreached.map(|p| graph.block(mapper.sides[from].points[p].at));
            // Clang adds one to each weight, so that what never ran seems to have run once.
            blocks.map(|block| counts[block]).filter(|&count| count > 1).sum()
        });
        parts
    })
}

/// How often each block ran, if the version has a profile.
fn block_counts(
    handles: &Handles<'_, '_>,
    sandbox: &Sandbox,
    which: Version,
) -> Option<TiVec<BlockId, u64>> {
    let snapshot = handles.snapshots[which];
    let counts = snapshot.function.block_counts(sandbox)?;
    let mut result = TiVec::from(vec![0; snapshot.blocks.len()]);
    for (block, count) in snapshot.function.blocks().zip(counts) {
        if let Some(id) = snapshot.ids().block(block) {
            result[id] = count;
        }
    }
    Some(result)
}

/// For each version and chain whether it is not what it is in the other version: the same
/// instructions on the same operands, whatever blocks they are in.
fn changed_chains(versions: &Versions) -> PerVersion<TiVec<ChainId, bool>> {
    let PerVersion { base, opt } = &versions.of;
    let mut changed =
        PerVersion::from_fn(|w| TiVec::from(vec![true; versions.of[w].chains.chains.len()]));
    for (id, chain) in base.chains.chains.iter_enumerated() {
        let insts = insts_of(versions, Version::Base, chain);
        let there = insts.first().and_then(|&first| versions.tracked.kept[first]);
        let there = there.and_then(|inst| opt.chains.of_inst(&opt.graph, inst));
        let Some(there) = there else { continue };
        let others = insts_of(versions, Version::Opt, &opt.chains.chains[there]);
        let is_same = insts.len() == others.len()
            && insts.iter().zip(&others).all(|(&base, &opt)| is_kept(versions, base, opt));
        if is_same {
            (changed.base[id], changed.opt[there]) = (false, false);
        }
    }
    changed
}

/// The instructions of a chain, but for branches from one of its blocks to the next.
fn insts_of(versions: &Versions, which: Version, chain: &Chain) -> Vec<InstId> {
    let graph = versions.graph(which);
    let (last, others) = chain.blocks.split_last().expect("a chain has blocks");
    let of_others = others.iter().flat_map(|&block| {
        let branch = graph.terminator(block);
        graph.insts(block).iter().filter(move |&inst| inst != branch)
    });
    of_others.chain(graph.insts(*last)).collect()
}

/// True if an instruction is what it was.
fn is_kept(versions: &Versions, base: InstId, opt: InstId) -> bool {
    let tracked = &versions.tracked;
    let PerVersion { base: of_base, opt: of_opt } = versions.of.as_ref().map(|v| &v.graph);
    let [a, b] = [of_base.operands(base), of_opt.operands(opt)];
    let is_same = |(&a, &b): (&Operand, &Operand)| match (a, b) {
        (Operand::Value(a), Operand::Value(b)) => {
            match (of_base.definition(a), of_opt.definition(b)) {
                (Some(a), Some(b)) => tracked.kept[a] == Some(b),
                (None, None) => a == b,
                _ => false,
            }
        }
        (a, b) => a == b,
    };
    tracked.kept[base] == Some(opt)
        && of_base.nodes[base].operation == of_opt.nodes[opt].operation
        && a.len() == b.len()
        && a.iter().zip(b).all(is_same)
}
