//! A plugin for `opt` whose pass `time-osr` measures how long it takes to insert a point and to
//! build its continuation (thesis 5.3.4, Q3), beside cloning and verifying the function.
//!
//! For each function a line is printed: its name, its number of instructions, and the nanoseconds
//! that it takes to clone and verify it, to build the continuation of a clone alone, and to do all:
//! relate the clone to the function, insert the point, and build the continuation. The point is at
//! the head of the first innermost loop, or, where there is none, at the entry. Each time is the
//! median of several; what was made is erased in between.

use midflight_bridge::ir::{Function, Module, print};
use midflight_bridge::plugin::{Analyses, Pass, PassPluginLibraryInfo, Passes, plugin_info};
use midflight_ir::liveness::liveness;
use midflight_mapping::points::{Point, points};
use midflight_passes::osr::condition::Condition;
use midflight_passes::osr::insert::{OsrPoint, insert_resolved_osr, remove_osr_point};
use midflight_passes::osr::pass::reason_to_refuse;
use midflight_passes::osr::place::{Strategy, Where, place};
use midflight_passes::osr::print_points::continuation_of;
use midflight_passes::osr::state_map::StateMap;
use midflight_passes::read_code::{CodeSnapshot, read_code};
use std::time::Instant;

/// Repetitions of each measurement.
const TIMES: usize = 11;

/// LLVM's entry point of a pass plugin.
// SAFETY: the name is LLVM's, and the signature is that of `llvmGetPassPluginInfo`.
#[unsafe(no_mangle)]
pub extern "C" fn llvmGetPassPluginInfo() -> PassPluginLibraryInfo {
    let by_name = |name: &str| (name == "time-osr").then(|| Box::new(TimeOsr) as Box<dyn Pass>);
    plugin_info(c"1", Passes { by_name, for_pipeline: |_| None })
}

struct TimeOsr;

impl Pass for TimeOsr {
    fn run(&self, module: Module<'_>, _: &Analyses<'_>) -> bool {
        let functions: Vec<_> = module.functions().filter(|f| f.is_definition()).collect();
        for function in functions {
            if reason_to_refuse(module, function, None).is_none() {
                function.prepare_for_points();
                measure(function);
            }
        }
        true
    }
}

fn measure(function: Function<'_>) {
    let snapshot = read_code(function);
    let points = points(&snapshot.body, &liveness(&snapshot.body), function.osr_facts());
    let Some(point) = chosen(&snapshot, &points) else { return };
    let clone = median(|| {
        let start = Instant::now();
        let clone = function.clone_as("timed");
        let broken = clone.verify();
        let taken = start.elapsed();
        clone.erase();
        broken.is_none().then_some(taken.as_nanos())
    });
    let continuation = median(|| {
        let start = Instant::now();
        let continuation = continuation_of(&snapshot, point);
        let taken = start.elapsed();
        continuation.erase();
        Some(taken.as_nanos())
    });
    let before = snapshot.instructions[point.at];
    let all = median(|| {
        let copy = function.clone_as("copy");
        let start = Instant::now();
        let taken = StateMap::identity(function, copy).ok().and_then(|map| {
            let point = OsrPoint { before, name: "timed".to_string() };
            let inserted = insert_resolved_osr(&point, Condition::Never, &map).ok()?;
            let taken = start.elapsed();
            remove_osr_point(inserted);
            Some(taken.as_nanos())
        });
        copy.erase();
        taken
    });
    if let (Some(clone), Some(continuation), Some(all)) = (clone, continuation, all) {
        let instructions = snapshot.instructions.len();
        print(&format!("{} {instructions} {clone} {continuation} {all}\n", function.name()));
    }
}

/// The point at the head of the first innermost loop, else the first one.
fn chosen<'p>(snapshot: &CodeSnapshot<'_>, points: &'p [Point]) -> Option<&'p Point> {
    let at: Vec<_> = points.iter().map(|point| point.at).collect();
    let heads = place(&Where::LoopHeader(Strategy::Closest), None, snapshot, &at);
    let all = heads.into_iter().map(|number| &points[number]).chain(points);
    all.into_iter().find(|point| point.refusal.is_none())
}

fn median(mut measured: impl FnMut() -> Option<u128>) -> Option<u128> {
    let mut times = (0..TIMES).map(|_| measured()).collect::<Option<Vec<_>>>()?;
    times.sort_unstable();
    Some(times[TIMES / 2])
}
