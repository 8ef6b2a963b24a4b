//! Which call sites of two builds of a function are the same.
//!
//! A call site has no name. Where a function's record is the same in both builds, its slots are.
//! Else the calls of one function by another are paired in the order of their lines, counted from
//! the caller's declaration: as many as there can be, so that these lines differ least. What is
//! written above the caller moves no call, and what is written in it moves those below it alike.

use crate::format::names::base_name;
use crate::input::contexts::Called;

/// Where a call is: its line below that of the caller's declaration, and in code that was inlined
/// there the file and line that it is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place<'a> {
    line: i64,
    inlined: (&'a str, u32),
}

/// The place of a call site; the declaration's where it is not known.
pub fn place<'a>(caller: &'a Called<'_>, slot: u32) -> Place<'a> {
    let Some((site, file)) = caller.site(slot).filter(|(site, _)| site.loc.line != 0) else {
        return Place { line: 0, inlined: ("", 0) };
    };
    let loc = site.loc;
    let line = i64::from(loc.outer_line) - i64::from(caller.line());
    let is_own = loc.line == loc.outer_line;
    Place { line, inlined: if is_own { ("", 0) } else { (base_name(file), loc.line) } }
}

/// Pairs of so many places by so many others that are tried, at most; more are paired in order.
const TRIED: usize = 1 << 20;

/// Pairs of two lists, both in order, by their places in them: as many as the shorter one has, in
/// order in both, with the least sum of distances.
pub fn pair(a: &[Place<'_>], b: &[Place<'_>]) -> Vec<(usize, usize)> {
    if a.len() > b.len() {
        return pair(b, a).into_iter().map(|(b, a)| (a, b)).collect();
    }
    let spare = b.len() - a.len();
    if spare == 0 || a.is_empty() || a.len().saturating_mul(spare + 1) > TRIED {
        return (0..a.len()).map(|index| (index, index)).collect();
    }
    // `sums[i][s]`: the least sum for the first i of a, with s of b left out so far.
    let width = spare + 1;
    let mut sums = vec![0; width];
    let mut is_left_out = vec![false; a.len() * width];
    for (index, one) in a.iter().enumerate() {
        for skipped in 0..width {
            let with = sums[skipped] + distance(one, &b[index + skipped]);
            let is_better = skipped > 0 && sums[skipped - 1] <= with;
            is_left_out[index * width + skipped] = is_better;
            sums[skipped] = if is_better { sums[skipped - 1] } else { with };
        }
    }
    let mut skipped = spare;
    let mut pairs = Vec::with_capacity(a.len());
    for index in (0..a.len()).rev() {
        while is_left_out[index * width + skipped] {
            skipped -= 1;
        }
        pairs.push((index, index + skipped));
    }
    pairs.reverse();
    pairs
}

/// Lines count most; what is from the same line of inlined code breaks ties.
fn distance(a: &Place<'_>, b: &Place<'_>) -> u64 {
    2 * a.line.abs_diff(b.line) + u64::from(a.inlined != b.inlined)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn at(line: i64) -> Place<'static> {
        Place { line, inlined: ("", 0) }
    }

    fn paired(a: &[i64], b: &[i64]) -> Vec<(usize, usize)> {
        let [a, b] = [a, b].map(|lines| lines.iter().map(|&line| at(line)).collect::<Vec<_>>());
        pair(&a, &b)
    }

    #[test]
    fn a_call_that_was_added_or_removed_leaves_the_others_paired() {
        assert_eq!(paired(&[10, 20, 30], &[3, 11, 21, 31]), [(0, 1), (1, 2), (2, 3)]);
        assert_eq!(paired(&[10, 20, 30], &[10, 30]), [(0, 0), (2, 1)]);
        assert_eq!(paired(&[5], &[90]), [(0, 0)]);
        assert_eq!(paired(&[], &[1]), []);
    }

    #[test]
    fn calls_of_one_line_are_told_apart_by_what_was_inlined() {
        let inlined = Place { line: 4, inlined: ("util.h", 7) };
        assert_eq!(pair(&[inlined], &[at(4), inlined]), [(0, 1)]);
        assert_eq!(pair(&[at(4)], &[at(4), inlined]), [(0, 0)]);
    }

    /// The least sum, by trying all.
    fn least(a: &[i64], b: &[i64]) -> u64 {
        let Some((first, rest)) = a.split_first() else { return 0 };
        let starts = 0..=b.len() - a.len();
        starts.map(|at| first.abs_diff(b[at]) + least(rest, &b[at + 1..])).min().unwrap()
    }

    proptest! {
        #[test]
        fn no_other_pairs_are_closer(
            mut a in proptest::collection::vec(0i64..30, 0..6),
            mut b in proptest::collection::vec(0i64..30, 0..6),
        ) {
            a.sort_unstable();
            b.sort_unstable();
            let pairs = paired(&a, &b);
            prop_assert_eq!(pairs.len(), a.len().min(b.len()));
            prop_assert!(pairs.windows(2).all(|two| two[0].0 < two[1].0 && two[0].1 < two[1].1));
            let sum: u64 = pairs.iter().map(|&(x, y)| a[x].abs_diff(b[y])).sum();
            let best = if a.len() <= b.len() { least(&a, &b) } else { least(&b, &a) };
            prop_assert_eq!(sum, best);
        }
    }
}
