//! Programs that call and return, and trees of contexts in plain memory.

use midflight_profile::contexts::hot_contexts::{self, with_ancestors};
use midflight_profile::contexts::hot_tree::{Estimate, HotId};
use midflight_profile::contexts::reference::{Cct, Context, Monitored};
use midflight_profile::contexts::{
    Call, ContextTree, Counters, Entries, HotTree, Monitor, Share, SpaceSaving, space_saving,
};
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

/// What a program does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    Enter(Call),
    Exit,
}

/// A call by a short name.
pub fn call(function: u64, site: u32) -> Call {
    Call { function, site }
}

/// So many events at most: a fifth in Miri, which is a few hundred times slower.
const fn events(most: usize) -> usize {
    if cfg!(miri) { most / 5 } else { most }
}

/// No deeper, so that few contexts are entered once only.
const DEEPEST: usize = 9;

/// Calls and returns, which are balanced but for those that are under way at the end.
fn traces_of(calls: impl Strategy<Value = Call>, exits: u32) -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        10 => calls.prop_map(Event::Enter),
        exits => Just(Event::Exit),
    ];
    prop::collection::vec(event, 0..events(400)).prop_map(|events| {
        let mut depth = 0;
        let shallow = |event| match event {
            Event::Enter(_) if depth == DEEPEST => None,
            Event::Exit if depth == 0 => None,
            Event::Enter(_) => Some((depth += 1, event).1),
            Event::Exit => Some((depth -= 1, event).1),
        };
        events.into_iter().filter_map(shallow).collect()
    })
}

/// Few functions that call each other and themselves from several sites.
fn recursive() -> impl Strategy<Value = Vec<Event>> {
    traces_of((0u64..3, 0u32..2).prop_map(|(f, s)| call(f, s)), 9)
}

/// Some calls are much more frequent than others: each bit halves the chance.
fn skewed() -> impl Strategy<Value = Vec<Event>> {
    traces_of(any::<u16>().prop_map(|bits| call(bits.trailing_zeros().into(), 0)), 11)
}

/// Nearly every context is new, and most are leaves.
fn scattered() -> impl Strategy<Value = Vec<Event>> {
    traces_of((0u64..200).prop_map(|f| call(f, 0)), 14)
}

/// The same over and over, with what changes in between.
fn phases() -> impl Strategy<Value = Vec<Event>> {
    let body = prop::collection::vec((0u64..5, 1usize..3), 1..6);
    let bodies = prop::collection::vec((body, 1..events(20)), 1..5);
    bodies.prop_map(|bodies| {
        let mut trace = vec![Event::Enter(call(99, 0))];
        for (body, times) in bodies {
            for &(function, depth) in body.iter().cycle().take(body.len() * times) {
                trace.extend(vec![Event::Enter(call(function, 1)); depth]);
                trace.extend(vec![Event::Exit; depth]);
            }
        }
        trace
    })
}

/// Random programs.
pub fn traces() -> impl Strategy<Value = Vec<Event>> {
    prop_oneof![recursive(), skewed(), scattered(), phases()]
}

/// Sizes of M, small ones often.
pub fn sizes() -> impl Strategy<Value = usize> {
    prop_oneof![Just(1), 2usize..6, 2usize..40]
}

/// φ, also at its ends.
pub fn shares() -> impl Strategy<Value = Share> {
    let hundredths = (0u32..=100).prop_map(|percent| f64::from(percent) / 100.0);
    prop_oneof![hundredths, 0.0..=1.0, 0.0..=0.1].prop_map(|phi| Share::new(phi).unwrap())
}

/// The exact tree of a whole trace.
pub fn cct_of(trace: &[Event]) -> Cct {
    let mut cct = Cct::new();
    for &event in trace {
        match event {
            Event::Enter(call) => {
                cct.enter(call);
            }
            Event::Exit => cct.exit(),
        }
    }
    cct
}

/// M with a fixed capacity.
#[derive(Debug)]
pub struct Places<N> {
    pub nodes: Vec<N>,
    pub capacity: usize,
}

impl<N: Copy> Entries<N> for Places<N> {
    fn get(&self, index: usize) -> Option<N> {
        self.nodes.get(index).copied()
    }

    fn push(&mut self, node: N) -> bool {
        let has_room = self.nodes.len() < self.capacity;
        if has_room {
            self.nodes.push(node);
        }
        has_room
    }

    fn replace(&mut self, index: usize, node: N) {
        self.nodes[index] = node;
    }
}

/// A node of [`Live`]. Memory is used again, and one that is kept too long is noticed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct NodeId {
    slot: usize,
    generation: u32,
}

#[derive(Debug)]
struct Slot {
    generation: u32,
    parent: Option<NodeId>,
    call: Call,
    /// The same context in the whole tree
    context: Context,
    children: usize,
    count: u64,
    error: u64,
    is_monitored: bool,
}

/// An MCCT as a program would keep it.
#[derive(Debug, Default)]
pub struct Live {
    slots: Vec<Slot>,
    free: Vec<usize>,
    by_call: BTreeMap<(Option<NodeId>, Call), NodeId>,
    pub pinned: Vec<NodeId>,
    pub made: usize,
    pub removed: usize,
}

impl Live {
    fn slot(&self, node: NodeId) -> &Slot {
        let slot = &self.slots[node.slot];
        assert_eq!(slot.generation, node.generation, "{node:?} was removed");
        slot
    }

    fn slot_mut(&mut self, node: NodeId) -> &mut Slot {
        let slot = &mut self.slots[node.slot];
        assert_eq!(slot.generation, node.generation, "{node:?} was removed");
        slot
    }

    fn child_or_insert(&mut self, parent: Option<NodeId>, call: Call, context: Context) -> NodeId {
        if let Some(&child) = self.by_call.get(&(parent, call)) {
            assert_eq!(self.slot(child).context, context);
            return child;
        }
        if let Some(parent) = parent {
            self.slot_mut(parent).children += 1;
        }
        let mut made = Slot {
            generation: 0,
            parent,
            call,
            context,
            children: 0,
            count: 0,
            error: 0,
            is_monitored: false,
        };
        let slot = match self.free.pop() {
            Some(free) => {
                made.generation = self.slots[free].generation;
                self.slots[free] = made;
                free
            }
            None => {
                self.slots.push(made);
                self.slots.len() - 1
            }
        };
        let node = NodeId { slot, generation: self.slots[slot].generation };
        self.by_call.insert((parent, call), node);
        self.made += 1;
        node
    }

    pub fn nodes(&self) -> impl Iterator<Item = NodeId> {
        self.by_call.values().copied()
    }

    pub fn context(&self, node: NodeId) -> Context {
        self.slot(node).context
    }

    /// The node's entry of M, as the reference has it.
    pub fn monitored(&self, node: NodeId) -> Monitored {
        let &Slot { context, count, error, .. } = self.slot(node);
        Monitored { context, count, error }
    }
}

impl Counters for Live {
    type Node = NodeId;

    fn count(&self, node: NodeId) -> u64 {
        self.slot(node).count
    }
}

impl Monitor for Live {
    fn is_monitored(&self, node: NodeId) -> bool {
        self.slot(node).is_monitored
    }

    fn start(&mut self, node: NodeId, count: u64) {
        let slot = self.slot_mut(node);
        assert!(!slot.is_monitored);
        (slot.count, slot.error, slot.is_monitored) = (count, count, true);
    }

    fn stop(&mut self, node: NodeId) {
        assert!(self.slot(node).is_monitored);
        self.slot_mut(node).is_monitored = false;
    }

    fn increment(&mut self, node: NodeId) {
        assert!(self.slot(node).is_monitored);
        self.slot_mut(node).count += 1;
    }
}

impl ContextTree for Live {
    fn parent(&self, node: NodeId) -> Option<NodeId> {
        self.slot(node).parent
    }

    fn is_leaf(&self, node: NodeId) -> bool {
        self.slot(node).children == 0
    }

    fn is_pinned(&self, node: NodeId) -> bool {
        self.pinned.contains(&node)
    }

    fn remove(&mut self, node: NodeId) {
        let &Slot { parent, call, children, is_monitored, .. } = self.slot(node);
        assert!(children == 0 && !is_monitored && !self.is_pinned(node));
        if let Some(parent) = parent {
            self.slot_mut(parent).children -= 1;
        }
        assert_eq!(self.by_call.remove(&(parent, call)), Some(node));
        self.slots[node.slot].generation += 1;
        self.free.push(node.slot);
        self.removed += 1;
    }
}

/// A program that is profiled by the code under test.
#[derive(Debug)]
pub struct Profiler {
    pub tree: Live,
    pub entries: Places<NodeId>,
    pub space_saving: SpaceSaving,
    pub cursor: Option<NodeId>,
}

impl Profiler {
    pub fn new(capacity: usize) -> Self {
        Self {
            tree: Live::default(),
            entries: Places { nodes: Vec::new(), capacity },
            space_saving: SpaceSaving::new(),
            cursor: None,
        }
    }

    /// A whole trace
    pub fn of(trace: &[Event], capacity: usize) -> (Self, Cct) {
        let (mut profiler, mut cct) = (Self::new(capacity), Cct::new());
        for &event in trace {
            match event {
                Event::Enter(call) => {
                    let context = cct.enter(call);
                    profiler.enter(call, context);
                }
                Event::Exit => {
                    cct.exit();
                    profiler.exit();
                }
            }
        }
        (profiler, cct)
    }

    /// The node of a call, which becomes the cursor.
    pub fn call(&mut self, call: Call, context: Context) -> NodeId {
        let x = self.tree.child_or_insert(self.cursor, call, context);
        self.cursor = Some(x);
        x
    }

    /// A call that the profiler counts.
    pub fn enter(&mut self, call: Call, context: Context) {
        let x = self.call(call, context);
        hot_contexts::update(x, &mut self.space_saving, &mut self.entries, &mut self.tree);
    }

    /// A call as of emitted code, which counts by itself, and asks only where it must.
    pub fn enter_as_emitted(&mut self, call: Call, context: Context) {
        let x = self.call(call, context);
        if !self.tree.is_monitored(x) {
            hot_contexts::monitor(x, &mut self.space_saving, &mut self.entries, &mut self.tree);
        }
        self.tree.increment(x);
    }

    pub fn exit(&mut self) {
        self.cursor = self.cursor.and_then(|node| self.tree.parent(node));
    }

    /// M, as the reference has it.
    pub fn m(&self) -> Vec<Monitored> {
        self.entries.nodes.iter().map(|&node| self.tree.monitored(node)).collect()
    }

    pub fn total(&self) -> u64 {
        space_saving::total(&self.entries, &self.tree)
    }

    /// A, by the contexts of the whole tree.
    pub fn query(&self, threshold: u64) -> BTreeSet<Context> {
        space_saving::query(&self.entries, &self.tree, threshold)
            .map(|node| self.tree.context(node))
            .collect()
    }

    /// The (φ, ε)-HCCT, by the contexts of the whole tree.
    pub fn hcct(&self, threshold: u64) -> BTreeSet<Context> {
        space_saving::query(&self.entries, &self.tree, threshold)
            .flat_map(|node| with_ancestors(node, &self.tree))
            .map(|node| self.tree.context(node))
            .collect()
    }

    /// All nodes, by the contexts of the whole tree.
    pub fn nodes(&self) -> BTreeSet<Context> {
        self.tree.nodes().map(|node| self.tree.context(node)).collect()
    }

    /// What a profile would have.
    pub fn hot_tree(&self) -> HotTree {
        let mut tree = HotTree::new(self.total(), self.space_saving.floor());
        for node in self.tree.nodes() {
            let mut calls: Vec<Call> =
                with_ancestors(node, &self.tree).map(|node| self.tree.slot(node).call).collect();
            calls.reverse();
            let id = insert(&mut tree, &calls).unwrap();
            let Slot { count, error, is_monitored, .. } = *self.tree.slot(node);
            if is_monitored {
                tree.monitor(id, Estimate { count, error });
            }
        }
        tree
    }
}

/// The node of a context, which is made if it is not there.
pub fn insert(tree: &mut HotTree, calls: &[Call]) -> Option<HotId> {
    calls.iter().fold(None, |parent, &call| Some(tree.child_or_insert(parent, call)))
}
