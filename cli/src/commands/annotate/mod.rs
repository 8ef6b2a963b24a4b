//! `midflight annotate`: source beside counts.

pub mod calls;
pub mod text;

use crate::commands::CommandError;
use crate::commands::arguments::{Inputs, Opened, print_colored, require_function};
use crate::document::{Calls, ContextExtent, Document, Extent, Shape};
use crate::format::names::has_in_name;
use crate::input::binary::Image;
use crate::input::sources::Sources;
use clap::{Args, ColorChoice};
use midflight_profile::table::{ContextTable, FunctionTable};
use std::collections::HashMap;
use std::path::PathBuf;
use text::{Annotated, PATHS, annotate};

pub(crate) const HELP: &str = "\
Of each of the hottest functions its source: beside each line how often it ran, and which of the
function's hottest paths go over it, a column and a colour each. Where calling contexts were counted:
who has called the function, below its declaration, and which functions each line has called.

Examples:
  midflight annotate prog midflight-*.mfp --function compress
  midflight annotate prog a.mfp --source-dir ~/src --color always | less -R";

#[derive(Args, Debug)]
pub(crate) struct Annotate {
    #[command(flatten)]
    inputs: Inputs,
    /// How many functions, those with the most work first, or activations where there are no paths
    #[arg(long, default_value_t = 5, value_name = "N")]
    top: usize,
    /// How many paths have a column, up to 6
    #[arg(long, default_value_t = PATHS, value_name = "N")]
    paths: usize,
    /// How many calls are told below a line
    #[arg(long, default_value_t = 8, value_name = "N")]
    calls: usize,
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
        let Annotate { top, function, paths, calls: most, color, .. } = self;
        let opened = self.inputs.open_named()?;
        let shape = Shape::Callers(1);
        let calls = match opened.session.profile.contexts {
            Some(_) => Some(opened.contexts(shape, &ContextExtent::ALL, None, has_in_name)?),
            None => None,
        };
        let calls = calls.map(Calls::of);
        let functions = match opened.session.has_only_contexts() {
            true => Vec::new(),
            false => opened.session.functions()?,
        };
        let name = function.as_deref();
        require_function(&functions, name).or_else(|complaint| match &calls {
            Some(calls) => opened.require_called(&calls.document.functions, name, has_in_name),
            None => Err(complaint),
        })?;
        let mut sources = Sources::new(self.source_dir, true);
        let extent = Extent { top, min_percent: 100.0, function, ..Extent::default() };
        let document = opened.document("counting lines", &functions, &extent, &mut sources);
        let shown = chosen(&opened, &document, calls.as_ref(), &extent, &mut sources);
        let extent = text::Extent { paths, calls: most };
        Ok(print_colored(&annotate(&shown, &document, calls.as_ref(), &extent), color)?)
    }
}

/// The functions of the document, with their calls, and behind them those of which calls alone were
/// counted, up to as many as are asked for.
fn chosen<'d>(
    opened: &Opened,
    document: &'d Document<'d>,
    calls: Option<&Calls<'_>>,
    extent: &Extent,
    sources: &mut Sources,
) -> Vec<Annotated<'d>> {
    let images = &opened.session.images;
    let called = calls.into_iter().flat_map(|calls| calls.document.functions.iter().zip(0..));
    let places: HashMap<Known<'_>, usize> = called
        .filter_map(|(called, place)| Some((known_call(images, called.table?), place)))
        .collect();
    let of_paths = document.functions.iter().map(|paths| Annotated {
        calls: places.get(&known_paths(images, paths.function.table)).copied(),
        ..Annotated::of_paths(paths)
    });
    let mut shown: Vec<Annotated<'d>> = of_paths.collect();
    let Some(calls) = calls else { return shown };
    for place in calls.by_activations() {
        let called = calls.called(place);
        let is_asked = |name: &String| has_in_name(&called.name(), name);
        if shown.len() < extent.top
            && called.table.is_some()
            && extent.function.as_ref().is_none_or(is_asked)
            && shown.iter().all(|function| function.calls != Some(place))
        {
            shown.push(Annotated::of_calls(calls, place, sources));
        }
    }
    shown
}

/// What a function is known by in records of both kinds: its image, its name and its unit.
type Known<'a> = (Option<usize>, &'a str, &'a str);

fn known_paths<'a>(images: &[Image], table: &'a FunctionTable) -> Known<'a> {
    let has = |image: &Image| image.tables.as_ptr_range().contains(&std::ptr::from_ref(table));
    (images.iter().position(has), &table.name, &table.unit)
}

fn known_call<'a>(images: &[Image], table: &'a ContextTable) -> Known<'a> {
    let has = |image: &Image| image.contexts.as_ptr_range().contains(&std::ptr::from_ref(table));
    (images.iter().position(has), &table.name, &table.unit)
}
