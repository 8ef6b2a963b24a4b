//! How emitted code finds the thread's forest: in the slot, or by a call where it is not there.
//!
//! ```text
//! forest = *slot
//! if forest is null: forest = midflight_enter(&record, &slot)
//! ```
//!
//! This is done on entry, and again at the plan's lookup. There the slot may be null too: the
//! activation may go on in another thread than it began in, or the runtime could not make a forest
//! on entry.

use crate::paths::apply::Target;
use midflight_abi::{ENTER_SYMBOL, SPARING_ENTER_SYMBOL};
use midflight_bridge::builder::{Builder, Phi};
use midflight_bridge::ir::{Block, Inst, Value};

/// Name of the value.
pub const FOREST: &std::ffi::CStr = c"midflight.forest";

/// Makes `forest`, a phi of `next`, the thread's forest: `before` branches to `next` after it has
/// loaded what is in the slot, which is `known`.
pub fn enter<'m>(
    target: &Target<'_, 'm>,
    (before, next): (Block<'m>, Block<'m>),
    known: Value<'m>,
    forest: Phi<'m>,
) {
    let &Target { module, function, record, slot, .. } = target;
    let b = Builder::new(module, function);
    b.before(before.terminator());
    let missing = b.is_null(known);
    let enter = function.add_block_before("midflight.enter", next);
    b.branch_unlikely(before, missing, enter, next);
    let pointer = module.pointer_type();
    let callee = module.runtime_function(ENTER_SYMBOL, pointer, &[pointer, pointer]);
    b.at_end(enter);
    let made = if needs_no_frame(target) {
        b.jump_through(SPARING_ENTER_SYMBOL, slot, record)
    } else {
        b.call(callee, &[record, slot])
    };
    b.branch(next);
    forest.add(known, before);
    forest.add(made, enter);
}

/// Whether the runtime can be entered without a call. A call would need a frame, and LLVM puts it
/// where the call and all else that needs one have passed: at the function's entry. So who leaves
/// the function early, as most do of those that call themselves, would pay for a frame that nobody
/// needs. In a library finding the slot is a call already. What is inlined later may come into a
/// function whose vector registers are longer than those that the runtime keeps.
fn needs_no_frame(target: &Target<'_, '_>) -> bool {
    target.is_final && target.function.has_plain_x86_64_code() && !target.module.is_for_library()
}

/// Completes lookups, of which there is no more yet than loads of the slot.
pub fn complete<'m>(target: &Target<'_, 'm>, loads: &[Inst<'m>]) {
    let b = Builder::new(target.module, target.function);
    for load in loads {
        let rest = load.next().expect("a load is no terminator");
        let before = load.block();
        let next = rest.split_before("midflight.found");
        let forest = b.phi(target.module.pointer_type(), next, FOREST);
        load.replace_uses(forest.value());
        enter(target, (before, next), load.value(), forest);
    }
}
