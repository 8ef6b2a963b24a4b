//! The one prototype of all continuations that move into each other.
//!
//! `musttail` needs caller and callee to have the same parameters. So the parameters are slots: at
//! each point some of them carry its live values, and the rest is poison. An argument of the
//! function has the same slot at all points; other values share slots of their type, and come
//! first: they change, so they gain by registers, while an argument can stay where it is on the
//! stack.

use midflight_bridge::ir::{Function, Type};
use midflight_ir::ids::ValueId;
use std::collections::HashMap;

/// A live value, and the slot that it travels in.
pub type Transfer = (ValueId, usize);

/// A prototype, and what travels where.
#[derive(Clone)]
pub struct Prototype<'m> {
    /// Types of the slots. They are the last parameters.
    pub slots: Vec<Type<'m>>,
    /// Where the first parameter says which landing is meant
    pub has_selector: bool,
    /// For each point its transfers
    pub transfers: Vec<Vec<Transfer>>,
}

impl<'m> Prototype<'m> {
    /// Assigns slots to the live values of points. `arguments` is the number of the function's
    /// arguments, the first of its values; `type_of` gives the type of a value of a point.
    pub fn new(
        points: &[&[ValueId]],
        arguments: usize,
        has_selector: bool,
        type_of: impl Fn(usize, ValueId) -> Type<'m>,
    ) -> Self {
        let mut slots = Vec::new();
        let mut of_type: HashMap<Type<'m>, Vec<usize>> = HashMap::new();
        let transfers = points
            .iter()
            .enumerate()
            .map(|(point, live)| {
                let mut used: HashMap<Type<'m>, usize> = HashMap::new();
                let mut slot_of = |value: ValueId| {
                    let ty = type_of(point, value);
                    let known = of_type.entry(ty).or_default();
                    let place = used.entry(ty).or_default();
                    if *place == known.len() {
                        known.push(slots.len());
                        slots.push(ty);
                    }
                    *place += 1;
                    known[*place - 1]
                };
                let others = live.iter().filter(|&&value| usize::from(value) >= arguments);
                others.map(|&value| (value, slot_of(value))).collect()
            })
            .collect();
        let mut transfers: Vec<Vec<Transfer>> = transfers;
        for argument in (0..arguments).map(ValueId::from) {
            let mut slot = None;
            for (point, (live, transfers)) in points.iter().zip(&mut transfers).enumerate() {
                if live.binary_search(&argument).is_ok() {
                    let slot = *slot.get_or_insert_with(|| {
                        slots.push(type_of(point, argument));
                        slots.len() - 1
                    });
                    transfers.push((argument, slot));
                }
            }
        }
        Prototype { slots, has_selector, transfers }
    }

    /// The type of the continuations of a function.
    pub fn function_type(&self, function: Function<'m>) -> Type<'m> {
        let selector = self.has_selector.then(|| function.module().int_type(32));
        let parameters: Vec<_> = selector.into_iter().chain(self.slots.iter().copied()).collect();
        function.result_type().function(&parameters)
    }
}
