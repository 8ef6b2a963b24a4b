//! The one prototype of all continuations that move into each other.
//!
//! `musttail` needs caller and callee to have the same parameters. So the parameters are slots: at
//! each point some of them carry its live values, and the rest is poison. An argument of the
//! function has the same slot at all points; other values share slots of their type.

use crate::code::ValueId;
use midflight_bridge::ir::{Function, Type};
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
    /// For each point its transfers, in the order of its live values
    pub transfers: Vec<Vec<Transfer>>,
}

impl<'m> Prototype<'m> {
    /// Assigns slots to the live values of points. `arguments` is the number of the function's
    /// arguments, the first of its values.
    pub fn new(
        points: &[&[ValueId]],
        arguments: usize,
        has_selector: bool,
        type_of: impl Fn(ValueId) -> Type<'m>,
    ) -> Self {
        let mut slots = Vec::new();
        let mut of_argument = vec![None; arguments];
        for (argument, slot) in of_argument.iter_mut().enumerate() {
            if points.iter().any(|live| live.binary_search(&argument).is_ok()) {
                *slot = Some(slots.len());
                slots.push(type_of(argument));
            }
        }
        let mut of_type: HashMap<Type<'m>, Vec<usize>> = HashMap::new();
        let transfers = points
            .iter()
            .map(|live| {
                let mut used: HashMap<Type<'m>, usize> = HashMap::new();
                let mut slot_of = |value: ValueId| {
                    if let Some(slot) = of_argument.get(value).copied().flatten() {
                        return slot;
                    }
                    let ty = type_of(value);
                    let known = of_type.entry(ty).or_default();
                    let place = used.entry(ty).or_default();
                    if *place == known.len() {
                        known.push(slots.len());
                        slots.push(ty);
                    }
                    *place += 1;
                    known[*place - 1]
                };
                live.iter().map(|&value| (value, slot_of(value))).collect()
            })
            .collect();
        Prototype { slots, has_selector, transfers }
    }

    /// The type of the continuations of a function.
    pub fn function_type(&self, function: Function<'m>) -> Type<'m> {
        let selector = self.has_selector.then(|| function.module().int_type(32));
        let parameters: Vec<_> = selector.into_iter().chain(self.slots.iter().copied()).collect();
        function.result_type().function(&parameters)
    }
}
