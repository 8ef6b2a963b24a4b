//! All nodes of a tree in preorder, without memory for where the walk is.

use crate::contexts::tree::{self, FIRST};
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, Ordering};
use midflight_abi::contexts::ContextNode;

/// A walk, see the module. Nodes that are added meanwhile may be met or not.
pub struct Walk {
    root: *mut ContextNode,
    /// The node that was given last; null at first
    at: *mut ContextNode,
    depth: usize,
    /// Whether the children of `at` are passed over
    skips: bool,
}

impl Walk {
    /// All below a root; none where that is null.
    pub fn new(root: *mut ContextNode) -> Self {
        Self { root, at: null_mut(), depth: 0, skips: false }
    }

    /// The next node, and how deep it is: children of the root are at depth 0. `enters` tells
    /// whether a node, or anything below it, is wanted.
    ///
    /// # Safety
    /// The root is that of a tree; nothing is freed meanwhile.
    pub unsafe fn next(
        &mut self,
        mut enters: impl FnMut(*mut ContextNode) -> bool,
    ) -> Option<(*mut ContextNode, usize)> {
        if self.root.is_null() {
            return None;
        }
        // SAFETY: the caller's.
        unsafe {
            loop {
                self.step()?;
                self.skips = !enters(self.at);
                if !self.skips {
                    return Some((self.at, self.depth));
                }
            }
        }
    }

    unsafe fn step(&mut self) -> Option<()> {
        // SAFETY: the caller's.
        unsafe {
            if self.at.is_null() {
                self.at = first_child(self.root, 0)?;
                return Some(());
            }
            if !self.skips
                && let Some(child) = first_child(self.at, 0)
            {
                self.at = child;
                self.depth += 1;
                return Some(());
            }
            loop {
                let parent = (*self.at).parent;
                if let Some(next) = sibling(self.at) {
                    self.at = next;
                    return Some(());
                }
                if let Some(next) = first_child(parent, tree::site(self.at) + 1) {
                    self.at = next;
                    return Some(());
                }
                self.at = parent;
                self.depth = self.depth.checked_sub(1)?;
            }
        }
    }
}

/// The next in a ring; `None` at its end.
unsafe fn sibling(node: *mut ContextNode) -> Option<*mut ContextNode> {
    // SAFETY: the caller gives a node.
    unsafe {
        let next = AtomicPtr::from_ptr(&raw mut (*node).next).load(Ordering::Acquire);
        ((*next).site & FIRST == 0).then_some(next)
    }
}

/// The first child from a slot on.
unsafe fn first_child(node: *mut ContextNode, from: u32) -> Option<*mut ContextNode> {
    // SAFETY: the caller gives a node, which has so many slots.
    unsafe {
        for number in from..tree::slots(node) {
            let content = AtomicPtr::from_ptr(tree::slot(node, number)).load(Ordering::Acquire);
            if tree::is_empty(content, node) {
                continue;
            }
            return Some(tree::first(content));
        }
    }
    None
}
