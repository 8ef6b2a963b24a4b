//! The part of the command line that is about calling contexts.

use crate::{available, clock};
use clap::Subcommand;
use midflight_bench::contexts::{accuracy, bound, calls, cost, programs};
use midflight_bench::error::write;
use midflight_bench::layout::Layout;
use midflight_bench::memory::Memory;
use midflight_bench::program::{Program, Size};

/// What about calling contexts.
#[derive(Subcommand)]
pub enum ContextsAction {
    /// Compare hot contexts in bounded memory with all of them, by the metrics of the thesis's
    /// 5.1.2
    Accuracy {
        /// Names; `nested` for all programs that have very many contexts, or one of theirs
        #[arg(long, value_delimiter = ',', default_value = "nested")]
        programs: Vec<String>,
        /// Version of LLVM
        #[arg(long, default_value_t = 22)]
        llvm: u32,
        /// Level of optimization
        #[arg(long, default_value_t = 2)]
        opt: u32,
        /// Thresholds of hotness
        #[arg(long, value_delimiter = ',', default_value = "1e-3,1e-4,1e-5,1e-6,1e-7")]
        phi: Vec<f64>,
        /// Memory with which nothing is dropped
        #[arg(long, value_name = "SIZE", default_value = "12G")]
        everything: String,
        /// Small inputs
        #[arg(long)]
        quick: bool,
    },
    /// Measure CPU time over native, and what an activation adds
    Cost {
        /// Names, `light`, `all`, or `nested` for programs that have very many contexts
        #[arg(long, value_delimiter = ',', default_value = "all,tcc,gnugo")]
        programs: Vec<String>,
        /// Version of LLVM
        #[arg(long, default_value_t = 22)]
        llvm: u32,
        /// Level of optimization
        #[arg(long, default_value_t = 2)]
        opt: u32,
        /// Rounds: each runs all variants in turn
        #[arg(long, default_value_t = 5)]
        pairs: usize,
        /// Beside other profilers of calls
        #[arg(long)]
        peers: bool,
        /// Small inputs: a look, not a measurement
        #[arg(long)]
        quick: bool,
        /// Run each once in valgrind's cachegrind, and compare what that counts: no noise
        #[arg(long, conflicts_with_all = ["quick", "pairs"])]
        simulate: bool,
    },
    /// Measure what a call adds whose site leads to several functions, in programs and libraries
    Calls {
        /// Version of LLVM
        #[arg(long, default_value_t = 22)]
        llvm: u32,
        /// Level of optimization
        #[arg(long, default_value_t = 2)]
        opt: u32,
        /// Rounds: each runs all variants in turn
        #[arg(long, default_value_t = 5)]
        pairs: usize,
        /// Run each once in valgrind's cachegrind, and compare what that counts: no noise
        #[arg(long, conflicts_with = "pairs")]
        simulate: bool,
    },
    /// Check that a program with ten million contexts is profiled in bounded memory
    Bound {
        /// Version of LLVM
        #[arg(long, default_value_t = 22)]
        llvm: u32,
        /// Level of optimization
        #[arg(long, default_value_t = 2)]
        opt: u32,
        /// Twenty thousand contexts
        #[arg(long)]
        quick: bool,
    },
}

/// True if all checks passed.
pub fn act(layout: &Layout, action: ContextsAction) -> anyhow::Result<bool> {
    match action {
        ContextsAction::Accuracy { programs, llvm, opt, phi, everything, quick } => {
            let size = if quick { Size::Test } else { Size::Bench };
            let plan = accuracy::Plan { llvm, opt, phi, size, everything: Memory::All(everything) };
            let nested = programs::programs();
            let chosen = chosen(layout, &programs, &nested)?;
            let (text, holds) = accuracy::measure(layout, &chosen, &plan)?;
            println!("{text}");
            write(&layout.work().join("contexts-accuracy.md"), text.as_bytes())?;
            Ok(holds)
        }
        ContextsAction::Cost { programs, llvm, opt, pairs, peers, quick, simulate } => {
            let clock = clock(pairs, simulate);
            let size = if quick { Size::Test } else { clock.size() };
            let plan = cost::Plan { llvm, opt, clock, size, peers };
            let nested = programs::programs();
            let chosen = chosen(layout, &programs, &nested)?;
            let text = cost::measure(layout, &chosen, &plan)?;
            println!("{text}");
            let name = if simulate { "contexts-cost-simulated.md" } else { "contexts-cost.md" };
            write(&layout.work().join(name), text.as_bytes())?;
            Ok(true)
        }
        ContextsAction::Calls { llvm, opt, pairs, simulate } => {
            let plan = calls::Plan { llvm, opt, clock: clock(pairs, simulate) };
            let text = calls::measure(layout, &plan)?;
            println!("{text}");
            let name = if simulate { "contexts-calls-simulated.md" } else { "contexts-calls.md" };
            write(&layout.work().join(name), text.as_bytes())?;
            Ok(true)
        }
        ContextsAction::Bound { llvm, opt, quick } => {
            let plan = bound::Plan { llvm, opt, quick };
            let (text, holds) = bound::bound(layout, &plan)?;
            println!("{text}");
            write(&layout.work().join("contexts-bound.md"), text.as_bytes())?;
            Ok(holds)
        }
    }
}

/// The programs of these names whose sources are available: those with very many contexts, and of
/// the corpus.
fn chosen<'a>(
    layout: &Layout,
    names: &[String],
    nested: &'a [Program],
) -> anyhow::Result<Vec<&'a Program>> {
    let mut programs: Vec<&Program> = Vec::new();
    for name in names {
        let of_name = |program: &&Program| name == "nested" || name == program.name;
        let found: Vec<&Program> = nested.iter().filter(of_name).collect();
        if found.is_empty() {
            programs.extend(available(layout, std::slice::from_ref(name))?);
        }
        for program in found {
            programs.extend(program.origin.fetch_or_skip(layout, program.name)?.map(|_| program));
        }
    }
    Ok(programs)
}
