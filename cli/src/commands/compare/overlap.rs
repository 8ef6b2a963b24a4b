//! `midflight overlap`: how alike two profiles are, as one number a level.
//!
//! As in `llvm-profdata overlap`, the overlap of two distributions is the sum, over all that is
//! counted, of the smaller of the two shares: 1 if they are the same, 0 if they have nothing in
//! common. Where sequences may be missing it is known within bounds: m of them that are added to n
//! change no distribution by more than m / (n + m), and so no overlap.

use crate::analysis::interval::Interval;
use crate::commands::compare::pairs::{Pair, total_work};
use crate::format::known;
use crate::format::names::readable;
use crate::format::numbers::{Percent, share};
use serde::Serialize;
use std::io::{self, Write};

/// The overlap of two profiles.
#[derive(Clone, Debug, Serialize)]
pub struct Overlap {
    /// Of its JSON
    pub version: u32,
    /// Of the shares of work of functions
    pub functions: f64,
    /// Of the shares of work of paths
    pub paths: f64,
    /// Of the shares of counts of sequences of two or more paths; none if there is none in one of
    /// the profiles
    pub sequences: Option<Interval<f64>>,
    /// Of each function in itself, those with the most work first
    pub by_function: Vec<FunctionOverlap>,
}

/// The overlap of a function.
#[derive(Clone, Debug, Serialize)]
pub struct FunctionOverlap {
    /// Its name
    pub name: String,
    /// The translation unit that a local function belongs to
    pub unit: String,
    /// Its shares of the work of both profiles
    pub work: [f64; 2],
    /// Of the shares of its paths in its work; none if the function's graph is another in each
    /// profile
    pub paths: Option<f64>,
    /// Of the shares of its sequences of two or more paths
    pub sequences: Option<Interval<f64>>,
}

/// Compares two profiles.
pub fn overlap(pairs: &[Pair<'_, '_>]) -> Overlap {
    let totals = total_work(pairs);
    let mut functions = 0.0;
    let mut all_paths: Vec<[u128; 2]> = Vec::new();
    let mut all_sequences: Vec<[u128; 2]> = Vec::new();
    let mut all_missing: [u128; 2] = [0; 2];
    let mut by_function: Vec<FunctionOverlap> = Vec::new();
    for pair in pairs {
        let table = pair.either().function.table;
        let shares = pair.shares(totals);
        functions += shares[0].min(shares[1]);
        let (paths, (sequences, missing)) = (paths_of(pair), sequences_of(pair));
        let comparable = pair.same_paths();
        by_function.push(FunctionOverlap {
            name: table.name.clone(),
            unit: table.unit.clone(),
            work: shares,
            paths: of(&paths).filter(|_| comparable),
            sequences: within(&sequences, missing).filter(|_| comparable),
        });
        all_paths.extend(paths);
        all_sequences.extend(sequences);
        all_missing.iter_mut().zip(missing).for_each(|(all, missing)| *all += missing);
    }
    let by_work = |f: &FunctionOverlap| f.work[0].max(f.work[1]);
    by_function.sort_by(|a, b| by_work(b).total_cmp(&by_work(a)).then(a.name.cmp(&b.name)));
    Overlap {
        version: 2,
        functions,
        paths: of(&all_paths).unwrap_or(0.0),
        sequences: within(&all_sequences, all_missing),
        by_function,
    }
}

/// The work of each path; of a function whose graphs differ, no path is in both.
fn paths_of(pair: &Pair<'_, '_>) -> Vec<[u128; 2]> {
    if !pair.same_paths() {
        let [a, b] = pair.work();
        return vec![[a, 0], [0, b]];
    }
    let work = |id, count: u64| u128::from(count) * u128::from(pair.instructions(id));
    pair.paths().into_iter().map(|(id, counts)| counts.map(|count| work(id, count))).collect()
}

/// The count of each sequence, and how many occurrences may be missing in both.
fn sequences_of(pair: &Pair<'_, '_>) -> (Vec<[u128; 2]>, [u128; 2]) {
    let sequences = pair.sequences();
    let missing = sequences.missing.map(u128::from);
    let least = |counts: [Interval<u64>; 2]| counts.map(|count| u128::from(count.least));
    let counts: Vec<[u128; 2]> = sequences.counts.into_values().map(least).collect();
    if pair.same_paths() {
        return (counts, missing);
    }
    let sum = |side: usize| counts.iter().map(|count| count[side]).sum();
    (vec![[sum(0), 0], [0, sum(1)]], missing)
}

/// The overlap of two lists of counts of which so many may be missing.
pub(super) fn within(counts: &[[u128; 2]], missing: [u128; 2]) -> Option<Interval<f64>> {
    let off = [0, 1].map(|side: usize| {
        let all: u128 = counts.iter().map(|count| count[side]).sum();
        share(missing[side], all + missing[side])
    });
    Some(Interval::share_about(of(counts)?, off[0] + off[1]))
}

/// The overlap of two lists of counts; none if one of them is all zero.
fn of(counts: &[[u128; 2]]) -> Option<f64> {
    let totals = [0, 1].map(|side: usize| counts.iter().map(|count| count[side]).sum::<u128>());
    if totals.contains(&0) {
        return None;
    }
    let common = counts.iter().map(|c| share(c[0], totals[0]).min(share(c[1], totals[1])));
    Some(common.sum())
}

/// Writes it as text: the levels, then up to `top` functions.
pub fn write(out: &mut dyn Write, overlap: &Overlap, top: usize) -> io::Result<()> {
    let percent =
        |share: Option<f64>| share.map_or("-".into(), |share| Percent::share(share).to_string());
    writeln!(out, "functions  {:>8}", percent(Some(overlap.functions)))?;
    writeln!(out, "paths      {:>8}", percent(Some(overlap.paths)))?;
    let known = |share: Option<Interval<f64>>| share.map_or("-".into(), known::percent);
    writeln!(out, "sequences  {:>8}", known(overlap.sequences))?;
    writeln!(out, "\n% work A   % work B      paths   sequences   function")?;
    for function in overlap.by_function.iter().take(top) {
        writeln!(
            out,
            "{:>8}   {:>8}   {:>8}   {:>9}   {}",
            percent(Some(function.work[0])),
            percent(Some(function.work[1])),
            percent(function.paths),
            known(function.sequences),
            readable(&function.name)
        )?;
    }
    match overlap.by_function.len().saturating_sub(top) {
        0 => Ok(()),
        more => writeln!(out, "{more} more; --top shows more"),
    }
}

#[cfg(test)]
mod tests {
    use super::{of, within};
    use crate::analysis::interval::Interval;

    #[test]
    fn overlap_is_the_sum_of_the_smaller_shares() {
        assert_eq!(of(&[[1, 10], [3, 30]]), Some(1.0));
        assert_eq!(of(&[[1, 0], [0, 7]]), Some(0.0));
        assert_eq!(of(&[[1, 1], [1, 3]]), Some(0.75));
        assert_eq!(of(&[[1, 0]]), None);
        assert_eq!(of(&[]), None);
    }

    #[test]
    fn what_is_missing_may_be_in_common_or_not() {
        assert_eq!(within(&[[1, 1], [1, 3]], [0, 0]), Some(Interval::exact(0.75)));
        assert_eq!(within(&[[4, 4]], [1, 0]), Some(Interval::new(0.8, 1.0)));
        assert_eq!(within(&[], [1, 0]), None);
    }
}
