//! `midflight-bench csmith`: random C programs must print the same checksum when instrumented.
//!
//! Each seed is used at -O0 and -O2 with each LLVM; the stage alternates, so that half of the seeds
//! meet each stage at each level.

use crate::compare::difference;
use crate::error::{Result, io, write};
use crate::layout::Layout;
use crate::process::{End, Job, Outcome};
use crate::seeds::each_seed;
use crate::tally::Tally;
use crate::variant::{How, Stage, Toolchain, Variant};
use std::ops::Range;
use std::path::{Path, PathBuf};

/// Bounds of Csmith's that keep a program's compilation short.
pub type Bounds = [&'static str; 8];

/// The usual ones
pub const USUAL: Bounds = [
    "--max-funcs",
    "6",
    "--max-block-depth",
    "3",
    "--max-block-size",
    "4",
    "--max-expr-complexity",
    "6",
];

/// Those of programs that are built in a fraction of a second
pub const SMALL: Bounds = [
    "--max-funcs",
    "3",
    "--max-block-depth",
    "2",
    "--max-block-size",
    "3",
    "--max-expr-complexity",
    "4",
];

/// What compiles a random program.
pub const FLAGS: [&str; 2] = ["-w", "-I/usr/include/csmith"];

/// A plain run may take so many seconds; a program that takes longer is not used.
const PLAIN_LIMIT: u64 = 5;

/// An instrumented run may take so many times longer.
const SLOWER: u64 = 20;

/// What to try.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Seeds that are used, but for programs that run too long
    pub seeds: Range<u64>,
    /// Versions of LLVM
    pub llvm: Vec<u32>,
    /// Levels of optimization
    pub opt: Vec<u32>,
}

/// Tries all seeds, as [`each_seed`] does.
///
/// # Errors
/// If something other than what is checked goes wrong.
pub fn csmith(layout: &Layout, plan: &Plan) -> Result<Tally> {
    each_seed(plan.seeds.clone(), |seed| try_seed(layout, plan, seed))
}

/// Tries one seed: what failed, or nothing if its program does not end in time.
fn try_seed(layout: &Layout, plan: &Plan, seed: u64) -> Result<Option<Vec<String>>> {
    let folder = layout.work().join("csmith").join(seed.to_string());
    let Some(source) = generate(&folder, seed, USUAL)? else { return Ok(None) };
    let mut problems = Vec::new();
    for &llvm in &plan.llvm {
        for &opt in &plan.opt {
            let native = Variant { llvm, opt, how: How::Native };
            let expected = compile_and_run(layout, native, &source, PLAIN_LIMIT)?;
            if expected.end == End::Timeout {
                return Ok(None);
            }
            let variant = Variant { llvm, opt, how: how(seed, llvm, opt) };
            let found = compile_and_run(layout, variant, &source, PLAIN_LIMIT * SLOWER);
            let problem = match found {
                Ok(found) => difference(&expected, &found),
                Err(error) => Some(error.to_string()),
            };
            problems.extend(problem.map(|problem| {
                let job = compile(layout, variant, &source).map(|(_, job)| job.command_line());
                format!("{variant}: {problem}\n  to reproduce: {}", job.unwrap_or_default())
            }));
        }
    }
    if problems.is_empty() {
        std::fs::remove_dir_all(&folder).map_err(io("removing", &folder))?;
    }
    Ok(Some(problems))
}

/// Makes the program of a seed in a folder; none if Csmith does not end in time.
///
/// # Errors
/// If Csmith is not there, or the folder cannot be made.
pub fn generate(folder: &Path, seed: u64, bounds: Bounds) -> Result<Option<PathBuf>> {
    std::fs::create_dir_all(folder).map_err(io("making the folder", folder))?;
    // It leaves a file where it runs.
    let generated = Job::new("csmith")
        .args(["--seed", &seed.to_string()])
        .args(bounds)
        .folder(folder)
        .limit(60)
        .run()?;
    if generated.end != End::Exit(0) {
        return Ok(None);
    }
    let source = folder.join("program.c");
    write(&source, &generated.stdout)?;
    Ok(Some(source))
}

/// Stage and k alternate with the seed, so that a range of seeds covers all combinations.
fn how(seed: u64, llvm: u32, opt: u32) -> How {
    let turn = seed + u64::from(llvm / 2) + u64::from(opt / 2);
    let stage = [Stage::Early, Stage::Inlined, Stage::Late][(turn % 3) as usize];
    let k = [1, 2, 4, 8][(seed / 2 % 4) as usize];
    How::paths(k, stage)
}

fn compile(layout: &Layout, variant: Variant, source: &Path) -> Result<(PathBuf, Job)> {
    let executable = source.with_file_name(variant.to_string());
    let flags = FLAGS.map(str::to_string);
    let toolchain = Toolchain::find(layout, variant)?;
    let job = toolchain.compile_and_link(&flags, source, &executable);
    Ok((executable, job))
}

fn compile_and_run(
    layout: &Layout,
    variant: Variant,
    source: &Path,
    seconds: u64,
) -> Result<Outcome> {
    let (executable, job) = compile(layout, variant, source)?;
    job.expect_success()?;
    layout
        .machine
        .job(&executable)
        .env("MIDFLIGHT_PROFILE", executable.with_extension("mfp"))
        .limit(seconds)
        .run()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_few_seeds_meet_every_stage_at_every_level() {
        for stage in [Stage::Early, Stage::Inlined, Stage::Late] {
            for (llvm, opt) in [(19, 0), (19, 2), (22, 0), (22, 2)] {
                let met = |seed| matches!(how(seed, llvm, opt), How::Paths { stage: s, .. } if s == stage);
                assert!((0..3).any(met), "{stage} {llvm} {opt}");
            }
        }
    }
}
