//! Compiling small programs with points, in one command.

use crate::error::Result;
use crate::layout::Layout;
use crate::llvm::tool;
use crate::process::Job;
use crate::variant::with_plugin;
use std::path::{Path, PathBuf};

/// How to compile.
#[derive(Clone, Debug)]
pub struct Compile {
    /// Version of LLVM
    pub llvm: u32,
    /// Level of optimization
    pub opt: u32,
    /// Options of the plugin, as `osr-point;…`; none to compile without it
    pub points: Option<String>,
    /// Flags of the compiler and the linker
    pub flags: Vec<String>,
}

impl Compile {
    /// Compiles and links sources.
    ///
    /// # Errors
    /// If tools are missing, or the compiler fails.
    pub fn run(&self, layout: &Layout, sources: &[PathBuf], output: &Path) -> Result<()> {
        let clang = Job::new(tool("clang", self.llvm)?).args(layout.machine.flags());
        let mut job = clang.arg(format!("-O{}", self.opt)).limit(300);
        if let Some(points) = &self.points {
            job = with_plugin(layout, self.llvm, job, points)?;
        }
        job = job.args(sources);
        if self.points.is_some() {
            // Points that ask the runtime for nothing do not have it linked.
            job = job.arg("-Wl,--undefined=midflight_image").arg(layout.runtime()?);
        }
        job.args(&self.flags).arg("-o").arg(output).expect_success()?;
        Ok(())
    }
}
