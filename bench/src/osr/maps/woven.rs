//! Whole programs are woven under each pipeline: `osr-opt` must end, and leave valid IR.

use crate::error::Result;
use crate::layout::Layout;
use crate::osr::maps::mapping::{THESIS, opt};
use crate::osr::maps::modules::whole;
use crate::osr::maps::pipelines::OTHERS;
use crate::tally::Tally;
use rayon::prelude::*;

/// Weaves each program under each pipeline; those that fail are tallied.
///
/// # Errors
/// If a program cannot be compiled.
pub fn woven(layout: &Layout, llvm: u32, programs: &[String], tally: &mut Tally) -> Result<()> {
    let pipelines: Vec<&str> = [THESIS].into_iter().chain(OTHERS).collect();
    for program in programs {
        let module = whole(layout, program, llvm)?;
        eprintln!("weaving {program} under {} pipelines, LLVM {llvm}", pipelines.len());
        let weave = |pipeline: &&str| {
            let passes = format!("function(mem2reg),osr-opt({pipeline}),verify");
            Ok(opt(layout, llvm, &passes, &module)?.expect_success().err())
        };
        let found: Vec<_> =
            pipelines.par_iter().with_max_len(1).map(weave).collect::<Result<_>>()?;
        for (pipeline, problem) in pipelines.iter().zip(found) {
            let problem = problem.map(|error| error.to_string());
            tally.check(&format!("{program} woven under {pipeline}, LLVM {llvm}"), problem);
        }
    }
    Ok(())
}
