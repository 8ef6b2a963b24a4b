//! `print<osr-points>`: each point of each function, eligible or why not.
//!
//! With `build`, the continuation of every eligible point is made, verified and thrown away: which
//! gives the shares in `docs/osr.md`. With `summary`, only the sums are printed.

use crate::driver::{Driver, definitions, reason_to_refuse};
use crate::option_table::{self, Item, OptionError, flag};
use crate::osr::condition::Condition;
use crate::osr::weave::{Body, Departure, Plan, Weaver};
use crate::read_code::{CodeSnapshot, read_code};
use midflight_bridge::ir::{Function, Module, print};
use midflight_bridge::pass::{Analyses, Pass};
use midflight_ir::liveness::liveness;
use midflight_mapping::mapping::reconstruct::PointMap;
use midflight_mapping::points::{Point, points};
use midflight_mapping::refusal::Refusal;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt::Write;

/// The pass.
#[derive(Clone, Copy, Debug, Default)]
pub struct PrintPoints {
    build: bool,
    summary: bool,
}

pub(crate) const OPTIONS: &[Item<PrintPoints>] =
    &[flag("build", |o| o.build = true), flag("summary", |o| o.summary = true)];

impl PrintPoints {
    /// Parses options.
    ///
    /// # Errors
    /// [`OptionError`] for the first option that is wrong.
    pub fn parse(text: &str) -> Result<Self, OptionError> {
        let mut result = PrintPoints::default();
        option_table::parse(&[OPTIONS], text, &mut result)?;
        Ok(result)
    }
}

impl Pass for PrintPoints {
    fn run(&self, module: Module<'_>, _: &Analyses<'_>) -> bool {
        let mut total = Sums::default();
        let driver = Driver::reading("printing the points of '{}'");
        let all_done = driver.run(module, &definitions(module), |function| {
            let sums = self.function(module, function);
            print(&format!("points of '{}': {}", function.name(), sums.text()));
            total.add(&sums);
            Ok(Vec::new())
        });
        if all_done {
            print(&format!("points of the module: {}", total.text()));
        }
        self.build
    }
}

/// What became of points.
#[derive(Default)]
struct Sums {
    points: u64,
    built: u64,
    refused: BTreeMap<&'static str, u64>,
    /// Eligible, and no further transition from a continuation
    no_further: u64,
    broken: Vec<String>,
}

impl Sums {
    fn add(&mut self, other: &Sums) {
        self.points += other.points;
        self.built += other.built;
        self.no_further += other.no_further;
        for (name, count) in &other.refused {
            *self.refused.entry(name).or_default() += count;
        }
        self.broken.extend(other.broken.iter().cloned());
    }

    fn text(&self) -> String {
        let refused: u64 = self.refused.values().sum();
        let mut text = format!("{} points, {} eligible", self.points, self.points - refused);
        // Writing to a string cannot fail.
        if self.no_further > 0 {
            let _ = write!(text, " ({} not for further transitions)", self.no_further);
        }
        let _ = write!(text, ", {refused} refused");
        let reasons: Vec<_> = self.refused.iter().map(|(n, c)| format!("{n} {c}")).collect();
        if !reasons.is_empty() {
            let _ = write!(text, " ({})", reasons.join(", "));
        }
        if self.built > 0 || !self.broken.is_empty() {
            let _ = write!(text, ", {} built, {} broken", self.built, self.broken.len());
        }
        text.push('\n');
        text
    }
}

impl PrintPoints {
    fn function(&self, module: Module<'_>, function: Function<'_>) -> Sums {
        let refusal = reason_to_refuse(module, function, None);
        let snapshot = read_code(function);
        let points = points(&snapshot.body, &liveness(&snapshot.body), function.facts());
        let mut sums = Sums { points: points.len() as u64, ..Sums::default() };
        if !self.summary {
            print(&describe(function, &snapshot, &points, refusal));
        }
        for point in &points {
            match refusal.or(point.refusal) {
                Some(reason) => *sums.refused.entry(reason.name()).or_default() += 1,
                None if point.further.is_some() => sums.no_further += 1,
                None => {}
            }
        }
        if self.build && refusal.is_none() {
            build_all(function, &mut sums);
        }
        sums
    }
}

/// The text for one function: one line a point, with the values live there, or why it is none.
pub fn listing(function: Function<'_>) -> String {
    let refusal = reason_to_refuse(function.module(), function, None);
    let snapshot = read_code(function);
    let points = points(&snapshot.body, &liveness(&snapshot.body), function.facts());
    describe(function, &snapshot, &points, refusal)
}

fn describe(
    function: Function<'_>,
    snapshot: &CodeSnapshot<'_>,
    points: &[Point],
    refusal: Option<Refusal>,
) -> String {
    let names = snapshot.names();
    let mut text = String::new();
    for (number, point) in points.iter().enumerate() {
        let live: Vec<&str> = point.live.iter().map(|&v| names[v].as_str()).collect();
        let verdict = match refusal.or(point.refusal) {
            Some(reason) => format!("{}: {}", reason.name(), reason.message()),
            None => format!("{{{}}}", live.join(", ")),
        };
        let opcode = snapshot.instructions[point.at].opcode_name();
        // Writing to a string cannot fail.
        let _ = writeln!(text, "  {}#{number} {opcode}: {verdict}", function.name());
    }
    text
}

/// Builds and verifies the continuation of every eligible point, in a copy of the function.
fn build_all(function: Function<'_>, sums: &mut Sums) {
    let prepared = function.clone_as(&format!("{}.points", function.name()));
    prepared.prepare_for_points();
    let snapshot = read_code(prepared);
    let points = points(&snapshot.body, &liveness(&snapshot.body), prepared.facts());
    for (number, point) in points.iter().enumerate().filter(|(_, p)| p.refusal.is_none()) {
        let continuation = continuation_of(&snapshot, point);
        if let Some(message) = continuation.verify() {
            print(&format!("  {}#{number}: broken: {message}\n", function.name()));
            sums.broken.push(format!("{}#{number}", function.name()));
        } else {
            sums.built += 1;
        }
        continuation.erase();
    }
    prepared.erase();
}

/// The continuation of a clone of the function at one point.
pub fn continuation_of<'m>(snapshot: &CodeSnapshot<'m>, point: &Point) -> Function<'m> {
    let name = format!("{}.osr", snapshot.function.name());
    let plan = Plan::resolved(
        name,
        Body::CopyOf(snapshot),
        Departure {
            version: snapshot,
            at: point.at,
            name: String::new(),
            condition: Condition::Never,
            guard: None,
            way: None,
            map: Cow::Owned(PointMap::identity(point.at, &point.live)),
        },
    );
    let weaver = Weaver::declare(snapshot.function, &plan);
    weaver.build(None);
    weaver.continuation(0)
}
