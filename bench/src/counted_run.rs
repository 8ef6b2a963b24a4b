//! Running a program to see what it counts with so much memory.

use crate::build::Built;
use crate::error::{Result, io};
use crate::layout::Layout;
use crate::memory::Memory;
use crate::process::Outcome;
use crate::profile_file::read_profile;
use crate::program::{Program, Size};
use crate::workload::job;
use midflight_profile::format::Profile;
use std::fs;

/// What a run did, and what it has counted.
pub struct Ran {
    /// What it did
    pub outcome: Outcome,
    /// What it has counted
    pub profile: Profile,
}

/// Runs a program, which finds everything at the same addresses each time: it may take them for
/// keys. The name of its profile should be as long as those of runs that it is compared with, since
/// it may look at its environment.
///
/// # Errors
/// If it does not succeed, or leaves no profile.
pub fn run(
    layout: &Layout,
    program: &Program,
    built: &Built,
    size: Size,
    memory: &Memory,
    name: &str,
) -> Result<Ran> {
    let file = built.folder.join(name).with_extension("mfp");
    let job = memory.give(job(layout, program, built, size)?);
    let job = job.env("MIDFLIGHT_PROFILE", &file).limit(1800).at_fixed_addresses();
    let outcome = job.expect_success()?;
    let profile = read_profile(&file)?;
    fs::remove_file(&file).map_err(io("removing", &file))?;
    Ok(Ran { outcome, profile })
}
