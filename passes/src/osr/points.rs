//! The points of a function: what is live there, and why there is none.
//!
//! A point is an instruction boundary behind the phis of its block (thesis 4.1: "any program
//! point"). Of a block's head, the phis and a landing pad, no boundary counts; nor does one before a
//! static alloca, which is a part of the frame and not an instruction that runs, nor one before a
//! lifetime marker.

use crate::body::{BlockId, Body};
use crate::code::{InstId, ValueId};
use crate::liveness::Liveness;
use crate::osr::refusal::Refusal;
use midflight_bridge::osr::{InstFacts, OsrFacts};

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

/// All points of a function, in the order of its instructions. The number of a point is its index.
pub fn points(body: &Body, liveness: &Liveness, function: OsrFacts) -> Vec<Point> {
    let landings = Landings::new(body, function);
    let own_allocas = after_dynamic_allocas(body);
    let mut points = Vec::new();
    for (block, first_own) in own_allocas.into_iter().enumerate() {
        let first = points.len();
        liveness.walk(body, block, |inst, live| {
            let facts = body.code.instructions[inst].facts;
            if !is_boundary(facts) {
                return;
            }
            let live: Vec<ValueId> = live.iter().copied().collect();
            let refusal = landings.refusal(body, block, inst).or_else(|| live_refusal(body, &live));
            let further = further_refusal(function, first_own, inst);
            points.push(Point { at: inst, live, refusal, further: refusal.or(further) });
        });
        points[first..].reverse();
    }
    points
}

/// The point before one instruction; none if the boundary does not count.
pub fn point_at(body: &Body, liveness: &Liveness, facts: OsrFacts, at: InstId) -> Option<Point> {
    let instruction = body.code.instructions.get(at)?;
    if !is_boundary(instruction.facts) {
        return None;
    }
    let live = liveness.before(body, at);
    let landings = Landings::new(body, facts);
    let refusal =
        landings.refusal(body, instruction.block, at).or_else(|| live_refusal(body, &live));
    let own = after_dynamic_allocas(body)[instruction.block];
    let further = further_refusal(facts, own, at);
    Some(Point { at, live, refusal, further: refusal.or(further) })
}

/// Why a continuation cannot go on from there to another one, if a dynamic alloca may have run
/// before `own` in the block.
fn further_refusal(function: OsrFacts, own: Option<InstId>, at: InstId) -> Option<Refusal> {
    if function.large_result {
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

/// Why a live value cannot be passed.
fn live_refusal(body: &Body, live: &[ValueId]) -> Option<Refusal> {
    live.iter().find_map(|&value| {
        let facts = body.code.instructions[body.code.definition(value)?].facts;
        if facts.has_token_result() {
            Some(Refusal::LiveToken)
        } else if facts.is_stack_save() {
            Some(Refusal::LiveStackSave)
        } else if facts.has_opaque_result() || facts.is_callbr() {
            Some(Refusal::LiveOpaque)
        } else {
            None
        }
    })
}

/// What must not run in a continuation, by reason.
fn forbidden(facts: InstFacts, function: OsrFacts) -> Option<Refusal> {
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
    } else if facts.is_resume() && !function.resumes_by_unwinder {
        Some(Refusal::UnknownResume)
    } else {
        None
    }
}

/// What follows each place that must not run in a continuation.
struct Landings {
    facts: OsrFacts,
    /// For each block why no continuation may land at its head
    at_head: Vec<Option<Refusal>>,
}

impl Landings {
    fn new(body: &Body, facts: OsrFacts) -> Self {
        let predecessors = body.predecessors();
        let mut at_head = vec![None; body.blocks.len()];
        let mut work = Vec::new();
        for (block, range) in body.code.of_block.iter().enumerate() {
            let mut of_block = range.clone().map(|i| body.code.instructions[i].facts);
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
        Landings { facts, at_head }
    }

    fn refusal(&self, body: &Body, block: BlockId, inst: InstId) -> Option<Refusal> {
        let code = &body.code;
        let range = code.of_block[block].clone();
        let facts = |i: InstId| code.instructions[i].facts;
        // A call in tail position is followed by its return, and at most a cast between.
        if (range.start..inst).rev().take(2).any(|i| facts(i).is_must_tail()) {
            return Some(Refusal::TailPosition);
        }
        let rest = (inst..range.end).find_map(|i| forbidden(facts(i), self.facts));
        rest.or_else(|| body.blocks[block].edges.iter().find_map(|e| self.at_head[e.to]))
    }
}

/// For each block the first instruction, if any, that may run after a dynamic alloca has.
fn after_dynamic_allocas(body: &Body) -> Vec<Option<InstId>> {
    let mut result = vec![None; body.blocks.len()];
    let mut work = Vec::new();
    for (block, range) in body.code.of_block.iter().enumerate() {
        let alloca = range.clone().find(|&i| body.code.instructions[i].facts.is_dynamic_alloca());
        if let Some(alloca) = alloca {
            result[block] = Some(alloca + 1);
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
