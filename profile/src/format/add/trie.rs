//! A forest that grows in memory of fixed size.

use crate::checksum::mix64;

/// What is above all nodes of one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Top {
    /// Of windows that stand anywhere in an activation, and of all nodes of a k-SF
    Known,
    /// Of windows that begin with the activation
    Anchored,
}

impl Top {
    /// All.
    pub const ALL: [Self; 2] = [Self::Anchored, Self::Known];
}

/// A node of the sum. Zeroes are a valid value.
#[derive(Clone, Copy, Debug, Default)]
pub struct Node {
    count: u64,
    label: u32,
    parent: u32,
    /// 0: none, since the first node is nobody's child
    first_child: u32,
    next_sibling: u32,
}

/// Nodes, and a hash table that finds the child of a node by its label.
pub struct Trie<'a> {
    nodes: &'a mut [Node],
    used: usize,
    slots: &'a mut [u32],
}

impl<'a> Trie<'a> {
    /// The node above all of a kind.
    pub const fn top(kind: Top) -> u32 {
        kind as u32
    }

    /// No forest yet, with room for that many nodes; `None` if there is not.
    pub fn new(nodes: &'a mut [Node], slots: &'a mut [u32], count: usize) -> Option<Self> {
        let tops = Top::ALL.len();
        let nodes = nodes.get_mut(..count.checked_add(tops)?)?;
        let slots = slots.get_mut(..nodes.len().checked_mul(2)?.checked_next_power_of_two()?)?;
        slots.fill(0);
        nodes.get_mut(..tops)?.fill(Node::default());
        Some(Trie { nodes, used: tops, slots })
    }

    /// Adds to the count of the child of a node that has a label, which is made if it is not there.
    /// `None`: there is no room.
    pub fn add(&mut self, parent: u32, label: u32, count: u64) -> Option<u32> {
        let child = self.child(parent, label)?;
        let node = self.nodes.get_mut(child as usize)?;
        node.count = node.count.saturating_add(count);
        Some(child)
    }

    fn child(&mut self, parent: u32, label: u32) -> Option<u32> {
        let mut hash = mix64(u64::from(parent) << 32 | u64::from(label)) as usize;
        loop {
            let slot = self.slots.get_mut(hash & self.slots.len().wrapping_sub(1))?;
            if *slot == 0 {
                let new = u32::try_from(self.used).ok()?;
                *slot = new;
                self.append(new, parent, label)?;
                return Some(new);
            }
            let node = self.nodes.get(*slot as usize)?;
            if (node.parent, node.label) == (parent, label) {
                return Some(*slot);
            }
            hash = hash.wrapping_add(1);
        }
    }

    fn append(&mut self, new: u32, parent: u32, label: u32) -> Option<()> {
        let above = self.nodes.get_mut(parent as usize)?;
        let next_sibling = core::mem::replace(&mut above.first_child, new);
        let node = Node { label, parent, next_sibling, ..Node::default() };
        *self.nodes.get_mut(self.used)? = node;
        self.used += 1;
        Some(())
    }

    fn node(&self, id: u32) -> Node {
        self.nodes.get(id as usize).copied().unwrap_or_default()
    }

    /// The label and the count of a node.
    pub fn counter(&self, id: u32) -> (u32, u64) {
        let node = self.node(id);
        (node.label, node.count)
    }

    /// The children of a node.
    pub fn children(&self, id: u32) -> impl Iterator<Item = u32> {
        let some = |id| (id != 0).then_some(id);
        core::iter::successors(some(self.node(id).first_child), move |&id| {
            some(self.node(id).next_sibling)
        })
    }

    /// A node and all below it in preorder.
    pub fn preorder(&self, top: u32) -> impl Iterator<Item = u32> {
        core::iter::successors(Some(top), move |&last| {
            let first = self.node(last).first_child;
            if first != 0 {
                return Some(first);
            }
            let mut last = last;
            while last != top {
                let Node { next_sibling, parent, .. } = self.node(last);
                if next_sibling != 0 {
                    return Some(next_sibling);
                }
                last = parent;
            }
            None
        })
    }

    /// Writes the labels from below the top down to a node; how many there are.
    pub fn labels(&self, id: u32, to: &mut [u32]) -> usize {
        let is_below = |&id: &u32| id as usize >= Top::ALL.len();
        let way = || {
            core::iter::successors(Some(id), |&id| Some(self.node(id).parent)).take_while(is_below)
        };
        let length = way().count();
        let upwards = to.iter_mut().take(length).rev();
        upwards.zip(way()).for_each(|(to, id)| *to = self.node(id).label);
        length
    }
}
