//! From LLVM to [`Body`]: the only place that looks at a function's instructions.

use crate::paths::skip::Skip;
use crate::read_code::{edges, reachable_blocks, terminator};
use midflight_bridge::debug::{self, SourceLine};
use midflight_bridge::ir::{self, Function, Inst, Opcode};
use midflight_bridge::pass::Analyses;
use midflight_ir::body::{Block, BlockProfile, Body, Edge, EdgeKind, Line, Terminator};
use midflight_ir::ids::BlockId;
use std::collections::HashMap;
use typed_index_collections::TiVec;

/// A snapshot with what leads back into LLVM.
pub struct Snapshot<'m> {
    /// The function's blocks and edges
    pub body: Body,
    /// The LLVM side of each block
    pub handles: TiVec<BlockId, Handle<'m>>,
    /// The names of files that [`Line::file`] is an index into
    pub files: Vec<String>,
    /// Where the function is declared, if it has debug information
    pub declared: Option<SourceLine>,
}

/// The LLVM side of a block of a body.
///
/// An LLVM block in which calls return twice is several blocks of the body, cut behind each such
/// call. [`crate::paths::apply`] splits it accordingly; reading changes nothing.
#[derive(Clone, Copy)]
pub struct Handle<'m> {
    /// The LLVM block that it is in, or the first part of
    pub block: ir::Block<'m>,
    /// The call that returns twice, if one ends it
    pub restart: Option<Inst<'m>>,
    /// Where a path that ends here for good is emitted; any instruction if none does
    pub exit: Inst<'m>,
}

/// Reads a function.
///
/// # Errors
/// Why it cannot be instrumented, where its control flow is of a kind that is not modelled.
pub fn read<'m>(function: Function<'m>, analyses: &Analyses<'m>) -> Result<Snapshot<'m>, Skip> {
    let mut first_part: HashMap<ir::Block<'_>, BlockId> = HashMap::new();
    let mut parts: TiVec<BlockId, Part> = TiVec::new();
    for block in reachable_blocks(function) {
        first_part.insert(block, parts.next_key());
        parts.extend(split_at_restarts(block)?);
    }
    let mut files = Files::default();
    let mut body = Body::default();
    let mut handles = TiVec::new();
    for (id, part) in parts.iter_enumerated() {
        let weights = analyses.block_weights(part.block);
        let last = *part.instructions.last().ok_or(Skip::BrokenBlock)?;
        let mut profile = BlockProfile {
            probabilities: vec![1 << 31],
            frequency: weights.frequency,
            ends_at_call: false,
            stays: part.instructions.iter().all(|inst| inst.stays()),
            calls: calls(&part.instructions),
            lines: lines_of(&part.instructions, &mut files),
            instructions: instructions_that_run(&part.instructions),
        };
        let mut handle = Handle { block: part.block, restart: part.restart, exit: last };
        if part.restart.is_some() {
            let edges = vec![Edge { to: id.next(), kind: EdgeKind::Restart }];
            body.blocks.push(Block { terminator: Terminator::Branch, edges });
        } else {
            let terminator = terminator(part.block);
            if terminator == Terminator::Other {
                return Err(Skip::UnknownTerminator);
            }
            let (edges, places) = edges(part.block, terminator, |to| first_part[&to]);
            profile.probabilities = vec![0; edges.len()];
            for (place, probability) in places.into_iter().zip(weights.probabilities) {
                let sum = &mut profile.probabilities[place];
                *sum = sum.saturating_add(probability);
            }
            body.blocks.push(Block { terminator, edges });
            if let Some(call) = call_that_ends(&part.instructions) {
                profile.ends_at_call = true;
                handle.exit = call;
            }
        }
        body.profile.push(profile);
        handles.push(handle);
    }
    Ok(Snapshot { body, handles, files: files.names, declared: debug::function_line(function) })
}

struct Part<'m> {
    block: ir::Block<'m>,
    instructions: Vec<Inst<'m>>,
    restart: Option<Inst<'m>>,
}

fn split_at_restarts(block: ir::Block<'_>) -> Result<Vec<Part<'_>>, Skip> {
    let mut parts = Vec::new();
    let mut instructions = Vec::new();
    for inst in block.instructions() {
        instructions.push(inst);
        match inst.opcode() {
            Opcode::Call if inst.facts().controls_convergence() => {
                return Err(Skip::ConvergenceControl);
            }
            Opcode::Call if inst.facts().returns_twice() => {
                let instructions = std::mem::take(&mut instructions);
                parts.push(Part { block, instructions, restart: Some(inst) });
            }
            Opcode::Invoke | Opcode::CallBr if inst.facts().returns_twice() => {
                return Err(Skip::InvokeReturnsTwice);
            }
            _ => {}
        }
    }
    parts.push(Part { block, instructions, restart: None });
    Ok(parts)
}

/// The call before which a path ends for good, where that is not the terminator: a call that does
/// not return, or one in tail position, which must stay there.
fn call_that_ends<'m>(instructions: &[Inst<'m>]) -> Option<Inst<'m>> {
    let (&last, before) = instructions.split_last()?;
    let mut calls = before.iter().rev().filter(|&&i| !is_marker(i));
    match last.opcode() {
        Opcode::Unreachable => calls.find(|i| i.opcode() == Opcode::Call).copied(),
        Opcode::Ret => {
            let candidate = calls.find(|i| i.opcode() != Opcode::BitCast)?;
            (candidate.opcode() == Opcode::Call).then_some(*candidate)
        }
        _ => None,
    }
}

/// Names of files, each once.
#[derive(Default)]
pub(crate) struct Files {
    /// In the order of their numbers
    pub(crate) names: Vec<String>,
    known: HashMap<String, u32>,
}

impl Files {
    /// The number of a file.
    pub(crate) fn id(&mut self, name: &str) -> u32 {
        if let Some(&id) = self.known.get(name) {
            return id;
        }
        let id = u32::try_from(self.names.len()).expect("fewer than 2^32 files");
        self.names.push(name.to_string());
        self.known.insert(name.to_string(), id);
        id
    }
}

/// True for what says something of the code and does nothing.
fn is_marker(inst: Inst<'_>) -> bool {
    inst.opcode() == Opcode::Call && inst.facts().is_marker()
}

/// How many there are but for phis, allocas and markers: a measure of what the block costs.
fn instructions_that_run(instructions: &[Inst<'_>]) -> u32 {
    let runs = |inst: &&Inst<'_>| {
        !matches!(inst.opcode(), Opcode::Phi | Opcode::Alloca) && !is_marker(**inst)
    };
    u32::try_from(instructions.iter().filter(runs).count()).expect("fewer than 2^32 instructions")
}

/// How many calls of functions there are: of what LLVM does not do in place.
fn calls(instructions: &[Inst<'_>]) -> u32 {
    let is_call = |inst: &&Inst<'_>| {
        matches!(inst.opcode(), Opcode::Call | Opcode::Invoke | Opcode::CallBr)
            && !inst.called_function().is_some_and(|called| called.name().starts_with("llvm."))
    };
    u32::try_from(instructions.iter().filter(is_call).count()).expect("fewer than 2^32 calls")
}

fn lines_of(instructions: &[Inst<'_>], files: &mut Files) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for inst in instructions {
        if inst.opcode() == Opcode::Phi || is_marker(*inst) {
            continue;
        }
        let Some(location) = debug::location(*inst) else { continue };
        let line = Line {
            file: files.id(&location.inner.file),
            line: location.inner.line,
            outer: location.outer.line,
        };
        if lines.last() != Some(&line) {
            lines.push(line);
        }
    }
    lines
}
