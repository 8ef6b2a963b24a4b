//! `midflight-bench osr fuzz`: programs under stress do what they do without.
//!
//! Each program is built with points everywhere, and run with them firing in many ways. Mutants, which
//! do something wrong at each landing, must be caught, else the check is worth nothing.

use crate::build::{Built, build};
use crate::error::Result;
use crate::layout::Layout;
use crate::osr::fuzzed::{Fuzzed, Mutant, To};
use crate::osr::stress::{Findings, Stress};
use crate::process::Outcome;
use crate::program::{Program, Size};
use crate::tally::Tally;
use crate::variant::{How, Stage, Variant};
use crate::workload::{job, run};
use std::time::{Duration, Instant};

/// Where in the pipeline, at which level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// Level of optimization
    pub opt: u32,
    /// Stage of the pipeline
    pub stage: Stage,
}

impl std::str::FromStr for Level {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Level, String> {
        let stage = |name| match name {
            "early" => Some(Stage::Early),
            "late" => Some(Stage::Late),
            _ => None,
        };
        let level = text.split_once(':').and_then(|(opt, name)| {
            let opt = opt.parse().ok().filter(|opt| *opt <= 3)?;
            Some(Level { opt, stage: stage(name)? })
        });
        level.ok_or_else(|| "a level is given as 0:early, 2:early or 2:late".to_string())
    }
}

/// What is done to each program.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Versions of LLVM
    pub llvm: Vec<u32>,
    /// Levels and stages
    pub levels: Vec<Level>,
    /// Where points lead
    pub to: To,
    /// At most so many points of a function; all if none
    pub max_points: Option<u32>,
    /// How many points are fired one by one
    pub single: usize,
    /// How long points of a build are fired one by one
    pub seconds: u64,
    /// Which work
    pub size: Size,
    /// Seed of random firing
    pub seed: u64,
}

impl Plan {
    fn variant(&self, llvm: u32, level: Level, mutant: Option<Mutant>) -> Variant {
        let (to, max_points) = (self.to, self.max_points);
        let fuzzed = Fuzzed { to, stage: level.stage, max_points, mutant };
        Variant { llvm, opt: level.opt, how: How::Fuzzed(fuzzed) }
    }
}

/// More hits than this take too long under `always`.
const MOST_HITS: u64 = 100_000_000;

/// A run may take so long: hundreds of times of what these programs take.
const LIMIT: Duration = Duration::from_secs(120);

/// Puts programs under stress; a line is printed for each build.
///
/// # Errors
/// If something other than what is checked goes wrong.
pub fn fuzz(layout: &Layout, programs: &[&Program], plan: &Plan) -> Result<Tally> {
    let mut tally = Tally::default();
    for program in programs {
        for &llvm in &plan.llvm {
            for &level in &plan.levels {
                let variant = plan.variant(llvm, level, None);
                let what = format!("{} {variant}", program.name);
                let expected = without_points(layout, program, variant, plan.size)?;
                match stressed(layout, program, variant, &expected, plan) {
                    Ok((built, findings)) => {
                        let problem = problem_of(&findings);
                        if problem.is_none() {
                            println!("ok {what}: {}", findings.summary());
                            let _ = std::fs::remove_dir_all(&built.folder);
                        }
                        tally.check(&what, problem);
                    }
                    Err(error) => {
                        tally.check(&what, Some(error.to_string()));
                    }
                }
            }
        }
    }
    Ok(tally)
}

/// Builds the mutants of a program. Each must be caught at one level at least: optimized code may
/// have nothing that it would harm.
///
/// # Errors
/// If one cannot be built or run.
pub fn mutants(layout: &Layout, program: &Program, plan: &Plan, tally: &mut Tally) -> Result<()> {
    for &llvm in &plan.llvm {
        for &mutant in plan.to.mutants() {
            let mut caught = false;
            for &level in &plan.levels {
                let variant = plan.variant(llvm, level, Some(mutant));
                let expected = without_points(layout, program, variant, plan.size)?;
                let (built, findings) = stressed(layout, program, variant, &expected, plan)?;
                let what = format!("{} {variant}", program.name);
                let problem = findings.problems.first().and_then(|problem| problem.lines().next());
                println!("{what}: {}", problem.unwrap_or("this mutant does no harm"));
                caught |= problem.is_some();
                let _ = std::fs::remove_dir_all(&built.folder);
            }
            let what = format!("{} with LLVM {llvm}, mutant {mutant}", program.name);
            tally.check(&what, (!caught).then(|| "it is not caught".to_string()));
        }
    }
    Ok(())
}

/// What the program does when it is compiled without the plugin.
fn without_points(
    layout: &Layout,
    program: &Program,
    variant: Variant,
    size: Size,
) -> Result<Outcome> {
    let native = build(layout, program, Variant { how: How::Native, ..variant })?;
    run(layout, program, &native, size)
}

fn stressed(
    layout: &Layout,
    program: &Program,
    variant: Variant,
    expected: &Outcome,
    plan: &Plan,
) -> Result<(Built, Findings)> {
    let built = build(layout, program, variant)?;
    let stress = Stress {
        job: job(layout, program, &built, plan.size)?,
        expected,
        log: built.folder.join("osr.json"),
        seed: plan.seed,
        single: plan.single,
        until: Instant::now() + Duration::from_secs(plan.seconds),
        limit: LIMIT,
        most_hits: MOST_HITS,
    };
    let findings = stress.run()?;
    Ok((built, findings))
}

fn problem_of(findings: &Findings) -> Option<String> {
    if let Some(problem) = findings.problems.first() {
        return Some(problem.clone());
    }
    if findings.hits > MOST_HITS {
        return Some(format!("{} hits are too many; give it less work", findings.hits));
    }
    findings.fired.is_empty().then(|| "no point fired".to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn levels_are_read() {
        assert_eq!("2:late".parse(), Ok(Level { opt: 2, stage: Stage::Late }));
        for wrong in ["2", "late", "4:late", "2:later", ":"] {
            assert!(wrong.parse::<Level>().is_err(), "{wrong}");
        }
    }
}
