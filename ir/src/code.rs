//! The instructions of a [`crate::body::Body`].

use crate::facts::InstFacts;
use crate::ids::{BlockId, InstId, InstRange, ValueId};
use std::ops::Range;
use typed_index_collections::TiVec;

/// The instructions of a body, block by block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// Number of the function's arguments, which come first among the values
    pub arguments: usize,
    /// All instructions, in the order of the blocks
    pub instructions: TiVec<InstId, Instruction>,
    /// For each block its instructions
    pub of_block: TiVec<BlockId, InstRange>,
    /// For each block which of its edges each successor is that its terminator names
    pub successors: TiVec<BlockId, Vec<usize>>,
    operands: Vec<Operand>,
    incoming: Vec<BlockId>,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The block that it is in
    pub block: BlockId,
    /// What is known of it
    pub facts: InstFacts,
    operands: Range<usize>,
    incoming: Range<usize>,
}

/// Index of a constant, in a table that snapshots which are compared share. Functions, globals and
/// metadata count as constants.
pub type ConstId = u32;

/// What an instruction is done to; blocks are no operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operand {
    /// A value of the function
    Value(ValueId),
    /// A constant
    Constant(ConstId),
}

/// A use of a value of the function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Use {
    /// What is used
    pub value: ValueId,
    /// For a phi the block that the value comes from
    pub from: Option<BlockId>,
}

impl Code {
    /// An empty code for a function with so many arguments.
    pub fn new(arguments: usize) -> Self {
        Code { arguments, ..Code::default() }
    }

    /// Begins a block behind the last one, with the places that [`crate::body::edges`] gives.
    pub fn begin_block(&mut self, successors: Vec<usize>) {
        let end = self.instructions.next_key();
        self.of_block.push(InstRange { start: end, end });
        self.successors.push(successors);
    }

    /// Adds an instruction to the last block; operands of phis with the blocks that they come from.
    pub fn push(
        &mut self,
        facts: InstFacts,
        operands: impl IntoIterator<Item = (Operand, Option<BlockId>)>,
    ) {
        let first = (self.operands.len(), self.incoming.len());
        for (operand, from) in operands {
            self.operands.push(operand);
            self.incoming.extend(from);
        }
        let (operands, incoming) = (first.0..self.operands.len(), first.1..self.incoming.len());
        let block = self.of_block.last_key().expect("a block was begun");
        self.instructions.push(Instruction { block, facts, operands, incoming });
        self.of_block[block].end = self.instructions.next_key();
    }

    /// What an instruction is done to. Constants are left out if they were not read.
    #[inline]
    pub fn operands(&self, inst: InstId) -> &[Operand] {
        &self.operands[self.instructions[inst].operands.clone()]
    }

    /// The same, to be changed.
    pub fn operands_mut(&mut self, inst: InstId) -> &mut [Operand] {
        &mut self.operands[self.instructions[inst].operands.clone()]
    }

    /// For each operand of a phi the block that it comes from; none for other instructions.
    #[inline]
    pub fn incoming_blocks(&self, inst: InstId) -> &[BlockId] {
        &self.incoming[self.instructions[inst].incoming.clone()]
    }

    /// The values that an instruction uses.
    #[inline]
    pub fn uses(&self, inst: InstId) -> impl Iterator<Item = Use> {
        let incoming = self.incoming_blocks(inst);
        let of = |(place, &operand): (usize, &Operand)| match operand {
            Operand::Value(value) => Some(Use { value, from: incoming.get(place).copied() }),
            Operand::Constant(_) => None,
        };
        self.operands(inst).iter().enumerate().filter_map(of)
    }

    /// The value that an instruction defines.
    #[inline]
    pub fn result(&self, inst: InstId) -> ValueId {
        ValueId::from(self.arguments + usize::from(inst))
    }

    /// The instruction that defines a value; none if it is an argument.
    #[inline]
    pub fn definition(&self, value: ValueId) -> Option<InstId> {
        usize::from(value).checked_sub(self.arguments).map(InstId::from)
    }

    /// Number of values.
    pub fn num_values(&self) -> usize {
        self.arguments + self.instructions.len()
    }

    /// The first instruction of a block behind its phis.
    pub fn first_non_phi(&self, block: BlockId) -> InstId {
        let range = self.of_block[block];
        range
            .iter()
            .find(|&i| !self.instructions[i].facts.is_phi())
            .expect("a block has a terminator")
    }
}
