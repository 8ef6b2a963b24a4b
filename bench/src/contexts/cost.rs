//! `midflight-bench contexts cost`: CPU time beside native, and beside other profilers of calls.
//!
//! A program that hardly calls says nothing about what a call costs. So the mean is taken over
//! those with more than [`OFTEN`] calls a second; and where contexts are more than one in a hundred
//! of the activations, what costs is the making of them, which is given by itself.

use crate::build::{Built, build};
use crate::error::Result;
use crate::layout::Layout;
use crate::pairs::{Cell, Clock, mean, shown};
use crate::process::Job;
use crate::profile_file::read_profile;
use crate::program::{Program, Size};
use crate::table::markdown;
use crate::variant::{How, Stage, Variant};
use crate::workload::{job, profile_of};
use midflight_profile::table::Granularity;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::path::PathBuf;

/// Calls a second from which on a program counts for the mean.
const OFTEN: f64 = 1e7;

/// Where contexts are more than so large a part of activations, a program is listed apart.
const NEW: f64 = 0.01;

/// What is measured.
#[derive(Clone, Debug)]
pub struct Plan {
    /// Version of LLVM
    pub llvm: u32,
    /// Level of optimization
    pub opt: u32,
    /// By what they are compared
    pub clock: Clock,
    /// Which size of the work
    pub size: Size,
    /// Peers, too
    pub peers: bool,
}

/// What a program has shown.
struct Measured {
    name: &'static str,
    /// Seconds of the native program, or cycles
    native: Option<f64>,
    activations: f64,
    contexts: usize,
    costs: Vec<Cell>,
}

impl Measured {
    fn calls_a_second(&self) -> f64 {
        self.native.map_or(0.0, |seconds| self.activations / seconds)
    }

    fn is_new(&self) -> bool {
        self.contexts as f64 > NEW * self.activations
    }

    /// What an activation adds, in nanoseconds.
    fn nanoseconds(&self, column: usize) -> String {
        match (self.native, self.costs.get(column).copied().flatten()) {
            (Some(seconds), Some([ratio, _])) if self.activations > 0.0 => {
                format!("{:.2}", (ratio - 1.0) * seconds / self.activations * 1e9)
            }
            _ => "–".to_string(),
        }
    }
}

/// A column of the tables.
#[derive(Clone, Copy)]
struct Column {
    name: &'static str,
    how: How,
    /// What the program is told of contexts
    mode: &'static str,
}

fn columns(plan: &Plan) -> Vec<Column> {
    let contexts = |granularity| How::Contexts { stage: Stage::Late, granularity };
    let sites = contexts(Granularity::Sites);
    let functions = contexts(Granularity::Functions);
    let mut all = vec![
        Column { name: "CCT", how: sites, mode: "cct" },
        Column { name: "HCCT", how: sites, mode: "hcct" },
        Column { name: "CCT, functions", how: functions, mode: "cct" },
    ];
    if plan.peers {
        all.push(Column { name: "-pg", how: How::CallGraph, mode: "" });
    }
    all
}

/// Measures programs and returns the tables, in Markdown.
///
/// # Errors
/// If a program cannot be built or natively run.
pub fn measure(layout: &Layout, programs: &[&Program], plan: &Plan) -> Result<String> {
    let columns = columns(plan);
    let mut all = Vec::new();
    for program in programs {
        eprintln!("measuring {}", program.name);
        all.push(measure_program(layout, program, plan, &columns)?);
    }
    all.sort_by(|a, b| b.calls_a_second().total_cmp(&a.calls_a_second()));
    Ok(report(plan, &columns, &all))
}

fn measure_program(
    layout: &Layout,
    program: &Program,
    plan: &Plan,
    columns: &[Column],
) -> Result<Measured> {
    let variant = |how| Variant { llvm: plan.llvm, opt: plan.opt, how };
    let native = build(layout, program, variant(How::Native))?;
    let native = job(layout, program, &native, plan.size)?;
    let mut built: HashMap<String, Built> = HashMap::new();
    let mut jobs: Vec<Job> = Vec::new();
    for column in columns {
        let variant = variant(column.how);
        let built = match built.entry(variant.to_string()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(place) => place.insert(build(layout, program, variant)?),
        };
        let job = job(layout, program, built, plan.size)?.env("MIDFLIGHT_CONTEXTS", column.mode);
        // Each leaves a profile of its own.
        jobs.push(job.env("MIDFLIGHT_PROFILE", profile_beside(built, column.mode)));
    }
    let compared = plan.clock.compare(&native, &jobs.iter().collect::<Vec<_>>())?;
    let whole = built.get(&variant(columns[0].how).to_string());
    let contexts = match whole {
        Some(built) => read_profile(&profile_beside(built, columns[0].mode))?.contexts,
        None => None,
    };
    Ok(Measured {
        name: program.name,
        native: compared.first,
        activations: contexts.as_ref().map_or(0.0, |contexts| contexts.activations as f64),
        contexts: contexts.as_ref().map_or(0, |contexts| contexts.len()),
        costs: compared.others,
    })
}

/// The profile of a run in a mode.
fn profile_beside(built: &Built, mode: &str) -> PathBuf {
    profile_of(built).with_extension(format!("{mode}.mfp"))
}

fn report(plan: &Plan, columns: &[Column], all: &[Measured]) -> String {
    let (apart, rest): (Vec<&Measured>, Vec<&Measured>) = all.iter().partition(|m| m.is_new());
    let (often, seldom): (Vec<&Measured>, Vec<&Measured>) =
        rest.into_iter().partition(|m| m.calls_a_second() >= OFTEN);
    format!(
        "LLVM {}, -O{}, stage late; {}. ns: what an activation adds.\n\n\
         Programs with more than 10⁷ calls a second:\n\n{}\n\
         Programs that call less often:\n\n{}\n\
         Programs of whose activations more than one in a hundred makes a context:\n\n{}",
        plan.llvm,
        plan.opt,
        plan.clock.over("native"),
        table(columns, &often, true),
        table(columns, &seldom, false),
        table(columns, &apart, false),
    )
}

fn table(columns: &[Column], all: &[&Measured], with_mean: bool) -> String {
    let mut header = vec!["program", "native, s", "10⁶ calls/s", "contexts"];
    for column in columns {
        header.extend([column.name, "ns"]);
    }
    let row = |measured: &&Measured| {
        let mut cells = vec![
            measured.name.to_string(),
            measured.native.map_or("–".to_string(), |seconds| format!("{seconds:.2}")),
            format!("{:.1}", measured.calls_a_second() / 1e6),
            measured.contexts.to_string(),
        ];
        for (column, &cost) in measured.costs.iter().enumerate() {
            cells.extend([shown(cost), measured.nanoseconds(column)]);
        }
        cells
    };
    let mut rows: Vec<Vec<String>> = all.iter().map(row).collect();
    if with_mean {
        let mut cells = vec!["geometric mean".to_string()];
        cells.resize(4, String::new());
        for column in 0..columns.len() {
            let costs = all.iter().map(|m| m.costs.get(column).copied().flatten());
            cells.extend([shown(mean(costs)), String::new()]);
        }
        rows.push(cells);
    }
    markdown(&header, &rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_activation_adds_is_over_native() {
        let measured = Measured {
            name: "x",
            native: Some(2.0),
            activations: 1e9,
            contexts: 3,
            costs: vec![Some([1.5, 1.5]), None],
        };
        assert_eq!(measured.nanoseconds(0), "1.00");
        assert_eq!(measured.nanoseconds(1), "–");
        assert!(!measured.is_new());
    }
}
