//! The modules that are looked at: the files of the hot functions, and whole programs.

use crate::build::{flags, run_all, sources};
use crate::corpus::PROGRAMS;
use crate::error::{Error, Result, io};
use crate::hot::bitcode::FLAGS;
use crate::hot::functions::FUNCTIONS;
use crate::hot::made;
use crate::layout::Layout;
use crate::llvm::tool;
use crate::process::Job;
use std::fs;
use std::path::PathBuf;

/// The folder of what is made with a version of LLVM.
///
/// # Errors
/// If it cannot be made.
pub fn folder(layout: &Layout, llvm: u32) -> Result<PathBuf> {
    let folder = layout.work().join("osr-maps").join(llvm.to_string());
    fs::create_dir_all(&folder).map_err(io("making the folder", &folder))?;
    Ok(folder)
}

/// Programs that are looked at as a whole, each as one module.
pub const WHOLE: [&str; 2] = ["sqlite", "lua"];

/// A module.
#[derive(Clone, Debug)]
pub struct Module {
    /// The program
    pub name: &'static str,
    /// Its bitcode, after mem2reg
    pub path: PathBuf,
}

/// The files of all hot functions that are available, and the whole programs.
///
/// # Errors
/// If one cannot be compiled.
pub fn modules(layout: &Layout, llvm: u32) -> Result<Vec<Module>> {
    let mut modules = Vec::new();
    for hot in FUNCTIONS {
        if let Some(output) = made(layout, hot, llvm)? {
            modules.push(Module { name: hot.program, path: output.with_extension("file.bc") });
        }
    }
    for name in WHOLE {
        modules.push(Module { name, path: whole(layout, name, llvm)?.with_extension("bc") });
    }
    Ok(modules)
}

/// A whole program as clang makes it without optimization; beside it, with the extension `.bc`,
/// after mem2reg.
///
/// # Errors
/// If it cannot be compiled.
pub fn whole(layout: &Layout, name: &str, llvm: u32) -> Result<PathBuf> {
    let known = PROGRAMS.iter().find(|program| program.name == name);
    let program = known.ok_or_else(|| Error::Missing {
        what: format!("there is no program '{name}'"),
        remedy: "adapt bench/src/osr/maps/modules.rs to the corpus".to_string(),
    })?;
    let folder = folder(layout, llvm)?;
    let raw = folder.join(format!("{name}.raw"));
    let promoted = raw.with_extension("bc");
    if promoted.is_file() {
        return Ok(raw);
    }
    let (mut files, mut jobs) = (Vec::new(), Vec::new());
    for (index, source) in sources(layout, program)?.iter().enumerate() {
        let file = folder.join(format!("{name}.{index}.bc"));
        let clang = Job::new(tool("clang", llvm)?).args(FLAGS).arg(&file);
        jobs.push(clang.args(flags(layout, program)).arg(source));
        files.push(file);
    }
    run_all(&jobs)?;
    let link = Job::new(tool("llvm-link", llvm)?).args(&files).arg("-o").arg(&raw);
    link.expect_success()?;
    let promote = Job::new(tool("opt", llvm)?).arg("-passes=mem2reg").arg(&raw);
    promote.arg("-o").arg(&promoted).expect_success()?;
    for file in files {
        fs::remove_file(&file).map_err(io("removing", &file))?;
    }
    Ok(raw)
}
