//! The part of the command line that is about calling contexts.

use crate::{available, clock};
use clap::Subcommand;
use midflight_bench::contexts::{accuracy, cost};
use midflight_bench::error::write;
use midflight_bench::layout::Layout;
use midflight_bench::program::Size;

/// What about calling contexts.
#[derive(Subcommand)]
pub enum ContextsAction {
    /// Compare hot contexts in bounded memory with all of them, by the metrics of the thesis's
    /// 5.1.2
    Accuracy {
        /// Names, or `light` or `all`
        #[arg(long, value_delimiter = ',', default_value = "lua,sqlite,miniperl,quickjs")]
        programs: Vec<String>,
        /// Version of LLVM
        #[arg(long, default_value_t = 22)]
        llvm: u32,
        /// Level of optimization
        #[arg(long, default_value_t = 2)]
        opt: u32,
        /// Thresholds of hotness
        #[arg(long, value_delimiter = ',', default_value = "0.001,0.0001,0.00001,0.000001")]
        phi: Vec<f64>,
        /// Small inputs
        #[arg(long)]
        quick: bool,
    },
    /// Measure CPU time over native, and what an activation adds
    Cost {
        /// Names, or `light` or `all`
        #[arg(long, value_delimiter = ',', default_value = "all")]
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
    },
}

/// True if all checks passed.
pub fn act(layout: &Layout, action: ContextsAction) -> anyhow::Result<bool> {
    match action {
        ContextsAction::Accuracy { programs, llvm, opt, phi, quick } => {
            let size = if quick { Size::Test } else { Size::Bench };
            let plan = accuracy::Plan { llvm, opt, phi, size };
            let (text, holds) = accuracy::measure(layout, &available(layout, &programs)?, &plan)?;
            println!("{text}");
            write(&layout.work().join("contexts-accuracy.md"), text.as_bytes())?;
            Ok(holds)
        }
        ContextsAction::Cost { programs, llvm, opt, pairs, peers, quick } => {
            let size = if quick { Size::Test } else { Size::Bench };
            let plan = cost::Plan { llvm, opt, clock: clock(pairs, false), size, peers };
            let text = cost::measure(layout, &available(layout, &programs)?, &plan)?;
            println!("{text}");
            write(&layout.work().join("contexts-cost.md"), text.as_bytes())?;
            Ok(true)
        }
    }
}
