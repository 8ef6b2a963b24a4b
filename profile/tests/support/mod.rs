//! Streams, and what they count by brute force.
#![allow(dead_code, reason = "each test program uses a part")]

use midflight_profile::forest::PrefixForest;
use midflight_profile::ksf::SlabForest;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// The activations of a stream: what stands between its markers.
pub type Stream = Vec<Vec<u32>>;

/// How often each sequence occurs.
pub type Counts = BTreeMap<Vec<u32>, u64>;

/// All n-grams of a stream that contain no marker, for n up to k, by looking at each place.
pub fn n_grams(stream: &Stream, k: u32) -> Counts {
    let mut counts = Counts::new();
    for activation in stream {
        for n in 1..=k as usize {
            for gram in activation.windows(n) {
                *counts.entry(gram.to_vec()).or_default() += 1;
            }
        }
    }
    counts
}

/// What a forest counts, by sequence.
pub fn counts_of(forest: &PrefixForest) -> Counts {
    forest.ids().map(|id| (forest.labels(id), forest.count(id))).collect()
}

/// Algorithm 4 over a whole stream.
pub fn slab_forest(stream: &Stream, k: u32) -> PrefixForest {
    let mut slabs = SlabForest::new(k);
    for activation in stream {
        slabs.enter();
        activation.iter().for_each(|&id| slabs.event(id));
    }
    slabs.into_forest()
}

/// So many events at most: a fifth in Miri, which is a few hundred times slower.
const fn events(most: usize) -> usize {
    if cfg!(miri) { most / 5 } else { most }
}

/// An activation: random over a small or a large alphabet, a pattern that repeats, or runs.
fn activations() -> impl Strategy<Value = Vec<u32>> {
    let pattern = (prop::collection::vec(0u32..6, 1..7), 1..events(20));
    let runs = prop::collection::vec((0u32..3, 1..events(40)), 0..6);
    prop_oneof![
        prop::collection::vec(0u32..2, 0..events(150)),
        prop::collection::vec(0u32..4, 0..events(150)),
        prop::collection::vec(prop_oneof![0u32..9, any::<u32>()], 0..events(60)),
        pattern.prop_map(|(pattern, times)| pattern.repeat(times)),
        runs.prop_map(|runs| runs.iter().flat_map(|&(id, times)| vec![id; times]).collect()),
    ]
}

/// Random streams.
pub fn streams() -> impl Strategy<Value = Stream> {
    prop::collection::vec(activations(), 0..5)
}

/// All k that can be asked for, small ones often.
pub fn any_k() -> impl Strategy<Value = u32> {
    prop_oneof![1u32..=6, 1u32..=64]
}

/// Makes both checksums and the payload's size of a profile file right.
pub fn seal(file: &mut [u8]) {
    let size = file.len() as u64 - 64;
    file[32..40].copy_from_slice(&size.to_le_bytes());
    let payload = crc32fast::hash(&file[64..]);
    file[40..44].copy_from_slice(&payload.to_le_bytes());
    let header = crc32fast::hash(&file[..60]);
    file[60..64].copy_from_slice(&header.to_le_bytes());
}
