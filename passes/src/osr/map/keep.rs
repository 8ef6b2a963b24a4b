//! `osr-opt<keep=PERCENT>`: passes that would leave too few points a way to the other version are
//! left out.
//!
//! Where all passes together leave enough, they are run as they are. Else they are taken one after
//! the other, each beside those that were taken before, and one behind which too few points lead to
//! the other version is left out. All is compared with base, so that nothing is lost that one pass
//! breaks and a later one mends.

use crate::osr::map::do_passes::passes;
use crate::osr::map::optimize::{Trust, TwoVersions};
use crate::osr::map::report::feasible;
use midflight_bridge::ir::Function;
use midflight_bridge::sandbox::Sandbox;
use midflight_mapping::versions::version::{PerVersion, Version};
use std::fmt;

/// What stands for no passes at all.
const NONE: &str = "no-op-function";

/// So many points of a version lead to the other one, of all.
#[derive(Clone, Copy, Debug)]
pub struct Feasible {
    /// Those that do
    pub count: usize,
    /// All
    pub of: usize,
}

impl Feasible {
    fn is_enough(self, percent: u32) -> bool {
        self.count * 100 >= self.of * percent as usize
    }
}

/// A pass that was left out, and what it would have left.
#[derive(Clone, Debug)]
pub struct LeftOut {
    pass: String,
    /// Counted from 1, of so many
    number: usize,
    of: usize,
    points: PerVersion<Feasible>,
    percent: u32,
}

impl fmt::Display for LeftOut {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let LeftOut { pass, number, of, points, percent } = self;
        let name = without_options(pass);
        let [base, opt] = Version::BOTH.map(|w| points[w]);
        write!(
            f,
            "left out pass {number} of {of}, '{name}': with it {} of {} points would lead to the \
             optimized version, and {} of {} back; keep={percent}% asks for more",
            base.count, base.of, opt.count, opt.of
        )
    }
}

/// The passes of a pipeline that leave enough, and those that do not.
///
/// # Errors
/// LLVM's message if there is no such pipeline.
pub fn kept(
    sandbox: &Sandbox,
    base: Function<'_>,
    pipeline: &str,
    percent: u32,
) -> Result<(String, Vec<LeftOut>), String> {
    let is_enough = |points: &PerVersion<Feasible>| points.iter().all(|p| p.is_enough(percent));
    if is_enough(&points(sandbox, base, pipeline)?) {
        return Ok((pipeline.to_string(), Vec::new()));
    }
    let all = one_by_one(sandbox, pipeline);
    let mut kept = String::new();
    let mut left_out = Vec::new();
    for (index, pass) in all.iter().enumerate() {
        let with = if kept.is_empty() { pass.to_string() } else { format!("{kept},{pass}") };
        let points = points(sandbox, base, &with)?;
        if is_enough(&points) {
            kept = with;
        } else {
            let (number, of) = (index + 1, all.len());
            left_out.push(LeftOut { pass: pass.clone(), number, of, points, percent });
        }
    }
    let kept = if kept.is_empty() { NONE.to_string() } else { kept };
    Ok((kept, left_out))
}

/// The passes of a pipeline; for `default<O1>` and the like those that it stands for.
fn one_by_one(sandbox: &Sandbox, pipeline: &str) -> Vec<String> {
    let mut all = Vec::new();
    for pass in passes(pipeline) {
        let is_level = pass.starts_with("default<");
        match is_level.then(|| sandbox.passes(pass)).flatten() {
            Some(of_level) => all.extend(passes(&of_level).into_iter().map(str::to_string)),
            None => all.push(pass.to_string()),
        }
    }
    all
}

/// The name of a pass without what stands in angle brackets.
fn without_options(pass: &str) -> String {
    let mut depth = 0_usize;
    let is_name = |c: &char| match c {
        '<' => {
            depth += 1;
            false
        }
        '>' => {
            depth = depth.saturating_sub(1);
            false
        }
        _ => depth == 0,
    };
    pass.chars().filter(is_name).collect()
}

/// How many points of each version lead to the other one under a pipeline.
fn points(
    sandbox: &Sandbox,
    base: Function<'_>,
    pipeline: &str,
) -> Result<PerVersion<Feasible>, String> {
    let two = TwoVersions::make(sandbox, base, pipeline)?;
    let snapshots = two.snapshots();
    let comparison = two.compare(Trust::Proved, sandbox, &snapshots);
    let found = feasible(&comparison.mapper());
    comparison.end();
    two.opt.erase();
    Ok(found)
}
