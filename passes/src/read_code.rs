//! From LLVM to a [`Body`] with its [`Code`].
//!
//! Blocks are as they are, with every instruction. The graph that is profiled is another one,
//! without code: [`crate::paths::read`] splits blocks, and reads what profiling asks of them.

use midflight_bridge::ir::{self, Function, Inst, Opcode, Value};
use midflight_ir::body::{self, Block, Body, Edge, EdgeKind, Terminator};
use midflight_ir::code::{Code, ConstId, Operand};
use midflight_ir::ids::{BlockId, InstId, ValueId};
use rustc_hash::{FxHashMap as HashMap, FxHashSet};
use std::cell::OnceCell;
use std::rc::Rc;
use typed_index_collections::{TiSlice, TiVec};

/// A body with what leads back into LLVM.
pub struct CodeSnapshot<'m> {
    /// The function
    pub function: Function<'m>,
    /// Blocks, edges and instructions
    pub body: Rc<Body>,
    /// The LLVM side of each block
    pub blocks: TiVec<BlockId, ir::Block<'m>>,
    /// The LLVM side of each instruction
    pub instructions: TiVec<InstId, Inst<'m>>,
    /// The LLVM side of each argument
    pub arguments: TiVec<ValueId, Value<'m>>,
    /// The constants among its operands, if they were read, behind those that were known before
    pub constants: Rc<Constants<'m>>,
    ids: OnceCell<Ids<'m>>,
}

/// Constants by number.
#[derive(Clone, Default)]
pub struct Constants<'m> {
    /// The LLVM side of each one
    pub values: Vec<Value<'m>>,
    ids: HashMap<Value<'m>, ConstId>,
    /// Of addresses, by the variable and the offset in it
    addresses: HashMap<(Value<'m>, i64), ConstId>,
}

impl<'m> Constants<'m> {
    /// The number of a constant: one for an address, however it is computed.
    pub fn id(&mut self, value: Value<'m>) -> ConstId {
        if let Some(&known) = self.ids.get(&value) {
            return known;
        }
        let new = self.values.len() as ConstId;
        let id = match value.address_in_global() {
            Some(address) => *self.addresses.entry(address).or_insert(new),
            None => new,
        };
        if id == new {
            self.values.push(value);
        }
        self.ids.insert(value, id);
        id
    }
}

/// The numbers of what a snapshot has.
#[derive(Default)]
pub struct Ids<'m> {
    values: HashMap<Value<'m>, ValueId>,
    blocks: HashMap<ir::Block<'m>, BlockId>,
}

impl<'m> Ids<'m> {
    fn new(
        arguments: &TiSlice<ValueId, Value<'m>>,
        blocks: &TiSlice<BlockId, ir::Block<'m>>,
        instructions: &TiSlice<InstId, Inst<'m>>,
    ) -> Self {
        let values = arguments.iter().copied().chain(instructions.iter().map(|i| i.value()));
        Ids {
            values: values.enumerate().map(|(id, value)| (value, id.into())).collect(),
            blocks: blocks.iter_enumerated().map(|(id, &block)| (block, id)).collect(),
        }
    }

    /// The number of an argument, or of an instruction that can be reached.
    pub fn value(&self, value: Value<'m>) -> Option<ValueId> {
        self.values.get(&value).copied()
    }

    /// The number of a block that can be reached.
    pub fn block(&self, block: ir::Block<'m>) -> Option<BlockId> {
        self.blocks.get(&block).copied()
    }
}

impl<'m> CodeSnapshot<'m> {
    /// The numbers of its values and blocks.
    pub fn ids(&self) -> &Ids<'m> {
        self.ids.get_or_init(|| Ids::new(&self.arguments, &self.blocks, &self.instructions))
    }

    /// The LLVM side of a value.
    pub fn value(&self, id: ValueId) -> Value<'m> {
        match self.body.code.definition(id) {
            Some(inst) => self.instructions[inst].value(),
            None => self.arguments[id],
        }
    }

    /// The number of an LLVM instruction of the function; none if it cannot be reached.
    pub fn id_of(&self, inst: Inst<'m>) -> Option<InstId> {
        self.body.code.definition(self.ids().value(inst.value())?)
    }

    /// The name of each value, as the IR writer prints it; empty for instructions without a result.
    pub fn names(&self) -> TiVec<ValueId, String> {
        let mut names = self.function.value_names().into_iter();
        let mut result: TiVec<ValueId, String> =
            names.by_ref().take(self.arguments.len()).collect();
        let mut of_inst: HashMap<Inst<'m>, String> = HashMap::default();
        for inst in self.function.blocks().flat_map(|b| b.instructions()) {
            if inst.facts().has_result() {
                of_inst.extend(names.next().map(|name| (inst, name)));
            }
        }
        result.extend(self.instructions.iter().map(|i| of_inst.remove(i).unwrap_or_default()));
        result
    }

    /// The name of each block, as the IR writer prints it.
    pub fn block_names(&self) -> TiVec<BlockId, String> {
        let mut all: HashMap<_, _> =
            self.function.blocks().zip(self.function.block_names()).collect();
        let name = |b| all.remove(b).expect("the function has the block");
        self.blocks.iter().map(name).collect()
    }

    /// The same snapshot of an exact copy of the function, whose blocks and instructions are in the
    /// same order, as [`Function::clone_as`] makes it.
    pub fn of_copy(&self, copy: Function<'m>) -> CodeSnapshot<'m> {
        // Blocks that can be reached are in the order of the function: walk both together.
        let mut reached = self.blocks.iter().peekable();
        let mut blocks = TiVec::with_capacity(self.blocks.len());
        for (block, copied) in self.function.blocks().zip(copy.blocks()) {
            if reached.next_if_eq(&&block).is_some() {
                blocks.push(copied);
            }
        }
        CodeSnapshot {
            function: copy,
            body: self.body.clone(),
            instructions: blocks.iter().flat_map(|b| b.instructions()).collect(),
            blocks,
            arguments: copy.arguments().collect(),
            constants: self.constants.clone(),
            ids: OnceCell::new(),
        }
    }
}

/// Reads a function but for constants: its blocks that can be reached, in order.
pub fn read_code(function: Function<'_>) -> CodeSnapshot<'_> {
    read_with(function, None)
}

/// The same, and constants if there is a table for them: what is not in it comes behind what is, so
/// that versions which are read one after the other can be compared.
pub fn read_with<'m>(
    function: Function<'m>,
    mut constants: Option<Constants<'m>>,
) -> CodeSnapshot<'m> {
    let blocks = TiVec::from(reachable_blocks(function));
    let arguments: TiVec<ValueId, _> = function.arguments().collect();
    let instructions: TiVec<InstId, _> = blocks.iter().flat_map(|b| b.instructions()).collect();
    let ids = Ids::new(&arguments, &blocks, &instructions);
    let mut body = Body { code: Code::new(arguments.len()), ..Body::default() };
    for &block in &blocks {
        let terminator = terminator(block);
        let (edges, successors) = edges(block, terminator, |to| ids.blocks[&to]);
        body.blocks.push(Block { terminator, edges });
        body.code.begin_block(successors);
        for inst in block.instructions() {
            let facts = inst.facts();
            let mut operand = |value: Value<'m>| match (ids.value(value), &mut constants) {
                (Some(value), _) => Some(Operand::Value(value)),
                // Only terminators have blocks among their operands.
                (None, Some(constants)) if !facts.is_terminator() || !value.is_block() => {
                    Some(Operand::Constant(constants.id(value)))
                }
                _ => None,
            };
            if facts.is_phi() {
                // What comes from blocks that cannot be reached never comes.
                let incoming = inst.operands().zip(inst.incoming_blocks());
                let known = |(value, from)| Some((ids.block(from)?, operand(value)?));
                body.code.push(facts, incoming.filter_map(known).map(|(from, o)| (o, Some(from))));
            } else {
                body.code.push(facts, inst.operands().filter_map(|v| Some((operand(v)?, None))));
            }
        }
    }
    let (ids, constants) = (OnceCell::from(ids), Rc::new(constants.unwrap_or_default()));
    CodeSnapshot { function, body: Rc::new(body), blocks, instructions, arguments, constants, ids }
}

/// The blocks that the entry reaches, in the order of the function. They have no numbers: each kind
/// of snapshot gives its own, and that of what is profiled splits blocks.
pub fn reachable_blocks(function: Function<'_>) -> Vec<ir::Block<'_>> {
    let mut all: Vec<_> = function.blocks().collect();
    let mut seen: FxHashSet<ir::Block> = FxHashSet::default();
    let mut work: Vec<_> = all.first().copied().into_iter().collect();
    while let Some(block) = work.pop() {
        if seen.insert(block) {
            work.extend(block.successors());
        }
    }
    all.retain(|block| seen.contains(block));
    all
}

/// What ends a block.
pub fn terminator(block: ir::Block<'_>) -> Terminator {
    match block.terminator().opcode() {
        Opcode::Ret => Terminator::Return,
        Opcode::Br => Terminator::Branch,
        Opcode::Switch => Terminator::Switch,
        Opcode::IndirectBr => Terminator::IndirectBranch,
        Opcode::Invoke => Terminator::Invoke,
        Opcode::CallBr => Terminator::CallBranch,
        Opcode::Resume => Terminator::Resume,
        Opcode::Unreachable => Terminator::Unreachable,
        _ => Terminator::Other,
    }
}

/// The edges from a block that ends so, with the place of each one among its successors: one a
/// target.
pub fn edges<'m>(
    block: ir::Block<'m>,
    terminator: Terminator,
    id: impl Fn(ir::Block<'m>) -> BlockId,
) -> (Vec<Edge>, Vec<usize>) {
    let kind = |successor: ir::Block<'m>| {
        let first = || successor.instructions().find(|inst| inst.opcode() != Opcode::Phi);
        let is_pad = || first().is_some_and(|inst| inst.opcode() == Opcode::LandingPad);
        match terminator {
            Terminator::IndirectBranch => EdgeKind::Unsplittable,
            Terminator::Invoke if is_pad() => EdgeKind::Unsplittable,
            _ => EdgeKind::Plain,
        }
    };
    body::edges(block.successors(), id, kind)
}
