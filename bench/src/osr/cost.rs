//! `midflight-bench osr cost`: what points and transitions cost (thesis 5.3, Q1 and Q2).

use crate::error::{Error, Result, read};
use crate::layout::Layout;
use crate::measure::median;
use crate::osr::chain::{self, Moves, SHAPES};
use crate::osr::compile::Compile;
use crate::osr::log::Log;
use crate::pairs::{Ratio, compare};
use crate::process::Job;
use crate::table::markdown;
use std::path::{Path, PathBuf};

/// What is measured.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Version of LLVM
    pub llvm: u32,
    /// Pairs of runs
    pub pairs: usize,
    /// Transitions of one run of Q2
    pub transitions: u64,
    /// Share of the full work of Q1, in percent
    pub work: u64,
}

/// A program of the thesis's 5.3 and where in its hottest loop the point is put, or, as in the
/// thesis, in the recursive function in which it spends most of its time.
struct Hot {
    program: &'static str,
    /// A part of a line; nothing if the points are at all innermost loops, since what comes from
    /// the line was moved out of the loop
    line: &'static str,
    /// The argument that makes it run for about a second
    argument: u64,
}

const HOT: [Hot; 8] = [
    Hot { program: "binary-trees", line: "malloc(sizeof *node)", argument: 16 },
    Hot { program: "fannkuch", line: "sum += sign * count", argument: 10 },
    Hot { program: "fasta", line: "putchar(draw(", argument: 8_000_000 },
    Hot { program: "fasta-redux", line: "line[i] = draw()", argument: 16_000_000 },
    Hot { program: "mandelbrot", line: "zi = 2 * zr", argument: 4_000 },
    Hot { program: "n-body", line: "bodies[i].at[axis] += step", argument: 10_000_000 },
    Hot { program: "reverse-complement", line: "char first = complement", argument: 40_000_000 },
    Hot { program: "spectral-norm", line: "", argument: 2_500 },
];

/// Conditions that never hold; the first three are guards.
const NEVER_FIRING: [&str; 4] = ["never", "flag", "count:4000000000", "patch"];
const GUARDS: usize = 3;

/// Q1: the slowdown by a point that never fires. As a control, the native program is compared with
/// itself: what that shows is the machine's noise.
///
/// # Errors
/// If a program cannot be built or run.
pub fn never_firing(layout: &Layout, plan: &Plan) -> Result<String> {
    let (mut rows, mut controls, mut guards, mut patches) = (vec![], vec![], vec![], vec![]);
    for hot in &HOT {
        eprintln!("measuring {}", hot.program);
        let work = Work::new(layout, plan, hot)?;
        let native = work.build("native", None)?;
        let expected = work.job(&native).run()?;
        let checks = work.checks()?;
        let mut row = vec![hot.program.to_string(), format!("{:.1}", checks as f64 / 1e6)];
        row.push(format!("{:.2}", expected.cpu.as_secs_f64()));
        let control = compare(&work.job(&native), &work.job(&native), &expected, plan.pairs)?;
        controls.extend(control);
        row.push(shown(control));
        for (index, condition) in NEVER_FIRING.iter().enumerate() {
            let pointed = work.build("pointed", Some(condition))?;
            let ratio = compare(&work.job(&native), &work.job(&pointed), &expected, plan.pairs)?;
            let group = if index < GUARDS { &mut guards } else { &mut patches };
            group.extend(ratio);
            row.push(shown(ratio));
        }
        rows.push(row);
    }
    let header =
        ["program", "checks (M)", "native s", "control", "never", "flag", "count", "patch"];
    Ok(format!(
        "CPU time over native, LLVM {}, -O2, stage late; median of {} interleaved pairs, and in \
         parentheses the ratio of the fastest runs.\n\n{}\n{}{}{}",
        plan.llvm,
        plan.pairs,
        markdown(&header, &rows),
        summary("Control (native against itself)", &controls),
        summary("Guarded points", &guards),
        summary("Patchable points", &patches),
    ))
}

fn shown(ratio: Option<Ratio>) -> String {
    ratio.map_or("–".to_string(), |r| format!("{:.3} ({:.3})", r.median, r.fastest))
}

fn summary(name: &str, ratios: &[Ratio]) -> String {
    let of = |value: fn(&Ratio) -> f64| {
        let mut values: Vec<f64> = ratios.iter().map(value).collect();
        let worst = values.iter().copied().fold(0.0, f64::max);
        format!("median {:.3}, worst {worst:.3}", median(&mut values).unwrap_or(0.0))
    };
    format!("- {name}: {} (of the fastest runs: {})\n", of(|r| r.median), of(|r| r.fastest))
}

/// One program of Q1.
struct Work<'a> {
    layout: &'a Layout,
    llvm: u32,
    source: PathBuf,
    folder: PathBuf,
    place: String,
    argument: String,
}

impl<'a> Work<'a> {
    fn new(layout: &'a Layout, plan: &Plan, hot: &Hot) -> Result<Work<'a>> {
        let file = format!("{}.c", hot.program);
        let source = layout.corpus().join("shootout").join(&file);
        let place = match hot.line {
            "" => "loop-header:closest".to_string(),
            part => format!("{file}:{}", line_with(&source, part)?),
        };
        Ok(Work {
            layout,
            llvm: plan.llvm,
            source,
            folder: layout.work().join("osr-cost"),
            place,
            argument: part(hot.argument, plan.work).to_string(),
        })
    }

    fn build(&self, name: &str, condition: Option<&str>) -> Result<PathBuf> {
        let points =
            |condition| format!("osr-point;where={};when={condition};stage=late", self.place);
        self.compile(name, condition.map(points))
    }

    fn compile(&self, name: &str, points: Option<String>) -> Result<PathBuf> {
        std::fs::create_dir_all(&self.folder)
            .map_err(crate::error::io("making the folder", &self.folder))?;
        let executable = self.folder.join(name);
        let flags = ["-gline-tables-only", "-lm"].map(str::to_string).to_vec();
        let compile = Compile { llvm: self.llvm, opt: 2, points, flags };
        compile.run(self.layout, std::slice::from_ref(&self.source), &executable)?;
        Ok(executable)
    }

    fn job(&self, executable: &Path) -> Job {
        Job::new(executable).arg(&self.argument).limit(600)
    }

    /// How often the point's condition is tested: the transitions if it always fires.
    fn checks(&self) -> Result<u64> {
        let options = format!("osr-point;where={};when=always;chain;stage=late", self.place);
        let moving = self.compile("always", Some(options))?;
        let log = self.folder.join("always.json");
        let _ = std::fs::remove_file(&log);
        self.job(&moving).env("MIDFLIGHT_OSR_LOG", &log).expect_success()?;
        Ok(Log::read(&log)?.transitions())
    }
}

/// Number of the line that has this part.
fn line_with(source: &Path, part: &str) -> Result<usize> {
    let text = String::from_utf8_lossy(&read(source)?).into_owned();
    let line = text.lines().position(|line| line.contains(part));
    line.map(|line| line + 1).ok_or_else(|| Error::Missing {
        what: format!("'{}' has no line with '{part}'", source.display()),
        remedy: "adapt bench/src/osr/cost.rs to it".to_string(),
    })
}

/// A share of the work; small arguments are exponents or sizes, and stay.
pub fn part(argument: u64, percent: u64) -> u64 {
    if argument < 100 { argument } else { argument * percent / 100 }
}

/// Q2: the cost of a transition by number of live values.
///
/// # Errors
/// If a program cannot be built or run.
pub fn transitions(layout: &Layout, plan: &Plan) -> Result<String> {
    let folder = layout.work().join("osr-cost");
    let mut rows = Vec::new();
    for shape in SHAPES {
        eprintln!("measuring transitions: {shape}");
        let build = |moves| chain::build(layout, plan.llvm, 2, shape, moves, &folder);
        let job = |moves| Ok(chain::job(layout, &build(moves)?, plan.transitions));
        let (plain, bare) = (job(Moves::None)?, job(Moves::TailCalls)?);
        let moving = job(Moves::Transitions)?;
        let expected = plain.run()?;
        let against_bare = compare(&bare, &moving, &expected, plan.pairs)?;
        let per = |seconds: f64| seconds * 1e9 / plan.transitions as f64;
        let loop_only = per(expected.cpu.as_secs_f64());
        let mut row = vec![shape.to_string(), format!("{loop_only:.2}")];
        match against_bare {
            Some(ratio) => {
                row.push(format!("{:.2}", per(ratio.seconds / ratio.fastest)));
                row.push(format!("{:.2}", per(ratio.seconds)));
                row.push(format!("{:.2}", per(ratio.seconds) - loop_only));
                row.push(format!("{:.2} ({:.2})", ratio.median, ratio.fastest));
            }
            None => row.extend(std::iter::repeat_n("–".to_string(), 4)),
        }
        rows.push(row);
    }
    let header = [
        "live",
        "plain loop ns",
        "musttail loop ns",
        "transitions ns",
        "over plain ns",
        "over musttail",
    ];
    Ok(format!(
        "Time of an iteration, LLVM {}, -O2, {} transitions in a stack of 256 KiB; fastest of {} \
         interleaved pairs; the ratio is the median of the pairs, and in parentheses that of the \
         fastest runs.\n\n{}",
        plan.llvm,
        plan.transitions,
        plan.pairs,
        markdown(&header, &rows),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn exponents_are_not_scaled() {
        assert_eq!((part(16, 10), part(8_000_000, 10)), (16, 800_000));
    }

    #[test]
    fn the_worst_is_told() {
        let ratio = |median| Ratio { median, fastest: 1.0, seconds: 1.0 };
        let text = summary("Guarded", &[ratio(1.0), ratio(1.5), ratio(1.1)]);
        assert!(text.contains("median 1.100, worst 1.500 (of the fastest runs: median 1.000"));
    }
}
