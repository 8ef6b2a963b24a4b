//! From LLVM to a [`Body`] with its [`Code`].
//!
//! Unlike [`crate::read`], which reads the graph that is profiled, this reads blocks as they are,
//! and every instruction.

use crate::body::{Block, BlockId, Body, Edge, EdgeKind};
use crate::code::{Code, InstId, Operand, ValueId};
use crate::read::reachable_blocks;
use midflight_bridge::ir::{self, Function, Inst, Value};
use rustc_hash::FxHashMap as HashMap;

/// A body with what leads back into LLVM.
pub struct CodeSnapshot<'m> {
    /// The function
    pub function: Function<'m>,
    /// Blocks, edges and instructions
    pub body: Body,
    /// The LLVM side of each block
    pub blocks: Vec<ir::Block<'m>>,
    /// The LLVM side of each instruction
    pub instructions: Vec<Inst<'m>>,
    /// The LLVM side of each argument
    pub arguments: Vec<Value<'m>>,
}

impl<'m> CodeSnapshot<'m> {
    /// The LLVM side of a value.
    pub fn value(&self, id: ValueId) -> Value<'m> {
        match self.body.code.definition(id) {
            Some(inst) => self.instructions[inst].value(),
            None => self.arguments[id],
        }
    }

    /// The number of an LLVM instruction of the function; none if it cannot be reached.
    pub fn id_of(&self, inst: Inst<'m>) -> Option<InstId> {
        let of_inst = inst.block();
        let block = self.blocks.iter().position(|&b| b == of_inst)?;
        let range = self.body.code.of_block[block].clone();
        range.clone().find(|&i| self.instructions[i] == inst)
    }

    /// The name of each value, as the IR writer prints it; empty for instructions without a result.
    pub fn names(&self) -> Vec<String> {
        let mut names = self.function.value_names().into_iter();
        let mut result: Vec<String> = names.by_ref().take(self.arguments.len()).collect();
        let mut of_inst: HashMap<Inst<'m>, String> = HashMap::default();
        for inst in self.function.blocks().flat_map(|b| b.instructions()) {
            if inst.osr_facts().has_result() {
                of_inst.extend(names.next().map(|name| (inst, name)));
            }
        }
        result.extend(self.instructions.iter().map(|i| of_inst.remove(i).unwrap_or_default()));
        result
    }

    /// The name of each block, as the IR writer prints it.
    pub fn block_names(&self) -> Vec<String> {
        let mut all: HashMap<_, _> =
            self.function.blocks().zip(self.function.block_names()).collect();
        self.blocks.iter().map(|b| all.remove(b).unwrap_or_default()).collect()
    }

    /// The same snapshot of an exact copy of the function, whose blocks and instructions are in the
    /// same order, as [`Function::clone_as`] makes it.
    pub fn of_copy(&self, copy: Function<'m>) -> CodeSnapshot<'m> {
        // Blocks that can be reached are in the order of the function: walk both together.
        let mut reached = self.blocks.iter().peekable();
        let mut blocks = Vec::with_capacity(self.blocks.len());
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
        }
    }
}

/// Reads a function: its blocks that can be reached, in order.
pub fn read_code(function: Function<'_>) -> CodeSnapshot<'_> {
    let blocks = reachable_blocks(function);
    let ids: HashMap<_, BlockId> = blocks.iter().enumerate().map(|(id, &b)| (b, id)).collect();
    let arguments: Vec<_> = function.arguments().collect();
    let instructions: Vec<_> = blocks.iter().flat_map(|b| b.instructions()).collect();
    let mut values: HashMap<Value, ValueId> =
        arguments.iter().enumerate().map(|(id, &v)| (v, id)).collect();
    for (id, inst) in instructions.iter().enumerate() {
        values.insert(inst.value(), arguments.len() + id);
    }
    let mut body = Body { blocks: Vec::new(), code: Code::new(arguments.len()) };
    for &block in &blocks {
        body.blocks.push(Block { edges: edges_of(block, &ids), ..Block::default() });
        body.code.begin_block();
        for inst in block.instructions() {
            let facts = inst.osr_facts();
            let known = |value: Value| values.get(&value).copied();
            if facts.is_phi() {
                let incoming = inst.operands().zip(inst.incoming_blocks());
                let operands = incoming.filter_map(|(value, from)| {
                    let from = Some(*ids.get(&from)?);
                    Some(Operand { value: known(value)?, from })
                });
                body.code.push(facts, operands);
            } else {
                let operands = inst.operands().filter_map(known);
                body.code.push(facts, operands.map(|value| Operand { value, from: None }));
            }
        }
    }
    CodeSnapshot { function, body, blocks, instructions, arguments }
}

/// One edge a target; what they are for profiling is not asked.
fn edges_of<'m>(block: ir::Block<'m>, ids: &HashMap<ir::Block<'m>, BlockId>) -> Vec<Edge> {
    let mut edges: Vec<Edge> = Vec::new();
    for successor in block.successors() {
        if let Some(&to) = ids.get(&successor)
            && edges.iter().all(|e| e.to != to)
        {
            edges.push(Edge { to, probability: 0, kind: EdgeKind::Plain });
        }
    }
    edges
}
