//! How long fires take: the first, with all that makes a version, and those of which the version is
//! there.

use crate::error::Result;
use crate::layout::Layout;
use crate::measure::median;
use crate::osr::open::Plan;
use crate::osr::open::built::{Compile, Way, With, making};
use crate::osr::open::told::{run, run_as, versions};
use crate::osr::open::works::Work;
use crate::process::Job;
use crate::table::markdown;

const LATENCY: Work = Work {
    name: "latency",
    source: "latency",
    arguments: &[],
    size: 0,
    tiny: 0,
    flags: &[],
    hand: &[],
    place: "where=entry",
    generator: "specialize-value;key=kind",
    gains: false,
};

/// Fires of a run.
const FIRES: u64 = 200_000_000;

/// Measures; the text, in Markdown.
///
/// # Errors
/// If the program cannot be built, or fails.
pub fn latency(layout: &Layout, plan: &Plan) -> Result<String> {
    eprintln!("measuring latency");
    let with = With { layout, llvm: plan.llvm, opt: 2 };
    let build =
        |name: &str, points: &str| with.build(&LATENCY, name, &Way::Points(points.to_string()));
    let first = first_fire(plan, build("first", FIRST)?)?;
    let native = with.build(&LATENCY, "native", &Way::Native)?;
    let resolved = build("resolved", "where=entry;when=always")?;
    let open = build("open", "where=entry;when=always;to=open:specialize-value;key=kind")?;
    let keyless = build("keyless", "where=entry;when=always;to=open:reoptimize")?;
    let [resolved, native, open, keyless] = [resolved, native, open, keyless].map(Job::new);
    let [open, keyless] = [open, keyless].map(|job| making(&job, Compile::Now));
    let fires = (FIRES * plan.work / 100).max(1);
    let over = |base: &Job, job: &Job, what: &str| nanoseconds(plan, base, job, what, fires);
    let rows = [
        (
            "a fire whose version is there, over a resolved transition",
            over(&resolved, &open, "fires")?,
        ),
        ("the same without a key", over(&resolved, &keyless, "fires")?),
        ("a resolved transition, over a call without a point", over(&native, &resolved, "fires")?),
        ("a call that begins in a version, over a plain call", over(&native, &open, "begins")?),
    ];
    let rows: Vec<_> =
        rows.into_iter().map(|(name, [a, b])| vec![name.to_string(), a, b]).collect();
    Ok(format!(
        "{first}\n\n{fires} fires a run, LLVM {}, -O2, {} interleaved pairs; nanoseconds of one:\n\n{}",
        plan.llvm,
        plan.pairs,
        markdown(&["what", "median", "fastest"], &rows)
    ))
}

/// The points for the first fire.
const FIRST: &str = "where=loop-header;when=count:100;to=open:specialize-value;key=kind";

/// What the first fire of a program takes.
fn first_fire(plan: &Plan, executable: std::path::PathBuf) -> Result<String> {
    let job = Job::new(executable).arg("first");
    let (mut now, mut background, mut compiling) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..plan.pairs.max(1) {
        for (compile, times) in [(Compile::Now, &mut now), (Compile::Background, &mut background)] {
            let told = run(&making(&job, compile))?;
            let of = |name: &str| told.times.get(name).copied().unwrap_or(f64::NAN);
            times.push(of("first.wall") - of("second.wall"));
        }
        let made = versions(&making(&job, Compile::Now))?;
        compiling.extend(made.iter().map(|made| made.microseconds as f64 / 1e6));
    }
    let shown = |times: &mut Vec<f64>, unit: f64| {
        let fastest = times.iter().copied().fold(f64::INFINITY, f64::min) * unit;
        median(times).map_or("–".to_string(), |m| format!("{:.1} ({fastest:.1})", m * unit))
    };
    Ok(format!(
        "The first fire of a program takes {} ms by the clock with `now`, of which {} ms are the making of the \
         version, and the rest the loading of the code generator; with `background` the thread that fires goes on after \
         {} µs. Medians of {} runs, in parentheses the fastest.",
        shown(&mut now, 1e3),
        shown(&mut compiling, 1e3),
        shown(&mut background, 1e6),
        plan.pairs,
    ))
}

/// Nanoseconds of a round of one program over those of another: the median, and by the fastest
/// runs.
fn nanoseconds(plan: &Plan, base: &Job, job: &Job, what: &str, rounds: u64) -> Result<[String; 2]> {
    let with = |job: &Job| job.clone().arg(what).arg(rounds.to_string());
    let (base, job) = (with(base), with(job));
    let expected = run(&base)?;
    let (mut of_base, mut of_job) = (Vec::new(), Vec::new());
    for _ in 0..plan.pairs.max(1) {
        of_base.extend(run_as(&expected, &base)?.calls());
        of_job.extend(run_as(&expected, &job)?.calls());
    }
    let each = |seconds: f64| format!("{:.2}", seconds * 1e9 / rounds as f64);
    let fastest = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
    let mut differences: Vec<f64> =
        of_job.iter().zip(&of_base).map(|(job, base)| job - base).collect();
    let median = median(&mut differences).unwrap_or(f64::NAN);
    Ok([each(median), each(fastest(&of_job) - fastest(&of_base))])
}
