//! In which order paths come: what follows what, how well that is foretold, and what repeats.

use crate::analysis::behaviour::Next;
use crate::format::numbers::{add, share};
use midflight_profile::forest::{NodeId, PrefixForest};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;

/// A sequence of paths that repeats itself in a loop.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pattern {
    /// The IDs of two or more paths; the next after the last is the first
    pub ids: Vec<u32>,
    /// Of the paths that were taken from the loop's header on and had k − 1 more behind them, the
    /// share, from 0 to 1, that were followed by the repetition
    pub share: f64,
}

/// How often the next path was the one that most often followed the same past.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Foretold {
    /// Where the past is the last path: a share, from 0 to 1
    pub by_one: f64,
    /// Where it is the last `paths` paths
    pub by_more: f64,
    /// k − 1
    pub paths: u32,
}

/// What followed a path, most frequent first.
pub fn next(ipf: &PrefixForest, id: u32) -> Vec<Next> {
    let Some(root) = ipf.child(None, id) else { return Vec::new() };
    let mut next: Vec<Next> = ipf
        .children(root)
        .map(|child| Next { id: ipf.label(child), count: ipf.count(child) })
        .filter(|next| next.count > 0)
        .collect();
    next.sort_by_key(|next| (std::cmp::Reverse(next.count), next.id));
    next
}

/// The nodes of the k-IPF for sequences of k paths.
pub fn deepest(ipf: &PrefixForest, k: u32) -> Vec<NodeId> {
    // Parents come before their children.
    let mut level = vec![1u32; ipf.len()];
    for node in ipf.ids() {
        if let Some(parent) = ipf.parent(node) {
            level[node.index()] = level[parent.index()] + 1;
        }
    }
    ipf.ids().filter(|node| level[node.index()] == k).collect()
}

/// The sequence of two or more paths whose repetition covers the most, among those that fit twice
/// into k; none if there is none. Only paths of `started` count as beginnings.
pub fn pattern(
    ipf: &PrefixForest,
    deepest: &[NodeId],
    started: &FxHashSet<u32>,
) -> Option<Pattern> {
    let mut total = 0u64;
    let mut covered: FxHashMap<Vec<u32>, u64> = FxHashMap::default();
    for &node in deepest {
        let ids = ipf.labels(node);
        if !ids.first().is_some_and(|id| started.contains(id)) {
            continue;
        }
        add(&mut total, ipf.count(node));
        if let Some(period) = period(&ids).filter(|&period| period >= 2) {
            add(covered.entry(least_rotation(&ids[..period])).or_default(), ipf.count(node));
        }
    }
    let best = covered
        .into_iter()
        .max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)))
        .filter(|(_, count)| *count > 0)?;
    Some(Pattern { share: share(best.1, total), ids: best.0 })
}

/// The smallest number of IDs that a sequence repeats, if they fit into it twice.
fn period(ids: &[u32]) -> Option<usize> {
    (1..=ids.len() / 2).find(|&p| ids[p..] == ids[..ids.len() - p])
}

/// Of all rotations the one that comes first: so all have one name.
pub fn least_rotation(ids: &[u32]) -> Vec<u32> {
    let rotations = (0..ids.len()).map(|by| [&ids[by..], &ids[..by]].concat());
    rotations.min().unwrap_or_default()
}

/// How well one path, and k − 1 of them, foretell what comes next, where the last is of `started`.
/// Both over the same places: those with k − 1 paths before them in the activation. None if there
/// are none, or k is below 3.
pub fn foretold(
    ipf: &PrefixForest,
    k: u32,
    deepest: &[NodeId],
    started: &FxHashSet<u32>,
) -> Option<Foretold> {
    let paths = k.checked_sub(1).filter(|&paths| paths >= 2)?;
    let mut total = 0u64;
    let mut after_one: FxHashMap<[u32; 2], u64> = FxHashMap::default();
    let mut after_more: FxHashMap<NodeId, u64> = FxHashMap::default();
    for &node in deepest {
        let Some(past) = ipf.parent(node).filter(|&past| started.contains(&ipf.label(past))) else {
            continue;
        };
        let count = ipf.count(node);
        add(&mut total, count);
        add(after_one.entry([ipf.label(past), ipf.label(node)]).or_default(), count);
        let most = after_more.entry(past).or_default();
        *most = (*most).max(count);
    }
    let by_one = likeliest(after_one);
    let by_more = after_more.into_values().fold(0, u64::saturating_add);
    let [by_one, by_more] = [by_one, by_more].map(|part| share(part, total));
    (total > 0).then_some(Foretold { by_one, by_more, paths })
}

/// How many are right if after each the one is expected that follows it most often, where the pairs
/// occurred so often.
pub fn likeliest(pairs: impl IntoIterator<Item = ([u32; 2], u64)>) -> u64 {
    let mut best: FxHashMap<u32, u64> = FxHashMap::default();
    for ([first, _], count) in pairs {
        let most = best.entry(first).or_default();
        *most = (*most).max(count);
    }
    best.into_values().fold(0, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use midflight_profile::kipf::make_k_ipf;
    use midflight_profile::ksf::SlabForest;

    fn ipf(k: u32, stream: &[u32]) -> PrefixForest {
        let mut slabs = SlabForest::new(k);
        slabs.enter();
        stream.iter().for_each(|&id| slabs.event(id));
        make_k_ipf(slabs.forest(), k)
    }

    fn repeated(ids: &[u32], times: usize) -> Vec<u32> {
        ids.repeat(times)
    }

    #[test]
    fn alternation_is_found_under_one_name() {
        let started = FxHashSet::from_iter([1, 2]);
        let forest = ipf(4, &[repeated(&[2, 1], 50), vec![2]].concat());
        let pattern = pattern(&forest, &deepest(&forest, 4), &started).unwrap();
        assert_eq!(pattern.ids, [1, 2]);
        assert!((pattern.share - 1.0).abs() < 1e-9, "{pattern:?}");
        let forest = ipf(4, &[repeated(&[2, 1], 4), repeated(&[2], 8)].concat());
        let pattern = super::pattern(&forest, &deepest(&forest, 4), &started).unwrap();

        assert!((pattern.share - 6.0 / 13.0).abs() < 1e-9, "{pattern:?}");
    }

    #[test]
    fn a_run_is_no_pattern_and_a_period_must_fit_twice() {
        let started = FxHashSet::from_iter([1, 2, 3]);
        let found = |k: u32, ids: &[u32]| {
            let forest = ipf(k, &repeated(ids, 50));
            pattern(&forest, &deepest(&forest, k), &started).map(|pattern| pattern.ids)
        };
        assert_eq!(found(4, &[1]), None);
        assert_eq!(found(4, &[1, 2, 3]), None);
        assert_eq!(found(6, &[1, 2, 3]), Some(vec![1, 2, 3]));
    }

    #[test]
    fn more_of_the_past_foretells_what_one_path_does_not() {
        let started = FxHashSet::from_iter([1, 2]);
        // After 1 comes 1 or 2, in turn: two paths of the past tell which.
        let forest = ipf(4, &repeated(&[1, 1, 2], 200));
        let foretold = foretold(&forest, 4, &deepest(&forest, 4), &started).unwrap();
        assert!((foretold.by_more - 1.0).abs() < 1e-9, "{foretold:?}");
        assert!((foretold.by_one - 2.0 / 3.0).abs() < 0.01, "{foretold:?}");
        assert_eq!(super::foretold(&forest, 2, &deepest(&forest, 2), &started), None);
    }

    #[test]
    fn what_follows_is_in_order_of_frequency() {
        let forest = ipf(4, &[1, 2, 1, 3, 1, 3]);
        let next = next(&forest, 1);
        assert_eq!(next, [Next { id: 3, count: 2 }, Next { id: 2, count: 1 }]);
        assert!(super::next(&forest, 9).is_empty());
    }
}
