//! The ways in which a program of the corpus is compiled.

use crate::error::Result;
use crate::layout::Layout;
use crate::llvm::tool;
use crate::machine::Machine;
use crate::osr::flags::Alone;
use crate::osr::fuzzed::Fuzzed;
use crate::process::Job;
pub use midflight_profile::table::Stage;
use std::path::PathBuf;

/// How sequences of paths are counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Algorithm {
    /// By the automaton
    #[default]
    Automaton,
    /// By Algorithm 4 of the thesis as it was published
    Published,
}

/// A second instrumentation that the first is checked against.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Oracle {
    /// A plain counter on every edge
    Edges,
    /// A log of every block
    Blocks,
    /// A stack of activations that the unwinder confirms, for calling contexts
    Contexts,
}

impl Oracle {
    /// The oracle's own source, in the project.
    pub fn source(self) -> &'static str {
        match self {
            Oracle::Edges | Oracle::Blocks => "bench/oracle/oracle.c",
            Oracle::Contexts => "bench/oracle/contexts.c",
        }
    }
}

/// How gcc compiles a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gcc {
    /// Plainly
    Native,
    /// With `-pg`, for gprof
    CallGraph,
    /// With [`HOOKS`], called as the thesis's profiler is
    Hooks,
}

/// The functions that are called at each entry and exit, and do nothing.
const HOOKS: &str = "bench/corpus/contexts/hooks.c";

/// What is done to a program besides compiling it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum How {
    /// Nothing
    Native,
    /// Path profiling, by `midflight cc`
    Paths {
        /// Up to how many acyclic paths
        k: u32,
        /// When
        stage: Stage,
        /// How
        algorithm: Algorithm,
    },
    /// Path profiling, by clang with the plugin, which also verifies its work, and an oracle
    Checked {
        /// Up to how many acyclic paths
        k: u32,
        /// When
        stage: Stage,
        /// Which oracle
        oracle: Oracle,
    },
    /// Calling contexts, by `midflight cc`
    Contexts {
        /// When
        stage: Stage,
        /// More options of the command
        options: &'static [&'static str],
    },
    /// clang's `-pg`, for gprof
    CallGraph,
    /// Functions that do nothing, called where functions are entered and left: by clang, behind
    /// inlining
    Hooks,
    /// By another compiler
    Gcc(Gcc),
    /// Fireable OSR points everywhere, by clang with the plugin, which also verifies its work
    Fuzzed(Fuzzed),
    /// One of `osr-opt`'s versions by itself, by clang with the plugin, which verifies its work
    Alone(Alone),
    /// clang's instrumentation of the IR (`-fprofile-generate`)
    IrCounters,
    /// clang's instrumentation of the source (`-fprofile-instr-generate`)
    SourceCounters,
    /// clang's source-based coverage
    Coverage,
    /// Optimized for a path profile, by `midflight cc`
    PathsUsed,
    /// Optimized for the counters of `-fprofile-generate`
    IrUsed,
    /// Optimized for a profile of samples
    SamplesUsed,
}

impl How {
    /// Path profiling by the automaton.
    pub fn paths(k: u32, stage: Stage) -> How {
        How::Paths { k, stage, algorithm: Algorithm::Automaton }
    }

    /// Sequences of up to so many paths are profiled; 0 if none are.
    pub fn k(self) -> u32 {
        match self {
            How::Paths { k, .. } | How::Checked { k, .. } => k,
            _ => 0,
        }
    }

    /// Path profiling by Algorithm 4 as published.
    pub fn published(k: u32, stage: Stage) -> How {
        How::Paths { k, stage, algorithm: Algorithm::Published }
    }
}

/// A way to compile.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Variant {
    /// Version of LLVM
    pub llvm: u32,
    /// Level of optimization, 0 to 3
    pub opt: u32,
    /// What else
    pub how: How,
}

impl std::fmt::Display for Algorithm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Algorithm::Automaton => "automaton",
            Algorithm::Published => "published",
        })
    }
}

impl std::fmt::Display for Variant {
    /// A name that can be part of a file's name.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "llvm{}-O{}-", self.llvm, self.opt)?;
        match self.how {
            How::Native => f.write_str("native"),
            How::Paths { k, stage, algorithm: Algorithm::Automaton } => write!(f, "k{k}-{stage}"),
            How::Paths { k, stage, algorithm: Algorithm::Published } => {
                write!(f, "k{k}-{stage}-published")
            }
            How::Checked { k, stage, oracle: Oracle::Edges } => write!(f, "k{k}-{stage}-edges"),
            How::Checked { k, stage, oracle: Oracle::Blocks } => write!(f, "k{k}-{stage}-blocks"),
            How::Checked { stage, oracle: Oracle::Contexts, .. } => write!(f, "{stage}-contexts"),
            How::Contexts { stage, options } => {
                write!(f, "{stage}-cct")?;
                let name = |option: &&'static str| option.trim_start_matches("--midflight-");
                options.iter().try_for_each(|option| write!(f, "-{}", name(option)))
            }
            How::CallGraph => f.write_str("pg"),
            How::Hooks => f.write_str("hooks"),
            How::Gcc(Gcc::Native) => f.write_str("gcc"),
            How::Gcc(Gcc::CallGraph) => f.write_str("gcc-pg"),
            How::Gcc(Gcc::Hooks) => f.write_str("gcc-hooks"),
            How::Fuzzed(fuzzed) => fuzzed.fmt(f),
            How::Alone(alone) => alone.fmt(f),
            How::IrCounters => f.write_str("ir-counters"),
            How::SourceCounters => f.write_str("source-counters"),
            How::Coverage => f.write_str("coverage"),
            How::PathsUsed => f.write_str("paths-used"),
            How::IrUsed => f.write_str("ir-used"),
            How::SamplesUsed => f.write_str("samples-used"),
        }
    }
}

/// Commands of a variant: what compiles a file, and what links.
#[derive(Clone, Debug)]
pub struct Toolchain {
    compile: Job,
    link: Job,
    /// Put behind the objects when linking
    libraries: Vec<PathBuf>,
    /// A source of the project's own that is compiled plainly, and linked
    pub companion: Option<&'static str>,
}

impl Toolchain {
    /// Finds the commands of a variant.
    ///
    /// # Errors
    /// If a tool is missing.
    pub fn find(layout: &Layout, variant: Variant) -> Result<Toolchain> {
        let clang = tool("clang", variant.llvm)?;
        let opt = format!("-O{}", variant.opt);
        let plain = Job::new(&clang).args(layout.machine.flags()).arg(&opt).limit(1800);
        let simple = |flags: &[&str]| Toolchain {
            compile: plain.clone().args(flags),
            link: plain.clone().args(flags),
            libraries: Vec::new(),
            companion: None,
        };
        Ok(match variant.how {
            How::Native | How::IrUsed => simple(&[]),
            How::SamplesUsed => simple(&["-g", "-mllvm", "-no-discriminators"]),
            How::PathsUsed => {
                let command = driver(layout, variant.llvm)?.arg(&opt);
                let link = command.clone();
                Toolchain { compile: command, link, libraries: Vec::new(), companion: None }
            }
            How::CallGraph => simple(&["-pg"]),
            How::Hooks => Toolchain {
                companion: Some(HOOKS),
                ..simple(&["-finstrument-functions-after-inlining"])
            },
            How::Gcc(gcc) => {
                let flags: &[&str] = match gcc {
                    Gcc::Native => &[],
                    Gcc::CallGraph => &["-pg"],
                    Gcc::Hooks => &["-finstrument-functions"],
                };
                let command = Job::new("gcc").arg(&opt).args(flags).limit(1800);
                Toolchain {
                    compile: command.clone(),
                    link: command,
                    libraries: Vec::new(),
                    companion: (gcc == Gcc::Hooks).then_some(HOOKS),
                }
            }
            How::Contexts { stage, options } => {
                let command = driver(layout, variant.llvm)?
                    .arg("--midflight-contexts")
                    .arg(format!("--midflight-stage={stage}"))
                    .args(options)
                    .arg(&opt);
                let link = command.clone();
                Toolchain { compile: command, link, libraries: Vec::new(), companion: None }
            }
            How::IrCounters => simple(&["-fprofile-generate"]),
            How::SourceCounters => simple(&["-fprofile-instr-generate"]),
            How::Coverage => {
                simple(&["-gline-tables-only", "-fprofile-instr-generate", "-fcoverage-mapping"])
            }
            How::Paths { k, stage, algorithm } => {
                let command = driver(layout, variant.llvm)?
                    .arg(format!("--midflight-k={k}"))
                    .arg(format!("--midflight-stage={stage}"))
                    .arg(format!("--midflight-algorithm={algorithm}"))
                    .arg(&opt);
                let link = command.clone();
                Toolchain { compile: command, link, libraries: Vec::new(), companion: None }
            }
            How::Checked { k, stage, oracle } => {
                let options = match oracle {
                    Oracle::Edges => format!("k={k};stage={stage};verify;oracle=edges"),
                    Oracle::Blocks => format!("k={k};stage={stage};verify;oracle=blocks"),
                    Oracle::Contexts => format!("contexts;stage={stage};verify;oracle"),
                };
                let compile = plain.clone().arg("-gline-tables-only");
                Toolchain {
                    compile: with_plugin(layout, variant.llvm, compile, &options)?,
                    link: plain,
                    libraries: vec![layout.runtime()?],
                    companion: Some(oracle.source()),
                }
            }
            How::Fuzzed(fuzzed) => Toolchain {
                compile: with_plugin(layout, variant.llvm, plain.clone(), &fuzzed.options())?,
                link: plain,
                libraries: vec![layout.runtime()?],
                companion: None,
            },
            How::Alone(alone) => Toolchain {
                compile: with_plugin(layout, variant.llvm, plain.clone(), &alone.options())?,
                ..simple(&[])
            },
        })
    }

    /// The same with flags for compiling and linking.
    pub fn with_flags(mut self, flags: &[String]) -> Toolchain {
        self.compile = self.compile.args(flags);
        self.link = self.link.args(flags);
        self
    }

    /// The job that compiles one file to an object.
    pub fn compile(
        &self,
        flags: &[String],
        source: &std::path::Path,
        object: &std::path::Path,
    ) -> Job {
        self.compile.clone().args(flags).arg("-c").arg(source).arg("-o").arg(object)
    }

    /// The job that makes an executable of one file.
    pub fn compile_and_link(
        &self,
        flags: &[String],
        source: &std::path::Path,
        output: &std::path::Path,
    ) -> Job {
        let job = self.compile.clone().args(flags).arg(source).args(&self.libraries);
        job.arg("-o").arg(output)
    }

    /// The job that links objects.
    pub fn link(&self, objects: &[PathBuf], flags: &[&str], output: &std::path::Path) -> Job {
        self.link.clone().args(objects).args(&self.libraries).args(flags).arg("-o").arg(output)
    }
}

/// `midflight cc` with a version of LLVM, for the machine.
///
/// # Errors
/// If the command is not built.
pub fn driver(layout: &Layout, llvm: u32) -> Result<Job> {
    let mut job = Job::new(layout.midflight()?).arg("cc").limit(1800);
    if layout.machine != Machine::Host {
        job = job.env("MIDFLIGHT_LIB_DIR", layout.library());
    }
    Ok(job.arg(format!("--midflight-llvm={llvm}")).args(layout.machine.flags()))
}

/// Has clang load the plugin, with these options.
///
/// # Errors
/// If the plugin is not built.
pub fn with_plugin(layout: &Layout, llvm: u32, clang: Job, options: &str) -> Result<Job> {
    let plugin = layout.plugin(llvm)?.display().to_string();
    let clang = clang.arg(format!("-fpass-plugin={plugin}"));
    // LLVM 19 knows the plugin's option only so.
    Ok(clang.arg(format!("-fplugin={plugin}")).arg("-mllvm").arg(format!("-midflight={options}")))
}
