//! Live variables, at every instruction boundary.
//!
//! A value is live at a point if some path from there uses it (thesis 4.2.1, `live(f, l)`). A phi
//! uses its operands on the edges that they come from, and defines its result at the head of its
//! block, together with the other phis.
//!
//! Values live at block boundaries are found use by use: from each use backwards to the definition
//! (path exploration; F. Brandner et al.: Computing Liveness Sets for SSA-Form Programs, INRIA
//! RR-7503, 2011, Algorithms 4 and 5). The sets inside a block follow from those at its end.

use crate::body::Body;
use crate::code::Use;
use crate::ids::{BlockId, InstId, ValueId};
use typed_index_collections::TiVec;

/// Values live at the boundaries of a body's blocks and instructions.
///
/// ```
/// use midflight_ir::body::{Block, Body, Terminator};
/// use midflight_ir::code::{Code, Operand};
/// use midflight_ir::facts::InstFacts;
/// use midflight_ir::liveness::liveness;
///
/// // One block: an instruction that uses argument 1 of two.
/// let mut code = Code::new(2);
/// code.begin_block(Vec::new());
/// code.push(InstFacts::default(), [(Operand::Value(1.into()), None)]);
/// let blocks = vec![Block { terminator: Terminator::Return, edges: Vec::new() }].into();
/// let body = Body { blocks, code, ..Body::default() };
/// assert_eq!(liveness(&body).before(&body, 0.into()), [1.into()]);
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Liveness {
    /// For each block the values live at its head, without the results of its phis; sorted
    pub live_in: TiVec<BlockId, Vec<ValueId>>,
    /// For each block the values live at its end, those that phis of successors use included;
    /// sorted
    pub live_out: TiVec<BlockId, Vec<ValueId>>,
}

/// Computes the live values of a body.
pub fn liveness(body: &Body) -> Liveness {
    let mut live_in = TiVec::from(vec![Vec::new(); body.blocks.len()]);
    let uses = |inst| body.code.uses(inst);
    let live_out = live_out_of(body, uses, |block, value| live_in[block].push(value));
    Liveness { live_in, live_out }
}

/// Only the values live at the ends of blocks, if instructions use these; `at_head` gets those at
/// the heads, in ascending order for each.
pub fn live_out_of<I: Iterator<Item = Use>>(
    body: &Body,
    uses: impl Fn(InstId) -> I,
    at_head: impl FnMut(BlockId, ValueId),
) -> TiVec<BlockId, Vec<ValueId>> {
    let code = &body.code;
    // The uses of each value, one behind the other: the block, and whether it is at its end.
    let mut ends: TiVec<ValueId, usize> = vec![0; code.num_values()].into();
    let each_use = |add: &mut dyn FnMut(&Use, BlockId)| {
        for (inst, instruction) in code.instructions.iter_enumerated() {
            uses(inst).for_each(|used| add(&used, instruction.block));
        }
    };
    each_use(&mut |used, _| ends[used.value] += 1);
    let mut count = 0;
    for end in &mut ends {
        count += std::mem::replace(end, count);
    }
    let mut of_value = vec![(BlockId::ENTRY, false); count];
    each_use(&mut |used, block| {
        of_value[ends[used.value]] = (used.from.unwrap_or(block), used.from.is_some());
        ends[used.value] += 1;
    });
    let mut search = Search {
        predecessors: body.predecessors(),
        in_last: vec![None; body.blocks.len()].into(),
        live_out: vec![Vec::new(); body.blocks.len()].into(),
        at_head,
        work: Vec::new(),
    };
    let mut begin = 0;
    for (value, &end) in ends.iter_enumerated() {
        let defined_in = code.definition(value).map(|i| code.instructions[i].block);
        for &(block, at_end) in &of_value[begin..end] {
            if !at_end || search.live_at_end(block, value) {
                search.live_before_use(block, value, defined_in);
            }
        }
        begin = end;
    }
    search.live_out
}

struct Search<F> {
    predecessors: TiVec<BlockId, Vec<BlockId>>,
    /// For each block the last value found to be live at its head
    in_last: TiVec<BlockId, Option<ValueId>>,
    live_out: TiVec<BlockId, Vec<ValueId>>,
    at_head: F,
    work: Vec<BlockId>,
}

impl<F: FnMut(BlockId, ValueId)> Search<F> {
    /// False if that was known.
    fn live_at_end(&mut self, block: BlockId, value: ValueId) -> bool {
        // Values come in ascending order, so one that is known is the last.
        let is_new = self.live_out[block].last() != Some(&value);
        if is_new {
            self.live_out[block].push(value);
        }
        is_new
    }

    /// The value is used in the block, or live at its end.
    fn live_before_use(&mut self, block: BlockId, value: ValueId, defined_in: Option<BlockId>) {
        self.work.push(block);
        while let Some(block) = self.work.pop() {
            if defined_in == Some(block) || self.in_last[block] == Some(value) {
                continue;
            }
            self.in_last[block] = Some(value);
            (self.at_head)(block, value);
            for place in 0..self.predecessors[block].len() {
                let from = self.predecessors[block][place];
                if self.live_at_end(from, value) {
                    self.work.push(from);
                }
            }
        }
    }
}

impl Liveness {
    /// The values live at the point before an instruction, sorted. Before a phi: those live before
    /// the whole group of phis, on whatever edge.
    pub fn before(&self, body: &Body, inst: InstId) -> Vec<ValueId> {
        let mut result = Vec::new();
        self.walk(body, body.code.instructions[inst].block, |at, live| {
            if at == inst {
                result = live.to_vec();
            }
        });
        result
    }

    /// Visits the points of a block backwards, each with the values live before its instruction,
    /// sorted.
    pub fn walk(&self, body: &Body, block: BlockId, mut visit: impl FnMut(InstId, &[ValueId])) {
        let code = &body.code;
        let mut live = self.live_out[block].clone();
        for inst in code.of_block[block].iter().rev() {
            if code.instructions[inst].facts.is_phi() {
                live.clone_from(&self.live_in[block]);
            } else {
                step_over(&mut live, code.result(inst), code.uses(inst));
            }
            visit(inst, &live);
        }
    }
}

/// From the values live behind an instruction, sorted, to those live before it.
pub fn step_over(live: &mut Vec<ValueId>, result: ValueId, uses: impl IntoIterator<Item = Use>) {
    if let Ok(place) = live.binary_search(&result) {
        live.remove(place);
    }
    uses.into_iter().for_each(|used| insert(live, used.value));
}

/// Inserts a value that may be there into sorted ones.
pub fn insert(sorted: &mut Vec<ValueId>, value: ValueId) {
    if let Err(place) = sorted.binary_search(&value) {
        sorted.insert(place, value);
    }
}
