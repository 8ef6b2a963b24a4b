//! Paths for each context: a function of which paths are profiled, too, finds its forest in the
//! head of its node, in the place of its thread-local slot (flow and context sensitive profiling;
//! Ammons, Ball, Larus, PLDI 1997).
//!
//! What path profiling has inserted before stays as it is, but for the slot: it is entered behind
//! the node.

use crate::contexts::apply::Target;
use crate::paths::path_profile_gen::slot_prefix;
use midflight_abi::contexts::{CONTEXT_FOREST_BEFORE, IN_HEAD};
use midflight_bridge::builder::Builder;
use midflight_bridge::ir::{Function, Opcode, Value};

/// The slot of a function of which paths are profiled.
pub fn slot(function: Function<'_>) -> Option<Value<'_>> {
    let prefix = slot_prefix(&function.name());
    let mut instructions = function.blocks().flat_map(|block| block.instructions());
    instructions.find_map(|inst| inst.operands().find(|value| value.is_global_of(&prefix)))
}

/// Puts the slot in the head of a node, which the builder is behind, in the place of a function's
/// own.
pub fn move_slot<'m>(target: &Target<'m>, b: &Builder<'m>, node: Value<'m>, slot: Value<'m>) {
    let users: Vec<_> = target
        .function
        .blocks()
        .flat_map(|block| block.instructions())
        .filter(|inst| inst.operands().any(|value| value == slot))
        .collect();
    let in_head = b.before_pointer(node, CONTEXT_FOREST_BEFORE as u64);
    let for_runtime = b.before_pointer(node, (CONTEXT_FOREST_BEFORE - IN_HEAD) as u64);
    for user in users {
        // It is loaded, or the runtime gets it.
        let moved = if user.opcode() == Opcode::Call { for_runtime } else { in_head };
        for (value, number) in user.operands().zip(0..) {
            if value == slot {
                user.set_operand(number, moved);
            }
        }
    }
}
