//! `midflight-bench pgo`: programs optimized for a path profile, beside the same with clang's own
//! profile of the IR.
//!
//! Each program is profiled on its work of the size for tests and measured on that for benchmarks.
//! clang's profile is taken without the values of operands (`-disable-vp`), which paths do not have
//! either.
//! In each round the native program, all variants and the native program once more run in turn; the ratio to native
//! is taken of each round, and the median of these ratios stands in the table, with the ratio of the fastest runs.
//! Or each runs once in a simulated processor, with the work of the size for tests: this is exact where a busy
//! machine is not, but a model.

use crate::build::{Built, build, build_with};
use crate::compare::difference;
use crate::error::Result;
use crate::layout::Layout;
use crate::llvm::tool;
use crate::measure::geometric_mean;
use crate::pairs::compare_all;
use crate::process::Job;
use crate::program::{Program, Size};
use crate::simulated::simulate;
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
    /// Simulate the processor instead
    pub simulate: bool,
}

/// Flags for clang to leave the values of operands alone.
const NO_VALUES: [&str; 2] = ["-mllvm", "-disable-vp"];

/// Two ratios to the program without a profile: of the median and of the fastest runs, or of simulated cycles and
/// instructions. None if it could not be measured.
type Cell = Option<[f64; 2]>;

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
    names.push("-fprofile-use".to_string());
    if !plan.simulate {
        names.push("no profile".to_string());
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
    let what = if plan.simulate {
        "cycles over those without a profile, as cachegrind's counts estimate them, in parentheses instructions"
            .to_string()
    } else {
        format!(
            "CPU time over that without a profile, medians of {} rounds, in parentheses the ratio of the fastest runs; \
             in the last column the program without a profile once more: the machine's noise",
            plan.rounds
        )
    };
    let table = markdown(&header, &table);
    let gains = gains(&names, &means, plan.stages.len());
    Ok(format!("LLVM {}, -O{}; {what}:\n\n{table}\n{gains}", plan.llvm, plan.opt))
}

fn shown(cell: Cell) -> String {
    cell.map_or("–".to_string(), |[first, second]| format!("{first:.3} ({second:.3})"))
}

/// The geometric mean of a column, over the rows that have all columns.
fn mean(rows: &[(&str, Vec<Cell>)], column: usize) -> Cell {
    let whole = || rows.iter().filter(|(_, row)| row.iter().all(Option::is_some));
    let of = |part: usize| {
        geometric_mean(whole().filter_map(|(_, row)| row[column].map(|cell| cell[part])))
    };
    Some([of(0)?, of(1)?])
}

/// What part of the gain of clang's profile, which stands behind the stages, each of these has; nothing if it
/// has none.
fn gains(names: &[String], means: &[Cell], stages: usize) -> String {
    let Some(Some(clang)) = means.get(stages) else { return String::new() };
    if clang.iter().any(|&clang| clang >= 1.0) {
        return String::new();
    }
    let line = |(name, mean): (&String, &Cell)| {
        let part = |part: usize| Some(100.0 * (1.0 - (*mean)?[part]) / (1.0 - clang[part]));
        let (first, second) = (part(0)?, part(1)?);
        Some(format!("- {name}: {first:.0} % of what -fprofile-use gains ({second:.0} %)\n"))
    };
    names.iter().zip(means).take(stages).filter_map(line).collect()
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
    let flag = clang_flag(layout, program, variant(How::IrCounters))?;
    let flags = [flag, NO_VALUES[0].to_string(), NO_VALUES[1].to_string()];
    used.push(build_with(layout, program, variant(How::IrUsed), &flags)?);
    let size = if plan.simulate { Size::Test } else { Size::Bench };
    let native = job(layout, program, &native, size)?;
    let used: Vec<Job> =
        used.iter().map(|built| job(layout, program, built, size)).collect::<Result<_>>()?;
    if plan.simulate {
        return compare_simulated(&native, &used);
    }
    let others: Vec<&Job> = used.iter().chain([&native]).collect();
    let ratios = compare_all(&native, &others, &native.run()?, plan.rounds)?;
    Ok(ratios.into_iter().map(|ratio| ratio.map(|r| [r.median, r.fastest])).collect())
}

fn compare_simulated(native: &Job, used: &[Job]) -> Result<Vec<Cell>> {
    let (expected, base) = simulate(native)?;
    let cell = |job: &Job| {
        let (outcome, run) = simulate(job)?;
        if let Some(problem) = difference(&expected, &outcome) {
            eprintln!("not measured: {}: {problem}", job.command_line());
            return Ok(None);
        }
        Ok(Some([run.cycles / base.cycles, run.instructions / base.instructions]))
    };
    used.iter().map(cell).collect()
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
