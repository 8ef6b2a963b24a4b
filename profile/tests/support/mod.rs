//! Streams, and what they count by brute force.
#![allow(dead_code, reason = "each test program uses a part")]

pub mod contexts;

use midflight_profile::forest::PrefixForest;
use midflight_profile::format::{
    Counters, FunctionProfile, HEADER_SIZE, Node, Pair, Piece, Place, Room, SumContext,
    SumFunction, Totals,
};
use midflight_profile::ksf::SlabForest;
use midflight_profile::windows::{WindowForest, Windows};
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

/// The windows of a whole stream, of which nothing is forgotten.
pub fn windows(stream: &Stream, k: u32) -> Windows {
    forgetful_windows(stream, k, &Forgetting::new())
}

/// Where history is forgotten: before which events of a stream, and how many paths are still known.
pub type Forgetting = BTreeMap<usize, usize>;

/// The windows of a whole stream.
pub fn forgetful_windows(stream: &Stream, k: u32, forgetting: &Forgetting) -> Windows {
    let mut windows = WindowForest::new(k);
    let mut events = 0..;
    for activation in stream {
        windows.enter();
        for (event, &id) in events.by_ref().zip(activation) {
            if let Some(&known) = forgetting.get(&event) {
                windows.forget_all_but(known);
            }
            windows.event(id);
        }
    }
    windows.windows().clone()
}

/// What a function has that was counted in windows, in module 0.
pub fn function_of_windows(key: u64, k: u32, windows: Windows) -> FunctionProfile {
    let Windows { all: forest, truncated } = windows;
    let (totals, counters) = (Totals::default(), Counters::Windows);
    FunctionProfile { module: 0, key, k, totals, counters, forest, truncated }
}

/// What a function has that was counted as published, in module 0.
pub fn function_of_slabs(key: u64, k: u32, forest: PrefixForest) -> FunctionProfile {
    let (totals, counters) = (Totals::default(), Counters::Slabs);
    let truncated = PrefixForest::new();
    FunctionProfile { module: 0, key, k, totals, counters, forest, truncated }
}

/// What either way of counting has of a stream, in module 0.
pub fn functions(k: u32) -> impl Strategy<Value = FunctionProfile> {
    (streams(), forgettings(), any::<bool>()).prop_map(move |(stream, forgetting, is_slabs)| {
        match is_slabs {
            true => function_of_slabs(0, k, slab_forest(&stream, k)),
            false => function_of_windows(0, k, forgetful_windows(&stream, k, &forgetting)),
        }
    })
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

/// Nothing is forgotten, or something at some places of a stream.
pub fn forgettings() -> impl Strategy<Value = Forgetting> {
    let known = prop_oneof![0usize..4, 0usize..64];
    let some = prop::collection::btree_map(0..events(300), known, 0..events(100));
    prop_oneof![Just(Forgetting::new()), some]
}

/// All k that can be asked for, small ones often.
pub fn any_k() -> impl Strategy<Value = u32> {
    prop_oneof![1u32..=6, 1u32..=64]
}

/// Makes the checksums and sizes of a profile file right, as far as its header leaves that open:
/// what is behind modules and forests is the section of contexts.
pub fn seal(file: &mut [u8]) {
    let (header, mut contents) = file.split_at_mut(HEADER_SIZE);
    for entry in [20, 40, 60, 80] {
        let size = u64::from_le_bytes(header[entry + 8..entry + 16].try_into().unwrap());
        let size = if entry == 80 { contents.len() } else { contents.len().min(size as usize) };
        let (section, rest) = contents.split_at_mut(size);
        header[entry + 8..entry + 16].copy_from_slice(&(size as u64).to_le_bytes());
        header[entry + 16..entry + 20].copy_from_slice(&crc32fast::hash(section).to_le_bytes());
        contents = rest;
    }
    let end = HEADER_SIZE - 4;
    let crc = crc32fast::hash(&header[..end]);
    header[end..].copy_from_slice(&crc.to_le_bytes());
}

/// A file with these sections, each with its name, its number of items and its bytes.
pub fn file_of(sections: &[(&[u8; 4], u32, &[u8])]) -> Vec<u8> {
    let mut file = b"\x89MFP\r\n\x1a\n".to_vec();
    let size = 24 + 20 * sections.len() as u32;
    for number in [5, size, 0] {
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

/// Adds two files up, as programs do that share one, in memory of just the size that is asked for,
/// full of leftovers.
pub fn sum(first: &[u8], second: &[u8]) -> Result<Vec<u8>, String> {
    let pair = Pair::new(first, second).map_err(|error| error.to_string())?;
    let needs = pair.needs();
    let room = Room {
        modules: &mut vec![Place::default(); needs.modules],
        pieces: &mut vec![Piece::default(); needs.pieces],
        nodes: &mut vec![Node::default(); needs.nodes],
        contexts: &mut vec![SumContext::default(); needs.contexts],
        functions: &mut vec![SumFunction::default(); needs.functions],
        slots: &mut vec![7; needs.slots],
    };
    let mut file = vec![0; HEADER_SIZE];
    let header = pair.write(room, &mut file).map_err(|error| error.to_string())?;
    file[..HEADER_SIZE].copy_from_slice(&header);
    Ok(file)
}
