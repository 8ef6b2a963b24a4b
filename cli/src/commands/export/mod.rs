//! `midflight export`: what was counted, in formats of other tools, a file each.

pub mod callgrind;
pub mod dot;
pub mod folded;
pub mod html;
pub mod html_calls;
pub mod lcov;
pub mod pprof;
mod sample_contexts;
pub mod sample_profile;
pub mod svg;
mod unrolling;
pub mod weights;

use crate::commands::CommandError;
use crate::commands::arguments::{Inputs, Opened, percentage};
use crate::document::{self, ContextDocument, ContextExtent, Extent, Measure, Shape};
use crate::format::json;
use crate::format::names::has_in_name;
use crate::format::sink::write_to;
use crate::input::function::Function;
use crate::input::sources::Sources;
use Writer::{Both, Contexts, Document, Functions, Samples, Weights};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use midflight_profile::table::ContextTable;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

const JSON: &str = "json";

/// The formats, each of a file. JSON is the document as it is.
const FORMATS: [Format; 10] = [
    dot::FORMAT,
    svg::FORMAT,
    html::FORMAT,
    folded::FORMAT,
    Format {
        name: JSON,
        about: "all that the report tells, or all calls (--contexts), for programs",
        writer: Both(
            |out, document| json::write_line(out, document),
            View {
                shape: Shape::Tree,
                write: |out, contexts| json::write_line(out, &contexts.json()),
            },
        ),
    },
    lcov::FORMAT,
    sample_profile::FORMAT,
    weights::FORMAT,
    callgrind::FORMAT,
    pprof::FORMAT,
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
    Document(WriteDocument),
    /// Of the counts of all functions
    Functions(WriteFunctions),
    /// Of the counts of all functions, or of calling contexts and these
    Samples(WriteFunctions, WriteSamples),
    /// Of counts that there may not be, since they are of two stages
    Weights,
    /// Of calling contexts
    Contexts(View),
    /// Of the document, or of calling contexts
    Both(WriteDocument, View),
}

type WriteFunctions = fn(&mut dyn Write, &[Function<'_>]) -> io::Result<()>;
type WriteSamples = fn(
    &mut dyn Write,
    &ContextDocument<'_>,
    &[&ContextTable],
    &[Function<'_>],
    f64,
) -> io::Result<()>;
type WriteDocument = fn(&mut dyn Write, &document::Document<'_>) -> io::Result<()>;

/// How calling contexts are written.
#[derive(Clone, Copy, Debug)]
struct View {
    /// How they are arranged
    shape: Shape,
    write: fn(&mut dyn Write, &ContextDocument<'_>) -> io::Result<()>,
}

const EXAMPLES: &str = "
Examples:
  midflight export --to html -o prog.html prog midflight-*.mfp
  midflight export --to lcov -o prog.info prog midflight-*.mfp && genhtml -o html prog.info
  midflight export --to folded prog a.mfp | inferno-flamegraph >prog.svg
  midflight export --to folded --contexts prog a.mfp | inferno-flamegraph >calls.svg
  midflight export --to callgrind -o callgrind.out prog a.mfp && kcachegrind callgrind.out
  midflight export --to dot --function compress prog a.mfp | dot -Tpdf -o prog.pdf
  midflight export --to sample-profile -o prog.prof prog a.mfp
  clang -O2 -g -fprofile-sample-use=prog.prof prog.c
  midflight export --to sample-profile --contexts -o prog.prof prog a.mfp
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
    /// Calling contexts, in a format that can show paths too. svg, html, folded and sample-profile
    /// do where no paths were counted
    #[arg(long)]
    contexts: bool,
    /// What calling contexts are as wide as in svg, html and folded [default: time, where it was
    /// taken]
    #[arg(long, value_name = "MEASURE")]
    by: Option<Measure>,
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
    /// Leave out sequences with less of the function's work than so many percent (0.1 if it is not
    /// said); in a sample profile with calling contexts, add up by functions those with fewer of
    /// all activations (0.01)
    #[arg(long, value_name = "P", value_parser = percentage)]
    min_percent: Option<f64>,
    /// Where to look for source files that are not where debug information says; may be repeated
    #[arg(long, value_name = "FOLDER")]
    source_dir: Vec<PathBuf>,
}

/// Sequences of a function in the document.
const SEQUENCES: usize = 20;

/// Percent of the function's work that a sequence has, at least.
const OF_WORK: f64 = 0.1;

/// Percent of all activations that a context in a sample profile has, at least.
const OF_ACTIVATIONS: f64 = 0.01;

impl Export {
    pub(crate) fn run(self) -> Result<(), CommandError> {
        let Export { inputs, to, contexts, by, output, top, function, min_percent, source_dir } =
            self;
        let output = output.as_deref();
        let opened = inputs.open_named()?;
        // Who reads JSON of paths gets that.
        let is_alone = opened.session.has_only_contexts() && to.name != JSON;
        match to.writer {
            Contexts(view) => view.write(&opened, by, function.as_deref(), output),
            Both(_, view) if contexts || is_alone => {
                view.write(&opened, by, function.as_deref(), output)
            }
            Samples(_, write) if contexts || is_alone => {
                let least = min_percent.unwrap_or(OF_ACTIVATIONS);
                write_samples(write, &opened, least, output)
            }
            _ if contexts => Err(CommandError::NoContextsIn(to.name, with_contexts())),
            Document(write) | Both(write, _) => {
                let (sequences, min_percent) = (SEQUENCES, min_percent.unwrap_or(OF_WORK));
                let extent = Extent { top, sequences, min_percent, function, ..Extent::default() };
                let mut sources = Sources::new(source_dir, true);
                let view = |document: &document::Document<'_>, _: &mut Sources| {
                    write_to(output, |out| write(out, document))
                };
                Ok(opened.with_document("counting sequences", &extent, &mut sources, view)??)
            }
            Functions(write) | Samples(write, _) => {
                let functions = opened.session.functions()?;
                Ok(write_to(output, |out| write(out, &functions))?)
            }
            Weights => {
                let weights = weights::of(&opened.session.functions()?)?;
                Ok(write_to(output, |out| json::write_line(out, &weights))?)
            }
        }
    }
}

/// Writes calling contexts, with what was counted of paths if anything was.
fn write_samples(
    write: WriteSamples,
    opened: &Opened,
    min_percent: f64,
    output: Option<&Path>,
) -> Result<(), CommandError> {
    let session = &opened.session;
    let document = opened.contexts(Shape::Tree, &ContextExtent::ALL, None, has_in_name)?;
    let functions = match session.has_only_contexts() {
        true => Vec::new(),
        false => session.functions()?,
    };
    let tables: Vec<&ContextTable> =
        session.images.iter().flat_map(|image| &image.contexts).collect();
    Ok(write_to(output, |out| write(out, &document, &tables, &functions, min_percent))?)
}

impl View {
    /// Writes all contexts, or those of functions with `name` in theirs.
    fn write(
        self,
        opened: &Opened,
        measure: Option<Measure>,
        name: Option<&str>,
        output: Option<&Path>,
    ) -> Result<(), CommandError> {
        let extent = ContextExtent { measure, ..ContextExtent::ALL };
        let contexts = opened.contexts(self.shape, &extent, name, has_in_name)?;
        Ok(write_to(output, |out| (self.write)(out, &contexts))?)
    }
}

/// The formats that can show calling contexts.
fn with_contexts() -> String {
    let is_able = |f: &&Format| matches!(f.writer, Contexts(_) | Both(..) | Samples(..));
    let able = FORMATS.iter().filter(is_able);
    able.map(|format| format.name).collect::<Vec<_>>().join(", ")
}
