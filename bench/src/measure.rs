//! `midflight-bench run`: CPU time beside native, and beside clang's own profilers.
//!
//! Times are user and system time of the child. In each round the native program and all variants
//! run in turn, and each one's ratio to the native program of that round is taken; the median of
//! these ratios stands in the table, with the ratio of the fastest runs. So a machine that slows
//! down for a while slows all. Or each runs once in a simulated processor.

use crate::build::{Built, build};
use crate::error::{Result, read};
use crate::held::{self, Held};
use crate::layout::Layout;
use crate::memory::Memory;
use crate::pairs::{Cell, Clock, mean, shown};
use crate::percent::bytes;
use crate::process::Job;
use crate::program::{Program, Size};
use crate::table::markdown;
use crate::variant::{Algorithm, How, Stage, Variant};
use crate::workload::{job, profile_of};
use object::{Object, ObjectSection, SectionKind};

/// What is measured.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Version of LLVM
    pub llvm: u32,
    /// Level of optimization
    pub opt: u32,
    /// Stage of the pipeline
    pub stage: Stage,
    /// Values of k
    pub k: Vec<u32>,
    /// Algorithm 4 as published, too, for k of 2 and more
    pub published: bool,
    /// By what they are compared
    pub clock: Clock,
    /// Which size of the work
    pub size: Size,
    /// Memory with which nothing is dropped, to tell what the profiles of timed runs hold
    pub held: Option<Memory>,
}

/// What one variant costs.
struct Cost {
    /// Time over that of native
    time: Cell,
    /// Size of code over that of native
    code: f64,
    /// Size of the profile in bytes, if it leaves one
    profile: Option<u64>,
    /// What that holds, if it was asked
    held: Option<Held>,
}

/// Measures programs and returns the tables, in Markdown.
///
/// # Errors
/// If a program cannot be built or natively run.
pub fn measure(layout: &Layout, programs: &[&Program], plan: &Plan) -> Result<String> {
    let hows = hows(plan);
    let mut all = Vec::new();
    for program in programs {
        eprintln!("measuring {}", program.name);
        all.push((program.name, measure_program(layout, program, plan, &hows)?));
    }
    Ok(report(plan, &hows, &all))
}

fn hows(plan: &Plan) -> Vec<How> {
    let mut hows = Vec::new();
    for &k in &plan.k {
        hows.push(How::paths(k, plan.stage));
        if plan.published && k > 1 {
            hows.push(How::published(k, plan.stage));
        }
    }
    hows.extend([How::IrCounters, How::SourceCounters]);
    hows
}

struct Measured {
    /// In the clock's unit
    native: Option<f64>,
    costs: Vec<Cost>,
}

fn measure_program(
    layout: &Layout,
    program: &Program,
    plan: &Plan,
    hows: &[How],
) -> Result<Measured> {
    let variant = |how| Variant { llvm: plan.llvm, opt: plan.opt, how };
    let native = build(layout, program, variant(How::Native))?;
    let code = code_size(&native)?;
    let native = job(layout, program, &native, plan.size)?;
    let built: Vec<Built> =
        hows.iter().map(|&how| build(layout, program, variant(how))).collect::<Result<_>>()?;
    let jobs: Vec<Job> =
        built.iter().map(|built| job(layout, program, built, plan.size)).collect::<Result<_>>()?;
    let compared = plan.clock.compare(&native, &jobs.iter().collect::<Vec<_>>())?;
    let cost = |((how, built), time): ((&How, &Built), Cell)| {
        let held = match (how, &plan.held) {
            (How::Paths { .. }, Some(everything)) if time.is_some() => {
                Some(Held::of(layout, program, built, plan.size, everything)?)
            }
            _ => None,
        };
        Ok(Cost {
            time,
            code: code_size(built)? as f64 / code as f64,
            profile: std::fs::metadata(profile_of(built)).ok().map(|file| file.len()),
            held,
        })
    };
    let costs = hows.iter().zip(&built).zip(compared.others).map(cost).collect::<Result<_>>()?;
    Ok(Measured { native: compared.first, costs })
}

/// Bytes of code in an executable.
fn code_size(built: &Built) -> Result<u64> {
    let bytes = read(&built.executable)?;
    let Ok(file) = object::File::parse(&*bytes) else { return Ok(0) };
    Ok(file.sections().filter(|s| s.kind() == SectionKind::Text).map(|s| s.size()).sum())
}

/// The median; none of no values.
pub fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => None,
        odd if odd % 2 == 1 => Some(values[middle]),
        _ => Some((values[middle - 1] + values[middle]) / 2.0),
    }
}

/// The geometric mean; none of no values.
pub fn geometric_mean(values: impl Iterator<Item = f64>) -> Option<f64> {
    let logs: Vec<f64> = values.map(f64::ln).collect();
    (!logs.is_empty()).then(|| (logs.iter().sum::<f64>() / logs.len() as f64).exp())
}

fn report(plan: &Plan, hows: &[How], all: &[(&str, Measured)]) -> String {
    let name = |how: &How| match how {
        How::Paths { k, algorithm: Algorithm::Automaton, .. } => format!("k={k}"),
        How::Paths { k, algorithm: Algorithm::Published, .. } => format!("k={k} published"),
        How::IrCounters => "-fprofile-generate".to_string(),
        _ => "-fprofile-instr-generate".to_string(),
    };
    let names: Vec<String> = hows.iter().map(name).collect();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let paths = hows.iter().filter(|how| matches!(how, How::Paths { .. })).count();
    let ratios = if plan.published { ratios(hows, all) } else { String::new() };
    let held = plan.held.as_ref().map_or(String::new(), |_| format!("; {}", held::legend()));
    format!(
        "LLVM {}, -O{}, stage {}; {}{held}:\n\n{}\n{ratios}Size of code over native:\n\n{}\nSize of the profile:\n\n{}",
        plan.llvm,
        plan.opt,
        plan.stage,
        plan.clock.over("native"),
        times(plan.clock, &names, all),
        codes(&names, all),
        profiles(&names[..paths], all),
    )
}

fn times(clock: Clock, names: &[&str], all: &[(&str, Measured)]) -> String {
    let native = format!("native, {}", clock.unit());
    let header = [&["program", native.as_str()], names].concat();
    let mut rows: Vec<Vec<String>> = all
        .iter()
        .map(|(program, measured)| {
            let held = |cost: &Cost| cost.held.as_ref().map_or(String::new(), |h| format!("; {h}"));
            let times = measured.costs.iter().map(|cost| shown(cost.time) + &held(cost));
            let native = measured.native.map_or("–".to_string(), |time| format!("{time:.2}"));
            [program.to_string(), native].into_iter().chain(times).collect()
        })
        .collect();
    let column = |index: usize| all.iter().map(move |(_, m)| m.costs[index].time);
    let means = (0..names.len()).map(|index| shown(mean(column(index))));
    rows.push(["geometric mean".to_string(), String::new()].into_iter().chain(means).collect());
    markdown(&header, &rows)
}

/// An overhead that stands out from the machine's noise.
const OVERHEAD: f64 = 0.05;

/// An automaton's overhead is taken for no less.
const LEAST_OVERHEAD: f64 = 0.01;

/// What Algorithm 4 as published adds to the time, over what the automaton adds.
fn ratios(hows: &[How], all: &[(&str, Measured)]) -> String {
    let is_published =
        |how: &How| matches!(how, How::Paths { algorithm: Algorithm::Published, .. });
    let columns: Vec<usize> = (1..hows.len()).filter(|&at| is_published(&hows[at])).collect();
    let names: Vec<String> = columns
        .iter()
        .filter_map(|&at| match hows[at] {
            How::Paths { k, .. } => Some(format!("k={k}")),
            _ => None,
        })
        .collect();
    let header: Vec<&str> =
        std::iter::once("program").chain(names.iter().map(String::as_str)).collect();
    let row = |(program, measured): &(&str, Measured)| {
        let cells = columns
            .iter()
            .map(|&at| ratio_of_overheads(measured.costs[at].time, measured.costs[at - 1].time));
        std::iter::once(program.to_string()).chain(cells).collect()
    };
    format!(
        "Time that Algorithm 4 as published adds, over what the automaton adds (– where neither adds \
         5 %):\n\n{}\n",
        markdown(&header, &all.iter().map(row).collect::<Vec<Vec<String>>>())
    )
}

/// Of the times over native; an overhead of the automaton that cannot be measured bounds the ratio.
fn ratio_of_overheads(published: Cell, automaton: Cell) -> String {
    let (Some([published, _]), Some([automaton, _])) = (published, automaton) else {
        return "–".to_string();
    };
    let (published, automaton) = (published - 1.0, automaton - 1.0);
    if published.max(automaton) < OVERHEAD {
        return "–".to_string();
    }
    let bound = if automaton < LEAST_OVERHEAD { "> " } else { "" };
    format!("{bound}{:.1}", published / automaton.max(LEAST_OVERHEAD))
}

fn codes(names: &[&str], all: &[(&str, Measured)]) -> String {
    let header = [&["program"], names].concat();
    let mut rows: Vec<Vec<String>> = all
        .iter()
        .map(|(program, measured)| {
            let codes = measured.costs.iter().map(|cost| ratio(Some(cost.code)));
            std::iter::once(program.to_string()).chain(codes).collect()
        })
        .collect();
    let means = (0..names.len())
        .map(|index| ratio(geometric_mean(all.iter().map(|(_, m)| m.costs[index].code))));
    rows.push(std::iter::once("geometric mean".to_string()).chain(means).collect());
    markdown(&header, &rows)
}

fn profiles(names: &[&str], all: &[(&str, Measured)]) -> String {
    let header = [&["program"], names].concat();
    let row = |(program, measured): &(&str, Measured)| {
        let sizes = measured.costs.iter().take(names.len()).map(|cost| bytes(cost.profile));
        std::iter::once(program.to_string()).chain(sizes).collect()
    };
    markdown(&header, &all.iter().map(row).collect::<Vec<Vec<String>>>())
}

/// A ratio for a table.
pub fn ratio(value: Option<f64>) -> String {
    value.map_or("–".to_string(), |value| format!("{value:.2}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn medians_are_not_moved_by_one_slow_run() {
        assert_eq!(median(&mut [1.0, 1.1, 9.0]), Some(1.1));
        assert_eq!(median(&mut [1.0, 2.0]), Some(1.5));
        assert_eq!(median(&mut []), None);
    }

    #[test]
    fn overheads_are_compared_where_there_are_any() {
        let of =
            |published, automaton| ratio_of_overheads(Some([published; 2]), Some([automaton; 2]));
        assert_eq!(of(1.9, 1.3), "3.0");
        assert_eq!(of(1.03, 1.3), "0.1");
        assert_eq!(of(1.5, 0.99), "> 50.0");
        assert_eq!(of(1.04, 1.01), "–");
        assert_eq!(ratio_of_overheads(None, Some([1.2; 2])), "–");
    }

    #[test]
    fn a_published_variant_stands_behind_its_automaton() {
        let mut plan = Plan {
            llvm: 22,
            opt: 2,
            stage: Stage::Late,
            k: vec![1, 4],
            published: true,
            clock: Clock::Simulated,
            size: Size::Test,
            held: None,
        };
        let late = Stage::Late;
        let expected = [How::paths(1, late), How::paths(4, late), How::published(4, late)];
        assert_eq!(hows(&plan)[..3], expected);
        plan.published = false;
        assert_eq!(hows(&plan)[..2], expected[..2]);
    }

    #[test]
    fn means_are_geometric() {
        let mean = geometric_mean([1.0, 4.0].into_iter()).unwrap();
        assert!((mean - 2.0).abs() < 1e-12);
        assert_eq!(geometric_mean(std::iter::empty()), None);
    }
}
