//! Inserting a point into a version (thesis 4.1.1, `f_from`).
//!
//! ```text
//! block:  …                               block:  …
//!         I                                       fire? ─────► fire: r = call continuation(live…)
//!         …                        ──►    rest:   I                  ret r
//!                                                 …
//! ```

use crate::osr::condition::Condition;
use crate::osr::prototype::Prototype;
use crate::osr::record::Record;
use midflight_abi::osr::{OSR_FUEL_SYMBOL, OSR_HIT_SYMBOL};
use midflight_bridge::builder::{Builder, Tail};
use midflight_bridge::ir::{Block, Function, Inst, Value};

/// The entry of a patchable point, behind its label and its nop, that tells the runtime where it
/// is. `$0` is the site's identity, `$1` the label of the block that fires. The entry is linked to
/// the code ("o") and in its group ("?"), so that the linker keeps or drops both.
macro_rules! patchable {
    ($alignment:literal, $nop:literal) => {
        concat!(
            $alignment,
            "\n.Lmidflight_osr_${:uid}:\n\t",
            $nop,
            "
\t.pushsection midflight_osr_patch,\"ao?\",@progbits,.Lmidflight_osr_${:uid}
\t.balign 8
\t.long .Lmidflight_osr_${:uid}-.
\t.long ${1:l}-.
\t.quad ${0:c}
\t.popsection"
        )
    };
}

/// A nop of 5 bytes. The alignment skips at most 4 bytes, just when the nop would otherwise cross a
/// boundary of 8.
const PATCHABLE_X86_64: &str = patchable!(".p2align 3,,4", ".byte 0x0f,0x1f,0x44,0x00,0x00");

/// A word, as all instructions are.
const PATCHABLE_AARCH64: &str = patchable!(".p2align 2", "nop");

/// Where a transition goes, and how.
#[derive(Clone, Copy)]
pub struct Target<'a, 'm> {
    /// The continuation
    pub continuation: Function<'m>,
    /// Its prototype
    pub prototype: &'a Prototype<'m>,
    /// From a continuation into the next one: the stack must not grow.
    pub tail: Tail,
}

/// One transition that many points of a function share: they bring their values in variables of the
/// frame. With a call for each point, or with phis, the backend takes time that is quadratic in the
/// number of points.
pub struct SharedTransition<'m> {
    block: Block<'m>,
    selector: Option<Value<'m>>,
    slots: Vec<Value<'m>>,
}

impl<'m> SharedTransition<'m> {
    /// Adds the block of a transition to a function whose entry is complete.
    pub fn new(function: Function<'m>, target: Target<'_, 'm>) -> Self {
        let Target { continuation, prototype, tail } = target;
        let builder = Builder::new(function.module(), function);
        begin_entry(&builder, function);
        let int32 = function.module().int_type(32);
        let selector = prototype.has_selector.then(|| builder.variable(int32, c"osr.landing"));
        let slots: Vec<_> =
            prototype.slots.iter().map(|&ty| builder.variable(ty, c"osr.value")).collect();
        let block = function.add_block("osr.transition");
        builder.at_end(block);
        let types = selector.map(|_| int32).into_iter().chain(prototype.slots.iter().copied());
        let arguments: Vec<_> = types
            .zip(selector.iter().chain(&slots))
            .map(|(ty, &variable)| builder.load_volatile(ty, variable))
            .collect();
        let result = builder.call_function(continuation, &arguments, tail);
        builder.ret(result);
        SharedTransition { block, selector, slots }
    }

    /// Leads from the position to it, with these values in their slots.
    fn enter(&self, builder: &Builder<'m>, selector: Value<'m>, values: &[(Value<'m>, usize)]) {
        if let Some(variable) = self.selector {
            builder.store_volatile(selector, variable);
        }
        for &(value, slot) in values {
            builder.store_volatile(value, self.slots[slot]);
        }
        builder.branch(self.block);
    }
}

/// Inserts at the beginning of a function's entry from now on, where variables go.
fn begin_entry<'m>(builder: &Builder<'m>, function: Function<'m>) {
    if let Some(first) = function.blocks().next().and_then(|b| b.instructions().next()) {
        builder.before(first);
    }
}

/// A point to be inserted.
#[derive(Clone)]
pub struct Site<'a, 'm> {
    /// The function that it is in
    pub function: Function<'m>,
    /// It is before this instruction.
    pub at: Inst<'m>,
    /// When it fires
    pub condition: Condition,
    /// What the continuation gets, and in which slots
    pub values: Vec<(Value<'m>, usize)>,
    /// Where it leads
    pub target: Target<'a, 'm>,
    /// Number of the landing there, if there are several
    pub selector: u32,
    /// The function's record; none if nothing is counted and nothing armed
    pub record: Option<&'a Record<'m>>,
    /// Number of the site in the record
    pub number: usize,
    /// Number of its point, which is that of the base version's site
    pub point: usize,
}

/// A point that was inserted.
#[derive(Clone, Copy)]
pub struct Inserted<'m> {
    /// The block that ends with the check
    pub check: Block<'m>,
    /// The block that calls the continuation
    pub fire: Block<'m>,
    /// The block that begins with the point's instruction
    pub rest: Block<'m>,
    /// The hotness counter, a variable in memory until [`promote_counters`]
    pub counter: Option<Value<'m>>,
}

/// Makes registers of the counters of a function, all of whose blocks are complete.
pub fn promote_counters<'m>(function: Function<'m>, inserted: &[Inserted<'m>]) {
    let counters: Vec<Value<'m>> = inserted.iter().filter_map(|i| i.counter).collect();
    function.promote(&counters);
}

impl<'m> Site<'_, 'm> {
    /// Inserts it. The transition may be one that it shares with other points.
    pub fn insert(&self, shared: Option<&SharedTransition<'m>>) -> Inserted<'m> {
        let block = self.at.block();
        let rest = self.at.split_before("osr.cont");
        let fire = self.function.add_block("osr.fire");
        let builder = Builder::new(self.function.module(), self.function);
        let counter = self.check(&builder, block, fire, rest);
        self.transition(&builder, fire, shared);
        Inserted { check: block, fire, rest, counter }
    }

    /// Ends `block`, which leads to `rest`, with the check that may lead to `fire`. Returns the
    /// counter, if it is a variable.
    fn check(
        &self,
        builder: &Builder<'m>,
        block: Block<'m>,
        fire: Block<'m>,
        rest: Block<'m>,
    ) -> Option<Value<'m>> {
        let module = self.function.module();
        let (int1, int32, int64) = (module.int_type(1), module.int_type(32), module.int_type(64));
        builder.before(block.terminator());
        let fires = match self.condition {
            Condition::Always => int1.constant(1),
            Condition::Count(n) => {
                let counter = self.counter(builder, n);
                builder.before(block.terminator());
                let old = builder.load(int32, counter);
                let new = builder.sub(old, int32.constant(1));
                builder.store(new, counter);
                let fires = builder.equal(new, int32.constant(0));
                builder.branch_unlikely(block, fires, fire, rest);
                return Some(counter);
            }
            Condition::Never | Condition::Flag => match self.record {
                Some(record) => {
                    let armed = builder.load_relaxed(int32, record.armed(builder, self.number));
                    builder.differs(armed, int32.constant(0))
                }
                None => int1.constant(0),
            },
            Condition::Every(n) => match self.record {
                Some(record) => {
                    self.check_every(builder, n, record, block, fire, rest);
                    return None;
                }
                None => int1.constant(u64::from(n == 1)),
            },
            Condition::Patch => {
                let id = self.record.map_or(0, |record| record.id(self.number));
                let is_x86_64 = module.is_for_x86_64();
                let code = if is_x86_64 { PATCHABLE_X86_64 } else { PATCHABLE_AARCH64 };
                builder.asm_goto(block, code, id, fire, rest);
                return None;
            }
            Condition::Fuzz => {
                let record = self.record?;
                let fuel_at = module.runtime_variable(OSR_FUEL_SYMBOL, int64);
                let fuel = builder.load_relaxed(int64, fuel_at);
                let fuel = builder.sub(fuel, int64.constant(1));
                builder.store_relaxed(fuel, fuel_at);
                // Another thread may have taken it past zero.
                let spent = builder.at_most(fuel, int64.constant(0));
                let armed = builder.load_relaxed(int32, record.armed(builder, self.point));
                let asked = builder.or(spent, builder.differs(armed, int32.constant(0)));
                let ask = self.function.add_block("osr.ask");
                builder.branch_unlikely(block, asked, ask, rest);
                builder.at_end(ask);
                let hit =
                    module.runtime_function(OSR_HIT_SYMBOL, int1, &[module.pointer_type(), int32]);
                let number = int32.constant(self.number as u64);
                let fires = builder.call(hit, &[record.address, number]);
                builder.branch(rest);
                builder.branch_unlikely(ask, fires, fire, rest);
                return None;
            }
        };
        builder.branch_unlikely(block, fires, fire, rest);
        None
    }

    /// `every:N`: counts down in the record, and begins again when it fires.
    fn check_every(
        &self,
        builder: &Builder<'m>,
        n: u32,
        record: &Record<'m>,
        block: Block<'m>,
        fire: Block<'m>,
        rest: Block<'m>,
    ) {
        let int32 = self.function.module().int_type(32);
        let left_at = record.left(builder, self.number);
        let left = builder.sub(builder.load_relaxed(int32, left_at), int32.constant(1));
        builder.store_relaxed(left, left_at);
        let fires = builder.equal(left, int32.constant(0));
        builder.branch_unlikely(block, fires, fire, rest);
        builder.at_end(fire);
        builder.store_relaxed(int32.constant(n.into()), left_at);
    }

    /// The hotness counter of thesis Fig. 4.5: it begins with N in each activation. To be promoted
    /// to a register when all blocks are complete.
    fn counter(&self, builder: &Builder<'m>, n: u32) -> Value<'m> {
        let int32 = self.function.module().int_type(32);
        begin_entry(builder, self.function);
        let counter = builder.variable(int32, c"p.osr");
        builder.store(int32.constant(n.into()), counter);
        counter
    }

    /// Fills the block that fires: hands on the live values and returns what the continuation
    /// returns.
    fn transition(
        &self,
        builder: &Builder<'m>,
        fire: Block<'m>,
        shared: Option<&SharedTransition<'m>>,
    ) {
        builder.at_end(fire);
        if let Some(record) = self.record
            && self.condition != Condition::Fuzz
        {
            builder.count(record.transitions(builder, self.number));
        }
        let int32 = self.function.module().int_type(32);
        let selector = int32.constant(self.selector.into());
        if let Some(shared) = shared {
            shared.enter(builder, selector, &self.values);
            return;
        }
        let Target { continuation, prototype, tail } = self.target;
        let mut arguments: Vec<_> = prototype.slots.iter().map(|ty| ty.poison()).collect();
        for &(value, slot) in &self.values {
            arguments[slot] = value;
        }
        if prototype.has_selector {
            arguments.insert(0, selector);
        }
        builder.ret(builder.call_function(continuation, &arguments, tail));
    }
}
