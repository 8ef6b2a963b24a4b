//! `midflight show`: everything, as text or JSON.

pub mod contexts;
pub mod edges;
pub mod json;
pub mod tables;
pub mod text;

use crate::commands::CommandError;
use crate::commands::arguments::{Format, Inputs, TREE, shape};
use crate::document::{ContextExtent, Shape};
use crate::format::json::write_rows;
use crate::format::names::is_name;
use crate::format::sink::write_to;
use crate::input::binary::Image;
use crate::input::session::JoinError;
use clap::Args;
use midflight_profile::table::FunctionTable;
use std::path::PathBuf;

pub(crate) const HELP: &str = "\
Without --edges, --contexts or --tables: every sequence of up to k acyclic paths that was seen, with
its count. A path is named by its ID, which --tables explains.

Examples:
  midflight show prog a.mfp --function main
  midflight show prog a.mfp --format json >a.json
  midflight show prog a.mfp --edges
  midflight show prog a.mfp --contexts
  midflight show prog --tables";

#[derive(Args, Debug)]
pub(crate) struct Show {
    /// The program that wrote the profiles
    binary: PathBuf,
    /// Profiles; several are added up
    #[arg(value_name = "PROFILE", required_unless_present = "tables")]
    profiles: Vec<PathBuf>,
    /// A library that the program loaded and that was instrumented too; may be repeated
    #[arg(long, value_name = "FILE")]
    library: Vec<PathBuf>,
    /// As text or JSON
    #[arg(long, default_value = "text", value_name = "FORMAT")]
    format: Format,
    /// Only functions of this name, demangled or not
    #[arg(long, value_name = "NAME")]
    function: Option<String>,
    /// Edge counts, recovered from the counts of paths
    #[arg(long, conflicts_with = "tables")]
    edges: bool,
    /// Calling contexts: the tree of all calls with their counts; with K, each function with its
    /// last K callers
    #[arg(
        long, value_name = "K", num_args = 0..=1, require_equals = true,
        default_missing_value = TREE, value_parser = shape, conflicts_with_all = ["edges", "tables"],
    )]
    contexts: Option<Shape>,
    /// The functions of the binary with their blocks, lines and edge values, and with their call
    /// sites
    #[arg(long, conflicts_with = "profiles")]
    tables: bool,
}

impl Show {
    pub(crate) fn run(self) -> Result<(), CommandError> {
        if self.tables {
            return self.show_tables();
        }
        let Show { binary, profiles, library, format, .. } = self;
        let opened = Inputs { binary, profiles, library }.open_named()?;
        let is_alone = opened.session.has_only_contexts() && format == Format::Text && !self.edges;
        if let Some(shape) = self.contexts.or(is_alone.then_some(Shape::Tree)) {
            let name = self.function.as_deref();
            let contexts = opened.contexts(shape, &ContextExtent::ALL, name, is_name)?;
            return Ok(write_to(None, |out| match format {
                Format::Json => write_rows(out, &contexts.json()),
                Format::Text => contexts::write(out, &contexts),
            })?);
        }
        let session = opened.session;
        let functions = only(session.functions()?, self.function, |function| function.table)?;
        if self.edges {
            let document = edges::document(&functions);
            self.format.print(&document, |out| edges::write(out, &functions))?;
        } else {
            let document = json::document(session.profile.k, &functions);
            write_to(None, |out| match self.format {
                Format::Json => write_rows(out, &document),
                Format::Text => text::write(out, &functions),
            })?;
        }
        Ok(())
    }

    fn show_tables(self) -> Result<(), CommandError> {
        let binaries = std::iter::once(self.binary).chain(self.library);
        let images = binaries.map(|binary| Ok(Image::open(&binary)?));
        let images = images.collect::<Result<Vec<Image>, JoinError>>()?;
        let mut paths: Vec<_> = images.iter().flat_map(|image| &image.tables).collect();
        let mut contexts: Vec<_> = images.iter().flat_map(|image| &image.contexts).collect();
        if let Some(name) = self.function {
            paths.retain(|table| is_name(&table.name, &name));
            contexts.retain(|table| is_name(&table.name, &name));
            if paths.is_empty() && contexts.is_empty() {
                return Err(CommandError::NoFunction(name));
            }
        }
        let document = tables::document(&paths, &contexts);
        Ok(self.format.print(&document, |out| tables::write(out, &paths, &contexts))?)
    }
}

/// Those of this name, for the linker or for people.
fn only<T>(
    mut all: Vec<T>,
    name: Option<String>,
    table: impl Fn(&T) -> &FunctionTable,
) -> Result<Vec<T>, CommandError> {
    let Some(name) = name else { return Ok(all) };
    all.retain(|one| is_name(&table(one).name, &name));
    if all.is_empty() { Err(CommandError::NoFunction(name)) } else { Ok(all) }
}
