//! Counting windows: what the runtime library does, as a reference.
//!
//! An event is counted at the window of the last k paths of its activation, itself included. Where
//! the activation has had fewer, it is counted at all of them: such a window is *anchored* at the
//! marker ∗, and nothing is missing before it. Where less is known of what came before, it is
//! counted at the longest window that is known, which is *truncated*.
//!
//! Algorithms 5 and 6 make the k-IPF of these counters as they do of a k-SF. All that they need is
//! that each event is counted once, at a node whose labels end with the last min(n, k) paths of the
//! n that its activation has had (`docs/theory.md`, "Windows"). A k-SF has for each window as many
//! nodes as there are ways in which its first path can stand in a slab, and the sequences that
//! precede it there; here it has one.

use crate::forest::PrefixForest;
use alloc::vec::Vec;

/// Counters of windows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Windows {
    /// All of them, by the labels of their windows.
    pub all: PrefixForest,
    /// The part that is of truncated windows: no node counts more than in [`Self::all`].
    pub truncated: PrefixForest,
}

/// Counts windows of up to `k` paths: the automaton without automaton.
#[derive(Clone, Debug)]
pub struct WindowForest {
    k: u32,
    windows: Windows,
    /// The last k − 1 paths, or those that are known
    state: Vec<u32>,
    /// Whether the state is all that the activation has had
    is_anchored: bool,
}

impl WindowForest {
    /// Nothing is counted yet, and nothing is known of what came before.
    ///
    /// # Panics
    /// If `k` is 0.
    pub fn new(k: u32) -> Self {
        assert!(k >= 1, "paths of no acyclic path cannot be profiled");
        Self { k, windows: Windows::default(), state: Vec::new(), is_anchored: false }
    }

    /// The marker ∗: an activation begins.
    pub fn enter(&mut self) {
        self.state.clear();
        self.is_anchored = true;
    }

    /// No more than the last `known` paths are remembered of what came before: the empty window is
    /// ε.
    pub fn forget_all_but(&mut self, known: usize) {
        if known < self.state.len() {
            self.state.drain(..self.state.len() - known);
            self.is_anchored = false;
        }
    }

    /// The path `r` was taken.
    ///
    /// # Panics
    /// If a counter passes 2^64 − 1.
    pub fn event(&mut self, r: u32) {
        self.state.push(r);
        let Windows { all, truncated } = &mut self.windows;
        count(all, &self.state);
        if self.state.len() < self.k as usize && !self.is_anchored {
            count(truncated, &self.state);
        }
        if self.state.len() == self.k as usize {
            self.state.remove(0);
            self.is_anchored = false;
        }
    }

    /// What was counted.
    pub fn windows(&self) -> &Windows {
        &self.windows
    }
}

fn count(forest: &mut PrefixForest, window: &[u32]) {
    let node = window.iter().fold(None, |at, &label| Some(forest.child_or_insert(at, label)));
    let node = node.expect("a window with an event is not empty");
    forest.add(node, 1).expect("a run does not last for 2^64 paths");
}
