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
use crate::document::{self, Extent};
use crate::format::json;
use crate::format::sink::write_to;
use crate::input::function::Function;
use crate::input::sources::Sources;
use Writer::{Document, Functions, Weights};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use std::io::{self, Write};
use std::path::PathBuf;

/// The formats, each of a file. JSON is the document as it is.
const FORMATS: [Format; 8] = [
    dot::FORMAT,
    svg::FORMAT,
    html::FORMAT,
    folded::FORMAT,
    Format {
        name: "json",
        about: "all that the report tells, for programs",
        writer: Document(|out, document| json::write_line(out, document)),
    },
    lcov::FORMAT,
    sample_profile::FORMAT,
    weights::FORMAT,
];

/// A format.
#[derive(Clone, Copy, Debug)]
struct Format {
    /// As it is asked for
    name: &'static str,
    /// What it is, for `--help`
    about: &'static str,
    writer: Writer,
}

/// What a format is a view of.
#[derive(Clone, Copy, Debug)]
enum Writer {
    /// Of the document
    Document(fn(&mut dyn Write, &document::Document<'_>) -> io::Result<()>),
    /// Of the counts of all functions
    Functions(fn(&mut dyn Write, &[Function<'_>]) -> io::Result<()>),
    /// Of counts that there may not be, since they are of two stages
    Weights,
}

const EXAMPLES: &str = "
Examples:
  midflight export --to html -o prog.html prog midflight-*.mfp
  midflight export --to lcov -o prog.info prog midflight-*.mfp && genhtml -o html prog.info
  midflight export --to folded prog a.mfp | inferno-flamegraph >prog.svg
  midflight export --to dot --function compress prog a.mfp | dot -Tpdf -o prog.pdf
  midflight export --to sample-profile -o prog.prof prog a.mfp
  clang -O2 -g -fprofile-sample-use=prog.prof prog.c
  midflight export --to weights -o prog.weights prog a.mfp
  midflight cc --midflight-use=prog.weights -O2 -o fast prog.c";

pub(crate) fn help() -> String {
    let line = |format: &Format| format!("{:<15} {}\n", format.name, format.about);
    FORMATS.iter().map(line).collect::<String>() + EXAMPLES
}

/// The parser of `--to`.
fn format() -> impl TypedValueParser<Value = Format> {
    let of_name = |name: String| FORMATS.iter().find(|f| f.name == name).copied();
    PossibleValuesParser::new(FORMATS.map(|format| format.name))
        .map(move |name| of_name(name).expect("only names of the table are parsed"))
}

#[derive(Args, Debug)]
pub(crate) struct Export {
    #[command(flatten)]
    inputs: Inputs,
    /// The format
    #[arg(long, value_name = "FORMAT", value_parser = format())]
    to: Format,
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

/// Sequences of a function in the document.
const SEQUENCES: usize = 20;

impl Export {
    pub(crate) fn run(self) -> Result<(), CommandError> {
        match self.to.writer {
            Document(write) => self.write_document(write),
            Functions(write) => {
                let session = self.inputs.open()?;
                let functions = session.functions()?;
                Ok(write_to(self.output.as_deref(), |out| write(out, &functions))?)
            }
            Weights => {
                let session = self.inputs.open()?;
                let weights = weights::of(&session.functions()?)?;
                Ok(write_to(self.output.as_deref(), |out| json::write_line(out, &weights))?)
            }
        }
    }

    fn write_document(
        self,
        write: fn(&mut dyn Write, &document::Document<'_>) -> io::Result<()>,
    ) -> Result<(), CommandError> {
        let Export { top, function, min_percent, source_dir, .. } = self;
        let sequences = SEQUENCES;
        let extent = Extent { top, sequences, min_percent, function, ..Extent::default() };
        let mut sources = Sources::new(source_dir, true);
        let view = |document: &document::Document<'_>, _: &mut Sources| {
            write_to(self.output.as_deref(), |out| write(out, document))
        };
        Ok(self.inputs.with_document("counting sequences", &extent, &mut sources, view)??)
    }
}
