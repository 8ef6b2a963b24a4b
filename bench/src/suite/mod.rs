//! `midflight-bench suite`: programs of compilers' test suites do the same when instrumented.
//!
//! A program is used if clang itself compiles it at -O0 and -O2 so that it succeeds and writes the
//! same. What differs under instrumentation by the program's own fault is in a list
//! (`bench/corpus/suite.txt`), with the reason.

pub mod sources;

use crate::compare::difference;
use crate::error::{Error, Result, io, read};
use crate::layout::Layout;
use crate::osr::firing::Firing;
use crate::osr::fuzzed::{Fuzzed, To};
use crate::osr::stress::Stress;
use crate::process::{End, Job, Outcome};
use crate::sections::section;
use crate::suite::sources::{SUITES, Test};
use crate::tally::Tally;
use crate::variant::{How, Stage, Toolchain, Variant};
use midflight_abi::osr::OSR_SECTION;
use rayon::prelude::*;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

/// What is done to the programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum What {
    /// Paths are profiled, at each stage.
    Profile,
    /// They move between continuations of the same code.
    Clone,
    /// They move to optimized versions, and back.
    OsrOpt,
}

/// What to try.
#[derive(Clone, Debug)]
pub struct Plan {
    /// What is done
    pub what: Vec<What>,
    /// Versions of LLVM
    pub llvm: Vec<u32>,
    /// Beginnings of the names of programs; all if none
    pub programs: Vec<String>,
    /// Only each n-th of these
    pub every: usize,
    /// The passes that make optimized versions
    pub passes: &'static str,
    /// At most so many points of a function; all if none
    pub max_points: Option<u32>,
}

/// A plain run may take so many seconds; a program that takes longer is not used.
const PLAIN_LIMIT: u64 = 5;

/// An instrumented run may take so long.
const LIMIT: Duration = Duration::from_secs(60);

/// Where a program comes to its points more often nothing is fired.
const MOST_HITS: u64 = 3_000_000;

const OPT: [u32; 2] = [0, 2];

/// Why a program was not used, or not in full, and how many there are.
type Left = Mutex<BTreeMap<&'static str, usize>>;

/// Tries all programs of the plan.
///
/// # Errors
/// If something other than what is checked goes wrong.
pub fn suite(layout: &Layout, plan: &Plan) -> Result<Tally> {
    let excluded = excluded(layout)?;
    let mut tests = Vec::new();
    for suite in &SUITES {
        tests.extend(suite.tests(layout)?);
    }
    let is_meant = |test: &Test| {
        plan.programs.is_empty() || plan.programs.iter().any(|start| test.name.starts_with(start))
    };
    tests.retain(is_meant);
    let left = Left::default();
    let chosen: Vec<(usize, &Test)> = tests.iter().enumerate().step_by(plan.every.max(1)).collect();
    println!("suite: {} of {} programs", chosen.len(), tests.len());
    let tally = Tally::of_all(chosen.into_par_iter().with_max_len(1).map(|(seed, test)| {
        let mut tally = Tally::default();
        match excluded.get(&test.name) {
            Some(_) => count(&left, "excluded for a fault of their own"),
            None => {
                for &llvm in &plan.llvm {
                    let one = One { layout, plan, llvm, test, seed: seed as u64, left: &left };
                    if let Some(problems) = one.try_all()? {
                        let problem = (!problems.is_empty()).then(|| problems.join("\n"));
                        tally.check(&format!("{}, LLVM {llvm}", test.name), problem);
                    }
                }
            }
        }
        Ok(tally)
    }))?;
    for (why, count) in left.into_inner().unwrap_or_default() {
        println!("suite: {count} {why}");
    }
    Ok(tally)
}

fn count(left: &Left, why: &'static str) {
    if let Ok(mut left) = left.lock() {
        *left.entry(why).or_default() += 1;
    }
}

/// The programs that are known to differ, with the reason: a line each, name and reason.
fn excluded(layout: &Layout) -> Result<HashMap<String, String>> {
    let path = layout.corpus().join("suite.txt");
    let text = String::from_utf8_lossy(&read(&path)?).into_owned();
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            let pair = line.split_once(": ").map(|(name, why)| (name.to_string(), why.to_string()));
            pair.ok_or_else(|| Error::Malformed {
                what: format!("'{}'", path.display()),
                problem: format!("the line '{line}' is not a name and a reason"),
            })
        })
        .collect()
}

/// One program with one LLVM.
struct One<'a> {
    layout: &'a Layout,
    plan: &'a Plan,
    llvm: u32,
    test: &'a Test,
    seed: u64,
    left: &'a Left,
}

impl One<'_> {
    /// What is wrong; none if the program cannot be used.
    fn try_all(&self) -> Result<Option<Vec<String>>> {
        let folder = self.folder();
        std::fs::create_dir_all(&folder).map_err(io("making the folder", &folder))?;
        let mut problems = Vec::new();
        let is_used = match self.plain()? {
            Err(why) => {
                count(self.left, why);
                false
            }
            Ok(expected) => {
                for variant in self.variants() {
                    match self.differs(variant, &expected) {
                        Ok(problem) => problems.extend(problem.map(|p| format!("{variant}: {p}"))),
                        Err(error) => problems.push(format!("{variant}: {error}")),
                    }
                }
                true
            }
        };
        if problems.is_empty() {
            std::fs::remove_dir_all(&folder).map_err(io("removing", &folder))?;
        }
        Ok(is_used.then_some(problems))
    }

    fn folder(&self) -> PathBuf {
        let name = self.test.name.replace('/', "_");
        self.layout.work().join("suite").join(format!("{name}-{}", self.llvm))
    }

    /// What the program does when clang compiles it, or why it cannot be used.
    fn plain(&self) -> Result<std::result::Result<Outcome, &'static str>> {
        let mut outcomes = Vec::new();
        for opt in OPT {
            let variant = Variant { llvm: self.llvm, opt, how: How::Native };
            let Ok(program) = self.compile(variant) else {
                return Ok(Err("that clang does not compile or link"));
            };
            outcomes.push(self.job(&program).limit(PLAIN_LIMIT).run()?);
        }
        let [first, second] = outcomes.as_slice() else { unreachable!("one for each level") };
        Ok(match (first.end, second.end) {
            (End::Timeout, _) | (_, End::Timeout) => Err("that take too long"),
            (End::Exit(0), End::Exit(0)) if difference(first, second).is_none() => {
                Ok(first.clone())
            }
            (End::Exit(0), End::Exit(0)) => Err("that write something else at -O0 and -O2"),
            _ => Err("that fail when clang compiles them"),
        })
    }

    /// What is tried: profiles at each stage, for paths and sequences; points at both levels.
    fn variants(&self) -> Vec<Variant> {
        let llvm = self.llvm;
        // Whatever of the two a stage is tried with is the other one for the next program.
        let opt = |turn: u64| OPT[((self.seed + turn) % 2) as usize];
        let fuzzed = |to, opt, stage| {
            let max_points = self.plan.max_points;
            Variant { llvm, opt, how: How::Fuzzed(Fuzzed { to, stage, max_points, mutant: None }) }
        };
        let late = if self.seed.is_multiple_of(2) { Stage::Late } else { Stage::Early };
        let mut variants = Vec::new();
        for what in &self.plan.what {
            match what {
                What::Profile => {
                    for (turn, stage) in
                        [Stage::Early, Stage::Inlined, Stage::Late].into_iter().enumerate()
                    {
                        for (k, turn) in [(1, turn as u64), (4, turn as u64 + 1)] {
                            variants.push(Variant {
                                llvm,
                                opt: opt(turn),
                                how: How::paths(k, stage),
                            });
                        }
                    }
                }
                What::Clone => {
                    variants.extend([fuzzed(To::Same, 0, Stage::Early), fuzzed(To::Same, 2, late)])
                }
                What::OsrOpt => {
                    let to = To::Optimized(self.plan.passes);
                    variants.extend([fuzzed(to, 0, Stage::Early), fuzzed(to, 2, late)]);
                }
            }
        }
        variants
    }

    /// What the program does otherwise in a variant.
    fn differs(&self, variant: Variant, expected: &Outcome) -> Result<Option<String>> {
        let program = self.compile(variant)?;
        match variant.how {
            How::Fuzzed(_) => self.differs_under_stress(&program, expected),
            _ => self.differs_under_profiling(&program, expected),
        }
    }

    fn differs_under_profiling(
        &self,
        program: &Path,
        expected: &Outcome,
    ) -> Result<Option<String>> {
        let profile = program.with_extension("mfp");
        let mut job = self.job(program).env("MIDFLIGHT_PROFILE", &profile);
        job.limit = LIMIT;
        if let Some(problem) = difference(expected, &job.run()?) {
            return Ok(Some(format!("{problem}\n  to reproduce: {}", job.command_line())));
        }
        let check = Job::new(self.layout.midflight()?).arg("check").arg(program).arg(&profile);
        Ok(check.expect_success().err().map(|error| error.to_string()))
    }

    fn differs_under_stress(&self, program: &Path, expected: &Outcome) -> Result<Option<String>> {
        if section(program, OSR_SECTION)?.is_none() {
            count(self.left, "builds without a feasible point among those that were chosen");
            return Ok(difference(expected, &self.job(program).limit(LIMIT.as_secs()).run()?));
        }
        let stress = Stress {
            job: self.job(program),
            expected,
            log: program.with_extension("json"),
            seed: self.seed,
            firings,
            single: 0,
            until: Instant::now(),
            limit: LIMIT,
            most_hits: MOST_HITS,
        };
        let findings = stress.run()?;
        if findings.hits > MOST_HITS {
            count(self.left, "builds that come to their points too often to fire them");
        }
        Ok(findings.problems.first().cloned())
    }

    fn job(&self, program: &Path) -> Job {
        self.layout.machine.job(program).folder(&self.folder())
    }

    fn compile(&self, variant: Variant) -> Result<PathBuf> {
        let executable = self.folder().join(variant.to_string());
        let toolchain = Toolchain::find(self.layout, variant)?;
        let mut job = toolchain.compile_and_link(&self.test.flags, &self.test.source, &executable);
        job.limit = Duration::from_secs(300);
        job.expect_success()?;
        Ok(executable)
    }
}

/// What is fired in each program.
fn firings(hits: u64, seed: u64) -> Vec<Firing> {
    let all = [
        Firing::Always,
        Firing::Every(3),
        Firing::Every(7),
        Firing::Random { seed, probability: 0.1 },
    ];
    all.into_iter()
        .filter(|firing| !matches!(firing, Firing::Every(n) if *n > hits))
        .filter(|_| hits > 0)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_fired_that_cannot_be() {
        assert_eq!(firings(0, 1).len(), 0);
        assert_eq!(firings(5, 1).len(), 3);
        assert_eq!(firings(7, 1).len(), 4);
    }
}
