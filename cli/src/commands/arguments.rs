//! Options that several subcommands have, and what they stand for.

use crate::commands::CommandError;
use crate::document::context_paths::ContextPaths;
use crate::document::{ContextDocument, ContextExtent, Document, Extent, Measure, Shape, document};
use crate::format::json;
use crate::format::names::has_in_name;
use crate::format::progress::Progress;
use crate::format::sink::{WriteError, write_to};
use crate::input::contexts::Called;
use crate::input::function::Function;
use crate::input::session::{JoinError, Session};
use crate::input::sources::Sources;
use clap::{Args, ColorChoice, ValueEnum};
use serde::Serialize;
use std::io::{self, Write};
use std::path::PathBuf;

/// What a profile is read with.
#[derive(Args, Debug)]
pub(crate) struct Inputs {
    /// The program that wrote the profiles
    pub(crate) binary: PathBuf,
    /// Profiles; several are added up
    #[arg(required = true, value_name = "PROFILE")]
    pub(crate) profiles: Vec<PathBuf>,
    /// A library that the program loaded and that was instrumented too; may be repeated
    #[arg(long, value_name = "FILE")]
    pub(crate) library: Vec<PathBuf>,
}

impl Inputs {
    /// Reads and joins them.
    pub(crate) fn open(self) -> Result<Session, JoinError> {
        let Inputs { binary, profiles, library } = self;
        let progress = Progress::new("reading profiles", profiles.len() as u64);
        let binaries: Vec<PathBuf> = std::iter::once(binary).chain(library).collect();
        Session::open(&binaries, &profiles, &|done| progress.done(done))
    }

    /// Reads and joins them, and keeps the name of the binary.
    pub(crate) fn open_named(self) -> Result<Opened, JoinError> {
        let binary = self.binary.display().to_string();
        Ok(Opened { binary, session: self.open()? })
    }
}

/// What was read, of which documents are made.
pub(crate) struct Opened {
    pub(crate) binary: String,
    pub(crate) session: Session,
}

impl Opened {
    /// Makes the document, for a view.
    pub(crate) fn with_document<T>(
        self,
        what: &'static str,
        extent: &Extent,
        sources: &mut Sources,
        view: impl FnOnce(&Document<'_>, &mut Sources) -> T,
    ) -> Result<T, CommandError> {
        let functions = self.session.functions()?;
        require_function(&functions, extent.function.as_deref())?;
        let document = self.document(what, &functions, extent, sources);
        Ok(view(&document, sources))
    }

    /// Makes the document of some functions.
    pub(crate) fn document<'a>(
        &self,
        what: &'static str,
        functions: &'a [Function<'a>],
        extent: &Extent,
        sources: &mut Sources,
    ) -> Document<'a> {
        let progress = Progress::new(what, extent.top as u64);
        let done = |done| progress.done(done);
        document(self.binary.clone(), &self.session, functions, extent, sources, &done)
    }

    /// Makes the document of calling contexts, of functions that `is_asked` picks. `name` is what
    /// it was asked by.
    pub(crate) fn contexts(
        &self,
        shape: Shape,
        extent: &ContextExtent,
        name: Option<&str>,
        is_asked: impl Fn(&str, &str) -> bool,
    ) -> Result<ContextDocument<'_>, CommandError> {
        let joined = self.session.contexts()?.ok_or(CommandError::NoContexts)?;
        self.require_called(&joined.functions, name, &is_asked)?;
        if extent.measure == Some(Measure::Time) && joined.contexts.time.is_none() {
            return Err(CommandError::NoTimes);
        }
        let (binary, measure) = (self.binary.clone(), extent.measure);
        let mut document = ContextDocument::of(binary, &self.session, joined, shape, measure);
        document.cut(extent, |called| name.is_none_or(|name| is_asked(&called.name(), name)));
        Ok(document)
    }

    /// Makes the document of the paths of contexts, of functions with this in their names.
    pub(crate) fn context_paths(
        &self,
        top: usize,
        name: Option<&str>,
    ) -> Result<ContextPaths, CommandError> {
        let joined = self.session.contexts()?.ok_or(CommandError::NoContexts)?;
        if !joined.contexts.has_forests() {
            return Err(CommandError::NoContextPaths);
        }
        let functions = self.session.functions()?;
        require_function(&functions, name)?;
        let is_asked = |function: &str| name.is_none_or(|name| has_in_name(function, name));
        Ok(ContextPaths::of(self.binary.clone(), &joined, &functions, top, is_asked)?)
    }

    /// Fails if a function of which calling contexts are profiled is asked for by its name, and
    /// there is none.
    pub(crate) fn require_called(
        &self,
        functions: &[Called<'_>],
        name: Option<&str>,
        is_asked: impl Fn(&str, &str) -> bool,
    ) -> Result<(), CommandError> {
        let Some(name) = name else { return Ok(()) };
        let mut tables = self.session.images.iter().flat_map(|image| &image.contexts);
        let is_there = tables.any(|table| is_asked(&table.name, name))
            || functions.iter().any(|called| is_asked(&called.name(), name));
        if is_there { Ok(()) } else { Err(CommandError::NoContextsOf(name.to_string())) }
    }
}

/// Most callers that contexts can be cut down to.
const MOST_CALLERS: u32 = 64;

/// What `--contexts` stands for without a value.
pub(crate) const TREE: &str = "tree";

/// The value of `--contexts`.
pub(crate) fn shape(text: &str) -> Result<Shape, String> {
    match text.parse() {
        _ if text == TREE => Ok(Shape::Tree),
        Ok(k) if k <= MOST_CALLERS => Ok(Shape::Callers(k)),
        _ => Err(format!("it must be a number of callers, from 0 to {MOST_CALLERS}")),
    }
}

/// Fails if a function is asked for by a part of its name, and there is none.
pub(crate) fn require_function(
    functions: &[Function<'_>],
    name: Option<&str>,
) -> Result<(), CommandError> {
    match name {
        Some(name) if !functions.iter().any(|function| function.is_named(name)) => {
            Err(CommandError::NoFunction(name.to_string()))
        }
        _ => Ok(()),
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Json,
}

impl Format {
    /// Prints a result.
    pub(crate) fn print(
        self,
        document: &impl Serialize,
        text: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), WriteError> {
        write_to(None, |out| match self {
            Format::Json => json::write_line(out, document),
            Format::Text => text(out),
        })
    }
}

/// Prints text with its colours, where they are wanted.
pub(crate) fn print_colored(text: &str, when: ColorChoice) -> Result<(), WriteError> {
    match when {
        ColorChoice::Auto => anstream::ColorChoice::Auto,
        ColorChoice::Always => anstream::ColorChoice::Always,
        ColorChoice::Never => anstream::ColorChoice::Never,
    }
    .write_global();
    let mut out = anstream::stdout();
    let written = out.write_all(text.as_bytes()).and_then(|()| out.flush());
    written.map_err(|error| WriteError { path: "standard output".into(), error })
}

/// The value of `--min-percent`.
pub(crate) fn percentage(text: &str) -> Result<f64, String> {
    let value = text.parse().ok().filter(|value| (0.0..=100.0).contains(value));
    value.ok_or_else(|| "it must be a number from 0 to 100".into())
}
