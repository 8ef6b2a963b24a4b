//! Edge for edge: counts recovered from paths against plain counters (`oracle=edges`).
//!
//! A counter is put on each edge of the graph that was numbered, by a mechanism that shares nothing
//! with path profiling. The recovered count of every edge must equal it. Only the last path of an
//! *interrupted* activation (one left by `exit`, `longjmp` or unwinding) is not counted as a path,
//! while the plain counters saw its edges; it takes each edge at most once. So in a function with
//! interrupted activations a plain counter may be larger, by at most their number.
//!
//! A `longjmp` back into an activation ends a path unseen as well. The edge behind the call that
//! returned twice has been taken more often than it ended paths, and the difference counts these.

use crate::edge_report::{EdgeReport, FunctionEdges};
use crate::error::{Error, Result};
use std::collections::HashMap;

/// Plain counts: by key of the record and index of the edge.
pub type PlainCounts = HashMap<(u64, usize), u64>;

/// Result of a comparison.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Functions with an activation
    pub functions: usize,
    /// Edges of these
    pub edges: usize,
    /// Edges whose counts are equal
    pub exact: usize,
    /// Edges whose counts differ by no more than the interrupted paths explain
    pub explained: usize,
    /// Interrupted paths, summed over all functions
    pub interrupted: u64,
    /// Edges whose counts differ by more, one line each
    pub wrong: Vec<String>,
}

/// Reads what the oracle wrote: lines of a key in hex, an index and a count.
///
/// # Errors
/// At the first line that is not so.
pub fn parse_plain(text: &str) -> Result<PlainCounts> {
    let mut counts = PlainCounts::new();
    for line in text.lines() {
        let (key, edge, count) = parse_line(line).ok_or_else(|| Error::Malformed {
            what: "what the edge oracle wrote".to_string(),
            problem: format!("the line '{line}' is not a key, an index and a count"),
        })?;
        *counts.entry((key, edge)).or_default() += count;
    }
    Ok(counts)
}

fn parse_line(line: &str) -> Option<(u64, usize, u64)> {
    let mut words = line.split(' ');
    let key = u64::from_str_radix(words.next()?, 16).ok()?;
    Some((key, words.next()?.parse().ok()?, words.next()?.parse().ok()?))
}

/// Compares every edge of every function.
///
/// # Errors
/// If a key in the report is no number.
pub fn compare(report: &EdgeReport, plain: &PlainCounts) -> Result<Comparison> {
    let mut result = Comparison::default();
    let mut seen = PlainCounts::new();
    for function in &report.functions {
        let digits = function.key.trim_start_matches("0x");
        let key = u64::from_str_radix(digits, 16).map_err(|_| Error::Malformed {
            what: "the output of 'midflight show --edges'".to_string(),
            problem: format!("'{}' is not a key in hex", function.key),
        })?;
        compare_function(function, key, plain, &mut seen, &mut result);
    }
    for (&(key, edge), count) in plain {
        if !seen.contains_key(&(key, edge)) {
            result.wrong.push(format!("{key:016x} edge {edge}: taken {count} times, not reported"));
        }
    }
    result.wrong.sort();
    Ok(result)
}

fn compare_function(
    function: &FunctionEdges,
    key: u64,
    plain: &PlainCounts,
    seen: &mut PlainCounts,
    result: &mut Comparison,
) {
    let taken = |edge: usize| plain.get(&(key, edge)).copied().unwrap_or(0);
    let returned_again: u64 = function
        .edges
        .iter()
        .enumerate()
        .filter(|(_, edge)| edge.kind == "restart")
        .map(|(index, edge)| taken(index).saturating_sub(edge.count))
        .sum();
    let slack = function.interrupted + returned_again;
    result.functions += usize::from(function.entries > 0);
    result.interrupted += slack;
    for (index, edge) in function.edges.iter().enumerate() {
        seen.insert((key, index), 0);
        result.edges += usize::from(function.entries > 0);
        let counts = std::iter::once(edge.count).chain(edge.started);
        let worst = counts.map(|count| judge(count, taken(index), slack)).max();
        match worst.unwrap_or(Verdict::Exact) {
            Verdict::Exact => result.exact += usize::from(function.entries > 0),
            Verdict::Explained => result.explained += 1,
            Verdict::Wrong => result.wrong.push(format!(
                "{} edge {index} ({} -> {}, {}): recovered {}{}, taken {}, {slack} interrupted",
                function.name,
                edge.from,
                edge.to.map_or("exit".to_string(), |to| to.to_string()),
                edge.kind,
                edge.count,
                edge.started.map_or(String::new(), |n| format!(" ended and {n} begun")),
                taken(index),
            )),
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Verdict {
    Exact,
    Explained,
    Wrong,
}

fn judge(recovered: u64, taken: u64, slack: u64) -> Verdict {
    match taken.checked_sub(recovered) {
        Some(0) => Verdict::Exact,
        Some(more) if more <= slack => Verdict::Explained,
        _ => Verdict::Wrong,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::edge_report::EdgeCount;

    fn edge(kind: &str, count: u64, started: Option<u64>) -> EdgeCount {
        EdgeCount { from: 0, to: Some(1), kind: kind.to_string(), count, started }
    }

    /// A loop that was entered twice and went round ten times.
    fn report(interrupted: u64) -> EdgeReport {
        let edges = vec![
            edge("flow", 2, None),
            edge("retreating", 10, Some(10)),
            edge("exit", 2 - interrupted, None),
        ];
        let function = FunctionEdges {
            name: "f".to_string(),
            key: "00000000000000ff".to_string(),
            entries: 2,
            completed: 2 - interrupted,
            interrupted,
            edges,
        };
        EdgeReport { version: 1, functions: vec![function] }
    }

    fn plain(counts: [u64; 3]) -> PlainCounts {
        counts.into_iter().enumerate().map(|(edge, n)| ((0xff, edge), n)).collect()
    }

    fn wrong(report: &EdgeReport, counts: [u64; 3]) -> usize {
        compare(report, &plain(counts)).unwrap().wrong.len()
    }

    #[test]
    fn equal_counts_are_exact() {
        let result = compare(&report(0), &plain([2, 10, 2])).unwrap();
        assert_eq!((result.functions, result.edges, result.exact), (1, 3, 3));
        assert!(result.wrong.is_empty());
    }

    #[test]
    fn a_count_that_is_off_by_one_is_reported() {
        for edge in 0..3 {
            for delta in [-1i64, 1] {
                let mut counts = [2u64, 10, 2];
                counts[edge] = counts[edge].checked_add_signed(delta).unwrap();
                assert_eq!(wrong(&report(0), counts), 1, "edge {edge} off by {delta}");
            }
        }
    }

    #[test]
    fn what_began_after_a_cut_edge_is_compared_too() {
        let mut report = report(0);
        report.functions[0].edges[1].started = Some(9);
        assert_eq!(wrong(&report, [2, 10, 2]), 1);
    }

    #[test]
    fn interrupted_activations_explain_no_more_than_their_number() {
        assert_eq!(wrong(&report(1), [2, 11, 1]), 0);
        assert_eq!(wrong(&report(1), [2, 12, 1]), 1);
        assert_eq!(wrong(&report(1), [2, 9, 1]), 1, "a plain counter is never the smaller one");
    }

    #[test]
    fn an_edge_that_the_report_lacks_is_reported() {
        let mut counts = plain([2, 10, 2]);
        counts.insert((0xff, 3), 1);
        counts.insert((0xee, 0), 1);
        assert_eq!(compare(&report(0), &counts).unwrap().wrong.len(), 2);
    }

    #[test]
    fn a_line_that_is_not_a_count_is_an_error() {
        assert!(parse_plain("00ff 1 2\n00ff 1 3\n").unwrap()[&(0xff, 1)] == 5);
        for text in ["00ff 1", "xyz 1 2", "00ff 1 -2", ""] {
            assert_eq!(parse_plain(text).is_err(), !text.is_empty(), "{text}");
        }
    }
}
