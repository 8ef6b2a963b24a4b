//! Stores that a pass made one: groups that fill memory with a byte.
//!
//! LLVM's memcpy optimization looks at stores of one byte over and over with nothing between them
//! that accesses memory, and writes what some of them cover at once, behind the last one. In which
//! order such stores run does not matter, nor how often: what matters is what all of them cover.
//! Here the maximal runs of such stores are found in both versions. Where base has lost some, and
//! opt has a run that covers as much with one that it did not have from base, both become groups.
//! These are candidates: the proof asks whether they write to the same place.

use crate::read_code::CodeSnapshot;
use midflight_bridge::ir::Value;
use midflight_ir::ids::InstId;
use midflight_mapping::versions::facts::Tracked;
use midflight_mapping::versions::graph::{Fill, Graph};
use midflight_mapping::versions::version::{PerVersion, Version};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};

/// What is filled: the byte, if it is constant, and the parts, each from one byte up to another,
/// counted from where the first one begins.
pub type Filled<'m> = (Option<Value<'m>>, Vec<(i64, i64)>);

/// Numbers of what is filled
pub type FillNumbers<'m> = HashMap<Filled<'m>, u32>;

/// Anchors that fill one after the other
struct Run {
    anchors: Vec<InstId>,
    fill: Fill,
}

/// Notes what single instructions of a version fill.
pub fn add_fills<'m>(
    snapshot: &CodeSnapshot<'m>,
    graph: &mut Graph,
    numbers: &mut FillNumbers<'m>,
) {
    for (inst, node) in graph.nodes.iter_mut_enumerated() {
        let filled = snapshot.instructions[inst].fills();
        node.fills = filled.map(|(bytes, byte)| fill(numbers, byte, vec![(0, bytes)], None));
    }
}

/// Makes groups of stores that a pass made fewer.
pub fn group_fills<'m>(
    snapshots: PerVersion<&CodeSnapshot<'m>>,
    tracked: &Tracked,
    graphs: &mut PerVersion<Graph>,
    numbers: &mut FillNumbers<'m>,
) {
    let is_new = |inst: InstId| tracked.origin[inst].is_none();
    let mut of_opt = graphs.opt.nodes.iter_enumerated();
    if !of_opt.any(|(inst, node)| node.fills.is_some() && is_new(inst)) {
        return;
    }
    let mut runs_of = |which: Version| runs(snapshots[which], &graphs[which], numbers);
    let mut runs = PerVersion { opt: runs_of(Version::Opt), base: Vec::new() };
    runs.opt.retain(|run| run.anchors.iter().any(|&inst| is_new(inst)));
    if runs.opt.is_empty() {
        return;
    }
    runs.base = runs_of(Version::Base);
    let is_gone = |inst: InstId| tracked.kept[inst].is_none();
    runs.base.retain(|run| run.anchors.len() > 1 && run.anchors.iter().any(|&inst| is_gone(inst)));
    let filled = runs.as_ref().map(|runs| runs.iter().map(|run| run.fill.what).collect());
    let filled: PerVersion<HashSet<u32>> = filled;
    for which in Version::BOTH {
        for Run { anchors, fill } in &runs[which] {
            if filled[which.other()].contains(&fill.what) {
                let (&last, others) = anchors.split_last().expect("a run has anchors");
                graphs[which].nodes[last].fills = Some(*fill);
                others.iter().for_each(|&inst| graphs[which].nodes[inst].is_grouped = true);
            }
        }
    }
}

/// What has a byte in `parts`, written by a `group`.
fn fill<'m>(
    numbers: &mut FillNumbers<'m>,
    byte: Value<'m>,
    parts: Vec<(i64, i64)>,
    group: Option<usize>,
) -> Fill {
    let constant = Some(byte).filter(|byte| byte.is_constant());
    let next = numbers.len() as u32;
    let what = *numbers.entry((constant, parts)).or_insert(next);
    Fill { what, byte_varies: constant.is_none(), group }
}

/// The maximal runs of anchors of a block that write one byte, at constant distances.
fn runs<'m>(snapshot: &CodeSnapshot<'m>, graph: &Graph, numbers: &mut FillNumbers<'m>) -> Vec<Run> {
    let distance =
        |a: InstId, b: InstId| snapshot.instructions[a].bytes_behind(snapshot.instructions[b]);
    let fills = |inst: InstId| snapshot.instructions[inst].fills();
    let mut found = Vec::new();
    for block in &graph.body.code.of_block {
        let anchors = block.iter().filter(|&inst| graph.nodes[inst].facts.is_anchor());
        let anchors: Vec<InstId> = anchors.collect();
        let go_together = |&a: &InstId, &b: &InstId| {
            let bytes = fills(a).zip(fills(b));
            bytes.is_some_and(|((_, a), (_, b))| a == b) && distance(a, b).is_some()
        };
        for run in anchors.chunk_by(go_together) {
            let Some((_, byte)) = fills(run[0]) else { continue };
            let parts = run.iter().map(|&inst| {
                let begin = distance(run[0], inst)?;
                Some((begin, begin.checked_add(fills(inst)?.0)?, inst))
            });
            let Some(mut parts) = parts.collect::<Option<Vec<_>>>() else { continue };
            parts.sort_unstable();
            let (begin, _, lowest) = parts[0];
            let mut covered: Vec<(i64, i64)> = Vec::new();
            for (from, to, _) in parts {
                let (from, to) = (from - begin, to - begin);
                match covered.last_mut() {
                    Some((_, end)) if from <= *end => *end = to.max(*end),
                    _ => covered.push((from, to)),
                }
            }
            let last = run[run.len() - 1];
            let from_lowest = usize::from(last).checked_sub(usize::from(lowest));
            let group = from_lowest.filter(|_| run.len() > 1);
            let fill = fill(numbers, byte, covered, group);
            found.push(Run { anchors: run.to_vec(), fill });
        }
    }
    found
}
