//! Inserting a point into a version (thesis 4.1.1, `f_from`).
//!
//! ```text
//! block:  …                               block:  …
//!         I                                       fire? ─────► fire: r = call continuation(live…)
//!         …                        ──►    rest:   I                  ret r
//!                                                 …
//! ```

use crate::osr::came::OneWay;
use crate::osr::condition::Condition;
use crate::osr::open;
use crate::osr::open::fire::{Asked, Versions};
use crate::osr::open::guard::Check;
use crate::osr::open::key::Profiled;
use crate::osr::prototype::Prototype;
use crate::osr::record::Record;
use midflight_bridge::builder::{Builder, Tail};
use midflight_bridge::ir::{Block, Function, Inst, TypeKind, Value};
use rustc_hash::FxHashMap as HashMap;

/// Where a transition goes.
#[derive(Clone, Copy)]
pub enum Destination<'m> {
    /// Into this continuation
    Continuation(Function<'m>),
    /// Into a version that is asked for when it fires
    Open(Asked<'m>),
}

/// Where a transition goes, and how.
#[derive(Clone, Copy)]
pub struct Target<'a, 'm> {
    /// The destination
    pub to: Destination<'m>,
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
        let Target { to: Destination::Continuation(continuation), prototype, tail } = target else {
            unreachable!("open points have transitions of their own");
        };
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
pub(super) fn begin_entry<'m>(builder: &Builder<'m>, function: Function<'m>) {
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
    /// What it checks, if it is a guard
    pub guard: Option<Check<'m>>,
    /// What is run before it is left
    pub ahead: Vec<Inst<'m>>,
    /// What the continuation gets, and in which slots
    pub values: Vec<(Value<'m>, usize)>,
    /// What it profiles, if it is open
    pub profiled: Profiled<'m>,
    /// Where it leads
    pub target: Target<'a, 'm>,
    /// Number of the landing there, if there are several
    pub selector: u32,
    /// The function's record; none if nothing is counted and nothing armed
    pub record: Option<&'a Record<'m>>,
    /// Number of the site in the record
    pub number: usize,
    /// Number of the site whose flag arms it: of ways to one point that of the first one
    pub armed: usize,
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
    /// The hotness counter, a variable in memory until [`promote_variables`]
    pub counter: Option<Value<'m>>,
    /// The callee that was called last, such a variable
    pub seen: Option<Value<'m>>,
}

/// Makes registers of the variables of a function, all of whose blocks are complete.
pub fn promote_variables<'m>(
    function: Function<'m>,
    inserted: &[Inserted<'m>],
    came: impl Iterator<Item = Value<'m>>,
) {
    let counters = inserted.iter().flat_map(|i| [i.counter, i.seen]).flatten();
    let variables: Vec<Value<'m>> = counters.chain(came).collect();
    function.promote(&variables);
}

impl<'m> Site<'_, 'm> {
    /// Inserts it. The transition may be one that it shares with other points. Unless control came
    /// as it must, it is passed.
    pub fn insert(
        &self,
        shared: Option<&SharedTransition<'m>>,
        came: Option<&OneWay<'m>>,
    ) -> Inserted<'m> {
        let mut block = self.at.block();
        let rest = self.at.split_before("osr.cont");
        let fire = self.function.add_block("osr.fire");
        let builder = Builder::new(self.function.module(), self.function);
        if let Some(came) = came {
            let check = self.function.add_block("osr.check");
            builder.at_end(check).branch(rest);
            builder.before(block.terminator());
            let int1 = self.function.module().int_type(1);
            let mut holds = builder.load(int1, came.is_it);
            for &is_there in &came.are_there {
                holds = builder.and(holds, builder.load(int1, is_there));
            }
            builder.branch_if(block, holds, check, rest);
            block = check;
        }
        let seen = open::fire::remember_callee(&builder, self.function, self.profiled);
        let counter = self.check(&builder, block, fire, rest);
        let inserted = Inserted { check: block, fire, rest, counter, seen };
        self.transition(&builder, inserted, shared, came);
        inserted
    }

    /// Fills the block that fires: hands on the live values and returns what the continuation
    /// returns.
    fn transition(
        &self,
        builder: &Builder<'m>,
        inserted: Inserted<'m>,
        shared: Option<&SharedTransition<'m>>,
        came: Option<&OneWay<'m>>,
    ) {
        let Target { to, prototype, tail } = self.target;
        let asked = match to {
            Destination::Continuation(_) => None,
            Destination::Open(asked) => Some(self.ask(builder, inserted, asked)),
        };
        builder.at_end(asked.as_ref().map_or(inserted.fire, |versions| versions.go));
        if let Some(record) = self.record
            && self.condition != Condition::Fuzz
        {
            builder.count(record.transitions(builder, self.number));
        }
        if let Some(guard) = self.guard {
            guard.report(builder);
        }
        let now = self.run_ahead(builder, came);
        let values: Vec<(Value<'m>, usize)> =
            self.values.iter().map(|&(value, slot)| (now(value), slot)).collect();
        let int32 = self.function.module().int_type(32);
        let selector = int32.constant(self.selector.into());
        if let Some(shared) = shared {
            shared.enter(builder, selector, &values);
            return;
        }
        let mut arguments: Vec<_> = prototype.slots.iter().map(|ty| ty.poison()).collect();
        for &(value, slot) in &values {
            arguments[slot] = value;
        }
        if prototype.has_selector {
            arguments.insert(0, selector);
        }
        let result = match (to, asked) {
            (Destination::Continuation(to), _) => builder.call_function(to, &arguments, tail),
            (Destination::Open(_), Some(versions)) => {
                let ty = prototype.function_type(self.function);
                builder.call_version(versions.code, ty, &arguments, tail)
            }
            (Destination::Open(_), None) => unreachable!("an open point has asked"),
        };
        match self.function.result_type().kind() {
            TypeKind::Void => builder.ret_void(),
            _ => builder.ret(result),
        }
    }

    /// Runs what is to be run before the version is left. Returns what values are then.
    fn run_ahead(
        &self,
        builder: &Builder<'m>,
        came: Option<&OneWay<'m>>,
    ) -> impl Fn(Value<'m>) -> Value<'m> {
        let mut now: HashMap<Value<'m>, Value<'m>> = HashMap::default();
        for &(value, variable) in came.map_or(&[][..], |came| &came.carried) {
            now.insert(value, builder.load(value.ty(), variable));
        }
        let get = |now: &HashMap<Value<'m>, Value<'m>>, value: Value<'m>| {
            now.get(&value).copied().unwrap_or(value)
        };
        let mut all = self.ahead.as_slice();
        while let Some((&inst, mut rest)) = all.split_first() {
            if inst.facts().is_terminator() {
                let count = rest.iter().take_while(|phi| phi.facts().is_phi()).count();
                let (phis, behind) = rest.split_at(count);
                let from = inst.block();
                let incoming = |phi: &Inst<'m>| {
                    let place = phi.incoming_blocks().position(|block| block == from);
                    let value = phi.operands().nth(place.expect("the branch leads to the phi"));
                    (phi.value(), get(&now, value.expect("a phi has as many values as blocks")))
                };
                let incoming: Vec<_> = phis.iter().map(incoming).collect();
                now.extend(incoming);
                rest = behind;
            } else {
                let operands: Vec<Value<'m>> = inst.operands().map(|o| get(&now, o)).collect();
                now.insert(inst.value(), builder.repeat(inst, &operands));
            }
            all = rest;
        }
        move |value| get(&now, value)
    }

    /// Asks for a version. Where there is none execution goes on behind the point, and a hotness
    /// counter begins again.
    fn ask(&self, builder: &Builder<'m>, inserted: Inserted<'m>, asked: Asked<'m>) -> Versions<'m> {
        let Inserted { fire, rest, counter, seen, .. } = inserted;
        let versions = open::fire::ask(builder, self.function, fire, asked, self.profiled, seen);
        builder.at_end(versions.none);
        if let (Some(counter), Condition::Count(n)) = (counter, self.condition) {
            let int32 = self.function.module().int_type(32);
            builder.store(int32.constant(n.into()), counter);
        }
        builder.branch(rest);
        versions
    }
}
