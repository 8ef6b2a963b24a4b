//! Passes one by one, and other pipelines, on whole modules: what of tracking is proved, and which
//! points are feasible.

use crate::error::{Error, Result};
use crate::layout::Layout;
use crate::osr::maps::mapping::{Mapping, THESIS};
use crate::osr::maps::modules::{Module, WHOLE, folder, modules, profiled};
use crate::osr::maps::share;
use crate::table::markdown;
use crate::tally::Tally;
use midflight_profile::osr_maps::report::{Claims, Parts, Points, Reasons, Report, Share};
use rayon::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The passes of the thesis one by one, and all together.
const PASSES: [&str; 6] =
    ["adce", "sccp", "early-cse", "loop-simplify,lcssa,loop-mssa(licm)", "sink", THESIS];

/// Other passes, which nothing was made for. LLVM's own pipelines begin with `sroa`: base of them
/// is behind that, too, as it is in clang.
pub(super) const OTHERS: [&str; 10] = [
    "gvn",
    "instcombine<no-verify-fixpoint>",
    "reassociate",
    "simplifycfg",
    "loop(loop-rotate)",
    "loop-unroll<O3>",
    "loop-mssa(simple-loop-unswitch<nontrivial>)",
    "jump-threading",
    "default<O1>",
    "default<O2>",
];

/// What base of a pipeline is behind, besides what modules are made with.
fn behind(pipeline: &str) -> Option<&'static str> {
    pipeline.starts_with("default<").then_some("sroa")
}

/// Maps all functions of all modules under each pipeline, or under those given; the report in
/// Markdown. One that crashes has failed.
///
/// # Errors
/// If a module cannot be made, or there is no such pipeline among those of the report.
pub fn pipelines(layout: &Layout, llvm: u32, only: &[String], tally: &mut Tally) -> Result<String> {
    let is_known = |name: &&String| PASSES.iter().chain(&OTHERS).any(|pipeline| pipeline == name);
    if let Some(name) = only.iter().find(|name| !is_known(name)) {
        let what = format!("there are no tables of '{name}'");
        let remedy = "take one of docs/osr-maps.md".to_string();
        return Err(Error::Missing { what, remedy });
    }
    let all = modules(layout, llvm)?;
    let mut text = String::new();
    for (title, pipelines) in [("The thesis's passes", &PASSES[..]), ("Other passes", &OTHERS[..])]
    {
        let mut rows = Vec::new();
        let is_wanted = |&&pipeline: &&&str| only.is_empty() || only.iter().any(|o| o == pipeline);
        for &pipeline in pipelines.iter().filter(is_wanted) {
            eprintln!("mapping whole modules under {pipeline}, LLVM {llvm}");
            rows.push((pipeline, map_all(layout, llvm, &all, pipeline, tally)?));
        }
        if rows.is_empty() {
            continue;
        }
        text += &format!("### {title} on whole modules, LLVM {llvm}\n\n{}\n", report(&rows));
    }
    Ok(text)
}

/// Whole programs under each pipeline, or under those given, with points that count as often as
/// they ran; the report in Markdown.
///
/// # Errors
/// If a program cannot be compiled or run.
pub fn executed(layout: &Layout, llvm: u32, only: &[String], tally: &mut Tally) -> Result<String> {
    let mut modules = Vec::new();
    for name in WHOLE {
        modules.push(Module { name, path: profiled(layout, name, llvm)? });
    }
    let mut rows = Vec::new();
    let is_wanted = |pipeline: &&str| only.is_empty() || only.iter().any(|o| o == pipeline);
    for pipeline in std::iter::once(THESIS).chain(OTHERS).filter(is_wanted) {
        eprintln!("mapping programs with profiles under {pipeline}, LLVM {llvm}");
        let sums = map_all(layout, llvm, &modules, pipeline, tally)?;
        // Opt has no profile of its own: LLVM makes it of base's.
        let ran = sums.parts[0].executed_unreached.unwrap_or_default();
        let what = format!("points that are never reached under {pipeline}");
        tally.check(&what, (ran > 0).then(|| format!("they ran {ran} times")));
        let shares = [0, 1].map(|direction| {
            let points = sums.points[direction];
            let executed = sums.parts[direction].executed.unwrap_or_default();
            [share(points.avail, points.total), share(executed.avail, executed.total)]
        });
        rows.push([&[format!("`{pipeline}`")][..], &shares.concat()].concat());
    }
    let header = ["passes", "points of base %", "executed %", "points of opt %", "executed %"];
    Ok(format!(
        "### Points by how often they ran, LLVM {llvm}\n\n{} with the profiles of a run of each: \
         clang's counters.\n\n{}\n",
        WHOLE.join(" and "),
        markdown(&header, &rows)
    ))
}

/// What was found in modules.
#[derive(Clone, Debug, Default)]
struct Sums {
    functions: u64,
    /// Functions all of whose points are feasible, in both directions
    whole: u64,
    refused_functions: Reasons,
    claims: Claims,
    points: [Points; 2],
    parts: [Parts; 2],
    refused: [Reasons; 2],
    /// What was not proved where the versions part: for each cause, as it is read, the points behind
    /// it in both directions, and the functions in which it is
    causes: BTreeMap<String, (u64, u64)>,
    /// Modules that could not be mapped
    failed: Vec<&'static str>,
}

fn map_all(
    layout: &Layout,
    llvm: u32,
    modules: &[Module],
    pipeline: &str,
    tally: &mut Tally,
) -> Result<Sums> {
    let folder = folder(layout, llvm)?;
    let found: Vec<_> = modules
        .par_iter()
        .with_max_len(1)
        .map(|module| {
            let json = folder.join(format!("{}.json", module.name));
            map_one(layout, llvm, module, pipeline, &json)
        })
        .collect::<Result<_>>()?;
    let mut sums = Sums::default();
    for (module, found) in modules.iter().zip(found) {
        let what = format!("{} under {pipeline}", module.name);
        tally.check(&what, found.as_ref().err().cloned());
        match found {
            Ok(report) => sums.add(&report),
            Err(_) => sums.failed.push(module.name),
        }
    }
    Ok(sums)
}

fn map_one(
    layout: &Layout,
    llvm: u32,
    module: &Module,
    pipeline: &str,
    json: &Path,
) -> Result<std::result::Result<Report, String>> {
    let behind = behind(pipeline);
    Mapping { layout, llvm, module: &module.path, behind, pipeline }.run(json)
}

impl Sums {
    fn add(&mut self, report: &Report) {
        add_counts(&mut self.refused_functions, &report.refused_functions);
        for function in &report.functions {
            self.functions += 1;
            let is_whole = function.points.each().iter().all(|p| p.avail == p.total);
            self.whole += u64::from(is_whole);
            add_share(&mut self.claims.moved, function.claims.moved);
            add_share(&mut self.claims.replaced, function.claims.replaced);
            let mut causes: BTreeMap<String, u64> = BTreeMap::new();
            for unproved in &function.unproved {
                let of = unproved.unlike();
                let operations = format!("`{}`, `{}`", of.base.operation, of.opt.operation);
                let lost = unproved.lost.each().into_iter().sum::<u64>();
                *causes.entry(format!("{}: {operations}", unproved.cause)).or_default() += lost;
            }
            for (cause, lost) in causes {
                let sum = self.causes.entry(cause).or_default();
                *sum = (sum.0 + lost, sum.1 + 1);
            }
            for direction in 0..2 {
                self.points[direction] += *function.points.each()[direction];
                self.parts[direction] += *function.parts.each()[direction];
                add_counts(&mut self.refused[direction], function.refused.each()[direction]);
            }
        }
    }
}

fn add_share(sum: &mut Share, other: Share) {
    sum.total += other.total;
    sum.proved += other.proved;
}

fn add_counts(sum: &mut Reasons, other: &Reasons) {
    for (reason, count) in other {
        *sum.entry(reason.clone()).or_default() += count;
    }
}

fn report(rows: &[(&str, Sums)]) -> String {
    let header = [
        "passes",
        "functions",
        "moved",
        "proved %",
        "replaced",
        "proved %",
        "points of base",
        "live-e %",
        "avail %",
        "changed %",
        "heads %",
        "points of opt",
        "live-e %",
        "avail %",
        "changed %",
        "heads %",
        "all feasible %",
    ];
    let claims = |claim: Share| [claim.total.to_string(), share(claim.proved, claim.total)];
    let points = |points: Points, parts: Parts| {
        let shares = [points.live_e, points.avail].map(|count| share(count, points.total));
        let of_parts = [parts.changed, parts.headers].map(|part| share(part.avail, part.total));
        [[points.total.to_string()].as_slice(), &shares, &of_parts].concat()
    };
    let line = |(pipeline, sums): &(&str, Sums)| {
        [
            [format!("`{pipeline}`"), sums.functions.to_string()].as_slice(),
            &claims(sums.claims.moved),
            &claims(sums.claims.replaced),
            &points(sums.points[0], sums.parts[0]),
            &points(sums.points[1], sums.parts[1]),
            &[share(sums.whole, sums.functions)],
        ]
        .concat()
    };
    format!(
        "{}\n\
         Refused points of base / of opt by reason, functions without mappings, and modules that \
         failed:\n\n{}\n\
         What is not proved where the versions part (the [cause](osr-report.md), the operation in \
         base and in opt), by the points behind it in both directions, with the functions in which \
         it is; of each function the first counts for all that is behind it:\n\n{}",
        markdown(&header, &rows.iter().map(line).collect::<Vec<_>>()),
        refused(rows),
        causes(rows),
    )
}

/// Causes of a pipeline that are listed
const MOST_CAUSES: usize = 5;

/// A row for each pipeline, with what costs most.
fn causes(rows: &[(&str, Sums)]) -> String {
    let line = |(pipeline, sums): &(&str, Sums)| {
        let mut ranked: Vec<_> = sums.causes.iter().collect();
        ranked.sort_by_key(|(_, (lost, _))| std::cmp::Reverse(*lost));
        let cells = ranked.iter().take(MOST_CAUSES);
        let cells =
            cells.map(|(cause, (lost, functions))| format!("{lost} in {functions}: {cause}"));
        let mut cells: Vec<String> =
            std::iter::once(format!("`{pipeline}`")).chain(cells).collect();
        cells.resize(1 + MOST_CAUSES, String::new());
        cells
    };
    let ranks = ["first", "second", "third", "fourth", "fifth"];
    let header: Vec<&str> = std::iter::once("passes").chain(ranks).collect();
    markdown(&header, &rows.iter().map(line).collect::<Vec<_>>())
}

/// A row for each pipeline, a column for each reason.
fn refused(rows: &[(&str, Sums)]) -> String {
    let of = |sums: &Sums, direction: usize, reason: &str| {
        sums.refused[direction].get(reason).copied().unwrap_or(0)
    };
    let all = rows.iter().flat_map(|(_, sums)| sums.refused.iter().flat_map(BTreeMap::keys));
    let reasons: BTreeSet<&str> = all.map(String::as_str).collect();
    let line = |(pipeline, sums): &(&str, Sums)| {
        let cells = reasons.iter().map(|reason| {
            let [forth, back] = [0, 1].map(|direction| of(sums, direction, reason));
            if forth + back == 0 { String::new() } else { format!("{forth} / {back}") }
        });
        let functions: u64 = sums.refused_functions.values().sum();
        let ends = [functions.to_string(), sums.failed.join(", ")];
        std::iter::once(format!("`{pipeline}`")).chain(cells).chain(ends).collect()
    };
    let header = std::iter::once("passes").chain(reasons.iter().copied());
    let header: Vec<&str> = header.chain(["functions", "modules that failed"]).collect();
    markdown(&header, &rows.iter().map(line).collect::<Vec<_>>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refusals_stand_under_their_reasons() {
        let mut sums = Sums::default();
        add_counts(&mut sums.refused[0], &BTreeMap::from([("Unmatched".to_string(), 2)]));
        add_counts(&mut sums.refused[0], &BTreeMap::from([("Unmatched".to_string(), 3)]));
        add_counts(&mut sums.refused[1], &BTreeMap::from([("NoLanding".to_string(), 1)]));
        let text = refused(&[("adce", sums)]);
        let words = |line: &str| line.split('|').map(|w| w.trim().to_string()).collect::<Vec<_>>();
        let lines: Vec<Vec<String>> = text.lines().map(words).collect();
        assert_eq!(lines[0][1..4], ["passes", "NoLanding", "Unmatched"]);
        assert_eq!(lines[2][1..4], ["`adce`", "0 / 1", "5 / 0"]);
    }
}
