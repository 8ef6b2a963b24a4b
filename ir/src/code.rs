//! The instructions of a [`crate::body::Body`].

use crate::facts::InstFacts;
use crate::ids::{BlockId, InstId, InstRange, ValueId};
use std::ops::Range;
use typed_index_collections::TiVec;

/// The instructions of a body, block by block.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Code {
    /// Number of the function's arguments
    pub arguments: usize,
    /// All instructions, in the order of the blocks
    pub instructions: TiVec<InstId, Instruction>,
    /// For each block its instructions
    pub of_block: TiVec<BlockId, InstRange>,
    operands: Vec<Operand>,
}

/// An instruction.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Instruction {
    /// The block that it is in
    pub block: BlockId,
    /// What is known of it
    pub facts: InstFacts,
    operands: Range<usize>,
}

/// A use of a value of the function; constants are left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Operand {
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

    /// Begins a block behind the last one.
    pub fn begin_block(&mut self) {
        let end = self.instructions.next_key();
        self.of_block.push(InstRange { start: end, end });
    }

    /// Adds an instruction to the last block.
    pub fn push(&mut self, facts: InstFacts, operands: impl IntoIterator<Item = Operand>) {
        let first = self.operands.len();
        self.operands.extend(operands);
        let block = self.of_block.last_key().expect("a block was begun");
        let operands = first..self.operands.len();
        self.instructions.push(Instruction { block, facts, operands });
        self.of_block[block].end = self.instructions.next_key();
    }

    /// The values that an instruction uses.
    pub fn operands(&self, inst: InstId) -> &[Operand] {
        &self.operands[self.instructions[inst].operands.clone()]
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
