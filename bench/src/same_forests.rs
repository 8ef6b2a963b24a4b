//! Two builds of a program, whose functions are counted by different algorithms, have counted the
//! same.
//!
//! What a function counts is its k-SF, which both algorithms must build node for node.

use crate::error::{Error, Result, read};
use crate::tables::tables;
use midflight_profile::forest::PrefixForest;
use midflight_profile::format::{Profile, Totals};
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
    /// Events that were counted singly, or not at all, for want of memory
    pub missing: u64,
    /// The k-SF
    pub forest: PrefixForest,
}

/// What was counted in the functions of a program, by their units and names.
#[derive(Clone, Debug, Default)]
pub struct Counted(pub BTreeMap<(String, String), Function>);

/// What a comparison has found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Functions that ran in either build
    pub functions: usize,
    /// Nodes of the first build's forests
    pub nodes: usize,
    /// A line for each function that differs
    pub wrong: Vec<String>,
}

impl Counted {
    /// Reads what a run of a binary has counted.
    ///
    /// # Errors
    /// If the binary or the profile cannot be read, or the profile is of another binary.
    pub fn read(binary: &Path, profile: &Path) -> Result<Self> {
        let malformed = |problem: String| Error::Malformed {
            what: format!("the profile '{}'", profile.display()),
            problem,
        };
        let tables = tables(binary)?;
        let profile =
            Profile::read(&read(profile)?).map_err(|error| malformed(error.to_string()))?;
        Self::of(&tables, &profile).map_err(malformed)
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
            let sum = counted.0.entry((table.unit.clone(), table.name.clone())).or_default();
            (sum.cfg_hash, sum.k) = (table.cfg_hash, function.k);
            let Totals { entries, restarts, lost, pruned } = function.totals;
            sum.entries += entries;
            sum.missing += restarts + lost + pruned;
            sum.forest.add_forest(&function.forest).map_err(|error| error.to_string())?;
        }
        Ok(counted)
    }
}

/// Compares two builds: each function's graph, k, activations and forest must be the same, and
/// nothing may be missing.
pub fn compare(a: &Counted, b: &Counted) -> Comparison {
    let mut result = Comparison::default();
    for (name, one) in &a.0 {
        result.functions += 1;
        result.nodes += one.forest.len();
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
    (a.forest != b.forest).then(|| node_that_differs(&a.forest, &b.forest))
}

/// The first node that is not in both, or not with the same count.
fn node_that_differs(a: &PrefixForest, b: &PrefixForest) -> String {
    let missing_in = |one: &PrefixForest, other: &PrefixForest| {
        one.preorder().find_map(|(id, _)| {
            let labels = one.labels(id);
            let at = labels.iter().try_fold(None, |at, &label| other.child(at, label).map(Some));
            let count = at.flatten().map(|id| other.count(id));
            let differs = count != Some(one.count(id));
            differs.then(|| (labels, one.count(id), count.unwrap_or(0)))
        })
    };
    if let Some((labels, one, other)) = missing_in(a, b) {
        return format!("{labels:?} was counted {one} and {other} times");
    }
    let (labels, other, one) = missing_in(b, a).unwrap_or_default();
    format!("{labels:?} was counted {one} and {other} times")
}

#[cfg(test)]
mod tests {
    use super::*;
    use midflight_profile::ksf::SlabForest;

    fn counted(k: u32, ids: &[u32]) -> Counted {
        let mut slabs = SlabForest::new(k);
        slabs.enter();
        ids.iter().for_each(|&id| slabs.event(id));
        let forest = slabs.into_forest();
        let function = Function { cfg_hash: 7, k, entries: 1, missing: 0, forest };
        Counted([(("a.c".to_string(), "f".to_string()), function)].into())
    }

    fn planted(change: impl FnOnce(&mut Function)) -> Vec<String> {
        let (a, mut b) = (counted(3, &[1, 2, 2, 1, 2]), counted(3, &[1, 2, 2, 1, 2]));
        assert_eq!(compare(&a, &b), Comparison { functions: 1, nodes: 7, wrong: Vec::new() });
        change(b.0.values_mut().next().unwrap());
        let both = [compare(&a, &b).wrong, compare(&b, &a).wrong];
        assert_eq!(both[0].len(), both[1].len());
        both.concat()
    }

    #[test]
    fn a_planted_difference_is_found_from_either_side() {
        let node = |function: &mut Function, labels: &[u32]| {
            let forest = &mut function.forest;
            let id = labels.iter().fold(None, |at, &label| Some(forest.child_or_insert(at, label)));
            forest.add(id.unwrap(), 1).unwrap();
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
        let one = counted(2, &[0]);
        for (a, b) in [(&one, &Counted::default()), (&Counted::default(), &one)] {
            let result = compare(a, b);
            assert_eq!((result.functions, result.wrong.len()), (1, 1));
        }
    }

    /// What an algorithm that forgot to set β at a chunk's beginning (line 7) would count.
    #[test]
    fn an_algorithm_that_is_wrong_in_one_line_is_found() {
        let right = counted(3, &[1, 2, 2, 1, 2]);
        let mut wrong = right.clone();
        let mut forest = PrefixForest::new();
        for chunk in [[1, 2].as_slice(), &[2, 1], &[2]] {
            let mut at = None;
            for &id in chunk {
                let node = forest.child_or_insert(at, id);
                forest.add(node, 1).unwrap();
                at = Some(node);
            }
        }
        wrong.0.values_mut().next().unwrap().forest = forest;
        assert_eq!(compare(&right, &wrong).wrong.len(), 1);
    }
}
