//! Live variables, at every instruction boundary.
//!
//! A value is live at a point if some path from there uses it (thesis 4.2.1, `live(f, l)`). A phi
//! uses its operands on the edges that they come from, and defines its result at the head of its
//! block, together with the other phis.
//!
//! Values live at block boundaries are found use by use: from each use backwards to the definition
//! (path exploration; F. Brandner et al.: Computing Liveness Sets for SSA-Form Programs, INRIA
//! RR-7503, 2011, Algorithms 4 and 5). The sets inside a block follow from those at its end.

use crate::body::{BlockId, Body};
use crate::code::{InstId, Operand, ValueId};
use std::collections::BTreeSet;

/// Values live at the boundaries of a body's blocks and instructions.
///
/// ```no_run
/// use midflight_bridge::ir::Function;
/// use midflight_passes::liveness::liveness;
/// use midflight_passes::read_code::read_code;
///
/// # fn example(function: Function<'_>) {
/// let snapshot = read_code(function);
/// let live = liveness(&snapshot.body);
/// // The first instruction of the entry: arguments that are used.
/// for value in live.before(&snapshot.body, 0) {
///     println!("{}", snapshot.names()[value]);
/// }
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Liveness {
    /// For each block the values live at its head, without the results of its phis; sorted
    pub live_in: Vec<Vec<ValueId>>,
    /// For each block the values live at its end, those that phis of successors use included;
    /// sorted
    pub live_out: Vec<Vec<ValueId>>,
}

/// Computes the live values of a body.
pub fn liveness(body: &Body) -> Liveness {
    liveness_of(body, |inst| body.code.operands(inst).iter().copied())
}

/// The same, if instructions use these values.
pub fn liveness_of<I: Iterator<Item = Operand>>(
    body: &Body,
    uses: impl Fn(InstId) -> I,
) -> Liveness {
    let mut search = Search {
        body,
        predecessors: body.predecessors(),
        live_in: vec![Vec::new(); body.blocks.len()],
        live_out: vec![Vec::new(); body.blocks.len()],
        work: Vec::new(),
    };
    let mut all: Vec<(ValueId, BlockId, bool)> = Vec::new();
    for (inst, instruction) in body.code.instructions.iter().enumerate() {
        all.extend(
            uses(inst).map(|o| (o.value, o.from.unwrap_or(instruction.block), o.from.is_some())),
        );
    }
    all.sort_unstable();
    all.dedup();
    for (value, block, at_end) in all {
        if at_end {
            search.live_at_end(block, value);
        } else {
            search.live_before_use(block, value);
        }
    }
    Liveness { live_in: search.live_in, live_out: search.live_out }
}

struct Search<'a> {
    body: &'a Body,
    predecessors: Vec<Vec<BlockId>>,
    live_in: Vec<Vec<ValueId>>,
    live_out: Vec<Vec<ValueId>>,
    work: Vec<BlockId>,
}

impl Search<'_> {
    fn live_at_end(&mut self, block: BlockId, value: ValueId) {
        // Values come in ascending order, so one that is known is the last.
        if self.live_out[block].last() == Some(&value) {
            return;
        }
        self.live_out[block].push(value);
        self.live_before_use(block, value);
    }

    /// The value is used in the block, or live at its end.
    fn live_before_use(&mut self, block: BlockId, value: ValueId) {
        self.work.push(block);
        while let Some(block) = self.work.pop() {
            let code = &self.body.code;
            let defined_in = code.definition(value).map(|i| code.instructions[i].block);
            if defined_in == Some(block) || self.live_in[block].last() == Some(&value) {
                continue;
            }
            self.live_in[block].push(value);
            for &from in &self.predecessors[block] {
                if self.live_out[from].last() != Some(&value) {
                    self.live_out[from].push(value);
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
                result = live.iter().copied().collect();
            }
        });
        result
    }

    /// Visits the points of a block backwards, each with the values live before its instruction.
    pub fn walk(
        &self,
        body: &Body,
        block: BlockId,
        mut visit: impl FnMut(InstId, &BTreeSet<ValueId>),
    ) {
        let code = &body.code;
        let mut live: BTreeSet<ValueId> = self.live_out[block].iter().copied().collect();
        for inst in code.of_block[block].clone().rev() {
            if code.instructions[inst].facts.is_phi() {
                live = self.live_in[block].iter().copied().collect();
            } else {
                live.remove(&code.result(inst));
                live.extend(code.operands(inst).iter().map(|o| o.value));
            }
            visit(inst, &live);
        }
    }
}
