//! `midflight-bench pgo`: programs optimized for a path profile, beside the same with clang's own
//! profile of the IR.
//!
//! Each program is profiled on its work of the size for tests and measured on that for benchmarks.
//! clang's profile is taken without the values of operands (`-disable-vp`), which paths do not have
//! either.
//! In each round the native program, once more itself, and all variants run in turn; the ratio to native is taken
//! of each round, and the median of these ratios stands in the table, with the ratio of the fastest runs.

use crate::build::{Built, build, build_with};
use crate::error::Result;
use crate::layout::Layout;
use crate::llvm::tool;
use crate::measure::geometric_mean;
use crate::pairs::{Ratio, compare_all, shown};
use crate::process::Job;
use crate::program::{Program, Size};
use crate::table::markdown;
use crate::variant::{How, Stage, Variant};
use crate::workload::{job, profile_of, run};

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
        let cells: Vec<String> = ratios.iter().map(|&ratio| shown(ratio)).collect();
        eprintln!("measured {}: {}", program.name, cells.join(" "));
        rows.push((program.name, ratios));
    }
    let mut names = vec!["control".to_string()];
    names.extend(plan.stages.iter().map(|stage| format!("paths, {stage}")));
    names.push("-fprofile-use".to_string());
    let cells = |row: &(&str, Vec<Option<Ratio>>)| {
        std::iter::once(row.0.to_string()).chain(row.1.iter().map(|&r| shown(r))).collect()
    };
    let mut table: Vec<Vec<String>> = rows.iter().map(cells).collect();
    let means: Vec<Option<Ratio>> = (0..names.len()).map(|column| mean(&rows, column)).collect();
    table.push(
        std::iter::once("geometric mean".to_string())
            .chain(means.iter().map(|&m| shown(m)))
            .collect(),
    );
    let header: Vec<&str> =
        std::iter::once("program").chain(names.iter().map(String::as_str)).collect();
    Ok(format!(
        "LLVM {}, -O{}; CPU time over that without a profile, medians of {} rounds, in parentheses the ratio of the \
         fastest runs. *Control* is the program without a profile against itself: the machine's noise.\n\n{}\n{}",
        plan.llvm,
        plan.opt,
        plan.rounds,
        markdown(&header, &table),
        gains(&names, &means),
    ))
}

/// The geometric mean of a column, over the rows that have all columns.
fn mean(rows: &[(&str, Vec<Option<Ratio>>)], column: usize) -> Option<Ratio> {
    let whole = || rows.iter().filter(|(_, row)| row.iter().all(Option::is_some));
    let of = |value: fn(&Ratio) -> f64| {
        geometric_mean(whole().filter_map(|(_, row)| row[column].as_ref().map(value)))
    };
    Some(Ratio {
        median: of(|r| r.median)?,
        fastest: of(|r| r.fastest)?,
        seconds: of(|r| r.seconds)?,
    })
}

/// What part of the last column's gain the others between it and the control have.
fn gains(names: &[String], means: &[Option<Ratio>]) -> String {
    let Some(Some(last)) = means.last() else { return String::new() };
    let line = |(name, mean): (&String, &Option<Ratio>)| {
        let part =
            |of: fn(&Ratio) -> f64| Some(100.0 * (1.0 - of(mean.as_ref()?)) / (1.0 - of(last)));
        let (median, fastest) = (part(|r| r.median)?, part(|r| r.fastest)?);
        Some(format!("- {name}: {median:.0} % of what -fprofile-use gains ({fastest:.0} %)\n"))
    };
    let between = 1..names.len().saturating_sub(1);
    names[between.clone()].iter().zip(&means[between]).filter_map(line).collect()
}

/// CPU time over native of native itself and of each variant.
fn measure(layout: &Layout, program: &Program, plan: &Plan) -> Result<Vec<Option<Ratio>>> {
    let variant = |how| Variant { llvm: plan.llvm, opt: plan.opt, how };
    let native = build(layout, program, variant(How::Native))?;
    let mut built = Vec::new();
    for &stage in &plan.stages {
        let flag = paths_flag(layout, program, variant(How::paths(4, stage)))?;
        let used = build_with(layout, program, variant(How::PathsUsed), &[flag])?;
        built.push(kept(used, &stage.to_string())?);
    }
    let flag = clang_flag(layout, program, variant(How::IrCounters))?;
    let flags = [flag, NO_VALUES[0].to_string(), NO_VALUES[1].to_string()];
    built.push(build_with(layout, program, variant(How::IrUsed), &flags)?);
    let native = job(layout, program, &native, Size::Bench)?;
    let jobs: Vec<Job> = built
        .iter()
        .map(|built| job(layout, program, built, Size::Bench))
        .collect::<Result<_>>()?;
    let others: Vec<&Job> = std::iter::once(&native).chain(&jobs).collect();
    compare_all(&native, &others, &native.run()?, plan.rounds)
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
