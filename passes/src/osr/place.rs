//! Where points are put.
//!
//! The loop strategies are McOSR's (McOSR technical report 2012, 4.1): a *region of interest* is a
//! call, or, if no callee is asked for, also an innermost loop. `outer` takes the outermost loop
//! around a region, `closest` the smallest one.

use crate::read_code::CodeSnapshot;
use midflight_bridge::debug;
use midflight_bridge::ir::{Inst, Value};
use midflight_ir::dominators::dominators;
use midflight_ir::ids::{BlockId, InstId};
use midflight_ir::loops::{Loops, loops};
use std::str::FromStr;
use wildmatch::WildMatch;

/// Where points are put.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Where {
    /// Once at the function's entry, behind its static allocas
    Entry,
    /// At the headers of loops
    LoopHeader(Strategy),
    /// Before calls
    Call,
    /// At every instruction boundary
    All,
    /// Where the source says `MIDFLIGHT_OSR_POINT("name")`
    Marker,
    /// At the first instruction of a source line
    Line {
        /// The end of the file's path
        file: String,
        /// From 1
        line: u32,
    },
    /// These, by their numbers: for hosts, which ask for points that they have shown
    Numbers(Vec<usize>),
}

/// Which loops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Strategy {
    /// All of them
    All,
    /// The outermost loop around a region of interest
    Outer,
    /// The smallest loop around a region of interest
    Closest,
}

/// A place that does not exist.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown place '{0}'; there are entry, loop-header, loop-header:outer, loop-header:closest, \
     call, all, marker and FILE:LINE"
)]
pub struct UnknownPlace(pub String);

impl FromStr for Where {
    type Err = UnknownPlace;

    fn from_str(text: &str) -> Result<Self, UnknownPlace> {
        Ok(match text {
            "entry" => Where::Entry,
            "loop-header" => Where::LoopHeader(Strategy::All),
            "loop-header:outer" => Where::LoopHeader(Strategy::Outer),
            "loop-header:closest" => Where::LoopHeader(Strategy::Closest),
            "call" => Where::Call,
            "all" => Where::All,
            "marker" => Where::Marker,
            _ => match text.rsplit_once(':').map(|(file, line)| (file, line.parse())) {
                Some((file, Ok(line))) if !file.is_empty() && line > 0 && file != "loop-header" => {
                    Where::Line { file: file.to_string(), line }
                }
                _ => return Err(UnknownPlace(text.to_string())),
            },
        })
    }
}

/// A marker of the source that was found in a function.
pub struct Marker<'m> {
    /// The instruction behind it
    pub before: Inst<'m>,
    /// Its name
    pub name: String,
    /// What it says is to be profiled
    pub key: Option<Value<'m>>,
}

/// The points, by number, that a place and a callee's name select. `points` has the instruction of
/// each.
pub fn place(
    place: &Where,
    callee: Option<&WildMatch>,
    snapshot: &CodeSnapshot<'_>,
    points: &[InstId],
) -> Vec<usize> {
    match place {
        Where::Entry => points.iter().position(|_| true).into_iter().collect(),
        Where::All => (0..points.len()).collect(),
        Where::Call => {
            let calls = |p: &usize| is_wanted_call(snapshot, points[*p], callee);
            (0..points.len()).filter(calls).collect()
        }
        Where::LoopHeader(strategy) => {
            let found = loops(&snapshot.body, &dominators(&snapshot.body));
            let mut headers = headers(*strategy, callee, snapshot, &found);
            headers.sort_unstable();
            headers.into_iter().filter_map(|block| at_head(snapshot, points, block)).collect()
        }
        Where::Line { file, line } => (0..points.len())
            .find(|&p| is_on_line(snapshot.instructions[points[p]], file, *line))
            .into_iter()
            .collect(),
        Where::Marker => Vec::new(),
        Where::Numbers(numbers) => {
            let mut numbers = numbers.clone();
            numbers.retain(|&number| number < points.len());
            numbers.sort_unstable();
            numbers.dedup();
            numbers
        }
    }
}

/// The point at the head of a block; `points` has the instruction of each. The first boundary
/// behind the phis may be no point: a lifetime marker, which goes.
pub fn at_head(snapshot: &CodeSnapshot<'_>, points: &[InstId], block: BlockId) -> Option<usize> {
    let code = &snapshot.body.code;
    let first = points.partition_point(|&at| at < code.first_non_phi(block));
    points.get(first).filter(|&&at| at < code.of_block[block].end).map(|_| first)
}

/// True if an instruction comes from this line; `file` may be the end of the path.
pub fn is_on_line(inst: Inst<'_>, file: &str, line: u32) -> bool {
    debug::location(inst).is_some_and(|l| l.inner.line == line && is_file(&l.inner.file, file))
}

/// True if `path` is `file`, or ends with it behind a slash.
pub fn is_file(path: &str, file: &str) -> bool {
    path.strip_suffix(file).is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

fn is_wanted_call(snapshot: &CodeSnapshot<'_>, inst: InstId, callee: Option<&WildMatch>) -> bool {
    if !snapshot.body.code.instructions[inst].facts.is_real_call() {
        return false;
    }
    let Some(wanted) = callee else { return true };
    let called = snapshot.instructions[inst].called_function();
    called.is_some_and(|function| wanted.matches(&function.name()))
}

/// A loop and those around it.
fn around(found: &Loops, index: usize) -> impl Iterator<Item = usize> {
    std::iter::successors(Some(index), |&index| found.loops[index].parent)
}

/// The headers that a strategy selects.
fn headers(
    strategy: Strategy,
    callee: Option<&WildMatch>,
    snapshot: &CodeSnapshot<'_>,
    found: &Loops,
) -> Vec<BlockId> {
    let code = &snapshot.body.code;
    let innermost = found.innermost(code.of_block.len());
    let mut interesting = vec![false; found.loops.len()];
    for inst in code.instructions.keys() {
        if is_wanted_call(snapshot, inst, callee)
            && let Some(around) = innermost[code.instructions[inst].block]
        {
            interesting[around] = true;
        }
    }
    if callee.is_none() {
        let mut has_inner = vec![false; found.loops.len()];
        found.loops.iter().filter_map(|l| l.parent).for_each(|parent| has_inner[parent] = true);
        for (index, inner) in has_inner.into_iter().enumerate() {
            interesting[index] |= !inner;
        }
    }
    let outermost = |index: usize| around(found, index).last().unwrap_or(index);
    let wanted = (0..found.loops.len()).filter(|&index| interesting[index]);
    let mut chosen: Vec<usize> = match strategy {
        Strategy::All if callee.is_none() => (0..found.loops.len()).collect(),
        Strategy::All => wanted.flat_map(|index| around(found, index)).collect(),
        Strategy::Closest => wanted.collect(),
        Strategy::Outer => wanted.map(outermost).collect(),
    };
    chosen.sort_unstable();
    chosen.dedup();
    chosen.into_iter().map(|index| found.loops[index].header).collect()
}
