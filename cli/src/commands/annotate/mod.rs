//! `midflight annotate`: source beside counts.

pub mod text;

use crate::commands::CommandError;
use crate::commands::arguments::{Inputs, print_colored};
use crate::document::{Document, Extent};
use crate::input::sources::Sources;
use clap::{Args, ColorChoice};
use std::path::PathBuf;
use text::{PATHS, annotate};

pub(crate) const HELP: &str = "\
Of each of the hottest functions its source: beside each line how often it ran, and which of the
function's hottest paths go over it, a column and a colour each.

Examples:
  midflight annotate prog midflight-*.mfp --function compress
  midflight annotate prog a.mfp --source-dir ~/src --color always | less -R";

#[derive(Args, Debug)]
pub(crate) struct Annotate {
    #[command(flatten)]
    inputs: Inputs,
    /// How many functions, those with the most work first
    #[arg(long, default_value_t = 5, value_name = "N")]
    top: usize,
    /// How many paths have a column, up to 6
    #[arg(long, default_value_t = PATHS, value_name = "N")]
    paths: usize,
    /// Only functions whose names, or demangled names, contain this
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// Where to look for source files that are not where debug information says; may be repeated
    #[arg(long, value_name = "FOLDER")]
    source_dir: Vec<PathBuf>,
    /// When to use colour
    #[arg(long, default_value = "auto", value_name = "WHEN")]
    color: ColorChoice,
}

impl Annotate {
    pub(crate) fn run(self) -> Result<(), CommandError> {
        let Annotate { top, function, paths, color, .. } = self;
        let extent = Extent { top, min_percent: 100.0, function, ..Extent::default() };
        let mut sources = Sources::new(self.source_dir, true);
        let view = |document: &Document<'_>, _: &mut Sources| {
            print_colored(&annotate(document, paths), color)
        };
        Ok(self.inputs.with_document("counting lines", &extent, &mut sources, view)??)
    }
}
