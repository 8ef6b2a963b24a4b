//! What loads of an unfolded version read: the last state of memory in which their places may have
//! been written to.
//!
//! Where several states met in a version, there may be one only in a copy of the block. What left
//! that may be a store to another place, which a load does not read: the state before is what it
//! reads, then. LLVM is asked whether a store may write to a place, which it answers for addresses
//! that are there when the store runs: so what the address is made of must be the same at the store
//! as at the load. Of places in one array that are known in copies only, LLVM need not be asked.

use crate::unfold::Fold;
use crate::unfold::places::Places;
use crate::versions::graph::{Access, Graph, Operand, Oracle};
use crate::versions::version::Version;
use midflight_ir::ids::{BlockId, InstId, ValueId};
use rustc_hash::{FxHashMap as HashMap, FxHashSet as HashSet};
use std::cell::RefCell;
use typed_index_collections::TiVec;

/// States are looked behind so far.
const MOST_STATES: usize = 16;

/// States that are looked at where several meet
const MOST_ACROSS: usize = 512;

/// Operations that an address is made of; with more, nothing is asked
const DEEPEST_ADDRESS: usize = 8;

/// Finds the states that loads read.
pub(super) fn settle(graph: &mut Graph, fold: &Fold, which: Version, oracle: &dyn Oracle) {
    let single: TiVec<BlockId, Option<Access>> =
        graph.blocks.keys().map(|block| single(graph, block)).collect();
    let behind = |mut access: Access| {
        for _ in 0..MOST_STATES {
            match access {
                Access::Phi(block) => match single[block] {
                    Some(only) => access = only,
                    None => break,
                },
                _ => break,
            }
        }
        access
    };
    for block in &mut graph.blocks {
        for (_, access) in block.memory_phi.iter_mut().flatten() {
            *access = behind(*access);
        }
    }
    let states = RefCell::new(HashMap::default());
    let before = |writer: InstId| {
        *states.borrow_mut().entry(writer).or_insert_with(|| {
            let before = oracle.memory_before(which, fold.insts[writer])?;
            Some(behind(fold.state(graph, before, writer)?))
        })
    };
    let places = Places::new(graph, fold, which, oracle);
    let writes = RefCell::new(HashMap::default());
    let writes_around = |base: Operand, writer: InstId| {
        let of_writer = fold.insts[writer];
        *writes
            .borrow_mut()
            .entry((base, of_writer))
            .or_insert_with(|| oracle.writes_around(which, fold.operand(base), of_writer))
    };
    // LLVM gives up early where many states meet.
    let across = |load: InstId, access: Access| {
        let place = places.place(load)?;
        let leaves = |writer: InstId| {
            let is_apart = places.place(writer).is_some_and(|other| place.is_apart(other));
            is_apart || !writes_around(place.base, writer)
        };
        last_written(graph, access, &leaves, &before)
    };
    let read = |load: InstId, clobber: Access| {
        let mut access = behind(clobber);
        for _ in 0..MOST_STATES {
            let Access::Def(writer) = access else { break };
            let is_there = |pointer| is_there(graph, fold, pointer, writer);
            let (of_load, of_writer) = (fold.insts[load], fold.insts[writer]);
            // That the load's own clobber may write there LLVM has said.
            let is_other = || {
                access != clobber
                    && graph.pointer(load).is_some_and(is_there)
                    && !oracle.touches(which, of_load, of_writer)
            };
            if !places.are_apart(load, writer) && !is_other() {
                break;
            }
            let Some(before) = before(writer) else { break };
            access = before;
        }
        across(load, access).unwrap_or(access)
    };
    let nodes = graph.nodes.iter_enumerated();
    let read: Vec<(InstId, Access)> =
        nodes.filter_map(|(load, node)| Some((load, read(load, node.clobber?)))).collect();
    read.into_iter().for_each(|(load, access)| graph.nodes[load].clobber = Some(access));
}

/// The one state that a place was last written to in on all ways to another state, if there is one
/// only: `leaves` says which writers leave the place alone, `before` which states these began with.
fn last_written(
    graph: &Graph,
    access: Access,
    leaves: &dyn Fn(InstId) -> bool,
    before: &dyn Fn(InstId) -> Option<Access>,
) -> Option<Access> {
    let mut last = None;
    let mut known = HashSet::from_iter([access]);
    let mut work = vec![access];
    while let Some(access) = work.pop() {
        let before: Vec<Access> = match access {
            Access::Phi(block) => {
                let states = graph.blocks[block].memory_phi.as_ref()?;
                states.iter().map(|&(_, access)| access).collect()
            }
            Access::Def(writer) if leaves(writer) => vec![before(writer)?],
            Access::Def(_) | Access::Entry => Vec::new(),
        };
        if before.is_empty() && last.replace(access).is_some() {
            return None;
        }
        work.extend(before.into_iter().filter(|&access| known.insert(access)));
        (known.len() <= MOST_ACROSS).then_some(())?;
    }
    last
}

/// The state that comes in at the head of a block, if there is one only.
fn single(graph: &Graph, block: BlockId) -> Option<Access> {
    let states = graph.blocks[block].memory_phi.as_ref()?;
    let mut states = states.iter().map(|&(_, access)| access).filter(|&a| a != Access::Phi(block));
    let first = states.next()?;
    states.all(|other| other == first).then_some(first)
}

/// True if a value of the unfolded version is what it would be if it were computed before an
/// instruction.
pub(crate) fn is_there(graph: &Graph, fold: &Fold, operand: Operand, before: InstId) -> bool {
    is_made_there(graph, fold, operand, before, DEEPEST_ADDRESS)
}

/// The same for a value that is made of so many operations.
fn is_made_there(
    graph: &Graph,
    fold: &Fold,
    operand: Operand,
    before: InstId,
    depth: usize,
) -> bool {
    let Operand::Value(value) = operand else { return true };
    let reaches = |value: ValueId| fold.reaching(fold.value(value), before) == Some(value);
    if reaches(value) {
        return true;
    }
    let Some(inst) = graph.definition(value) else { return true };
    let facts = graph.nodes[inst].facts;
    depth > 0
        && facts.is_repeatable()
        && !facts.is_phi()
        && !facts.reads_memory()
        && graph.operands(inst).iter().all(|&o| is_made_there(graph, fold, o, before, depth - 1))
}
