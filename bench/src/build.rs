//! Building a program of the corpus in one variant.

use crate::error::{Error, Result, io};
use crate::fetch::fetch;
use crate::layout::Layout;
use crate::process::Job;
use crate::program::Program;
use crate::variant::{Toolchain, Variant};
use rayon::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};

/// A built program.
#[derive(Clone, Debug)]
pub struct Built {
    /// The executable
    pub executable: PathBuf,
    /// The folder that it was built in, where its runs leave what they write
    pub folder: PathBuf,
}

/// Fetches a program's sources and builds it.
///
/// # Errors
/// If sources or tools are missing, or a file does not compile.
pub fn build(layout: &Layout, program: &Program, variant: Variant) -> Result<Built> {
    build_with(layout, program, variant, &[])
}

/// The same with more flags for compiling and linking.
///
/// # Errors
/// As for [`build`].
pub fn build_with(
    layout: &Layout,
    program: &Program,
    variant: Variant,
    more: &[String],
) -> Result<Built> {
    let folder = layout.work().join(program.name).join(variant.to_string());
    if folder.exists() {
        fs::remove_dir_all(&folder).map_err(io("removing the old", &folder))?;
    }
    fs::create_dir_all(&folder).map_err(io("making the folder", &folder))?;
    let toolchain = Toolchain::find(layout, variant)?.with_flags(more);
    let flags = flags(layout, program);
    let (mut objects, mut jobs) = (Vec::new(), Vec::new());
    for (index, source) in sources(layout, program)?.iter().enumerate() {
        let object = folder.join(format!("{index}.o"));
        jobs.push(toolchain.compile(&flags, source, &object));
        objects.push(object);
    }
    if let Some(source) = toolchain.companion {
        let object = folder.join("companion.o");
        let source = layout.at(source);
        let clang = crate::llvm::tool("clang", variant.llvm)?;
        let clang = Job::new(clang).args(layout.machine.flags());
        jobs.push(clang.args(["-O2", "-c"]).arg(source).arg("-o").arg(&object));
        objects.push(object);
    }
    run_all(&jobs)?;
    let executable = folder.join(program.name);
    toolchain.link(&objects, program.link, &executable).expect_success()?;
    for object in objects {
        fs::remove_file(&object).map_err(io("removing", &object))?;
    }
    Ok(Built { executable, folder })
}

/// Packages beside that of the origin.
fn other_packages(program: &Program) -> Vec<&'static str> {
    program.sources.iter().filter_map(|s| s.split_once(':')).map(|(name, _)| name).collect()
}

/// All source files of a program, fetched.
///
/// # Errors
/// If they cannot be fetched, or one is not there.
pub fn sources(layout: &Layout, program: &Program) -> Result<Vec<PathBuf>> {
    program.origin.fetch(layout)?;
    fetch(layout, &other_packages(program))?;
    let root = program.origin.folder(layout);
    let mut files = Vec::new();
    for source in program.sources {
        match (source.split_once(':'), source.strip_suffix("/*.c")) {
            (Some((package, file)), _) => files.push(layout.sources().join(package).join(file)),
            (None, Some(folder)) => files.extend(c_files(&root.join(folder), program.without)?),
            (None, None) if *source == "*.c" => files.extend(c_files(&root, program.without)?),
            (None, None) => files.push(root.join(source)),
        }
    }
    files.extend(program.driver.map(|driver| layout.corpus().join("drivers").join(driver)));
    match files.iter().find(|file| !file.is_file()) {
        None => Ok(files),
        Some(lost) => Err(Error::Missing {
            what: format!("'{}' of program '{}' is not there", lost.display(), program.name),
            remedy: "its package may have changed: look at bench/src/corpus.rs".to_string(),
        }),
    }
}

fn c_files(folder: &Path, without: &[&str]) -> Result<Vec<PathBuf>> {
    let listed = fs::read_dir(folder).map_err(io("listing", folder))?;
    let mut files: Vec<PathBuf> = listed.flatten().map(|entry| entry.path()).collect();
    let unwanted = |name: &str| {
        without.iter().any(|pattern| match pattern.strip_prefix('*') {
            Some(end) => name.ends_with(end),
            None => name == *pattern,
        })
    };
    files.retain(|file| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        name.ends_with(".c") && !unwanted(&name)
    });
    files.sort();
    Ok(files)
}

/// Flags of the compiler for a program, those that name folders of headers included.
pub fn flags(layout: &Layout, program: &Program) -> Vec<String> {
    let root = program.origin.folder(layout);
    let mut flags: Vec<String> = program.flags.iter().map(|flag| flag.to_string()).collect();
    if program.driver.is_some() {
        flags.push(format!("-I{}", root.display()));
    }
    flags.extend(program.include.iter().map(|folder| format!("-I{}", root.join(folder).display())));
    flags
}

/// Runs jobs side by side; one that fails decides.
///
/// # Errors
/// That of a job that failed.
pub fn run_all(jobs: &[Job]) -> Result<()> {
    jobs.par_iter().with_max_len(1).try_for_each(|job| job.expect_success().map(drop))
}
