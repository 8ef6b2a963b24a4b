//! Two profiles side by side: `midflight diff` ([`mod@diff`]) and `midflight overlap`
//! ([`mod@overlap`]), of functions that [`pairs`](mod@pairs) has joined.

pub mod diff;
pub mod overlap;
pub mod pairs;

use crate::analysis::rank::rank;
use crate::commands::CommandError;
use crate::commands::arguments::{Format, Inputs, require_function};
use crate::input::session::{JoinError, Session};
use clap::Args;
use pairs::pairs;
use std::path::PathBuf;

pub(crate) const DIFF_HELP: &str = "\
Of each function whose share of the work differs, or whose paths have other shares of it: both
shares, and the paths and sequences that changed most, with their counts. Work is count times
instructions. If B is of another build, --binary-b names it; functions are then matched by name, and
paths where the control flow graph is the same.

Examples:
  midflight diff prog before.mfp after.mfp
  midflight diff prog.old old.mfp new.mfp --binary-b prog.new --function compress";

pub(crate) const OVERLAP_HELP: &str = "\
100 % is the same distribution, 0 % nothing in common: of all that is counted, the smaller of the two
shares, added up, as in llvm-profdata overlap. Sequences are those of two or more paths.

Examples:
  midflight overlap prog training.mfp production.mfp
  midflight overlap prog a.mfp b.mfp --format json";

#[derive(Args, Debug)]
struct Two {
    /// The program that wrote the profiles
    binary: PathBuf,
    /// The first profile
    a: PathBuf,
    /// The second profile
    b: PathBuf,
    /// The program that wrote B, if that is another
    #[arg(long, value_name = "BINARY")]
    binary_b: Option<PathBuf>,
    /// A library that the program loaded and that was instrumented too; may be repeated
    #[arg(long, value_name = "FILE")]
    library: Vec<PathBuf>,
    /// How many functions, as text
    #[arg(long, default_value_t = 10, value_name = "N")]
    top: usize,
    /// As text or JSON
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    format: Format,
}

impl Two {
    /// Reads both sides.
    fn open(self) -> Result<[Session; 2], JoinError> {
        let Two { binary, a, b, binary_b, library, .. } = self;
        let other = binary_b.unwrap_or_else(|| binary.clone());
        Ok([
            Inputs { binary, profiles: vec![a], library: library.clone() }.open()?,
            Inputs { binary: other, profiles: vec![b], library }.open()?,
        ])
    }
}

#[derive(Args, Debug)]
pub(crate) struct Diff {
    #[command(flatten)]
    two: Two,
    /// How many paths, and how many sequences, of each function
    #[arg(long, default_value_t = 5, value_name = "N")]
    paths: usize,
    /// Only functions whose names, or demangled names, contain this
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
}

impl Diff {
    pub(crate) fn run(self) -> Result<(), CommandError> {
        let (top, format) = (self.two.top, self.two.format);
        let options = diff::Options { paths: self.paths, function: self.function };
        let [a, b] = self.two.open()?;
        let (a, b) = (a.functions()?, b.functions()?);
        // A function may be in one of two builds.
        let name = options.function.as_deref();
        require_function(&a, name).or_else(|_| require_function(&b, name))?;
        let (a, b) = (rank(&a, None), rank(&b, None));
        let found = diff::diff(&pairs(&a, &b), &options);
        Ok(format.print(&diff::document(&found), |out| diff::write(out, &found, top))?)
    }
}

#[derive(Args, Debug)]
pub(crate) struct Overlap {
    #[command(flatten)]
    two: Two,
}

impl Overlap {
    pub(crate) fn run(self) -> Result<(), CommandError> {
        let (top, format) = (self.two.top, self.two.format);
        let [a, b] = self.two.open()?;
        let (a, b) = (a.functions()?, b.functions()?);
        let (a, b) = (rank(&a, None), rank(&b, None));
        let found = overlap::overlap(&pairs(&a, &b));
        Ok(format.print(&found, |out| overlap::write(out, &found, top))?)
    }
}
