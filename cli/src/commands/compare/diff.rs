//! `midflight diff`: what one profile has more of than another.
//!
//! Runs may be of different lengths, so what is compared is shares of the work: of functions in all
//! of it, of paths and sequences in their function's. Counts stand beside them. Where memory was
//! short only that is a difference which there is whatever is missing.

use crate::analysis::behaviour::order::least_rotation;
use crate::analysis::interval::Interval;
use crate::analysis::rank::letters;
use crate::analysis::sequences::folded;
use crate::commands::compare::pairs::{Pair, total_work};
use crate::document::route;
use crate::format::json::Functions;
use crate::format::known;
use crate::format::names::{file_name, readable};
use crate::format::numbers::share;
use rustc_hash::{FxHashMap, FxHashSet};
use serde::Serialize;
use std::io::{self, Write};

/// A difference in points (hundredths of a share) that is too small to be shown.
pub(super) const SMALL: f64 = 0.05;

/// What is reported.
pub struct Options {
    /// How many paths and sequences of each
    pub paths: usize,
    /// Only functions with this in their names
    pub function: Option<String>,
}

/// How a function differs.
#[derive(Clone, Debug, Serialize)]
pub struct FunctionDiff {
    /// Its name
    pub name: String,
    /// The translation unit that a local function belongs to
    pub unit: String,
    /// Where it is declared
    pub file: String,
    /// Where it is declared; 0 if unknown
    pub line: u32,
    /// What can be compared
    pub graph: Graph,
    /// Activations begun in both
    pub entries: [u64; 2],
    /// Instructions executed in both
    pub work: [u128; 2],
    /// The share of that in all
    pub share: [f64; 2],
    /// Paths and sequences whose shares differ most, most first
    pub changed: Vec<Changed>,
}

/// Whether a function has the same paths in both profiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Graph {
    /// It has.
    Same,
    /// It was compiled to another graph: paths cannot be compared.
    Changed,
    /// It ran in the first profile only.
    OnlyA,
    /// It ran in the second profile only.
    OnlyB,
}

/// How a path or a sequence differs.
#[derive(Clone, Debug, Serialize)]
pub struct Changed {
    /// The IDs of its paths
    pub ids: Vec<u32>,
    /// How often it occurred in both, as far as it is known
    pub count: [u64; 2],
    /// How often it may have occurred at most
    pub most: [u64; 2],
    /// Its share in the function's work in both; those of all sequences of one length add up to 1
    /// at most
    pub share: [Interval<f64>; 2],
    /// The path in words; of a sequence, its paths with letters
    pub what: String,
}

impl Changed {
    /// By how much its share is larger in the second profile, for sure; smaller, if negative.
    fn more(&self) -> f64 {
        self.share[1].above(self.share[0])
    }
}

/// All functions whose share differs, or that have paths whose share differs: those that changed
/// most first.
pub fn diff(pairs: &[Pair<'_, '_>], options: &Options) -> Vec<FunctionDiff> {
    let totals = total_work(pairs);
    let wanted = |pair: &&Pair<'_, '_>| {
        options.function.as_ref().is_none_or(|part| pair.either().function.is_named(part))
    };
    let one = |pair: &Pair<'_, '_>| function_diff(pair, totals, options);
    let mut all: Vec<FunctionDiff> = pairs.iter().filter(wanted).map(one).collect();
    all.retain(|f| 100.0 * weight(f) >= SMALL);
    all.sort_by(|a, b| weight(b).total_cmp(&weight(a)).then_with(|| a.name.cmp(&b.name)));
    all
}

/// How much a function changed: by its share, or by its paths within its share.
fn weight(function: &FunctionDiff) -> f64 {
    let own = (function.share[1] - function.share[0]).abs();
    let within = function.changed.first().map_or(0.0, |c| c.more().abs());
    own.max(within * function.share[0].min(function.share[1]))
}

fn function_diff(pair: &Pair<'_, '_>, totals: [u128; 2], options: &Options) -> FunctionDiff {
    let function = pair.either().function;
    let graph = match pair.0 {
        [Some(_), None] => Graph::OnlyA,
        [None, Some(_)] => Graph::OnlyB,
        _ if pair.same_paths() => Graph::Same,
        _ => Graph::Changed,
    };
    let work = pair.work();
    let entries = pair.0.map(|r| r.map_or(0, |r| r.function.entries()));
    let changed = if graph == Graph::Same { changed(pair, work, options) } else { Vec::new() };
    FunctionDiff {
        name: function.table.name.clone(),
        unit: function.table.unit.clone(),
        file: function.file().to_string(),
        line: function.table.line,
        graph,
        entries,
        work,
        share: pair.shares(totals),
        changed,
    }
}

/// The paths whose shares differ most, then the sequences.
fn changed(pair: &Pair<'_, '_>, work: [u128; 2], options: &Options) -> Vec<Changed> {
    let function = pair.either().function;
    let paths = pair.paths();
    let costs: FxHashMap<u32, u64> = paths.keys().map(|&id| (id, pair.instructions(id))).collect();
    let lost = pair.0.map(|ranked| ranked.map_or(0, |ranked| ranked.function.lost()));
    // No path has more in it than the whole function.
    let (longest, _) = function.size_of(0..function.table.blocks.len() as u32);
    let change = |ids: &[u32], times: [Interval<u64>; 2]| {
        let cost: u64 = ids.iter().filter_map(|id| costs.get(id)).sum();
        let part = |side: usize| {
            // Each path is in as many sequences of a length as that is.
            let of = |count: u64, work: u128| {
                let all = work.saturating_mul(ids.len() as u128);
                share(u128::from(count) * u128::from(cost), all)
            };
            let all = work[side] + u128::from(lost[side]) * u128::from(longest);
            Interval::new(of(times[side].least, all), of(times[side].most, work[side]).min(1.0))
        };
        let (count, most) = (times.map(|times| times.least), times.map(|times| times.most));
        let share = [part(0), part(1)];
        Changed { ids: ids.to_vec(), count, most, share, what: String::new() }
    };
    let size = |c: &Changed| c.more().abs();
    let most = |mut all: Vec<Changed>| {
        all.retain(|c| 100.0 * size(c) >= SMALL);
        all.sort_by(|a, b| size(b).total_cmp(&size(a)).then_with(|| a.ids.cmp(&b.ids)));
        all
    };
    let taken =
        |count: [u64; 2]| [0, 1].map(|side: usize| Interval::counted(count[side], lost[side]));
    let mut chosen = most(paths.iter().map(|(&id, &count)| change(&[id], taken(count))).collect());
    chosen.truncate(options.paths);
    let names: FxHashMap<u32, String> =
        chosen.iter().enumerate().map(|(index, c)| (c.ids[0], letters(index))).collect();
    for one in &mut chosen {
        let words = function.path(one.ids[0]).map_or(String::new(), |p| route(function, &p));
        one.what = format!("{}: {words}", names[&one.ids[0]]);
    }
    // Sequences of the paths named, as long as k allows: shorter ones are parts of them.
    let k = function.k() as usize;
    let named = |ids: &[u32]| ids.len() == k && ids.iter().all(|id| names.contains_key(id));
    let sequences = pair.sequences().counts;
    let sequences = sequences.iter().filter(|(ids, _)| named(ids));
    let sequences = most(sequences.map(|(ids, &count)| change(ids, count)).collect());
    let mut seen: FxHashSet<Vec<u32>> = FxHashSet::default();
    let new = sequences.into_iter().filter(|c| seen.insert(least_rotation(&c.ids)));
    chosen.extend(new.take(options.paths).map(|mut sequence| {
        sequence.what =
            folded(&sequence.ids.iter().map(|id| names[id].as_str()).collect::<Vec<_>>());
        sequence
    }));
    chosen
}

/// What is shown as JSON.
pub fn document(functions: &[FunctionDiff]) -> impl Serialize {
    Functions { version: 2, functions }
}

/// Writes up to `top` functions as text.
pub fn write(out: &mut dyn Write, functions: &[FunctionDiff], top: usize) -> io::Result<()> {
    if functions.is_empty() {
        return writeln!(out, "no function has another share of the work, or other paths");
    }
    writeln!(out, "    A        B   points")?;
    for function in functions.iter().take(top) {
        write_function(out, function)?;
    }
    match functions.len().saturating_sub(top) {
        0 => Ok(()),
        more => writeln!(out, "{more} more functions differ; --top shows more"),
    }
}

fn write_function(out: &mut dyn Write, function: &FunctionDiff) -> io::Result<()> {
    let note = match function.graph {
        Graph::Same => "",
        Graph::Changed => "  (other paths: its code is another)",
        Graph::OnlyA => "  (ran in A only)",
        Graph::OnlyB => "  (ran in B only)",
    };
    let file = file_name(&function.file);
    writeln!(
        out,
        "{}  of the work  {}  {file}:{}{note}",
        shares(function.share.map(Interval::exact)),
        readable(&function.name),
        function.line
    )?;
    for changed in &function.changed {
        writeln!(
            out,
            "{}  {:>15} → {:>15}×  {}",
            shares(changed.share),
            times(changed, 0),
            times(changed, 1),
            changed.what
        )?;
    }
    Ok(())
}

fn times(changed: &Changed, side: usize) -> String {
    known::count(Interval::new(changed.count[side], changed.most[side]))
}

fn shares(share: [Interval<f64>; 2]) -> String {
    let [a, b] = share.map(known::percent);
    format!("{a:>7}  {b:>7}  {:>6}", points(share))
}

/// By how many points the second share is larger for sure, with ≥ or ≤ where it may be more.
pub(super) fn points(share: [Interval<f64>; 2]) -> String {
    let points = 100.0 * share[1].above(share[0]);
    match (share.iter().all(Interval::is_exact), points > 0.0) {
        (true, _) => format!("{points:+.1}"),
        (false, true) => format!("≥{points:+.1}"),
        (false, false) => format!("≤{points:+.1}"),
    }
}
