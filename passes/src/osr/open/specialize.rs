//! What generators make of a function: values that are constants, calls that are known, and where
//! it is checked that they are.

use crate::osr::open::generator::Generator;
use crate::osr::open::key::{self, Key};
use crate::osr::open::version::{NoVersion, Request, failed};
use crate::read_code::CodeSnapshot;
use midflight_bridge::ir::{Function, Inst, TypeKind, Value};
use midflight_ir::dominators::{Dominators, dominators};
use midflight_ir::ids::{BlockId, InstId, ValueId};
use midflight_mapping::points::Point;

/// A value that is assumed to be a constant.
#[derive(Clone, Copy)]
pub(super) struct Assumption {
    /// It is checked before this instruction.
    pub at: InstId,
    /// The value
    pub value: ValueId,
    /// What it is, as a key
    pub is: u64,
}

/// What a generator changes, and where it is checked that it may.
pub struct Specialization<'s, 'm> {
    snapshot: &'s CodeSnapshot<'m>,
    points: &'s [Point],
    dominators: Dominators,
    point: &'s Point,
    profiled: Key,
    key: u64,
    pub(super) guards: Vec<Assumption>,
    /// Operands that are constants behind a guard, by instruction and number
    pub(super) operands: Vec<(InstId, u32, Assumption)>,
    /// Calls that call what the key leads to
    pub(super) calls: Vec<InstId>,
    /// What is changed in the version for calls, if it is more: it is checked where it begins.
    pub(super) of_entry: Option<OfEntry>,
    /// What is done to each function of the version when its guards are in it
    pub(super) transforms: Vec<Transform<'m>>,
}

/// What is changed in the version for calls where the key is an argument: all its uses, and not
/// just those behind the point.
pub(super) struct OfEntry {
    pub guard: Assumption,
    pub operands: Vec<(InstId, u32, Assumption)>,
    pub calls: Vec<InstId>,
}

/// Changes a function of a version, in which all guards hold.
pub type Transform<'m> = Box<dyn Fn(Function<'m>) -> Result<(), String>>;

/// A generator of the program's own: says by [`Specialization`] what a version is.
pub type Custom<'c, 'm> = &'c dyn Fn(&mut Specialization<'_, 'm>) -> Result<(), NoVersion>;

impl<'m> Specialization<'_, 'm> {
    /// The base version; it is not to be changed.
    pub fn base(&self) -> Function<'m> {
        self.snapshot.function
    }

    /// The instruction of the base version that the point is before.
    pub fn point(&self) -> Inst<'m> {
        self.snapshot.instructions[self.point.at]
    }

    /// The value that is profiled, if there is one.
    pub fn profiled(&self) -> Option<Value<'m>> {
        match self.profiled {
            Key::Value(value) => Some(self.snapshot.value(value)),
            _ => None,
        }
    }

    /// The key.
    pub fn key(&self) -> u64 {
        self.key
    }

    /// Assumes from `before` on that a value of the base version, an integer of at most 64 bits or
    /// a pointer, is `is`: a guard checks it there, and behind it the version has the constant.
    ///
    /// # Errors
    /// If it is no such value, is not live there, or no transition can start there.
    pub fn assume(&mut self, value: Value<'m>, before: Inst<'m>, is: u64) -> Result<(), String> {
        let ids = self.snapshot.ids();
        let known = ids.value(value).zip(self.snapshot.id_of(before));
        let (value, at) = known.ok_or("the value, or the place, is not one of the function")?;
        let ty = self.snapshot.value(value).ty();
        if ty.kind() != TypeKind::Pointer && !(1..=64).contains(&ty.bits()) {
            return Err("the value is no integer of at most 64 bits and no pointer".to_string());
        }
        let point = self.points.iter().find(|p| p.at == at && p.refusal.is_none());
        let point = point.ok_or("no transition can start where the guard would be")?;
        if point.live.binary_search(&value).is_err() {
            return Err("the value is not live where the guard would be".to_string());
        }
        let assumption = Assumption { at, value, is };
        self.guards.push(assumption);
        let uses = key::uses_behind(self.snapshot, &self.dominators, value, at);
        self.operands.extend(uses.into_iter().map(|(inst, number)| (inst, number, assumption)));
        Ok(())
    }

    /// Changes each function of the version when its guards are in it, before it is optimized. What
    /// is done there must hold if all guards do.
    pub fn transform(&mut self, transform: Transform<'m>) {
        self.transforms.push(transform);
    }
}

/// What a generator makes of a function.
pub(super) fn specialize<'s, 'm>(
    request: &Request,
    snapshot: &'s CodeSnapshot<'m>,
    points: &'s [Point],
    point: &'s Point,
    key: Key,
    body: Option<Function<'m>>,
    custom: Option<Custom<'_, 'm>>,
) -> Result<Specialization<'s, 'm>, NoVersion> {
    let mut plan = Specialization {
        snapshot,
        points,
        dominators: dominators(&snapshot.body),
        point,
        profiled: key,
        key: request.key,
        guards: Vec::new(),
        operands: Vec::new(),
        calls: Vec::new(),
        of_entry: None,
        transforms: Vec::new(),
    };
    // Where calls begin, if the key is known there and the point is not.
    let begin = match (&request.generator, key) {
        (Generator::InlineCallee | Generator::SpecializeValue, Key::Value(value)) => {
            let first = points.iter().find(|point| point.refusal.is_none());
            let first = first.filter(|first| is_in_entry(snapshot, first.at));
            let at = first.map(|first| first.at).filter(|&at| at != point.at);
            let is_argument = snapshot.body.code.definition(value).is_none();
            at.filter(|_| is_argument).map(|at| Assumption { at, value, is: request.key })
        }
        _ => None,
    };
    let callee_of = |call: InstId| {
        let callee = snapshot.instructions[call].callee();
        callee.and_then(|callee| snapshot.ids().value(callee))
    };
    // Calls of a value behind a place.
    let calls_behind = |dominators: &Dominators, value: ValueId, at: InstId| {
        let uses = key::uses_behind(snapshot, dominators, value, at);
        let calls = uses.into_iter().map(|(inst, _)| inst);
        let mut calls: Vec<InstId> = calls.filter(|&inst| callee_of(inst) == Some(value)).collect();
        calls.dedup();
        calls
    };
    let is = request.key;
    // Where it is checked that the key is what the version is for.
    let guard = match (&request.generator, key) {
        (Generator::InlineCallee, Key::Callee(call)) => callee_of(call).map(|of| (call, of)),
        (Generator::InlineCallee | Generator::SpecializeValue, Key::Value(value)) => {
            Some((point.at, value))
        }
        _ => None,
    };
    let guard = guard.map(|(at, value)| Assumption { at, value, is });
    if request.is_generic {
        // Guards of others are departures here too: they are in the common prototype.
        plan.guards.extend(guard);
        plan.of_entry =
            begin.map(|guard| OfEntry { guard, operands: Vec::new(), calls: Vec::new() });
        return Ok(plan);
    }
    match (&request.generator, key) {
        (Generator::User(name), _) => {
            let Some(custom) = custom else {
                return Err(NoVersion::Failed(format!(
                    "the program has no generator '{name}'; it is made known by \
                     midflight_osr_generator"
                )));
            };
            custom(&mut plan)?;
        }
        (Generator::Reoptimize, _) => {
            if passes_vectors(snapshot, point) {
                return failed("it passes vectors, whose registers depend on the processor");
            }
        }
        (Generator::SpecializeValue, Key::Value(value)) => {
            let (value, at) = (snapshot.value(value), snapshot.instructions[point.at]);
            plan.assume(value, at, is).map_err(NoVersion::Failed)?;
        }
        (Generator::InlineCallee, Key::Value(value)) => {
            plan.calls = calls_behind(&plan.dominators, value, point.at);
            plan.guards.extend(guard);
        }
        (Generator::InlineCallee, Key::Callee(call)) => {
            if guard.is_none() {
                return failed("the program's IR has no such call");
            }
            plan.calls.push(call);
            plan.guards.extend(guard);
        }
        _ => return failed("the generator needs another kind of key"),
    }
    if request.generator == Generator::InlineCallee {
        if plan.calls.is_empty() {
            return Err(NoVersion::Nothing("nothing behind the point calls the value"));
        }
        let Some(body) = body else {
            return Err(NoVersion::Nothing("the program carries no IR of the function called"));
        };
        let fits = |&call: &InstId| snapshot.instructions[call].calls_like(body);
        if !plan.calls.iter().all(fits) {
            return Err(NoVersion::Nothing("the function called is of another type"));
        }
    }
    plan.of_entry = begin.map(|begin| {
        let (mut operands, mut calls) = (Vec::new(), Vec::new());
        if request.generator == Generator::SpecializeValue {
            let uses = key::uses_behind(snapshot, &plan.dominators, begin.value, begin.at);
            operands.extend(uses.into_iter().map(|(inst, number)| (inst, number, begin)));
        } else if let Some(body) = body {
            calls = calls_behind(&plan.dominators, begin.value, begin.at);
            calls.retain(|&call| snapshot.instructions[call].calls_like(body));
        }
        OfEntry { guard: begin, operands, calls }
    });
    Ok(plan)
}

fn is_in_entry(snapshot: &CodeSnapshot<'_>, inst: InstId) -> bool {
    snapshot.body.code.instructions[inst].block == BlockId::ENTRY
}

/// True if vectors are passed in registers, which depend on the processor: from the point, by calls
/// of the function, or by its own calls.
fn passes_vectors(snapshot: &CodeSnapshot<'_>, point: &Point) -> bool {
    let live = point.live.iter().map(|&value| snapshot.value(value));
    let calls = snapshot.instructions.iter().filter(|inst| inst.facts().is_real_call());
    let passed = calls.flat_map(|call| call.operands().chain([call.value()]));
    let arguments = snapshot.arguments.iter().copied();
    let mut values = arguments.chain(live).chain(passed);
    snapshot.function.result_type().has_vector() || values.any(|value| value.ty().has_vector())
}
