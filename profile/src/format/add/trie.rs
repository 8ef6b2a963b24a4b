//! A forest that grows in memory of fixed size.

use crate::checksum::mix64;

/// A node of the sum. Zeroes are a valid value.
#[derive(Clone, Copy, Debug, Default)]
pub struct Node {
    count: u64,
    label: u32,
    parent: u32,
    /// 0: none, since the first node is nobody's child
    first_child: u32,
    next_sibling: u32,
    children: u32,
}

/// Nodes, and a hash table that finds the child of a node by its label.
pub struct Trie<'a> {
    nodes: &'a mut [Node],
    used: usize,
    slots: &'a mut [u32],
}

impl<'a> Trie<'a> {
    /// The node above all roots.
    pub const TOP: u32 = 0;

    /// No forest yet, with room for that many nodes; `None` if there is not.
    pub fn new(nodes: &'a mut [Node], slots: &'a mut [u32], count: usize) -> Option<Self> {
        let nodes = nodes.get_mut(..count.checked_add(1)?)?;
        let slots = slots.get_mut(..nodes.len().checked_mul(2)?.checked_next_power_of_two()?)?;
        slots.fill(0);
        *nodes.first_mut()? = Node::default();
        Some(Trie { nodes, used: 1, slots })
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
        above.children += 1;
        let node = Node { label, parent, next_sibling, ..Node::default() };
        *self.nodes.get_mut(self.used)? = node;
        self.used += 1;
        Some(())
    }

    /// How many children a node has.
    pub fn children(&self, node: u32) -> u32 {
        self.nodes.get(node as usize).map_or(0, |node| node.children)
    }

    /// All nodes in preorder: label, count and number of children.
    pub fn preorder<'s>(&'s self) -> impl Iterator<Item = (u32, u64, u32)> {
        let node = |id: u32| self.nodes.get(id as usize).filter(|_| id != Self::TOP);
        let first = self.nodes.first().and_then(|top| node(top.first_child));
        let next = move |last: &&'s Node| {
            if let Some(child) = node(last.first_child) {
                return Some(child);
            }
            let mut last = *last;
            loop {
                if let Some(sibling) = node(last.next_sibling) {
                    return Some(sibling);
                }
                last = node(last.parent)?;
            }
        };
        core::iter::successors(first, next).map(|node| (node.label, node.count, node.children))
    }
}
