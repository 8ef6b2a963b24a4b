//! What could be done about a loop, in words. Thresholds are rules of thumb; the numbers that a
//! hint is drawn from stand in it, so that it can be judged. Where these are known within bounds
//! only, a hint is given if it holds for all that they may be.

use crate::analysis::behaviour::loops::NaturalLoop;
use crate::analysis::behaviour::order::Foretold;
use crate::analysis::behaviour::{Cycle, LoopReport};
use crate::analysis::interval::Interval;
use crate::format::known;
use crate::format::numbers::grouped;
use crate::input::function::Function;
use midflight_profile::table::Stage;
use serde::Serialize;
use std::collections::BTreeMap;

/// A cycle with less of the iterations does not count as one of the loop's ways.
const SOME: f64 = 0.05;
/// So many of the iterations must be one path each.
const MOST: f64 = 0.5;
/// The share that makes "nearly always".
const NEARLY_ALL: f64 = 0.9;
/// A run of the same path is long from so many on.
const LONG: f64 = 4.0;
/// A hint on unrolling by N says that at least this share of the iterations are in runs of N.
const ENOUGH: f64 = 0.8;
/// What a repeated sequence must cover.
const REPEATS: f64 = 0.5;
/// By so much more of the past must foretell better than the last path alone.
const BETTER: f64 = 0.15;
/// Where no past foretells the next path better, a branch is hard to predict.
const HARD: f64 = 0.75;

/// Of a round with more instructions jumping back is a small part, so that copies of it gain
/// nothing: what the optimizer asks for too (`bridge/cpp/unroll.cpp`), of code that is simplified.
const LARGEST_ROUND: u64 = 16;
/// As the front end makes it, code has nearly twice as many instructions (in bzip2 1.8 times in the
/// median, and three quarters of its loops at most twice).
const BEFORE_IT_IS_SIMPLIFIED: u64 = 2;

/// Something that could be done about a loop.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Hint {
    /// It hardly goes around.
    FewIterations {
        /// How often it goes around each time
        mean: Interval<f64>,
        /// True if its body is small enough to be copied in front of it
        peel: bool,
    },
    /// The first iteration goes a way that the others hardly go.
    PeelFirst {
        /// ID of that way around
        id: u32,
        /// Share of the first iterations that go it
        of_first: Interval<f64>,
        /// Share of the others that go it
        of_others: Interval<f64>,
    },
    /// A sequence repeats itself: unrolled by its length, each copy has one way to go.
    UnrollPattern {
        /// IDs of the sequence
        ids: Vec<u32>,
        /// What it covers
        share: Interval<f64>,
        /// Instructions in the loop
        size: u64,
    },
    /// One way around is nearly all of it, in long runs.
    Unroll {
        /// By how much
        by: u32,
        /// ID of that way around
        id: u32,
        /// The share of its iterations in runs of `by`; none if k is too small to tell
        share: Option<Interval<f64>>,
        /// Mean length of a run
        mean: Interval<f64>,
        /// True if it goes no other way
        alone: bool,
        /// Instructions in the loop
        size: u64,
    },
    /// Several ways, each in long runs: the branch where they part is decided for many iterations.
    UnrollPhases {
        /// By how much
        by: u32,
        /// Line of the branch where the two most frequent part; none if it has none
        line: Option<u32>,
        /// The share of the iterations in runs of `by`; none if k is too small to tell
        share: Option<Interval<f64>>,
        /// Mean length of a run
        mean: Interval<f64>,
        /// Instructions on the most frequent way
        size: u64,
    },
    /// Several ways, and no activation changed from one to another.
    Unswitch {
        /// Line of the branch where the two most frequent part; none if it has none
        line: Option<u32>,
    },
    /// The iterations before the last tell what comes.
    DependsOnPast {
        /// How well these do, and the last path alone
        #[serde(flatten)]
        foretold: Foretold,
        /// True if the body is small enough to be copied
        copies: bool,
    },
    /// No past tells what comes.
    HardToPredict {
        /// Line of the branch where the two most frequent ways part; none if it has none
        line: Option<u32>,
        /// Share of the iterations foretold by as much of the past as was profiled
        foretold: Interval<f64>,
    },
}

impl Hint {
    /// The paths that it names.
    pub fn ids(&self) -> &[u32] {
        match self {
            Hint::PeelFirst { id, .. } | Hint::Unroll { id, .. } => std::slice::from_ref(id),
            Hint::UnrollPattern { ids, .. } => ids,
            _ => &[],
        }
    }
}

/// What could be done about a loop; nothing where nothing stands out.
pub fn hints(function: &Function<'_>, l: &NaturalLoop, report: &LoopReport, k: u32) -> Vec<Hint> {
    let small = is_small(function, report.size, report.calls);
    if let Some(mean) = few_iterations(report) {
        return vec![Hint::FewIterations { mean, peel: small }];
    }
    let peel = if small { peel_first(function, l, report) } else { None };
    let mut hints: Vec<Hint> = peel.into_iter().collect();
    // What the optimizer wanted to unroll is unrolled behind it.
    let in_time = function.table.stage != Stage::Late;
    let may_copy = |size, calls| in_time && is_small(function, size, calls);
    hints.extend(of_iterations(function, report, k, &may_copy));
    hints
}

/// By how much a loop should be unrolled for what its iterations tell, whatever is in it: for an
/// optimizer, which will know what is left of it.
pub fn unroll(function: &Function<'_>, report: &LoopReport, k: u32) -> Option<u32> {
    if few_iterations(report).is_some() {
        return None;
    }
    match of_iterations(function, report, k, &|_, _| true)? {
        Hint::Unroll { by, .. } | Hint::UnrollPhases { by, .. } => Some(by),
        Hint::UnrollPattern { ids, .. } => u32::try_from(ids.len()).ok(),
        _ => None,
    }
}

/// The rounds each time that it is entered, if these are less than one on average.
fn few_iterations(report: &LoopReport) -> Option<Interval<f64>> {
    let mean = report.rounds();
    (report.entered > 0 && mean.is_below(1.0)).then_some(mean)
}

/// True if copies of so much code may pay.
fn is_small(function: &Function<'_>, size: u64, calls: bool) -> bool {
    let most = match function.table.stage {
        Stage::Early => LARGEST_ROUND * BEFORE_IT_IS_SIMPLIFIED,
        Stage::Inlined | Stage::Late => LARGEST_ROUND,
    };
    size <= most && !calls
}

/// The most telling property of the iterations. `may_copy` is asked of code with so many
/// instructions, which calls a function or not.
fn of_iterations(
    function: &Function<'_>,
    report: &LoopReport,
    k: u32,
    may_copy: &dyn Fn(u64, bool) -> bool,
) -> Option<Hint> {
    let all = report.iterations();
    // Those that may be one of the loop's ways, which they surely are where nothing was lost.
    let is_way = |c: &&Cycle| !report.share(c.times()).is_below(SOME);
    let mut ways: Vec<&Cycle> = report.cycles.iter().filter(is_way).collect();
    ways.sort_by_key(|c| (std::cmp::Reverse(c.count), c.id));
    // Where most iterations go through a loop within, or are cut, paths do not stand for them.
    let around = Interval::counted(report.around, report.lost);
    if k < 2 || !all.share_of(around).is_at_least(MOST) {
        return None;
    }
    let (size, copies) = (report.size, may_copy(report.size, report.calls));
    let pattern = report.pattern.as_ref().filter(|p| copies && p.share.is_at_least(REPEATS));
    if let Some(pattern) = pattern {
        return Some(Hint::UnrollPattern { ids: pattern.ids.clone(), share: pattern.share, size });
    }
    let sum = |part: fn(&Cycle) -> Interval<u64>| {
        ways.iter().map(|c| part(c)).fold(Interval::exact(0), Interval::plus)
    };
    let mean = sum(|c| c.runs.paths).for_each(sum(|c| c.runs.number));
    match ways[..] {
        [] => None,
        [_] if !copies => None,
        [only] => {
            let mean = only.runs.mean();
            let by = unroll_by(&[only], mean)?;
            let share = only.runs.share_in(by as usize);
            let alone = all.is_at_most(only.count);
            Some(Hint::Unroll { by, id: only.id, share, mean, alone, size })
        }
        [a, b, ..] => {
            let line = branch_line(function, a.id, b.id);
            if mean.is_at_least(LONG) && !ways.iter().any(|c| may_change(c, &ways)) {
                return Some(Hint::Unswitch { line });
            }
            let way = function.path(a.id).map_or(Vec::new(), |path| path.blocks);
            let (size, calls) = function.size_of(way);
            if let Some(by) = unroll_by(&ways, mean).filter(|_| may_copy(size, calls)) {
                let share = share_in(&ways, by as usize);
                return Some(Hint::UnrollPhases { by, line, share, mean, size });
            }
            let foretold = report.foretold.as_ref()?;
            if foretold.by_more.least - foretold.by_one.most >= BETTER {
                return Some(Hint::DependsOnPast { foretold: foretold.clone(), copies });
            }
            let hard = foretold.by_more.is_below(HARD);
            hard.then_some(Hint::HardToPredict { line, foretold: foretold.by_more })
        }
    }
}

/// True if one of several ways may have been followed by another.
fn may_change(way: &Cycle, ways: &[&Cycle]) -> bool {
    let is_other = |id: u32| id != way.id && ways.iter().any(|other| other.id == id);
    let known = way.next.iter().filter(|next| !is_other(next.id)).map(|next| next.count);
    way.followed.most > known.fold(0, u64::saturating_add)
}

/// 8, 4 or 2: the most for which runs are long enough. What k does not tell, a mean of four times
/// as much makes likely.
fn unroll_by(ways: &[&Cycle], mean: Interval<f64>) -> Option<u32> {
    if !mean.is_at_least(LONG) {
        return None;
    }
    [8u32, 4, 2].into_iter().find(|&by| match share_in(ways, by as usize) {
        Some(share) => share.is_at_least(ENOUGH),
        None => mean.is_at_least(4.0 * f64::from(by)),
    })
}

/// The share of the paths of several ways that are in runs of at least `n`.
fn share_in(ways: &[&Cycle], n: usize) -> Option<Interval<f64>> {
    let (mut within, mut all) = (Interval::exact(0), Interval::exact(0));
    for way in ways {
        within = within.plus(*way.runs.paths_in.get(n.checked_sub(1)?)?);
        all = all.plus(way.runs.paths);
    }
    (all.most > 0).then(|| within.share_of(all))
}

/// A first iteration is the tail of a path from outside, from the header on: which way around that
/// is.
fn peel_first(function: &Function<'_>, l: &NaturalLoop, report: &LoopReport) -> Option<Hint> {
    let ways: Vec<(u32, Vec<u32>)> =
        l.cycles.iter().filter_map(|&id| Some((id, function.path(id)?.blocks))).collect();
    let mut first: BTreeMap<u32, u64> = BTreeMap::new();
    let mut all_first = 0u64;
    for &(id, count) in &l.first {
        all_first = all_first.saturating_add(count);
        let path = function.path(id)?;
        let header = path.blocks.iter().position(|&block| block == l.header)?;
        if let Some((way, _)) = ways.iter().find(|(_, blocks)| path.blocks[header..] == blocks[..])
        {
            *first.entry(*way).or_default() += count;
        }
    }
    let (&id, &count) =
        first.iter().max_by_key(|(id, count)| (**count, std::cmp::Reverse(**id)))?;
    let others = report.iterations();
    let of_others = report.cycles.iter().find(|c| c.id == id).map(|c| c.times());
    let of_others = of_others.unwrap_or(Interval::counted(0, report.lost));
    let all_first = Interval::counted(all_first, report.lost);
    let of_first = Interval::counted(count, report.lost).share_of(all_first);
    let of_others = report.share(of_others);
    let worth = of_first.is_at_least(NEARLY_ALL)
        && of_others.is_at_most(1.0 - NEARLY_ALL)
        && others.is_at_least(all_first.most);
    worth.then_some(Hint::PeelFirst { id, of_first, of_others })
}

/// The line of the last block that two paths have in common at their beginnings.
fn branch_line(function: &Function<'_>, a: u32, b: u32) -> Option<u32> {
    let (a, b) = (function.path(a)?, function.path(b)?);
    let common = a.blocks.iter().zip(&b.blocks).take_while(|(a, b)| a == b).last()?;
    let block = function.table.blocks.get(*common.0 as usize)?;
    block.locs.last().map(|loc| loc.outer_line)
}

/// A hint in words; `letter` is what stands for a path.
pub fn words(hint: &Hint, letter: impl Fn(u32) -> String) -> String {
    let percent = |share: &Interval<f64>| known::percent(*share);
    let of_size = |size: &u64| format!("{} instructions", grouped(*size));
    match hint {
        Hint::FewIterations { mean, peel } => format!(
            "it goes around {} times each time it is entered: unrolling will not pay{}",
            known::mean_at_most(*mean),
            if *peel { ", peeling the first iteration may" } else { "" }
        ),
        Hint::PeelFirst { id, of_first, of_others } => format!(
            "peel the first iteration: {} of the first ones go as {}, and {} of the others",
            percent(of_first),
            letter(*id),
            known::percent_at_most(*of_others)
        ),
        Hint::UnrollPattern { ids, share, size } => {
            let names: Vec<String> = ids.iter().map(|&id| letter(id)).collect();
            format!(
                "unroll by {}: ({}) repeats itself in {} of the iterations, so each copy has \
                 one way to go; it has {}",
                ids.len(),
                names.join(" "),
                percent(share),
                of_size(size)
            )
        }
        Hint::Unroll { by, share, mean, alone: true, size, .. } => {
            format!("unroll by {by}: {}; it has {}", runs(*share, *by, *mean), of_size(size))
        }
        Hint::Unroll { by, id, share, mean, alone: false, size } => format!(
            "unroll by {by} for {}, and leave the loop's other ways to a copy: {}; it has {}",
            letter(*id),
            runs(*share, *by, *mean),
            of_size(size)
        ),
        Hint::UnrollPhases { by, line, share, mean, size } => format!(
            "phases: unroll by {by} and decide {} for {by} iterations at once, or unswitch it \
             if it can be decided before the loop: {}; the most frequent way has {}",
            branch(*line),
            runs(*share, *by, *mean),
            of_size(size)
        ),
        Hint::Unswitch { line } => {
            format!("unswitch: {} went one way as long as the loop was not left", branch(*line))
        }
        Hint::DependsOnPast { foretold: Foretold { by_one, by_more, paths }, copies } => format!(
            "which way it goes depends on the iterations before: the last {paths} paths \
             foretell {}, the last alone {}{}",
            percent(by_more),
            known::percent_at_most(*by_one),
            if *copies { "; unrolled copies can specialize" } else { "" }
        ),
        Hint::HardToPredict { line, foretold } => format!(
            "{} is hard to predict (the past foretells {}): code without it, as a select, may \
             pay",
            branch(*line),
            known::percent_at_most(*foretold)
        ),
    }
}

fn branch(line: Option<u32>) -> String {
    match line {
        Some(line) => format!("the branch at line {line}"),
        None => "the branch where they part".into(),
    }
}

fn runs(share: Option<Interval<f64>>, by: u32, mean: Interval<f64>) -> String {
    match share {
        Some(share) => {
            format!("{} of the iterations are in runs of {by} or more", known::percent(share))
        }
        None => format!(
            "runs are {} long on average (k = {} would tell how many reach {by})",
            known::mean(mean, 1.0),
            by + 1
        ),
    }
}
