//! `midflight-bench pgo`: programs optimized for a path profile, beside the same with clang's own
//! profile of the IR.
//!
//! Each program is profiled on its work of the size for tests and measured on that for benchmarks.
//! clang's profile is taken without the values of operands (`-disable-vp`), which paths do not have
//! either. Sample profiles, which clang uses too, may stand beside them, of the same paths and of
//! calling contexts. In each round the native program, all variants and the native program once
//! more run in turn; the ratio to native is taken of each round, and the median of these ratios
//! stands in the table, with the ratio of the fastest runs. Or each runs once in a simulated
//! processor, with the work of the size for tests: this is exact where a busy machine is not, but a
//! model.

use crate::build::{Built, build, build_with};
use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::llvm::tool;
use crate::pairs::{self, Cell, Clock, shown};
use crate::process::Job;
use crate::program::{Program, Size};
use crate::table::markdown;
use crate::variant::{How, Stage, Variant};
use crate::workload::{job, profile_of, run};
use std::path::{Path, PathBuf};

/// What is measured.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Version of LLVM
    pub llvm: u32,
    /// Level of optimization
    pub opt: u32,
    /// Stages at which paths are profiled, and the profile used
    pub stages: Vec<Stage>,
    /// Sample profiles too: of lines, of calling contexts, and of both
    pub samples: bool,
    /// By what they are compared
    pub clock: Clock,
}

/// What sample profiles are of.
const SAMPLES: [&str; 3] = ["lines", "contexts", "contexts and lines"];

/// Flags for clang to leave the values of operands alone.
const NO_VALUES: [&str; 2] = ["-mllvm", "-disable-vp"];

/// Measures programs and returns the table, in Markdown.
///
/// # Errors
/// If a program cannot be built, or cannot be run natively.
pub fn pgo(layout: &Layout, programs: &[&Program], plan: &Plan) -> Result<String> {
    let mut rows = Vec::new();
    for program in programs {
        let row = measure(layout, program, plan)?;
        let cells: Vec<String> = row.iter().copied().map(shown).collect();
        eprintln!("measured {}: {}", program.name, cells.join(" "));
        rows.push((program.name, row));
    }
    let mut names: Vec<String> =
        plan.stages.iter().map(|stage| format!("paths, {stage}")).collect();
    names.extend(SAMPLES.iter().filter(|_| plan.samples).map(|what| format!("samples, {what}")));
    let ours = names.len();
    names.push("-fprofile-use".to_string());
    let mut what = plan.clock.over("no profile");
    if let Clock::Processor { .. } = plan.clock {
        names.push("no profile".to_string());
        what += "; in the last column the program without a profile once more: the machine's noise";
    }
    let line = |(name, row): (&str, &[Cell])| {
        std::iter::once(name.to_string()).chain(row.iter().copied().map(shown)).collect()
    };
    let means: Vec<Cell> = (0..names.len()).map(|column| mean(&rows, column)).collect();
    let lines = rows.iter().map(|(name, row)| (*name, row.as_slice()));
    let table: Vec<Vec<String>> =
        lines.chain([("geometric mean", means.as_slice())]).map(line).collect();
    let header: Vec<&str> =
        std::iter::once("program").chain(names.iter().map(String::as_str)).collect();
    let table = markdown(&header, &table);
    let gains = gains(&names, &means, ours);
    Ok(format!("LLVM {}, -O{}; {what}:\n\n{table}\n{gains}", plan.llvm, plan.opt))
}

/// The geometric mean of a column, over the rows that have all columns.
fn mean(rows: &[(&str, Vec<Cell>)], column: usize) -> Cell {
    let whole = rows.iter().filter(|(_, row)| row.iter().all(Option::is_some));
    pairs::mean(whole.map(|(_, row)| row[column]))
}

/// What part of the gain of clang's profile, which stands behind `ours`, each of these has; nothing
/// if it has none.
fn gains(names: &[String], means: &[Cell], ours: usize) -> String {
    let Some(Some(clang)) = means.get(ours) else { return String::new() };
    if clang.iter().any(|&clang| clang >= 1.0) {
        return String::new();
    }
    let line = |(name, mean): (&String, &Cell)| {
        let part = |part: usize| Some(100.0 * (1.0 - (*mean)?[part]) / (1.0 - clang[part]));
        let (first, second) = (part(0)?, part(1)?);
        Some(format!("- {name}: {first:.0} % of what -fprofile-use gains ({second:.0} %)\n"))
    };
    names.iter().zip(means).take(ours).filter_map(line).collect()
}

/// The cells of a program.
fn measure(layout: &Layout, program: &Program, plan: &Plan) -> Result<Vec<Cell>> {
    let variant = |how| Variant { llvm: plan.llvm, opt: plan.opt, how };
    let native = build(layout, program, variant(How::Native))?;
    let mut used = Vec::new();
    for &stage in &plan.stages {
        let flag = paths_flag(layout, program, variant(How::paths(4, stage)))?;
        let built = build_with(layout, program, variant(How::PathsUsed), &[flag])?;
        used.push(kept(built, &stage.to_string())?);
    }
    if plan.samples {
        for (file, what) in sample_profiles(layout, program, plan)?.iter().zip(SAMPLES) {
            let flag = format!("-fprofile-sample-use={}", file.display());
            let built = build_with(layout, program, variant(How::SamplesUsed), &[flag])?;
            used.push(kept(built, what)?);
        }
    }
    let flag = clang_flag(layout, program, variant(How::IrCounters))?;
    let flags = [flag, NO_VALUES[0].to_string(), NO_VALUES[1].to_string()];
    used.push(build_with(layout, program, variant(How::IrUsed), &flags)?);
    let size = plan.clock.size();
    let native = job(layout, program, &native, size)?;
    let used: Vec<Job> =
        used.iter().map(|built| job(layout, program, built, size)).collect::<Result<_>>()?;
    let mut others: Vec<&Job> = used.iter().collect();
    if let Clock::Processor { .. } = plan.clock {
        others.push(&native);
    }
    Ok(plan.clock.compare(&native, &others)?.others)
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

/// Profiles paths and calling contexts at the stage early; the sample profiles of lines, of
/// contexts, and of both.
fn sample_profiles(layout: &Layout, program: &Program, plan: &Plan) -> Result<[PathBuf; 3]> {
    let stage = Stage::Early;
    // Two builds of one name are taken for an old one and a new one.
    let profiled = |how, name: &str| {
        let variant = Variant { llvm: plan.llvm, opt: plan.opt, how };
        let mut built = build(layout, program, variant)?;
        let executable = built.folder.join(format!("{}-{name}", program.name));
        std::fs::rename(&built.executable, &executable)
            .map_err(crate::error::io("renaming", &built.executable))?;
        built.executable = executable;
        run(layout, program, &built, Size::Test)?;
        Ok::<_, Error>(built)
    };
    let paths = profiled(How::paths(1, stage), "paths")?;
    let contexts = profiled(How::Contexts { stage, options: &[] }, "contexts")?;
    let export = |name: &str, arguments: &[&Path]| {
        let file = paths.folder.join(name);
        Job::new(layout.midflight()?)
            .args(["export", "--to", "sample-profile", "-o"])
            .arg(&file)
            .args(arguments)
            .expect_success()?;
        Ok::<_, Error>(file)
    };
    let of_paths = [paths.executable.as_path(), &profile_of(&paths)];
    let of_contexts = [Path::new("--contexts"), &contexts.executable, &profile_of(&contexts)];
    let of_both: Vec<&Path> = [&of_contexts, &[Path::new("--library")][..], &of_paths].concat();
    Ok([
        export("lines.prof", &of_paths)?,
        export("contexts.prof", &of_contexts)?,
        export("both.prof", &of_both)?,
    ])
}

/// Profiles by clang's counters; the flag that has them used.
///
/// # Errors
/// If the program cannot be built or run.
pub fn clang_flag(layout: &Layout, program: &Program, variant: Variant) -> Result<String> {
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gains_are_parts_of_that_of_clang() {
        let names =
            ["paths, early", "paths, late", "-fprofile-use", "no profile"].map(String::from);
        let means = [Some([0.8, 0.95]), None, Some([0.9, 0.9]), Some([1.0, 1.0])];
        let text = "- paths, early: 200 % of what -fprofile-use gains (50 %)\n";
        assert_eq!(gains(&names, &means, 2), text);
        let none = [Some([0.8, 0.95]), None, Some([0.9, 1.0]), Some([1.0, 1.0])];
        assert_eq!(gains(&names, &none, 2), "");
    }

    #[test]
    fn means_are_of_programs_that_have_all_columns() {
        let rows =
            [("a", vec![Some([0.5, 2.0])]), ("b", vec![None]), ("c", vec![Some([2.0, 2.0])])];
        let [first, second] = mean(&rows, 0).unwrap();
        assert!((first - 1.0).abs() < 1e-9 && (second - 2.0).abs() < 1e-9);
    }
}
