//! Trees of hot calling contexts, added up, against exact trees of the same calls.

mod support;

use midflight_profile::contexts::hot_tree::{Estimate, HotId, merge};
use midflight_profile::contexts::{Call, HotTree, Share};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use support::contexts::{Event, Profiler, call, insert, shares, sizes, traces};

/// Exact counts, by the calls that lead to a context.
type Truth = BTreeMap<Vec<Call>, u64>;

/// What a program's profile has of a trace, and what is true.
fn profile(trace: &[Event], size: usize) -> (HotTree, Truth) {
    let (profiler, cct) = Profiler::of(trace, size);
    let truth = cct.contexts().map(|context| (cct.calls(context), cct.count(context))).collect();
    (profiler.hot_tree(), truth)
}

fn sum(truths: &[Truth]) -> Truth {
    let mut sum = Truth::new();
    for (calls, count) in truths.iter().flatten() {
        *sum.entry(calls.clone()).or_default() += count;
    }
    sum
}

/// The nodes of a tree, by the calls that lead to them.
fn nodes(tree: &HotTree) -> BTreeMap<Vec<Call>, Option<Estimate>> {
    tree.ids().map(|id| (tree.calls(id), tree.node(id).estimate)).collect()
}

/// All there is to a tree.
fn contents(tree: &HotTree) -> (u64, u64, BTreeMap<Vec<Call>, Option<Estimate>>) {
    (tree.total, tree.floor, nodes(tree))
}

/// The calls of monitored contexts, or of those that are hot.
fn calls_of(tree: &HotTree, ids: impl Iterator<Item = HotId>) -> BTreeSet<Vec<Call>> {
    ids.map(|id| tree.calls(id)).collect()
}

fn hot(truth: &Truth, threshold: u64) -> BTreeSet<Vec<Call>> {
    truth.iter().filter(|&(_, &count)| count >= threshold).map(|(calls, _)| calls.clone()).collect()
}

/// All beginnings of some contexts: what spans them.
fn spanned(contexts: &BTreeSet<Vec<Call>>) -> BTreeSet<Vec<Call>> {
    contexts.iter().flat_map(|calls| (1..=calls.len()).map(|n| calls[..n].to_vec())).collect()
}

/// What a tree says of counts is true.
fn check(tree: &HotTree, truth: &Truth) -> Result<(), TestCaseError> {
    prop_assert_eq!(tree.total, truth.values().sum::<u64>());
    let nodes = nodes(tree);
    prop_assert_eq!(nodes.len(), tree.len());
    for (calls, &count) in truth {
        match nodes.get(calls).copied().flatten() {
            Some(known) => prop_assert!(known.least() <= count && count <= known.count),
            None => prop_assert!(count <= tree.floor),
        }
    }
    let known: BTreeSet<_> = nodes.keys().cloned().collect();
    prop_assert_eq!(&spanned(&known), &known);
    prop_assert!(known.iter().all(|calls| truth.contains_key(calls)));
    Ok(())
}

/// Nothing is missed where that is certain, for some φ.
fn check_query(tree: &HotTree, truth: &Truth, phi: Share) -> Result<(), TestCaseError> {
    let threshold = tree.threshold(phi);
    let found = calls_of(tree, tree.hot(phi));
    if tree.misses_none(phi) {
        prop_assert!(hot(truth, threshold).is_subset(&found));
    }
    let hcct = tree.hcct(phi);
    prop_assert_eq!(nodes(&hcct).into_keys().collect::<BTreeSet<_>>(), spanned(&found));
    prop_assert_eq!(calls_of(&hcct, hcct.hot(phi)), found);
    prop_assert_eq!(hcct.misses_none(phi), tree.misses_none(phi));
    check(&hcct, truth)
}

proptest! {
    #[test]
    fn a_sum_is_true_of_what_both_parts_counted(
        (a, b) in (traces(), traces()),
        sizes in (sizes(), sizes()),
        phi in shares(),
    ) {
        let ((a, true_a), (b, true_b)) = (profile(&a, sizes.0), profile(&b, sizes.1));
        let (tree, truth) = (merge(&a, &b), sum(&[true_a, true_b]));
        check(&tree, &truth)?;
        check_query(&tree, &truth, phi)?;
        prop_assert_eq!(tree.floor, a.floor + b.floor);
        // ε is that of the part with fewer entries.
        let size = sizes.0.min(sizes.1) as u64;
        prop_assert!(tree.floor * size <= tree.total);
        // All that either part monitors, and nothing that neither does
        let monitored = |tree: &HotTree| calls_of(tree, tree.hot(Share::new(0.0).unwrap()));
        let either = monitored(&a).union(&monitored(&b)).cloned().collect();
        prop_assert_eq!(monitored(&tree), either);
    }

    #[test]
    fn the_order_of_a_sum_does_not_matter(
        traces in [traces(), traces(), traces()],
        size in sizes(),
    ) {
        let [a, b, c] = traces.map(|trace| profile(&trace, size).0);
        prop_assert_eq!(contents(&merge(&a, &b)), contents(&merge(&b, &a)));
        let (left, right) = (merge(&merge(&a, &b), &c), merge(&a, &merge(&b, &c)));
        prop_assert_eq!(contents(&left), contents(&right));
        prop_assert_eq!(contents(&merge(&a, &HotTree::default())), contents(&a));
    }

    /// However many parts: the m hottest, with the ε of each part.
    #[test]
    fn sums_need_not_grow(
        traces in prop::collection::vec(traces(), 1..5),
        size in sizes(),
        phi in shares(),
    ) {
        let (mut tree, mut truth) = (HotTree::default(), Truth::new());
        for trace in traces {
            let (part, part_truth) = profile(&trace, size);
            tree = merge(&tree, &part).keep_hottest(size);
            truth = sum(&[truth, part_truth]);
            check(&tree, &truth)?;
            check_query(&tree, &truth, phi)?;
            let known = nodes(&tree).into_values().flatten();
            let counts: Vec<u64> = known.map(|known| known.count).collect();
            prop_assert!(counts.len() <= size && counts.iter().all(|&count| count >= tree.floor));
            let above: u64 = counts.iter().map(|count| count - tree.floor).sum();
            prop_assert!(size as u64 * tree.floor + above <= tree.total);
        }
    }

    /// Exact trees have exact sums.
    #[test]
    fn nothing_is_added_to_what_is_exact((a, b) in (traces(), traces())) {
        let ((a, true_a), (b, true_b)) = (profile(&a, 1000), profile(&b, 1000));
        let known = |(calls, count)| (calls, Some(Estimate { count, error: 0 }));
        let expected = sum(&[true_a, true_b]).into_iter().map(known).collect();
        prop_assert_eq!(nodes(&merge(&a, &b)), expected);
    }

    /// (φ, ε)-HCCTs may be added up, too: what was pruned from them is in their floors.
    #[test]
    fn sums_of_pruned_trees_are_true(
        (a, b) in (traces(), traces()),
        size in sizes(),
        phi in shares(),
    ) {
        let ((a, true_a), (b, true_b)) = (profile(&a, size), profile(&b, size));
        let truth = sum(&[true_a, true_b]);
        let tree = merge(&a.hcct(phi), &b.hcct(phi));
        check(&tree, &truth)?;
        check_query(&tree, &truth, phi)?;
    }
}

/// A tree with one root and children of it, each with a count and an error.
fn tree(total: u64, floor: u64, children: &[(u64, u64, u64)]) -> HotTree {
    let mut tree = HotTree::new(total, floor);
    let root = insert(&mut tree, &[call(0, 0)]);
    for &(function, count, error) in children {
        let id = tree.child_or_insert(root, call(function, 0));
        tree.monitor(id, Estimate { count, error });
    }
    tree
}

fn estimates(tree: &HotTree) -> Vec<(u64, Option<(u64, u64)>)> {
    let known = |estimate: Option<Estimate>| estimate.map(|known| (known.count, known.error));
    nodes(tree).iter().map(|(calls, &at)| (calls.last().unwrap().function, known(at))).collect()
}

#[test]
fn what_one_part_does_not_monitor_may_have_had_its_floor() {
    let a = tree(100, 7, &[(1, 50, 2), (2, 43, 7)]);
    let b = tree(60, 3, &[(2, 40, 1), (3, 17, 0)]);
    let sum = merge(&a, &b);
    assert_eq!((sum.total, sum.floor), (160, 10));
    assert_eq!(
        estimates(&sum),
        [(0, None), (1, Some((53, 5))), (2, Some((83, 8))), (3, Some((24, 7)))]
    );
    let hottest = sum.keep_hottest(1);
    assert_eq!((hottest.total, hottest.floor), (160, 53));
    assert_eq!(estimates(&hottest), [(0, None), (2, Some((83, 8)))]);
    assert_eq!(sum.keep_hottest(0).len(), 0);
    assert_eq!(sum.keep_hottest(0).floor, 83);
    assert_eq!(contents(&sum.keep_hottest(3)), contents(&sum));
}

#[test]
fn hot_nodes_keep_their_ancestors_and_what_is_known_of_them() {
    let mut tree = tree(100, 1, &[(1, 50, 0), (2, 9, 1)]);
    let below = insert(&mut tree, &[call(0, 0), call(2, 0), call(5, 3)]).unwrap();
    tree.monitor(below, Estimate { count: 40, error: 0 });
    let phi = Share::new(0.4).unwrap();
    assert_eq!(tree.threshold(phi), 40);
    let hcct = tree.hcct(phi);
    assert_eq!(
        estimates(&hcct),
        [(0, None), (1, Some((50, 0))), (2, Some((9, 1))), (5, Some((40, 0)))]
    );
    assert_eq!(hcct.floor, 1);
    let hcct = tree.hcct(Share::new(0.41).unwrap());
    assert_eq!(estimates(&hcct), [(0, None), (1, Some((50, 0)))]);
    assert_eq!(hcct.floor, 40, "5 was pruned");
}

#[test]
fn children_come_by_call() {
    let mut tree = HotTree::default();
    let root = tree.child_or_insert(None, call(7, 0));
    let calls = [call(9, 1), call(3, 2), call(9, 0), call(u64::MAX, u32::MAX)];
    for call in calls {
        tree.child_or_insert(Some(root), call);
    }
    let label = |id: HotId| tree.node(id).call;
    let children: Vec<Call> = tree.children(Some(root)).map(label).collect();
    assert_eq!(children, [call(3, 2), call(9, 0), call(9, 1), call(u64::MAX, u32::MAX)]);
    assert_eq!(tree.children(None).map(label).collect::<Vec<_>>(), [call(7, 0)]);
}

#[test]
fn counts_stay_at_the_greatest_number() {
    let a = tree(u64::MAX, 0, &[(1, u64::MAX, 0)]);
    let b = tree(5, 0, &[(1, 5, 0)]);
    let sum = merge(&a, &b);
    assert_eq!((sum.total, estimates(&sum)[1]), (u64::MAX, (1, Some((u64::MAX, 0)))));
}
