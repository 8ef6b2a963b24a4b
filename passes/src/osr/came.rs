//! How control came to points whose landing depends on that: over which edge it last came to a
//! block, and what was computed on the way.
//!
//! ```text
//! %came = phi i1 [ false, %before ], [ true, %latch ]
//! %next = phi i64 [ poison, %before ], [ %sum, %latch ]
//! ```
//!
//! What has landed behind that does not know it until it comes by again: no point that asks fires
//! before.

use crate::osr::site::begin_entry;
use crate::read_code::CodeSnapshot;
use midflight_bridge::builder::Builder;
use midflight_bridge::ir::{Function, Inst, Value};
use midflight_ir::ids::{BlockId, InstId, ValueId};
use midflight_mapping::mapping::history::{History, Way};
use rustc_hash::FxHashMap as HashMap;

/// The variables of a way to points, in memory until [`super::site::promote_variables`].
pub struct OneWay<'m> {
    /// Control came to the block like this when it came there last.
    pub is_it: Value<'m>,
    /// It would come like this if it went there now.
    next: Value<'m>,
    /// The ends of blocks before that block, with whether they are of this way
    ends: Vec<(Inst<'m>, bool)>,
    /// Whether carried values were computed
    pub are_there: Vec<Value<'m>>,
    /// Those values, each with the variable that has it
    pub carried: Vec<(Value<'m>, Value<'m>)>,
}

/// The ways to the points of a function.
pub struct Came<'a, 'm> {
    ways: Vec<(&'a Way, OneWay<'m>)>,
    /// For carried values whether they were computed, and what they are
    kept: HashMap<ValueId, [Value<'m>; 2]>,
}

impl<'a, 'm> Came<'a, 'm> {
    /// Keeps them in a function that has this version's code, and whose entry is complete. No point
    /// is inserted yet, and nothing lands there.
    pub fn keep(
        function: Function<'m>,
        version: &CodeSnapshot<'m>,
        ways: impl Iterator<Item = &'a Way>,
    ) -> Self {
        let mut came = Came { ways: Vec::new(), kept: HashMap::default() };
        let builder = Builder::new(function.module(), function);
        for way in ways {
            if came.find(way).is_none() {
                let one = came.add(&builder, function, version, way);
                came.ways.push((way, one));
            }
        }
        came
    }

    fn add(
        &mut self,
        builder: &Builder<'m>,
        function: Function<'m>,
        version: &CodeSnapshot<'m>,
        way: &Way,
    ) -> OneWay<'m> {
        let kept = |&value: &ValueId| {
            *self.kept.entry(value).or_insert_with(|| keep(builder, function, version, value))
        };
        let kept: Vec<[Value<'m>; 2]> = way.carried.iter().map(kept).collect();
        let [is_it, next] = [flag(builder, function), flag(builder, function)];
        let History { block, from } = &way.history;
        // Control that goes elsewhere at the end of a block before it has not come to the block.
        let first = version.blocks[*block].instructions().next();
        builder.before(behind_head(first));
        builder.store(builder.load(function.module().int_type(1), next), is_it);
        let leads_there = |&from: &BlockId| version.body.successors(from).any(|to| to == *block);
        let preds = version.body.blocks.keys().filter(leads_there);
        let end =
            |pred: BlockId| (version.blocks[pred].terminator(), from.binary_search(&pred).is_ok());
        let values = way.carried.iter().map(|&value| version.value(value));
        OneWay {
            is_it,
            next,
            ends: preds.map(end).collect(),
            are_there: kept.iter().map(|[is_there, _]| *is_there).collect(),
            carried: values.zip(kept).map(|(value, [_, is])| (value, is)).collect(),
        }
    }

    /// Notes at the ends of blocks how control would come to the next one: behind the points there,
    /// so after these are inserted, and before blocks are split where something lands, which knows
    /// nothing of it.
    pub fn note(&self, function: Function<'m>) {
        let builder = Builder::new(function.module(), function);
        let int1 = function.module().int_type(1);
        for (_, one) in &self.ways {
            for &(end, is_one) in &one.ends {
                builder.before(end);
                builder.store(int1.constant(is_one.into()), one.next);
            }
        }
    }

    /// True if a phi of a block is kept.
    pub fn keeps_phi_of(&self, version: &CodeSnapshot<'m>, block: BlockId) -> bool {
        let code = &version.body.code;
        let is_one = |inst: InstId| {
            code.instructions[inst].block == block && code.instructions[inst].facts.is_phi()
        };
        self.kept.keys().filter_map(|&value| code.definition(value)).any(is_one)
    }

    fn find(&self, way: &Way) -> Option<&OneWay<'m>> {
        let is_same = |known: &Way| known.history == way.history && known.carried == way.carried;
        self.ways.iter().find(|(known, _)| is_same(known)).map(|(_, one)| one)
    }

    /// The variables of a way.
    pub fn of(&self, way: &Way) -> &OneWay<'m> {
        self.find(way).expect("all ways are kept")
    }

    /// All variables
    pub fn variables(&self) -> impl Iterator<Item = Value<'m>> {
        let flags = self.ways.iter().flat_map(|(_, one)| [one.is_it, one.next]);
        flags.chain(self.kept.values().flatten().copied())
    }
}

/// The first instruction from one on that is no phi and no pad.
fn behind_head(from: Option<Inst<'_>>) -> Inst<'_> {
    let is_at_head = |inst: &Inst<'_>| inst.facts().is_phi() || inst.facts().is_pad();
    let mut all = std::iter::successors(from, |inst| inst.next());
    all.find(|inst| !is_at_head(inst)).expect("a terminator is neither, and is not kept")
}

/// A variable that says that something has not happened.
fn flag<'m>(builder: &Builder<'m>, function: Function<'m>) -> Value<'m> {
    let int1 = function.module().int_type(1);
    begin_entry(builder, function);
    let variable = builder.variable(int1, c"osr.came");
    builder.store(int1.constant(0), variable);
    variable
}

/// Variables for whether a value was computed, and what it was last.
fn keep<'m>(
    builder: &Builder<'m>,
    function: Function<'m>,
    version: &CodeSnapshot<'m>,
    value: ValueId,
) -> [Value<'m>; 2] {
    let code = &version.body.code;
    let defined: InstId = code.definition(value).expect("an argument is always there");
    let value = version.value(value);
    let is_there = flag(builder, function);
    begin_entry(builder, function);
    let variable = builder.variable(value.ty(), c"osr.carried");
    builder.before(behind_head(version.instructions[defined].next()));
    builder.store(value, variable);
    builder.store(function.module().int_type(1).constant(1), is_there);
    [is_there, variable]
}
