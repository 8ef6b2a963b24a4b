//! The value that an open point profiles (thesis Fig. 4.3, `val`): the key of its versions.

use crate::osr::open::generator::Generator;
use crate::read_code::CodeSnapshot;
use midflight_abi::open::{OPEN_KEY_CALLEE, OPEN_KEY_VALUE, OPEN_NO_KEY};
use midflight_bridge::builder::Builder;
use midflight_bridge::ir::{Function, Inst, Type, TypeKind, Value};
use midflight_ir::dominators::{Dominators, dominators};
use midflight_ir::ids::{BlockId, InstId, ValueId};
use midflight_ir::loops::{Loops, loops};
use midflight_mapping::points::Point;
use midflight_mapping::refusal::Refusal;

/// What is profiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// Nothing: there is one version.
    None,
    /// A value that is live at the point
    Value(ValueId),
    /// The address that an indirect call has called when this activation came by it last
    Callee(InstId),
}

/// The same in a version.
#[derive(Clone, Copy)]
pub enum Profiled<'m> {
    /// Nothing
    None,
    /// A value
    Value(Value<'m>),
    /// What a call calls
    Callee(Inst<'m>),
}

impl Key {
    /// How `OpenSite` has it: its kind and number.
    pub fn encoded(self) -> (u16, u32) {
        match self {
            Key::None => (OPEN_NO_KEY, 0),
            Key::Value(value) => (OPEN_KEY_VALUE, usize::from(value) as u32),
            Key::Callee(inst) => (OPEN_KEY_CALLEE, usize::from(inst) as u32),
        }
    }

    /// The reverse; none if there is no such kind, or no such value or call.
    pub fn decode(kind: u32, number: u32, snapshot: &CodeSnapshot<'_>) -> Option<Self> {
        let number = number as usize;
        match u16::try_from(kind).ok()? {
            OPEN_NO_KEY => Some(Key::None),
            OPEN_KEY_VALUE => {
                let known = number < snapshot.body.code.num_values();
                known.then(|| Key::Value(ValueId::from(number)))
            }
            OPEN_KEY_CALLEE => {
                let inst = InstId::from(number);
                let called = snapshot.instructions.get(inst)?.callee();
                called.map(|_| Key::Callee(inst))
            }
            _ => None,
        }
    }

    /// What it is in a version.
    pub fn of<'m>(self, version: &CodeSnapshot<'m>) -> Profiled<'m> {
        match self {
            Key::None => Profiled::None,
            Key::Value(value) => Profiled::Value(version.value(value)),
            Key::Callee(inst) => Profiled::Callee(version.instructions[inst]),
        }
    }
}

/// What choosing the keys of a function's points needs, computed once for all of them.
pub struct Keys<'a, 'm> {
    snapshot: &'a CodeSnapshot<'m>,
    dominators: Dominators,
    loops: Loops,
}

impl<'a, 'm> Keys<'a, 'm> {
    /// The dominators and loops of a function.
    pub fn new(snapshot: &'a CodeSnapshot<'m>) -> Self {
        let dominators = dominators(&snapshot.body);
        let loops = loops(&snapshot.body, &dominators);
        Self { snapshot, dominators, loops }
    }

    /// Chooses what a generator profiles at a point: the value with this name, or the one that a
    /// marker gives, or one of its own choice.
    ///
    /// # Errors
    /// [`Refusal::NoKey`] if there is nothing.
    pub fn choose(
        &self,
        generator: &Generator,
        name: Option<&str>,
        marked: Option<Value<'m>>,
        point: &Point,
    ) -> Result<Key, Refusal> {
        if *generator == Generator::Reoptimize {
            return Ok(Key::None);
        }
        let snapshot = self.snapshot;
        let fits = |&value: &ValueId| has_key(generator, snapshot.value(value).ty());
        let is_live = |value: &ValueId| point.live.binary_search(value).is_ok();
        if let Some(marked) = marked {
            let found = snapshot.ids().value(converted(marked)).filter(is_live);
            return found.filter(fits).map(Key::Value).ok_or(Refusal::NoKey);
        }
        if let Some(name) = name {
            let names = snapshot.names();
            let named = |value: &&ValueId| names[**value].trim_start_matches('%');
            let exactly = point.live.iter().find(|value| named(value) == name);
            let of_variable = || point.live.iter().rfind(|value| variable_of(named(value)) == name);
            let found = exactly.or_else(of_variable).copied();
            return found.filter(fits).map(Key::Value).ok_or(Refusal::NoKey);
        }
        let found = match generator {
            Generator::InlineCallee => self.callee_at(point),
            Generator::SpecializeValue => self.integer_at(point).map(Key::Value),
            // It may do without.
            Generator::Reoptimize | Generator::User(_) => Some(Key::None),
        };
        found.ok_or(Refusal::NoKey)
    }

    /// The callee of the first indirect call in the innermost loop around the point that has one,
    /// or behind the point where no loop has: the value that it calls if that is live at the point.
    fn callee_at(&self, point: &Point) -> Option<Key> {
        let snapshot = self.snapshot;
        let code = &snapshot.body.code;
        let here = code.instructions[point.at].block;
        let mut around = self.loops.innermost(code.of_block.len())[here];
        let calls: Vec<(InstId, BlockId)> = (snapshot.instructions.iter_enumerated())
            .filter(|(_, inst)| is_indirect_call(**inst))
            .map(|(id, _)| (id, code.instructions[id].block))
            .collect();
        let first = loop {
            let Some(index) = around else {
                break calls.iter().find(|(call, _)| *call >= point.at);
            };
            let blocks = &self.loops.loops[index].blocks;
            if let Some(call) = calls.iter().find(|(_, block)| blocks.contains(block)) {
                break Some(call);
            }
            around = self.loops.loops[index].parent;
        };
        let &(call, _) = first?;
        let callee = snapshot.instructions[call].callee()?;
        let is_behind = |&value: &ValueId| {
            let uses = uses_behind(snapshot, &self.dominators, value, point.at);
            uses.iter().any(|&(inst, _)| inst == call)
        };
        let live = snapshot.ids().value(callee).filter(|v| point.live.binary_search(v).is_ok());
        // Outside of loops nobody has come by the call yet.
        live.filter(is_behind).map(Key::Value).or_else(|| around.map(|_| Key::Callee(call)))
    }

    /// The first argument that is an integer and live, or else the first such value that dominates
    /// the loop of the point: one that a loop does not change.
    fn integer_at(&self, point: &Point) -> Option<ValueId> {
        let code = &self.snapshot.body.code;
        let is_integer = |&value: &ValueId| {
            let ty = self.snapshot.value(value).ty();
            ty.kind() == TypeKind::Integer && (8..=64).contains(&ty.bits())
        };
        let here = code.instructions[point.at].block;
        let around = self.loops.innermost(code.of_block.len())[here];
        let stays = |&value: &ValueId| match (code.definition(value), around) {
            (Some(inst), Some(index)) => {
                !self.loops.loops[index].blocks.contains(&code.instructions[inst].block)
            }
            _ => true,
        };
        point.live.iter().copied().filter(is_integer).find(stays)
    }
}

/// What a value was made of that C has converted to pass it.
fn converted(value: Value<'_>) -> Value<'_> {
    let of =
        value.as_inst().filter(|inst| inst.opcode_name() == "zext" || inst.opcode_name() == "sext");
    of.and_then(|inst| inst.operands().next()).unwrap_or(value)
}

/// The variable of the source that a value stands for by its name: what clang calls `x.addr`, and
/// `mem2reg` makes `x.addr.0` of, is the parameter `x`.
fn variable_of(name: &str) -> &str {
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    let name = match name.rsplit_once('.') {
        Some((variable, number)) if digits(number) => variable,
        _ => name,
    };
    name.strip_suffix(".addr").unwrap_or(name)
}

/// Whether the values of a type can be keys.
fn has_key(generator: &Generator, ty: Type<'_>) -> bool {
    match ty.kind() {
        TypeKind::Pointer => true,
        TypeKind::Integer => *generator != Generator::InlineCallee && ty.bits() <= 64,
        _ => false,
    }
}

/// True for a call of a function that is not known when it is compiled.
pub fn is_indirect_call(inst: Inst<'_>) -> bool {
    inst.facts().is_real_call()
        && inst.called_function().is_none()
        && inst.callee().is_some_and(|callee| !callee.is_constant())
}

/// A key as an integer of 64 bits, at the builder's position. It is frozen: the program may not
/// have used what is poison, and the point branches on it. In the version, that the value is the
/// key then refines it.
pub fn as_integer<'m>(builder: &Builder<'m>, value: Value<'m>) -> Value<'m> {
    let int64 = builder.block().function().module().int_type(64);
    let value = builder.freeze(value);
    match value.ty().kind() {
        TypeKind::Pointer => builder.pointer_to_int(value, int64),
        TypeKind::Integer if value.ty().bits() < 64 => builder.zero_extend(value, int64),
        _ => value,
    }
}

/// The key as a constant of a type.
pub fn as_constant<'m>(function: Function<'m>, ty: Type<'m>, key: u64) -> Value<'m> {
    match ty.kind() {
        TypeKind::Pointer => function.module().int_type(64).constant(key).as_pointer(),
        _ => ty.constant(key),
    }
}

/// The instructions at which a value is used behind `at` on every way, as operand numbers.
pub fn uses_behind<'m>(
    snapshot: &CodeSnapshot<'m>,
    dominators: &Dominators,
    value: ValueId,
    at: InstId,
) -> Vec<(InstId, u32)> {
    let (code, used) = (&snapshot.body.code, snapshot.value(value));
    let here = code.instructions[at].block;
    let is_behind = |inst: InstId, block: BlockId| {
        if block == here { inst >= at } else { dominators.dominates(here, block) }
    };
    let mut uses = Vec::new();
    for (id, inst) in snapshot.instructions.iter_enumerated() {
        let block = code.instructions[id].block;
        let is_phi = inst.facts().is_phi();
        let from: Vec<_> = if is_phi { inst.incoming_blocks().collect() } else { Vec::new() };
        for (number, operand) in inst.operands().enumerate() {
            if operand != used {
                continue;
            }
            let behind = match from.get(number) {
                // A phi's operand is used at the end of the block that it comes from.
                Some(&block) => snapshot
                    .ids()
                    .block(block)
                    .is_some_and(|block| block == here || dominators.dominates(here, block)),
                None => is_behind(id, block),
            };
            if behind {
                uses.push((id, number as u32));
            }
        }
    }
    uses
}
