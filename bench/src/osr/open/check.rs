//! Programs with open points print what they print without, whenever versions are made.

use crate::compare::difference;
use crate::error::Result;
use crate::layout::Layout;
use crate::osr::open::built::{Compile, Way, With, job, making};
use crate::osr::open::told::run;
use crate::osr::open::works::{WORKS, Work};
use crate::tally::Tally;
use rayon::prelude::*;

/// When points fire: often, since there is little to do.
const OFTEN: &str = "count:20";

/// Builds and runs all programs with each version of LLVM at each level.
///
/// # Errors
/// If a program cannot be built, or does not run without points.
pub fn check(layout: &Layout, llvm: &[u32], opt: &[u32]) -> Result<Tally> {
    let mut all = Vec::new();
    for &llvm in llvm {
        for &opt in opt {
            all.extend(WORKS.iter().map(|work| (With { layout, llvm, opt }, work)));
        }
    }
    Tally::of_all(all.into_par_iter().map(|(with, work)| one(with, work)))
}

fn one(with: With<'_>, work: &Work) -> Result<Tally> {
    let mut tally = Tally::default();
    let native = with.build(work, "native", &Way::Native)?;
    let pointed = with.build(work, "pointed", &Way::Points(work.points(OFTEN)))?;
    let expected = run(&job(work, native, 0))?;
    let pointed = job(work, pointed, 0);
    for compile in Compile::ALL {
        let what = format!("{}, llvm{} -O{}, {}", work.name, with.llvm, with.opt, compile.name());
        let problem = match run(&making(&pointed, compile)) {
            Ok(found) => difference(&expected.outcome, &found.outcome),
            Err(error) => Some(error.to_string()),
        };
        tally.check(&what, problem);
    }
    Ok(tally)
}
