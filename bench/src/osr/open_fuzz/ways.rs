//! The ways in which a program with open points is run, and what must come of them.

use crate::compare::difference;
use crate::error::Result;
use crate::osr::log::Log;
use crate::process::{End, Job, Outcome};
use std::collections::BTreeMap;
use std::path::PathBuf;

/// When guards of versions fail that hold: every so many checks.
const EVERY: [u64; 3] = [2, 3, 7];

/// No check is the one that fails.
const COUNT_ALL: &str = "every:9223372036854775807";

/// What is compared.
#[derive(Clone, Debug)]
pub struct Ways<'a> {
    /// Runs the program with open points.
    pub job: Job,
    /// What the program does without them.
    pub expected: &'a Outcome,
    /// Where logs are written.
    pub log: PathBuf,
    /// So many points are left at single checks.
    pub single: usize,
    /// With more checks than this the program is not used.
    pub most_checks: u64,
}

/// What was found.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    /// The first difference, with the command that shows it
    pub problem: Option<String>,
    /// Versions that were made where none was left
    pub versions: u64,
    /// How often versions were left in all runs
    pub exits: u64,
    /// Runs
    pub runs: u64,
    /// There are too many checks
    pub is_too_long: bool,
}

/// The most checks of a version of each point.
type Checks = BTreeMap<String, u64>;

impl Ways<'_> {
    /// Runs the program in all ways, until one differs.
    ///
    /// # Errors
    /// If it cannot be started.
    pub fn run(&self) -> Result<Findings> {
        let mut findings = Findings::default();
        for compile in ["never", "background"] {
            if self.differs(&mut findings, compile, None)?.is_none() {
                return Ok(findings);
            }
        }
        let Some(counted) = self.differs(&mut findings, "now", Some(COUNT_ALL))? else {
            return Ok(findings);
        };
        findings.versions = counted.versions().filter(|made| made.is_ready()).count() as u64;
        let checks = checks(&counted);
        let total: u64 = checks.values().sum();
        if total > self.most_checks {
            findings.is_too_long = true;
            return Ok(findings);
        }
        if self.differs(&mut findings, "now", None)?.is_none() || total == 0 {
            return Ok(findings);
        }
        for exit in self.exits(&checks) {
            if self.differs(&mut findings, "now", Some(&exit))?.is_none() {
                return Ok(findings);
            }
        }
        Ok(findings)
    }

    /// Which guards fail, run by run.
    fn exits(&self, checks: &Checks) -> Vec<String> {
        let checked: Vec<_> = checks.iter().filter(|(_, checks)| **checks > 0).collect();
        let mut exits = vec!["always".to_string()];
        exits.extend(EVERY.map(|n| format!("every:{n}")));
        let chosen = self.single.min(checked.len());
        for index in 0..chosen {
            let (point, &checks) = checked[index * checked.len() / chosen];
            let mut at = vec![1, checks.div_ceil(2), checks];
            at.dedup();
            exits.extend(at.into_iter().map(|check| format!("at:{point}:{check}")));
        }
        exits
    }

    /// A run; none if it differs, which is then the finding.
    fn differs(
        &self,
        findings: &mut Findings,
        compile: &str,
        exit: Option<&str>,
    ) -> Result<Option<Log>> {
        let mut shown = self.job.clone().env("MIDFLIGHT_OSR_COMPILE", compile);
        if let Some(exit) = exit {
            shown = shown.env("MIDFLIGHT_OSR_EXIT", exit);
        }
        findings.runs += 1;
        let found = shown.clone().env("MIDFLIGHT_OSR_LOG", &self.log).run()?;
        let problem = difference(self.expected, &found);
        if let Some(problem) = problem {
            let command = shown.command_line();
            findings.problem = Some(format!("{problem}\n  to reproduce: {command}"));
            return Ok(None);
        }
        if found.end == End::Timeout {
            return Ok(None);
        }
        // A program without points writes none.
        let log = if self.log.is_file() { Log::read(&self.log)? } else { Log::default() };
        findings.exits += log.versions().map(|made| made.exits).sum::<u64>();
        Ok(Some(log))
    }
}

fn checks(log: &Log) -> Checks {
    let mut most = Checks::new();
    for made in log.versions() {
        let checks = most.entry(format!("{}:{}", made.file, made.point)).or_default();
        *checks = made.checks.max(*checks);
    }
    most
}
