//! `midflight overlap` of calling contexts: how alike two trees are, as the degree of overlap of
//! thesis 5.1.5.

use super::{Both, Node, Side};
use crate::analysis::interval::Interval;
use crate::commands::compare::overlap::within;
use crate::format::known;
use crate::format::numbers::share;
use rustc_hash::FxHashMap;
use serde::Serialize;
use std::io::{self, Write};

/// The overlap of two profiles.
#[derive(Clone, Debug, Serialize)]
pub struct ContextOverlap {
    /// Of its JSON
    version: u32,
    /// Of the shares of activations of functions
    functions: Interval<f64>,
    /// Of the shares of calls: of one function by another, from one site
    calls: Interval<f64>,
    /// Of the shares of contexts
    contexts: Interval<f64>,
    /// Of each function in itself, those with the most activations first
    by_function: Vec<FunctionOverlap>,
}

/// The overlap of a function.
#[derive(Clone, Debug, Serialize)]
struct FunctionOverlap {
    /// Its name
    name: String,
    /// Its shares of the activations of both profiles
    activations: [Interval<f64>; 2],
    /// Of the shares of its callers in its activations; none if it did not run in both profiles
    calls: Option<Interval<f64>>,
    /// Of the shares of its contexts
    contexts: Option<Interval<f64>>,
    #[serde(skip)]
    readable: String,
}

/// Activations in both profiles, for certain, of some contexts or functions.
type Counts = Vec<[u128; 2]>;

/// Compares two profiles, of which functions alone, functions with their last callers, and contexts
/// have been joined.
pub fn overlap(
    functions: &Both<'_, '_>,
    calls: &Both<'_, '_>,
    tree: &Both<'_, '_>,
) -> ContextOverlap {
    let missing = tree.documents.map(|document| u128::from(document.unknown()));
    let of_functions = counts(functions);
    let (of_calls, of_tree) = (begun_and_called(calls), counts(tree));
    let all = |counts: &Counts| within(counts, missing).unwrap_or(Interval::exact(0.0));
    let by_call = by_function(calls, &of_calls);
    let by_context = by_function(tree, &of_tree);
    let one = |(node, counts): (&Node, &[u128; 2])| {
        let (document, context) = functions.newest(node);
        let called = document.function(context);
        let in_function =
            |all: &FxHashMap<usize, Counts>| within(all.get(&node.function)?, missing);
        FunctionOverlap {
            name: called.name().into_owned(),
            readable: called.readable(),
            activations: [0, 1].map(|side: usize| {
                let [least, missing] = [counts[side], missing[side]];
                let all = u128::from(functions.documents[side].activations);
                Interval::new(share(least, all), share(least + missing, all))
            }),
            calls: in_function(&by_call),
            contexts: in_function(&by_context),
        }
    };
    let mut by_function: Vec<FunctionOverlap> =
        functions.nodes.iter().zip(&of_functions).map(one).collect();
    let size = |f: &FunctionOverlap| f.activations[0].least.max(f.activations[1].least);
    by_function.sort_by(|a, b| size(b).total_cmp(&size(a)).then_with(|| a.name.cmp(&b.name)));
    ContextOverlap {
        version: 1,
        functions: all(&of_functions),
        calls: all(&of_calls),
        contexts: all(&of_tree),
        by_function,
    }
}

fn counts(both: &Both<'_, '_>) -> Counts {
    let least = |side: Option<Side>| side.map_or(0, |side| u128::from(side.times.least));
    both.nodes.iter().map(|node| node.sides.map(least)).collect()
}

/// Of functions with their last callers: in the place of a function, how often it was called by
/// none.
fn begun_and_called(calls: &Both<'_, '_>) -> Counts {
    let mut counts = counts(calls);
    for (index, node) in calls.nodes.iter().enumerate() {
        let Some(parent) = node.parent else { continue };
        for (side, called) in counts[index].into_iter().enumerate() {
            counts[parent][side] = counts[parent][side].saturating_sub(called);
        }
    }
    counts
}

/// The counts of each function's activations.
fn by_function(both: &Both<'_, '_>, counts: &Counts) -> FxHashMap<usize, Counts> {
    let mut grouped: FxHashMap<usize, Counts> = FxHashMap::default();
    for (node, counts) in both.nodes.iter().zip(counts) {
        grouped.entry(both.counted(node)).or_default().push(*counts);
    }
    grouped
}

/// Writes it as text: the levels, then up to `top` functions.
pub fn write(out: &mut dyn Write, overlap: &ContextOverlap, top: usize) -> io::Result<()> {
    let percent = |share: Option<Interval<f64>>| share.map_or("-".into(), known::percent);
    writeln!(out, "functions  {:>8}", known::percent(overlap.functions))?;
    writeln!(out, "calls      {:>8}", known::percent(overlap.calls))?;
    writeln!(out, "contexts   {:>8}", known::percent(overlap.contexts))?;
    writeln!(out, "\n     % A        % B      calls   contexts   function")?;
    for function in overlap.by_function.iter().take(top) {
        let [a, b] = function.activations.map(known::percent);
        let [calls, contexts] = [function.calls, function.contexts].map(percent);
        let name = &function.readable;
        writeln!(out, "{a:>8}   {b:>8}   {calls:>8}   {contexts:>8}   {name}")?;
    }
    match overlap.by_function.len().saturating_sub(top) {
        0 => Ok(()),
        more => writeln!(out, "{more} more; --top shows more"),
    }
}
