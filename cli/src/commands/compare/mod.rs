//! Two profiles side by side: `midflight diff` ([`mod@diff`]) and `midflight overlap`
//! ([`mod@overlap`]), of functions that [`pairs`](mod@pairs) has joined; of calling contexts, in
//! [`contexts`].

pub mod contexts;
pub mod diff;
pub mod overlap;
pub mod pairs;

use crate::analysis::rank::rank;
use crate::commands::CommandError;
use crate::commands::arguments::{Format, Inputs, Opened, TREE, require_function, shape};
use crate::document::{ContextDocument, ContextExtent, Shape};
use crate::format::names::has_in_name;
use crate::input::contexts::Called;
use crate::input::session::JoinError;
use clap::Args;
use contexts::Both;
use contexts::diff::ContextDiff;
use pairs::pairs;
use std::io::Write;
use std::path::PathBuf;

pub(crate) const DIFF_HELP: &str = "\
Of each function whose share of the work differs, or whose paths have other shares of it: both
shares, and the paths and sequences that changed most, with their counts. Work is count times
instructions. If B is of another build, --binary-b names it; functions are then matched by name, and
paths where the control flow graph is the same. With --contexts it is contexts whose shares of the
activations differ, as a tree, and calls that only one profile has.

Examples:
  midflight diff prog before.mfp after.mfp
  midflight diff prog before.mfp after.mfp --contexts
  midflight diff prog before.mfp after.mfp --contexts=1 --function malloc
  midflight diff prog.old old.mfp new.mfp --binary-b prog.new --function compress";

pub(crate) const OVERLAP_HELP: &str = "\
100 % is the same distribution, 0 % nothing in common: of all that is counted, the smaller of the two
shares, added up, as in llvm-profdata overlap. Sequences are those of two or more paths. With --contexts it is
calling contexts, calls and functions, by their activations.

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
    /// How many functions, as text; with --contexts in diff, how many changes [default: 10, 20 of
    /// these]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// As text or JSON
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    format: Format,
}

/// Functions that are shown.
const TOP: usize = 10;

/// Changed contexts that are shown.
const CHANGES: usize = 20;

impl Two {
    /// Reads both sides.
    fn open(self) -> Result<[Opened; 2], JoinError> {
        let Two { binary, a, b, binary_b, library, .. } = self;
        let other = binary_b.unwrap_or_else(|| binary.clone());
        Ok([
            Inputs { binary, profiles: vec![a], library: library.clone() }.open_named()?,
            Inputs { binary: other, profiles: vec![b], library }.open_named()?,
        ])
    }
}

/// True if there is nothing but calling contexts, and people are to read it.
fn are_alone(sides: &[Opened; 2], format: Format) -> bool {
    format == Format::Text && sides.iter().all(|side| side.session.has_only_contexts())
}

/// Two documents of calling contexts, whole.
fn both_of(sides: &[Opened; 2], shape: Shape) -> Result<[ContextDocument<'_>; 2], CommandError> {
    let [a, b] =
        sides.each_ref().map(|side| side.contexts(shape, &ContextExtent::ALL, None, has_in_name));
    Ok([a?, b?])
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
    /// Calling contexts; with K, functions with their last K callers
    #[arg(
        long, value_name = "K", num_args = 0..=1, require_equals = true,
        default_missing_value = TREE, value_parser = shape, conflicts_with = "paths",
    )]
    contexts: Option<Shape>,
}

impl Diff {
    pub(crate) fn run(self) -> Result<(), CommandError> {
        let (top, format) = (self.two.top, self.two.format);
        let options = diff::Options { paths: self.paths, function: self.function };
        let sides = self.two.open()?;
        let is_alone = are_alone(&sides, format);
        if let Some(shape) = self.contexts.or(is_alone.then_some(Shape::Tree)) {
            let top = top.unwrap_or(CHANGES);
            return diff_contexts(&sides, shape, options.function.as_deref(), top, format);
        }
        let [a, b] = &sides;
        let (a, b) = (a.session.functions()?, b.session.functions()?);
        // A function may be in one of two builds.
        let name = options.function.as_deref();
        require_function(&a, name).or_else(|_| require_function(&b, name))?;
        let (a, b) = (rank(&a, None), rank(&b, None));
        let found = diff::diff(&pairs(&a, &b), &options);
        let text = |out: &mut dyn Write| diff::write(out, &found, top.unwrap_or(TOP));
        Ok(format.print(&diff::document(&found), text)?)
    }
}

fn diff_contexts(
    sides: &[Opened; 2],
    shape: Shape,
    name: Option<&str>,
    top: usize,
    format: Format,
) -> Result<(), CommandError> {
    let documents = both_of(sides, shape)?;
    let require = |at: usize| sides[at].require_called(&documents[at].functions, name, has_in_name);
    require(0).or_else(|_| require(1))?;
    let is_asked = |called: &Called<'_>| name.is_none_or(|name| has_in_name(&called.name(), name));
    let both = Both::of([&documents[0], &documents[1]]);
    let found = ContextDiff::of(&both, is_asked);
    Ok(format.print(&found.json(), |out| found.write(out, top))?)
}

#[derive(Args, Debug)]
pub(crate) struct Overlap {
    #[command(flatten)]
    two: Two,
    /// Calling contexts
    #[arg(long)]
    contexts: bool,
}

impl Overlap {
    pub(crate) fn run(self) -> Result<(), CommandError> {
        let (top, format) = (self.two.top.unwrap_or(TOP), self.two.format);
        let sides = self.two.open()?;
        if self.contexts || are_alone(&sides, format) {
            let shapes = [Shape::Callers(0), Shape::Callers(1), Shape::Tree];
            let [functions, calls, tree] = shapes.map(|shape| both_of(&sides, shape));
            let (functions, calls, tree) = (functions?, calls?, tree?);
            let [functions, calls, tree] =
                [&functions, &calls, &tree].map(|[a, b]| Both::of([a, b]));
            let found = contexts::overlap::overlap(&functions, &calls, &tree);
            return Ok(format.print(&found, |out| contexts::overlap::write(out, &found, top))?);
        }
        let [a, b] = &sides;
        let (a, b) = (a.session.functions()?, b.session.functions()?);
        let (a, b) = (rank(&a, None), rank(&b, None));
        let found = overlap::overlap(&pairs(&a, &b));
        Ok(format.print(&found, |out| overlap::write(out, &found, top))?)
    }
}
