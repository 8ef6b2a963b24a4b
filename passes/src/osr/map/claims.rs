//! What LLVM's solver says of values and branches, where passes have made use of it.
//!
//! Where both versions still have an instruction or an edge, it is compared as it is. The solver
//! runs on a copy of the version, so it is asked only if something is left to ask.

use crate::osr::map::read::{Handles, boolean};
use midflight_bridge::ir::{Inst, Opcode};
use midflight_bridge::operations::number_operations;
use midflight_bridge::sandbox::Sandbox;
use midflight_bridge::solver::Solution;
use midflight_ir::ids::{BlockId, InstId, ValueId};
use midflight_mapping::versions::facts::Tracked;
use midflight_mapping::versions::graph::{Graph, GraphBlock, Operand};
use midflight_mapping::versions::version::{PerVersion, Version};
use rustc_hash::FxHashSet as HashSet;
use std::cell::OnceCell;
use typed_index_collections::TiVec;

/// Two versions, and what is asked of them.
pub struct Claims<'a, 'm> {
    /// What leads back into LLVM
    pub handles: &'a Handles<'a, 'm>,
    /// What tracking says of them
    pub tracked: &'a Tracked,
    /// Where the solver runs
    pub sandbox: &'a Sandbox,
    /// Instructions of base that lose flags which make a result poison
    pub losing: &'a [Inst<'m>],
}

impl<'m> Claims<'_, 'm> {
    /// Numbers the operations, and puts what is claimed into the graphs. The instructions of base
    /// that are unsigned only as long as those that are not losing their flags keep them.
    pub fn put(&self, graphs: &mut PerVersion<Graph>) -> Vec<InstId> {
        let solutions = PerVersion::<OnceCell<_>>::default();
        let solve = |which: Version, without_flags: &[Inst<'m>]| {
            Solution::new(self.sandbox, self.handles.snapshots[which].function, without_flags)
        };
        // Of values that may be poison what holds whatever flags are dropped.
        let solution = |which: Version| {
            let all = &self.handles.snapshots[which].instructions.raw;
            solutions[which].get_or_init(|| solve(which, all))
        };
        let with_flags = OnceCell::new();
        let of_base = || with_flags.get_or_init(|| solve(Version::Base, &[]));
        let with_kept_flags = OnceCell::new();
        let kept = || with_kept_flags.get_or_init(|| solve(Version::Base, self.losing));
        let mut resting_on_flags = Vec::new();
        let useful = PerVersion::from_fn(|which| graphs[which].useful());
        for which in Version::BOTH {
            for inst in useful[which].keys().filter(|&i| useful[which][i]) {
                let llvm = self.inst(which, inst);
                if llvm.may_be_copy() && !self.is_same(which, inst) {
                    let copied = solution(which).copied(llvm);
                    graphs[which].nodes[inst].copied =
                        copied.map(|v| self.handles.any_operand(which, v));
                }
            }
        }
        let mut unsigned = Vec::new();
        for inst in useful.base.keys().filter(|&i| useful.base[i]) {
            let llvm = self.inst(Version::Base, inst);
            if graphs.base.has_result(inst) && self.tracked.folded[inst] {
                let constant = of_base().constant(llvm);
                graphs.base.nodes[inst].constant = constant.map(|c| self.handles.constant_id(c));
            }
            let is_asked = llvm.has_unsigned() && self.is_unlike_other(inst);
            if is_asked && solution(Version::Base).is_unsigned(llvm) {
                unsigned.push(inst);
            } else if is_asked && kept().is_unsigned(llvm) {
                unsigned.push(inst);
                resting_on_flags.push(inst);
            }
        }
        self.number(graphs, &unsigned);
        let replaced = self.replaced_uses(graphs);
        if !replaced.is_empty() {
            self.put_implied(graphs, &replaced, of_base(), || solve(Version::Opt, &[]));
        }
        for which in Version::BOTH {
            self.close_unreachable(which, &mut graphs[which]);
        }
        let PerVersion { base, opt } = graphs;
        let mut is_decided = TiVec::<BlockId, bool>::from(vec![true; opt.blocks.len()]);
        for (id, block) in base.blocks.iter_mut_enumerated() {
            let other = self.tracked.blocks[id];
            let of_opt = other.map(|b| match self.untaken(opt, b) {
                Some(_) => 1,
                None => open(&opt.blocks[b]),
            });
            if open(block) >= 2 && of_opt != Some(open(block)) {
                let blocks = &self.handles.snapshots.base.blocks;
                for (edge, feasible) in base.body.blocks[id].edges.iter().zip(&mut block.feasible) {
                    *feasible &= of_base().is_feasible(blocks[id], blocks[edge.to]);
                }
            }
            if let Some(other) = other {
                is_decided[other] = open(block) < 2;
            }
        }
        // Where base is not known to go the only way that opt goes, it is proved of the condition.
        for (block, is_decided) in is_decided.into_iter_enumerated() {
            if is_decided && let Some(edge) = self.untaken(opt, block) {
                opt.blocks[block].feasible[edge] = false;
            }
        }
        resting_on_flags
    }

    /// The values of base that are used where opt has a constant.
    fn replaced_uses(&self, graphs: &PerVersion<Graph>) -> HashSet<ValueId> {
        let mut replaced = HashSet::default();
        for (base, opt) in self.tracked.kept.iter_enumerated() {
            let Some(opt) = *opt else { continue };
            let operands = graphs.base.operands(base).iter().zip(graphs.opt.operands(opt));
            replaced.extend(operands.filter_map(|(base, opt)| match (base, opt) {
                (Operand::Value(value), Operand::Constant(_)) => Some(*value),
                _ => None,
            }));
        }
        replaced
    }

    /// Puts into the graphs what the solver says on edges of values in whose place constants came,
    /// and of opt what it says of the same values on the same edges: where only one of the versions
    /// says it, values that are the same would no longer be.
    fn put_implied(
        &self,
        graphs: &mut PerVersion<Graph>,
        replaced: &HashSet<ValueId>,
        of_base: &Solution<'m>,
        of_opt: impl FnOnce() -> Solution<'m>,
    ) {
        let implied = |which: Version, solution: &Solution<'m>| {
            let ids = self.handles.snapshots[which].ids();
            let all = solution.implied().into_iter().filter_map(|implied| {
                let constant = self.handles.constant_id(implied.constant);
                let (from, to) = (ids.block(implied.from)?, ids.block(implied.to)?);
                Some((from, to, ids.value(implied.value)?, constant))
            });
            all.collect::<Vec<_>>()
        };
        let mut base = implied(Version::Base, of_base);
        base.retain(|(_, _, value, _)| replaced.contains(value));
        let in_opt = base.iter().filter_map(|&(from, to, value, constant)| {
            let value = match graphs.base.definition(value) {
                Some(inst) => graphs.opt.result(self.tracked.kept[inst]?),
                None => value,
            };
            let (from, to) = (self.tracked.blocks[from]?, self.tracked.blocks[to]?);
            Some((from, to, value, constant))
        });
        let in_opt: HashSet<_> = in_opt.collect();
        let mut opt = Vec::new();
        if !in_opt.is_empty() {
            opt = implied(Version::Opt, &of_opt());
            opt.retain(|implied| in_opt.contains(implied));
        }
        for (which, implied) in Version::BOTH.into_iter().zip([base, opt]) {
            for (from, to, value, constant) in implied {
                graphs[which].blocks[to].implied.push((from, value, constant));
            }
        }
    }

    /// The edge of a branch that a constant decides against.
    fn untaken(&self, graph: &Graph, block: BlockId) -> Option<usize> {
        let terminator = graph.terminator(block);
        let [Operand::Constant(condition)] = *graph.operands(terminator) else { return None };
        let is_branch = graph.nodes[terminator].facts.is_conditional();
        (is_branch && graph.body.blocks[block].edges.len() == 2).then_some(())?;
        let holds = self.handles.constant(condition).as_integer()? != 0;
        Some(usize::from(holds))
    }

    /// True for a branch on what is poison or undefined, which goes nowhere.
    fn is_undefined(&self, graph: &Graph, branch: InstId) -> bool {
        match *graph.operands(branch) {
            [Operand::Constant(condition)] => self.handles.constant(condition).is_undefined(),
            _ => false,
        }
    }

    /// Marks the edges to blocks that do nothing but come to where nothing goes on.
    fn close_unreachable(&self, which: Version, graph: &mut Graph) {
        let mut closed = TiVec::<BlockId, bool>::from(vec![false; graph.blocks.len()]);
        let is_closed = |block: BlockId, closed: &TiVec<BlockId, bool>| {
            let terminator = graph.terminator(block);
            let mut others = graph.insts(block).iter().filter(|&inst| inst != terminator);
            let edges = &graph.body.blocks[block].edges;
            let goes_on = match self.inst(which, terminator).opcode() {
                Opcode::Unreachable => false,
                Opcode::Br if self.is_undefined(graph, terminator) => false,
                Opcode::Br => edges.iter().any(|edge| !closed[edge.to]),
                _ => true,
            };
            let does_nothing = |inst: InstId| {
                let facts = graph.nodes[inst].facts;
                facts.is_marker() || facts.is_phi()
            };
            !goes_on && others.all(does_nothing)
        };
        let mut is_settled = false;
        while !std::mem::replace(&mut is_settled, true) {
            for block in graph.blocks.keys().rev() {
                if !closed[block] && is_closed(block, &closed) {
                    closed[block] = true;
                    is_settled = false;
                }
            }
        }
        for (block, of) in graph.body.blocks.iter().zip(&mut graph.blocks) {
            for (edge, feasible) in block.edges.iter().zip(&mut of.feasible) {
                *feasible &= !closed[edge.to];
            }
        }
    }

    fn inst(&self, which: Version, inst: InstId) -> Inst<'m> {
        self.handles.snapshots[which].instructions[inst]
    }

    /// The instruction of opt that is, or stands for, one of base.
    fn other(&self, inst: InstId) -> Option<InstId> {
        self.tracked.kept[inst].or(self.tracked.replaced[inst])
    }

    /// True if one that does something else came in place of one of base.
    fn is_unlike_other(&self, inst: InstId) -> bool {
        let other = self.other(inst).map(|other| self.inst(Version::Opt, other));
        let own = self.inst(Version::Base, inst);
        let predicate = |inst: Inst<'_>| inst.comparison(false).map(|c| c.predicate);
        other.is_some_and(|other| !other.has_opcode_of(own) || predicate(other) != predicate(own))
    }

    /// True if both versions have an instruction.
    fn is_same(&self, which: Version, inst: InstId) -> bool {
        let tracked =
            if which == Version::Base { &self.tracked.kept } else { &self.tracked.origin };
        let llvm = self.inst(which, inst);
        tracked[inst].is_some_and(|other| self.inst(which.other(), other).has_opcode_of(llvm))
    }

    /// Numbers the operations, and those that the marked ones of base may be taken for.
    fn number(&self, graphs: &mut PerVersion<Graph>, unsigned: &[InstId]) {
        let all = self.handles.snapshots.iter().flat_map(|s| &s.instructions).copied();
        let marked = unsigned.iter().map(|&inst| self.inst(Version::Base, inst));
        let count: usize = self.handles.snapshots.iter().map(|s| s.instructions.len()).sum();
        let flags = [vec![false; count], vec![true; unsigned.len()]].concat();
        let all: Vec<Inst> = all.chain(marked).collect();
        let numbers = number_operations(&all, &flags);
        let (plain, of_marked) = numbers.split_at(count);
        let nodes = graphs.base.nodes.iter_mut().chain(&mut graphs.opt.nodes);
        nodes.zip(plain).for_each(|(node, &number)| node.operation = number);
        for (&inst, &number) in unsigned.iter().zip(of_marked) {
            let other = self.other(inst).map(|other| graphs.opt.nodes[other].operation);
            let is_other = other.is_none_or(|other| other == number);
            let llvm = self.inst(Version::Base, inst);
            let node = &mut graphs.base.nodes[inst];
            if node.boolean.is_some() {
                node.boolean = boolean(llvm, true);
            } else {
                node.as_unsigned = Some(number).filter(|_| is_other);
            }
        }
    }
}

/// The number of edges of a block that control may go over.
fn open(block: &GraphBlock) -> usize {
    block.feasible.iter().filter(|&&open| open).count()
}
