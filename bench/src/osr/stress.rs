//! Running a program under stress: whatever fires, it must do what it does without.

use crate::compare::difference;
use crate::error::Result;
use crate::osr::firing::{Firing, of_single_points};
use crate::osr::log::Log;
use crate::process::{Job, Outcome};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// A program with fireable points, and what it must do.
#[derive(Clone, Debug)]
pub struct Stress<'a> {
    /// Runs it
    pub job: Job,
    /// What the program does when it is built without points
    pub expected: &'a Outcome,
    /// The file for its log
    pub log: PathBuf,
    /// Chooses the hits that fire at random
    pub seed: u64,
    /// What concerns all points, by the number of hits and the seed
    pub firings: fn(u64, u64) -> Vec<Firing>,
    /// How many points are fired one by one
    pub single: usize,
    /// When no more points are fired one by one
    pub until: Instant,
    /// A run may take so long.
    pub limit: Duration,
    /// With more hits than this nothing is fired: it would take too long.
    pub most_hits: u64,
}

/// What stress has shown.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// Points of the program
    pub points: usize,
    /// Points that were reached
    pub reached: usize,
    /// How often, in one run
    pub hits: u64,
    /// Points that fired, in any run
    pub fired: BTreeSet<String>,
    /// Transitions of all runs
    pub transitions: u64,
    /// Runs
    pub runs: usize,
    /// Single firings for which there was no time
    pub left_out: usize,
    /// Single firings whose runs did not reach the hit: some programs seed their hash tables at
    /// random
    pub unreached: usize,
    /// What went wrong, with a command that shows it again
    pub problems: Vec<String>,
}

impl Findings {
    /// The counts, for a person.
    pub fn summary(&self) -> String {
        let and = |count, what| match count {
            0 => String::new(),
            count => format!(", {count} {what}"),
        };
        let left_out = and(self.left_out, "more left out for time");
        let unreached = and(self.unreached, "not reached again");
        format!(
            "{} points, {} reached, {} fired; {} transitions in {} runs{left_out}{unreached}",
            self.points,
            self.reached,
            self.fired.len(),
            self.transitions,
            self.runs
        )
    }
}

impl Stress<'_> {
    /// Runs the program without firing, then with. Ends at the first thing that is wrong.
    ///
    /// # Errors
    /// If it cannot be run at all.
    pub fn run(&self) -> Result<Findings> {
        let mut findings = Findings::default();
        // Without the variable the compiled code decides alone.
        if let Some(problem) = difference(self.expected, &self.plain().run()?) {
            findings.problems.push(format!("not fired: {problem}"));
            return Ok(findings);
        }
        let Some(log) = self.observe("list", &mut findings)? else { return Ok(findings) };
        let reached = log.reached();
        findings.points = log.points();
        findings.reached = reached.len();
        findings.hits = reached.iter().map(|point| point.hits).sum();
        if findings.hits > self.most_hits {
            return Ok(findings);
        }
        for firing in (self.firings)(findings.hits, self.seed) {
            self.fire(&firing, &mut findings)?;
        }
        let single = of_single_points(&reached, self.single);
        for (done, firing) in single.iter().enumerate() {
            if Instant::now() >= self.until {
                findings.left_out = single.len() - done;
                break;
            }
            self.fire(firing, &mut findings)?;
        }
        Ok(findings)
    }

    fn plain(&self) -> Job {
        let mut job = self.job.clone();
        job.limit = self.limit;
        job
    }

    fn fire(&self, firing: &Firing, findings: &mut Findings) -> Result<()> {
        // One that is wrong is enough to look at.
        if !findings.problems.is_empty() {
            return Ok(());
        }
        let Some(log) = self.observe(&firing.to_string(), findings)? else { return Ok(()) };
        findings.fired.extend(log.fired());
        findings.transitions += log.transitions();
        let enough = match firing {
            Firing::At { point, hit } if log.transitions() == 0 => {
                let is_reached = self.is_reached(point, *hit, &log, findings)?;
                findings.unreached += usize::from(!is_reached);
                !is_reached
            }
            // Ways to one point have its name, and each of them has hits of its own.
            Firing::At { point, hit } => {
                (1..=log.ways(point, *hit)).contains(&(log.transitions() as usize))
            }
            // It may be that no hit is chosen.
            Firing::Random { .. } => true,
            Firing::Always | Firing::Every(_) => log.transitions() > 0,
        };
        if !enough {
            let problem = format!("there were {} transitions", log.transitions());
            findings.problems.push(self.reproducible(&firing.to_string(), &problem));
        }
        Ok(())
    }

    /// True if a run in which nothing fired hit the point so often. If it did not count the point
    /// at all, either it was not hit, which another listing shows, or it could not be armed.
    fn is_reached(
        &self,
        point: &str,
        hit: u64,
        log: &Log,
        findings: &mut Findings,
    ) -> Result<bool> {
        let hits = |log: &Log| {
            let reached = log.reached();
            reached.iter().find(|reached| reached.point == point).map_or(0, |reached| reached.hits)
        };
        if hits(log) > 0 {
            return Ok(hits(log) >= hit);
        }
        let list = self.observe("list", findings)?;
        Ok(list.is_none_or(|list| hits(&list) >= hit))
    }

    /// One run: its log, if it did what it must.
    fn observe(&self, fire: &str, findings: &mut Findings) -> Result<Option<Log>> {
        let _ = std::fs::remove_file(&self.log);
        let job = self.plain().env("MIDFLIGHT_OSR_FIRE", fire).env("MIDFLIGHT_OSR_LOG", &self.log);
        let outcome = job.run()?;
        findings.runs += 1;
        if let Some(problem) = difference(self.expected, &outcome) {
            findings.problems.push(self.reproducible(fire, &problem));
            return Ok(None);
        }
        match Log::read(&self.log) {
            Ok(log) => Ok(Some(log)),
            Err(error) => {
                findings.problems.push(self.reproducible(fire, &error.to_string()));
                Ok(None)
            }
        }
    }

    fn reproducible(&self, fire: &str, problem: &str) -> String {
        let job = self.job.clone().env("MIDFLIGHT_OSR_FIRE", fire);
        format!("{fire}: {problem}\n  to reproduce: {}", job.command_line())
    }
}
