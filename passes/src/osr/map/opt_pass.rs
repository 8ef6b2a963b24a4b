//! `osr-opt(PIPELINE)`: a second, optimized version of each function, and points that lead from
//! each to the other (thesis 4.2).

use crate::driver::{Driver, changeable, reason_to_refuse};
use crate::osr::compensate::Material;
use crate::osr::map::flags::Classes;
use crate::osr::map::keep::kept;
use crate::osr::map::maps::{for_binary, write_maps};
use crate::osr::map::multi_version::{MultiVersion, dead};
use crate::osr::map::opt_options::{Behind, OptOptions};
use crate::osr::map::optimize::{TwoVersions, points_of};
use crate::osr::map::read::Handles;
#[cfg(feature = "mutants")]
use crate::osr::mutants::{Mutant, StaleLoads};
use crate::osr::pass::{REMARKS, tell_of_many, thin, warn_of_flags};
use crate::osr::place::{Where, place};
use crate::osr::weave::weave;
use crate::read_code::{CodeSnapshot, Constants, read_with};
use midflight_bridge::ir::{Function, Module};
use midflight_bridge::pass::{Analyses, Pass};
use midflight_bridge::sandbox::Sandbox;
use midflight_mapping::mapping::mapper::{Mapper, OsrMap};
use midflight_mapping::mapping::side::Side;
use midflight_mapping::points::Boundary;
use midflight_mapping::versions::version::{PerVersion, Version};
use midflight_profile::osr_maps::{FunctionMaps, Maps};
use std::collections::HashSet;

/// The pass.
pub struct OptPass(pub OptOptions);

impl Pass for OptPass {
    fn run(&self, module: Module<'_>, analyses: &Analyses<'_>) -> bool {
        let functions = changeable(module, "making versions");
        if functions.is_empty() {
            return false;
        }
        let sandbox = Sandbox::default();
        if let Err(message) = sandbox.check_pipeline(&self.0.pipeline) {
            module.error(&format!(
                "midflight: osr-opt: '{}' is no pipeline of function passes: {message}",
                self.0.pipeline
            ));
            return false;
        }
        if self.0.by_entry {
            sandbox.use_target(analyses, module);
        }
        warn_of_flags(module, &[self.0.up, self.0.down]);
        let driver = Driver {
            doing: "making versions of '{}'",
            verify: self.0.verify,
            panic_at: self.0.panic_at.as_deref(),
        };
        driver.run(module, &functions, |function| self.function(module, function, &sandbox));
        true
    }
}

/// What is decided of a function before it is changed.
struct Plan<'m> {
    maps: PerVersion<OsrMap>,
    /// Instructions that are taken for each other
    classes: Classes<'m>,
    /// The mappings as data, if the binary is to have them
    data: Option<Maps>,
}

pub(super) fn takes_part(side: &Side, point: usize) -> bool {
    let point = &side.points[point];
    point.further.is_none() && side.is_useful_inst(point.at)
}

/// The points of a version at a place that can be ones, at most so many.
pub(super) fn wanted(
    at: &Where,
    max_points: Option<u32>,
    snapshot: &CodeSnapshot<'_>,
    points: &[Boundary],
) -> Vec<usize> {
    let all: Vec<_> = points.iter().map(|p| p.at).collect();
    let mut all = place(at, None, snapshot, &all);
    all.retain(|&p| points[p].refusal.is_none());
    thin(all, max_points)
}

/// The mappings that are woven: those of the points at these places of base and of opt, at most so
/// many of each.
pub fn woven_maps(
    mapper: &mut Mapper<'_>,
    snapshots: PerVersion<&CodeSnapshot<'_>>,
    places: PerVersion<&Where>,
    max_points: Option<u32>,
) -> PerVersion<OsrMap> {
    let wanted = |which: Version| -> HashSet<usize> {
        let side = &mapper.sides[which];
        let chosen = wanted(places[which], max_points, snapshots[which], &side.points);
        let is_header = matches!(places[which], Where::LoopHeader(_));
        let graph = mapper.proof.versions.graph(which);
        let first_useful = |p: usize| {
            let block = graph.block(side.points[p].at);
            (p..side.points.len())
                .take_while(|&q| graph.block(side.points[q].at) == block)
                .find(|&q| takes_part(side, q))
        };
        // The continuation has no point where a header begins with dead code: behind that is as
        // good.
        chosen.into_iter().map(|p| first_useful(p).filter(|_| is_header).unwrap_or(p)).collect()
    };
    let (up, down) = (wanted(Version::Base), wanted(Version::Opt));
    mapper
        .closed(&takes_part, PerVersion { base: &|p| up.contains(&p), opt: &|p| down.contains(&p) })
}

/// The record of the mappings for the binary.
fn describe(
    module: Module<'_>,
    function: Function<'_>,
    pipeline: String,
    maps: &Maps,
) -> Result<Vec<u8>, String> {
    let maps = FunctionMaps {
        name: function.name(),
        file: module.source_file(),
        pipeline,
        maps: maps.clone(),
    };
    maps.encode().ok_or_else(|| "its mappings have 4 GiB or more".to_string())
}

impl OptPass {
    /// Makes the versions of one function, which has a body, of a pipeline that there is. Returns
    /// all functions that were changed; none if no point of base was asked for.
    ///
    /// # Errors
    /// LLVM's message if there is no such pipeline.
    pub fn function<'m>(
        &self,
        module: Module<'m>,
        function: Function<'m>,
        sandbox: &Sandbox,
    ) -> Result<Vec<Function<'m>>, String> {
        let options = &self.0;
        if let Some(refusal) = reason_to_refuse(module, function, options.functions.as_ref()) {
            if refusal.is_news() {
                let message =
                    format!("no versions of '{}': {}", function.name(), refusal.message());
                function.remark_missed(REMARKS, refusal.name(), &message);
            }
            return Ok(Vec::new());
        }
        match options.behind {
            Behind::Nothing => {}
            Behind::Mem2Reg => {
                function.promote_allocas();
            }
            Behind::Sroa => sandbox.run(function, "sroa")?,
        }
        function.prepare_for_points();
        if options.by_entry {
            return self.up_by_entry(function, sandbox);
        }
        if let Some(alone) = options.alone {
            return self.leave_alone(alone, function, sandbox);
        }
        let base = read_with(function, Some(Constants::default()));
        let points = points_of(&base);
        let up = wanted(&options.up_at, options.max_points, &base, &points);
        if up.is_empty() {
            // Nothing would lead to opt.
            return Ok(Vec::new());
        }
        tell_of_many(function, up.len());
        let (pipeline, left_out) = match options.keep {
            Some(percent) => kept(sandbox, function, &options.pipeline, percent)?,
            None => (options.pipeline.clone(), Vec::new()),
        };
        for pass in left_out {
            function.remark_missed(REMARKS, "PassLeftOut", &pass.to_string());
        }
        let two = TwoVersions::make(sandbox, function, &pipeline)?;
        let opt = read_with(two.opt, Some((*base.constants).clone()));
        let snapshots = PerVersion { base, opt };
        let trust = options.trust;
        #[cfg(feature = "mutants")]
        let trust = options.mutant.map_or(trust, |m| m.trust(&two, sandbox, &snapshots));
        let comparison = two.compare(trust, sandbox, &snapshots);
        #[cfg(feature = "mutants")]
        let stale_loads = StaleLoads(&comparison.handles);
        let points = PerVersion { base: points, opt: points_of(&snapshots.opt) };
        let mut mapper = Mapper::new(&comparison.proof, &comparison.handles, points);
        #[cfg(feature = "mutants")]
        if options.mutant == Some(Mutant::Load) {
            mapper.oracle = &stale_loads;
        }
        let plan = self.plan(&mut mapper, &comparison.handles);
        let sides = mapper.sides;
        // From here on the functions change.
        let (versions, constants) = comparison.end();
        self.report_refusals(&plan.maps, &sides, &snapshots);
        if plan.maps.base.leads_somewhere() {
            plan.classes.equalize_flags();
        }
        let description = match &plan.data {
            Some(maps) => Some(describe(module, function, pipeline, maps)?),
            None => None,
        };
        let dead = PerVersion::from_fn(|which| dead(&sides[which], &versions.of[which]));
        let at = sides.as_ref().map(|side| side.points.iter().map(|p| p.at).collect());
        let further =
            sides.as_ref().map(|s| (0..s.points.len()).map(|p| takes_part(s, p)).collect());
        let versions = MultiVersion {
            snapshots: &snapshots,
            at: &at,
            further: &further,
            maps: &plan.maps,
            dead,
            material: Material {
                constant: &|id| constants[id as usize],
                store: &|inst| snapshots.base.instructions[inst],
                ..Material::NONE
            },
            conditions: PerVersion { base: options.up, opt: options.down },
            description,
        };
        let Some(plan) = versions.plan() else {
            two.opt.erase();
            return Ok(vec![function]);
        };
        let mut changed = weave(&snapshots.base, &plan);
        changed.push(function);
        Ok(changed)
    }

    fn plan<'m>(&self, mapper: &mut Mapper<'_>, handles: &Handles<'_, 'm>) -> Plan<'m> {
        let options = &self.0;
        let places = PerVersion { base: &options.up_at, opt: &options.down_at };
        let maps = woven_maps(mapper, handles.snapshots, places, options.max_points);
        let data = options.describe.then(|| for_binary(write_maps(mapper, handles, &maps)));
        #[cfg(feature = "mutants")]
        let maps = match options.mutant {
            Some(mutant) => mutant.mutate(maps, mapper, handles),
            None => maps,
        };
        Plan { maps, classes: Classes::new(mapper.proof, handles), data }
    }

    pub(super) fn report_refusals(
        &self,
        maps: &PerVersion<OsrMap>,
        sides: &PerVersion<Side>,
        snapshots: &PerVersion<CodeSnapshot<'_>>,
    ) {
        for which in Version::BOTH {
            let other = match which {
                Version::Base => "optimized",
                Version::Opt => "base",
            };
            for (number, point) in sides[which].points.iter().enumerate() {
                if let Some(refusal) = maps[which].refusal(number)
                    && refusal.is_news()
                {
                    let message =
                        format!("no OSR to the {other} version here: {}", refusal.message());
                    let at = snapshots[which].instructions[point.at];
                    at.remark_missed(REMARKS, refusal.name(), &message);
                }
            }
        }
    }
}
