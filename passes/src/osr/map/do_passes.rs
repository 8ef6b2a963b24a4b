//! Passes applied one after the other, with a mapping for each (thesis Alg. 10 `do_passes`), and
//! what their composition gives.

use crate::osr::map::optimize::{Trust, TwoVersions};
use crate::osr::map::read::Handles;
use midflight_bridge::ir::{Function, Value};
use midflight_bridge::sandbox::{Sandbox, Tracker};
use midflight_ir::ids::InstId;
use midflight_mapping::mapping::check_composed::{Ancestry, Check, Finding};
use midflight_mapping::mapping::compose::{
    Between, Broken, ComposedMap, ComposedPoint, Step, StepExpr, compose,
};
use midflight_mapping::mapping::mapper::Mapper;
use midflight_mapping::mapping::reconstruct::Variant;
use midflight_mapping::versions::graph::{ConstId, Operand};
use midflight_mapping::versions::version::{PerVersion, Version};
use midflight_profile::osr_maps::Both;
use midflight_profile::osr_maps::report::Composed;
use rustc_hash::FxHashMap as HashMap;
use typed_index_collections::TiVec;

/// The passes of a pipeline: what stands between commas that are in no parentheses.
pub fn passes(pipeline: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let at_top = |c: char| {
        match c {
            '(' | '<' => depth += 1,
            ')' | '>' => depth = depth.saturating_sub(1),
            _ => {}
        }
        c == ',' && depth == 0
    };
    pipeline.split(at_top).map(str::trim).filter(|pass| !pass.is_empty()).collect()
}

/// The mappings of one pass.
struct Made<'m> {
    /// From base to opt, and back
    maps: PerVersion<ComposedMap>,
    /// For each version and instruction the point before it
    point_at: PerVersion<TiVec<InstId, Option<usize>>>,
    /// For each instruction of base the one of opt that it is, if that does the same
    kept: TiVec<InstId, Option<InstId>>,
    /// The constants that the mappings use
    constants: HashMap<ConstId, Value<'m>>,
}

impl<'m> Made<'m> {
    fn new(step: Step, mapper: &Mapper<'_>, handles: &Handles<'_, 'm>) -> Self {
        let versions = &mapper.proof.versions;
        let operation = |which: Version, inst: InstId| versions.graph(which).nodes[inst].operation;
        let kept = versions.tracked.kept.iter_enumerated().map(|(inst, now)| {
            now.filter(|&now| operation(Version::Base, inst) == operation(Version::Opt, now))
        });
        let maps = PerVersion::from_fn(|from| {
            ComposedMap::of_step(step, &mapper.map(from, Variant::Avail))
        });
        let mut constants = HashMap::default();
        for point in maps.iter().flat_map(|map| &map.points).flatten() {
            for expr in &point.exprs {
                if let StepExpr::Constant { constant: (_, constant) } = *expr {
                    constants.insert(constant, handles.constant(constant));
                }
            }
        }
        Made {
            kept: kept.collect(),
            point_at: PerVersion::from_fn(|w| mapper.sides[w].point_at.clone()),
            maps,
            constants,
        }
    }
}

/// Applies the passes of a pipeline to a clone of a function that was prepared for points, one
/// after the other, composes the mappings, and checks them against the direct comparison.
///
/// # Errors
/// LLVM's message if there is no such pass.
pub fn do_passes<'m>(
    sandbox: &Sandbox,
    base: Function<'m>,
    pipeline: &str,
) -> Result<Both<Composed>, String> {
    let passes = passes(pipeline);
    passes.iter().try_for_each(|pass| sandbox.check_pipeline(pass))?;
    // All passes run on one clone, so that it can be followed from the first version to the last.
    // The versions between are copies of what it was.
    let opt = base.clone_as(&format!("{}.opt", base.name()));
    let whole = TwoVersions { base, opt, tracker: Tracker::new(opt) };
    let mut steps: Vec<Made<'m>> = Vec::new();
    let mut failed = None;
    for (step, pass) in passes.iter().enumerate() {
        let before = opt.clone_as(&format!("{}.{step}", base.name()));
        let two = TwoVersions { base: before, opt, tracker: Tracker::new(opt) };
        failed = sandbox.run(opt, pass).err();
        if failed.is_none() {
            let snapshots = two.snapshots();
            let comparison = two.compare(Trust::Proved, sandbox, &snapshots);
            steps.push(Made::new(step, &comparison.mapper(), &comparison.handles));
        }
        before.erase();
        if failed.is_some() {
            break;
        }
    }
    let result = match failed {
        Some(message) => Err(message),
        None => {
            let snapshots = whole.snapshots();
            let comparison = whole.compare(Trust::Proved, sandbox, &snapshots);
            Ok(composed(&steps, &comparison.mapper(), &comparison.handles))
        }
    };
    opt.erase();
    result
}

/// Composes both ways, and counts.
fn composed<'m>(
    steps: &[Made<'m>],
    mapper: &Mapper<'_>,
    handles: &Handles<'_, 'm>,
) -> Both<Composed> {
    let count = |which: Version| mapper.proof.versions.graph(which).nodes.len();
    let mut counts: Vec<usize> = steps.iter().map(|step| step.kept.len()).collect();
    counts.push(count(Version::Opt));
    let kept: Vec<_> = steps.iter().map(|step| step.kept.clone()).collect();
    let ancestry = Ancestry::new(&kept, &counts);
    let constant = |step: Step, constant: ConstId| match handles
        .operand(Version::Base, *steps[step].constants.get(&constant)?)?
    {
        Operand::Constant(constant) => Some(constant),
        Operand::Value(_) => None,
    };
    let check = Check { mapper, ancestry: &ancestry, constant: &constant };
    let arguments = mapper.proof.versions.of.base.graph.body.code.arguments;
    let in_order = |from: Version| {
        let mut order: Vec<&Made<'_>> = steps.iter().collect();
        if from == Version::Opt {
            order.reverse();
        }
        let maps: Vec<ComposedMap> = order.iter().map(|step| step.maps[from].clone()).collect();
        let between: Vec<Between<'_>> = order
            .iter()
            .skip(1)
            .map(|step| Between { point_at: &step.point_at[from], arguments })
            .collect();
        compose(&maps, &between)
    };
    Both::from_fn(|from| summary(mapper, &check, from, &in_order(from)))
}

fn summary(mapper: &Mapper<'_>, check: &Check<'_>, from: Version, map: &ComposedMap) -> Composed {
    let direct = mapper.map(from, Variant::Avail);
    let side = &mapper.sides[from];
    let version = &mapper.proof.versions.of[from];
    let mut result = Composed::default();
    for (number, point) in side.points.iter().enumerate() {
        let reached = version.live.reached[version.graph.block(point.at)];
        if point.refusal.is_some() || !reached {
            continue;
        }
        result.total += 1;
        result.direct += u64::from(direct.refusal(number).is_none());
        let composed: Option<&ComposedPoint> = match &map.points[number] {
            Ok(composed) => Some(composed),
            Err(broken) => {
                result.lost += u64::from(matches!(broken, Broken::NotGiven(_)));
                None
            }
        };
        let Some(composed) = composed else { continue };
        result.composed += 1;
        match check.point(from, point.at, composed) {
            Finding::Right => result.checked += 1,
            Finding::Undecided => result.undecided += 1,
            Finding::Wrong => result.wrong += 1,
        }
    }
    result
}
