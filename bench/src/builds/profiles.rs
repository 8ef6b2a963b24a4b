//! The profiles that a test suite has left, one for each program of which a process ran.

use crate::error::{Result, io};
use crate::layout::Layout;
use crate::process::Job;
use crate::profile_file::read_profile;
use midflight_profile::format::Profile;
use serde::Deserialize;
use std::fs;
use std::path::{Path, PathBuf};

/// What was read.
#[derive(Clone, Debug, Default)]
pub struct Inspected {
    /// Profiles that belong to a program that is still there
    pub programs: usize,
    /// Profiles of programs, or of libraries, that the suite has made and removed again
    pub gone: usize,
    /// Times that the function `main` was entered, which is once for each process
    pub processes: u64,
    /// Functions that were entered, over all programs
    pub functions: usize,
    /// Violations of flow that what the profiles say explains, as that processes have forked, over
    /// all programs
    pub explained: usize,
    /// What is wrong, for a person
    pub problems: Vec<String>,
}

/// What `midflight check --format json` says.
#[derive(Deserialize)]
struct Checked {
    functions: Vec<Function>,
}

/// What `midflight report --format json` says.
#[derive(Deserialize)]
struct Reported {
    #[serde(rename = "functions")]
    _functions: Vec<serde_json::Value>,
}

#[derive(Deserialize)]
struct Function {
    name: String,
    entries: u64,
    violations: Vec<Violation>,
    explained: Vec<Violation>,
}

#[derive(Deserialize)]
struct Violation {
    kind: String,
}

/// The images that a profile is of, if all of them are still there.
struct Images {
    program: PathBuf,
    libraries: Vec<PathBuf>,
}

/// Checks and reports each profile of a folder, whose files are named by `%m.mfp`.
///
/// # Errors
/// If a profile cannot be read, or the command not be run.
pub fn inspect(layout: &Layout, folder: &Path) -> Result<Inspected> {
    let mut inspected = Inspected::default();
    let listed = fs::read_dir(folder).map_err(io("listing", folder))?;
    let mut files: Vec<PathBuf> = listed.flatten().map(|entry| entry.path()).collect();
    files.sort();
    for file in files {
        let profile = read_profile(&file)?;
        match images(&file, &profile) {
            None => inspected.gone += 1,
            Some(images) => inspect_one(layout, &file, &images, &mut inspected)?,
        }
    }
    Ok(inspected)
}

fn inspect_one(
    layout: &Layout,
    file: &Path,
    images: &Images,
    inspected: &mut Inspected,
) -> Result<()> {
    let name = images.program.display();
    let outcome = job(layout, "check", images, file)?.args(["--format", "json"]).run()?;
    let complaint = complaint(&outcome.stderr);
    match serde_json::from_slice::<Checked>(&outcome.stdout) {
        Err(_) if complaint.contains("another build") => {
            inspected.gone += 1;
            return Ok(());
        }
        Err(_) => inspected.problems.push(format!("check of '{name}': {complaint}")),
        Ok(checked) => {
            let entered = checked.functions.iter().filter(|function| function.entries > 0);
            inspected.functions += entered.count();
            for function in checked.functions {
                if function.name == "main" {
                    inspected.processes += function.entries;
                }
                inspected.explained += function.explained.len();
                for Violation { kind } in function.violations {
                    let problem = format!("check of '{name}': {}: {kind}", function.name);
                    inspected.problems.push(problem);
                }
            }
        }
    }
    inspected.programs += 1;
    let report = job(layout, "report", images, file)?.args(["--format", "json"]).run()?;
    if serde_json::from_slice::<Reported>(&report.stdout).is_err() {
        let complaint = self::complaint(&report.stderr);
        inspected.problems.push(format!("report of '{name}': {complaint}"));
    }
    Ok(())
}

fn complaint(stderr: &[u8]) -> String {
    String::from_utf8_lossy(stderr).lines().next().unwrap_or("nothing was printed").to_string()
}

/// A command that reads a profile.
fn job(layout: &Layout, command: &str, images: &Images, file: &Path) -> Result<Job> {
    let mut job = Job::new(layout.midflight()?).arg(command).arg(&images.program).arg(file);
    for library in &images.libraries {
        job = job.arg("--library").arg(library);
    }
    Ok(job.limit(600))
}

/// The images of a profile; the program's signature is the file's name. None if one of them is not
/// there any more.
fn images(file: &Path, profile: &Profile) -> Option<Images> {
    let signature = file.file_stem().unwrap_or_default().to_string_lossy();
    let (mut program, mut libraries) = (None, Vec::new());
    for module in &profile.modules {
        let path = PathBuf::from(&module.name);
        if !path.is_file() {
            return None;
        }
        if format!("{:016x}", module.signature) == signature {
            program = Some(path);
        } else {
            libraries.push(path);
        }
    }
    Some(Images { program: program?, libraries })
}
