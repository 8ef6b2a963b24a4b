//! What points cost that never fire, or for which nothing is made.

use crate::error::Result;
use crate::layout::Layout;
use crate::measure::{geometric_mean, median};
use crate::osr::open::Plan;
use crate::osr::open::built::{Compile, Way, With, job, making};
use crate::osr::open::told::{run, run_as};
use crate::osr::open::works::{Work, chosen};
use crate::process::Job;
use crate::table::markdown;

/// Ways of not firing: their names, conditions, and whether they are asked and get nothing.
const WAYS: [(&str, &str); 3] =
    [("asked in vain", "count:1000"), ("count", "count:4000000000"), ("never", "never")];

/// Stages, as points are given them.
const STAGES: [&str; 2] = ["early", "late"];

/// There are many ways; each has so many percent of the plan's work.
const SHARE: u64 = 25;

/// Measures all; the table, in Markdown.
///
/// # Errors
/// If a program cannot be built, fails, or has other results with points than without.
pub fn idle(layout: &Layout, plan: &Plan) -> Result<String> {
    let (mut rows, mut all) = (Vec::new(), vec![Vec::new(); 1 + STAGES.len() * WAYS.len()]);
    for work in chosen(plan) {
        eprintln!("measuring {}, idle", work.name);
        let ratios = measure(layout, plan, work)?;
        let mut row = vec![work.name.to_string()];
        for (ratio, all) in ratios.iter().zip(&mut all) {
            row.push(format!("{:.3} ({:.3})", ratio[0], ratio[1]));
            all.push(*ratio);
        }
        rows.push(row);
    }
    let mean = |cells: &Vec<[f64; 2]>| {
        let of =
            |part: usize| geometric_mean(cells.iter().map(|cell| cell[part])).unwrap_or(f64::NAN);
        format!("{:.3} ({:.3})", of(0), of(1))
    };
    rows.push([vec!["geometric mean".to_string()], all.iter().map(mean).collect()].concat());
    let ways = STAGES.iter().flat_map(|stage| WAYS.map(|(name, _)| format!("{stage}, {name}")));
    let header: Vec<String> =
        ["program".to_string(), "control".to_string()].into_iter().chain(ways).collect();
    let header: Vec<&str> = header.iter().map(String::as_str).collect();
    Ok(format!(
        "Points that never fire, or ask in vain (`MIDFLIGHT_OSR_COMPILE=never`): CPU time over native, LLVM {}, \
         -O2; median of {} interleaved rounds of two calls each, and in parentheses by the fastest. Control: native \
         beside itself.\n\n{}",
        plan.llvm,
        plan.pairs,
        markdown(&header, &rows)
    ))
}

/// Median and fastest of the ratios to native: of native itself, and of each way at each stage.
fn measure(layout: &Layout, plan: &Plan, work: &Work) -> Result<Vec<[f64; 2]>> {
    let with = With { layout, llvm: plan.llvm, opt: 2 };
    let percent = plan.work * SHARE / 100;
    let native = job(work, with.build(work, "native", &Way::Native)?, percent);
    let mut jobs = vec![native.clone()];
    for stage in STAGES {
        for (index, (_, when)) in WAYS.iter().enumerate() {
            let place = work.place.trim_end_matches(";stage=late");
            let points = format!("{place};stage={stage};when={when};to=open:{}", work.generator);
            let name = format!("idle-{stage}-{index}");
            let executable = with.build(work, &name, &Way::Points(points))?;
            jobs.push(making(&job(work, executable, percent), Compile::Never));
        }
    }
    let expected = run(&native)?;
    let seconds = |job: &Job| Ok(run_as(&expected, job)?.calls());
    let (mut base, mut times) = (Vec::new(), vec![Vec::new(); jobs.len()]);
    for _ in 0..plan.pairs.max(1) {
        base.extend(seconds(&native)?);
        for (job, times) in jobs.iter().zip(&mut times) {
            times.extend(seconds(job)?);
        }
    }
    let fastest = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
    let of = |times: &Vec<f64>| {
        let mut ratios: Vec<f64> = times.iter().zip(&base).map(|(t, b)| t / b).collect();
        [median(&mut ratios).unwrap_or(f64::NAN), fastest(times) / fastest(&base)]
    };
    Ok(times.iter().map(of).collect())
}
