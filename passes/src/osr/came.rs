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
    /// Control came like this.
    pub is_it: Value<'m>,
    /// The branches that lead to the block, with whether they do so in this way
    edges: Vec<(Inst<'m>, bool)>,
    /// Whether those values were computed
    are_there: Vec<Value<'m>>,
    /// Values that are there then, each with the variable that has it
    pub carried: Vec<(Value<'m>, Value<'m>)>,
}

/// The ways to the points of a function.
pub struct Came<'a, 'm> {
    ways: Vec<(&'a Way, OneWay<'m>)>,
    /// For carried values whether they were computed, and what they are
    kept: HashMap<ValueId, [Value<'m>; 2]>,
}

impl<'a, 'm> Came<'a, 'm> {
    /// Keeps them in a function that has this version's code, and whose entry is complete.
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
        let is_it = flag(builder, function);
        let History { block, from } = &way.history;
        let leads_there = |&from: &BlockId| version.body.successors(from).any(|to| to == *block);
        let preds = version.body.blocks.keys().filter(leads_there);
        let edge =
            |pred: BlockId| (version.blocks[pred].terminator(), from.binary_search(&pred).is_ok());
        let values = way.carried.iter().map(|&value| version.value(value));
        OneWay {
            is_it,
            edges: preds.map(edge).collect(),
            are_there: kept.iter().map(|[is_there, _]| *is_there).collect(),
            carried: values.zip(kept).map(|(value, [_, is])| (value, is)).collect(),
        }
    }

    /// Notes how control goes on, behind all points before that.
    pub fn note(&self, function: Function<'m>) {
        let builder = Builder::new(function.module(), function);
        let int1 = function.module().int_type(1);
        for (_, one) in &self.ways {
            for &(end, is_one) in &one.edges {
                builder.before(end);
                let mut came = int1.constant(is_one.into());
                for &is_there in &one.are_there {
                    came = builder.and(came, builder.load(int1, is_there));
                }
                builder.store(came, one.is_it);
            }
        }
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
        let flags = self.ways.iter().map(|(_, one)| one.is_it);
        flags.chain(self.kept.values().flatten().copied())
    }
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
    let is_at_head = |inst: &Inst<'m>| inst.facts().is_phi() || inst.facts().is_pad();
    let mut behind = std::iter::successors(version.instructions[defined].next(), |i| i.next());
    let behind = behind.find(|inst| !is_at_head(inst));
    builder.before(behind.expect("a terminator's value is not kept"));
    builder.store(value, variable);
    builder.store(function.module().int_type(1).constant(1), is_there);
    [is_there, variable]
}
