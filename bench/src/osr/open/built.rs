//! The ways in which a program is built and run.

use crate::error::{Result, io};
use crate::layout::Layout;
use crate::llvm::tool;
use crate::osr::open::works::Work;
use crate::process::Job;
use crate::variant::driver;
use std::path::PathBuf;

/// How a program is built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Way {
    /// By clang alone
    Native,
    /// By clang, specialized by hand
    Hand,
    /// By `midflight cc`, with these points
    Points(String),
}

/// When versions are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Compile {
    /// Never
    Never,
    /// By the thread that fires, which waits
    Now,
    /// By a thread of its own
    Background,
}

impl Compile {
    /// All of them.
    pub const ALL: [Compile; 3] = [Compile::Never, Compile::Now, Compile::Background];

    /// What `MIDFLIGHT_OSR_COMPILE` is set to.
    pub fn name(self) -> &'static str {
        match self {
            Compile::Never => "never",
            Compile::Now => "now",
            Compile::Background => "background",
        }
    }
}

/// What a program is built with.
#[derive(Clone, Copy, Debug)]
pub struct With<'a> {
    /// Where things are
    pub layout: &'a Layout,
    /// Version of LLVM
    pub llvm: u32,
    /// Level of optimization
    pub opt: u32,
}

impl With<'_> {
    /// Builds a program's source; `name` tells this executable from others of it.
    ///
    /// # Errors
    /// If tools are missing, or the compiler fails.
    pub fn build(&self, work: &Work, name: &str, way: &Way) -> Result<PathBuf> {
        let With { layout, llvm, opt } = *self;
        let folder = layout.work().join("osr-open");
        std::fs::create_dir_all(&folder).map_err(io("making the folder", &folder))?;
        let row = work.name.replace(", ", "-").replace(' ', "-");
        let output = folder.join(format!("{row}-llvm{llvm}-O{opt}-{name}"));
        let clang = || Ok(Job::new(tool("clang", llvm)?).args(layout.machine.flags()).limit(300));
        let job = match way {
            Way::Native => clang()?,
            Way::Hand => clang()?.args(work.hand),
            Way::Points(points) => {
                driver(layout, llvm)?.arg(format!("--midflight-osr-point={points}"))
            }
        };
        let source = layout.corpus().join(format!("open/{}.c", work.source));
        let job = job.arg(format!("-O{opt}")).args(work.flags).arg(source).arg("-lm");
        job.arg("-o").arg(&output).expect_success()?;
        Ok(output)
    }
}

/// The job that runs a built program, with a share of the full work in percent.
pub fn job(work: &Work, executable: PathBuf, percent: u64) -> Job {
    Job::new(executable).args(work.arguments(percent)).limit(600)
}

/// The same where versions are made at some time.
pub fn making(job: &Job, compile: Compile) -> Job {
    job.clone().env("MIDFLIGHT_OSR_COMPILE", compile.name())
}
