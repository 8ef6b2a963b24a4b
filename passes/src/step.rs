//! The step of the automaton, inlined: what most events need of the runtime.
//!
//! A call of `midflight_step` becomes
//!
//! ```text
//!        place = the slot that the path may be in
//!        if place->key != id + 1 or place->count >= 2^31: goto cold
//! hit:   place->count += 1; known = place->next; goto next
//! cold:  made = midflight_step(state, id, forest); goto next
//! next:  phi [known, hit], [made, cold]
//! ```
//!
//! The protocol is that of `midflight_abi`.

use crate::apply::{Calls, Guarded};
use midflight_abi as abi;
use midflight_bridge::builder::Builder;
use midflight_bridge::ir::{Function, Inst, Module, Value};

/// Puts calls under their conditions, and inlines the steps, in a function with
/// `num_paths` paths.
pub fn inline<'m>(module: Module<'m>, function: Function<'m>, num_paths: u32, calls: &Calls<'m>) {
    let b = Builder::new(module, function);
    for guarded in &calls.guarded {
        guard(module, &b, guarded);
    }
    for &call in &calls.steps {
        let mut operands = call.operands();
        if let (Some(state), Some(id)) = (operands.next(), operands.next()) {
            let step = Step { module, function, b: &b, num_paths };
            step.inline(call, state, id);
        }
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
    let Some(rest) = call.next() else { return };
    let before = call.block();
    let some = call.split_before("midflight.some");
    let next = rest.split_before("midflight.next");
    b.branch_if(before, condition, some, next);
    let state = b.phi(module.int_type(64), next, c"midflight.state");
    call.replace_uses(state.value());
    state.add(otherwise, before);
    state.add(call.value(), some);
}

struct Step<'a, 'm> {
    module: Module<'m>,
    function: Function<'m>,
    b: &'a Builder<'m>,
    num_paths: u32,
}

impl<'m> Step<'_, 'm> {
    fn inline(&self, call: Inst<'m>, state: Value<'m>, id: Value<'m>) {
        let (b, function) = (self.b, self.function);
        let (i32, i64) = (self.module.int_type(32), self.module.int_type(64));
        let block = call.block();
        b.before(call);
        let place = self.place(state, id);
        let field = |offset: usize| b.offset(place, offset as u64);
        let count = field(abi::SLOT_COUNT_OFFSET);
        let key = b.load_acquiring(i32, field(abi::SLOT_KEY_OFFSET));
        let is_other = b.differs(key, b.add(id, i32.constant(1)));
        let is_half_full = b.at_most(b.load_relaxed(i32, count), i32.constant(u64::from(u32::MAX)));
        let is_cold = b.or(is_other, is_half_full);

        let Some(rest) = call.next() else { return };
        let cold = call.split_before("midflight.cold");
        let next = rest.split_before("midflight.next");
        let hit = function.add_block_before("midflight.hit", cold);
        b.branch_unlikely(block, is_cold, cold, hit);
        b.at_end(hit);
        b.count_as(i32, count);
        let known = b.load_relaxed(i64, place);
        b.branch(next);

        let state = b.phi(i64, next, c"midflight.state");
        call.replace_uses(state.value());
        state.add(known, hit);
        state.add(call.value(), cold);
    }

    /// The slot that a path may be in.
    fn place(&self, state: Value<'m>, id: Value<'m>) -> Value<'m> {
        let b = self.b;
        let (i32, i64) = (self.module.int_type(32), self.module.int_type(64));
        if self.num_paths <= abi::DENSE_PATHS {
            let table = b.int_to_pointer(state);
            let units = i64.constant(1 << (abi::SLOT_SHIFT - 3));
            return b.index(table, i64, b.mul(b.zero_extend(id, i64), units));
        }
        let product = b.mul(id, i32.constant(u64::from(abi::HASH_FACTOR)));
        let hash = b.shift_right(product, i32.constant(u64::from(abi::HASH_SHIFT)));
        let mask = b.shift_right(state, i64.constant(u64::from(abi::WORD_ADDRESS_BITS)));
        let offset = b.and(mask, b.zero_extend(hash, i64));
        let address = b.and(state, i64.constant((1 << abi::WORD_ADDRESS_BITS) - 1));
        b.index(b.int_to_pointer(address), self.module.int_type(8), offset)
    }
}
