//! Static bursting (thesis 5.1.1): a function has a second body, for bursts.
//!
//! ```text
//! entry:  if midflight_context_burst != 0: jump to the copy
//!         the body that was there; each call is told of
//! copy:   the protocol (`apply.rs`); each call is told of
//! ```
//!
//! A function of which there cannot be a copy comes to the runtime when it is entered in a burst,
//! is counted, and goes on in the body that it has: its activation is outside.

use crate::contexts::apply::{self, Target, slot_of};
use crate::contexts::options::Options;
use crate::contexts::plan::{Plan, plan};
use midflight_abi::contexts::{
    CALL_LEFT, CALL_OUTSIDE, CALLS_SECTION, CONTEXT_BURST_SYMBOL, CONTEXT_VISIT_SYMBOL,
};
use midflight_bridge::builder::Builder;
use midflight_bridge::ir::{Function, Inst, Opcode, Value};

/// Keeps LLVM from moving calls to functions of its own.
const NO_OUTLINING: &str = "nooutline";

/// Applies a plan, behind all optimizations. Returns the function and its copy, if there is one.
pub fn apply<'m>(
    plan_of_body: &Plan<'m>,
    target: &Target<'m>,
    options: &Options,
) -> Vec<Function<'m>> {
    let &Target { module, function, .. } = target;
    function.mark(NO_OUTLINING);
    let copy = match may_be_copied(function) {
        true => function.copy_body(&format!("{}.midflight.burst", function.name())),
        false => None,
    };
    let b = Builder::new(module, function);
    for (site, number) in plan_of_body.sites.iter().zip(0..) {
        let slot = slot_of(number, target.granularity);
        b.before(site.call);
        tell_of_call(target, &b, site.call, slot | CALL_OUTSIDE);
    }
    for &exit in &plan_of_body.exits {
        b.before(exit);
        tell_of_exit(target, &b, exit);
    }
    let burst = module.runtime_variable(CONTEXT_BURST_SYMBOL, module.int_type(32));
    let Some(copy) = copy else {
        visit(target, &b, burst);
        return vec![function];
    };
    function.jump_unless_zero(burst, copy);
    function.drop_purity();
    let its_plan = plan(module, copy, options, true);
    assert_eq!(its_plan.sites.len(), plan_of_body.sites.len(), "a copy has the same calls");
    apply::apply(&its_plan, &Target { function: copy, ..*target });
    vec![function, copy]
}

/// Whether all that is in a function may be there twice.
fn may_be_copied(function: Function<'_>) -> bool {
    let mut instructions = function.blocks().flat_map(|block| block.instructions());
    !instructions.any(|inst| inst.facts().cannot_duplicate())
}

/// Tells of a call, before which the builder is.
pub fn tell_of_call<'m>(target: &Target<'m>, b: &Builder<'m>, call: Inst<'m>, site: u32) {
    b.tell_of_call(CALLS_SECTION, target.record, site);
    // LLVM must not make one call of two that are in several places, each behind what is told of
    // it. An `invoke` has labels of its own.
    if call.opcode() == Opcode::Call
        && let Some(next) = call.next()
    {
        b.before(next);
        b.keep_apart(site);
    }
}

/// Tells of a call in tail position, before which the builder is, if the exit is one.
pub fn tell_of_exit<'m>(target: &Target<'m>, b: &Builder<'m>, exit: Inst<'m>) {
    if exit.opcode() == Opcode::Call {
        b.tell_of_call(CALLS_SECTION, target.record, CALL_LEFT);
    }
}

/// Counts an activation in a burst.
fn visit<'m>(target: &Target<'m>, b: &Builder<'m>, burst: Value<'m>) {
    let &Target { module, function, record, .. } = target;
    let (pointer, i64) = (module.pointer_type(), module.int_type(64));
    let body = function.split_entry();
    let entry = function.blocks().next().expect("what is profiled has a body");
    let visit = function.add_block_before("midflight.visit", body);
    b.before(entry.terminator());
    let i32 = module.int_type(32);
    let number = b.load_relaxed(i32, burst);
    b.branch_unlikely(entry, b.differs(number, i32.constant(0)), visit, body);
    b.at_end(visit);
    let callee = module.runtime_function(CONTEXT_VISIT_SYMBOL, pointer, &[i64, pointer]);
    b.count(b.call(callee, &[b.frame(), record]));
    b.branch(body);
    function.drop_purity();
}
