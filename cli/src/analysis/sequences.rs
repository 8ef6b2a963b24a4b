//! Which multi-iteration paths are worth showing.
//!
//! A k-IPF has every sequence of up to k paths that occurred, so a hot one comes with all its parts
//! and, if it repeats itself, with all its rotations. The hottest by work are taken in turn, and
//! those that a taken one explains are left out: its parts that hardly occur outside of it.

use crate::analysis::interval::Interval;
use crate::analysis::ipf::Ipf;
use crate::analysis::rank::Ranked;
use crate::format::numbers::Percent;
use midflight_profile::forest::NodeId;
use serde::Serialize;

/// A multi-iteration path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Sequence {
    /// The places of its paths, at least two, in [`Ranked::paths`]
    pub paths: Vec<usize>,
    /// How often it occurred, as far as it is known
    pub count: u64,
    /// How often it may have occurred at most
    pub most: u64,
    /// How often it occurred without its last path
    pub parent: Interval<u64>,
    /// How often its first path occurred
    pub root: Interval<u64>,
}

impl Sequence {
    /// How often it occurred.
    pub fn times(&self) -> Interval<u64> {
        Interval::new(self.count, self.most)
    }
}

/// How many candidates are looked at: what is chosen is far among the first of them.
const CANDIDATES: usize = 4096;

/// A part is explained by a sequence if it occurs at most this many times as often: 5/4.
const EXPLAINED: (u128, u128) = (5, 4);

/// Picks up to `most` sequences that make up at least `min_percent` of the work of the function,
/// hottest first.
pub fn pick(ranked: &Ranked<'_>, ipf: &Ipf, most: usize, min_percent: f64) -> Vec<Sequence> {
    let mut chosen: Vec<Sequence> = Vec::new();
    for (work, sequence) in candidates(ranked, ipf) {
        if chosen.len() == most || Percent::of(work, ranked.work).0 < min_percent {
            break;
        }
        if !chosen.iter().any(|c| explains(c, &sequence)) {
            chosen.push(sequence);
        }
    }
    chosen
}

/// The sequences of two or more paths with the most work, most first.
fn candidates(ranked: &Ranked<'_>, ipf: &Ipf) -> Vec<(u128, Sequence)> {
    let paths = &ipf.paths;
    // The instructions on the way to each node; parents come before their children.
    let mut cost = vec![0u64; paths.len()];
    let mut all: Vec<(u128, NodeId)> = Vec::new();
    for node in paths.ids() {
        let own = ranked.cost(paths.label(node));
        let parent = paths.parent(node);
        cost[node.index()] = own + parent.map_or(0, |p| cost[p.index()]);
        if parent.is_some() {
            all.push((u128::from(ipf.least(node)) * u128::from(cost[node.index()]), node));
        }
    }
    if all.len() > CANDIDATES {
        all.select_nth_unstable_by(CANDIDATES, |a, b| b.0.cmp(&a.0));
        all.truncate(CANDIDATES);
    }
    all.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| paths.labels(a.1).cmp(&paths.labels(b.1))));
    all.into_iter().map(|(work, node)| (work, sequence_of(ranked, ipf, node))).collect()
}

fn sequence_of(ranked: &Ranked<'_>, ipf: &Ipf, node: NodeId) -> Sequence {
    let mut root = node;
    while let Some(parent) = ipf.paths.parent(root) {
        root = parent;
    }
    let Interval { least: count, most } = ipf.count(node);
    let labels = ipf.paths.labels(node);
    Sequence {
        paths: labels.into_iter().map(|id| ranked.place(id).unwrap_or(0)).collect(),
        count,
        most,
        parent: ipf.paths.parent(node).map_or(Interval::exact(0), |parent| ipf.count(parent)),
        root: ipf.count(root),
    }
}

/// True if `part` is a part of `whole`, or of its repetition, and occurs hardly more often.
fn explains(whole: &Sequence, part: &Sequence) -> bool {
    let (times, of) = EXPLAINED;
    let close = u128::from(part.count) * of <= u128::from(whole.count) * times;
    let twice = [whole.paths.as_slice(), whole.paths.as_slice()].concat();
    let within = |haystack: &[usize]| haystack.windows(part.paths.len()).any(|w| w == part.paths);
    // The other way round too: a longer one that says no more than the shorter.
    let extends = part.paths.windows(whole.paths.len()).any(|w| w == whole.paths);
    close && (within(&twice) || extends)
}

/// A sequence with repetitions folded: `A ×7`, `(A B) ×3 A`.
pub fn folded(letters: &[&str]) -> String {
    let mut words = Vec::new();
    let mut rest = letters;
    while !rest.is_empty() {
        let (period, times) = best_repetition(rest);
        let group = rest[..period].join(" ");
        words.push(match (times, period) {
            (1, _) => group,
            (_, 1) => format!("{group} ×{times}"),
            _ => format!("({group}) ×{times}"),
        });
        rest = &rest[period * times..];
    }
    words.join(" → ")
}

/// The period and the number of repetitions at the head of a sequence that cover the most.
fn best_repetition(letters: &[&str]) -> (usize, usize) {
    let mut best = (1, 1);
    for period in 1..=letters.len() / 2 {
        let times = letters.chunks_exact(period).take_while(|c| *c == &letters[..period]).count();
        if times > 1 && period * times > best.0 * best.1 {
            best = (period, times);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repetitions_are_folded() {
        assert_eq!(folded(&["A"]), "A");
        assert_eq!(folded(&["A", "A", "A"]), "A ×3");
        assert_eq!(folded(&["A", "B", "A", "B", "A"]), "(A B) ×2 → A");
        assert_eq!(folded(&["C", "A", "A", "A", "B"]), "C → A ×3 → B");
        assert_eq!(folded(&["A", "B", "C"]), "A → B → C");
    }

    #[test]
    fn parts_and_rotations_are_explained_by_the_whole() {
        let s = |paths: &[usize], count| {
            let (parent, root) = (Interval::exact(0), Interval::exact(0));
            Sequence { paths: paths.to_vec(), count, most: count, parent, root }
        };
        let whole = s(&[0, 1, 0, 1], 100);
        assert!(explains(&whole, &s(&[1, 0, 1], 101)));
        assert!(explains(&whole, &s(&[1, 0, 1, 0], 99)));
        assert!(!explains(&whole, &s(&[0, 1], 200)));
        assert!(!explains(&whole, &s(&[0, 0], 50)));
    }
}
