//! The part of the command line that is about on-stack replacement.

use crate::{seeds, select};
use clap::Subcommand;
use midflight_bench::error::write;
use midflight_bench::layout::Layout;
use midflight_bench::osr::fuzz::Level;
use midflight_bench::osr::fuzzed::To;
use midflight_bench::osr::maps::modules::WHOLE;
use midflight_bench::osr::maps::{self, What};
use midflight_bench::osr::open::{self, gain, idle, latency};
use midflight_bench::osr::{
    cost, csmith, deopt, entry, flags, fuzz, insertion, open_fuzz, points, stack,
};
use midflight_bench::program::Size;
use std::path::PathBuf;

/// What about on-stack replacement.
#[derive(Subcommand)]
pub enum OsrAction {
    /// Check that programs do the same whichever points fire, and that a mutant is caught
    Fuzz {
        /// Names, or `light` or `all`
        #[arg(long, value_delimiter = ',', default_value = "bzip2,lua,zlib,exceptions")]
        programs: Vec<String>,
        /// Versions of LLVM
        #[arg(long, value_delimiter = ',', default_value = "22")]
        llvm: Vec<u32>,
        /// Levels of optimization with their stages
        #[arg(long, value_delimiter = ',', default_value = "0:early,2:late")]
        levels: Vec<Level>,
        /// Points lead into the version that these passes make, and back; without, into the same
        /// code
        #[arg(long, value_name = "PIPELINE")]
        passes: Option<String>,
        /// At most so many points of a function; 0 for all
        #[arg(long, default_value_t = 100)]
        max_points: u32,
        /// So many points are fired one by one, spread over all that are reached
        #[arg(long, default_value_t = 20)]
        single: usize,
        /// Points of a build are fired one by one for so long
        #[arg(long, default_value_t = 10)]
        seconds: u64,
        /// Seed of random firing
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// All light programs, both LLVMs, all levels, and each point for itself as far as the
        /// seconds last
        #[arg(long, conflicts_with_all = ["programs", "llvm", "levels", "single"])]
        all: bool,
        /// Do not build the mutants that must be noticed, as another run does that
        #[arg(long)]
        no_mutants: bool,
    },
    /// Check that random programs print the same checksum whichever points fire
    Csmith {
        /// Seeds, as A..B
        #[arg(long, default_value = "0..50", value_parser = seeds)]
        seeds: std::ops::Range<u64>,
        /// Versions of LLVM
        #[arg(long, value_delimiter = ',', default_value = "22,19")]
        llvm: Vec<u32>,
        /// Points lead into the version that these passes make, and back; without, into the same
        /// code
        #[arg(long, value_name = "PIPELINE")]
        passes: Option<String>,
        /// At most so many points of a function; 0 for all
        #[arg(long, default_value_t = 40)]
        max_points: u32,
        /// So many points of a build are fired one by one
        #[arg(long, default_value_t = 3)]
        single: usize,
        /// Small programs, each of which is built once: versions of LLVM and levels take turns
        #[arg(long)]
        small: bool,
    },
    /// Check that programs whose calls have frames of their own base versions do the same,
    /// whichever are deoptimized
    Deopt {
        /// Names, or `light` or `all`
        #[arg(long, value_delimiter = ',', default_value = "bzip2,lua,zlib,exceptions")]
        programs: Vec<String>,
        /// Versions of LLVM
        #[arg(long, value_delimiter = ',', default_value = "22,19")]
        llvm: Vec<u32>,
        /// When points fire
        #[arg(long, value_delimiter = ',', default_value = "always,every:3,count:2")]
        when: Vec<String>,
    },
    /// Check that random programs that call what they get print the same, whatever versions are
    /// made
    OpenFuzz {
        /// Seeds, as A..B
        #[arg(long, default_value = "0..50", value_parser = seeds)]
        seeds: std::ops::Range<u64>,
        /// Versions of LLVM
        #[arg(long, value_delimiter = ',', default_value = "22,19")]
        llvm: Vec<u32>,
        /// Build each seed with all generators and conditions at -O0 and -O2
        #[arg(long)]
        all: bool,
        /// Versions of so many points of a build are left at single checks
        #[arg(long, default_value_t = 1)]
        single: usize,
    },
    /// Build and verify the continuation at every point, and count refusals by reason
    Points {
        /// Names, or `light` or `all`
        #[arg(
            long,
            value_delimiter = ',',
            default_value = "bzip2,lua,zlib,lz4,expat,xz,tree-sitter,exceptions"
        )]
        programs: Vec<String>,
        /// Version of LLVM
        #[arg(long, default_value_t = 22)]
        llvm: u32,
        /// So many random programs
        #[arg(long, default_value_t = 20)]
        random: u64,
        /// A module may take so many seconds
        #[arg(long, default_value_t = 600)]
        seconds: u64,
        /// Write the report to this file, too
        #[arg(long)]
        write: Option<PathBuf>,
    },
    /// Evaluate mappings between functions and what passes make of them (thesis 5.4)
    Maps {
        /// Versions of LLVM; time is measured with the first
        #[arg(long, value_delimiter = ',', default_value = "22,19")]
        llvm: Vec<u32>,
        /// What to look at
        #[arg(long, value_delimiter = ',', default_value = "functions,pipelines,executed,time")]
        what: Vec<What>,
        /// Only this pipeline of those of whole modules; several times for several
        #[arg(long = "passes")]
        only: Vec<String>,
        /// Programs that are woven
        #[arg(long, value_delimiter = ',', default_values = WHOLE)]
        programs: Vec<String>,
        /// Rounds of a measurement
        #[arg(long, default_value_t = 5)]
        rounds: usize,
        /// Put the tables into this document, too
        #[arg(long)]
        write: Option<PathBuf>,
    },
    /// Check that the stack does not grow, however often an activation moves
    Stack {
        /// Versions of LLVM
        #[arg(long, value_delimiter = ',', default_value = "22,19")]
        llvm: Vec<u32>,
        /// So many moves
        #[arg(long, default_value_t = 10_000_000)]
        transitions: u64,
    },
    /// Measure points that never fire, and transitions (thesis 5.3)
    Cost {
        /// Version of LLVM
        #[arg(long, default_value_t = 22)]
        llvm: u32,
        /// What to measure
        #[arg(long, value_delimiter = ',', default_value = "points,transitions,insertion")]
        what: Vec<Cost>,
        /// Pairs of runs
        #[arg(long, default_value_t = 15)]
        pairs: usize,
        /// Transitions of a run
        #[arg(long, default_value_t = 1_000_000_000)]
        transitions: u64,
        /// Little work and few pairs: a look, not a measurement
        #[arg(long)]
        quick: bool,
    },
    /// Measure versions that are made while a program runs, or check that they change nothing
    Open {
        /// Versions of LLVM; time is measured with the first
        #[arg(long, value_delimiter = ',', default_value = "22,19")]
        llvm: Vec<u32>,
        /// Only check that programs do the same
        #[arg(long)]
        check: bool,
        /// Levels of optimization that are checked; time is measured at 2
        #[arg(long, value_delimiter = ',', default_value = "0,1,2,3")]
        opt: Vec<u32>,
        /// What to measure
        #[arg(long, value_delimiter = ',', default_value = "gain,idle,latency")]
        what: Vec<Open>,
        /// Beginnings of names of programs, as the tables have them; all if not given
        #[arg(long, value_delimiter = ',')]
        programs: Vec<String>,
        /// Rounds: each runs all ways in turn
        #[arg(long, default_value_t = 5)]
        pairs: usize,
        /// Little work and few rounds: a look, not a measurement
        #[arg(long)]
        quick: bool,
    },
}

/// What of open points to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Open {
    /// What versions gain
    Gain,
    /// What points cost that never fire
    Idle,
    /// How long fires take
    Latency,
}

/// What to measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Cost {
    /// Q1: the slowdown by a point that never fires
    Points,
    /// Q2: the time of a transition
    Transitions,
    /// Q3: the time to insert a point and to build its continuation
    Insertion,
    /// The speed of code that is entered in the middle, by `osr-opt<up=entry>`
    Entry,
    /// What versions take longer by flags that they lose, by `osr-opt<alone=…>`
    Flags,
}

/// Programs whose functions get points for Q3.
const INSERTED: [&str; 11] = [
    "binary-trees",
    "fannkuch",
    "fasta",
    "fasta-redux",
    "mandelbrot",
    "n-body",
    "reverse-complement",
    "spectral-norm",
    "bzip2",
    "zlib",
    "exceptions",
];

/// Programs whose functions lose flags.
const FLAGGED: [&str; 13] = [
    "bzip2",
    "lua",
    "zlib",
    "lz4",
    "expat",
    "xz",
    "fannkuch",
    "mandelbrot",
    "n-body",
    "spectral-norm",
    "lu",
    "suffix-sort",
    "connect4",
];

/// Where points lead. The pipeline is kept as long as this process runs.
fn to(passes: Option<String>) -> To {
    passes.map_or(To::Same, |passes| To::Optimized(passes.leak()))
}

/// True if all checks passed.
pub fn act(layout: &Layout, action: OsrAction) -> anyhow::Result<bool> {
    let most = |points: u32| (points > 0).then_some(points);
    match action {
        OsrAction::Fuzz {
            programs,
            llvm,
            levels,
            passes,
            max_points,
            single,
            seconds,
            seed,
            all,
            no_mutants,
        } => {
            let (to, max_points, size) = (to(passes), most(max_points), Size::Tiny);
            let mut plan = fuzz::Plan { llvm, levels, to, max_points, single, seconds, size, seed };
            let mut programs = select(&programs)?;
            if all {
                programs = select(&["light".to_string(), "exceptions".to_string()])?;
                plan.llvm = vec![22, 19];
                plan.levels = ["0:early", "2:early", "2:late"]
                    .iter()
                    .filter_map(|level| level.parse().ok())
                    .collect();
                plan.single = usize::MAX;
            }
            let mut tally = fuzz::fuzz(layout, &programs, &plan)?;
            if !no_mutants {
                fuzz::mutants(layout, &programs, &plan, &mut tally)?;
            }
            Ok(tally.close("osr fuzz"))
        }
        OsrAction::Points { programs, llvm, random, seconds, write: to } => {
            let plan = points::Plan { llvm, random, seconds };
            let (text, tally) = points::points(layout, &select(&programs)?, &plan)?;
            println!("{text}");
            write(&layout.work().join("osr-points.md"), text.as_bytes())?;
            to.map_or(Ok(()), |file| write(&file, text.as_bytes()))?;
            Ok(tally.close("osr points"))
        }
        OsrAction::Maps { llvm, what, only, programs, rounds, write: to } => {
            let plan = maps::Plan { llvm, what, only, programs, rounds };
            let (text, tally) = maps::maps(layout, &plan)?;
            println!("{text}");
            write(&layout.work().join("osr-maps.md"), text.as_bytes())?;
            to.map_or(Ok(()), |file| maps::renew(&file, &text))?;
            Ok(tally.close("osr maps"))
        }
        OsrAction::Stack { llvm, transitions } => {
            Ok(stack::stack(layout, &llvm, transitions)?.close("osr stack"))
        }
        OsrAction::Cost { llvm, what, pairs, transitions, quick } => {
            let mut plan = cost::Plan { llvm, pairs, transitions, work: 40 };
            if quick {
                plan = cost::Plan { pairs: 3, transitions: 50_000_000, work: 20, ..plan };
            }
            let mut text = String::new();
            for what in what {
                text += &match what {
                    Cost::Points => cost::never_firing(layout, &plan)?,
                    Cost::Transitions => cost::transitions(layout, &plan)?,
                    Cost::Entry => entry::entry(layout, &plan)?,
                    Cost::Flags => {
                        flags::flags(layout, &plan, &select(&FLAGGED.map(str::to_string))?)?
                    }
                    Cost::Insertion => {
                        insertion::insertion(layout, llvm, &select(&INSERTED.map(str::to_string))?)?
                    }
                };
                text += "\n";
            }
            println!("{text}");
            write(&layout.work().join("osr-cost.md"), text.as_bytes())?;
            Ok(true)
        }
        OsrAction::Open { llvm, check: true, opt, .. } => {
            Ok(open::check::check(layout, &llvm, &opt)?.close("osr open"))
        }
        OsrAction::Open { llvm, what, programs, pairs, quick, .. } => {
            let Some(&llvm) = llvm.first() else { return Ok(true) };
            let (pairs, work) = if quick { (3, 20) } else { (pairs, 100) };
            let plan = open::Plan { llvm, pairs, work, only: programs };
            let mut text = String::new();
            for what in what {
                text += &match what {
                    Open::Gain => gain::gain(layout, &plan)?,
                    Open::Idle => idle::idle(layout, &plan)?,
                    Open::Latency => latency::latency(layout, &plan)?,
                };
                text += "\n";
            }
            println!("{text}");
            write(&layout.work().join("osr-open.md"), text.as_bytes())?;
            Ok(true)
        }
        OsrAction::OpenFuzz { seeds, llvm, all, single } => {
            let plan = open_fuzz::Plan { seeds, llvm, all, single };
            Ok(open_fuzz::open_fuzz(layout, &plan)?.close("osr open-fuzz"))
        }
        OsrAction::Deopt { programs, llvm, when } => {
            let plan = deopt::Plan { llvm, when, size: Size::Tiny };
            Ok(deopt::deopt(layout, &select(&programs)?, &plan)?.close("osr deopt"))
        }
        OsrAction::Csmith { seeds, llvm, passes, max_points, single, small } => {
            let (to, max_points) = (to(passes), most(max_points));
            let plan = csmith::Plan { seeds, llvm, to, max_points, single, is_small: small };
            Ok(csmith::csmith(layout, &plan)?.close("osr csmith"))
        }
    }
}
