//! `up=entry`: a function goes on in a continuation that was optimized as a whole.
//!
//! ```text
//! f ──► f.osr.N.opt ──► f.osr.N.opt.base.osr
//! ```
//!
//! Where optimized code is entered in the middle, as with `up=…` else, a loop that a pass rotated,
//! unrolled or vectorized has no place to be entered at. So the continuation of base is made first,
//! which begins at the head of a loop, and then optimized; as just-in-time compilers do. Its points
//! lead down, by the mapping between the continuation as it was and as passes have left it.
//!
//! A continuation that begins at the head of an inner loop would enter the loops around it in the
//! middle, and these would be no loops any more to passes. It ends at the heads of those instead,
//! each of which leads to a continuation of its own: that is, the rest of a round is peeled off.

use crate::osr::compensate::Material;
use crate::osr::condition::Condition;
use crate::osr::map::flags::Classes;
use crate::osr::map::multi_version::dead;
use crate::osr::map::opt_pass::{OptPass, takes_part, wanted};
use crate::osr::map::optimize::{TwoVersions, points_of};
use crate::osr::pass::thin;
use crate::osr::place::{at_head, place};
use crate::osr::weave::{
    Body, Continuation, Dead, Departure, Passing, Plan, PlannedSite, SiteKind, weave,
};
use crate::read_code::{CodeSnapshot, read_code};
use midflight_bridge::ir::Function;
use midflight_bridge::sandbox::Sandbox;
use midflight_ir::dominators::dominators;
use midflight_ir::ids::{BlockId, InstId};
use midflight_ir::liveness::liveness;
use midflight_ir::loops::{Loops, loops};
use midflight_mapping::mapping::history::Way;
use midflight_mapping::mapping::mapper::Mapper;
use midflight_mapping::mapping::reconstruct::PointMap;
use midflight_mapping::points::{Point, points};
use midflight_mapping::versions::version::PerVersion;
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use typed_index_collections::TiVec;

/// So many points of a function lead to continuations, if it is not said: each is one more copy of
/// the function.
const MOST_ENTRIES: u32 = 8;

/// What LLVM's pipelines do behind the simplification of single functions: vectorizers, unrolling,
/// and what tidies up behind them (`PassBuilder::buildModuleOptimizationPipeline`, the passes over
/// functions).
const BEHIND_SIMPLIFICATION: &str = "float2int,lower-constant-intrinsics,\
     loop(loop-rotate<header-duplication>,loop-deletion),loop-distribute,inject-tli-mappings,\
     loop-vectorize,infer-alignment,loop-load-elim,instcombine<no-verify-fixpoint>,\
     simplifycfg<forward-switch-cond;switch-range-to-icmp;switch-to-lookup;no-keep-loops;\
     hoist-common-insts;sink-common-insts>,slp-vectorizer,vector-combine,\
     instcombine<no-verify-fixpoint>,loop-unroll,infer-alignment,instcombine<no-verify-fixpoint>,\
     loop-mssa(licm),alignment-from-assumptions,loop-sink,instsimplify,div-rem-pairs,simplifycfg";

/// The pipeline of a continuation: a level of optimization has all passes over functions that LLVM
/// runs at it, not those alone that simplify.
pub fn whole(pipeline: &str) -> String {
    let level = pipeline.trim();
    match level.starts_with("default<O") && !level.contains(',') {
        true => format!("{level},{BEHIND_SIMPLIFICATION}"),
        false => level.to_string(),
    }
}

/// A function's points, and the loops that they are in.
struct Places<'a, 'm> {
    snapshot: &'a CodeSnapshot<'m>,
    points: Vec<Point>,
    /// For each point the instruction that it is before
    at: Vec<InstId>,
    loops: Loops,
    /// For each block the innermost loop around it
    innermost: TiVec<BlockId, Option<usize>>,
}

impl<'a, 'm> Places<'a, 'm> {
    fn new(snapshot: &'a CodeSnapshot<'m>) -> Self {
        let body = &snapshot.body;
        let points = points(body, &liveness(body), snapshot.function.facts());
        let at = points.iter().map(|p| p.at).collect();
        let loops = loops(body, &dominators(body));
        let innermost = loops.innermost(body.blocks.len());
        Places { snapshot, points, at, loops, innermost }
    }

    /// The heads of the loops that a continuation from a point would enter in the middle.
    fn cuts(&self, point: usize) -> Vec<usize> {
        let block = self.snapshot.body.code.instructions[self.points[point].at].block;
        let around =
            std::iter::successors(self.innermost[block], |&index| self.loops.loops[index].parent);
        let heads = around
            .filter_map(|index| at_head(self.snapshot, &self.at, self.loops.loops[index].header));
        // Where a call is needed in the middle, the frame must allow it.
        heads.filter(|&head| head != point && self.points[head].further.is_none()).collect()
    }
}

impl OptPass {
    /// Makes the continuations of a function that was prepared, has them optimized, and leads the
    /// function to them. Returns all functions that were changed.
    ///
    /// # Errors
    /// LLVM's message if there is no such pipeline.
    pub(super) fn up_by_entry<'m>(
        &self,
        function: Function<'m>,
        sandbox: &Sandbox,
    ) -> Result<Vec<Function<'m>>, String> {
        let options = &self.0;
        let snapshot = read_code(function);
        let places = Places::new(&snapshot);
        let mut chosen = place(&options.up_at, None, &snapshot, &places.at);
        chosen.retain(|&p| places.points[p].refusal.is_none());
        let chosen = thin(chosen, Some(options.max_points.unwrap_or(MOST_ENTRIES)));
        if chosen.is_empty() {
            return Ok(Vec::new());
        }
        let plan = entries(&places, &chosen, options.up);
        let mut changed = Vec::new();
        for continuation in weave(&snapshot, &plan) {
            changed.extend(self.optimize_continuation(continuation, sandbox)?);
        }
        changed.push(function);
        Ok(changed)
    }

    /// Optimizes a continuation, and leads it down to what it was. Returns what there is then.
    fn optimize_continuation<'m>(
        &self,
        continuation: Function<'m>,
        sandbox: &Sandbox,
    ) -> Result<Vec<Function<'m>>, String> {
        let options = &self.0;
        continuation.prepare_for_points();
        let two = TwoVersions::make(sandbox, continuation, &whole(&options.pipeline))?;
        continuation.value().replace_global(two.opt.value());
        let snapshots = two.snapshots();
        let comparison = two.compare(options.trust, sandbox, &snapshots);
        let points = snapshots.as_ref().map(points_of);
        let down = wanted(&options.down_at, options.max_points, &snapshots.opt, &points.opt);
        let mut mapper = Mapper::new(&comparison.proof, &comparison.handles, points);
        let maps = mapper
            .closed(&takes_part, PerVersion { base: &|_| false, opt: &|p| down.contains(&p) });
        let classes = Classes::new(mapper.proof, &comparison.handles);
        let sides = mapper.sides;
        let (versions, constants) = comparison.end();
        self.report_refusals(&maps, &sides, &snapshots);
        let leads = |point: usize| maps.opt.leads(point).map(move |(way, map)| (point, way, map));
        let leaving: Vec<(usize, Option<&Way>, &PointMap)> =
            (0..maps.opt.points.len()).flat_map(leads).collect();
        if leaving.is_empty() {
            continuation.erase();
            return Ok(vec![two.opt]);
        }
        classes.equalize_flags();
        let name = two.opt.name();
        let plan = Plan {
            departures: leaving
                .iter()
                .map(|&(point, way, map)| Departure {
                    version: &snapshots.opt,
                    at: sides.opt.points[point].at,
                    name: format!("{name}#{point}"),
                    condition: options.down,
                    guard: None,
                    way,
                    map: Cow::Borrowed(map),
                })
                .collect(),
            continuations: vec![Continuation {
                name: format!("{name}.base.osr"),
                body: Body::Of(&snapshots.base),
                entries: (0..leaving.len()).collect(),
                dead: dead(&sides.base, &versions.of.base),
            }],
            sites: (0..leaving.len())
                .map(|departure| PlannedSite {
                    departure,
                    from: None,
                    to: 0,
                    is_inserted: true,
                    kind: SiteKind::Plain,
                })
                .collect(),
            passing: Passing::Together { has_selector: leaving.len() > 1 },
            chain: false,
            preserves_none: false,
            material: Material {
                constant: &|id| constants[id as usize],
                store: &|inst| snapshots.base.instructions[inst],
                ..Material::NONE
            },
            description: None,
        };
        let mut changed = weave(&snapshots.opt, &plan);
        changed.push(two.opt);
        Ok(changed)
    }
}

/// The plan that leads a function to continuations of its own code at these points, and these, at
/// the heads of loops that they would enter in the middle, to further ones.
fn entries<'a, 'm>(places: &Places<'a, 'm>, chosen: &[usize], when: Condition) -> Plan<'a, 'm> {
    let Places { snapshot, ref points, .. } = *places;
    let mut cuts: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    let mut work: BTreeSet<usize> = chosen.iter().copied().collect();
    while let Some(point) = work.pop_first() {
        let heads = places.cuts(point);
        work.extend(heads.iter().filter(|head| !cuts.contains_key(head)));
        cuts.insert(point, heads);
    }
    let all: Vec<usize> = cuts.keys().copied().collect();
    let number = |point: usize| all.binary_search(&point).expect("each head is one of them");
    let name = snapshot.function.name();
    let departure = |&point: &usize| {
        let Point { at, live, .. } = &points[point];
        Departure {
            version: snapshot,
            at: *at,
            name: format!("{name}#{point}"),
            condition: when,
            guard: None,
            way: None,
            map: Cow::Owned(PointMap::identity(*at, live)),
        }
    };
    let continuation = |(number, &point): (usize, &usize)| Continuation {
        name: format!("{name}.osr.{point}"),
        body: Body::CopyOf(snapshot),
        entries: vec![number],
        dead: Dead::default(),
    };
    let up = all.iter().enumerate().map(|(departure, point)| PlannedSite {
        departure,
        from: None,
        to: departure,
        is_inserted: chosen.contains(point),
        kind: SiteKind::Plain,
    });
    let ends = cuts.iter().enumerate().flat_map(|(from, (_, heads))| {
        heads.iter().map(move |&head| PlannedSite {
            departure: number(head),
            from: Some(from),
            to: number(head),
            is_inserted: true,
            kind: SiteKind::Cut,
        })
    });
    Plan {
        departures: all.iter().map(departure).collect(),
        continuations: all.iter().enumerate().map(continuation).collect(),
        sites: up.chain(ends).collect(),
        passing: Passing::Alone,
        chain: false,
        preserves_none: false,
        material: Material::NONE,
        description: None,
    }
}
