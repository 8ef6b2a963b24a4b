//! The part of the command line that is about on-stack replacement.

use crate::{seeds, select};
use clap::Subcommand;
use midflight_bench::layout::Layout;
use midflight_bench::osr::fuzz::Level;
use midflight_bench::osr::{csmith, fuzz};
use midflight_bench::program::Size;
use midflight_bench::tally::Tally;

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
    },
    /// Check that random programs print the same checksum whichever points fire
    Csmith {
        /// Seeds, as A..B
        #[arg(long, default_value = "0..50", value_parser = seeds)]
        seeds: std::ops::Range<u64>,
        /// Versions of LLVM
        #[arg(long, value_delimiter = ',', default_value = "22,19")]
        llvm: Vec<u32>,
        /// At most so many points of a function; 0 for all
        #[arg(long, default_value_t = 60)]
        max_points: u32,
        /// So many points of a build are fired one by one
        #[arg(long, default_value_t = 3)]
        single: usize,
        /// How many seeds at a time
        #[arg(long, default_value_t = 2)]
        jobs: usize,
    },
}

/// True if all checks passed.
pub fn act(layout: &Layout, action: OsrAction) -> anyhow::Result<bool> {
    let most = |points: u32| (points > 0).then_some(points);
    match action {
        OsrAction::Fuzz { programs, llvm, levels, max_points, single, seconds, seed, all } => {
            let max_points = most(max_points);
            let mut plan =
                fuzz::Plan { llvm, levels, max_points, single, seconds, size: Size::Tiny, seed };
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
            fuzz::mutant(layout, &midflight_bench::corpus::EXCEPTIONS, &plan, &mut tally)?;
            Ok(Tally::close(&tally, "osr fuzz"))
        }
        OsrAction::Csmith { seeds, llvm, max_points, single, jobs } => {
            let plan = csmith::Plan { seeds, llvm, max_points: most(max_points), single, jobs };
            Ok(csmith::csmith(layout, &plan)?.close("osr csmith"))
        }
    }
}
