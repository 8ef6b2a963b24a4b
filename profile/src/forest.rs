//! Prefix forests: thesis Definition 3.5.
//!
//! A prefix forest keeps a list of sequences with common prefixes stored once. A node stands for
//! the sequence of the labels from its root down to it, and its counter says how often that
//! sequence was in the list.
//!
//! # Representation
//!
//! Nodes live in an arena and are never removed. Each knows its parent, its first child and its
//! next sibling, as arena indices; a hash table finds the child of a node by label. **A parent is
//! older than its children**, so a pass over the arena in order meets parents first: that is how
//! forests are added up without recursion.
//!
//! Siblings are linked in order of age, and come out of [`PrefixForest::children`] in order of
//! label, so that nothing which is printed or written depends on the order of insertion.

use alloc::vec::Vec;
use hashbrown::HashMap;

/// A node of one forest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NodeId(u32);

impl NodeId {
    /// The node's place in the arena: from 0 up to [`PrefixForest::len`], parents before children.
    /// Side tables can be indexed by it.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// No node: the parent of roots, the child of leaves.
const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Node {
    count: u64,
    label: u32,
    parent: u32,
    first_child: u32,
    next_sibling: u32,
}

/// A counter of a forest would pass 2^64 − 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the count of path {label} passes 2^64 - 1")]
pub struct CountOverflow {
    /// Label of the node whose counter it is
    pub label: u32,
}

/// Children of one node.
type Siblings = alloc::vec::IntoIter<NodeId>;

/// A prefix forest (thesis Definition 3.5), with labels and counters.
#[derive(Clone, Debug)]
pub struct PrefixForest {
    nodes: Vec<Node>,
    first_root: u32,
    by_label: HashMap<(u32, u32), u32>,
}

impl Default for PrefixForest {
    fn default() -> Self {
        Self::new()
    }
}

impl PrefixForest {
    /// The empty forest.
    pub fn new() -> Self {
        PrefixForest { nodes: Vec::new(), first_root: NONE, by_label: HashMap::new() }
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// True if there is no node.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The roots, by ascending label.
    pub fn roots(&self) -> Siblings {
        self.by_ascending_label(self.first_root)
    }

    /// The children of a node, by ascending label.
    pub fn children(&self, id: NodeId) -> Siblings {
        self.by_ascending_label(self.node(id).first_child)
    }

    /// The children of a node, or the roots where it is none, by ascending label.
    pub fn children_of(&self, parent: Option<NodeId>) -> Siblings {
        parent.map_or_else(|| self.roots(), |id| self.children(id))
    }

    /// The parent of a node; none if it is a root.
    pub fn parent(&self, id: NodeId) -> Option<NodeId> {
        some(self.node(id).parent)
    }

    /// The child of `parent` with a label, or the root with it where `parent` is none.
    pub fn child(&self, parent: Option<NodeId>, label: u32) -> Option<NodeId> {
        self.by_label.get(&(index_of(parent), label)).map(|&id| NodeId(id))
    }

    /// As [`child`](Self::child), but makes the node with a counter of 0 if there is none.
    ///
    /// # Panics
    /// If the forest would have 2^32 − 1 nodes, which takes some 200 GB.
    pub fn child_or_insert(&mut self, parent: Option<NodeId>, label: u32) -> NodeId {
        let parent = index_of(parent);
        if let Some(&id) = self.by_label.get(&(parent, label)) {
            return NodeId(id);
        }
        assert!(self.nodes.len() < NONE as usize, "a forest has fewer than 2^32 - 1 nodes");
        let id = self.nodes.len() as u32;
        let first = if parent == NONE {
            &mut self.first_root
        } else {
            &mut self.nodes[parent as usize].first_child
        };
        let next_sibling = core::mem::replace(first, id);
        self.nodes.push(Node { count: 0, label, parent, first_child: NONE, next_sibling });
        self.by_label.insert((parent, label), id);
        NodeId(id)
    }

    /// Adds `n` to the counter of a node.
    ///
    /// # Errors
    /// [`CountOverflow`] if the counter would pass `u64::MAX`; it is unchanged then.
    pub fn add(&mut self, id: NodeId, n: u64) -> Result<(), CountOverflow> {
        let node = &mut self.nodes[id.index()];
        node.count = node.count.checked_add(n).ok_or(CountOverflow { label: node.label })?;
        Ok(())
    }

    /// The counter of a node.
    pub fn count(&self, id: NodeId) -> u64 {
        self.node(id).count
    }

    /// The label of a node.
    pub fn label(&self, id: NodeId) -> u32 {
        self.node(id).label
    }

    /// The labels from the root down to a node: the sequence that the node counts.
    pub fn labels(&self, id: NodeId) -> Vec<u32> {
        let upwards = core::iter::successors(Some(id), |&id| self.parent(id));
        let mut labels: Vec<u32> = upwards.map(|id| self.label(id)).collect();
        labels.reverse();
        labels
    }

    /// Sum of all counters.
    pub fn total(&self) -> u128 {
        self.nodes.iter().map(|node| u128::from(node.count)).sum()
    }

    /// All nodes, by age: parents before children, and in no other order that means anything.
    pub fn ids(&self) -> impl Iterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    /// All nodes in preorder, siblings by ascending label, each with its depth (0 for roots).
    pub fn preorder(&self) -> impl Iterator<Item = (NodeId, u32)> {
        let mut stack: Vec<(NodeId, u32)> = self.roots().rev().map(|id| (id, 0)).collect();
        core::iter::from_fn(move || {
            let (id, depth) = stack.pop()?;
            stack.extend(self.children(id).rev().map(|child| (child, depth + 1)));
            Some((id, depth))
        })
    }

    /// Adds another forest node by node: afterwards this is the forest of both lists.
    ///
    /// # Errors
    /// [`CountOverflow`] if a counter would pass `u64::MAX`; this forest is unchanged then.
    pub fn add_forest(&mut self, other: &PrefixForest) -> Result<(), CountOverflow> {
        self.check_sums(other)?;
        let mut ours: Vec<NodeId> = Vec::with_capacity(other.len());
        for theirs in &other.nodes {
            let parent = some(theirs.parent).map(|id| ours[id.index()]);
            let id = self.child_or_insert(parent, theirs.label);
            self.nodes[id.index()].count += theirs.count;
            ours.push(id);
        }
        Ok(())
    }

    /// Multiplies all counters.
    ///
    /// # Errors
    /// [`CountOverflow`] if a counter would pass `u64::MAX`; this forest is unchanged then.
    pub fn scale(&mut self, by: u64) -> Result<(), CountOverflow> {
        let too_large = |node: &&Node| node.count.checked_mul(by).is_none();
        if let Some(node) = self.nodes.iter().find(too_large) {
            return Err(CountOverflow { label: node.label });
        }
        self.nodes.iter_mut().for_each(|node| node.count *= by);
        Ok(())
    }

    fn check_sums(&self, other: &PrefixForest) -> Result<(), CountOverflow> {
        let mut ours: Vec<Option<NodeId>> = Vec::with_capacity(other.len());
        for theirs in &other.nodes {
            let known = match some(theirs.parent) {
                None => self.child(None, theirs.label),
                Some(id) => ours[id.index()].and_then(|p| self.child(Some(p), theirs.label)),
            };
            let count = known.map_or(0, |id| self.count(id));
            count.checked_add(theirs.count).ok_or(CountOverflow { label: theirs.label })?;
            ours.push(known);
        }
        Ok(())
    }

    /// Adds to a counter, which stays at `u64::MAX` once it is there.
    pub(crate) fn add_saturating(&mut self, id: NodeId, n: u64) {
        let count = &mut self.nodes[id.index()].count;
        *count = count.saturating_add(n);
    }

    /// The children of a node (the roots where it is none), youngest first. Allocates nothing.
    pub(crate) fn unordered(&self, parent: Option<NodeId>) -> impl Iterator<Item = NodeId> {
        self.siblings(parent.map_or(self.first_root, |id| self.node(id).first_child))
    }

    fn siblings(&self, first: u32) -> impl Iterator<Item = NodeId> {
        core::iter::successors(some(first), |&id| some(self.node(id).next_sibling))
    }

    fn by_ascending_label(&self, first: u32) -> Siblings {
        let mut ids: Vec<NodeId> = self.siblings(first).collect();
        ids.sort_unstable_by_key(|&id| self.label(id));
        ids.into_iter()
    }

    fn node(&self, id: NodeId) -> &Node {
        &self.nodes[id.index()]
    }
}

fn some(index: u32) -> Option<NodeId> {
    (index != NONE).then_some(NodeId(index))
}

fn index_of(id: Option<NodeId>) -> u32 {
    id.map_or(NONE, |id| id.0)
}

/// Forests are equal if they count the same sequences equally often, in whatever order they were
/// put together.
impl PartialEq for PrefixForest {
    fn eq(&self, other: &Self) -> bool {
        let flat = |forest: &PrefixForest, id| (forest.label(id), forest.count(id));
        self.len() == other.len()
            && self.preorder().zip(other.preorder()).all(|((a, depth_a), (b, depth_b))| {
                depth_a == depth_b && flat(self, a) == flat(other, b)
            })
    }
}

impl Eq for PrefixForest {}

#[cfg(test)]
mod tests {
    use super::*;

    fn forest_of(sequences: &[&[u32]]) -> PrefixForest {
        let mut forest = PrefixForest::new();
        for sequence in sequences {
            let mut at = None;
            for &label in *sequence {
                at = Some(forest.child_or_insert(at, label));
            }
            forest.add(at.unwrap(), 1).unwrap();
        }
        forest
    }

    #[test]
    fn equality_and_iteration_do_not_depend_on_the_order_of_insertion() {
        let a = forest_of(&[&[1, 2], &[1, 3], &[0], &[1, 2, 9]]);
        let b = forest_of(&[&[1, 2, 9], &[0], &[1, 3], &[1, 2]]);
        assert_eq!(a, b);
        let flat: Vec<_> = a.preorder().map(|(id, depth)| (a.label(id), depth)).collect();
        assert_eq!(flat, [(0, 0), (1, 0), (2, 1), (9, 2), (3, 1)]);
    }

    #[test]
    fn forests_differ_in_shape_label_or_count() {
        let a = forest_of(&[&[1, 2], &[3]]);
        assert_ne!(a, forest_of(&[&[1], &[3, 2]]));
        assert_ne!(a, forest_of(&[&[1, 2], &[4]]));
        assert_ne!(a, forest_of(&[&[1, 2], &[3], &[3]]));
        assert_ne!(a, forest_of(&[&[1, 2]]));
        // The same labels in preorder, one level deeper.
        assert_ne!(forest_of(&[&[1], &[1, 2]]), forest_of(&[&[1], &[2]]));
    }

    #[test]
    fn the_labels_of_a_node_are_its_sequence() {
        let forest = forest_of(&[&[5, 4, 3]]);
        let leaf = forest.ids().last().unwrap();
        assert_eq!(forest.labels(leaf), [5, 4, 3]);
        assert_eq!(forest.parent(leaf).map(|p| forest.label(p)), Some(4));
    }

    #[test]
    fn adding_forests_adds_counts_node_by_node() {
        let mut sum = forest_of(&[&[1, 2], &[1, 3]]);
        sum.add_forest(&forest_of(&[&[7], &[1, 2]])).unwrap();
        assert_eq!(sum, forest_of(&[&[7], &[1, 2], &[1, 2], &[1, 3]]));
        assert_eq!(sum.total(), 4);
    }

    #[test]
    fn an_overflow_is_an_error_and_changes_nothing() {
        let mut sum = forest_of(&[&[1]]);
        let one = sum.child(None, 1).unwrap();
        sum.add(one, u64::MAX - 1).unwrap();
        let before = sum.clone();
        assert_eq!(sum.add(one, 1), Err(CountOverflow { label: 1 }));
        assert_eq!(sum.add_forest(&forest_of(&[&[0], &[1]])), Err(CountOverflow { label: 1 }));
        assert_eq!(sum.scale(2), Err(CountOverflow { label: 1 }));
        assert_eq!(sum, before);
    }
}
