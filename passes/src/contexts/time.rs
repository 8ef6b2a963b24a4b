//! Times: how much of a counter passes in the activations of each context.
//!
//! ```text
//! spend(node):  now = counter
//!               last = word.last
//!               if now > last: node->head.time += now - last; word.last = now
//! ```
//!
//! On entry what has passed is the caller's, on each way out the function's own: so a call of what
//! is not instrumented needs nothing, and the counter is read twice in an activation.
//!
//! On x86-64 the counter is `rdtsc`; on AArch64 that of the system, since user mode must not read
//! the one of cycles.

use crate::contexts::apply::Target;
use midflight_abi::contexts::{
    CONTEXT_PARENT_OFFSET, CONTEXT_TIME_BEFORE, CONTEXT_WORD_SYMBOL, WORD_LAST_OFFSET,
};
use midflight_bridge::builder::Builder;
use midflight_bridge::ir::{Module, Value};

/// What is wrong with a module of which times are to be taken.
pub fn problem(module: Module<'_>) -> Option<&'static str> {
    let is_known = module.is_for_x86_64() || module.is_for_aarch64();
    (!is_known).then_some("there is no counter for it but on x86-64 and AArch64")
}

/// Gives what has passed to the caller, where a function was entered.
pub fn enter<'m>(target: &Target<'m>, b: &Builder<'m>, node: Value<'m>) {
    let pointer = target.module.pointer_type();
    let caller = b.load_relaxed(pointer, b.offset(node, CONTEXT_PARENT_OFFSET as u64));
    spend(target, b, caller);
}

/// Gives what has passed to the function itself, which is left.
pub fn leave<'m>(target: &Target<'m>, b: &Builder<'m>, node: Value<'m>) {
    spend(target, b, node);
}

fn spend<'m>(target: &Target<'m>, b: &Builder<'m>, node: Value<'m>) {
    let module = target.module;
    let (i64, pointer) = (module.int_type(64), module.pointer_type());
    let word = module.runtime_thread_variable(CONTEXT_WORD_SYMBOL, pointer);
    let last_at = b.offset(word, WORD_LAST_OFFSET as u64);
    // A handler that comes in between takes its own time.
    let now = match module.is_for_x86_64() {
        true => b.cycle_counter(),
        false => b.system_counter(),
    };
    let last = b.load_relaxed(i64, last_at);
    let is_later = b.more(now, last);
    let spent = b.select(is_later, b.sub(now, last), i64.constant(0));
    b.count_by(b.before_pointer(node, CONTEXT_TIME_BEFORE as u64), spent);
    b.store_relaxed(b.select(is_later, now, last), last_at);
}
