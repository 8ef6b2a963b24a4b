//! The forests on random streams, against counting by brute force.

mod support;

use midflight_profile::forest::PrefixForest;
use midflight_profile::kipf::make_k_ipf;
use midflight_profile::max_slab_levels;
use proptest::prelude::*;
use support::{Counts, Stream, any_k, counts_of, n_grams, slab_forest, streams};

/// Definition 3.7, built from its list L (Definition 3.5).
fn forest_by_definition(stream: &Stream, k: u32) -> PrefixForest {
    let mut forest = PrefixForest::new();
    for activation in stream {
        let chunks: Vec<&[u32]> = activation.chunks(k as usize - 1).collect();
        let pair = |i: usize| [chunks[i], chunks.get(i + 1).copied().unwrap_or_default()].concat();
        for i in 0..chunks.len() {
            let shortest = if i == 0 { 1 } else { k as usize };
            let sequence = pair(i);
            for len in shortest..=sequence.len() {
                count_once(&mut forest, &sequence[..len]);
            }
        }
    }
    forest
}

fn count_once(forest: &mut PrefixForest, sequence: &[u32]) {
    let mut at = None;
    for &label in sequence {
        at = Some(forest.child_or_insert(at, label));
    }
    forest.add(at.expect("a sequence is not empty"), 1).unwrap();
}

/// The nodes with a count in or below them.
fn without_uncounted(forest: &PrefixForest) -> Counts {
    let all = counts_of(forest);
    let is_counted = |path: &Vec<u32>| {
        all.range(path.clone()..).take_while(|(p, _)| p.starts_with(path)).any(|(_, &n)| n > 0)
    };
    all.iter().filter(|(path, _)| is_counted(path)).map(|(p, &n)| (p.clone(), n)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(ProptestConfig::default().cases * 300 / 256))]

    /// Definition 3.6: every n-gram of up to k IDs, each exactly as often as it occurs.
    #[test]
    fn the_k_ipf_counts_every_n_gram_once(stream in streams(), k in any_k()) {
        let paths = make_k_ipf(&slab_forest(&stream, k), k);
        prop_assert_eq!(counts_of(&paths), n_grams(&stream, k));
    }

    /// 3.2.3: the sum of all counters is the length of the stream; a k-SF has at most 2k − 2
    /// levels.
    #[test]
    fn the_k_sf_counts_every_event_once(stream in streams(), k in any_k()) {
        let slabs = slab_forest(&stream, k);
        let events: usize = stream.iter().map(Vec::len).sum();
        prop_assert_eq!(slabs.total(), events as u128);
        prop_assert!(slabs.preorder().all(|(_, depth)| depth < max_slab_levels(k)));
    }

    /// Algorithm 4 builds what Definition 3.7 says, and beside it only the last chunks, uncounted.
    #[test]
    fn algorithm_4_builds_the_forest_of_definition_3_7(stream in streams(), k in 2u32..=64) {
        let slabs = slab_forest(&stream, k);
        let expected = counts_of(&forest_by_definition(&stream, k));
        prop_assert_eq!(without_uncounted(&slabs), expected.clone());
        let last = |ids: &Vec<u32>| ids.chunks(k as usize - 1).last().unwrap_or_default().to_vec();
        let lasts: Vec<Vec<u32>> = stream.iter().map(last).collect();
        for path in counts_of(&slabs).keys().filter(|p| !expected.contains_key(*p)) {
            prop_assert!(lasts.iter().any(|last| last.starts_with(path)), "{:?}", path);
        }
    }

    /// Property 1 of 3.2.2: a node counts at least as much as its children together; and what it
    /// counts more are the ends of activations.
    #[test]
    fn counts_fall_along_the_tree(stream in streams(), k in any_k()) {
        let paths = make_k_ipf(&slab_forest(&stream, k), k);
        for (id, depth) in paths.preorder() {
            let below: u64 = paths.children(id).map(|child| paths.count(child)).sum();
            let here = paths.labels(id);
            let ends = stream.iter().filter(|ids| ids.ends_with(&here)).count() as u64;
            let expected = if depth + 1 == k { 0 } else { paths.count(id) - ends };
            prop_assert_eq!(below, expected);
        }
    }

    /// Property 2 of 3.2.2: the k-IPF is the (k + 1)-IPF without its last level.
    #[test]
    fn a_k_ipf_is_part_of_the_next(stream in streams(), k in 1u32..64) {
        let smaller = counts_of(&make_k_ipf(&slab_forest(&stream, k), k));
        let mut larger = counts_of(&make_k_ipf(&slab_forest(&stream, k + 1), k + 1));
        larger.retain(|path, _| path.len() <= k as usize);
        prop_assert_eq!(smaller, larger);
    }

    /// Threads and runs: the k-SFs of parts of a stream add up to the k-SF of the whole.
    #[test]
    fn forests_of_parts_add_up(a in streams(), b in streams(), k in any_k()) {
        let mut sum = slab_forest(&a, k);
        sum.add_forest(&slab_forest(&b, k)).unwrap();
        prop_assert_eq!(sum, slab_forest(&[a, b].concat(), k));
    }
}

/// An error in Algorithm 4.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mutation {
    None,
    /// Counts τ also where β is counted
    CountBoth,
    /// Counts τ only
    CountTop,
    /// ∗ does not end the sequence
    IgnoreMarkers,
    /// Chunks of k − 2 IDs
    ShortChunks,
    /// β stays what it was at the start of a chunk
    KeepBottom,
}

/// Algorithm 4, written another way, with an error.
fn mutant_forest(stream: &Stream, k: u32, mutation: Mutation) -> PrefixForest {
    let mut forest = PrefixForest::new();
    let chunk = if mutation == Mutation::ShortChunks { k - 2 } else { k - 1 };
    let (mut n, mut top, mut bottom) = (0, None, None);
    for activation in stream {
        if mutation != Mutation::IgnoreMarkers {
            (n, top) = (0, None);
        }
        for &id in activation {
            let starts = n % chunk == 0;
            if starts && (mutation != Mutation::KeepBottom || bottom.is_none()) {
                bottom = top;
            }
            top = Some(forest.child_or_insert(if starts { None } else { top }, id));
            bottom = bottom.map(|b| forest.child_or_insert(Some(b), id));
            let counts_top = matches!(mutation, Mutation::CountBoth | Mutation::CountTop);
            if counts_top || bottom.is_none() {
                forest.add(top.unwrap(), 1).unwrap();
            }
            if let Some(bottom) = bottom.filter(|_| mutation != Mutation::CountTop) {
                forest.add(bottom, 1).unwrap();
            }
            n += 1;
        }
    }
    forest
}

#[test]
fn errors_in_algorithm_4_are_caught_by_the_n_grams() {
    let k = 4;
    let stream: Stream = vec![vec![6, 2, 0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 3], vec![2, 2, 1]];
    let is_caught = |mutation| {
        let paths = make_k_ipf(&mutant_forest(&stream, k, mutation), k);
        counts_of(&paths) != n_grams(&stream, k)
    };
    assert!(!is_caught(Mutation::None));
    for mutation in [
        Mutation::CountBoth,
        Mutation::CountTop,
        Mutation::IgnoreMarkers,
        Mutation::ShortChunks,
        Mutation::KeepBottom,
    ] {
        assert!(is_caught(mutation), "{mutation:?}");
    }
}
