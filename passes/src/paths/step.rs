//! The step of the automaton, inlined: what most events need of the runtime.
//!
//! A call of the runtime's step becomes, where tables are dense,
//!
//! ```text
//!        known = place->next
//!        if known is 0: goto cold
//! hit:   place->tally += 1; goto next
//! cold:  made = forest->step(state, register, forest); goto next
//! next:  phi [known, hit], [made, cold]
//! ```
//!
//! and where they are sparse
//!
//! ```text
//!        place = the slot that the path may be in
//!        if place's key != register: goto cold
//! hit:   place->tally += 1; known = place->next; goto next
//! cold:  made = forest->step(state, register, forest); goto next
//! next:  phi [known, hit], [made, cold]
//! ```
//!
//! Behind the last path of a stream there is no state, and the call says so.
//!
//! Where hardly any activation comes by, the call stays as it is, on x86-64, where the runtime
//! looks for the path in the same way: LLVM takes time for code that is not run, too.
//!
//! The protocol is that of `midflight_abi`.

use crate::paths::apply::{Calls, Guarded, Step};
use midflight_abi as abi;
use midflight_bridge::builder::Builder;
use midflight_bridge::ir::{Function, Module, Value};

/// Steps that are expected less often than this, for each 1024 activations, are calls.
const COLD: u64 = 1024 / 16;

/// Puts calls under their conditions, and inlines the steps, in a function whose tables are dense
/// or not.
pub fn inline<'m>(module: Module<'m>, function: Function<'m>, is_dense: bool, calls: &Calls<'m>) {
    let b = Builder::new(module, function);
    for guarded in &calls.guarded {
        guard(module, &b, guarded);
    }
    for step in &calls.steps {
        inline_step(module, function, &b, is_dense, step);
    }
}

/// Makes a call conditional:
///
/// ```text
///       if not condition: goto next
/// some: made = call
/// next: phi [otherwise, before], [made, some]
/// ```
fn guard<'m>(module: Module<'m>, b: &Builder<'m>, guarded: &Guarded<'m>) {
    let &Guarded { call, condition, otherwise } = guarded;
    let rest = call.next().expect("a call is no terminator");
    let before = call.block();
    let some = call.split_before("midflight.some");
    let next = rest.split_before("midflight.next");
    b.branch_if(before, condition, some, next);
    let state = b.phi(module.int_type(64), next, c"midflight.state");
    call.replace_uses(state.value());
    state.add(otherwise, before);
    state.add(call.value(), some);
}

fn inline_step<'m>(
    module: Module<'m>,
    function: Function<'m>,
    b: &Builder<'m>,
    is_dense: bool,
    step: &Step<'m>,
) {
    let &Step { call, register, frequency, is_last } = step;
    let i64 = module.int_type(64);
    let mut operands = call.operands();
    let (Some(state), Some(forest), Some(rest)) = (operands.next(), operands.nth(1), call.next())
    else {
        return;
    };
    let block = call.block();
    b.before(call);
    if frequency < COLD && module.is_for_x86_64() {
        complete(module, b, step, forest);
        return;
    }
    let look_up = if is_dense { look_up_dense } else { look_up_sparse };
    let found = look_up(module, b, state, register);

    let cold = call.split_before("midflight.cold");
    let next = rest.split_before("midflight.next");
    let hit = function.add_block_before("midflight.hit", cold);
    b.branch_unlikely(block, found.is_cold, cold, hit);
    b.at_end(hit);
    b.count(found.tally);
    let known = match found.next {
        _ if is_last => i64.poison(),
        Next::Known(next) => next,
        Next::At(place) => b.load_relaxed(i64, place),
    };
    b.branch(next);

    b.before(call);
    complete(module, b, step, forest);
    if is_last {
        return;
    }
    let state = b.phi(i64, next, c"midflight.state");
    call.replace_uses(state.value());
    state.add(known, hit);
    state.add(call.value(), cold);
}

/// Fills in what a call of the runtime's step does not have yet, at the builder's position.
fn complete<'m>(module: Module<'m>, b: &Builder<'m>, step: &Step<'m>, forest: Value<'m>) {
    let &Step { call, register, is_last, .. } = step;
    call.set_operand(1, b.narrow(register, module.int_type(32)));
    if is_last {
        call.set_operand(2, b.offset(forest, abi::FINAL));
    }
    call.set_callee(
        b.load(module.pointer_type(), b.offset(forest, abi::FOREST_STEP_OFFSET as u64)),
    );
}

/// The slot that a path may be in.
struct Found<'m> {
    /// Whether the slot is not the path's
    is_cold: Value<'m>,
    /// The slot's counter
    tally: Value<'m>,
    /// The state after the path
    next: Next<'m>,
}

enum Next<'m> {
    Known(Value<'m>),
    At(Value<'m>),
}

fn look_up_dense<'m>(
    module: Module<'m>,
    b: &Builder<'m>,
    state: Value<'m>,
    register: Value<'m>,
) -> Found<'m> {
    let i64 = module.int_type(64);
    let tally = b.index(b.int_to_pointer(state), module.int_type(8), register);
    let next = b.load_relaxed(i64, b.offset(tally, 0u64.wrapping_sub(abi::DENSE_OFFSET)));
    let is_cold = b.equal(next, i64.constant(0));
    Found { is_cold, tally, next: Next::Known(next) }
}

fn look_up_sparse<'m>(
    module: Module<'m>,
    b: &Builder<'m>,
    state: Value<'m>,
    register: Value<'m>,
) -> Found<'m> {
    let (i32, i64) = (module.int_type(32), module.int_type(64));
    let hash = b.shift_right(register, i32.constant(u64::from(abi::HASH_SHIFT)));
    let offset = b.zero_extend(b.and(hash, b.narrow(state, i32)), i64);
    let table = b.shift_right(state, i64.constant(u64::from(abi::WORD_SHIFT)));
    let place = b.index(b.int_to_pointer(table), module.int_type(8), offset);
    let tally = b.offset(place, abi::SLOT_TALLY_OFFSET as u64);
    let key = b.load_acquiring(i32, b.offset(place, abi::SLOT_KEY_OFFSET as u64));
    Found { is_cold: b.differs(key, register), tally, next: Next::At(place) }
}
