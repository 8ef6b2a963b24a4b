//! A second, independent instrumentation that trees are checked against.
//!
//! It tells of each entry, each call and each exit by a call; the program supplies the functions,
//! which keep a stack of their own and ask the unwinder which of its frames there are. It shares
//! the record with the first, and where calls and exits are.

use crate::contexts::apply::Target;
use midflight_bridge::builder::Builder;
use midflight_bridge::ir::{Type, Value};

/// `void midflight_oracle_enter(const void *record, uint64_t frame, const void *function)`
pub fn entry<'m>(target: &Target<'m>, b: &Builder<'m>, frame: Value<'m>) {
    let function = target.function.value();
    tell(target, b, "midflight_oracle_enter", &[target.record, frame, function]);
}

/// `void midflight_oracle_call(uint64_t frame, uint32_t slot, uint32_t is_tail)`
pub fn call<'m>(target: &Target<'m>, b: &Builder<'m>, frame: Value<'m>, slot: u32, is_tail: bool) {
    let i32 = target.module.int_type(32);
    let (slot, is_tail) = (i32.constant(slot.into()), i32.constant(is_tail.into()));
    tell(target, b, "midflight_oracle_call", &[frame, slot, is_tail]);
}

/// `void midflight_oracle_exit(uint64_t frame)`
pub fn exit<'m>(target: &Target<'m>, b: &Builder<'m>, frame: Value<'m>) {
    tell(target, b, "midflight_oracle_exit", &[frame]);
}

fn tell<'m>(target: &Target<'m>, b: &Builder<'m>, name: &str, arguments: &[Value<'m>]) {
    let types: Vec<Type<'m>> = arguments.iter().map(|argument| argument.ty()).collect();
    let module = target.module;
    b.call(module.runtime_function(name, module.void_type(), &types), arguments);
}
