//! `midflight-bench accuracy`: how much of the truth a profile holds that had little memory.
//!
//! A program runs once with memory for everything, which is the truth, and then with less. By
//! function and sequence, counts are compared with the truth ([`compare`]): how much of the weight
//! of each length was counted, how wrong the hottest sequences are, and whether the bounds that the
//! profile gives hold. A count above the truth, or a truth above its bound, is a fault of the
//! profiler.

mod compare;
mod hottest;
mod row;
mod table;
mod told;

pub use row::Row;
pub use table::table;

use crate::build::{Built, build};
use crate::counted_run::{Ran, run};
use crate::error::{Error, Result};
use crate::extent::Extent;
use crate::layout::Layout;
use crate::memory::Memory;
use crate::program::{Program, Size};
use crate::tables::tables;
use crate::variant::{How, Stage, Variant};
use crate::weights::Weights;
use compare::Found;
use midflight_profile::format::{FunctionProfile, Profile};
use midflight_profile::kipf::make_k_ipf;
use rayon::prelude::*;
use row::{FunctionRow, LengthRow};
use std::collections::BTreeMap;

/// What is compared.
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
    /// What is compared with the truth
    pub memory: Vec<Memory>,
    /// Memory for everything
    pub everything: Memory,
    /// The work that programs are given first; less where that needs more than everything
    pub size: Option<Size>,
}

/// All figures, and what is wrong.
#[derive(Clone, Debug, Default)]
pub struct Accuracy {
    /// A row for each program, k and size of memory
    pub rows: Vec<Row>,
    /// Faults of the profiler, a line each
    pub faults: Vec<String>,
}

/// Compares programs, one after the other.
///
/// # Errors
/// If a program cannot be built or run, or if even its smallest work needs more memory than
/// everything.
pub fn accuracy(layout: &Layout, programs: &[&Program], plan: &Plan) -> Result<Accuracy> {
    let mut accuracy = Accuracy::default();
    for program in programs {
        for &k in &plan.k {
            eprintln!("comparing {} at k = {k}", program.name);
            compare_program(layout, program, plan, k, &mut accuracy)?;
        }
    }
    Ok(accuracy)
}

fn compare_program(
    layout: &Layout,
    program: &Program,
    plan: &Plan,
    k: u32,
    accuracy: &mut Accuracy,
) -> Result<()> {
    let how = How::paths(k, plan.stage);
    let built = build(layout, program, Variant { llvm: plan.llvm, opt: plan.opt, how })?;
    let job = |size, memory: &Memory, index: usize| {
        run(layout, program, &built, size, memory, &format!("memory-{index}"))
    };
    let (size, truth) = truth_of(program, plan, k, |size| job(size, &plan.everything, 0))?;
    // Whether a program does the same again does not depend on k.
    let is_first = plan.k.first() == Some(&k);
    if is_first && job(size, &plan.everything, 0)?.profile != truth.profile {
        accuracy.faults.push(format!("{} k={k}: two runs have counted otherwise", program.name));
    }
    let runs: Vec<Ran> = plan
        .memory
        .par_iter()
        .enumerate()
        .map(|(index, memory)| job(size, memory, index + 1))
        .collect::<Result<_>>()?;
    let mut faults: Vec<String> = Vec::new();
    let profiles: Vec<&Profile> = runs.iter().map(|ran| &ran.profile).collect();
    let found = compare_all(&truth.profile, &profiles);
    let names = names(&built)?;
    for ((memory, ran), found) in plan.memory.iter().zip(&runs).zip(&found) {
        let what = format!("{} k={k} with {memory}", program.name);
        if ran.outcome.stdout != truth.outcome.stdout {
            faults.push(format!("{what}: it has written something else"));
        }
        match found.faults() {
            (0, 0) => {}
            (high, beyond) => faults.push(format!(
                "{what}: {high} counts are too high, {beyond} sequences are beyond their bounds"
            )),
        }
        let mut row = figures(&truth.profile, &ran.profile, found, &names);
        (row.program, row.k, row.memory) = (program.name.to_string(), k, memory.to_string());
        row.work = size.to_string();
        accuracy.rows.push(row);
    }
    accuracy.faults.extend(faults);
    Ok(())
}

/// The largest work for which everything is room enough, and what it counts.
fn truth_of(
    program: &Program,
    plan: &Plan,
    k: u32,
    run: impl Fn(Size) -> Result<Ran>,
) -> Result<(Size, Ran)> {
    let first = plan.size.unwrap_or_else(|| first_size(k));
    for size in Size::ALL.into_iter().filter(|&size| size <= first).rev() {
        let ran = run(size)?;
        if Extent::of(&ran.profile).is_whole() {
            return Ok((size, ran));
        }
        eprintln!("{} of {size} needs more than {} at k = {k}", program.name, plan.everything);
    }
    Err(Error::Missing {
        what: format!("{} needs more than {} at k = {k}", program.name, plan.everything),
        remedy: "give more memory by --everything".to_string(),
    })
}

/// The work of `run`; for long sequences less, so that all takes minutes.
fn first_size(k: u32) -> Size {
    if k <= 4 { Size::Bench } else { Size::Test }
}

/// Compares profiles of one binary with the truth.
fn compare_all(truth: &Profile, profiles: &[&Profile]) -> Vec<Found> {
    let by_key: Vec<BTreeMap<u64, &FunctionProfile>> =
        profiles.iter().map(|profile| of_keys(profile)).collect();
    let mut all = vec![Found::default(); profiles.len()];
    for function in &truth.functions {
        let paths = make_k_ipf(&function.forest, function.k);
        all.par_iter_mut().zip(&by_key).for_each(|(found, by_key)| {
            let counted = by_key.get(&function.key).copied();
            match counted {
                Some(counted) if counted == function => found.add_exact(&paths),
                counted => found.add(&paths, counted),
            }
        });
    }
    all
}

/// The functions of a profile of one binary.
fn of_keys(profile: &Profile) -> BTreeMap<u64, &FunctionProfile> {
    profile.functions.iter().map(|function| (function.key, function)).collect()
}

fn figures(
    truth: &Profile,
    profile: &Profile,
    found: &Found,
    names: &BTreeMap<u64, String>,
) -> Row {
    let counted = of_keys(profile);
    let all = Weights::of_all(truth);
    let function = |function: &FunctionProfile| {
        let name = names.get(&function.key).map_or("?", String::as_str);
        let counted = counted.get(&function.key).map(|counted| Weights::of(counted));
        let counted = counted.unwrap_or_default();
        FunctionRow::of(name, &Weights::of(function), &counted, all.length(1))
    };
    let functions: Vec<FunctionRow> = truth.functions.iter().filter_map(function).collect();
    let counted = Weights::of_all(profile);
    let length = |length| LengthRow::of(length, found, &all, &counted, &functions);
    let lengths = (1..=found.longest()).map(length).collect();
    let bytes = profile.used.map(|used| used.bytes());
    Row { extent: Extent::of(profile), bytes, lengths, functions, ..Row::default() }
}

fn names(built: &Built) -> Result<BTreeMap<u64, String>> {
    let tables = tables(&built.executable)?;
    Ok(tables.into_iter().map(|table| (table.key, table.name)).collect())
}
