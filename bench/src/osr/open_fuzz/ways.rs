//! The ways in which a program with open points is run, and what must come of them.

use crate::compare::difference;
use crate::error::{Error, Result, read};
use crate::process::{End, Job, Outcome};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

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

#[derive(Deserialize)]
struct Event {
    event: String,
    #[serde(default)]
    point: String,
    #[serde(default)]
    file: String,
    #[serde(default)]
    state: String,
    #[serde(default)]
    checks: u64,
    #[serde(default)]
    exits: u64,
}

/// Versions in a log.
#[derive(Default)]
struct Versions {
    ready: u64,
    exits: u64,
    /// The most checks of a version of each point
    checks: BTreeMap<String, u64>,
}

impl Versions {
    /// Reads a log. A program without points writes none.
    fn read(path: &Path) -> Result<Self> {
        if !path.is_file() {
            return Ok(Versions::default());
        }
        let text = String::from_utf8_lossy(&read(path)?).into_owned();
        let mut versions = Versions::default();
        for line in text.lines() {
            let event: Event = serde_json::from_str(line).map_err(|error| Error::Malformed {
                what: format!("the log '{}'", path.display()),
                problem: error.to_string(),
            })?;
            if event.event != "version" {
                continue;
            }
            versions.ready += u64::from(event.state == "ready");
            versions.exits += event.exits;
            let point = versions.checks.entry(format!("{}:{}", event.file, event.point));
            let checks = point.or_default();
            *checks = event.checks.max(*checks);
        }
        Ok(versions)
    }
}

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
        findings.versions = counted.ready;
        let total: u64 = counted.checks.values().sum();
        if total > self.most_checks {
            findings.is_too_long = true;
            return Ok(findings);
        }
        if self.differs(&mut findings, "now", None)?.is_none() || total == 0 {
            return Ok(findings);
        }
        for exit in self.exits(&counted) {
            if self.differs(&mut findings, "now", Some(&exit))?.is_none() {
                return Ok(findings);
            }
        }
        Ok(findings)
    }

    /// Which guards fail, run by run.
    fn exits(&self, counted: &Versions) -> Vec<String> {
        let checked: Vec<_> = counted.checks.iter().filter(|(_, checks)| **checks > 0).collect();
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
    ) -> Result<Option<Versions>> {
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
        let versions = Versions::read(&self.log)?;
        findings.exits += versions.exits;
        Ok(Some(versions))
    }
}
