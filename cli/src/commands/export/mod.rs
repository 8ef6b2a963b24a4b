//! `midflight export`: what was counted, in formats of other tools, a file each.

pub mod dot;
pub mod folded;
pub mod html;
pub mod lcov;
pub mod sample_profile;
pub mod svg;
mod unrolling;
pub mod weights;

use crate::commands::CommandError;
use crate::commands::arguments::{Inputs, percentage};
use crate::document::{Document, Extent};
use crate::format::json;
use crate::format::sink::write_to;
use crate::input::sources::Sources;
use clap::{Args, ValueEnum};
use std::path::PathBuf;

pub(crate) const HELP: &str = "\
dot             the path forest, for Graphviz
svg             the path forest as an icicle: a picture for any browser
html            a page for any browser: the source with the hot paths drawn beside it, and the forest
folded          stacks of paths that followed each other, for speedscope, inferno and flamegraph.pl
json            all that the report tells, for programs
lcov            a tracefile with the counts of lines, for genhtml and editors
sample-profile  the text that clang -fprofile-sample-use takes
weights         counts of edges, for midflight cc --midflight-use

Examples:
  midflight export --to html -o prog.html prog midflight-*.mfp
  midflight export --to lcov -o prog.info prog midflight-*.mfp && genhtml -o html prog.info
  midflight export --to folded prog a.mfp | inferno-flamegraph >prog.svg
  midflight export --to dot --function compress prog a.mfp | dot -Tpdf -o prog.pdf
  midflight export --to sample-profile -o prog.prof prog a.mfp
  clang -O2 -g -fprofile-sample-use=prog.prof prog.c
  midflight export --to weights -o prog.weights prog a.mfp
  midflight cc --midflight-use=prog.weights -O2 -o fast prog.c";

#[derive(Args, Debug)]
pub(crate) struct Export {
    #[command(flatten)]
    inputs: Inputs,
    /// The format
    #[arg(long, value_name = "FORMAT")]
    to: Target,
    /// Where to write; standard output if it is not said
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// How many functions, those with the most work first; not for lcov, sample-profile and weights
    #[arg(long, default_value_t = 30, value_name = "N")]
    top: usize,
    /// Only functions whose names, or demangled names, contain this; not for lcov, sample-profile
    /// and weights
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// Leave out sequences with less of the function's work than so many percent
    #[arg(long, default_value_t = 0.1, value_name = "P", value_parser = percentage)]
    min_percent: f64,
    /// Where to look for source files that are not where debug information says; may be repeated
    #[arg(long, value_name = "FOLDER")]
    source_dir: Vec<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Target {
    Dot,
    Svg,
    Folded,
    Html,
    Json,
    Lcov,
    SampleProfile,
    Weights,
}

/// Sequences of a function in the document.
const SEQUENCES: usize = 20;

impl Export {
    pub(crate) fn run(self) -> Result<(), CommandError> {
        match self.to {
            Target::Lcov | Target::SampleProfile | Target::Weights => self.write_functions(),
            _ => self.write_document(),
        }
    }

    /// Counts of all functions.
    fn write_functions(self) -> Result<(), CommandError> {
        let session = self.inputs.open()?;
        let functions = session.functions()?;
        let weights = matches!(self.to, Target::Weights).then(|| weights::of(&functions));
        let weights = weights.transpose()?;
        Ok(write_to(self.output.as_deref(), |out| match self.to {
            Target::Lcov => lcov::write(out, &functions),
            Target::SampleProfile => sample_profile::write(out, &functions),
            _ => json::write_line(out, &weights),
        })?)
    }

    fn write_document(self) -> Result<(), CommandError> {
        let Export { top, function, min_percent, source_dir, .. } = self;
        let sequences = SEQUENCES;
        let extent = Extent { top, sequences, min_percent, function, ..Extent::default() };
        let mut sources = Sources::new(source_dir, true);
        let view = |document: &Document<'_>, _: &mut Sources| {
            write_to(self.output.as_deref(), |out| match self.to {
                Target::Dot => dot::write(out, document),
                Target::Svg => svg::write(out, document),
                Target::Folded => folded::write(out, document),
                Target::Html => html::write(out, document),
                _ => json::write_line(out, document),
            })
        };
        Ok(self.inputs.with_document("counting sequences", &extent, &mut sources, view)??)
    }
}
