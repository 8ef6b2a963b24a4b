//! The points of a function: what is live there, and why there is none.
//!
//! A point is an instruction boundary behind the phis of its block (thesis 4.1: "any program
//! point"). Of a block's head, the phis and a landing pad, no boundary counts; nor does one before
//! a static alloca, which is a part of the frame and not an instruction that runs, nor one before a
//! lifetime marker.

use crate::refusal::Refusal;
use midflight_ir::body::Body;
use midflight_ir::facts::{FunctionFacts, InstFacts};
use midflight_ir::ids::{BlockId, InstId, InstRange, ValueId};
use midflight_ir::liveness::{Liveness, liveness};
use typed_index_collections::TiVec;

/// A point, eligible or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Point {
    /// It is before this instruction.
    pub at: InstId,
    /// The values live there, sorted
    pub live: Vec<ValueId>,
    /// Why no transition can start and land there
    pub refusal: Option<Refusal>,
    /// Why a continuation that came by cannot go on from there to another one
    pub further: Option<Refusal>,
}

/// A point without what is live there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Boundary {
    /// See [`Point::at`].
    pub at: InstId,
    /// See [`Point::refusal`].
    pub refusal: Option<Refusal>,
    /// See [`Point::further`].
    pub further: Option<Refusal>,
}

/// All points of a function, in the order of its instructions. The number of a point is its index.
pub fn points(body: &Body, liveness: &Liveness, function: FunctionFacts) -> Vec<Point> {
    let mut points = Vec::new();
    let mut boundaries = code_boundaries(body, function).into_iter();
    for block in body.blocks.keys() {
        let mut live_before: Vec<Vec<ValueId>> = Vec::new();
        liveness.walk(body, block, |inst, live| {
            if is_boundary(body.code.instructions[inst].facts) {
                live_before.push(live.to_vec());
            }
        });
        for live in live_before.into_iter().rev() {
            let boundary = boundaries.next().expect("both are read from the same body");
            let Boundary { at, refusal, further } = boundary;
            let of_live = live_refusal(body, &live);
            let (refusal, further) = (refusal.or(of_live), refusal.or(of_live).or(further));
            points.push(Point { at, live, refusal, further });
        }
    }
    points
}

/// The same points; what is live is found out only where a value may be in the way.
pub fn boundaries(body: &Body, function: FunctionFacts) -> Vec<Boundary> {
    if body.code.instructions.iter().all(|i| value_refusal(i.facts).is_none()) {
        return code_boundaries(body, function);
    }
    let points = points(body, &liveness(body), function).into_iter();
    points.map(|Point { at, refusal, further, .. }| Boundary { at, refusal, further }).collect()
}

/// The same, as if all values could be passed.
fn code_boundaries(body: &Body, function: FunctionFacts) -> Vec<Boundary> {
    let landings = Landings::new(body, function);
    let mut boundaries = Vec::new();
    for (block, first_own) in after_dynamic_allocas(body).into_iter_enumerated() {
        let first = boundaries.len();
        let mut behind = None;
        for at in body.code.of_block[block].iter().rev() {
            let facts = body.code.instructions[at].facts;
            behind = forbidden(facts, function).or(behind);
            if is_boundary(facts) {
                let refusal = landings.refusal(body, block, at, behind);
                let further = refusal.or_else(|| further_refusal(function, first_own, at));
                boundaries.push(Boundary { at, refusal, further });
            }
        }
        boundaries[first..].reverse();
    }
    boundaries
}

/// The point before one instruction; none if the boundary does not count.
pub fn point_at(
    body: &Body,
    liveness: &Liveness,
    facts: FunctionFacts,
    at: InstId,
) -> Option<Point> {
    let instruction = body.code.instructions.get(at)?;
    if !is_boundary(instruction.facts) {
        return None;
    }
    let live = liveness.before(body, at);
    let landings = Landings::new(body, facts);
    let rest = InstRange { start: at, end: body.code.of_block[instruction.block].end };
    let behind =
        rest.iter().map(|i| body.code.instructions[i].facts).find_map(|f| forbidden(f, facts));
    let refusal = landings.refusal(body, instruction.block, at, behind);
    let refusal = refusal.or_else(|| live_refusal(body, &live));
    let own = after_dynamic_allocas(body)[instruction.block];
    let further = further_refusal(facts, own, at);
    Some(Point { at, live, refusal, further: refusal.or(further) })
}

/// Why a continuation cannot go on from there to another one, if a dynamic alloca may have run
/// before `own` in the block.
fn further_refusal(function: FunctionFacts, own: Option<InstId>, at: InstId) -> Option<Refusal> {
    if function.has_large_result() {
        Some(Refusal::LargeResult)
    } else {
        own.is_some_and(|own| at >= own).then_some(Refusal::OwnAlloca)
    }
}

/// True if the boundary before such an instruction counts as a point.
fn is_boundary(facts: InstFacts) -> bool {
    !(facts.is_phi()
        || facts.is_pad()
        || facts.is_static_alloca()
        || facts.is_lifetime_marker()
        || facts.is_glue())
}

/// Why a live value, or one that is to travel though it is not live, cannot be passed.
pub fn live_refusal(body: &Body, live: &[ValueId]) -> Option<Refusal> {
    let of_value =
        |&value| value_refusal(body.code.instructions[body.code.definition(value)?].facts);
    live.iter().find_map(of_value)
}

/// Why the result of such an instruction cannot be passed.
fn value_refusal(facts: InstFacts) -> Option<Refusal> {
    if facts.has_token_result() {
        Some(Refusal::LiveToken)
    } else if facts.is_stack_save() {
        Some(Refusal::LiveStackSave)
    } else if facts.has_opaque_result() || facts.is_callbr() {
        Some(Refusal::LiveOpaque)
    } else {
        None
    }
}

/// What must not run in a continuation, by reason.
fn forbidden(facts: InstFacts, function: FunctionFacts) -> Option<Refusal> {
    if facts.is_must_tail() {
        Some(Refusal::MustTail)
    } else if facts.is_va_start() {
        Some(Refusal::VaStart)
    } else if facts.is_indirect_branch() {
        Some(Refusal::ComputedGoto)
    } else if facts.reads_frame() {
        Some(Refusal::ReadsFrame)
    } else if facts.is_coroutine() {
        Some(Refusal::Coroutine)
    } else if facts.cannot_duplicate() {
        Some(Refusal::NoDuplicate)
    } else if facts.is_resume() && !function.resumes_by_unwinder() {
        Some(Refusal::UnknownResume)
    } else {
        None
    }
}

/// What follows each place that must not run in a continuation.
struct Landings {
    /// For each block why no continuation may land at its head
    at_head: TiVec<BlockId, Option<Refusal>>,
}

impl Landings {
    fn new(body: &Body, facts: FunctionFacts) -> Self {
        let predecessors = body.predecessors();
        let mut at_head = TiVec::from(vec![None; body.blocks.len()]);
        let mut work = Vec::new();
        for (block, range) in body.code.of_block.iter_enumerated() {
            let mut of_block = range.iter().map(|i| body.code.instructions[i].facts);
            at_head[block] = of_block.find_map(|f| forbidden(f, facts));
            work.extend(at_head[block].map(|_| block));
        }
        while let Some(block) = work.pop() {
            for &from in &predecessors[block] {
                if at_head[from].is_none() {
                    at_head[from] = at_head[block];
                    work.push(from);
                }
            }
        }
        Landings { at_head }
    }

    /// `behind` is what is forbidden from `inst` on in the block.
    fn refusal(
        &self,
        body: &Body,
        block: BlockId,
        inst: InstId,
        behind: Option<Refusal>,
    ) -> Option<Refusal> {
        let code = &body.code;
        let facts = |i: InstId| code.instructions[i].facts;
        // A call in tail position is followed by its return, and at most a cast between.
        let before = InstRange { start: code.of_block[block].start, end: inst };
        if before.iter().rev().take(2).any(|i| facts(i).is_must_tail()) {
            return Some(Refusal::TailPosition);
        }
        behind.or_else(|| body.blocks[block].edges.iter().find_map(|e| self.at_head[e.to]))
    }
}

/// For each block the first instruction, if any, that may run after a dynamic alloca has.
fn after_dynamic_allocas(body: &Body) -> TiVec<BlockId, Option<InstId>> {
    let mut result = TiVec::from(vec![None; body.blocks.len()]);
    let mut work = Vec::new();
    for (block, range) in body.code.of_block.iter_enumerated() {
        let alloca = range.iter().find(|&i| body.code.instructions[i].facts.is_dynamic_alloca());
        if let Some(alloca) = alloca {
            result[block] = Some(alloca.next());
            work.push(block);
        }
    }
    while let Some(block) = work.pop() {
        for edge in &body.blocks[block].edges {
            let start = body.code.of_block[edge.to].start;
            if result[edge.to] != Some(start) {
                result[edge.to] = Some(start);
                work.push(edge.to);
            }
        }
    }
    result
}
