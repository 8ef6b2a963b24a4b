//! Memory of the nodes of a tree.

use midflight_abi::contexts::context_slot_offset;
use midflight_profile::format::{ContextId, Contexts};

/// A node of a tree whose children are in a list: function, site, parent, first child, next
/// sibling and count.
pub const LIST_NODE: u64 = 48;

/// The alignment of nodes.
const ALIGNMENT: u64 = 16;

/// Bytes of the nodes of a tree.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NodeMemory {
    /// Number of nodes
    pub nodes: u64,
    /// Bytes of all
    pub bytes: u64,
    /// Bytes of the largest
    pub largest: u64,
}

impl NodeMemory {
    /// What the runtime needed for the contexts of a profile.
    pub fn of(contexts: &Contexts) -> NodeMemory {
        let mut memory = NodeMemory::default();
        for id in contexts.ids() {
            let size = size_of_node(contexts, id);
            memory.nodes += 1;
            memory.bytes += size;
            memory.largest = memory.largest.max(size);
        }
        memory
    }

    /// Bytes of a node.
    pub fn mean(&self) -> f64 {
        self.bytes as f64 / self.nodes.max(1) as f64
    }
}

fn size_of_node(contexts: &Contexts, id: ContextId) -> u64 {
    (context_slot_offset(contexts.function(id).slots) as u64).next_multiple_of(ALIGNMENT)
}
