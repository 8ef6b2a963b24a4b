//! Windows on random streams, against counting by brute force, and what is known of true counts
//! where history was forgotten.

mod support;

use midflight_profile::bounds::Bounds;
use midflight_profile::forest::{NodeId, PrefixForest};
use midflight_profile::format::{FunctionProfile, Totals};
use midflight_profile::kipf::{algorithm_5, make_k_ipf};
use midflight_profile::ksf::SlabForest;
use midflight_profile::windows::WindowForest;
use proptest::prelude::*;
use std::collections::BTreeSet;
use support::{
    Counts, Stream, any_k, counts_of, forgetful_windows, forgettings, function_of_slabs,
    function_of_windows, n_grams, slab_forest, streams, windows,
};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 300 / 256))]

    /// Definition 3.6, of windows as of a k-SF.
    #[test]
    fn the_k_ipf_of_windows_is_that_of_slabs_and_counts_every_n_gram_once(
        stream in streams(),
        k in any_k(),
    ) {
        let paths = make_k_ipf(&windows(&stream, k).all, k);
        prop_assert_eq!(&paths, &make_k_ipf(&slab_forest(&stream, k), k));
        prop_assert_eq!(counts_of(&paths), n_grams(&stream, k));
    }

    /// Algorithms 5 and 6 give the same, of windows and slabs of any history and of another k.
    #[test]
    fn the_k_ipf_is_that_of_algorithm_5(
        stream in streams(),
        k in any_k(),
        other in any_k(),
        forgetting in forgettings(),
    ) {
        let windows = forgetful_windows(&stream, k, &forgetting);
        for forest in [windows.all, windows.truncated, slab_forest(&stream, k)] {
            for k in [k, other] {
                prop_assert_eq!(make_k_ipf(&forest, k), algorithm_5(&forest, k));
            }
        }
    }

    /// Each event is counted once, at a window of at most k paths; one that is truncated has fewer.
    #[test]
    fn windows_count_every_event_once(
        stream in streams(),
        k in any_k(),
        forgetting in forgettings(),
    ) {
        let windows = forgetful_windows(&stream, k, &forgetting);
        let events: usize = stream.iter().map(Vec::len).sum();
        prop_assert_eq!(windows.all.total(), events as u128);
        prop_assert!(windows.all.preorder().all(|(_, depth)| depth < k));
        let (all, truncated) = (counts_of(&windows.all), counts_of(&windows.truncated));
        for (window, count) in truncated {
            prop_assert!(count <= all[&window] && window.len() < k as usize, "{:?}", window);
        }
        if forgetting.is_empty() {
            prop_assert!(windows.truncated.is_empty());
        }
    }

    /// Threads and runs: the windows of parts of a stream add up to those of the whole.
    #[test]
    fn windows_of_parts_add_up(a in streams(), b in streams(), k in any_k()) {
        let mut sum = windows(&a, k).all;
        sum.add_forest(&windows(&b, k).all).unwrap();
        prop_assert_eq!(sum, windows(&[a, b].concat(), k).all);
    }

    /// Whatever is forgotten, true counts are within the bounds; nothing forgotten, they are known.
    #[test]
    fn true_counts_are_within_the_bounds(
        stream in streams(),
        k in any_k(),
        forgetting in forgettings(),
    ) {
        let windows = forgetful_windows(&stream, k, &forgetting);
        let is_whole = windows.truncated.is_empty();
        let function = function_of_windows(0, k, windows);
        let found = Found::of(&function);
        found.check(&n_grams(&stream, k))?;
        if is_whole {
            found.check_exact()?;
        }
    }

    /// The same where events were not counted at all.
    #[test]
    fn lost_events_are_within_the_bounds(
        stream in streams(),
        k in any_k(),
        lost in prop::collection::btree_set(0usize..300, 1..20),
    ) {
        let mut windows = WindowForest::new(k);
        let mut totals = Totals::default();
        let mut event = 0;
        for activation in &stream {
            windows.enter();
            for &id in activation {
                if lost.contains(&event) {
                    windows.forget_all_but(0);
                    totals.lost += 1;
                } else {
                    windows.event(id);
                }
                event += 1;
            }
        }
        let function = function_of_windows(0, k, windows.windows().clone());
        Found::of(&FunctionProfile { totals, ..function }).check(&n_grams(&stream, k))?;
    }

    /// The same where the published algorithm has restarted its stream.
    #[test]
    fn restarts_are_within_the_bounds(
        stream in streams(),
        k in 2u32..20,
        restarts in prop::collection::btree_set(0usize..300, 0..20),
    ) {
        let mut slabs = SlabForest::new(k);
        let mut totals = Totals::default();
        let mut event = 0;
        for activation in &stream {
            slabs.enter();
            for &id in activation {
                if restarts.contains(&event) {
                    slabs.enter();
                    totals.restarts += 1;
                }
                slabs.event(id);
                event += 1;
            }
        }
        let function = function_of_slabs(0, k, slabs.into_forest());
        let found = Found::of(&FunctionProfile { totals, ..function });
        found.check(&n_grams(&stream, k))?;
        if totals.restarts == 0 {
            found.check_exact()?;
        }
    }

    /// Counts that no run can have left give bounds, too.
    #[test]
    fn any_windows_have_bounds(
        all in prop::collection::vec((prop::collection::vec(0u32..4, 1..6), any::<u64>()), 0..20),
        truncated in prop::collection::vec((prop::collection::vec(0u32..4, 1..6), any::<u64>()), 0..20),
        totals in any::<[u64; 3]>(),
        k in 1u32..6,
        is_slabs in any::<bool>(),
    ) {
        let forest_of = |sequences: &[(Vec<u32>, u64)]| {
            let mut forest = PrefixForest::new();
            for (labels, count) in sequences {
                let node = labels.iter().fold(None, |at, &l| Some(forest.child_or_insert(at, l)));
                let _ = forest.add(node.unwrap(), *count);
            }
            forest
        };
        let function = match is_slabs {
            true => function_of_slabs(0, k, forest_of(&all)),
            false => {
                let truncated = forest_of(&truncated);
                FunctionProfile { truncated, ..function_of_windows(0, k, Default::default()) }
            }
        };
        let forest = forest_of(&all);
        let found = Found::of(&FunctionProfile { forest, totals: Totals::new(totals), ..function });
        for id in found.paths.ids() {
            let (least, most) = (found.bounds.least(id), found.bounds.most(id));
            prop_assert!(found.paths.count(id) <= least && least <= most);
            let [least, most] = found.bounds.followed(id);
            prop_assert!(least <= most);
        }
    }
}

/// The k-IPF of a function and its bounds.
struct Found {
    paths: PrefixForest,
    bounds: Bounds,
    is_all_counted: bool,
}

impl Found {
    fn of(function: &FunctionProfile) -> Self {
        let paths = make_k_ipf(&function.forest, function.k);
        let bounds = Bounds::new(&paths, function);
        Self { paths, bounds, is_all_counted: function.totals.lost == 0 }
    }

    fn check(&self, truth: &Counts) -> Result<(), TestCaseError> {
        for id in self.paths.ids() {
            let labels = self.paths.labels(id);
            let truth_of = |labels: &Vec<u32>| truth.get(labels).copied().unwrap_or(0);
            let (count, own) = (self.paths.count(id), truth_of(&labels));
            let (least, most) = (self.bounds.least(id), self.bounds.most(id));
            prop_assert!(count <= least && least <= own, "{labels:?}: {count}, {least}, {own}");
            prop_assert!(own <= most, "{labels:?}: {own} of at most {most}");
            prop_assert!(own <= count + self.bounds.missing(id), "{labels:?}: {own}");
            if labels.len() == 1 && self.is_all_counted {
                prop_assert_eq!((least, most), (own, own), "{:?}", labels);
            }
            let longer = truth.range(labels.clone()..);
            let longer = longer.take_while(|(other, _)| other.starts_with(&labels));
            let followed: u64 =
                longer.filter(|(other, _)| other.len() == labels.len() + 1).map(|(_, n)| n).sum();
            let [least, most] = self.bounds.followed(id);
            prop_assert!(least <= followed && followed <= most, "{labels:?}: {followed}");
        }
        Ok(())
    }

    fn check_exact(&self) -> Result<(), TestCaseError> {
        for id in self.paths.ids() {
            let count = self.paths.count(id);
            prop_assert_eq!((self.bounds.least(id), self.bounds.most(id)), (count, count));
        }
        Ok(())
    }
}

/// The node of a sequence.
fn node(paths: &PrefixForest, labels: &[u32]) -> NodeId {
    labels.iter().fold(None, |at, &label| paths.child(at, label)).expect("it is counted")
}

#[test]
fn windows_of_a_small_stream() {
    let mut windows = WindowForest::new(3);
    windows.enter();
    [1, 1, 2, 1].into_iter().for_each(|id| windows.event(id));
    windows.forget_all_but(1);
    [1, 2].into_iter().for_each(|id| windows.event(id));
    let count = |labels: &[u32], count| (labels.to_vec(), count);
    let mut all = counts_of(&windows.windows().all);
    all.retain(|_, count| *count > 0);
    let known = [count(&[1], 1), count(&[1, 1], 2), count(&[1, 1, 2], 2), count(&[1, 2, 1], 1)];
    assert_eq!(all, known.into());
    let mut truncated = counts_of(&windows.windows().truncated);
    truncated.retain(|_, count| *count > 0);
    assert_eq!(truncated, [count(&[1, 1], 1)].into());
}

/// Who keeps all of what came before still knows that the activation began there.
#[test]
fn to_forget_nothing_changes_nothing() {
    let mut windows = WindowForest::new(3);
    windows.enter();
    windows.event(1);
    windows.forget_all_but(1);
    windows.event(2);
    assert!(counts_of(&windows.windows().truncated).values().all(|&count| count == 0));
}

/// What is missing of a sequence is not more than its parts leave: of a path that was taken ten
/// times and followed by another nine times, at most one is left for all others.
#[test]
fn what_others_leave_is_the_most_that_a_sequence_may_have() {
    let stream: Stream = vec![[[1, 2].repeat(9), vec![1, 3]].concat()];
    let forgetting = (0..20).filter(|event| event % 6 == 5).map(|event| (event, 0)).collect();
    let function = function_of_windows(0, 2, forgetful_windows(&stream, 2, &forgetting));
    let found = Found::of(&function);
    let least_and_most = |labels: &[u32]| {
        let node = node(&found.paths, labels);
        (found.bounds.least(node), found.bounds.most(node))
    };
    assert_eq!(least_and_most(&[1]), (10, 10));
    assert_eq!(least_and_most(&[1, 2]), (6, 9));
    assert_eq!(least_and_most(&[1, 3]), (1, 1));
    assert_eq!(function.truncated.total(), 3);
}

#[test]
fn a_sequence_is_counted_as_often_as_what_was_counted_of_it() {
    // ⟨1, 2⟩ was forgotten, and is known by ⟨1, 2, 3⟩.
    let mut windows = WindowForest::new(3);
    windows.enter();
    windows.event(1);
    windows.event(2);
    windows.event(3);
    let mut function = function_of_windows(0, 3, windows.windows().clone());
    let one = function.forest.child(None, 1).unwrap();
    let two = function.forest.child(Some(one), 2).unwrap();
    let mut forest = PrefixForest::new();
    for id in function.forest.ids().filter(|&id| id != two) {
        let labels = function.forest.labels(id);
        let to = labels.iter().fold(None, |at, &l| Some(forest.child_or_insert(at, l))).unwrap();
        forest.add(to, function.forest.count(id)).unwrap();
    }
    let single = forest.child_or_insert(None, 2);
    forest.add(single, 1).unwrap();
    let single = function.truncated.child_or_insert(None, 2);
    function.truncated.add(single, 1).unwrap();
    let function = FunctionProfile { forest, ..function };
    let found = Found::of(&function);
    let pair = node(&found.paths, &[1, 2]);
    assert_eq!(found.paths.count(pair), 0);
    assert_eq!((found.bounds.least(pair), found.bounds.most(pair)), (1, 1));
    let all: BTreeSet<Vec<u32>> = counts_of(&found.paths).into_keys().collect();
    assert!(all.contains(&vec![1, 2, 3]));
}
