//! The calls of a function, and its ways out.
//!
//! | call | what the callee finds in the word |
//! |---|---|
//! | not in tail position | a slot of the call's own |
//! | in tail position, of a function that is instrumented for certain | the same; the callee puts the word back |
//! | in tail position, of any other | what the caller found: nobody would put the word back later |
//!
//! The second needs a slot of its own: there is none where functions alone tell contexts apart, nor
//! in functions with more call sites than a node has slots.
//!
//! Where contexts are counted in bursts all calls in tail position are of the third kind: whoever
//! was called between bursts has to be known by the stack. So are they where recursion is folded:
//! the frames of a node are those of several activations then.
//!
//! A call in tail position must stay there, so nothing may be inserted behind it. Which calls give
//! up the frame is known once LLVM has marked them. Before, it is every call that is followed by
//! nothing but the return.

use crate::contexts::options::Options;
use crate::driver::reason_to_skip_contexts;
use crate::function_list::FunctionList;
use crate::read_code::reachable_blocks;
use midflight_abi::contexts::MOST_SLOTS;
use midflight_abi::{ENTER_SYMBOL, PUBLISHED_STEP_SYMBOL, RUN_SYMBOL};
use midflight_bridge::ir::{Function, Inst, Module, Opcode};
use midflight_profile::table::{Granularity, Recursion};

/// What is inserted where.
#[derive(Default)]
pub struct Plan<'m> {
    /// The call sites that have a slot
    pub sites: Vec<Site<'m>>,
    /// Where the function is left: before calls in tail position, and returns
    pub exits: Vec<Inst<'m>>,
    /// Whether the word is put back there: it was changed by a call, or by who called in tail
    /// position and relies on it
    pub puts_back: bool,
}

impl<'m> Plan<'m> {
    /// The functions that have to put the word back for this one.
    pub fn tail_callees(&self) -> impl Iterator<Item = Function<'m>> {
        let tails = self.sites.iter().filter(|site| site.is_tail);
        tails.filter_map(|site| site.call.called_function())
    }
}

/// A call site.
pub struct Site<'m> {
    /// The call
    pub call: Inst<'m>,
    /// Whether its callee takes the place of the caller on the stack
    pub is_tail: bool,
}

/// How a call leads to its callee.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Ordinary,
    /// To a function that puts the word back as its caller would
    Tail,
    /// To a function of which that is not known
    Leave,
}

/// Whether LLVM has marked the calls that may give up the frame of a function, `is_final` if that
/// is behind all optimizations.
pub fn is_marked(function: Function<'_>, is_final: bool) -> bool {
    is_final || function.facts().is_not_optimized()
}

/// The plan for a function that calls or is called. `is_marked`: LLVM has marked the calls that may
/// give up the frame.
pub fn plan<'m>(
    module: Module<'m>,
    function: Function<'m>,
    options: &Options,
    is_marked: bool,
) -> Plan<'m> {
    let functions = options.functions.as_ref();
    let mut plan = Plan::default();
    // A slot is of calls of one kind.
    let has_slots_left = |plan: &Plan<'_>| {
        options.granularity == Granularity::Sites
            && !options.bursts
            && options.recursion == Recursion::Levels
            && plan.sites.len() + 1 < MOST_SLOTS as usize
    };
    // Who returns twice may go on behind a call that has given up the frame.
    let may_give_up = is_marked || !function.facts().returns_twice();
    for block in reachable_blocks(function) {
        let in_tail_position = block.tail_call(is_marked).filter(|_| may_give_up);
        for inst in block.instructions() {
            if !inst.facts().is_real_call() || is_of_runtime(inst) {
                continue;
            }
            let kind = match in_tail_position == Some(inst) {
                false => Kind::Ordinary,
                true if has_slots_left(&plan) && puts_word_back(module, inst, functions) => {
                    Kind::Tail
                }
                true => Kind::Leave,
            };
            match kind {
                Kind::Leave => plan.exits.push(inst),
                _ => plan.sites.push(Site { call: inst, is_tail: kind == Kind::Tail }),
            }
        }
        let last = block.terminator();
        if matches!(last.opcode(), Opcode::Ret | Opcode::Resume) && in_tail_position.is_none() {
            plan.exits.push(last);
        }
    }
    plan.puts_back = !plan.sites.is_empty();
    plan
}

/// Whether a call is one of the runtime's functions, which instrumentation of paths has inserted:
/// they call nothing that is instrumented.
fn is_of_runtime(call: Inst<'_>) -> bool {
    const INSERTED: [&str; 3] = [ENTER_SYMBOL, RUN_SYMBOL, PUBLISHED_STEP_SYMBOL];
    call.called_function().is_some_and(|callee| INSERTED.contains(&callee.name().as_str()))
}

/// Whether a call leads to a function that is instrumented for certain.
fn puts_word_back(module: Module<'_>, call: Inst<'_>, functions: Option<&FunctionList>) -> bool {
    call.called_function().is_some_and(|callee| {
        callee.is_definition()
            && callee.facts().is_exact()
            && reason_to_skip_contexts(module, callee, functions).is_none()
    })
}
