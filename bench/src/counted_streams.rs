//! Functions as a program would count them, for tests: made of streams by the references.

use midflight_profile::format::{Counters, FunctionProfile, Totals};
use midflight_profile::ksf::SlabForest;
use midflight_profile::windows::WindowForest;

/// Windows of activations, with memory for all.
pub fn windows(k: u32, activations: &[&[u32]]) -> FunctionProfile {
    let mut forest = WindowForest::new(k);
    for paths in activations {
        forest.enter();
        paths.iter().for_each(|&path| forest.event(path));
    }
    of_windows(k, activations.len() as u64, &forest)
}

/// Windows of one activation, where no more than so many paths are remembered at each event.
pub fn forgetful(k: u32, paths: &[u32], known: usize) -> FunctionProfile {
    let mut forest = WindowForest::new(k);
    forest.enter();
    for &path in paths {
        forest.event(path);
        forest.forget_all_but(known);
    }
    of_windows(k, 1, &forest)
}

/// The k-SF of activations.
pub fn slabs(k: u32, activations: &[&[u32]]) -> FunctionProfile {
    let mut forest = SlabForest::new(k);
    for paths in activations {
        forest.enter();
        paths.iter().for_each(|&path| forest.event(path));
    }
    let forest = forest.into_forest();
    let entries = activations.len() as u64;
    FunctionProfile { counters: Counters::Slabs, forest, ..empty(k, entries) }
}

fn of_windows(k: u32, entries: u64, forest: &WindowForest) -> FunctionProfile {
    let windows = forest.windows().clone();
    FunctionProfile { forest: windows.all, truncated: windows.truncated, ..empty(k, entries) }
}

fn empty(k: u32, entries: u64) -> FunctionProfile {
    FunctionProfile {
        module: 0,
        key: 1,
        k,
        totals: Totals { entries, ..Totals::default() },
        counters: Counters::Windows,
        forest: Default::default(),
        truncated: Default::default(),
    }
}
