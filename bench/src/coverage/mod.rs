//! `midflight-bench coverage`: line counts against an outside source, clang's coverage.
//!
//! Both come from -O0, the path profile from the early stage. Every line that either side counts is
//! compared, and every difference is given a reason ([`classify`]).

pub mod clang;
pub mod classify;
pub mod lcov;
pub mod ours;

use crate::build::{Built, build};
use crate::edge_report::edge_report;
use crate::error::{Error, Result, read};
use crate::layout::Layout;
use crate::llvm::tool;
use crate::process::{Job, Outcome};
use crate::program::{Program, Size};
use crate::table::markdown;
use crate::tables::tables;
use crate::tally::Tally;
use crate::variant::{How, Stage, Variant};
use crate::workload::{profile_of, run};
use classify::{Line, REASONS, Reason, classify};
use lcov::LineCounts;
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// Result for all programs.
#[derive(Clone, Debug, Default)]
pub struct Coverage {
    programs: Vec<ProgramCoverage>,
}

#[derive(Clone, Debug)]
struct ProgramCoverage {
    name: &'static str,
    lines: BTreeMap<Reason, usize>,
    details: Vec<(Reason, String)>,
}

/// Compares programs.
///
/// # Errors
/// If something cannot be built, run or read.
pub fn coverage(layout: &Layout, programs: &[&Program], llvm: u32) -> Result<Coverage> {
    let one = |program: &&Program| compare(layout, program, llvm);
    let programs = programs.par_iter().with_max_len(1).map(one).collect::<Result<_>>()?;
    Ok(Coverage { programs })
}

/// Both sides' counts and what is known of the lines.
struct Sides {
    clang: LineCounts,
    regions: clang::ClangLines,
    ours: LineCounts,
    blocks: ours::OurLines,
    /// Lines whose count changed from one run to the next, on either side
    unsteady: BTreeSet<(String, u32)>,
}

/// How often each program is run, to see which lines are unsteady.
const RUNS: usize = 3;

fn compare(layout: &Layout, program: &Program, llvm: u32) -> Result<ProgramCoverage> {
    let sides = sides(layout, program, llvm)?;
    let mut result =
        ProgramCoverage { name: program.name, lines: BTreeMap::new(), details: Vec::new() };
    let files: BTreeSet<&String> = sides.clang.keys().chain(sides.ours.keys()).collect();
    for file in files {
        compare_file(&sides, file, &mut result);
    }
    Ok(result)
}

fn compare_file(sides: &Sides, file: &str, result: &mut ProgramCoverage) {
    let text = std::fs::read(file).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let text: Vec<&str> = text.lines().map(str::trim).collect();
    let side = |counts: &LineCounts| counts.get(file).cloned().unwrap_or_default();
    let (clang, ours) = (side(&sides.clang), side(&sides.ours));
    let numbers: BTreeSet<u32> = clang.keys().chain(ours.keys()).copied().collect();
    let (no_regions, no_blocks) = (Default::default(), Default::default());
    for number in numbers {
        let at = |index: u32| index.checked_sub(1).and_then(|i| text.get(i as usize)).copied();
        let line = Line {
            clang: clang.get(&number).copied(),
            ours: ours.get(&number).copied(),
            text: at(number).unwrap_or_default(),
            behind_macro: behind_macro(&text, sides.regions.get(file), number),
            unsteady: sides.unsteady.contains(&(file.to_string(), number)),
            regions: sides.regions.get(file).and_then(|l| l.get(&number)).unwrap_or(&no_regions),
            blocks: sides.blocks.get(file).and_then(|l| l.get(&number)).unwrap_or(&no_blocks),
        };
        let reason = classify(&line);
        *result.lines.entry(reason).or_default() += 1;
        if !matches!(reason, Reason::Equal | Reason::NoCode) {
            let count = |count: Option<u64>| count.map_or("-".to_string(), |n| n.to_string());
            let place = format!("{file}:{number}");
            let (clang, ours) = (count(line.clang), count(line.ours));
            let detail = format!("{place}: clang {clang}, ours {ours}: {}", line.text);
            result.details.push((reason, detail));
        }
    }
}

/// True if a line is part of a macro's arguments, which begin on a line before, or of a region that
/// begins where a macro ends.
fn behind_macro(
    text: &[&str],
    regions: Option<&BTreeMap<u32, clang::ClangLine>>,
    number: u32,
) -> bool {
    let Some(regions) = regions else { return false };
    let expands = |line: u32| regions.get(&line).is_some_and(|regions| regions.expansion);
    if regions.get(&number).and_then(|regions| regions.since).is_some_and(expands) {
        return true;
    }
    // Back over lines that do not end a statement.
    for line in (1..number).rev().take(16) {
        let before = text.get(line as usize - 1).copied().unwrap_or_default();
        if before.ends_with([';', '{', '}']) {
            return false;
        }
        if expands(line) {
            return true;
        }
    }
    false
}

fn sides(layout: &Layout, program: &Program, llvm: u32) -> Result<Sides> {
    let variant = |how| Variant { llvm, opt: 0, how };
    let covered = build(layout, program, variant(How::Coverage))?;
    let profiled = build(layout, program, variant(How::paths(1, Stage::Early)))?;
    let mut unsteady = BTreeSet::new();
    let mut clang = clang_counts(layout, program, &covered, llvm)?;
    let mut ours = our_counts(layout, program, &profiled)?;
    for _ in 1..RUNS {
        let again = clang_counts(layout, program, &covered, llvm)?;
        unsteady.extend(changed(&clang, &again));
        clang = again;
        let again = our_counts(layout, program, &profiled)?;
        unsteady.extend(changed(&ours, &again));
        ours = again;
    }
    let report = edge_report(layout, &profiled.executable, &profile_of(&profiled))?;
    Ok(Sides {
        clang,
        regions: clang::parse(&llvm_cov(&covered, llvm, "-format=text")?)?,
        ours,
        blocks: ours::our_lines(&tables(&profiled.executable)?, &report),
        unsteady,
    })
}

/// Lines whose counts are not the same in both.
fn changed(one: &LineCounts, other: &LineCounts) -> Vec<(String, u32)> {
    let mut lines = Vec::new();
    for (file, counts) in one {
        for (line, count) in counts {
            if other.get(file).and_then(|counts| counts.get(line)) != Some(count) {
                lines.push((file.clone(), *line));
            }
        }
    }
    lines
}

fn clang_counts(
    layout: &Layout,
    program: &Program,
    covered: &Built,
    llvm: u32,
) -> Result<LineCounts> {
    succeed(program, &run(layout, program, covered, Size::Test)?)?;
    Job::new(tool("llvm-profdata", llvm)?)
        .args(["merge", "-o", "run.profdata", "run.profraw"])
        .folder(&covered.folder)
        .expect_success()?;
    Ok(lcov::parse(&String::from_utf8_lossy(&llvm_cov(covered, llvm, "-format=lcov")?)))
}

fn llvm_cov(covered: &Built, llvm: u32, format: &str) -> Result<Vec<u8>> {
    let job = Job::new(tool("llvm-cov", llvm)?)
        .args(["export", format, "-instr-profile", "run.profdata"])
        .arg(&covered.executable)
        .folder(&covered.folder);
    Ok(job.expect_success()?.stdout)
}

fn our_counts(layout: &Layout, program: &Program, profiled: &Built) -> Result<LineCounts> {
    succeed(program, &run(layout, program, profiled, Size::Test)?)?;
    let lcov = profiled.folder.join("run.lcov");
    Job::new(layout.midflight()?)
        .args(["export", "--to", "lcov", "-o"])
        .args([&lcov, &profiled.executable, &profile_of(profiled)])
        .expect_success()?;
    Ok(lcov::parse(&String::from_utf8_lossy(&read(&lcov)?)))
}

fn succeed(program: &Program, outcome: &Outcome) -> Result<()> {
    match outcome.end {
        crate::process::End::Exit(0) => Ok(()),
        end => Err(Error::Command { command: program.name.to_string(), what: end.to_string() }),
    }
}

impl Coverage {
    /// A table of programs by reason, and each line that differs if `details` are asked for.
    /// Unclassified lines are always given.
    pub fn report(&self, details: bool) -> String {
        let header: Vec<&str> = ["program", "lines"]
            .into_iter()
            .chain(REASONS.into_iter().map(Reason::title))
            .collect();
        let row = |name: &str, lines: &dyn Fn(Reason) -> usize| {
            let counts: Vec<usize> = REASONS.into_iter().map(lines).collect();
            let total: usize = counts.iter().sum();
            let cells = std::iter::once(total).chain(counts).map(|count| count.to_string());
            std::iter::once(name.to_string()).chain(cells).collect::<Vec<String>>()
        };
        let lines = |p: &ProgramCoverage, reason| p.lines.get(&reason).copied().unwrap_or(0);
        let mut rows: Vec<_> =
            self.programs.iter().map(|p| row(p.name, &|reason| lines(p, reason))).collect();
        rows.push(row("all", &|reason| self.programs.iter().map(|p| lines(p, reason)).sum()));
        let mut text = markdown(&header, &rows);
        for program in &self.programs {
            for (reason, detail) in &program.details {
                if details || *reason == Reason::Unclassified {
                    text += &format!("\n{}: {detail}", reason.title());
                }
            }
        }
        text
    }

    /// A program passes if no line is unclassified.
    pub fn tally(&self) -> Tally {
        let mut tally = Tally::default();
        for program in &self.programs {
            let unclassified = program.lines.get(&Reason::Unclassified).copied().unwrap_or(0);
            let problem = (unclassified > 0)
                .then(|| format!("{unclassified} lines differ for no known reason"));
            tally.check(program.name, problem);
        }
        tally
    }
}
