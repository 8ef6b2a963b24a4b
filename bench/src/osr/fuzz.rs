//! `midflight-bench osr fuzz`: programs under stress do what they do without.
//!
//! Each program is built with points everywhere, and run with them firing in many ways. Mutants,
//! which do something wrong at each landing, must be caught, else the check is worth nothing.

use crate::build::{Built, build};
use crate::corpus::{EXCEPTIONS, MUTANTS};
use crate::error::Result;
use crate::layout::Layout;
use crate::osr::changes::changes;
use crate::osr::firing::of_all_points;
use crate::osr::fuzzed::{Fuzzed, Mutant, To};
use crate::osr::stress::{Findings, Stress};
use crate::process::Outcome;
use crate::program::{Program, Size};
use crate::tally::Tally;
use crate::variant::{How, Stage, Variant};
use crate::workload::{job, run};
use rayon::prelude::*;
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
        // No points are put in behind the inlining of small functions only.
        let stage = |name: &str| name.parse().ok().filter(|stage| *stage != Stage::Inlined);
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

/// Puts programs under stress, some at a time; a line is printed for each build.
///
/// # Errors
/// If something other than what is checked goes wrong.
pub fn fuzz(layout: &Layout, programs: &[&Program], plan: &Plan) -> Result<Tally> {
    Tally::of_all(
        programs.par_iter().with_max_len(1).map(|program| fuzz_program(layout, program, plan)),
    )
}

fn fuzz_program(layout: &Layout, program: &Program, plan: &Plan) -> Result<Tally> {
    let mut tally = Tally::default();
    for &llvm in &plan.llvm {
        for &level in &plan.levels {
            let variant = plan.variant(llvm, level, None);
            let what = format!("{} {variant}", program.name);
            let expected = without_points(layout, program, variant, plan.size)?;
            let stressed = build(layout, program, variant).and_then(|built| {
                let findings = stressed(layout, program, &built, &expected, plan)?;
                Ok((built, findings))
            });
            match stressed {
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
    Ok(tally)
}

/// What mutants have shown, so far.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Shown {
    /// There was nothing to do wrong.
    Nothing,
    /// What was done wrong does no harm.
    Harmless,
    /// It was noticed.
    Caught,
}

/// Builds mutants, and checks that they are noticed: each in one program at least, at one level at
/// least, since optimized code may have nothing that it would harm. One that finds nothing to
/// change under the passes of the plan must be noticed under those that it is made for.
///
/// # Errors
/// If one cannot be built or run.
pub fn mutants(
    layout: &Layout,
    programs: &[&Program],
    plan: &Plan,
    tally: &mut Tally,
) -> Result<()> {
    let is_other = |program: &&Program| program.name != EXCEPTIONS.name;
    let others: Vec<&Program> = programs.iter().copied().filter(is_other).collect();
    for &llvm in &plan.llvm {
        for mutant in plan.to.all_mutants() {
            let what = format!("LLVM {llvm}, mutant {mutant}");
            let mut shown = Shown::Nothing;
            if plan.to.mutants().contains(&mutant) {
                shown = try_mutant(layout, &[&EXCEPTIONS, &MUTANTS], plan, llvm, mutant)?;
            }
            if shown == Shown::Harmless {
                shown = shown.max(try_mutant(layout, &others, plan, llvm, mutant)?);
            }
            if shown == Shown::Nothing {
                println!("{what}: tried where it has something to change");
                let levels = vec![Level { opt: 2, stage: Stage::Early }];
                let plan = Plan { to: mutant.home(), levels, ..plan.clone() };
                shown = try_mutant(layout, &[&MUTANTS], &plan, llvm, mutant)?;
            }
            let problem = match shown {
                Shown::Nothing => Some("it has nothing to change anywhere"),
                Shown::Harmless => Some("it is not caught"),
                Shown::Caught => None,
            };
            tally.check(&what, problem.map(str::to_string));
        }
    }
    Ok(())
}

/// Builds a mutant of programs until it is noticed.
fn try_mutant(
    layout: &Layout,
    programs: &[&Program],
    plan: &Plan,
    llvm: u32,
    mutant: Mutant,
) -> Result<Shown> {
    let mut shown = Shown::Nothing;
    for program in programs {
        for &level in &plan.levels {
            let variant = plan.variant(llvm, level, Some(mutant));
            let built = build(layout, program, variant)?;
            let changes = changes(&built.executable)?;
            let mut here = Shown::Nothing;
            let mut found = "nothing to change".to_string();
            if changes > 0 {
                let expected = without_points(layout, program, variant, plan.size)?;
                let findings = stressed(layout, program, &built, &expected, plan)?;
                let problem = findings.problems.first().and_then(|problem| problem.lines().next());
                here = if problem.is_some() { Shown::Caught } else { Shown::Harmless };
                let problem = problem.unwrap_or("this mutant does no harm");
                found = format!("{changes} places are changed: {problem}");
            }
            println!("{} {variant}: {found}", program.name);
            let _ = std::fs::remove_dir_all(&built.folder);
            shown = shown.max(here);
            if shown == Shown::Caught {
                return Ok(shown);
            }
        }
    }
    Ok(shown)
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
    built: &Built,
    expected: &Outcome,
    plan: &Plan,
) -> Result<Findings> {
    let stress = Stress {
        job: job(layout, program, built, plan.size)?,
        expected,
        log: built.folder.join("osr.json"),
        seed: plan.seed,
        firings: of_all_points,
        single: plan.single,
        until: Instant::now() + Duration::from_secs(plan.seconds),
        limit: LIMIT,
        most_hits: MOST_HITS,
    };
    stress.run()
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
