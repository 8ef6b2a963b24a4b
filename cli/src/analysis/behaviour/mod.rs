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
//! paths, and lower bounds where memory was full. Shares are of what is known to have followed.

pub mod dispatch;
pub mod hints;
pub mod loops;
pub mod order;
pub mod runs;
pub mod trips;

use crate::analysis::rank::Ranked;
use hints::Hint;
use loops::NaturalLoop;
use midflight_profile::forest::{NodeId, PrefixForest};
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
    /// How well past paths foretell the next; none where memory was full, since what is rare is
    /// lost first
    pub foretold: Option<Foretold>,
    /// What could be done
    pub hints: Vec<Hint>,
}

impl LoopReport {
    /// How often it was gone around on one of its ways.
    pub fn iterations(&self) -> u64 {
        self.cycles.iter().map(|c| c.count).fold(0, u64::saturating_add)
    }
}

/// A way around a loop.
#[derive(Clone, Debug, Serialize)]
pub struct Cycle {
    /// The path's ID
    pub id: u32,
    /// How often it was taken, but not as the first iteration
    pub count: u64,
    /// How often it was taken in a row
    pub runs: Runs,
    /// What came next, most frequent first
    pub next: Vec<Next>,
}

/// A path that followed another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Next {
    /// The path's ID
    pub id: u32,
    /// How often it followed
    pub count: u64,
}

/// The loops of a function that were gone around, with `ipf` of [`Ranked::k_ipf`], those with the
/// most work of their own first.
pub fn behaviour(ranked: &Ranked<'_>, ipf: &PrefixForest) -> Vec<LoopReport> {
    let function = ranked.function;
    let k = function.k();
    let deepest = order::deepest(ipf, k);
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
    ipf: &PrefixForest,
    k: u32,
    deepest: &[NodeId],
    l: &NaturalLoop,
) -> LoopReport {
    let function = ranked.function;
    let cycles =
        ranked.paths.iter().filter(|taken| l.cycles.contains(&taken.id)).map(|taken| Cycle {
            id: taken.id,
            count: taken.count,
            runs: Runs::of(ipf, taken.id, k, l.entered),
            next: order::next(ipf, taken.id),
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
        pattern: order::pattern(ipf, deepest, &l.started),
        foretold: order::foretold(ipf, k, deepest, &l.started).filter(|_| function.is_whole()),
        hints: Vec::new(),
    };
    report.hints = hints::hints(function, l, &report, k);
    report
}
