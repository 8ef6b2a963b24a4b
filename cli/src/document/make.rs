//! The document, made.

use crate::analysis::behaviour::dispatch::dispatches;
use crate::analysis::behaviour::hints::words;
use crate::analysis::behaviour::{LoopReport, behaviour};
use crate::analysis::rank::{Ranked, letters, rank};
use crate::analysis::sequences::pick;
use crate::document::{
    Document, Events, Extent, FunctionDocument, LoopDocument, Memory, PathDocument, Shortage,
    Source, Tree, route,
};
use crate::format::names::readable;
use crate::input::function::Function;
use crate::input::session::Session;
use crate::input::sources::Sources;
use midflight_profile::format::FLAG_BEGAN_WITHIN;
use midflight_profile::table::{CutReason, Edge, Path, PathEnd};

/// Makes the document. `done` gets the number of functions that are ready.
pub fn document<'a>(
    binary: String,
    session: &Session,
    functions: &'a [Function<'a>],
    extent: &Extent,
    sources: &mut Sources,
    done: &dyn Fn(u64),
) -> Document<'a> {
    let all = rank(functions, extent.samples.as_ref());
    let began_within = session.profile.flags & FLAG_BEGAN_WITHIN != 0;
    let (events, shortage) = (events(&all), Shortage::of(&all, began_within));
    let work = all.iter().map(|ranked| ranked.work).sum();
    let ks = all.iter().map(|ranked| ranked.function.k()).collect();
    let named = |ranked: &Ranked<'_>| {
        extent.function.as_ref().is_none_or(|part| ranked.function.is_named(part))
    };
    let mut list: Vec<Ranked<'a>> = all.into_iter().filter(named).collect();
    let left_out = list.len().saturating_sub(extent.top);
    list.truncate(extent.top);
    let detailed = if extent.flat { &[] } else { &list[..] };
    let mut made = Vec::new();
    for (ranked, number) in detailed.iter().zip(1..) {
        made.push(function_document(ranked, extent, sources));
        done(number);
    }
    let skipped_names = session.skipped();
    Document {
        version: 2,
        binary,
        k: session.profile.k,
        events,
        memory: session.profile.used.map(Memory::from),
        skipped: skipped_names.iter().map(|(why, names)| (why.clone(), names.len())).collect(),
        skipped_names,
        work,
        unit: if extent.samples.is_some() { "nanosamples" } else { "instructions" },
        left_out,
        functions: made,
        list,
        profiled: functions.len(),
        ks,
        shortage,
        samples: extent.samples.as_ref().map(|samples| samples.total),
    }
}

/// What was counted, over all functions.
fn events(all: &[Ranked<'_>]) -> Events {
    let mut events = Events::default();
    for ranked in all {
        let profile = ranked.profile;
        events.paths += profile.forest.total() + u128::from(profile.totals.lost);
        events.activations += u128::from(profile.totals.entries);
        events.interrupted += u128::from(ranked.function.interrupted());
        events.truncated += profile.truncated.total();
        events.lost += u128::from(profile.totals.lost);
    }
    events
}

fn function_document<'a>(
    ranked: &Ranked<'a>,
    extent: &Extent,
    sources: &mut Sources,
) -> FunctionDocument<'a> {
    let function = ranked.function;
    let table = function.table;
    let ipf = ranked.k_ipf();
    let place = |id: u32| ranked.place(id).unwrap_or(0);
    let totals = ranked.profile.totals;
    FunctionDocument {
        name: table.name.clone(),
        readable: readable(&table.name),
        unit: table.unit.clone(),
        file: function.file().to_string(),
        line: table.line,
        stage: table.stage.name(),
        k: function.k(),
        entries: function.entries(),
        completed: function.completed(),
        interrupted: function.interrupted(),
        truncated: function.truncated(),
        lost: totals.lost,
        restarts: totals.restarts,
        work: ranked.work,
        paths: paths(ranked),
        sequences: pick(ranked, &ipf, extent.sequences, extent.min_percent),
        loops: behaviour(ranked, &ipf).into_iter().map(|l| loop_document(l, &place)).collect(),
        dispatches: dispatches(ranked, &ipf),
        forest: Tree::of(ranked, &ipf, extent.min_percent, extent.pruning),
        source: Source::of(ranked, sources),
        function,
    }
}

fn paths(ranked: &Ranked<'_>) -> Vec<PathDocument> {
    let function = ranked.function;
    let made = ranked.paths.iter().enumerate().map(|(index, taken)| {
        let path = function.path(taken.id);
        let path = path.as_ref();
        PathDocument {
            letter: letters(index),
            id: taken.id,
            count: taken.count,
            most: taken.count.saturating_add(function.lost()),
            instructions: path.map_or(0, |path| function.instructions(path)),
            cost: taken.cost,
            route: path.map_or(String::new(), |path| route(function, path)),
            blocks: path.map_or(Vec::new(), |path| path.blocks.clone()),
            lines: path.map_or(Vec::new(), |path| function.lines(path)),
            back_to: path.and_then(|path| back_to(function, path)),
        }
    });
    made.collect()
}

fn back_to(function: &Function<'_>, path: &Path) -> Option<u32> {
    let PathEnd::Cut(edge) = path.end else { return None };
    match *function.table.edges.get(edge)? {
        Edge::Cut { to, why: CutReason::Retreating, .. } => {
            function.table.blocks.get(to as usize)?.locs.first().map(|loc| loc.outer_line)
        }
        _ => None,
    }
}

fn loop_document(report: LoopReport, place: &dyn Fn(u32) -> usize) -> LoopDocument {
    let letter = |id: u32| letters(place(id));
    let advice = report.hints.iter().map(|hint| words(hint, letter)).collect();
    LoopDocument { report, advice }
}
