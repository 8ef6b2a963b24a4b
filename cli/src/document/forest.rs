//! The k-IPF as a list of nodes, without what is too rare to be seen.

use crate::analysis::interval::Interval;
use crate::analysis::ipf::Ipf;
use crate::analysis::rank::Ranked;
use crate::format::numbers::Percent;
use midflight_profile::forest::NodeId;
use serde::Serialize;

/// Nodes of one function that are kept, at most.
const NODES: usize = 4000;

/// A pruned k-IPF: nodes in preorder, siblings by descending count.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Tree {
    /// The nodes
    pub nodes: Vec<TreeNode>,
    /// How many are left out
    pub left_out: usize,
}

/// A node: a path that followed those above it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct TreeNode {
    /// Its level; 0 for roots
    pub level: u32,
    /// Place of its path in the function's list
    pub path: usize,
    /// How often the sequence from the root down to it occurred, as far as it is known
    pub count: u64,
    /// How often it may have occurred at most
    pub most: u64,
    /// What was spent on the root's path where it was the beginning of that sequence. That of
    /// siblings together is at most their parent's
    pub work: u128,
}

impl TreeNode {
    /// How often the sequence occurred.
    pub fn times(&self) -> Interval<u64> {
        Interval::new(self.count, self.most)
    }
}

/// Which nodes are left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Pruning {
    /// Those with less of the function's work, by the work on the first path of their sequence, and
    /// all that there is no room for
    #[default]
    ByWork,
    /// Those with less of their parent's count, or of their root's
    ByCount,
}

impl Tree {
    /// The tree of all sequences with at least `min_percent` of what `pruning` says.
    pub fn of(ranked: &Ranked<'_>, ipf: &Ipf, min_percent: f64, pruning: Pruning) -> Tree {
        let paths = &ipf.paths;
        let mut tree = Tree::default();
        let least = min_percent / 100.0 * ranked.work as f64;
        let least = least.max(nodes_first(ranked, ipf));
        let all = ranked.paths.iter().map(|path| path.count).sum::<u64>();
        let is_rare = |part: u64, whole: u64| Percent::of(part, whole).0 < min_percent;
        for (place, taken) in ranked.paths.iter().enumerate() {
            let Some(root) = paths.child(None, taken.id) else { continue };
            // Of each level the work that is left for the next sibling.
            let mut left: Vec<u128> = vec![taken.work()];
            let mut stack: Vec<(NodeId, usize, u32)> = vec![(root, place, 0)];
            while let Some((node, path, level)) = stack.pop() {
                let Interval { least: count, most } = ipf.count(node);
                let of_parent = left[level as usize];
                let work = (u128::from(count) * u128::from(taken.cost)).min(of_parent);
                let is_left_out = match (pruning, paths.parent(node)) {
                    (Pruning::ByWork, _) => work == 0 || (work as f64) < least,
                    (Pruning::ByCount, None) => is_rare(taken.count, all),
                    (Pruning::ByCount, Some(parent)) => {
                        is_rare(count, ipf.least(parent)) || is_rare(count, ipf.least(root))
                    }
                };
                if is_left_out {
                    continue;
                }
                left.truncate(level as usize);
                left.extend([of_parent - work, work]);
                tree.nodes.push(TreeNode { level, path, count, most, work });
                let mut children: Vec<NodeId> = paths.children(node).collect();
                children.sort_by_key(|&child| {
                    (ipf.least(child), std::cmp::Reverse(paths.label(child)))
                });
                stack.extend(children.into_iter().filter_map(|child| {
                    Some((child, ranked.place(paths.label(child))?, level + 1))
                }));
            }
        }
        tree.left_out = paths.len().saturating_sub(tree.nodes.len());
        tree
    }
}

/// The work that a node must have, if only so many are to be kept as there is room for.
fn nodes_first(ranked: &Ranked<'_>, ipf: &Ipf) -> f64 {
    let paths = &ipf.paths;
    if paths.len() <= NODES {
        return 0.0;
    }
    let mut cost_of_root = vec![0u64; paths.len()];
    let mut works: Vec<u128> = Vec::with_capacity(paths.len());
    for node in paths.ids() {
        let cost = match paths.parent(node) {
            Some(parent) => cost_of_root[parent.index()],
            None => ranked.cost(paths.label(node)),
        };
        cost_of_root[node.index()] = cost;
        works.push(u128::from(ipf.least(node)) * u128::from(cost));
    }
    // Those that have as much as the last one that would be kept are left out: there may be many.
    let (_, last, _) = works.select_nth_unstable_by(NODES, |a, b| b.cmp(a));
    *last as f64 + 1.0
}
