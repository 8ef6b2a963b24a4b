//! The whole of `osr fuzz`: references, list, runs side by side.

use crate::commands::osr::fuzz::bisect;
use crate::commands::osr::fuzz::log::{Log, Point, PointName};
use crate::commands::osr::fuzz::plan::{Fire, Firing, plan, plan_open};
use crate::commands::osr::fuzz::program::{Difference, Outcome, Program, ProgramError};
use crate::commands::osr::fuzz::report::{Mismatch, Summary};
use crate::format::progress::Progress;
use crate::format::sink::WriteError;
use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Why nothing can be said about the program.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FuzzError {
    #[error(transparent)]
    Program(#[from] ProgramError),
    #[error(
        "the program is not deterministic: two runs that fired nothing differ, {0}; make it \
         repeatable, or see --ignore-stderr"
    )]
    NotDeterministic(String),
    #[error("the program does something else where points are only listed: {0}")]
    ListDiffers(String),
    #[error(
        "the program has written no log: compile and link it with --midflight-osr-fuzz, and let it \
         end by exit or return, not by _exit or a signal"
    )]
    NoLog,
    #[error(
        "the program has no fuzzed points that were hit, and no open points that fired; is it compiled \
         with --midflight-osr-fuzz, or --midflight-osr-point and to=open:…?"
    )]
    NoPoints,
    #[error("no point that was hit has '{0}' in its name; MIDFLIGHT_OSR_FIRE=list prints all")]
    NoSuchPoints(String),
    #[error("catching signals: {0}")]
    Signals(std::io::Error),
    #[error(transparent)]
    Write(#[from] WriteError),
}

/// What came of a run.
pub struct Verdict {
    pub firing: Firing,
    pub difference: Option<Difference>,
    /// How often points fired, or versions were left
    pub transitions: u64,
    /// Those that did
    pub fired: BTreeSet<PointName>,
    /// Nothing fired since the program did not reach the hit, which it had when it was counted.
    pub unreached: bool,
}

/// What runs are made with, and judged by.
pub struct Judge<'a> {
    pub program: &'a Program<'a>,
    reference: Outcome,
    limit: Duration,
    /// The points that were hit, by name
    pub points: Vec<Point>,
    /// Open points that asked for versions, with the checks of these for hits
    pub open: Vec<Point>,
    /// Points of the program, hit or not
    known: usize,
    /// Versions that were made when none was left
    versions: u64,
    total_hits: u64,
    total_checks: u64,
}

/// Fuzzes the program.
pub fn fuzz(program: &Program<'_>) -> Result<Summary, FuzzError> {
    let (begun, options) = (Instant::now(), program.options);
    let deadline = options.deadline();
    let judge = Judge::new(program)?;
    let mut firings =
        if judge.points.is_empty() { Vec::new() } else { plan(&judge.points, options.seed) };
    if !judge.open.is_empty() {
        firings.extend(plan_open(&judge.open, options.seed));
    }
    if options.points.is_some() {
        // The others concern all points.
        firings.retain(|firing| matches!(firing.fire(), Some(Fire::At(..))));
    }
    let verdicts = judge.run_all(&firings, deadline, !options.keep_going)?;
    let mut summary = summary(&judge, &verdicts);
    summary.complete = verdicts.len() == firings.len();
    summary.mismatches = find_mismatches(&judge, verdicts)?;
    summary.seconds = begun.elapsed().as_secs_f64();
    Ok(summary)
}

/// What the runs have done, all but the mismatches.
fn summary(judge: &Judge<'_>, verdicts: &[Verdict]) -> Summary {
    let mut fired = BTreeSet::new();
    let mut alone = BTreeSet::new();
    let checked = judge.open.iter().filter(|point| point.hits > 0);
    let listed = judge.points.iter().chain(checked).map(|point| &point.name);
    let mut hit: BTreeSet<&PointName> = listed.collect();
    for verdict in verdicts {
        fired.extend(&verdict.fired);
        // An optimized version's points are hit only where a point that leads there has fired.
        hit.extend(&verdict.fired);
        if let Some(Fire::At(name, _)) = verdict.firing.fire() {
            alone.extend(verdict.fired.get(name));
        }
    }
    Summary {
        version: 1,
        points: judge.known + judge.open.len(),
        open_points: judge.open.len(),
        versions: judge.versions,
        points_hit: hit.len(),
        fired: fired.len(),
        fired_alone: alone.len(),
        unreached: verdicts.iter().filter(|verdict| verdict.unreached).count(),
        runs: verdicts.len(),
        transitions: verdicts.iter().map(|verdict| verdict.transitions).sum(),
        ..Summary::default()
    }
}

/// One for each point that is wrong.
fn find_mismatches(judge: &Judge<'_>, verdicts: Vec<Verdict>) -> Result<Vec<Mismatch>, FuzzError> {
    let options = judge.program.options;
    let mut result: Vec<Mismatch> = Vec::new();
    for verdict in verdicts {
        let Some(difference) = verdict.difference else { continue };
        let deadline = options.deadline();
        let (firing, difference) =
            bisect::to_one_point(judge, verdict.firing, &verdict.fired, difference, deadline)?;
        let mismatch = Mismatch::new(judge, &firing, difference);
        if !result.iter().any(|other| other.is_same(&mismatch)) {
            result.push(mismatch);
        }
        if !options.keep_going {
            break;
        }
    }
    Ok(result)
}

impl<'a> Judge<'a> {
    /// Learns what the program does when nothing fires, and which points it hits.
    fn new(program: &'a Program<'a>) -> Result<Self, FuzzError> {
        let reference = program.run(&[], None)?;
        if let Some(difference) = reference.difference(&program.run(&[], None)?) {
            return Err(FuzzError::NotDeterministic(difference.text));
        }
        let list = program.run(&Firing::list(), None)?;
        if !list.log.exists {
            return Err(FuzzError::NoLog);
        }
        if let Some(difference) = reference.difference(&list) {
            return Err(FuzzError::ListDiffers(difference.text));
        }
        let known = list.log.points.len();
        let mut points: Vec<Point> = list.log.points.into_values().filter(|p| p.hits > 0).collect();
        let mut limit = list.elapsed * 20 + Duration::from_secs(10);
        let mut open: Vec<Point> = Vec::new();
        let mut versions = 0;
        if list.log.has_others {
            // What it does otherwise is a difference that the plan meets, too.
            let counted = program.run(&Firing::counted().variables(), None)?;
            limit = limit.max(counted.elapsed * 20 + Duration::from_secs(10));
            versions = counted.log.versions;
            open.extend(counted.log.open.into_values());
        }
        if points.is_empty() && open.is_empty() {
            return Err(FuzzError::NoPoints);
        }
        let sum = |points: &[Point]| points.iter().fold(0_u64, |n, p| n.saturating_add(p.hits));
        let (total_hits, total_checks) = (sum(&points), sum(&open));
        if let Some(pattern) = &program.options.points {
            points.retain(|point| point.name.contains(pattern));
            open.retain(|point| point.name.contains(pattern));
            if points.is_empty() && open.is_empty() {
                return Err(FuzzError::NoSuchPoints(pattern.clone()));
            }
        }
        Ok(Judge {
            program,
            reference,
            limit,
            points,
            open,
            known,
            versions,
            total_hits,
            total_checks,
        })
    }

    /// Makes the runs, several at a time, in order until the deadline, or until one differs if
    /// `stop` says so. Verdicts are in the order of `firings`.
    pub fn run_all(
        &self,
        firings: &[Firing],
        deadline: Option<Instant>,
        stop: bool,
    ) -> Result<Vec<Verdict>, ProgramError> {
        let progress = Progress::new("firing points", firings.len() as u64);
        let next = AtomicUsize::new(0);
        let stopped = AtomicBool::new(false);
        let results = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for _ in 0..self.program.options.jobs().clamp(1, firings.len().max(1)) {
                scope.spawn(|| {
                    while !stopped.load(Ordering::Relaxed)
                        && deadline.is_none_or(|deadline| Instant::now() < deadline)
                    {
                        let index = next.fetch_add(1, Ordering::Relaxed);
                        let Some(firing) = firings.get(index) else { break };
                        let verdict = self.judge(firing);
                        let differs = verdict.as_ref().is_ok_and(|v| v.difference.is_some());
                        if verdict.is_err() || (stop && differs) {
                            stopped.store(true, Ordering::Relaxed);
                        }
                        results
                            .lock()
                            .unwrap_or_else(PoisonError::into_inner)
                            .push((index, verdict));
                        progress.done(index as u64 + 1);
                    }
                });
            }
        });
        let mut results = results.into_inner().unwrap_or_else(PoisonError::into_inner);
        results.sort_by_key(|(index, _)| *index);
        results.into_iter().map(|(_, verdict)| verdict).collect()
    }

    fn judge(&self, firing: &Firing) -> Result<Verdict, ProgramError> {
        let outcome = self.program.run(&firing.variables(), Some(self.limit))?;
        let mut difference = self.reference.difference(&outcome);
        let must_fire = match firing {
            Firing::Points(fire) => fire.must_fire(self.total_hits),
            Firing::Versions => false,
            Firing::Exits(fire) => fire.must_fire(self.total_checks),
        };
        let (transitions, fired) = match firing {
            Firing::Points(_) => (outcome.log.transitions, &outcome.log.fired),
            _ => (outcome.log.exits, &outcome.log.left),
        };
        let is_short = transitions == 0 && must_fire;
        let unreached = difference.is_none() && is_short && !self.reaches(firing, &outcome.log)?;
        if difference.is_none() && is_short && !unreached {
            difference = Some(Difference {
                kind: "not-fired",
                text: "nothing fired, though the point was hit without".into(),
            });
        }
        let fired = fired.clone();
        Ok(Verdict { firing: firing.clone(), difference, transitions, fired, unreached })
    }

    /// True if the run hit the point as often as the firing asks. A program that seeds its hash
    /// tables at random, say, may hit it less often than when it was counted.
    fn reaches(&self, firing: &Firing, log: &Log) -> Result<bool, ProgramError> {
        let Some(Fire::At(name, hit)) = firing.fire() else { return Ok(true) };
        let is_exits = matches!(firing, Firing::Exits(_));
        let hits = |log: &Log| {
            let points = if is_exits { &log.open } else { &log.points };
            points.get(name).map_or(0, |point| point.hits)
        };
        let asked = hit.unwrap_or(1);
        if hits(log) > 0 {
            return Ok(hits(log) >= asked);
        }
        // Not counted at all: either it was not hit, or it could not be made to count.
        let counting = if is_exits { Firing::counted().variables() } else { Firing::list() };
        let list = self.program.run(&counting, Some(self.limit))?;
        Ok(hits(&list.log) >= asked)
    }
}
