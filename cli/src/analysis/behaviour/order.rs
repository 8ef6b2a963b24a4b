//! In which order paths come: what follows what, how well that is foretold, and what repeats.

use crate::analysis::behaviour::Next;
use crate::analysis::interval::{Interval, share_among};
use crate::analysis::ipf::{End, Ipf};
use crate::format::numbers::add;
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
    pub share: Interval<f64>,
}

/// How often the next path was the one that most often followed the same past.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Foretold {
    /// Where the past is the last path: a share, from 0 to 1
    pub by_one: Interval<f64>,
    /// Where it is the last `paths` paths
    pub by_more: Interval<f64>,
    /// k − 1
    pub paths: u32,
}

/// What followed a path, most frequent first.
pub fn next(ipf: &Ipf, id: u32) -> Vec<Next> {
    let Some(root) = ipf.paths.child(None, id) else { return Vec::new() };
    let mut next: Vec<Next> = ipf
        .paths
        .children(root)
        .map(|child| {
            let Interval { least: count, most } = ipf.count(child);
            Next { id: ipf.paths.label(child), count, most }
        })
        .filter(|next| next.count > 0)
        .collect();
    next.sort_by_key(|next| (std::cmp::Reverse(next.count), next.id));
    next
}

/// How often a path was followed by another.
pub fn followed(ipf: &Ipf, id: u32) -> Interval<u64> {
    ipf.paths.child(None, id).map_or(Interval::exact(0), |root| ipf.followed(root))
}

/// The nodes of the k-IPF for sequences of k paths.
pub fn deepest(paths: &PrefixForest, k: u32) -> Vec<NodeId> {
    // Parents come before their children.
    let mut level = vec![1u32; paths.len()];
    for node in paths.ids() {
        if let Some(parent) = paths.parent(node) {
            level[node.index()] = level[parent.index()] + 1;
        }
    }
    paths.ids().filter(|node| level[node.index()] == k).collect()
}

/// The sequence of two or more paths whose repetition covers the most, among those that fit twice
/// into k; none if there is none. Only paths of `started` count as beginnings.
pub fn pattern(ipf: &Ipf, k: u32, deepest: &[NodeId], started: &FxHashSet<u32>) -> Option<Pattern> {
    let mut total = 0u64;
    let mut covered: FxHashMap<Vec<u32>, u64> = FxHashMap::default();
    for &node in deepest {
        let ids = ipf.paths.labels(node);
        if !ids.first().is_some_and(|id| started.contains(id)) {
            continue;
        }
        let count = ipf.least(node);
        add(&mut total, count);
        if let Some(period) = period(&ids).filter(|&period| period >= 2) {
            add(covered.entry(least_rotation(&ids[..period])).or_default(), count);
        }
    }
    let best = covered
        .into_iter()
        .max_by(|a, b| a.1.cmp(&b.1).then_with(|| b.0.cmp(&a.0)))
        .filter(|(_, count)| *count > 0)?;
    // Each begins with a path that was followed.
    let most = started.iter().map(|&id| followed(ipf, id).most).fold(0, u64::saturating_add);
    let missing = ipf.missing_of(k, |_| true).min(most.saturating_sub(total));
    Some(Pattern { share: share_among(best.1, total, missing), ids: best.0 })
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
/// Both over the same places: those with k − 1 paths before them in the activation. `may_follow`
/// says of a path whether the graph has it behind one of `started`. None if there are no places, or
/// k is below 3.
pub fn foretold(
    ipf: &Ipf,
    k: u32,
    deepest: &[NodeId],
    started: &FxHashSet<u32>,
    may_follow: impl Fn(u32) -> bool,
) -> Option<Foretold> {
    let paths = k.checked_sub(1).filter(|&paths| paths >= 2)?;
    let mut total = 0u64;
    let mut after_one: FxHashMap<[u32; 2], u64> = FxHashMap::default();
    let mut after_more: FxHashMap<NodeId, u64> = FxHashMap::default();
    for &node in deepest {
        let past = ipf.paths.parent(node);
        let Some(past) = past.filter(|&past| started.contains(&ipf.paths.label(past))) else {
            continue;
        };
        let count = ipf.least(node);
        add(&mut total, count);
        add(after_one.entry([ipf.paths.label(past), ipf.paths.label(node)]).or_default(), count);
        let most = after_more.entry(past).or_default();
        *most = (*most).max(count);
    }
    let by_one = likeliest(after_one);
    let by_more = after_more.into_values().fold(0, u64::saturating_add);
    // Of what was counted with less of its past, only that may be missing which had such a path
    // before it.
    let is_place = |(past, last): End| match past {
        Some(past) => started.contains(&past),
        None => may_follow(last),
    };
    let most = started.iter().map(|&id| followed(ipf, id).most).fold(0, u64::saturating_add);
    let missing = ipf.missing_of(k, is_place).min(most.saturating_sub(total));
    let [by_one, by_more] = [by_one, by_more].map(|part| share_among(part, total, missing));
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
pub(in crate::analysis) mod tests {
    use super::*;
    use midflight_profile::format::{Counters, FunctionProfile, Totals};
    use midflight_profile::windows::{WindowForest, Windows};

    /// What a function has of these activations.
    pub fn counted(k: u32, streams: &[&[u32]]) -> FunctionProfile {
        let mut windows = WindowForest::new(k);
        for stream in streams {
            windows.enter();
            stream.iter().for_each(|&id| windows.event(id));
        }
        function(k, windows)
    }

    /// What it has of one activation, where before some events only so many paths were known.
    pub fn forgetful(k: u32, stream: &[u32], forgetting: &[(usize, usize)]) -> FunctionProfile {
        let mut windows = WindowForest::new(k);
        windows.enter();
        for (event, &id) in stream.iter().enumerate() {
            if let Some(&(_, known)) = forgetting.iter().find(|(at, _)| *at == event) {
                windows.forget_all_but(known);
            }
            windows.event(id);
        }
        function(k, windows)
    }

    fn function(k: u32, windows: WindowForest) -> FunctionProfile {
        let Windows { all: forest, truncated } = windows.windows().clone();
        let (totals, counters) = (Totals::default(), Counters::Windows);
        FunctionProfile { module: 0, key: 0, k, totals, counters, forest, truncated }
    }

    fn ipf(k: u32, stream: &[u32]) -> Ipf {
        Ipf::of(&counted(k, &[stream]))
    }

    fn pattern_of(k: u32, ipf: &Ipf, started: &[u32]) -> Option<Pattern> {
        let started = FxHashSet::from_iter(started.iter().copied());
        pattern(ipf, k, &deepest(&ipf.paths, k), &started)
    }

    fn foretold_of(k: u32, ipf: &Ipf, started: &[u32]) -> Option<Foretold> {
        let started = FxHashSet::from_iter(started.iter().copied());
        foretold(ipf, k, &deepest(&ipf.paths, k), &started, |id| id < 5)
    }

    #[test]
    fn alternation_is_found_under_one_name() {
        let forest = ipf(4, &[[2, 1].repeat(50), vec![2]].concat());
        let pattern = pattern_of(4, &forest, &[1, 2]).unwrap();
        assert_eq!(pattern.ids, [1, 2]);
        assert_eq!(pattern.share, Interval::exact(1.0));
        let forest = ipf(4, &[[2, 1].repeat(4), [2].repeat(8)].concat());
        let pattern = pattern_of(4, &forest, &[1, 2]).unwrap();
        assert_eq!(pattern.share, Interval::exact(6.0 / 13.0));
    }

    #[test]
    fn a_run_is_no_pattern_and_a_period_must_fit_twice() {
        let found = |k: u32, ids: &[u32]| {
            let forest = ipf(k, &ids.repeat(50));
            pattern_of(k, &forest, &[1, 2, 3]).map(|pattern| pattern.ids)
        };
        assert_eq!(found(4, &[1]), None);
        assert_eq!(found(4, &[1, 2, 3]), None);
        assert_eq!(found(6, &[1, 2, 3]), Some(vec![1, 2, 3]));
    }

    #[test]
    fn more_of_the_past_foretells_what_one_path_does_not() {
        // After 1 comes 1 or 2, in turn: two paths of the past tell which.
        let forest = ipf(4, &[1, 1, 2].repeat(200));
        let foretold = foretold_of(4, &forest, &[1, 2]).unwrap();
        assert_eq!(foretold.by_more, Interval::exact(1.0));
        assert!(foretold.by_one.is_exact(), "{foretold:?}");
        assert!((foretold.by_one.least - 2.0 / 3.0).abs() < 0.01, "{foretold:?}");
        assert_eq!(foretold_of(2, &ipf(2, &[1, 1, 2].repeat(200)), &[1, 2]), None);
    }

    #[test]
    fn what_was_counted_with_less_of_its_past_may_be_either_way() {
        let forest = Ipf::of(&forgetful(4, &[2, 1].repeat(50), &[(40, 1), (60, 1)]));
        let exact = ipf(4, &[2, 1].repeat(50));
        let [known, truth] = [&forest, &exact].map(|ipf| pattern_of(4, ipf, &[1, 2]).unwrap());
        assert!(known.share.least > 0.9 && known.share.least < 1.0, "{known:?}");
        assert_eq!((known.share.most, truth.share), (1.0, Interval::exact(1.0)));
        let [known, _] = [&forest, &exact].map(|ipf| foretold_of(4, ipf, &[1, 2]).unwrap());
        assert!(known.by_more.least > 0.9 && known.by_more.least < 1.0, "{known:?}");
        // A path that comes from elsewhere has no part in it.
        let elsewhere = [[5, 6].repeat(30), [2, 1].repeat(50)].concat();
        let forest = Ipf::of(&forgetful(4, &elsewhere, &[(30, 0), (40, 1)]));
        let foretold = foretold_of(4, &forest, &[1, 2]).unwrap();
        assert_eq!(foretold.by_more, Interval::exact(1.0));
    }

    #[test]
    fn what_follows_is_in_order_of_frequency() {
        let forest = ipf(4, &[1, 2, 1, 3, 1, 3]);
        let next = next(&forest, 1);
        let of = |id, count| Next { id, count, most: count };
        assert_eq!(next, [of(3, 2), of(2, 1)]);
        assert_eq!(followed(&forest, 1), Interval::exact(3));
        assert!(super::next(&forest, 9).is_empty());
    }
}
