//! `midflight-bench osr open-fuzz`: random programs that call what they get print the same,
//! whatever versions are made for them, and wherever these are left.
//!
//! | | |
//! |---|---|
//! | [`dice`] | random numbers by seed |
//! | [`generate`] | the program of a seed |
//! | [`ways`] | how a build is run, and compared |
//!
//! Csmith makes hardly any function pointers, hence a generator of our own.

pub mod dice;
pub mod generate;
pub mod ways;

use crate::error::{Result, io, write};
use crate::layout::Layout;
use crate::llvm::tool;
use crate::process::{End, Job};
use crate::seeds::each_seed;
use crate::tally::Tally;
use crate::variant::driver;
use generate::program;
use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use ways::{Findings, Ways};

/// A plain run may take so many seconds; a program that takes longer is not used.
const PLAIN_LIMIT: u64 = 2;

/// A run with versions may take so many seconds.
const LIMIT: u64 = 120;

/// A program whose versions check their guards more often is not used.
const MOST_CHECKS: u64 = 300_000;

/// What compiles a program, besides its level.
const FLAGS: [&str; 2] = ["-w", "-fwrapv"];

/// What to try.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Seeds that are used, but for programs that run too long
    pub seeds: Range<u64>,
    /// Versions of LLVM
    pub llvm: Vec<u32>,
    /// Every seed is built in all ways; else in one, which the seed chooses.
    pub all: bool,
    /// How many points of a build are left at single checks
    pub single: usize,
}

/// A way to build a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Build {
    llvm: u32,
    opt: u32,
    generator: &'static str,
    condition: &'static str,
    place: &'static str,
    stage: &'static str,
}

const GENERATORS: [&str; 2] = ["inline-callee", "specialize-value"];
const CONDITIONS: [&str; 4] = ["count:2", "count:10", "always", "every:3"];
const PLACES: [&str; 6] =
    ["loop-header", "loop-header", "call", "loop-header:outer", "all;max-points=5", "entry"];

impl Build {
    /// All ways with an LLVM.
    fn all(llvm: u32) -> Vec<Build> {
        let mut builds = Vec::new();
        for opt in [0, 2] {
            for generator in GENERATORS {
                for condition in CONDITIONS {
                    let (place, stage) = ("loop-header", "early");
                    builds.push(Build { llvm, opt, generator, condition, place, stage });
                }
            }
        }
        builds
    }

    /// The ways that are tried of a seed.
    fn of_seed(plan: &Plan, seed: u64) -> Vec<Build> {
        if plan.all {
            return plan.llvm.iter().flat_map(|&llvm| Build::all(llvm)).collect();
        }
        // From the seed's own number, each choice takes a digit.
        let mut rest = seed;
        let mut digit = |base: usize| {
            let digit = rest % base as u64;
            rest /= base as u64;
            digit as usize
        };
        let llvm = plan.llvm[digit(plan.llvm.len())];
        let opt = [0, 2][digit(2)];
        let generator = GENERATORS[digit(2)];
        let condition = CONDITIONS[digit(4)];
        let place = PLACES[(seed / 3) as usize % PLACES.len()];
        let stage = if opt == 2 && !seed.is_multiple_of(3) { "late" } else { "early" };
        vec![Build { llvm, opt, generator, condition, place, stage }]
    }

    fn options(&self) -> String {
        let Build { generator, condition, place, stage, .. } = self;
        format!("where={place};when={condition};to=open:{generator};stage={stage};verify")
    }
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "llvm{} -O{}, {}", self.llvm, self.opt, self.options())
    }
}

/// Sums over all seeds.
#[derive(Default)]
struct Sums {
    versions: AtomicU64,
    exits: AtomicU64,
    runs: AtomicU64,
}

/// Tries all seeds. What is left of one that fails is kept.
///
/// # Errors
/// If something other than what is checked goes wrong.
pub fn open_fuzz(layout: &Layout, plan: &Plan) -> Result<Tally> {
    let sums = Sums::default();
    let tally = each_seed(plan.seeds.clone(), |seed| try_seed(layout, plan, seed, &sums))?;
    println!(
        "osr open-fuzz: {} versions, left {} times in {} runs",
        sums.versions.into_inner(),
        sums.exits.into_inner(),
        sums.runs.into_inner()
    );
    Ok(tally)
}

fn try_seed(layout: &Layout, plan: &Plan, seed: u64, sums: &Sums) -> Result<Option<Vec<String>>> {
    let folder = layout.work().join("osr-open-fuzz").join(seed.to_string());
    // What is left of a former run may be of another program.
    if folder.is_dir() {
        std::fs::remove_dir_all(&folder).map_err(io("removing", &folder))?;
    }
    std::fs::create_dir_all(&folder).map_err(io("making the folder", &folder))?;
    let source = folder.join("program.c");
    write(&source, program(seed).as_bytes())?;
    let mut problems = Vec::new();
    for build in Build::of_seed(plan, seed) {
        match try_build(layout, plan, build, &source) {
            Ok(Some(findings)) if findings.is_too_long => return Ok(None),
            Ok(Some(findings)) => {
                sums.versions.fetch_add(findings.versions, Ordering::Relaxed);
                sums.exits.fetch_add(findings.exits, Ordering::Relaxed);
                sums.runs.fetch_add(findings.runs, Ordering::Relaxed);
                problems.extend(findings.problem.map(|problem| format!("{build}: {problem}")));
            }
            Ok(None) => return Ok(None),
            Err(error) => problems.push(format!("{build}: {error}")),
        }
    }
    if problems.is_empty() {
        std::fs::remove_dir_all(&folder).map_err(io("removing", &folder))?;
    }
    Ok(Some(problems))
}

/// What comes of one build; none if the program runs too long.
fn try_build(
    layout: &Layout,
    plan: &Plan,
    build: Build,
    source: &Path,
) -> Result<Option<Findings>> {
    let Build { llvm, opt, .. } = build;
    let native = source.with_file_name(format!("native-{llvm}"));
    if !native.is_file() {
        let job = Job::new(tool("clang", llvm)?).arg("-O1").args(FLAGS).arg(source);
        job.arg("-o").arg(&native).expect_success()?;
    }
    let expected = Job::new(&native).limit(PLAIN_LIMIT).run()?;
    if expected.end == End::Timeout {
        return Ok(None);
    }
    let executable = executable(source, build);
    let compile = driver(layout, llvm)?
        .arg(format!("-O{opt}"))
        .args(FLAGS)
        .arg(format!("--midflight-osr-point={}", build.options()))
        .arg(source)
        .arg("-o")
        .arg(&executable);
    compile.expect_success()?;
    let ways = Ways {
        job: Job::new(&executable).limit(LIMIT),
        expected: &expected,
        log: executable.with_extension("json"),
        single: plan.single,
        most_checks: MOST_CHECKS,
    };
    let mut findings = ways.run()?;
    if let Some(problem) = &mut findings.problem {
        problem.push_str(&format!("\n  built by: {}", compile.command_line()));
    }
    Ok(Some(findings))
}

fn executable(source: &Path, build: Build) -> PathBuf {
    let plain = |c: char| if c.is_ascii_alphanumeric() { c } else { '-' };
    let name: String = format!(
        "llvm{} O{} {} {} {} {}",
        build.llvm, build.opt, build.generator, build.condition, build.place, build.stage
    );
    source.with_file_name(name.chars().map(plain).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seeds_in_a_row_meet_all_generators_and_conditions_at_both_levels() {
        let plan = Plan { seeds: 0..32, llvm: vec![22, 19], all: false, single: 0 };
        let builds: Vec<Build> = (0..32).flat_map(|seed| Build::of_seed(&plan, seed)).collect();
        for wanted in [22, 19].into_iter().flat_map(Build::all) {
            let of = |b: &Build| (b.llvm, b.opt, b.generator, b.condition);
            assert!(builds.iter().any(|build| of(build) == of(&wanted)), "{wanted}");
        }
    }

    #[test]
    fn builds_of_a_seed_have_names_of_their_own() {
        let source = Path::new("x/program.c");
        let mut names: Vec<_> =
            Build::all(22).into_iter().map(|build| executable(source, build)).collect();
        names.dedup();
        assert_eq!(names.len(), 16);
    }
}
