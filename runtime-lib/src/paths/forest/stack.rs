//! Walks over the nodes of a forest.

use super::ThreadForest;
use crate::paths::baseline::Counter;
use crate::paths::node::{self, Child, Children, Node};
use core::ptr::null_mut;
use midflight_abi::MAX_K;

/// Levels of the deepest forest: 2k−2.
pub(super) const MAX_LEVELS: usize = 2 * MAX_K as usize - 2;

/// A node on the way from the start to where a walk is.
#[derive(Clone, Copy)]
pub(super) struct Frame {
    pub(super) node: *mut Node,
    children: Children,
    /// Children left to visit, or found to be counted; in pruning the largest count.
    pub(super) number: u32,
}

/// The way from the start of a forest to where a walk is.
pub(super) struct Stack {
    frames: [Frame; MAX_LEVELS],
    pub(super) depth: usize,
    pub(super) k: u32,
}

impl Stack {
    /// At the start.
    ///
    /// The caller holds the lock of the forest's context.
    pub(super) fn new(forest: *mut ThreadForest) -> Self {
        // SAFETY: the forest is valid.
        unsafe { Self::at((*forest).shared.start, (*forest).shared.k) }
    }

    /// At a start.
    pub(super) fn at(start: *mut Node, k: u32) -> Self {
        let empty = Frame { node: null_mut(), children: Children::of(null_mut()), number: 0 };
        let mut this = Self { frames: [empty; MAX_LEVELS], depth: 0, k };
        this.push(start);
        this
    }

    fn push(&mut self, node: *mut Node) {
        if let Some(frame) = self.frames.get_mut(self.depth) {
            *frame = Frame { node, children: Children::of(node), number: 0 };
            self.depth += 1;
        }
    }

    fn top(&mut self) -> Option<&mut Frame> {
        self.frames.get_mut(self.depth.checked_sub(1)?)
    }

    pub(super) fn pop(&mut self) -> Option<Frame> {
        let frame = *self.top()?;
        self.depth -= 1;
        Some(frame)
    }

    /// Level of the children that [`Self::next_child`] gives.
    pub(super) fn level(&self) -> u32 {
        self.depth as u32 - 1
    }

    /// The next child of the topmost node.
    pub(super) unsafe fn next_child(&mut self) -> Option<Child> {
        // SAFETY: the caller holds the locks, so the tables stay as they are.
        unsafe { self.top()?.children.next() }
    }

    /// The next child of the topmost node that has one left, which is the topmost then.
    pub(super) unsafe fn next(&mut self) -> Option<Child> {
        loop {
            // SAFETY: the caller's.
            if let Some(child) = unsafe { self.next_child() } {
                return Some(child);
            }
            self.pop()?;
        }
    }

    /// What a child of the topmost node is called in the baselines.
    pub(super) fn counter(&mut self, label: u32) -> Counter {
        Counter { owner: self.top().map_or(0, |frame| frame.node as usize), label }
    }

    /// What the profile has of a child of the topmost node.
    pub(super) unsafe fn told(&mut self, forest: *mut ThreadForest, child: Child) -> u64 {
        let counter = self.counter(child.label);
        // SAFETY: the caller holds the locks.
        unsafe { ThreadForest::baselines(forest).told(counter, child.count()) }
    }

    /// Notes a count in or below the topmost node.
    pub(super) fn heat(&mut self, count: u32) {
        if let Some(frame) = self.top() {
            frame.number = frame.number.max(count);
        }
    }

    /// Notes a counted child of the topmost node.
    pub(super) fn count_child(&mut self) {
        if let Some(frame) = self.top() {
            frame.number += 1;
        }
    }

    /// Expects as many children of the topmost node as were marked.
    pub(super) unsafe fn visit_marked(&mut self) {
        if let Some(frame) = self.top() {
            // SAFETY: the frame's node is one of the forest.
            frame.number = unsafe { (*frame.node).marked };
        }
    }

    /// Whether one of the expected children is left.
    pub(super) fn take_child(&mut self) -> bool {
        let Some(frame) = self.top() else { return false };
        let left = frame.number.checked_sub(1);
        frame.number = left.unwrap_or(0);
        left.is_some()
    }

    /// Goes on with the children of a child, if it has a node of its own.
    pub(super) unsafe fn descend(&mut self, child: Child) -> bool {
        let has_node = node::has_node(self.level(), self.k);
        if has_node {
            // SAFETY: a child above full depth leads to its own node.
            self.push(unsafe { node::node_of(child.next()) });
        }
        has_node
    }
}
