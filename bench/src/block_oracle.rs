//! Sequences of acyclic paths against a log of blocks (`oracle=blocks`).
//!
//! Slow and simple: every block of every activation is logged, the log is replayed
//! ([`crate::replay`]), and all sequences of up to k acyclic paths are counted in a hash map. The
//! k-IPF that the command shows, with its IDs decoded to blocks, must have the same sequences with
//! the same counts.
//!
//! The log tells that an activation came to its last block, not that it came through it. Where the
//! profile has fewer completed activations than came to a last block (their last block called
//! something that did not return), sequences may differ by as many.

use crate::error::{Error, Result};
use crate::forest_report::{ForestReport, FunctionPaths};
use crate::replay::{Activations, AcyclicPath, Graph, Replayed};
use midflight_profile::table::{FunctionTable, PathDecoder, PathEnd, PathStart};
use std::collections::{BTreeMap, HashMap};

/// Result of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Functions that ran
    pub functions: usize,
    /// Logged blocks
    pub blocks: usize,
    /// Different sequences
    pub sequences: usize,
    /// Sequences whose counts differ by no more than activations ended in their last block
    pub explained: usize,
    /// Sequences whose counts differ by more, one line each
    pub wrong: Vec<String>,
}

type Counts = HashMap<Vec<AcyclicPath>, u64>;

/// Compares all functions.
///
/// # Errors
/// If the log, the tables and the report do not fit each other.
pub fn compare(
    tables: &[FunctionTable],
    report: &ForestReport,
    activations: Activations,
) -> Result<Comparison> {
    let mut result = Comparison::default();
    let mut by_key: BTreeMap<u64, Vec<Vec<u32>>> = BTreeMap::new();
    for (key, blocks) in activations.into_values() {
        result.blocks += blocks.len();
        by_key.entry(key).or_default().push(blocks);
    }
    let mut reported: HashMap<u64, &FunctionPaths> =
        report.functions.iter().filter(|f| f.entries > 0).map(|f| (f.key(), f)).collect();
    for (key, logs) in by_key {
        let table = tables.iter().find(|table| table.key == key);
        let table = table.ok_or_else(|| mismatch(format!("no table has the key {key:016x}")))?;
        match reported.remove(&key) {
            Some(function) => compare_function(table, function, &logs, &mut result)?,
            None => result.wrong.push(format!("{}: it ran and is not reported", table.name)),
        }
    }
    result.wrong.extend(reported.values().map(|f| format!("{}: it never ran", f.name)));
    result.wrong.sort();
    Ok(result)
}

fn mismatch(problem: String) -> Error {
    Error::Malformed { what: "the log of blocks".to_string(), problem }
}

fn compare_function(
    table: &FunctionTable,
    function: &FunctionPaths,
    logs: &[Vec<u32>],
    result: &mut Comparison,
) -> Result<()> {
    let graph = Graph::new(table);
    let replayed: Vec<Replayed> =
        logs.iter().map(|blocks| graph.replay(blocks)).collect::<Result<_>>()?;
    let ended: u64 = replayed.iter().map(|activation| activation.ended).sum();
    let k = usize::try_from(table.k).unwrap_or(usize::MAX);
    let expected = sequences(replayed, k);
    let found = decoded(table, function)?;
    let completed: u64 = found
        .iter()
        .filter(|(sequence, _)| sequence.len() == 1 && sequence[0].cut.is_none())
        .map(|(_, count)| count)
        .sum();
    let slack = ended.saturating_sub(completed);
    result.functions += 1;
    result.sequences += expected.len();
    let all = expected.keys().chain(found.keys().filter(|s| !expected.contains_key(*s)));
    for sequence in all {
        let count = |counts: &Counts| counts.get(sequence).copied().unwrap_or(0);
        let (taken, counted) = (count(&expected), count(&found));
        match taken.checked_sub(counted) {
            Some(0) => {}
            Some(more) if more <= slack => result.explained += 1,
            _ => result.wrong.push(format!(
                "{}: {}: counted {counted}, logged {taken}",
                table.name,
                describe(sequence)
            )),
        }
    }
    Ok(())
}

fn describe(sequence: &[AcyclicPath]) -> String {
    let paths: Vec<String> = sequence.iter().map(|path| format!("{:?}", path.blocks)).collect();
    format!("the sequence {}", paths.join(" "))
}

/// Counts all sequences of up to k paths.
fn sequences(activations: Vec<Replayed>, k: usize) -> Counts {
    let mut counts = Counts::new();
    for stream in activations.into_iter().flat_map(|activation| activation.streams) {
        for length in 1..=k.min(stream.len()) {
            for window in stream.windows(length) {
                *counts.entry(window.to_vec()).or_default() += 1;
            }
        }
    }
    counts
}

/// The sequences of a report, with IDs decoded to blocks.
fn decoded(table: &FunctionTable, function: &FunctionPaths) -> Result<Counts> {
    let decoder = PathDecoder::new(table)
        .map_err(|error| mismatch(format!("the table of '{}': {error}", table.name)))?;
    let mut known: HashMap<u32, AcyclicPath> = HashMap::new();
    let mut counts = Counts::new();
    for path in function.paths.iter().filter(|path| path.count > 0) {
        let mut sequence = Vec::new();
        for &id in &path.ids {
            let step = match known.get(&id) {
                Some(step) => step.clone(),
                None => {
                    let step = decode(&decoder, id).ok_or_else(|| {
                        mismatch(format!("'{}' has no path with the ID {id}", table.name))
                    })?;
                    known.insert(id, step.clone());
                    step
                }
            };
            sequence.push(step);
        }
        *counts.entry(sequence).or_default() += path.count;
    }
    Ok(counts)
}

fn decode(decoder: &PathDecoder, id: u32) -> Option<AcyclicPath> {
    let path = decoder.decode(id)?;
    Some(AcyclicPath {
        after: match path.start {
            PathStart::Entry => None,
            PathStart::After(edge) => Some(edge),
        },
        blocks: path.blocks,
        cut: match path.end {
            PathEnd::Exit(_) => None,
            PathEnd::Cut(edge) => Some(edge),
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::forest_report::CyclicPath;
    use midflight_profile::table::CutReason;

    /// One activation that goes round twice, with its 2-IPF.
    fn report(counts: [u64; 5]) -> ForestReport {
        // 0: entry to back edge, 2: once round, 3: from the back edge out
        let ids: [&[u32]; 5] = [&[0], &[2], &[3], &[0, 2], &[2, 3]];
        let paths =
            ids.iter().zip(counts).map(|(ids, count)| CyclicPath { ids: ids.to_vec(), count });
        let function = FunctionPaths {
            name: "f".to_string(),
            file: String::new(),
            line: 0,
            key: "7".to_string(),
            entries: 1,
            paths: paths.collect(),
        };
        ForestReport { version: 1, k: 2, functions: vec![function] }
    }

    fn compared(counts: [u64; 5]) -> Comparison {
        let table = crate::replay::tests::table(CutReason::Retreating);
        let log = Activations::from([(1, (7, vec![0, 1, 2, 1, 2, 1, 3]))]);
        compare(&[table], &report(counts), log).unwrap()
    }

    #[test]
    fn the_right_forest_is_found_right() {
        let result = compared([1, 1, 1, 1, 1]);
        assert_eq!((result.functions, result.blocks, result.sequences), (1, 7, 5));
        assert_eq!((result.explained, result.wrong.len()), (0, 0), "{result:?}");
    }

    #[test]
    fn any_count_that_is_one_too_high_is_reported() {
        for at in 0..5 {
            let mut counts = [1; 5];
            counts[at] += 1;
            assert_eq!(compared(counts).wrong.len(), 1, "{at}");
        }
    }

    #[test]
    fn a_sequence_that_is_missing_is_reported() {
        assert_eq!(compared([1, 1, 1, 0, 1]).wrong.len(), 1);
        assert_eq!(compared([1, 1, 1, 1, 0]).wrong.len(), 1);
    }

    #[test]
    fn an_activation_that_ended_in_its_last_block_is_explained() {
        let result = compared([1, 1, 0, 1, 0]);
        assert_eq!((result.explained, result.wrong.len()), (2, 0), "{result:?}");
    }

    #[test]
    fn a_function_that_only_one_side_knows_is_reported() {
        let table = crate::replay::tests::table(CutReason::Retreating);
        let never = compare(std::slice::from_ref(&table), &report([1; 5]), Activations::new());
        assert_eq!(never.unwrap().wrong.len(), 1);
        let log = Activations::from([(1, (7, vec![0]))]);
        let empty = ForestReport { version: 1, k: 2, functions: vec![] };
        assert_eq!(compare(&[table], &empty, log).unwrap().wrong.len(), 1);
    }
}
