//! The names of the passes, and where they stand in the standard pipeline.

use crate::options::{Options, Stage, parse};
use crate::path_profile_gen::PathProfileGen;
use crate::print_numbering::PrintNumbering;
use midflight_bridge::plugin::{ExtensionPoint, Pass, Passes, failed};

/// For the plugin's entry point.
pub const PASSES: Passes = Passes { by_name, for_pipeline };

/// `path-profile-gen`, `path-profile-gen<…>`, `print<path-numbering>`,
/// `print<path-numbering;…>`.
fn by_name(name: &str) -> Option<Box<dyn Pass>> {
    if let Some(parameters) = parameters_of(name, "path-profile-gen") {
        return Some(make(name, parameters, |options| Box::new(PathProfileGen(options))));
    }
    let parameters = match parameters_of(name, "print")?.strip_prefix("path-numbering")? {
        "" => "",
        rest => rest.strip_prefix(';')?,
    };
    Some(make(name, parameters, |options| Box::new(PrintNumbering(options))))
}

/// The text between `<` and `>` behind a pass's name, empty if there is none.
fn parameters_of<'a>(text: &'a str, pass: &str) -> Option<&'a str> {
    match text.strip_prefix(pass)? {
        "" => Some(""),
        rest => rest.strip_prefix('<')?.strip_suffix('>'),
    }
}

fn make(
    name: &str,
    parameters: &str,
    pass: impl FnOnce(Options) -> Box<dyn Pass>,
) -> Box<dyn Pass> {
    match parse(parameters) {
        Ok(options) => pass(options),
        Err(error) => failed(format!("pass '{name}': {error}")),
    }
}

/// In clang the profiler runs once, at the point that its stage names.
fn for_pipeline(text: &str, point: ExtensionPoint) -> Option<Box<dyn Pass>> {
    match parse(text) {
        Ok(options) => {
            let wanted = match options.stage {
                Stage::Early => ExtensionPoint::Start,
                Stage::Late => ExtensionPoint::Last,
            };
            (point == wanted).then(|| Box::new(PathProfileGen(options)) as Box<dyn Pass>)
        }
        Err(error) if point == ExtensionPoint::Start => {
            Some(failed(format!("options '{text}': {error}")))
        }
        Err(_) => None,
    }
}
