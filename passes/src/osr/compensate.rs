//! Compensation code (thesis 4.1.1, χ): from what travels to the state at a landing.

use crate::read_code::CodeSnapshot;
use midflight_bridge::builder::Builder;
use midflight_bridge::ir::{Inst, Opcode, Value};
use midflight_ir::ids::{InstId, ValueId};
use midflight_mapping::mapping::reconstruct::{Expr, PointMap};
use midflight_mapping::versions::graph::ConstId;

/// Code that a compiler writer gave, by its number: computes a value from others.
pub type Code<'a, 'm> = &'a dyn Fn(usize, &Builder<'m>, &[Value<'m>]) -> Value<'m>;

/// What mappings refer to, in LLVM.
#[derive(Clone, Copy)]
pub struct Material<'a, 'm> {
    /// Constants
    pub constant: &'a dyn Fn(ConstId) -> Value<'m>,
    /// Stores of base, whose places are read
    pub store: &'a dyn Fn(InstId) -> Inst<'m>,
    /// Code that mappings run
    pub code: Code<'a, 'm>,
}

impl<'m> Material<'_, 'm> {
    /// For mappings that pass values only.
    pub const NONE: Self = Material {
        constant: &|_| unreachable!("the mapping has no constants"),
        store: &|_| unreachable!("the mapping reads no memory"),
        code: &|_, _, _| unreachable!("the mapping runs no code"),
    };

    /// Inserts the compensation code of a landing in `version`, where `source` gives what travels.
    /// Returns the values that are live at the landing.
    pub fn reconstruct(
        &self,
        builder: &Builder<'m>,
        version: &CodeSnapshot<'m>,
        map: &PointMap,
        source: impl Fn(ValueId) -> Value<'m>,
    ) -> Vec<(ValueId, Value<'m>)> {
        let mut values: Vec<Value<'m>> = Vec::with_capacity(map.exprs.len());
        for (place, expr) in map.exprs.iter().enumerate() {
            let of = |operands: &[usize]| operands.iter().map(|&o| values[o]).collect::<Vec<_>>();
            values.push(match expr {
                Expr::Constant { constant } => (self.constant)(*constant),
                Expr::Source { source: value } => source(*value),
                Expr::Repeat { repeat: inst, of: operands } => {
                    repeat(builder, version.instructions[*inst], &of(operands))
                }
                Expr::Content { content, address } => {
                    builder.load_as_stored((self.store)(*content), values[*address])
                }
                Expr::Narrow { narrow, of } => {
                    let extended = version.instructions[*narrow].operands().next();
                    builder.narrow(values[*of], extended.expect("it extends a value").ty())
                }
                Expr::Code { code, of: operands } => (self.code)(*code, builder, &of(operands)),
            });
            // What is copied to a place of its own is there before that is read.
            for store in map.stores.iter().filter(|store| store.address == place) {
                let inst = version.instructions[store.store];
                if !inst.map_facts().is_store() {
                    builder.repeat(inst, &[values[place], values[store.value]]);
                }
            }
        }
        for store in &map.stores {
            let inst = version.instructions[store.store];
            if inst.map_facts().is_store() {
                builder.repeat(inst, &[values[store.value], values[store.address]]);
            }
        }
        map.values.iter().map(|&(value, expr)| (value, values[expr])).collect()
    }
}

/// An instruction made again; a phi as a select. An alloca of base is in the frame of its
/// continuation.
fn repeat<'m>(builder: &Builder<'m>, inst: Inst<'m>, operands: &[Value<'m>]) -> Value<'m> {
    match *operands {
        [condition, holds, fails] if inst.map_facts().is_phi() => {
            builder.select(condition, holds, fails)
        }
        [] if inst.opcode() == Opcode::Alloca => inst.value(),
        _ => builder.repeat(inst, operands),
    }
}
