//! Both versions unfolded, with what is known of them.

use crate::unfold::Fold;
use crate::unfold::build::unfold;
use crate::unfold::feasible::untaken;
use crate::unfold::memory::settle;
use crate::unfold::projected::Projected;
use crate::unfold::walk::{Unfolded, unfolded};
use crate::versions::derive::derived_as_marked;
use crate::versions::facts::{Tracked, Versions};
use crate::versions::graph::{Graph, Oracle};
use crate::versions::version::{PerVersion, Version};
use midflight_ir::ids::{BlockId, InstId};
use rustc_hash::FxHashMap as HashMap;

/// Two versions, unfolded.
#[derive(Clone, Debug)]
pub struct Product {
    /// Both
    pub versions: Versions,
    /// How they lead back
    pub folds: PerVersion<Fold>,
}

impl Product {
    /// Unfolds versions along each other; none if that copies nothing, or too much.
    pub(crate) fn new(versions: &Versions, oracle: &dyn Oracle) -> Option<Self> {
        let walked = unfolded(versions, oracle)?;
        let [base, opt] = Version::BOTH.map(|w| unfold(&versions.of[w].graph, &walked.plans[w]));
        let (mut graphs, folds) =
            (PerVersion { base: base.0, opt: opt.0 }, PerVersion { base: base.1, opt: opt.1 });
        for which in Version::BOTH {
            settle(&mut graphs[which], &folds[which], which, oracle);
        }
        let tracked = tracked(&versions.tracked, &walked, &graphs, &folds);
        let unfolded = derived_as_marked(graphs.clone(), tracked.clone());
        let mut is_pruned = false;
        for which in Version::BOTH {
            let projected = Projected { oracle, folds: &folds, graphs: graphs.as_ref() };
            let is_branch = |&&(copy, inst): &&(BlockId, InstId)| {
                let at = folds[which].copy_in(inst, copy);
                at == Some(unfolded.of[which].graph.terminator(copy))
            };
            let same = walked.same.iter().map(|same| &same[which]);
            let together = same.filter(is_branch).map(|&(copy, _)| copy).collect();
            for (from, to) in untaken(&unfolded.of[which], which, &projected, &together) {
                is_pruned = true;
                let edges = &unfolded.of[which].graph.body.blocks[from].edges;
                let edge = edges.iter().position(|edge| edge.to == to).expect("there is the edge");
                graphs[which].blocks[from].feasible[edge] = false;
            }
        }
        let versions = if is_pruned { derived_as_marked(graphs, tracked) } else { unfolded };
        Some(Product { versions, folds })
    }

    /// What LLVM says of the unfolded versions.
    pub(crate) fn oracle<'a>(&'a self, oracle: &'a dyn Oracle) -> Projected<'a> {
        let graphs = self.versions.of.as_ref().map(|version| &version.graph);
        Projected { oracle, folds: &self.folds, graphs }
    }

    /// The copies of an instruction that may be reached.
    pub fn instances(&self, which: Version, inst: InstId) -> impl Iterator<Item = InstId> {
        reached(&self.versions, &self.folds, which, inst)
    }

    /// Where control is behind copies of an instruction: before copies of the next one, in the same
    /// block or, behind a branch that leads to one block, in that.
    pub fn next(&self, which: Version, copies: &[InstId], next: InstId) -> Vec<InstId> {
        let version = &self.versions.of[which];
        let behind = |&copy: &InstId| {
            let block = version.graph.block(copy);
            let behind_branch =
                || self.copy_in(which, next, *version.live.successors[block].first()?);
            self.copy_in(which, next, block).or_else(behind_branch)
        };
        let mut found: Vec<InstId> = copies.iter().filter_map(behind).collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The copy of an instruction in a block; none if that is no copy of its block.
    pub fn copy_in(&self, which: Version, inst: InstId, copy: BlockId) -> Option<InstId> {
        self.folds[which].copy_in(inst, copy)
    }
}

/// The copies of an instruction that may be reached in unfolded versions.
pub(crate) fn reached(
    unfolded: &Versions,
    folds: &PerVersion<Fold>,
    which: Version,
    inst: InstId,
) -> impl Iterator<Item = InstId> {
    let version = &unfolded.of[which];
    let is_reached = |inst: &InstId| version.live.reached[version.graph.block(*inst)];
    folds[which].instances(inst).filter(is_reached)
}

/// What tracking says of copies.
fn tracked(
    tracked: &Tracked,
    walked: &Unfolded,
    graphs: &PerVersion<Graph>,
    folds: &PerVersion<Fold>,
) -> Tracked {
    let counts = PerVersion::from_fn(|w| graphs[w].nodes.len());
    let mut result = Tracked {
        blocks: graphs.base.blocks.keys().map(|b| walked.together.get(&b).copied()).collect(),
        kept: vec![None; counts.base].into(),
        replaced: vec![None; counts.base].into(),
        folded: folds.base.insts.iter().map(|&inst| tracked.folded[inst]).collect(),
        origin: vec![None; counts.opt].into(),
    };
    // The copy of an instruction of opt that goes with a copy of base.
    let mut beside: HashMap<BlockId, Vec<BlockId>> = HashMap::default();
    for &(base, opt) in &walked.met {
        beside.entry(base).or_default().push(opt);
    }
    beside.values_mut().for_each(|copies| copies.sort_unstable());
    let copy_of = |inst: InstId, copy: BlockId| {
        let is_in = |of: BlockId| folds.opt.copy_in(inst, of);
        let first = walked.together.get(&copy).copied();
        let others = beside.get(&copy).into_iter().flatten().copied();
        first.into_iter().chain(others).find_map(is_in).or_else(|| {
            let mut all = folds.opt.instances(inst);
            all.next().filter(|_| all.next().is_none())
        })
    };
    // What ran together is surer than what was kept in some copy.
    for of in &walked.same {
        let inst = PerVersion::from_fn(|w| {
            let (copy, inst) = of[w];
            folds[w].copy_in(inst, copy)
        });
        let (Some(base), Some(opt)) = (inst.base, inst.opt) else {
            unreachable!("the walk was in copies of their blocks")
        };
        result.kept[base].get_or_insert(opt);
    }
    for inst in graphs.base.nodes.keys().filter(|&inst| folds.base.is_copy(inst)) {
        let (of, copy) = (folds.base.insts[inst], graphs.base.block(inst));
        result.kept[inst] =
            result.kept[inst].or_else(|| tracked.kept[of].and_then(|to| copy_of(to, copy)));
        result.replaced[inst] = tracked.replaced[of].and_then(|to| copy_of(to, copy));
    }
    for (inst, to) in result.kept.iter_enumerated() {
        if let Some(to) = *to {
            result.origin[to].get_or_insert(inst);
        }
    }
    result
}
