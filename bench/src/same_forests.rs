//! Two builds of a program, whose functions are counted by different algorithms, have counted the
//! same.
//!
//! The automaton counts windows, and Algorithm 4 as published makes a k-SF. What both must agree on
//! is the k-IPF: how often each sequence of up to k paths occurred.

use crate::error::{Error, Result};
use crate::profile_file::read_profile;
use crate::tables::tables;
use midflight_profile::forest::{NodeId, PrefixForest};
use midflight_profile::format::{FunctionProfile, Profile, Totals};
use midflight_profile::kipf::make_k_ipf;
use midflight_profile::table::FunctionTable;
use std::collections::BTreeMap;
use std::path::Path;

/// What was counted in a function, in all threads.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Function {
    /// Hash of the graph that was numbered
    pub cfg_hash: u64,
    /// Sequences of up to so many paths
    pub k: u32,
    /// Activations begun
    pub entries: u64,
    /// Events that were counted without all of their history, or not at all, for want of memory
    pub missing: u64,
    /// The k-IPF
    pub paths: PrefixForest,
}

/// What was counted in the functions of a program, by their units and names.
#[derive(Clone, Debug, Default)]
pub struct Counted(pub BTreeMap<(String, String), Function>);

/// What a comparison has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Functions that ran in either build
    pub functions: usize,
    /// Sequences that the first build has counted
    pub sequences: usize,
    /// A line for each function that differs
    pub wrong: Vec<String>,
}

impl Counted {
    /// Reads what a run of a binary has counted.
    ///
    /// # Errors
    /// If the binary or the profile cannot be read, or the profile is of another binary.
    pub fn read(binary: &Path, profile: &Path) -> Result<Self> {
        let counted = Self::of(&tables(binary)?, &read_profile(profile)?);
        counted.map_err(|problem| Error::Malformed {
            what: format!("the profile '{}'", profile.display()),
            problem,
        })
    }

    /// What a profile has of the functions of these tables.
    ///
    /// # Errors
    /// What is wrong with the profile.
    pub fn of(tables: &[FunctionTable], profile: &Profile) -> std::result::Result<Self, String> {
        let by_key: BTreeMap<u64, &FunctionTable> =
            tables.iter().map(|table| (table.key, table)).collect();
        let mut counted = Self::default();
        for function in &profile.functions {
            let table = by_key.get(&function.key);
            let table = table.ok_or(format!("no function has the key {:#x}", function.key))?;
            let name = (table.unit.clone(), table.name.clone());
            counted.add(name, table.cfg_hash, function)?;
        }
        Ok(counted)
    }

    /// Adds what was counted in a function of this name and graph.
    fn add(
        &mut self,
        name: (String, String),
        cfg_hash: u64,
        function: &FunctionProfile,
    ) -> std::result::Result<(), String> {
        let sum = self.0.entry(name).or_default();
        (sum.cfg_hash, sum.k) = (cfg_hash, function.k);
        let Totals { entries, restarts, lost } = function.totals;
        let truncated = u64::try_from(function.truncated.total());
        let truncated = truncated.map_err(|_| "its counts pass 2^64".to_string())?;
        sum.entries += entries;
        sum.missing += restarts + lost + truncated;
        let paths = make_k_ipf(&function.forest, function.k);
        sum.paths.add_forest(&paths).map_err(|error| error.to_string())
    }
}

/// Compares two builds: each function's graph, k, activations and k-IPF must be the same, and
/// nothing may be missing.
pub fn compare(a: &Counted, b: &Counted) -> Comparison {
    let mut result = Comparison::default();
    for (name, one) in &a.0 {
        result.functions += 1;
        result.sequences += one.paths.len();
        match b.0.get(name) {
            None => result.wrong.push(format!("{}: it ran in one build only", name.1)),
            Some(other) => {
                if let Some(problem) = difference(one, other) {
                    result.wrong.push(format!("{}: {problem}", name.1));
                }
            }
        }
    }
    for name in b.0.keys().filter(|name| !a.0.contains_key(*name)) {
        result.functions += 1;
        result.wrong.push(format!("{}: it ran in the other build only", name.1));
    }
    result
}

fn difference(a: &Function, b: &Function) -> Option<String> {
    if (a.cfg_hash, a.k) != (b.cfg_hash, b.k) {
        return Some("another graph was numbered".to_string());
    }
    if a.missing + b.missing != 0 {
        return Some(format!("{} and {} events have no history", a.missing, b.missing));
    }
    if a.entries != b.entries {
        return Some(format!("entered {} and {} times", a.entries, b.entries));
    }
    count_that_differs(&a.paths, &b.paths)
}

/// The first sequence that was not counted equally often. A node may have counted nothing.
fn count_that_differs(a: &PrefixForest, b: &PrefixForest) -> Option<String> {
    let differs_in = |one: &PrefixForest, other: &PrefixForest| {
        // By node of `one`, that of the same sequence
        let mut same: Vec<Option<NodeId>> = Vec::with_capacity(one.len());
        one.ids().find_map(|id| {
            let label = one.label(id);
            let node = match one.parent(id) {
                None => other.child(None, label),
                Some(parent) => {
                    same[parent.index()].and_then(|parent| other.child(Some(parent), label))
                }
            };
            same.push(node);
            let (count, others) = (one.count(id), node.map_or(0, |node| other.count(node)));
            (count != others).then(|| (one.labels(id), count, others))
        })
    };
    let text = |labels, one, other| format!("{labels:?} was counted {one} and {other} times");
    let here = differs_in(a, b).map(|(labels, one, other)| text(labels, one, other));
    here.or_else(|| differs_in(b, a).map(|(labels, other, one)| text(labels, one, other)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::counted_streams::{forgetful, slabs, windows};

    const PATHS: [u32; 8] = [1, 2, 2, 1, 2, 1, 1, 2];

    fn counted(function: FunctionProfile) -> Counted {
        let mut counted = Counted::default();
        counted.add(("a.c".to_string(), "f".to_string()), 7, &function).unwrap();
        counted
    }

    fn planted(change: impl FnOnce(&mut Function)) -> Vec<String> {
        let (a, mut b) = (counted(windows(3, &[&PATHS])), counted(slabs(3, &[&PATHS])));
        assert_eq!(compare(&a, &b).wrong, [""; 0]);
        change(b.0.values_mut().next().unwrap());
        let both = [compare(&a, &b).wrong, compare(&b, &a).wrong];
        assert_eq!(both[0].len(), both[1].len());
        both.concat()
    }

    #[test]
    fn windows_and_slabs_agree() {
        for k in 1..=8 {
            let [a, b] = [windows(k, &[&PATHS, &[2]]), slabs(k, &[&PATHS, &[2]])].map(counted);
            let Comparison { functions, sequences, wrong } = compare(&a, &b);
            assert_eq!((functions, wrong), (1, Vec::new()));
            assert!(sequences >= 2, "k = {k}");
        }
    }

    #[test]
    fn a_planted_difference_is_found_from_either_side() {
        let node = |function: &mut Function, labels: &[u32]| {
            let paths = &mut function.paths;
            let id = labels.iter().fold(None, |at, &label| Some(paths.child_or_insert(at, label)));
            paths.add(id.unwrap(), 1).unwrap();
        };
        assert!(
            planted(|f| node(f, &[1, 2, 2]))[0].contains("[1, 2, 2] was counted 1 and 2 times")
        );
        assert!(
            planted(|f| node(f, &[1, 2, 5]))[0].contains("[1, 2, 5] was counted 0 and 1 times")
        );
        assert!(planted(|f| f.entries += 1)[0].contains("entered 1 and 2 times"));
        assert!(planted(|f| f.missing = 1)[0].contains("no history"));
        assert!(planted(|f| f.cfg_hash = 0)[0].contains("another graph"));
    }

    #[test]
    fn a_function_that_is_missing_is_found_from_either_side() {
        let one = counted(windows(2, &[&[0]]));
        for (a, b) in [(&one, &Counted::default()), (&Counted::default(), &one)] {
            let result = compare(a, b);
            assert_eq!((result.functions, result.wrong.len()), (1, 1));
        }
    }

    #[test]
    fn truncated_windows_are_told() {
        let [a, b] = [forgetful(3, &PATHS, 1), slabs(3, &[&PATHS])].map(counted);
        assert_eq!(compare(&a, &b).wrong, ["f: 6 and 0 events have no history"]);
    }

    /// What an automaton that kept its state from one activation to the next would count.
    #[test]
    fn an_automaton_that_forgets_the_marker_is_found() {
        let right = counted(slabs(3, &[&[1, 2], &[1, 2]]));
        let mut wrong = windows(3, &[&[1, 2, 1, 2]]);
        wrong.totals.entries = 2;
        let result = compare(&counted(wrong), &right);
        assert_eq!(result.wrong, ["f: [1, 2, 1] was counted 1 and 0 times"]);
    }

    /// What an algorithm that forgot to set β at a chunk's beginning (line 7) would count.
    #[test]
    fn an_algorithm_that_is_wrong_in_one_line_is_found() {
        let right = windows(3, &[&PATHS]);
        let mut wrong = slabs(3, &[&PATHS]);
        wrong.forest = PrefixForest::new();
        for chunk in PATHS.chunks(2) {
            let mut at = None;
            for &id in chunk {
                let node = wrong.forest.child_or_insert(at, id);
                wrong.forest.add(node, 1).unwrap();
                at = Some(node);
            }
        }
        assert_eq!(compare(&counted(right), &counted(wrong)).wrong.len(), 1);
    }
}
