//! `midflight-bench pgo`: programs optimized for a path profile, beside the same with clang's own
//! profile of the IR.
//!
//! Each program is profiled on its work of the size for tests and measured on that for benchmarks.
//! clang's profile is taken without the values of operands (`-disable-vp`), which paths do not have
//! either.
//! In each round the native program and all variants run in turn; the ratio to native is taken of
//! each round, and the median of these ratios stands in the table.

use crate::build::{Built, build, build_with};
use crate::error::Result;
use crate::layout::Layout;
use crate::llvm::tool;
use crate::measure::{geometric_mean, median, ratio, same};
use crate::process::Job;
use crate::program::{Program, Size};
use crate::table::markdown;
use crate::variant::{How, Stage, Variant};
use crate::workload::{profile_of, run};

/// What is measured.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Version of LLVM
    pub llvm: u32,
    /// Level of optimization
    pub opt: u32,
    /// Stages at which paths are profiled, and the profile used
    pub stages: Vec<Stage>,
    /// Rounds of runs
    pub rounds: usize,
}

/// Flags for clang to leave the values of operands alone.
const NO_VALUES: [&str; 2] = ["-mllvm", "-disable-vp"];

/// Measures programs and returns the table, in Markdown.
///
/// # Errors
/// If a program cannot be built, or cannot be run natively.
pub fn pgo(layout: &Layout, programs: &[&Program], plan: &Plan) -> Result<String> {
    let mut rows = Vec::new();
    for program in programs {
        let ratios = measure(layout, program, plan)?;
        let cells: Vec<String> = ratios.iter().map(|&ratio| thousandths(ratio)).collect();
        eprintln!("measured {}: {}", program.name, cells.join(" "));
        rows.push((program.name, ratios));
    }
    let stages: Vec<String> = plan.stages.iter().map(|stage| format!("paths, {stage}")).collect();
    let names: Vec<&str> = stages.iter().map(String::as_str).chain(["-fprofile-use"]).collect();
    let cells = |row: &(&str, Vec<Option<f64>>)| {
        std::iter::once(row.0.to_string()).chain(row.1.iter().map(|&r| thousandths(r))).collect()
    };
    let mut table: Vec<Vec<String>> = rows.iter().map(cells).collect();
    let mean = |column: usize| geometric_mean(rows.iter().filter_map(|(_, r)| r[column]));
    let means = (0..names.len()).map(|column| thousandths(mean(column)));
    table.push(std::iter::once("geometric mean".to_string()).chain(means).collect());
    Ok(format!(
        "LLVM {}, -O{}; medians of {} rounds; CPU time over that without a profile:\n\n{}",
        plan.llvm,
        plan.opt,
        plan.rounds,
        markdown(&[&["program"], names.as_slice()].concat(), &table)
    ))
}

fn thousandths(value: Option<f64>) -> String {
    value.map_or(ratio(None), |value| format!("{value:.3}"))
}

/// CPU time over native of each variant.
fn measure(layout: &Layout, program: &Program, plan: &Plan) -> Result<Vec<Option<f64>>> {
    let variant = |how| Variant { llvm: plan.llvm, opt: plan.opt, how };
    let native = build(layout, program, variant(How::Native))?;
    let expected = run(layout, program, &native, Size::Bench)?;
    let mut others = Vec::new();
    for &stage in &plan.stages {
        let flag = paths_flag(layout, program, variant(How::paths(4, stage)))?;
        let built = build_with(layout, program, variant(How::PathsUsed), &[flag])?;
        others.push((variant(How::PathsUsed), kept(built, &stage.to_string())?));
    }
    let flag = clang_flag(layout, program, variant(How::IrCounters))?;
    let flags = [flag, NO_VALUES[0].to_string(), NO_VALUES[1].to_string()];
    let built = build_with(layout, program, variant(How::IrUsed), &flags)?;
    others.push((variant(How::IrUsed), built));
    let mut ratios = vec![Vec::new(); others.len()];
    for _ in 0..plan.rounds {
        let plain = run(layout, program, &native, Size::Bench)?;
        for ((variant, built), ratios) in others.iter().zip(&mut ratios) {
            let other = run(layout, program, built, Size::Bench)?;
            if same(program, *variant, &expected, &other) {
                ratios.push(other.cpu.as_secs_f64() / plain.cpu.as_secs_f64());
            }
        }
    }
    let complete = |ratios: &mut Vec<f64>| {
        if ratios.len() == plan.rounds { median(ratios) } else { None }
    };
    Ok(ratios.iter_mut().map(complete).collect())
}

/// The same executable under a name of its own, since the next stage's build takes its folder.
fn kept(built: Built, name: &str) -> Result<Built> {
    let executable = built.folder.with_extension(name);
    std::fs::rename(&built.executable, &executable)
        .map_err(crate::error::io("keeping", &executable))?;
    Ok(Built { executable, ..built })
}

/// Profiles paths; the flag that has the weights used.
fn paths_flag(layout: &Layout, program: &Program, variant: Variant) -> Result<String> {
    let built = build(layout, program, variant)?;
    run(layout, program, &built, Size::Test)?;
    let weights = built.folder.join("weights.json");
    Job::new(layout.midflight()?)
        .args(["export", "--to", "weights", "-o"])
        .arg(&weights)
        .arg(&built.executable)
        .arg(profile_of(&built))
        .expect_success()?;
    Ok(format!("--midflight-use={}", weights.display()))
}

/// Profiles by clang's counters; the flag that has them used.
fn clang_flag(layout: &Layout, program: &Program, variant: Variant) -> Result<String> {
    let built = build_with(layout, program, variant, &NO_VALUES.map(String::from))?;
    run(layout, program, &built, Size::Test)?;
    let merged = built.folder.join("run.profdata");
    Job::new(tool("llvm-profdata", variant.llvm)?)
        .args(["merge", "-o"])
        .arg(&merged)
        .arg(built.folder.join("run.profraw"))
        .expect_success()?;
    Ok(format!("-fprofile-use={}", merged.display()))
}
