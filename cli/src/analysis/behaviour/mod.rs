//! How loops behave over their iterations (thesis 6.1), and what could be done about it.
//!
//! An acyclic-path profile says how often each way through a loop was taken; the k-IPF says in
//! which order. [`loops`] finds a function's loops in its table, [`runs`] tells how long the same
//! way is taken without a break, [`order`] what follows what, how well the past foretells the next
//! path, and which sequence repeats, [`trips`] whether a loop always goes around as often,
//! [`dispatch`] where branches with many targets go; [`hints`] puts what follows from it into
//! words.
//!
//! All counts are those of the k-IPF, so they are exact for anything that spans at most k acyclic
//! paths. Where memory was short what is derived of them is known within bounds
//! ([`interval`](super::interval)), and what could be done is told only where it holds whatever is
//! within these. Shares are of what followed.

pub mod dispatch;
pub mod hints;
pub mod loops;
pub mod order;
pub mod runs;
pub mod trips;

use crate::analysis::interval::Interval;
use crate::analysis::ipf::Ipf;
use crate::analysis::rank::Ranked;
use crate::input::function::Function;
use hints::Hint;
use loops::NaturalLoop;
use midflight_profile::forest::NodeId;
use midflight_profile::table::{PathEnd, PathStart};
use order::{Foretold, Pattern};
use runs::Runs;
use serde::Serialize;

/// A loop of a function, and how it behaved.
#[derive(Clone, Debug, Serialize)]
pub struct LoopReport {
    /// The block that its back edges enter
    pub header: u32,
    /// The line of that block; 0 if it has none
    pub line: u32,
    /// How often it was entered from outside
    pub entered: u64,
    /// How often its back edges were taken
    pub around: u64,
    /// Instructions in it, loops within it included
    pub size: u64,
    /// True if something in it calls a function
    pub calls: bool,
    /// What was spent in it, loops within it included
    pub work: u128,
    /// What was spent in it, but not in a loop within it
    pub own_work: u128,
    /// The ways around it: acyclic paths from its header to a back edge, most work first
    pub cycles: Vec<Cycle>,
    /// What repeats itself in it, if a sequence of two or more paths does
    pub pattern: Option<Pattern>,
    /// How well past paths foretell the next
    pub foretold: Option<Foretold>,
    /// What could be done
    pub hints: Vec<Hint>,
    /// By how much all counts of single paths together may be too low
    #[serde(skip)]
    pub lost: u64,
}

impl LoopReport {
    /// How often it was gone around on one of its ways.
    pub fn iterations(&self) -> Interval<u64> {
        let counted = self.cycles.iter().map(|c| c.count).fold(0, u64::saturating_add);
        Interval::counted(counted, self.lost)
    }

    /// How often it was gone around each time that it was entered.
    pub fn rounds(&self) -> Interval<f64> {
        let around = Interval::counted(self.around, self.lost);
        let entered = self.entered.saturating_sub(self.lost);
        around.for_each(Interval::new(entered, self.entered.saturating_add(self.lost)))
    }

    /// The share of its iterations that went so many times one way.
    pub fn share(&self, times: Interval<u64>) -> Interval<f64> {
        times.share_of(self.iterations())
    }
}

/// A way around a loop.
#[derive(Clone, Debug, Serialize)]
pub struct Cycle {
    /// The path's ID
    pub id: u32,
    /// How often it was taken, but not as the first iteration, as far as it is known
    pub count: u64,
    /// How often it may have been at most: more only where paths were lost
    pub most: u64,
    /// How often it was taken in a row
    pub runs: Runs,
    /// What came next, most frequent first
    pub next: Vec<Next>,
    /// How often anything came next
    pub followed: Interval<u64>,
}

impl Cycle {
    /// How often it was taken.
    pub fn times(&self) -> Interval<u64> {
        Interval::new(self.count, self.most)
    }

    /// The share that a path has of what came next.
    pub fn share(&self, next: &Next) -> Interval<f64> {
        Interval::new(next.count, next.most).share_of(self.followed)
    }
}

/// A path that followed another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Next {
    /// The path's ID
    pub id: u32,
    /// How often it followed, as far as it is known
    pub count: u64,
    /// How often it may have followed at most
    pub most: u64,
}

/// The loops of a function that were gone around, with `ipf` of [`Ranked::k_ipf`], those with the
/// most work of their own first.
pub fn behaviour(ranked: &Ranked<'_>, ipf: &Ipf) -> Vec<LoopReport> {
    let function = ranked.function;
    let k = function.k();
    let deepest = order::deepest(&ipf.paths, k);
    let mut reports: Vec<LoopReport> = loops::loops(ranked)
        .iter()
        .filter(|l| l.around > 0)
        .map(|l| report(ranked, ipf, k, &deepest, l))
        .collect();
    reports.sort_by_key(|l| (std::cmp::Reverse(l.own_work), l.header));
    reports
}

fn report(
    ranked: &Ranked<'_>,
    ipf: &Ipf,
    k: u32,
    deepest: &[NodeId],
    l: &NaturalLoop,
) -> LoopReport {
    let function = ranked.function;
    let cycles =
        ranked.paths.iter().filter(|taken| l.cycles.contains(&taken.id)).map(|taken| Cycle {
            id: taken.id,
            count: taken.count,
            most: taken.count.saturating_add(function.lost()),
            runs: Runs::of(ipf, taken.id, k),
            next: order::next(ipf, taken.id),
            followed: order::followed(ipf, taken.id),
        });
    let (size, calls) = function.size_of(l.body.iter().copied());
    let mut report = LoopReport {
        size,
        calls,
        header: l.header,
        line: function.line_of(l.header),
        entered: l.entered,
        around: l.around,
        work: l.work,
        own_work: l.own_work,
        cycles: cycles.collect(),
        pattern: order::pattern(ipf, k, deepest, &l.started),
        foretold: order::foretold(ipf, k, deepest, &l.started, |id| follows(function, l, id)),
        hints: Vec::new(),
        lost: function.lost(),
    };
    report.hints = hints::hints(function, l, &report, k);
    report
}

/// True if the graph has a path behind one of those that were taken from a loop's header on.
fn follows(function: &Function<'_>, l: &NaturalLoop, id: u32) -> bool {
    let target = |edge: usize| function.table.edges.get(edge).and_then(|edge| edge.to());
    let Some((PathStart::After(edge), _)) = function.decoder.ends(id) else { return false };
    let begins = target(edge);
    let ends_there = |&id: &u32| match function.decoder.ends(id) {
        Some((_, PathEnd::Cut(edge))) => target(edge) == begins,
        _ => false,
    };
    l.started.iter().any(ends_there)
}
