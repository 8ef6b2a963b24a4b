//! The names of the passes, and where they stand in the standard pipeline.

use crate::contexts::cct_profile_gen::CctProfileGen;
use crate::contexts::options as contexts;
use crate::option_table::{OptionError, shapes};
use crate::osr::deopt::options::{self as deopt_options, DeoptOptions};
use crate::osr::deopt::pass::DeoptPass;
use crate::osr::map::opt_options::{self, OptOptions};
use crate::osr::map::opt_pass::OptPass;
use crate::osr::map::print_map::{self, PrintMap};
use crate::osr::options::{COMMON_OPTIONS, FUZZ_OPTIONS, OsrOptions, POINT_OPTIONS};
use crate::osr::pass::OsrPass;
use crate::osr::print_liveness::PrintLiveness;
use crate::osr::print_points::{self, PrintPoints};
use crate::paths::options::{self, parse, parse_use};
use crate::paths::path_profile_gen::PathProfileGen;
use crate::paths::print_numbering::PrintNumbering;
use midflight_bridge::ir::Module;
use midflight_bridge::pass::{Analyses, Pass, failed};
use midflight_profile::table::Stage;

/// `osr-opt` with one pass, and what that needs.
const SHORT_FORMS: [(&str, &str); 4] = [
    ("osr-adce", "adce"),
    ("osr-sccp", "sccp"),
    ("osr-licm", "loop-simplify,lcssa,loop-mssa(licm)"),
    ("osr-sink", "sink"),
];

/// What the passes take, as users know it: for each, its name and the shapes of its options.
pub fn options_of_passes() -> [(&'static str, Vec<&'static str>); 9] {
    [
        ("path-profile-gen", shapes(&[options::OPTIONS])),
        ("cct-profile-gen", shapes(&[contexts::OPTIONS])),
        ("path-profile-use", shapes(&[options::USE_OPTIONS])),
        ("osr-point", shapes(&[POINT_OPTIONS, COMMON_OPTIONS])),
        ("osr-fuzz", shapes(&[FUZZ_OPTIONS, COMMON_OPTIONS])),
        ("osr-opt", shapes(&[opt_options::OPTIONS])),
        ("osr-deopt", shapes(&[deopt_options::OPTIONS])),
        ("print<osr-points>", shapes(&[print_points::OPTIONS])),
        ("print<osr-map>", shapes(&[print_map::OPTIONS])),
    ]
}

/// Where in the standard pipeline; the plugin's C++ knows them by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ExtensionPoint {
    /// LLVM's `PipelineStart`: what the front end made, before anything is optimized
    Start,
    /// There too, behind passes that inline small functions
    Inlined,
    /// LLVM's `OptimizerLast`: after all optimizations of the module
    Last,
}

/// The pass of a name in a pipeline text, with its parameters, which may be left out:
/// `path-profile-gen<…>`, `path-profile-use<file=F>`, `cct-profile-gen<…>`, `osr-point<…>`,
/// `osr-fuzz<…>`, `osr-opt<…>(…)`, `osr-deopt<…>(…)`, `print<path-numbering;…>`,
/// `print<osr-liveness>`, `print<osr-points;…>`. None if the name is not ours.
pub fn by_name(text: &str) -> Option<Box<dyn Pass>> {
    let (name, pipeline) = split_pipeline(text);
    if let Some(parameters) = parameters_of(name, "print")
        && let ("osr-map", parameters) = parameters.split_once(';').unwrap_or((parameters, ""))
    {
        let pass = PrintMap::parse(parameters, pipeline);
        return Some(make(name, pass, |pass| Box::new(pass)));
    }
    if let Some(parameters) = parameters_of(name, "osr-opt") {
        let options = OptOptions::parse(parameters, pipeline);
        return Some(make(name, options, |options| Box::new(OptPass(options))));
    }
    if let Some(parameters) = parameters_of(name, "osr-deopt") {
        let options = DeoptOptions::parse(parameters, pipeline);
        return Some(make(name, options, |options| Box::new(DeoptPass(options))));
    }
    #[cfg(feature = "mutants")]
    if text == "debug-deopt-frames" {
        return Some(Box::new(crate::osr::deopt::self_frames::SelfFrames));
    }
    if pipeline.is_some() {
        return None;
    }
    for (short, pipeline) in SHORT_FORMS {
        if let Some(parameters) = parameters_of(name, short) {
            let options = OptOptions::parse(parameters, Some(pipeline));
            return Some(make(name, options, |options| Box::new(OptPass(options))));
        }
    }
    if let Some(parameters) = parameters_of(name, "path-profile-gen") {
        return Some(make(name, parse(parameters), |options| Box::new(PathProfileGen(options))));
    }
    if let Some(parameters) = parameters_of(name, "cct-profile-gen") {
        let options = contexts::parse(parameters);
        return Some(make(name, options, |options| Box::new(CctProfileGen(options))));
    }
    if let Some(parameters) = parameters_of(name, "path-profile-use") {
        return Some(make(name, parse_use(parameters), |pass| Box::new(pass)));
    }
    if let Some(parameters) = parameters_of(name, "osr-point") {
        let options = OsrOptions::parse_point(parameters);
        return Some(make(name, options, |options| Box::new(OsrPass(options))));
    }
    if let Some(parameters) = parameters_of(name, "osr-fuzz") {
        let options = OsrOptions::parse_fuzz(parameters);
        return Some(make(name, options, |options| Box::new(OsrPass(options))));
    }
    let printed = parameters_of(name, "print")?;
    let (what, parameters) = printed.split_once(';').unwrap_or((printed, ""));
    match what {
        "path-numbering" => {
            Some(make(name, parse(parameters), |options| Box::new(PrintNumbering(options))))
        }
        "osr-liveness" if parameters.is_empty() => Some(Box::new(PrintLiveness)),
        "osr-points" => Some(make(name, PrintPoints::parse(parameters), |pass| Box::new(pass))),
        _ => None,
    }
}

/// A pass's name with its parameters, and the pipeline behind them in parentheses.
fn split_pipeline(text: &str) -> (&str, Option<&str>) {
    let split = || {
        let open = text.find('(')?;
        Some((&text[..open], text[open + 1..].strip_suffix(')')?))
    };
    // A parenthesis may be in a parameter too.
    match split() {
        Some((name, pipeline)) if !name.contains('<') || name.ends_with('>') => {
            (name, Some(pipeline))
        }
        _ => (text, None),
    }
}

/// The text between `<` and `>` behind a pass's name, empty if there is none.
fn parameters_of<'a>(text: &'a str, pass: &str) -> Option<&'a str> {
    match text.strip_prefix(pass)? {
        "" => Some(""),
        rest => rest.strip_prefix('<')?.strip_suffix('>'),
    }
}

fn make<O, E: std::fmt::Display>(
    name: &str,
    options: Result<O, E>,
    pass: impl FnOnce(O) -> Box<dyn Pass>,
) -> Box<dyn Pass> {
    match options {
        Ok(options) => pass(options),
        Err(error) => failed(format!("pass '{name}': {error}")),
    }
}

/// The pass that the options of the standard pipeline ask for, and where it runs: in clang one
/// pass runs, once, at the point that its stage names: the profiler, or the OSR pass that the first
/// option names.
pub fn for_pipeline(text: &str) -> (ExtensionPoint, Box<dyn Pass>) {
    let (first, rest) = text.split_once(';').unwrap_or((text, ""));
    let pass = match first.trim() {
        "osr-fuzz" => osr_pass(OsrOptions::parse_fuzz(rest)),
        "osr-point" => osr_pass(OsrOptions::parse_point(rest)),
        "osr-opt" => OptOptions::parse(rest, None)
            .map(|options| {
                let early = options.stage == Stage::Early;
                let options = if early { options.of_unoptimized() } else { options };
                (options.stage, Box::new(OptPass(options)) as Box<dyn Pass>)
            })
            .map_err(|error| error.to_string()),
        "contexts" => contexts::parse(rest)
            .map(|options| (options.stage, Box::new(CctProfileGen(options)) as Box<dyn Pass>))
            .map_err(|error| error.to_string()),
        "contexts+paths" => both(rest).map_err(|error| error.to_string()),
        first if first.starts_with("use=") => parse_use(&text.replacen("use=", "file=", 1))
            .map(|pass| (pass.weights.stage, Box::new(pass) as Box<dyn Pass>))
            .map_err(|error| error.to_string()),
        _ => parse(text)
            .map(|options| (options.stage, Box::new(PathProfileGen(options)) as Box<dyn Pass>))
            .map_err(|error| error.to_string()),
    };
    match pass {
        Ok((Stage::Early, pass)) => (ExtensionPoint::Start, pass),
        Ok((Stage::Inlined, pass)) => (ExtensionPoint::Inlined, pass),
        Ok((Stage::Late, pass)) => (ExtensionPoint::Last, pass),
        Err(error) => (ExtensionPoint::Start, failed(format!("options '{text}': {error}"))),
    }
}

/// Paths first, and calling contexts of what has calls then as it had before: options of both
/// passes, each of which goes to those that have it.
fn both(text: &str) -> Result<(Stage, Box<dyn Pass>), OptionError> {
    let (mut of_contexts, mut of_paths) = (Vec::new(), Vec::new());
    for option in text.split(';').filter(|option| !option.trim().is_empty()) {
        let name = option.trim().split('=').next().unwrap_or_default();
        let has = |shapes: Vec<&'static str>| {
            shapes.iter().any(|shape| shape.split('=').next() == Some(name))
        };
        let is_of_contexts = has(shapes(&[contexts::OPTIONS]));
        if is_of_contexts {
            of_contexts.push(option);
        }
        // One that neither has is refused there.
        if has(shapes(&[options::OPTIONS])) || !is_of_contexts {
            of_paths.push(option);
        }
    }
    let contexts = contexts::parse(&of_contexts.join(";"))?;
    let mut paths = parse(&of_paths.join(";"))?;
    paths.stage = contexts.stage;
    let strips = std::mem::take(&mut paths.strip_lines);
    let contexts = contexts::Options { strip_lines: contexts.strip_lines || strips, ..contexts };
    let stage = contexts.stage;
    Ok((stage, Box::new(Both(PathProfileGen(paths), CctProfileGen(contexts)))))
}

/// Both profilers, one after the other.
struct Both(PathProfileGen, CctProfileGen);

impl Pass for Both {
    fn run(&self, module: Module<'_>, analyses: &Analyses<'_>) -> bool {
        let Both(paths, contexts) = self;
        let changed = paths.run(module, analyses);
        contexts.run(module, analyses) || changed
    }
}

/// Versions are made of what mem2reg leaves, which without optimization has not run.
fn osr_pass(options: Result<OsrOptions, OptionError>) -> Result<(Stage, Box<dyn Pass>), String> {
    let mut options = options.map_err(|error| error.to_string())?;
    let stage = options.stage();
    options.promote |= stage == Stage::Early || options.open.is_some();
    Ok((stage, Box::new(OsrPass(options))))
}
