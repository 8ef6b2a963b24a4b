//! Inserts the code of the protocol into a function.
//!
//! ```text
//! entry:  frame = address of the return address
//!         found = *word.slot
//!         if found->record != &record: goto enter
//! known:  if found->parent->frame <= frame: goto enter
//! body:   node = phi [found, known], [entered, enter]
//!         node->count += 1
//!         node->frame = frame
//! enter:  entered = midflight_context_enter(frame, &record); goto body
//! ```
//!
//! Where recursion is folded, the activation goes on in the node that stands before that which it
//! has found and counted:
//!
//! ```text
//! body:   found = phi …
//!         found->count += 1
//!         node = found->head.goes_on
//!         back = found->back
//!         before = node->frame
//! ```
//!
//! Then the frame is stored before each call, since one that was left may have stored its own, and
//! put back to that of the activation before behind the word.
//!
//! Where functions may still be inlined, the frame may be the parent's own.
//!
//! A function without call sites neither keeps its frame nor touches the word, unless it is called
//! in tail position by another that relies on it. Signal handlers see the frame in the node before
//! the slot is in the word.

use crate::contexts::bursts;
use crate::contexts::oracle;
use crate::contexts::paths;
use crate::contexts::plan::Plan;
use crate::contexts::time;
use midflight_abi::contexts::{
    CONTEXT_BACK_OFFSET, CONTEXT_BURST_SYMBOL, CONTEXT_ENTER_SYMBOL, CONTEXT_FRAME_OFFSET,
    CONTEXT_GOES_ON_BEFORE, CONTEXT_PARENT_OFFSET, CONTEXT_RECORD_OFFSET, CONTEXT_WORD_SYMBOL,
    MOST_SLOTS, SPARING_CONTEXT_ENTER_SYMBOL, WORD_BURST_OFFSET, context_slot_offset,
};
use midflight_bridge::builder::Builder;
use midflight_bridge::ir::{Function, Module, Value};
use midflight_profile::table::{Granularity, Recursion};

/// What a plan is applied to.
pub struct Target<'m> {
    /// The module
    pub module: Module<'m>,
    /// The function
    pub function: Function<'m>,
    /// The function's record
    pub record: Value<'m>,
    /// What distinguishes calls
    pub granularity: Granularity,
    /// Whether nothing is inlined any more
    pub is_final: bool,
    /// Whether contexts are counted in bursts alone
    pub bursts: bool,
    /// Whether times are taken
    pub times: bool,
    /// The slot of the function's paths, where they are counted for each context
    pub slot: Option<Value<'m>>,
    /// What becomes of a call of a function that is under way
    pub recursion: Recursion,
    /// Whether an instrumentation of another kind is added, to check this one against
    pub has_oracle: bool,
}

/// Applies a plan.
pub fn apply<'m>(plan: &Plan<'m>, target: &Target<'m>) {
    let &Target { module, function, .. } = target;
    let (pointer, i64) = (module.pointer_type(), module.int_type(64));
    let b = Builder::new(module, function);
    let word = module.runtime_thread_variable(CONTEXT_WORD_SYMBOL, pointer);
    let (frame, found) = enter(target, &b, word);
    b.count(found);
    let is_folded = target.recursion == Recursion::Folded;
    let back = |found| b.load_relaxed(pointer, b.offset(found, CONTEXT_BACK_OFFSET as u64));
    // Who calls nothing needs no node to go on in, unless it has its time.
    let node = match is_folded && (plan.puts_back || target.times) {
        true => goes_on(target, &b, found),
        false => found,
    };
    let set_frame = |to| b.store_relaxed(to, b.offset(node, CONTEXT_FRAME_OFFSET as u64));
    let before = (is_folded && plan.puts_back).then(|| {
        let frame_before = b.load_relaxed(i64, b.offset(node, CONTEXT_FRAME_OFFSET as u64));
        (back(found), frame_before)
    });
    if !plan.sites.is_empty() && !is_folded {
        set_frame(frame);
    }
    if let Some(slot) = target.slot {
        paths::move_slot(target, &b, node, slot);
    }
    if target.times {
        time::enter(target, &b, found);
    }
    if target.has_oracle {
        oracle::entry(target, &b, frame);
    }
    for (site, number) in plan.sites.iter().zip(0..) {
        let slot = slot_of(number, target.granularity);
        b.before(site.call);
        if !target.is_final {
            // No call is moved over the store, nor made once for several.
            site.call.drop_call_purity();
        }
        if target.has_oracle {
            oracle::call(target, &b, frame, slot, site.is_tail);
        }
        if site.is_tail {
            if target.times {
                time::leave(target, &b, node);
            }
            // The callee's frame is where this one is.
            let above = b.add(frame, i64.constant(1));
            b.store_relaxed(above, b.offset(node, CONTEXT_FRAME_OFFSET as u64));
        }
        if is_folded {
            set_frame(frame);
        }
        b.store_relaxed(b.offset(node, context_slot_offset(slot) as u64), word);
        if target.bursts {
            bursts::tell_of_call(target, &b, site.call, slot);
        }
    }
    for &exit in &plan.exits {
        b.before(exit);
        if target.bursts {
            bursts::tell_of_exit(target, &b, exit);
        }
        if target.has_oracle {
            oracle::exit(target, &b, frame);
        }
        if target.times {
            time::leave(target, &b, node);
        }
        if plan.puts_back {
            match before {
                Some((back, frame_before)) => {
                    b.store_relaxed(back, word);
                    set_frame(frame_before);
                }
                None => b.store_relaxed(back(node), word),
            }
        }
    }
    function.drop_purity();
}

/// The slot of a call site by its number.
pub fn slot_of(number: u32, granularity: Granularity) -> u32 {
    match granularity {
        Granularity::Sites => MOST_SLOTS.min(number + 1) - 1,
        Granularity::Functions => 0,
    }
}

/// Finds the node; leaves the builder where it is known. Gives the frame and the node.
fn enter<'m>(target: &Target<'m>, b: &Builder<'m>, word: Value<'m>) -> (Value<'m>, Value<'m>) {
    let &Target { module, function, record, .. } = target;
    let (pointer, i64) = (module.pointer_type(), module.int_type(64));
    let body = function.split_entry();
    let head = body.insertion_point();
    let entry = function.blocks().next().expect("what is profiled has a body");
    let made = function.add_block_before("midflight.enter", body);
    let known = function.add_block_before("midflight.known", made);
    b.before(entry.terminator());
    let frame = b.frame();
    let found = b.load_relaxed(pointer, b.load_relaxed(pointer, word));
    let its_record = b.load(pointer, b.offset(found, CONTEXT_RECORD_OFFSET as u64));
    b.branch_unlikely(entry, b.differs(its_record, record), made, known);
    // Only a node has a parent: what an empty slot leads to has not.
    b.at_end(known);
    let parent = b.load(pointer, b.offset(found, CONTEXT_PARENT_OFFSET as u64));
    let its_frame = b.load(i64, b.offset(parent, CONTEXT_FRAME_OFFSET as u64));
    // What is inlined has the frame of its caller.
    let is_gone = match target.is_final {
        true => b.at_most(its_frame, frame),
        false => b.more(frame, its_frame),
    };
    let is_gone = match target.bursts {
        true => b.or(is_gone, is_new_burst(module, b, word)),
        false => is_gone,
    };
    b.branch(body);
    b.branch_unlikely(known, is_gone, made, body);
    b.at_end(made);
    // A call would need a frame, see `paths::enter`.
    let entered = if target.is_final && function.has_plain_x86_64_code() {
        b.jump_through(SPARING_CONTEXT_ENTER_SYMBOL, b.int_to_pointer(frame), record)
    } else {
        let callee = module.runtime_function(CONTEXT_ENTER_SYMBOL, pointer, &[i64, pointer]);
        b.call(callee, &[frame, record])
    };
    b.branch(body);
    let node = b.phi(pointer, body, c"midflight.node");
    node.add(found, known);
    node.add(entered, made);
    b.before(head);
    (frame, node.value())
}

/// The node in which an activation goes on, where recursion is folded.
fn goes_on<'m>(target: &Target<'m>, b: &Builder<'m>, found: Value<'m>) -> Value<'m> {
    let at = b.before_pointer(found, CONTEXT_GOES_ON_BEFORE as u64);
    b.load_relaxed(target.module.pointer_type(), at)
}

/// Whether the thread is in another burst than that in which it has come to the runtime.
fn is_new_burst<'m>(module: Module<'m>, b: &Builder<'m>, word: Value<'m>) -> Value<'m> {
    let (i32, i64) = (module.int_type(32), module.int_type(64));
    let burst = module.runtime_variable(CONTEXT_BURST_SYMBOL, i32);
    let its = b.load_relaxed(i64, b.offset(word, WORD_BURST_OFFSET as u64));
    b.differs(its, b.zero_extend(b.load_relaxed(i32, burst), i64))
}
