//! A front end for tests: each call of each function gets a frame of a copy of the function itself.
//!
//! What the function computes stays the same whatever fires, so that whole programs, optimized with
//! their frames, are compared with themselves.

use crate::driver::reason_to_refuse;
use crate::osr::deopt::versions::MARKER;
use crate::read_code::{CodeSnapshot, read_code};
use midflight_bridge::ir::{Function, Inst, Module, Opcode, Value};
use midflight_bridge::pass::{Analyses, Pass};
use midflight_ir::ids::{InstId, ValueId};
use midflight_ir::liveness::{Liveness, liveness};
use midflight_mapping::points::point_at;
use std::collections::BTreeSet;

/// The pass `debug-deopt-frames`.
pub struct SelfFrames;

impl Pass for SelfFrames {
    fn run(&self, module: Module<'_>, _: &Analyses<'_>) -> bool {
        let functions: Vec<_> = module.functions().filter(|f| f.is_definition()).collect();
        for function in functions {
            if reason_to_refuse(module, function, None).is_none() && !function.must_be_inlined() {
                add_frames(module, function);
            }
        }
        true
    }
}

/// A frame at a call.
struct Planned {
    call: InstId,
    /// The instruction that the marker is before
    landing: InstId,
    is_before: bool,
    /// The marker's values
    values: Vec<ValueId>,
}

fn add_frames<'m>(module: Module<'m>, function: Function<'m>) {
    let snapshot = read_code(function);
    let live = liveness(&snapshot.body);
    let planned: Vec<Planned> =
        snapshot.instructions.keys().filter_map(|call| plan(&snapshot, &live, call)).collect();
    if planned.is_empty() {
        return;
    }
    let base = function.clone_as(&format!("{}.base", function.name()));
    let of_base = snapshot.of_copy(base);
    for (number, Planned { landing, values, .. }) in planned.iter().enumerate() {
        let mut arguments = vec![module.int_type(64).constant(number as u64)];
        arguments.extend(values.iter().map(|&value| of_base.value(value)));
        of_base.instructions[*landing].insert_variadic_call(MARKER, &arguments);
    }
    let int32 = module.int_type(32);
    // A call becomes another one, so that values are looked up behind it.
    let mut renamed: Vec<(Value<'m>, Value<'m>)> = Vec::new();
    for (number, Planned { call, is_before, values, .. }) in planned.iter().enumerate() {
        let call = snapshot.instructions[*call];
        let slot = values.iter().position(|&value| snapshot.value(value) == call.value());
        let mut operands = vec![
            base.value(),
            module.int_type(64).constant(number as u64),
            int32.constant(u64::from(!is_before)),
            int32.constant(slot.map_or(u64::MAX, |slot| slot as u64)),
            int32.constant(values.len() as u64),
        ];
        for &value in values {
            let value = snapshot.value(value);
            let now = renamed.iter().rev().find(|(old, _)| *old == value).map(|(_, new)| *new);
            let is_result = value == call.value();
            operands.push(if is_result { value.ty().poison() } else { now.unwrap_or(value) });
        }
        let with = call.with_deopt(&operands);
        renamed.push((call.value(), with.value()));
    }
}

fn plan(snapshot: &CodeSnapshot<'_>, live: &Liveness, call: InstId) -> Option<Planned> {
    let inst = snapshot.instructions[call];
    let code = &snapshot.body.code;
    let is_call = matches!(inst.opcode(), Opcode::Call | Opcode::Invoke)
        && code.instructions[call].facts.is_real_call()
        && !code.instructions[call].facts.is_must_tail()
        && !inst.called_function().is_some_and(Function::must_be_inlined);
    if !is_call {
        return None;
    }
    let is_before = inst.called_function().is_some_and(|f| !f.is_definition())
        && inst.opcode() == Opcode::Call
        && usize::from(call) % 2 == 0;
    let behind = || -> Option<Inst<'_>> {
        if inst.opcode() == Opcode::Call {
            return inst.next();
        }
        let normal = *inst.block().successors().first()?;
        let mut from =
            inst.block().function().blocks().filter(|b| b.successors().contains(&normal));
        (from.next().is_some() && from.next().is_none()).then(|| normal.insertion_point())
    };
    let landing = if is_before { call } else { snapshot.id_of(behind()?)? };
    let facts = snapshot.function.facts();
    let mut values = BTreeSet::new();
    for at in [call, landing] {
        let point = point_at(&snapshot.body, live, facts, at)?;
        if point.refusal.is_some() {
            return None;
        }
        values.extend(point.live);
    }
    // The exceptions of handlers cannot be handed over by frames.
    let is_glue = |&value: &ValueId| {
        code.definition(value).is_some_and(|inst| code.instructions[inst].facts.is_glue())
    };
    if values.iter().any(is_glue) {
        return None;
    }
    Some(Planned { call, landing, is_before, values: values.into_iter().collect() })
}
