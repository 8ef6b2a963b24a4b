//! Streams, and what they count by brute force.
#![allow(dead_code, reason = "each test program uses a part")]

use midflight_profile::forest::PrefixForest;
use midflight_profile::format::Profile;
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

/// Makes the checksums and sizes of a profile file right, as far as its header leaves that open:
/// the forests are all that is behind the modules.
pub fn seal(file: &mut [u8]) {
    let (header, contents) = file.split_at_mut(64);
    let modules = u64::from_le_bytes(header[28..36].try_into().unwrap());
    let modules = modules.min(contents.len() as u64) as usize;
    for (at, section) in [(28, &contents[..modules]), (48, &contents[modules..])] {
        header[at..at + 8].copy_from_slice(&(section.len() as u64).to_le_bytes());
        header[at + 8..at + 12].copy_from_slice(&crc32fast::hash(section).to_le_bytes());
    }
    let crc = crc32fast::hash(&header[..60]);
    header[60..].copy_from_slice(&crc.to_le_bytes());
}

/// A file with these sections, each with its name, its number of items and its bytes.
pub fn file_of(sections: &[(&[u8; 4], u32, &[u8])]) -> Vec<u8> {
    let mut file = b"\x89MFP\r\n\x1a\n".to_vec();
    let size = 24 + 20 * sections.len() as u32;
    for number in [4, size, 0] {
        file.extend(number.to_le_bytes());
    }
    for (name, items, bytes) in sections {
        file.extend_from_slice(&name[..]);
        file.extend(items.to_le_bytes());
        file.extend((bytes.len() as u64).to_le_bytes());
        file.extend(crc32fast::hash(bytes).to_le_bytes());
    }
    file.extend(crc32fast::hash(&file).to_le_bytes());
    sections.iter().for_each(|(_, _, bytes)| file.extend_from_slice(bytes));
    file
}

/// What the header of a file of version 3 says.
#[derive(Default)]
pub struct Header3 {
    pub k: u32,
    pub flags: u32,
    pub modules: u32,
    pub forests: u32,
}

/// A file of version 3.
pub fn version_3(header: &Header3, payload: &[u8]) -> Vec<u8> {
    let mut file = b"\x89MFP\r\n\x1a\n".to_vec();
    for number in [3, 64, header.k, header.flags, header.modules, header.forests] {
        file.extend(number.to_le_bytes());
    }
    file.extend((payload.len() as u64).to_le_bytes());
    file.extend(crc32fast::hash(payload).to_le_bytes());
    file.extend([0; 16]);
    file.extend(crc32fast::hash(&file).to_le_bytes());
    file.extend_from_slice(payload);
    file
}

/// The same in version 3, in which modules and forests had the same bytes.
pub fn as_version_3(profile: &Profile) -> Vec<u8> {
    let (modules, forests) = (profile.modules.len() as u32, profile.functions.len() as u32);
    version_3(
        &Header3 { k: profile.k, flags: profile.flags, modules, forests },
        &profile.write()[64..],
    )
}
