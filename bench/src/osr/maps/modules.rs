//! The modules that are looked at: the files of the hot functions, and whole programs.

use crate::build::{flags, run_all, sources};
use crate::corpus::PROGRAMS;
use crate::error::{Error, Result, io};
use crate::hot::bitcode::FLAGS;
use crate::hot::functions::FUNCTIONS;
use crate::hot::made;
use crate::layout::Layout;
use crate::llvm::tool;
use crate::pgo::clang_flag;
use crate::process::Job;
use crate::program::Program;
use crate::variant::{How, Variant};
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
    linked(layout, program(name)?, llvm, &format!("{name}.raw"), None)
}

/// The same, after mem2reg, with the profile of a run: clang's own counters say how often its
/// blocks ran.
///
/// # Errors
/// If it cannot be compiled, or run.
pub fn profiled(layout: &Layout, name: &str, llvm: u32) -> Result<PathBuf> {
    let program = program(name)?;
    let variant = Variant { llvm, opt: 2, how: How::SourceCounters };
    let flag = clang_flag(layout, program, variant)?;
    let raw = linked(layout, program, llvm, &format!("{name}.profiled.raw"), Some(&flag))?;
    Ok(raw.with_extension("bc"))
}

fn program(name: &str) -> Result<&'static Program> {
    let known = PROGRAMS.iter().find(|program| program.name == name);
    known.ok_or_else(|| Error::Missing {
        what: format!("there is no program '{name}'"),
        remedy: "adapt bench/src/osr/maps/modules.rs to the corpus".to_string(),
    })
}

/// A program in one module, compiled with one more flag if there is one.
fn linked(
    layout: &Layout,
    program: &Program,
    llvm: u32,
    file: &str,
    more: Option<&str>,
) -> Result<PathBuf> {
    let folder = folder(layout, llvm)?;
    let raw = folder.join(file);
    let promoted = raw.with_extension("bc");
    if promoted.is_file() {
        return Ok(raw);
    }
    let (mut files, mut jobs) = (Vec::new(), Vec::new());
    for (index, source) in sources(layout, program)?.iter().enumerate() {
        let file = folder.join(format!("{file}.{index}.bc"));
        let clang = Job::new(tool("clang", llvm)?).args(FLAGS).arg(&file).args(more);
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
