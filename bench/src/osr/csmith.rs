//! `midflight-bench osr csmith`: random C programs under stress print the same checksum.

use crate::csmith::{Bounds, FLAGS, SMALL, USUAL, generate};
use crate::error::{Result, io};
use crate::layout::Layout;
use crate::osr::firing::of_all_points;
use crate::osr::fuzz::Level;
use crate::osr::fuzzed::{Fuzzed, To};
use crate::osr::stress::Stress;
use crate::process::End;
use crate::seeds::each_seed;
use crate::tally::Tally;
use crate::variant::{How, Stage, Toolchain, Variant};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// A plain run may take so many seconds; a program that takes longer is not used.
const PLAIN_LIMIT: u64 = 2;

/// A run with points may take so long.
const LIMIT: Duration = Duration::from_secs(60);

/// A program with more hits than this is not used.
const MOST_HITS: u64 = 3_000_000;

/// What to try.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Seeds that are used, but for programs that run too long
    pub seeds: Range<u64>,
    /// Versions of LLVM
    pub llvm: Vec<u32>,
    /// Where points lead
    pub to: To,
    /// At most so many points of a function; all if none
    pub max_points: Option<u32>,
    /// How many points of a build are fired one by one
    pub single: usize,
    /// Programs are small, and each is built once.
    pub is_small: bool,
}

impl Plan {
    fn bounds(&self) -> Bounds {
        if self.is_small { SMALL } else { USUAL }
    }

    /// What the program of a seed is built with: all versions of LLVM at two levels, or these in
    /// turn.
    fn builds(&self, seed: u64) -> Vec<(u32, Level)> {
        let of = |&llvm: &u32| levels(seed, llvm).map(|level| (llvm, level));
        let all: Vec<_> = self.llvm.iter().flat_map(of).collect();
        if self.is_small && !all.is_empty() {
            return vec![all[(seed % all.len() as u64) as usize]];
        }
        all
    }
}

/// Tries all seeds, at -O0 and at -O2. The source of one that fails is kept.
///
/// # Errors
/// If something other than what is checked goes wrong.
pub fn csmith(layout: &Layout, plan: &Plan) -> Result<Tally> {
    let transitions = AtomicU64::new(0);
    let tally = each_seed(plan.seeds.clone(), |seed| try_seed(layout, plan, seed, &transitions))?;
    println!("osr csmith: {} transitions", transitions.into_inner());
    Ok(tally)
}

fn try_seed(
    layout: &Layout,
    plan: &Plan,
    seed: u64,
    transitions: &AtomicU64,
) -> Result<Option<Vec<String>>> {
    let folder = layout.work().join("osr-csmith").join(seed.to_string());
    let Some(source) = generate(&folder, seed, plan.bounds())? else { return Ok(None) };
    let mut problems = Vec::new();
    for (llvm, level) in plan.builds(seed) {
        match try_build(layout, plan, llvm, level, &source, seed, transitions) {
            Ok(Some(problem)) => problems.extend(problem),
            Ok(None) => return Ok(None),
            Err(error) => problems.push(error.to_string()),
        }
    }
    if problems.is_empty() {
        std::fs::remove_dir_all(&folder).map_err(io("removing", &folder))?;
    }
    Ok(Some(problems))
}

/// At -O2 the stage alternates with the seed, and again with each fourth: so each LLVM meets both
/// where these take turns.
fn levels(seed: u64, llvm: u32) -> [Level; 2] {
    let turn = seed + seed / 4 + u64::from(llvm / 2);
    let stage = if turn.is_multiple_of(2) { Stage::Early } else { Stage::Late };
    [Level { opt: 0, stage: Stage::Early }, Level { opt: 2, stage }]
}

/// What is wrong with one build; none if it runs too long.
fn try_build(
    layout: &Layout,
    plan: &Plan,
    llvm: u32,
    level: Level,
    source: &Path,
    seed: u64,
    transitions: &AtomicU64,
) -> Result<Option<Option<String>>> {
    let fuzzed =
        Fuzzed { to: plan.to, stage: level.stage, max_points: plan.max_points, mutant: None };
    let variant = Variant { llvm, opt: level.opt, how: How::Fuzzed(fuzzed) };
    let (native, _) = compile(layout, Variant { how: How::Native, ..variant }, source)?;
    let expected = layout.machine.job(&native).limit(PLAIN_LIMIT).run()?;
    if expected.end == End::Timeout {
        return Ok(None);
    }
    let (executable, command) = compile(layout, variant, source)?;
    let stress = Stress {
        job: layout.machine.job(&executable),
        expected: &expected,
        log: executable.with_extension("json"),
        seed,
        firings: of_all_points,
        single: plan.single,
        until: Instant::now() + LIMIT,
        limit: LIMIT,
        most_hits: MOST_HITS,
    };
    let findings = stress.run()?;
    if findings.hits > MOST_HITS {
        return Ok(None);
    }
    transitions.fetch_add(findings.transitions, Ordering::Relaxed);
    let problem = findings.problems.first();
    Ok(Some(problem.map(|problem| format!("{variant}: {problem}\n  built by: {command}"))))
}

/// Compiles and links; the executable, and the command that made it.
fn compile(layout: &Layout, variant: Variant, source: &Path) -> Result<(PathBuf, String)> {
    let executable = source.with_file_name(variant.to_string());
    let toolchain = Toolchain::find(layout, variant)?;
    let job = toolchain.compile_and_link(&FLAGS.map(str::to_string), source, &executable);
    job.expect_success()?;
    Ok((executable, job.command_line()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_seeds_meet_both_stages() {
        for llvm in [19, 22] {
            let stages = [0, 1].map(|seed| levels(seed, llvm)[1].stage);
            assert!(stages.contains(&Stage::Early) && stages.contains(&Stage::Late));
        }
    }

    #[test]
    fn small_programs_meet_each_build_in_turn() {
        let plan = Plan {
            seeds: 0..8,
            llvm: vec![22, 19],
            to: To::Same,
            max_points: None,
            single: 0,
            is_small: true,
        };
        let met: Vec<(u32, u32, Stage)> = (0..8)
            .flat_map(|seed| plan.builds(seed))
            .map(|(llvm, level)| (llvm, level.opt, level.stage))
            .collect();
        assert_eq!(met.len(), 8);
        for llvm in [22, 19] {
            assert_eq!(met.iter().filter(|&&(of, opt, _)| (of, opt) == (llvm, 0)).count(), 2);
            for stage in [Stage::Early, Stage::Late] {
                assert!(met.contains(&(llvm, 2, stage)), "{met:?}");
            }
        }
    }
}
