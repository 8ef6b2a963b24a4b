//! What versions gain: the call in which one is made, and the next, which begins in it, beside
//! native code and beside a program that is specialized by hand.

use crate::error::Result;
use crate::layout::Layout;
use crate::measure::median;
use crate::osr::log::Made;
use crate::osr::open::Plan;
use crate::osr::open::built::{Compile, Way, With, job, making};
use crate::osr::open::told::{Told, run, run_as, versions};
use crate::osr::open::works::{Work, chosen};
use crate::table::markdown;

/// When points fire.
const WHEN: &str = "count:1000";

/// Measures all; the tables, in Markdown.
///
/// # Errors
/// If a program cannot be built, fails, or has other results with points than without.
pub fn gain(layout: &Layout, plan: &Plan) -> Result<String> {
    let (mut rows, mut made) = (Vec::new(), Vec::new());
    for work in chosen(plan) {
        eprintln!("measuring {}", work.name);
        let measured = measure(layout, plan, work)?;
        rows.push(measured.row(work));
        made.push(row_of_versions(work, &measured.versions));
    }
    let header = [
        "program",
        "native s",
        "control",
        "never",
        "first, background",
        "first, now",
        "second",
        "by hand",
        "first over hand %",
        "second over hand %",
    ];
    let text = markdown(&header, &rows);
    let of_versions =
        ["program", "generator", "versions", "compile ms", "bytes", "guards", "exits"];
    Ok(format!(
        "How much faster than native; CPU time of the process, what makes versions included; LLVM {}, -O2, points \
         at {WHEN}; median of {} interleaved rounds, and in parentheses by the fastest runs. Control: native's \
         second call beside its first. Never: no versions are made. Over hand: the speed in percent of that by hand, of the first call with \
         `now`, and of the second.\n\n{text}\nVersions of a run (`now`): time to make them, bytes of their object \
         files, guards that failed.\n\n{}",
        plan.llvm,
        plan.pairs,
        markdown(&of_versions, &made)
    ))
}

/// What was measured of a program.
struct Measured {
    native: Calls,
    hand: Option<Calls>,
    never: Calls,
    now: Calls,
    background: Calls,
    versions: Vec<Made>,
}

/// Seconds of the first and the second call, by rounds.
#[derive(Default)]
struct Calls {
    first: Vec<f64>,
    second: Vec<f64>,
}

impl Calls {
    fn add(&mut self, told: &Told) {
        let [first, second] = told.calls();
        self.first.push(first);
        self.second.push(second);
    }
}

fn measure(layout: &Layout, plan: &Plan, work: &Work) -> Result<Measured> {
    let with = With { layout, llvm: plan.llvm, opt: 2 };
    let native = job(work, with.build(work, "native", &Way::Native)?, plan.work);
    let pointed = Way::Points(work.points(WHEN));
    let pointed = job(work, with.build(work, "pointed", &pointed)?, plan.work);
    let hand = match work.gains {
        true => Some(job(work, with.build(work, "hand", &Way::Hand)?, plan.work)),
        false => None,
    };
    let [never, now, background] = Compile::ALL.map(|compile| making(&pointed, compile));
    let expected = run(&native)?;
    let mut measured = Measured {
        native: Calls::default(),
        hand: hand.as_ref().map(|_| Calls::default()),
        never: Calls::default(),
        now: Calls::default(),
        background: Calls::default(),
        versions: versions(&now)?,
    };
    for _ in 0..plan.pairs.max(1) {
        measured.native.add(&run_as(&expected, &native)?);
        measured.never.add(&run_as(&expected, &never)?);
        measured.now.add(&run_as(&expected, &now)?);
        if let (Some(hand), Some(calls)) = (&hand, &mut measured.hand) {
            calls.add(&run_as(&expected, hand)?);
        }
        measured.background.add(&run_as(&expected, &background)?);
    }
    Ok(measured)
}

impl Measured {
    fn row(&self, work: &Work) -> Vec<String> {
        let Measured { native, hand, never, now, background, .. } = self;
        let mut first = native.first.clone();
        let seconds = median(&mut first).unwrap_or(f64::NAN);
        let hand = hand.as_ref();
        let percent = |over: Option<String>| over.unwrap_or("–".to_string());
        vec![
            work.name.to_string(),
            format!("{seconds:.2}"),
            faster(&native.first, &native.second),
            faster(&native.first, &never.first),
            faster(&native.first, &background.first),
            faster(&native.first, &now.first),
            faster(&native.second, &now.second),
            percent(hand.map(|hand| faster(&native.second, &hand.second))),
            percent(hand.map(|hand| share(&hand.first, &now.first))),
            percent(hand.map(|hand| share(&hand.second, &now.second))),
        ]
    }
}

/// How many times as fast as `base` something is: the median, and by the fastest runs.
fn faster(base: &[f64], times: &[f64]) -> String {
    let [median, fastest] = ratios(base, times);
    format!("{median:.2} ({fastest:.2})")
}

/// The same in percent.
fn share(base: &[f64], times: &[f64]) -> String {
    let [median, fastest] = ratios(base, times).map(|ratio| ratio * 100.0);
    format!("{median:.1} ({fastest:.1})")
}

fn ratios(base: &[f64], times: &[f64]) -> [f64; 2] {
    let mut ratios: Vec<f64> = base.iter().zip(times).map(|(base, time)| base / time).collect();
    let fastest = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
    [median(&mut ratios).unwrap_or(f64::NAN), fastest(base) / fastest(times)]
}

fn row_of_versions(work: &Work, versions: &[Made]) -> Vec<String> {
    let ready: Vec<&Made> = versions.iter().filter(|made| made.is_ready()).collect();
    let sum = |of: fn(&Made) -> u64| ready.iter().map(|made| of(made)).sum::<u64>();
    let mut row = vec![work.name.to_string(), work.generator.to_string(), ready.len().to_string()];
    row.push(format!("{:.1}", sum(|made| made.microseconds) as f64 / 1e3));
    row.extend([sum(|m| m.bytes), sum(|m| m.guards), sum(|m| m.exits)].map(|n| n.to_string()));
    row
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_takes_half_the_time_is_twice_as_fast() {
        assert_eq!(faster(&[2.0, 2.2, 9.0], &[1.0, 1.1, 1.0]), "2.00 (2.00)");
        assert_eq!(share(&[1.0], &[1.25]), "80.0 (80.0)");
    }
}
