//! Running a built program on its work.

use crate::build::Built;
use crate::error::Result;
use crate::inputs::expand;
use crate::layout::Layout;
use crate::memory::Memory;
use crate::process::{Job, Outcome};
use crate::program::{Program, Size};
use std::path::PathBuf;

/// The file that a run of a built program leaves its profile in.
pub fn profile_of(built: &Built) -> PathBuf {
    built.folder.join("run.mfp")
}

/// The file that a run leaves an oracle's report in.
pub fn oracle_of(built: &Built) -> PathBuf {
    built.folder.join("run.oracle")
}

/// The job that does a program's work of a size.
///
/// # Errors
/// If an input cannot be made.
pub fn job(layout: &Layout, program: &Program, built: &Built, size: Size) -> Result<Job> {
    let mut job = layout
        .machine
        .job(&built.executable)
        .folder(&built.folder)
        .env("MIDFLIGHT_PROFILE", profile_of(built))
        .env("MIDFLIGHT_ORACLE", oracle_of(built))
        .env("LLVM_PROFILE_FILE", built.folder.join("run.profraw"))
        .limit(600);
    job = Memory::AsGiven.give(job);
    for argument in program.work(size) {
        job = job.arg(expand(layout, argument)?);
    }
    Ok(job)
}

/// Does it.
///
/// # Errors
/// If it cannot be started.
pub fn run(layout: &Layout, program: &Program, built: &Built, size: Size) -> Result<Outcome> {
    job(layout, program, built, size)?.run()
}
