//! `print<osr-map;…>(PIPELINE)`: the mappings between each function and what a pipeline makes of
//! it, as JSON.

use crate::driver::{Driver, definitions, reason_to_refuse};
use crate::option_table::{self, Item, OptionError, choice, flag, item, most_points, set, text};
use crate::osr::map::do_passes::do_passes;
use crate::osr::map::maps::{for_binary, strongest, write_maps};
use crate::osr::map::opt_pass::woven_maps;
use crate::osr::map::optimize::{THESIS_PIPELINE, Trust, TwoVersions};
use crate::osr::map::report::report;
use crate::osr::place::Where;
use midflight_bridge::ir::{Function, Module, print};
use midflight_bridge::pass::{Analyses, Pass};
use midflight_bridge::sandbox::Sandbox;
use midflight_mapping::refusal::Refusal;
use midflight_mapping::versions::version::PerVersion;
use midflight_profile::osr_maps::report::{Function as Reported, Report, VERSION};

/// Which mappings are printed as data.
#[derive(Clone, Copy, Debug)]
enum Which {
    /// The strongest of each point
    Each,
    /// Those that `osr-opt<fuzz>` weaves, as it leaves them in the binary
    Woven,
}

/// The pass.
#[derive(Clone, Debug, Default)]
pub struct PrintMap {
    pipeline: String,
    file: Option<String>,
    detail: bool,
    compose: bool,
    maps: Option<Which>,
    max_points: Option<u32>,
    functions: Vec<String>,
}

pub(crate) const OPTIONS: &[Item<PrintMap>] = &[
    item("file=FILE", |o, value| set(&mut o.file, text("file", value).map(Some))),
    flag("detail", |o| o.detail = true),
    flag("compose", |o| o.compose = true),
    flag("maps", |o| o.maps = Some(Which::Each)),
    item("maps=woven", |o, value| {
        set(&mut o.maps, choice("maps", value, &[("woven", Which::Woven)]).map(Some))
    }),
    item("max-points=N", |o, value| set(&mut o.max_points, most_points(value))),
    item("function=NAME", |o, value| text("function", value).map(|name| o.functions.push(name))),
];

impl PrintMap {
    /// Parses options. `pipeline` is what stood behind them in parentheses.
    ///
    /// # Errors
    /// [`OptionError`] for the first option that is wrong.
    pub fn parse(text: &str, pipeline: Option<&str>) -> Result<Self, OptionError> {
        let mut result = PrintMap {
            pipeline: pipeline.unwrap_or(THESIS_PIPELINE).to_string(),
            ..PrintMap::default()
        };
        option_table::parse(&[OPTIONS], text, &mut result)?;
        Ok(result)
    }

    /// Reports on one function, which has a body. The function is prepared for points.
    ///
    /// # Errors
    /// LLVM's message if there is no such pipeline. Within, why the function has no points.
    pub fn function(
        &self,
        module: Module<'_>,
        function: Function<'_>,
        sandbox: &Sandbox,
    ) -> Result<Result<Reported, Refusal>, String> {
        if let Some(refusal) = reason_to_refuse(module, function, None) {
            return Ok(Err(refusal));
        }
        function.prepare_for_points();
        let two = TwoVersions::make(sandbox, function, &self.pipeline)?;
        let snapshots = two.snapshots();
        let comparison = two.compare(Trust::Proved, sandbox, &snapshots);
        let (mut mapper, handles) = (comparison.mapper(), &comparison.handles);
        let mut found = report(&two, &mapper, handles, sandbox, self.detail);
        found.maps = self.maps.map(|which| match which {
            Which::Each => strongest(&mapper, handles),
            Which::Woven => {
                let places = PerVersion::from_fn(|_| &Where::All);
                let maps = woven_maps(&mut mapper, handles.snapshots, places, self.max_points);
                for_binary(write_maps(&mapper, handles, &maps))
            }
        });
        drop(mapper);
        comparison.end();
        two.opt.erase();
        if self.compose {
            found.composed = Some(do_passes(sandbox, function, &self.pipeline)?);
        }
        Ok(Ok(found))
    }
}

impl Pass for PrintMap {
    fn run(&self, module: Module<'_>, _: &Analyses<'_>) -> bool {
        let mut result =
            Report { version: VERSION, pipeline: self.pipeline.clone(), ..Report::default() };
        let sandbox = Sandbox::default();
        let mut functions = definitions(module);
        functions.retain(|f| self.functions.is_empty() || self.functions.contains(&f.name()));
        for name in &self.functions {
            if !functions.iter().any(|f| f.name() == *name) {
                module.error(&format!(
                    "midflight: printing OSR mappings: there is no function '{name}' with a body"
                ));
                return false;
            }
        }
        let mut failed = None;
        let driver = Driver::reading("printing the OSR mappings of '{}'");
        let all_done = driver.run(module, &functions, |function| {
            if failed.is_none() {
                match self.function(module, function, &sandbox) {
                    Ok(Ok(found)) => result.functions.push(found),
                    Ok(Err(refusal)) => {
                        *result.refused_functions.entry(refusal.name().into()).or_default() += 1;
                    }
                    Err(message) => failed = Some(message),
                }
            }
            Ok(Vec::new())
        });
        if let Some(message) = failed {
            module.error(&format!("midflight: running the passes '{}': {message}", self.pipeline));
            return true;
        }
        if !all_done {
            return true;
        }
        let text = match serde_json::to_string(&result) {
            Ok(text) => text + "\n",
            Err(error) => {
                module.error(&format!("midflight: printing OSR mappings: {error}"));
                return true;
            }
        };
        match &self.file {
            None => print(&text),
            Some(file) => {
                if let Err(error) = std::fs::write(file, text) {
                    module.error(&format!(
                        "midflight: writing OSR mappings to '{file}': {error}; name a file in a \
                         folder that can be written to"
                    ));
                }
            }
        }
        true
    }
}
