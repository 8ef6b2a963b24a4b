//! Examples 3.2, 3.3 and 3.4 of the thesis.

mod support;

use midflight_profile::forest::PrefixForest;
use midflight_profile::kipf::make_k_ipf;
use support::{Counts, counts_of, n_grams, slab_forest};

/// The stream of Example 3.2.
const STREAM: [u32; 14] = [6, 2, 0, 0, 2, 2, 0, 0, 2, 2, 0, 0, 2, 3];

fn forest() -> PrefixForest {
    slab_forest(&vec![STREAM.to_vec()], 4)
}

#[test]
fn the_4_sf_is_that_of_example_3_4() {
    // The list L of Example 3.4, each sequence with what Algorithm 4 counts at its node.
    let listed: [&[u32]; 14] = [
        &[6],
        &[6, 2],
        &[6, 2, 0],
        &[6, 2, 0, 0],
        &[6, 2, 0, 0, 2],
        &[6, 2, 0, 0, 2, 2],
        &[0, 2, 2, 0],
        &[0, 2, 2, 0, 0],
        &[0, 2, 2, 0, 0, 2],
        &[0, 0, 2, 2],
        &[0, 0, 2, 2, 0],
        &[0, 0, 2, 2, 0, 0],
        &[2, 0, 0, 2],
        &[2, 0, 0, 2, 3],
    ];
    // Nodes that only lead to those, and ⟨2, 3⟩: the last chunk's, that no chunk follows.
    let passed: [&[u32]; 9] =
        [&[0], &[0, 0], &[0, 0, 2], &[0, 2], &[0, 2, 2], &[2], &[2, 0], &[2, 0, 0], &[2, 3]];
    let counted = listed.iter().map(|sequence| (sequence.to_vec(), 1));
    let expected: Counts = counted.chain(passed.iter().map(|s| (s.to_vec(), 0))).collect();
    assert_eq!(counts_of(&forest()), expected);
}

#[test]
fn the_2_gram_0_0_is_five_times_in_the_4_sf_and_counted_in_three_as_in_example_3_3() {
    let forest = forest();
    let ends: Vec<u64> = forest
        .ids()
        .filter(|&id| forest.labels(id).ends_with(&[0, 0]))
        .map(|id| forest.count(id))
        .collect();
    assert_eq!(ends.len(), 5);
    assert_eq!(ends.iter().filter(|&&count| count > 0).count(), 3);
    assert_eq!(ends.iter().sum::<u64>(), 3);
}

#[test]
fn the_4_ipf_is_that_of_example_3_2() {
    let paths = counts_of(&make_k_ipf(&forest(), 4));
    assert_eq!(paths[&[2, 0, 0, 2][..]], 3);
    // One tree for each ID, with the counts of a Ball-Larus profile.
    let roots: Vec<(u32, u64)> =
        paths.iter().filter(|(path, _)| path.len() == 1).map(|(p, &n)| (p[0], n)).collect();
    assert_eq!(roots, [(0, 6), (2, 6), (3, 1), (6, 1)]);
    assert_eq!(paths, n_grams(&vec![STREAM.to_vec()], 4));
}
