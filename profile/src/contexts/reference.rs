//! Calling contexts to the letter of thesis 3.1: what tests compare with.
//!
//! The whole CCT, exact counts, and linear searches everywhere. Nothing is shared with what a
//! program runs.

use super::{Call, Share};
use alloc::collections::BTreeSet;
use alloc::vec::Vec;

/// A node of one CCT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Context(usize);

#[derive(Clone, Debug)]
struct Node {
    parent: Option<Context>,
    call: Call,
    count: u64,
}

/// The calling context tree of a stream of calls and returns (3.1.2), with exact counts.
#[derive(Clone, Debug, Default)]
pub struct Cct {
    nodes: Vec<Node>,
    /// v, the context of the active routine
    cursor: Option<Context>,
}

impl Cct {
    /// The tree before the first call.
    pub fn new() -> Self {
        Self::default()
    }

    /// A routine is invoked from the active one.
    pub fn enter(&mut self, call: Call) -> Context {
        let x = self.enter_from(self.cursor, call);
        self.cursor = Some(x);
        x
    }

    /// The active routine returns. Nothing happens where there is none.
    pub fn exit(&mut self) {
        self.cursor = self.cursor.and_then(|v| self.parent(v));
    }

    /// A routine is invoked from a context, or as a root; the cursor stays.
    pub fn enter_from(&mut self, parent: Option<Context>, call: Call) -> Context {
        let is_child = |node: &Node| node.parent == parent && node.call == call;
        let index = self.nodes.iter().position(is_child).unwrap_or_else(|| {
            self.nodes.push(Node { parent, call, count: 0 });
            self.nodes.len() - 1
        });
        self.nodes[index].count += 1;
        Context(index)
    }

    /// The active context.
    pub fn cursor(&self) -> Option<Context> {
        self.cursor
    }

    /// All contexts, parents before children.
    pub fn contexts(&self) -> impl Iterator<Item = Context> + use<> {
        (0..self.nodes.len()).map(Context)
    }

    /// How often a context was entered.
    pub fn count(&self, context: Context) -> u64 {
        self.nodes[context.0].count
    }

    /// The context that another was entered from.
    pub fn parent(&self, context: Context) -> Option<Context> {
        self.nodes[context.0].parent
    }

    /// The calls that lead to a context, from the root on.
    pub fn calls(&self, context: Context) -> Vec<Call> {
        let mut calls: Vec<Call> =
            self.with_ancestors(context).map(|Context(index)| self.nodes[index].call).collect();
        calls.reverse();
        calls
    }

    /// A context and its ancestors, up to the root.
    pub fn with_ancestors(&self, context: Context) -> impl Iterator<Item = Context> {
        core::iter::successors(Some(context), |&context| self.parent(context))
    }

    /// The smallest subtree that spans some contexts and their ancestors: S ↑ CCT in Figure 3.3.
    pub fn spanned(&self, contexts: impl IntoIterator<Item = Context>) -> BTreeSet<Context> {
        contexts.into_iter().flat_map(|context| self.with_ancestors(context)).collect()
    }

    /// N: the sum of all counts.
    pub fn total(&self) -> u64 {
        self.nodes.iter().map(|node| node.count).sum()
    }

    /// The hot contexts (Definition 3.1).
    pub fn hot(&self, phi: Share) -> BTreeSet<Context> {
        let threshold = phi.floor_of(self.total());
        self.contexts().filter(|&context| self.count(context) >= threshold).collect()
    }

    /// The HCCT (Definition 3.2).
    pub fn hcct(&self, phi: Share) -> BTreeSet<Context> {
        self.spanned(self.hot(phi))
    }
}

/// An entry of M.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Monitored {
    /// The item
    pub context: Context,
    /// At most so often it was entered
    pub count: u64,
    /// What the count began with
    pub error: u64,
}

/// Space-Saving (3.1.3): pairs of item and count, and a search for the smallest.
#[derive(Clone, Debug)]
pub struct SimpleSpaceSaving {
    capacity: usize,
    /// M, in the order in which its places were first taken
    pub entries: Vec<Monitored>,
}

impl SimpleSpaceSaving {
    /// Nothing is monitored, and no more than `capacity` contexts will be.
    ///
    /// # Panics
    /// If `capacity` is 0.
    pub fn new(capacity: usize) -> Self {
        assert!(capacity > 0, "nothing can be monitored without a counter");
        Self { capacity, entries: Vec::new() }
    }

    /// `update(x, M)`. Of several with the smallest count, the first is the victim.
    pub fn update(&mut self, x: Context) -> Option<Context> {
        if let Some(entry) = self.entries.iter_mut().find(|entry| entry.context == x) {
            entry.count += 1;
            return None;
        }
        if self.entries.len() < self.capacity {
            self.entries.push(Monitored { context: x, count: 1, error: 0 });
            return None;
        }
        let least = self.entries.iter_mut().min_by_key(|entry| entry.count)?;
        let victim = *least;
        *least = Monitored { context: x, count: victim.count + 1, error: victim.count };
        Some(victim.context)
    }

    /// True if x ∈ M.
    pub fn is_monitored(&self, x: Context) -> bool {
        self.entries.iter().any(|entry| entry.context == x)
    }

    /// `query(M)`: A.
    pub fn query(&self, threshold: u64) -> BTreeSet<Context> {
        let is_hot = |entry: &&Monitored| entry.count >= threshold;
        self.entries.iter().filter(is_hot).map(|entry| entry.context).collect()
    }
}

/// The MCCT, and beside it the CCT that it is a subtree of.
#[derive(Clone, Debug)]
pub struct Mcct {
    /// The CCT, which a program would not have
    pub cct: Cct,
    /// M
    pub m: SimpleSpaceSaving,
    /// The nodes of the MCCT
    pub nodes: BTreeSet<Context>,
}

impl Mcct {
    /// The tree before the first call.
    ///
    /// # Panics
    /// If `capacity` is 0.
    pub fn new(capacity: usize) -> Self {
        Self { cct: Cct::new(), m: SimpleSpaceSaving::new(capacity), nodes: BTreeSet::new() }
    }

    /// A routine is invoked from the active one: Algorithm 1.
    pub fn enter(&mut self, call: Call) -> Context {
        let x = self.cct.enter(call);
        self.nodes.insert(x);
        let victims = self.m.update(x); // line 1
        for victim in victims.into_iter().filter(|&v| v != x) {
            let mut v = victim;
            // Line 3
            while self.is_leaf(v) && !self.m.is_monitored(v) {
                self.nodes.remove(&v); // 4
                let Some(parent) = self.cct.parent(v) else { break };
                v = parent; // 5
            }
        }
        x
    }

    /// The active routine returns.
    pub fn exit(&mut self) {
        self.cct.exit();
    }

    fn is_leaf(&self, v: Context) -> bool {
        self.nodes.iter().all(|&node| self.cct.parent(node) != Some(v))
    }
}
