//! `midflight-bench osr stack`: however often an activation moves, its stack does not grow.

use crate::compare::difference;
use crate::error::Result;
use crate::layout::Layout;
use crate::osr::chain::{Moves, SHAPES, Shape, build, job};
use crate::osr::log::Log;
use crate::tally::Tally;

/// Moves between two continuations so many times, for each shape, at -O0 and -O2.
///
/// # Errors
/// If a program cannot be built or run.
pub fn stack(layout: &Layout, llvm: &[u32], transitions: u64) -> Result<Tally> {
    let mut tally = Tally::default();
    for &llvm in llvm {
        for opt in [0, 2] {
            for shape in SHAPES {
                let what = format!("llvm{llvm} -O{opt}, {shape}");
                let problem = moves(layout, llvm, opt, shape, transitions)?;
                if problem.is_none() {
                    println!("ok {what}: {transitions} transitions in 256 KiB");
                }
                tally.check(&what, problem);
            }
        }
    }
    Ok(tally)
}

/// What is wrong, if anything is.
fn moves(
    layout: &Layout,
    llvm: u32,
    opt: u32,
    shape: Shape,
    transitions: u64,
) -> Result<Option<String>> {
    let folder = layout.work().join("osr-stack");
    let plain = build(layout, llvm, opt, shape, Moves::None, &folder)?;
    let moving = build(layout, llvm, opt, shape, Moves::Transitions, &folder)?;
    let log = moving.with_extension("json");
    let _ = std::fs::remove_file(&log);
    let expected = job(layout, &plain, transitions).run()?;
    let found = job(layout, &moving, transitions).env("MIDFLIGHT_OSR_LOG", &log).run()?;
    if let Some(problem) = difference(&expected, &found) {
        return Ok(Some(problem));
    }
    let made = Log::read(&log)?.transitions();
    // The loop may have been rotated.
    let right = (transitions - 1..=transitions + 1).contains(&made);
    Ok((!right).then(|| format!("there were {made} transitions, not {transitions}")))
}
