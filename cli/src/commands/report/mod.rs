//! `midflight report`: the hottest cyclic paths, for people.
//!
//! [`text`] writes, with the dictionary of acyclic paths from [`paths`], the loops from [`loops`]
//! and branches that go many ways from [`dispatch`]; [`memory`] tells what memory was short for.
//! [`flat`] is a line a function. [`contexts`] shows calling contexts in the place of all that, and
//! [`context_paths`] the paths of those.

pub mod context_paths;
pub mod contexts;
pub mod dispatch;
pub mod flat;
pub mod loops;
pub mod memory;
pub mod paths;
pub mod text;
pub mod tree;

use crate::commands::CommandError;
use crate::commands::arguments::{Format, Inputs, TREE, percentage, print_colored, shape};
use crate::document::{ContextExtent, Document, Extent, Measure, Pruning, Shape};
use crate::format::json;
use crate::format::names::has_in_name;
use crate::format::numbers::plural;
use crate::format::sink::write_to;
use crate::input::samples::Samples;
use crate::input::sources::Sources;
use clap::{Args, ColorChoice};
use std::path::PathBuf;
use text::Options;

pub(crate) const HELP: &str = "\
For each of the hottest functions: its acyclic paths, with letters and their source lines; the
sequences of them, over loop iterations, that make up most of its work; and its loops: how long they
go the same way, what follows what, and what could be done about it (unroll, peel, unswitch). The
report begins with a legend, and --flat is a line a function. Work is count times instructions; with --perf it is samples of a run,
best of the program without instrumentation (with -g), which are matched by source lines.

Examples:
  midflight report prog midflight-*.mfp
  midflight report prog a.mfp --flat
  midflight report prog a.mfp --contexts
  midflight report prog a.mfp --contexts=1 --function malloc
  midflight report prog a.mfp --context-paths --function compress
  midflight report prog a.mfp --function compress --top 1 --tree
  midflight report prog a.mfp --source-dir ~/src --color always | less -R
  clang -O2 -g prog.c && perf record ./a.out && midflight report prog a.mfp --perf perf.data";

#[derive(Args, Debug)]
pub(crate) struct Report {
    #[command(flatten)]
    inputs: Inputs,
    /// How many functions, those with the most work first [default: 10, with --flat all]
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    /// How many multi-iteration paths of each function
    #[arg(long, default_value_t = 5, value_name = "N")]
    sequences: usize,
    /// How many loops of each function, those with the most work first
    #[arg(long, default_value_t = 3, value_name = "N")]
    loops: usize,
    /// Leave out sequences and loops with less of the function's work, and in trees nodes with less
    /// of their parent or root, than so many percent [default: 1]
    #[arg(long, value_name = "P", value_parser = percentage)]
    min_percent: Option<f64>,
    /// Only functions whose names, or demangled names, contain this
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// Show trees in place of chosen sequences, with % of the parent (% of the root)
    #[arg(long)]
    tree: bool,
    /// A line a function, and nothing else of it
    #[arg(long, conflicts_with = "tree")]
    flat: bool,
    /// Show hot calling contexts as a tree; with K, functions with their last K callers. --top then
    /// is how many contexts, and --min-percent of all activations (or time); without both, those with 1 %,
    /// and the 20 hottest in any case
    #[arg(
        long, value_name = "K", num_args = 0..=1, require_equals = true,
        default_missing_value = TREE, value_parser = shape,
        conflicts_with_all = ["tree", "flat", "perf", "sequences", "loops"],
    )]
    contexts: Option<Shape>,
    /// What calling contexts are ordered by, and what percentages are of [default: time, where it
    /// was taken]
    #[arg(long, value_name = "MEASURE")]
    by: Option<Measure>,
    /// Show which paths functions take for which callers. --top is how many functions [default: 10]
    #[arg(
        long,
        conflicts_with_all = ["contexts", "by", "tree", "flat", "perf", "sequences", "loops", "min_percent"],
    )]
    context_paths: bool,
    /// Do not explain what the words mean
    #[arg(long)]
    no_legend: bool,
    /// Do not show source text
    #[arg(long)]
    no_source: bool,
    /// Where to look for source files that are not where debug information says; may be repeated
    #[arg(long, value_name = "FOLDER")]
    source_dir: Vec<PathBuf>,
    /// Count work in samples: a perf.data file, or what `perf script -G -F ip,sym,srcline` printed
    #[arg(long, value_name = "DATA")]
    perf: Option<PathBuf>,
    /// When to use colour
    #[arg(long, default_value = "auto", value_name = "WHEN")]
    color: ColorChoice,
    /// As text or JSON
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    format: Format,
}

/// Functions that a report shows.
const TOP: usize = 10;

/// What is less is left out of a report: in percent of what it is a part of.
const MIN_PERCENT: f64 = 1.0;

/// Contexts that a report shows, though all may be rare.
const CONTEXTS: usize = 20;

/// Which contexts are shown, by the options.
fn extent_of_contexts(
    measure: Option<Measure>,
    min_percent: Option<f64>,
    top: Option<usize>,
) -> ContextExtent {
    let is_asked = min_percent.is_some() || top.is_some();
    ContextExtent {
        measure,
        min_percent: min_percent.unwrap_or(if is_asked { 0.0 } else { MIN_PERCENT }),
        in_any_case: if is_asked { 0 } else { CONTEXTS },
        top: top.unwrap_or(usize::MAX),
    }
}

impl Report {
    pub(crate) fn run(self) -> Result<(), CommandError> {
        let profiles = self.inputs.profiles.len();
        let title = format!(
            "midflight report of {}, {profiles} profile{}",
            self.inputs.binary.display(),
            plural(profiles)
        );
        let inputs = self.inputs.open_named()?;
        let is_json = self.format == Format::Json;
        if self.context_paths {
            let top = self.top.unwrap_or(TOP);
            let document = inputs.context_paths(top, self.function.as_deref())?;
            let done = match is_json {
                true => write_to(None, |out| json::write_line(out, &document)),
                false => {
                    let title = format!("{title}: paths by callers");
                    let text = context_paths::report(&title, &document, !self.no_legend);
                    print_colored(&text, self.color)
                }
            };
            return Ok(done?);
        }
        let is_alone = inputs.session.has_only_contexts() && !is_json;
        if let Some(shape) = self.contexts.or(is_alone.then_some(Shape::Tree)) {
            let extent = extent_of_contexts(self.by, self.min_percent, self.top);
            let name = self.function.as_deref();
            let contexts = inputs.contexts(shape, &extent, name, has_in_name)?;
            let done = match is_json {
                true => write_to(None, |out| json::write_line(out, &contexts.json())),
                false => {
                    let title = format!("{title}: calling contexts");
                    print_colored(&contexts::report(&title, &contexts, !self.no_legend), self.color)
                }
            };
            return Ok(done?);
        }
        let samples = self.perf.as_deref().map(Samples::read).transpose()?;
        let top = self.top.unwrap_or(if self.flat { usize::MAX } else { TOP });
        let mut sources = Sources::new(self.source_dir, !self.no_source);
        let Report { sequences, min_percent, function, tree, loops, color, .. } = self;
        let flat = self.flat && !is_json;
        let pruning = if tree && !is_json { Pruning::ByCount } else { Pruning::ByWork };
        let min_percent = min_percent.unwrap_or(MIN_PERCENT);
        let extent = Extent { top, sequences, min_percent, pruning, flat, function, samples };
        let options = Options { loops, legend: !self.no_legend };
        let view = |document: &Document<'_>, sources: &mut Sources| match is_json {
            true => write_to(None, |out| json::write_line(out, document)),
            false => {
                print_colored(&text::report(&title, document, &extent, &options, sources), color)
            }
        };
        Ok(inputs.with_document("counting sequences", &extent, &mut sources, view)??)
    }
}
