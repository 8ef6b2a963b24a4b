//! `midflight export --to weights`: what the compiler's `--midflight-use` reads.

use crate::analysis::edge_counts::recover;
use crate::analysis::rank::{Ranked, rank};
use crate::commands::export::unrolling;
use crate::commands::export::{Format, Writer};
use crate::format::numbers::add;
use crate::input::function::Function;
use midflight_profile::table::{Edge, FunctionTable, Stage};
use midflight_profile::weights::{FunctionWeights, WEIGHTS_VERSION, Weights};
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;

/// The format.
pub(super) const FORMAT: Format = Format {
    name: "weights",
    about: "counts of edges, for midflight cc --midflight-use",
    writer: Writer::Weights,
};

/// The functions are of several stages, and the compiler has one.
#[derive(Debug, thiserror::Error)]
#[error(
    "exporting weights: '{}' was instrumented at the stage {} and '{}' at the stage {}; \
     build the program with one stage", .0.0, .0.1, .1.0, .1.1
)]
pub struct TwoStages((String, &'static str), (String, &'static str));

/// The counts of functions. Those of one name, unit and graph are one: an inline function of
/// several images.
pub fn of(functions: &[Function<'_>]) -> Result<Weights, TwoStages> {
    let mut sums: BTreeMap<(&str, &str, u64), FunctionWeights> = BTreeMap::new();
    let ranked = rank(functions, None);
    let all: u128 = ranked.iter().map(|ranked| ranked.work).sum();
    let ran: FxHashMap<*const Function<'_>, &Ranked<'_>> =
        ranked.iter().map(|ranked| (std::ptr::from_ref(ranked.function), ranked)).collect();
    for function in functions {
        let table = function.table;
        let key = (table.name.as_str(), table.unit.as_str(), table.cfg_hash);
        let mut counts = counts_of(function);
        if let Some(ranked) = ran.get(&std::ptr::from_ref(function)) {
            counts.loops = unrolling::of(ranked, all);
        }
        match sums.get_mut(&key) {
            None => {
                sums.insert(key, counts);
            }
            Some(sum) => merge(sum, counts),
        }
    }
    Ok(Weights {
        version: WEIGHTS_VERSION,
        stage: common_stage(functions)?,
        llvm: common_llvm(functions),
        functions: sums.into_values().collect(),
    })
}

fn common_stage(functions: &[Function<'_>]) -> Result<Stage, TwoStages> {
    let first = |stage| functions.iter().map(|f| f.table).find(|table| table.stage == stage);
    let mut found = Stage::ALL.into_iter().filter_map(first);
    match (found.next(), found.next()) {
        (Some(one), Some(other)) => {
            let named = |table: &FunctionTable| (table.name.clone(), table.stage.name());
            Err(TwoStages(named(one), named(other)))
        }
        (Some(one), None) => Ok(one.stage),
        (None, _) => Ok(Stage::Early),
    }
}

fn common_llvm(functions: &[Function<'_>]) -> u8 {
    let mut found = functions.iter().map(|function| function.table.llvm);
    let first = found.next().unwrap_or(0);
    if found.all(|llvm| llvm == first) { first } else { 0 }
}

fn counts_of(function: &Function<'_>) -> FunctionWeights {
    let (table, counts) = (function.table, recover(function));
    let edges = table.edges.iter().zip(&counts.edges).filter_map(|(edge, &count)| match *edge {
        Edge::Flow { from, to, .. } | Edge::Cut { from, to, .. } if count != 0 => {
            Some((from, to, count))
        }
        _ => None,
    });
    FunctionWeights {
        name: table.name.clone(),
        unit: table.unit.clone(),
        cfg_hash: FunctionWeights::hash_text(table.cfg_hash),
        entries: function.entries(),
        edges: edges.collect(),
        blocks: counts.blocks,
        loops: Vec::new(),
    }
}

fn merge(sum: &mut FunctionWeights, more: FunctionWeights) {
    add(&mut sum.entries, more.entries);
    sum.blocks.iter_mut().zip(more.blocks).for_each(|(count, more)| add(count, more));
    let mut edges: BTreeMap<(u32, u32), u64> = BTreeMap::new();
    for (from, to, count) in sum.edges.drain(..).chain(more.edges) {
        add(edges.entry((from, to)).or_default(), count);
    }
    // What is true of one only is not known of both.
    sum.loops.retain(|l| more.loops.contains(l));
    sum.edges = edges.into_iter().map(|((from, to), count)| (from, to, count)).collect();
}
