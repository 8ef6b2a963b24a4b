//! The command line of the evaluation.

#![forbid(unsafe_code)]

mod contexts_command;
mod osr_command;

use anyhow::{Context, bail};
use clap::{Parser, Subcommand};
use midflight_bench::builds::projects::{PROJECTS, Project};
use midflight_bench::corpus::{EXCEPTIONS, PROGRAMS};
use midflight_bench::error::write;
use midflight_bench::hot::functions::{FUNCTIONS, Hot};
use midflight_bench::layout::Layout;
use midflight_bench::machine::Machine;
use midflight_bench::memory::Memory;
use midflight_bench::pairs::Clock;
use midflight_bench::program::{Program, Size, Weight};
use midflight_bench::variant::{How, Stage, Variant};
use midflight_bench::verify::{Check, Matrix};
use midflight_bench::{
    accuracy, build, builds, compile_time, coverage, csmith, documentation, fingerprint, hot,
    measure, pgo, suite, verify, workload,
};
use std::path::PathBuf;
use std::process::ExitCode;

/// Evaluates Midflight on real programs: is what it counts right, and what does it cost?
#[derive(Parser)]
#[command(name = "midflight-bench", version)]
struct Arguments {
    /// The checkout; by default the one that the current folder lies in
    #[arg(long, global = true)]
    root: Option<PathBuf>,
    /// So many compilers or checked programs at a time; by default as many as there are processors.
    /// What is timed runs alone
    #[arg(long, short, global = true)]
    jobs: Option<usize>,
    /// What programs are built for, and run on
    #[arg(long, global = true, default_value = "host")]
    machine: Machine,
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Print the programs of the corpus
    List,
    /// Fetch a program's sources and build it plainly; print the command that runs it
    Build {
        /// Names, or `light` or `all`
        #[arg(long, value_delimiter = ',', default_value = "light")]
        programs: Vec<String>,
        /// Version of LLVM
        #[arg(long, default_value_t = 22)]
        llvm: u32,
        /// Level of optimization
        #[arg(long, default_value_t = 2)]
        opt: u32,
    },
    /// Check that instrumented programs do what plain ones do, and that counts are exact
    Verify {
        /// Names, or `light` or `all`
        #[arg(long, value_delimiter = ',', default_value = "light")]
        programs: Vec<String>,
        /// Versions of LLVM
        #[arg(long, value_delimiter = ',', default_value = "22,19")]
        llvm: Vec<u32>,
        /// Levels of optimization
        #[arg(long, value_delimiter = ',', default_value = "0,1,2,3")]
        opt: Vec<u32>,
        /// Stages of the pipeline: early, inlined, late
        #[arg(long, value_delimiter = ',', default_value = "early,late")]
        stage: Vec<Stage>,
        /// What is checked
        #[arg(long, value_delimiter = ',', default_value = "output,edges")]
        check: Vec<Check>,
        /// Sequences of up to so many acyclic paths
        #[arg(long, value_delimiter = ',', default_value = "4")]
        k: Vec<u32>,
    },
    /// Compare profiles for which memory was short with those for which it was not
    Accuracy {
        /// Names, or `light` or `all`
        #[arg(
            long,
            value_delimiter = ',',
            default_value = "bzip2,fannkuch,fasta,sqlite,lua,zstd,miniperl,quickjs"
        )]
        programs: Vec<String>,
        /// Version of LLVM
        #[arg(long, default_value_t = 22)]
        llvm: u32,
        /// Level of optimization
        #[arg(long, default_value_t = 2)]
        opt: u32,
        /// Stage of the pipeline: early, inlined, late
        #[arg(long, default_value = "late")]
        stage: Stage,
        /// Values of k
        #[arg(long, value_delimiter = ',', default_value = "4,8,16")]
        k: Vec<u32>,
        /// Memory for a thread: sizes, and `default`
        #[arg(long, value_delimiter = ',', default_value = "128K,1M,8M,default")]
        memory: Vec<Memory>,
        /// Memory with which nothing is dropped
        #[arg(long, value_name = "SIZE", default_value = "12G")]
        everything: String,
        /// What programs are given to do; by default what `run` gives them for k up to 4, and less
        /// beyond
        #[arg(long)]
        size: Option<Size>,
    },
    /// Compare line counts with clang's coverage, and classify every difference
    Coverage {
        /// Names, or `light` or `all`
        #[arg(long, value_delimiter = ',', default_value = "light")]
        programs: Vec<String>,
        /// Version of LLVM
        #[arg(long, default_value_t = 22)]
        llvm: u32,
        /// Print each line that differs
        #[arg(long)]
        details: bool,
    },
    /// Check that random programs print the same checksum
    Csmith {
        /// Seeds, as A..B
        #[arg(long, default_value = "0..100", value_parser = seeds)]
        seeds: std::ops::Range<u64>,
        /// Versions of LLVM
        #[arg(long, value_delimiter = ',', default_value = "22,19")]
        llvm: Vec<u32>,
        /// Levels of optimization
        #[arg(long, value_delimiter = ',', default_value = "0,2")]
        opt: Vec<u32>,
    },
    /// Check that the programs of compilers' test suites do the same when they are instrumented
    Suite {
        /// What is done to them
        #[arg(long, value_delimiter = ',', default_value = "profile,clone,osr-opt")]
        what: Vec<suite::What>,
        /// Versions of LLVM
        #[arg(long, value_delimiter = ',', default_value = "22,19")]
        llvm: Vec<u32>,
        /// Beginnings of names, as `gcc/gcc.c-torture` or `tcc`; all if not given
        #[arg(long, value_delimiter = ',')]
        programs: Vec<String>,
        /// Only each N-th of these
        #[arg(long, value_name = "N", default_value_t = 1)]
        every: usize,
        /// The passes that make optimized versions
        #[arg(
            long,
            value_name = "PIPELINE",
            default_value = "adce,sccp,early-cse,loop-simplify,lcssa,loop-mssa(licm),sink"
        )]
        passes: String,
        /// At most so many points of a function; 0 for all
        #[arg(long, default_value_t = 60)]
        max_points: u32,
    },
    /// Take checksums of all that is made of the corpus: emitted IR, what analyses print, profiles
    /// and reports. Those of another checkout show whether anything has changed
    Fingerprint {
        /// Names, or `light` or `all`
        #[arg(long, value_delimiter = ',', default_value = "light")]
        programs: Vec<String>,
        /// Versions of LLVM
        #[arg(long, value_delimiter = ',', default_value = "22,19")]
        llvm: Vec<u32>,
        /// Of what
        #[arg(long, value_delimiter = ',', default_value = "ir,prints,reports")]
        what: Vec<fingerprint::What>,
        /// Where to write them; standard output if it is not said
        #[arg(long, short)]
        output: Option<PathBuf>,
        /// Compare with those in a file, and fail if any of the same programs and kinds differs
        #[arg(long, value_name = "FILE")]
        against: Option<PathBuf>,
    },
    /// Extract the hot functions of the thesis's 5.4 as bitcode, into target/hot
    Hot {
        /// Names of the first column; all if not given
        #[arg(long, value_delimiter = ',')]
        only: Vec<String>,
        /// Version of LLVM
        #[arg(long, default_value_t = 22)]
        llvm: u32,
    },
    /// Build whole projects by their own build systems, and run their own test suites
    Builds {
        /// Names, or `all`
        #[arg(long, value_delimiter = ',', default_value = "all")]
        projects: Vec<String>,
        /// Versions of LLVM
        #[arg(long, value_delimiter = ',', default_value = "22")]
        llvm: Vec<u32>,
        /// Stages of the pipeline: early, inlined, late
        #[arg(long, value_delimiter = ',', default_value = "early,late")]
        stage: Vec<Stage>,
    },
    /// Evaluate calling contexts
    Contexts {
        /// What about them
        #[command(subcommand)]
        action: contexts_command::ContextsAction,
    },
    /// Run every command of the documentation
    Documentation,
    /// Evaluate on-stack replacement
    Osr {
        /// What about it
        #[command(subcommand)]
        action: osr_command::OsrAction,
    },
    /// Measure programs that are optimized for their profiles, beside clang's own
    Pgo {
        /// Names, or `light` or `all`
        #[arg(long, value_delimiter = ',', default_value = "all")]
        programs: Vec<String>,
        /// Version of LLVM
        #[arg(long, default_value_t = 22)]
        llvm: u32,
        /// Level of optimization
        #[arg(long, default_value_t = 2)]
        opt: u32,
        /// Stages of the pipeline at which paths are profiled, and the profile used: early,
        /// inlined, late
        #[arg(long, value_delimiter = ',', default_value = "inlined")]
        stage: Vec<Stage>,
        /// Also with sample profiles, as clang takes them: of lines, of calling contexts, and of
        /// both
        #[arg(long)]
        samples: bool,
        /// Rounds: each runs all variants in turn
        #[arg(long, default_value_t = 7)]
        pairs: usize,
        /// Run each once in valgrind's cachegrind, and compare what that counts: no noise
        #[arg(long)]
        simulate: bool,
    },
    /// Measure what instrumentation adds to the time that compiling takes
    CompileTime {
        /// Names, or `light` or `all`
        #[arg(long, value_delimiter = ',', default_value = "bzip2,lua,sqlite,zstd")]
        programs: Vec<String>,
        /// Version of LLVM
        #[arg(long, default_value_t = 22)]
        llvm: u32,
        /// Level of optimization
        #[arg(long, default_value_t = 2)]
        opt: u32,
        /// Stages of the pipeline: early, inlined, late
        #[arg(long, value_delimiter = ',', default_value = "early,late")]
        stage: Vec<Stage>,
        /// Values of k
        #[arg(long, value_delimiter = ',', default_value = "1,4")]
        k: Vec<u32>,
        /// Rounds: each compiles with all variants in turn
        #[arg(long, default_value_t = 3)]
        pairs: usize,
    },
    /// Measure CPU time over native, beside clang's own profilers
    Run {
        /// Names, or `light` or `all`
        #[arg(long, value_delimiter = ',', default_value = "all")]
        programs: Vec<String>,
        /// Version of LLVM
        #[arg(long, default_value_t = 22)]
        llvm: u32,
        /// Level of optimization
        #[arg(long, default_value_t = 2)]
        opt: u32,
        /// Stages of the pipeline, a table for each: early, inlined, late
        #[arg(long, value_delimiter = ',', default_value = "early,late")]
        stage: Vec<Stage>,
        /// Values of k
        #[arg(long, value_delimiter = ',', default_value = "1,2,4,8,16")]
        k: Vec<u32>,
        /// Also with Algorithm 4 of the thesis as published, for k of 2 and more
        #[arg(long)]
        published: bool,
        /// Rounds: each runs all variants in turn
        #[arg(long, default_value_t = 5)]
        pairs: usize,
        /// Small inputs and few rounds: a look, not a measurement
        #[arg(long)]
        quick: bool,
        /// Run each once in valgrind's cachegrind, and compare what that counts: no noise
        #[arg(long, conflicts_with_all = ["quick", "pairs"])]
        simulate: bool,
        /// Tell behind each time how much of all sequences the run has counted. Where that is not
        /// all, the program runs once more, with memory for everything
        #[arg(long)]
        held: bool,
        /// Memory with which nothing is dropped
        #[arg(long, value_name = "SIZE", default_value = "12G")]
        everything: String,
    },
}

fn main() -> ExitCode {
    match act(Arguments::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("midflight-bench: error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// True if all checks passed.
fn act(arguments: Arguments) -> anyhow::Result<bool> {
    let here = std::env::current_dir().context("finding the current folder")?;
    let mut layout = Layout::find(&arguments.root.unwrap_or(here))?;
    layout.machine = arguments.machine;
    // 0 is rayon's word for as many as there are processors.
    let jobs = arguments.jobs.unwrap_or(0);
    rayon::ThreadPoolBuilder::new().num_threads(jobs).build_global().context("starting threads")?;
    match arguments.action {
        Action::List => {
            PROGRAMS.iter().for_each(|program| println!("{} ({:?})", program.name, program.weight));
            Ok(true)
        }
        Action::Build { programs, llvm, opt } => {
            for program in available(&layout, &programs)? {
                let built =
                    build::build(&layout, program, Variant { llvm, opt, how: How::Native })?;
                println!("{}", workload::job(&layout, program, &built, Size::Test)?.command_line());
            }
            Ok(true)
        }
        Action::Verify { programs, llvm, opt, stage, check, k } => {
            let matrix = Matrix { llvm, opt, stage, check, k };
            Ok(verify::verify(&layout, &available(&layout, &programs)?, &matrix)?.close("verify"))
        }
        Action::Accuracy { programs, llvm, opt, stage, k, memory, everything, size } => {
            let everything = Memory::All(everything);
            let plan = accuracy::Plan { llvm, opt, stage, k, memory, everything, size };
            let result = accuracy::accuracy(&layout, &available(&layout, &programs)?, &plan)?;
            let text = accuracy::table(&result.rows);
            println!("{text}");
            write(&layout.work().join("accuracy.md"), text.as_bytes())?;
            let json = serde_json::to_vec_pretty(&result.rows).context("writing the figures")?;
            write(&layout.work().join("accuracy.json"), &json)?;
            result.faults.iter().for_each(|fault| eprintln!("FAILED {fault}"));
            Ok(result.faults.is_empty())
        }
        Action::Coverage { programs, llvm, details } => {
            let result = coverage::coverage(&layout, &available(&layout, &programs)?, llvm)?;
            let text = result.report(details);
            println!("{text}");
            write(&layout.work().join("coverage.md"), text.as_bytes())?;
            Ok(result.tally().close("coverage"))
        }
        Action::Csmith { seeds, llvm, opt } => {
            let plan = csmith::Plan { seeds, llvm, opt };
            Ok(csmith::csmith(&layout, &plan)?.close("csmith"))
        }
        Action::Suite { what, llvm, programs, every, passes, max_points } => {
            let max_points = (max_points > 0).then_some(max_points);
            // Kept as long as this process runs.
            let passes = passes.leak();
            let plan = suite::Plan { what, llvm, programs, every, passes, max_points };
            Ok(suite::suite(&layout, &plan)?.close("suite"))
        }
        Action::Fingerprint { programs, llvm, what, output, against } => {
            let programs = available(&layout, &programs)?;
            let plan = fingerprint::Plan { what, llvm };
            let sums = fingerprint::fingerprint(&layout, &programs, &plan)?;
            let text = fingerprint::to_text(&sums);
            match (output, &against) {
                (Some(file), _) => write(&file, text.as_bytes())?,
                (None, None) => print!("{text}"),
                (None, Some(_)) => {}
            }
            Ok(match against {
                Some(file) => fingerprint::compare(&fingerprint::read_sums(&file)?, &sums),
                None => true,
            })
        }
        Action::Hot { only, llvm } => {
            Ok(hot::hot(&layout, &hot_functions(&only)?, llvm)?.close("hot"))
        }
        Action::Builds { projects, llvm, stage } => {
            let plan = builds::Plan { projects: projects_of(&projects)?, llvm, stages: stage };
            Ok(builds::builds(&layout, &plan)?.close("builds"))
        }
        Action::Documentation => Ok(documentation::documentation(&layout)?.close("documentation")),
        Action::Contexts { action } => contexts_command::act(&layout, action),
        Action::Osr { action } => osr_command::act(&layout, action),
        Action::Pgo { programs, llvm, opt, stage, samples, pairs, simulate } => {
            let clock = clock(pairs, simulate);
            let plan = pgo::Plan { llvm, opt, stages: stage, samples, clock };
            let text = pgo::pgo(&layout, &available(&layout, &programs)?, &plan)?;
            println!("{text}");
            let name = if simulate { "pgo-simulated.md" } else { "pgo.md" };
            write(&layout.work().join(name), text.as_bytes())?;
            Ok(true)
        }
        Action::CompileTime { programs, llvm, opt, stage, k, pairs } => {
            let plan = compile_time::Plan { llvm, opt, stages: stage, k, rounds: pairs };
            let programs = available(&layout, &programs)?;
            let text = compile_time::compile_time(&layout, &programs, &plan)?;
            println!("{text}");
            write(&layout.work().join("compile-time.md"), text.as_bytes())?;
            Ok(true)
        }
        Action::Run {
            programs,
            llvm,
            opt,
            stage,
            k,
            published,
            pairs,
            quick,
            simulate,
            held,
            everything,
        } => {
            let held = held.then_some(Memory::All(everything));
            let programs = available(&layout, &programs)?;
            let clock = clock(if quick { 3 } else { pairs }, simulate);
            let size = if quick { Size::Test } else { clock.size() };
            let name = if simulate { "table-simulated.md" } else { "table.md" };
            let mut text = String::new();
            for stage in stage {
                let (k, held) = (k.clone(), held.clone());
                let plan = measure::Plan { llvm, opt, stage, k, published, clock, size, held };
                text += &measure::measure(&layout, &programs, &plan)?;
                text += "\n";
                write(&layout.work().join(name), text.as_bytes())?;
            }
            println!("{text}");
            Ok(true)
        }
    }
}

fn clock(rounds: usize, simulate: bool) -> Clock {
    if simulate { Clock::Simulated } else { Clock::Processor { rounds } }
}

/// The programs of these names whose sources are available.
fn available(layout: &Layout, names: &[String]) -> anyhow::Result<Vec<&'static Program>> {
    let mut programs = Vec::new();
    for program in select(names)? {
        programs.extend(program.origin.fetch_or_skip(layout, program.name)?.map(|_| program));
    }
    Ok(programs)
}

/// The programs of these names.
fn select(names: &[String]) -> anyhow::Result<Vec<&'static Program>> {
    let mut programs = Vec::new();
    for name in names {
        match name.as_str() {
            "all" => programs.extend(PROGRAMS),
            "light" => programs.extend(PROGRAMS.iter().filter(|p| p.weight == Weight::Light)),
            "exceptions" => programs.push(&EXCEPTIONS),
            _ => match PROGRAMS.iter().find(|program| program.name == name) {
                Some(program) => programs.push(program),
                None => bail!(
                    "choosing programs: there is no '{name}'; 'midflight-bench list' prints them"
                ),
            },
        }
    }
    Ok(programs)
}

/// The projects of these names.
fn projects_of(names: &[String]) -> anyhow::Result<Vec<&'static Project>> {
    let mut projects = Vec::new();
    for name in names {
        match PROJECTS.iter().find(|project| project.name == name) {
            Some(project) => projects.push(project),
            None if name == "all" => projects.extend(PROJECTS),
            None => {
                let known: Vec<&str> = PROJECTS.iter().map(|project| project.name).collect();
                bail!("choosing projects: there is no '{name}'; there are {}", known.join(", "));
            }
        }
    }
    Ok(projects)
}

/// The hot functions of these names, or all.
fn hot_functions(names: &[String]) -> anyhow::Result<Vec<&'static Hot>> {
    let is_known = |name: &str| FUNCTIONS.iter().any(|hot| hot.name == name);
    if let Some(name) = names.iter().find(|name| !is_known(name)) {
        let known: Vec<&str> = FUNCTIONS.iter().map(|hot| hot.name).collect();
        bail!("choosing functions: there is no '{name}'; there are {}", known.join(", "));
    }
    let is_chosen = |hot: &&Hot| names.is_empty() || names.iter().any(|name| name == hot.name);
    Ok(FUNCTIONS.iter().filter(is_chosen).collect())
}

fn seeds(text: &str) -> Result<std::ops::Range<u64>, String> {
    let range = text.split_once("..").and_then(|(a, b)| Some(a.parse().ok()?..b.parse().ok()?));
    match range {
        Some(range) if range.start < range.end => Ok(range),
        _ => Err("seeds are given as A..B with A below B, as in 0..100".to_string()),
    }
}
