//! A common measure of how far two versions have come in a segment.
//!
//! Transitions must make progress: with a transition at each point, in both directions, execution
//! must still get to the next anchor. So each point of a segment has a position, which grows with
//! each instruction, in both versions, and a transition never leads to a smaller one. Instructions
//! that both versions have are at the same position.

use crate::versions::facts::{VersionFacts, Versions};
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::InstId;
use rustc_hash::FxHashMap as HashMap;

/// Between two instructions that both versions have. No segment has so many instructions.
const UNIT: u64 = 1 << 24;

/// The positions of the points before each of the instructions of a segment, for both versions.
///
/// What base does behind a store that only base has comes after all that opt does before the next
/// anchor: opt leads to before that store, so that it is run, and from behind it base leads to that
/// anchor only, which overwrites what was stored. The same holds behind the first one of a group,
/// and opt leads nowhere from behind the first one of its own.
pub fn positions(versions: &Versions, segment: PerVersion<&[InstId]>) -> PerVersion<Vec<u64>> {
    // A segment ends with an anchor, or with the end of its chain.
    let first_late = PerVersion::from_fn(|w| {
        let late = segment[w].iter().position(|&i| versions.of[w].chains.late[i]);
        late.unwrap_or(segment[w].len())
    });
    if PerVersion::from_fn(|w| segment[w].len()) == first_late {
        return aligned_positions(versions, segment);
    }
    let stores = first_late.map(|late| late - 1);
    let aligned = PerVersion::from_fn(|w| &segment[w][..stores[w]]);
    let mut positions = aligned_positions(versions, aligned);
    let last = positions.iter().filter_map(|of| of.last()).max();
    let last = last.map_or(0, |&last| last + UNIT);
    positions.base.resize(segment.base.len(), last);
    positions.opt.push(last);
    positions.opt.resize(segment.opt.len(), last + 1);
    positions
}

fn aligned_positions(versions: &Versions, segment: PerVersion<&[InstId]>) -> PerVersion<Vec<u64>> {
    let aligned = aligned(versions, segment);
    PerVersion::from_fn(|which| {
        let count = segment[which].len();
        let mut result = Vec::with_capacity(count);
        // A virtual pair before the first and behind the last instruction.
        let mut places: Vec<usize> = aligned.iter().map(|pair| pair[which]).collect();
        places.push(count);
        let (mut begin, mut number) = (0, 0);
        for end in places {
            let length = (end - begin).max(1) as u64;
            for place in begin..end {
                result.push(number * UNIT + (place - begin) as u64 * UNIT / length);
            }
            (begin, number) = (end, number + 1);
        }
        result
    })
}

/// What is behind a lone store of base, or a branch with such on its ways, each with the store that
/// opt has in place of these: from all points on the ways it is ahead.
fn merged(versions: &Versions, segment: PerVersion<&[InstId]>) -> Vec<PerVersion<usize>> {
    let VersionFacts { graph, chains, .. } = &versions.of.base;
    let is_lone = |which: Version, inst: InstId| versions.graph(which).nodes[inst].lone.is_some();
    let stores: Vec<usize> =
        (0..segment.opt.len()).filter(|&place| is_lone(Version::Opt, segment.opt[place])).collect();
    let behind = |is_one: &dyn Fn(InstId) -> bool| -> Option<Vec<usize>> {
        let insts = segment.base.iter().enumerate();
        let found: Vec<usize> =
            insts.filter(|&(_, &inst)| is_one(inst)).map(|(place, _)| place + 1).collect();
        (found.len() == stores.len()).then_some(found)
    };
    let stores_on_way =
        |inst: InstId| chains.passed(graph, inst).any(|i| is_lone(Version::Base, i));
    let stores_there = |inst: InstId| is_lone(Version::Base, inst) || stores_on_way(inst);
    // One behind another one that is overwritten may be all that opt has.
    let behind = behind(&stores_there).or_else(|| behind(&stores_on_way)).unwrap_or_default();
    behind.into_iter().zip(stores).map(|(base, opt)| PerVersion { base, opt }).collect()
}

/// Places of instructions that both versions have: a longest sequence that ascends in both.
fn aligned(versions: &Versions, segment: PerVersion<&[InstId]>) -> Vec<PerVersion<usize>> {
    let places: HashMap<InstId, usize> =
        segment.opt.iter().enumerate().map(|(place, &inst)| (inst, place)).collect();
    let mut pairs = merged(versions, segment);
    let kept = segment.base.iter().enumerate().filter_map(|(a, &inst)| {
        Some(PerVersion { base: a, opt: *places.get(&versions.tracked.kept[inst]?)? })
    });
    pairs.extend(kept);
    pairs.sort_by_key(|pair| (pair.base, pair.opt));
    // Patience sorting: `ends` has for each length the pair that a sequence of it ends with.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = vec![None; pairs.len()];
    for (index, pair) in pairs.iter().enumerate() {
        let length = ends.partition_point(|&end| pairs[end].opt < pair.opt);
        before[index] = length.checked_sub(1).map(|l| ends[l]);
        if length == ends.len() {
            ends.push(index);
        } else {
            ends[length] = index;
        }
    }
    let mut result = Vec::new();
    let mut next = ends.last().copied();
    while let Some(index) = next {
        result.push(pairs[index]);
        next = before[index];
    }
    result.reverse();
    result
}
