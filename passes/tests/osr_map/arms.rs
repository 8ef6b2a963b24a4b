//! Whether runs tell apart what a select or a phi chooses from.

use super::generator::Random;
use super::ir::{self, Arg, Frame, Op, Program, Word};
use super::lockstep::{agree, traces};
use super::machine::{State, evaluate};
use midflight_ir::body::Body;
use midflight_ir::dominators::{Dominators, dominators};
use midflight_ir::ids::InstId;
use midflight_mapping::versions::version::PerVersion;
use midflight_passes::read_code::CodeSnapshot;

/// Inputs that both versions are run on
const RUNS: usize = 400;

/// Operations on operations that are computed once more
const DEEPEST: usize = 16;

/// True if in some run of opt, on an input that base is defined for, a select or a phi of two
/// values chooses between two that differ: then it is not the same with its arms exchanged.
pub fn differ(
    snapshots: &PerVersion<CodeSnapshot<'_>>,
    body: &Body,
    inst: InstId,
    random: &mut Random,
) -> bool {
    let mut frame = Frame::default();
    let programs = PerVersion::from_fn(|which| ir::read(&snapshots[which], &mut frame));
    let choice = Choice { program: &programs.opt, body, above: dominators(body), inst };
    (0..RUNS).any(|_| {
        let mut arguments: Vec<u64> = (0..3).map(|_| random.word() & 0xffff_ffff).collect();
        arguments.push(ir::MEMORY_AT + random.below(3) as u64 * ir::REGION);
        let Some(traces) = traces(&programs, &arguments, random.word()) else { return false };
        let steps = &traces.opt.steps;
        match choice.program.insts[inst].op {
            Op::Phi => steps.windows(2).any(|steps| choice.differs_over(&steps[0], &steps[1])),
            _ => steps.iter().any(|step| choice.differs_at(step)),
        }
    })
}

/// A select or a phi, and where it is.
struct Choice<'a> {
    program: &'a Program,
    body: &'a Body,
    above: Dominators,
    inst: InstId,
}

impl Choice<'_> {
    /// The same of a select, where a run stands.
    fn differs_at(&self, step: &State) -> bool {
        let args = &self.program.insts[self.inst].args;
        step.at == self.inst && !agree(step.get(args[1]), step.get(args[2]))
    }

    /// The same of a phi, on the edge that a run takes between two steps. What comes in on the
    /// other edge need not be computed on this one: then it is what its operations would give here.
    /// If that is not known, the other edge may tell.
    fn differs_over(&self, before: &State, behind: &State) -> bool {
        let Program { insts, block_of, .. } = self.program;
        let is_edge = !insts[before.at].to.is_empty();
        if !is_edge || block_of[behind.at] != block_of[self.inst] {
            return false;
        }
        let phi = &insts[self.inst];
        let [first, second] = [0, 1].map(|place| self.there(before, phi.args[place], DEEPEST));
        match (first, second) {
            (Some(first), Some(second)) => !agree(first, second),
            _ => false,
        }
    }

    /// What an operand is at the end of a block; none if that cannot be computed there.
    fn there(&self, state: &State, arg: Arg, depth: usize) -> Option<Word> {
        let Arg::Value(value) = arg else { return Some(state.get(arg)) };
        if self.above.is_available(self.body, value, state.at) {
            return Some(state.get(arg));
        }
        let inst = &self.program.insts[self.body.code.definition(value)?];
        let is_repeatable = matches!(
            inst.op,
            Op::Binary(_) | Op::Compare(_) | Op::Select | Op::Cast(..) | Op::Address(_) | Op::Load
        );
        let depth = depth.checked_sub(1).filter(|_| is_repeatable)?;
        let words = inst.args.iter().map(|&arg| self.there(state, arg, depth));
        let words: Vec<Word> = words.collect::<Option<_>>()?;
        // What has undefined behaviour here says nothing.
        Some(evaluate(inst, &words, &state.memory, state.seed).unwrap_or(Word::Undef))
    }
}
