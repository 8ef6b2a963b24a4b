//! Measures how long it takes to insert a point into the functions of a bitcode file and to build
//! its continuation (thesis 5.3.4, Q3), beside cloning and verifying the function.
//!
//! For each function a line is printed: its name, its number of instructions, and the nanoseconds
//! that it takes to clone and verify it, to build the continuation of a clone alone, and to do all:
//! relate the clone to the function, insert the point, and build the continuation. The point is at
//! the head of the first innermost loop, or, where there is none, at the entry. Each time is the
//! median of several; what was made is erased in between.

use inkwell::context::Context;
use midflight_bridge::ir::{Function, Module};
use midflight_ir::liveness::liveness;
use midflight_mapping::points::{Point, points};
use midflight_passes::driver::reason_to_refuse;
use midflight_passes::osr::condition::Condition;
use midflight_passes::osr::insert::{OsrPoint, insert_resolved_osr, remove_osr_point};
use midflight_passes::osr::place::{Strategy, Where, place};
use midflight_passes::osr::print_points::continuation_of;
use midflight_passes::osr::state_map::StateMap;
use midflight_passes::read_code::{CodeSnapshot, read_code};
use std::time::Instant;

/// Repetitions of each measurement.
const TIMES: usize = 11;

fn main() {
    let path = std::env::args_os().nth(1).expect("usage: insertion FILE.bc");
    let context = Context::create();
    let module = inkwell::module::Module::parse_bitcode_from_path(path, &context);
    let module = module.expect("the file is bitcode of this LLVM");
    // SAFETY: the module outlives the handle, and this is the only thread.
    let module = unsafe { Module::from_llvm(module.as_mut_ptr().cast()) };
    let functions: Vec<_> = module.functions().filter(|f| f.is_definition()).collect();
    for function in functions {
        if reason_to_refuse(module, function, None).is_none() {
            function.prepare_for_points();
            measure(function);
        }
    }
}

fn measure(function: Function<'_>) {
    let snapshot = read_code(function);
    let points = points(&snapshot.body, &liveness(&snapshot.body), function.facts());
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
        println!("{} {instructions} {clone} {continuation} {all}", function.name());
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
