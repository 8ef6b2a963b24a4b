//! Calling contexts in memory: a forest of functions, each below the function that called it.
//!
//! # Representation
//!
//! As in [`PrefixForest`](crate::forest::PrefixForest), nodes live in an arena, **parents before
//! their children**, each knows its first child and its next sibling, and a hash table finds the
//! child of a node by call site and function. What is printed or written does not depend on the
//! order of insertion.
//!
//! # Sums
//!
//! Counts are never too low, and `error` says by how much one may be too high. A context that one
//! of the trees has and another has not may have had as much there as that one's floor: so the
//! floor is added to its count and to its error, as where summaries of streams are merged (Agarwal
//! et al., PODS 2012). The sum does not depend on the order.

use super::{
    Bursts, ContextCounts, ContextFunction, ContextMode, ContextsHeader, coarser, rarer, time_of,
};
use crate::cursor::Malformed;
use crate::format::encoder::{Encoder, Sink};
use crate::format::error::{ReadError, SumOverflow, other_k};
use crate::format::profile::{FunctionProfile, encode_windows};
use alloc::collections::BTreeMap;
use alloc::collections::btree_map::Entry;
use alloc::vec;
use alloc::vec::Vec;
use hashbrown::HashMap;

/// A function in calling contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CalledFunction {
    /// Index in [`Profile::modules`](crate::format::Profile::modules).
    pub module: usize,
    /// Key of the function's record.
    pub key: u64,
    /// Its call sites, or 1 if they are not told apart.
    pub slots: u32,
}

/// A function of one [`Contexts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CalledId(u32);

impl CalledId {
    /// The function's place in [`Contexts::functions`].
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// A node of one [`Contexts`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContextId(u32);

impl ContextId {
    /// The node's place in the arena: from 0 up to [`Contexts::len`], parents before children. Side
    /// tables can be indexed by it.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// No node: the parent of roots, the child of leaves.
const NONE: u32 = u32::MAX;

#[derive(Clone, Debug)]
struct Node {
    count: u64,
    error: u64,
    time: u64,
    parent: u32,
    function: CalledId,
    site: u32,
    first_child: u32,
    next_sibling: u32,
}

/// Counts of calling contexts, added up, pass 2^64 − 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the counts of calling contexts add up to more than 2^64 - 1")]
pub struct ContextOverflow;

/// The calling contexts of all threads.
#[derive(Clone, Debug)]
pub struct Contexts {
    /// What of the tree was kept.
    pub mode: ContextMode,
    /// All activations that were counted.
    pub activations: u64,
    /// Activations that could not be given a context.
    pub elsewhere: u64,
    /// The greatest count that a context may have had that is not here.
    pub floor: u64,
    /// Where counts, or a part of them, are those of bursts: when these were; of several kinds, the
    /// rarest.
    pub bursts: Option<Bursts>,
    /// Where times were taken: nanoseconds of activations that have no context, or one that was
    /// removed.
    pub time: Option<u64>,
    functions: Vec<CalledFunction>,
    /// Of `elsewhere`, those of which the function is known
    elsewhere_of: BTreeMap<CalledId, u64>,
    by_key: HashMap<(usize, u64), CalledId>,
    nodes: Vec<Node>,
    first_root: u32,
    by_call: HashMap<(u32, u32, CalledId), u32>,
    /// What was counted of paths in contexts, by the module and the key of the function
    forests: BTreeMap<(ContextId, usize, u64), FunctionProfile>,
}

impl Default for Contexts {
    fn default() -> Self {
        Self::new(ContextMode::All)
    }
}

impl Contexts {
    /// None, of which so much was to be kept.
    pub fn new(mode: ContextMode) -> Self {
        Contexts {
            mode,
            activations: 0,
            elsewhere: 0,
            floor: 0,
            bursts: None,
            time: None,
            functions: Vec::new(),
            elsewhere_of: BTreeMap::new(),
            by_key: HashMap::new(),
            nodes: Vec::new(),
            first_root: NONE,
            by_call: HashMap::new(),
            forests: BTreeMap::new(),
        }
    }

    /// The functions, by age.
    pub fn functions(&self) -> &[CalledFunction] {
        &self.functions
    }

    /// The ID of a function, a new one if it was not there. None if it is there with another number
    /// of slots.
    pub fn intern(&mut self, function: CalledFunction) -> Option<CalledId> {
        // A function has a record, which takes memory: there are fewer than 2^32.
        let next = CalledId(self.functions.len() as u32);
        let id = *self.by_key.entry((function.module, function.key)).or_insert(next);
        if id == next {
            self.functions.push(function);
        }
        (self.functions[id.index()].slots == function.slots).then_some(id)
    }

    /// The same of a function that stands in a file at `at`.
    pub(in crate::format) fn intern_at(
        &mut self,
        function: CalledFunction,
        at: usize,
    ) -> Result<CalledId, Malformed> {
        let (what, problem) = ("the number of a function's call sites", "is another elsewhere");
        self.intern(function).ok_or(Malformed { what, at, problem })
    }

    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    /// True if there is no node.
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    /// The context of a function's call from a call site of `parent`, or the root of the function
    /// where that is none; made with a count of 0 if it was not there.
    ///
    /// # Panics
    /// If there would be 2^32 − 1 nodes, which takes some 400 GB.
    pub fn child_or_insert(
        &mut self,
        parent: Option<ContextId>,
        site: u32,
        function: CalledId,
    ) -> ContextId {
        let parent = parent.map_or(NONE, |id| id.0);
        if let Some(&id) = self.by_call.get(&(parent, site, function)) {
            return ContextId(id);
        }
        assert!(self.nodes.len() < NONE as usize, "there are fewer than 2^32 - 1 contexts");
        let id = self.nodes.len() as u32;
        let first = match self.nodes.get_mut(parent as usize) {
            None => &mut self.first_root,
            Some(parent) => &mut parent.first_child,
        };
        let next_sibling = core::mem::replace(first, id);
        let (count, error, time, first_child) = (0, 0, 0, NONE);
        let node = Node { count, error, time, parent, function, site, first_child, next_sibling };
        self.nodes.push(node);
        self.by_call.insert((parent, site, function), id);
        ContextId(id)
    }

    /// Adds to the counts of a node.
    ///
    /// # Errors
    /// [`ContextOverflow`] if one would pass `u64::MAX`.
    pub fn add(&mut self, id: ContextId, count: u64, error: u64) -> Result<(), ContextOverflow> {
        let node = &mut self.nodes[id.index()];
        node.count = node.count.checked_add(count).ok_or(ContextOverflow)?;
        node.error = node.error.checked_add(error).ok_or(ContextOverflow)?;
        Ok(())
    }

    /// Adds nanoseconds to the time of a node. It saturates.
    pub fn add_time(&mut self, id: ContextId, time: u64) {
        let node = &mut self.nodes[id.index()];
        node.time = node.time.saturating_add(time);
    }

    /// Nanoseconds in the activations of a context, but not in what they called; 0 where times were
    /// not taken.
    pub fn time(&self, id: ContextId) -> u64 {
        self.node(id).time
    }

    /// Adds activations of a function that could not be given a context.
    ///
    /// # Errors
    /// [`ContextOverflow`] if all of them would pass `u64::MAX`.
    pub fn add_elsewhere(&mut self, function: CalledId, count: u64) -> Result<(), ContextOverflow> {
        if count == 0 {
            return Ok(());
        }
        self.activations = self.activations.checked_add(count).ok_or(ContextOverflow)?;
        // No more than all of them.
        self.elsewhere = self.elsewhere.checked_add(count).ok_or(ContextOverflow)?;
        *self.elsewhere_of.entry(function).or_insert(0) += count;
        Ok(())
    }

    /// Of the activations that could not be given a context, those of each function of which there
    /// are any, as far as that is known.
    pub fn elsewhere_of(&self) -> impl Iterator<Item = (CalledId, u64)> {
        self.elsewhere_of.iter().map(|(&id, &count)| (id, count))
    }

    /// Adds what was counted of paths in a context, where it has a forest of its own. It is a part
    /// of what the profile has of the function.
    ///
    /// # Errors
    /// [`ForestError`] if it does not add up with what was counted there before.
    pub fn add_forest(
        &mut self,
        id: ContextId,
        function: FunctionProfile,
    ) -> Result<(), ForestError> {
        match self.forests.entry((id, function.module, function.key)) {
            Entry::Vacant(entry) => {
                function.check_total()?;
                entry.insert(function);
            }
            Entry::Occupied(entry) => {
                let known = entry.into_mut();
                if (known.k, known.counters) != (function.k, function.counters) {
                    return Err(ForestError::Other);
                }
                known.add(&function)?;
                known.check_total()?;
            }
        }
        Ok(())
    }

    /// What was counted of paths in a context, function by function: of its own and, where that was
    /// inlined into another, of that.
    pub fn forests(&self, id: ContextId) -> impl Iterator<Item = &FunctionProfile> {
        self.forests.range((id, 0, 0)..=(id, usize::MAX, u64::MAX)).map(|(_, function)| function)
    }

    /// Whether paths were counted in contexts.
    pub fn has_forests(&self) -> bool {
        !self.forests.is_empty()
    }

    /// Activations in a context. Never too low.
    pub fn count(&self, id: ContextId) -> u64 {
        self.node(id).count
    }

    /// By how much the count may be too high.
    pub fn error(&self, id: ContextId) -> u64 {
        self.node(id).error
    }

    /// The slot of the call in the function above; 0 in a root.
    pub fn site(&self, id: ContextId) -> u32 {
        self.node(id).site
    }

    /// The function that was called.
    pub fn function_id(&self, id: ContextId) -> CalledId {
        self.node(id).function
    }

    /// The function that was called.
    pub fn function(&self, id: ContextId) -> CalledFunction {
        self.functions[self.node(id).function.index()]
    }

    /// The context of the call; none in a root.
    pub fn parent(&self, id: ContextId) -> Option<ContextId> {
        some(self.node(id).parent)
    }

    /// The children of a context, or the roots where it is none, by call site, module and key.
    pub fn children(&self, parent: Option<ContextId>) -> Vec<ContextId> {
        self.sorted_children(parent, |function| function)
    }

    /// All nodes, by age: parents before children, and in no other order that means anything.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = ContextId> + use<> {
        (0..self.nodes.len() as u32).map(ContextId)
    }

    /// All nodes in preorder, siblings by call site, module and key, each with its depth (0 for
    /// roots).
    pub fn preorder(&self) -> impl Iterator<Item = (ContextId, u32)> {
        self.preorder_by(|parent| self.children(parent))
    }

    /// All nodes in preorder, with their depths; `children` has those of each node, in order.
    pub fn preorder_by(
        &self,
        children: impl Fn(Option<ContextId>) -> Vec<ContextId>,
    ) -> impl Iterator<Item = (ContextId, u32)> {
        let below = move |parent, depth| {
            children(parent).into_iter().rev().map(move |id: ContextId| (id, depth))
        };
        let mut stack: Vec<(ContextId, u32)> = below(None, 0).collect();
        core::iter::from_fn(move || {
            let (id, depth) = stack.pop()?;
            stack.extend(below(Some(id), depth + 1));
            Some((id, depth))
        })
    }

    /// Sum of all counts.
    pub fn total(&self) -> u128 {
        self.nodes.iter().map(|node| u128::from(node.count)).sum()
    }

    /// Adds contexts of other runs, of which the modules are these here.
    pub(in crate::format) fn merge(
        &mut self,
        other: &Contexts,
        places: &[usize],
    ) -> Result<(), ContextMergeError> {
        let mut sum = Sum::of(core::mem::take(self));
        sum.begin(&other.header())?;
        let functions = other.functions.iter().map(|function| {
            let function = CalledFunction { module: places[function.module], ..*function };
            sum.contexts.intern(function).ok_or(ContextMergeError::Slots { key: function.key })
        });
        let functions: Vec<CalledId> = functions.collect::<Result<_, _>>()?;
        let mut ours: Vec<ContextId> = Vec::with_capacity(other.len());
        for node in &other.nodes {
            let parent = some(node.parent).map(|id| ours[id.index()]);
            let function = functions[node.function.index()];
            let id = sum.contexts.child_or_insert(parent, node.site, function);
            let Node { site, count, error, time, .. } = *node;
            sum.add(id, &ContextCounts { site, count, error, time })?;
            ours.push(id);
        }
        for (function, &count) in &other.elsewhere_of {
            sum.contexts.add_elsewhere(functions[function.index()], count)?;
        }
        for (&(id, module, _), function) in &other.forests {
            let function = FunctionProfile { module: places[module], ..function.clone() };
            let key = function.key;
            sum.contexts.add_forest(ours[id.index()], function).map_err(|error| match error {
                ForestError::Sum(error) => ContextMergeError::Sum(error),
                ForestError::Other => ContextMergeError::Counters { key },
            })?;
        }
        *self = sum.finish()?;
        Ok(())
    }

    /// Multiplies all counts. `self` is of no use after an error.
    pub(in crate::format) fn scale(&mut self, by: u64) -> Result<(), ContextMergeError> {
        let times = |count: &mut u64| {
            *count = count.checked_mul(by).ok_or(ContextOverflow)?;
            Ok::<_, ContextOverflow>(())
        };
        [&mut self.activations, &mut self.elsewhere, &mut self.floor]
            .into_iter()
            .chain(self.elsewhere_of.values_mut())
            .try_for_each(times)?;
        self.time = self.time.map(|time| time.saturating_mul(by));
        self.nodes.iter_mut().try_for_each(|node| {
            node.time = node.time.saturating_mul(by);
            times(&mut node.count)?;
            times(&mut node.error)
        })?;
        for function in self.forests.values_mut() {
            function.scale(by).map_err(ContextMergeError::Sum)?;
        }
        Ok(self.check_total()?)
    }

    /// Writes them as one tree; `places` has the place of each module among those written.
    pub(in crate::format) fn encode<S: Sink>(
        &self,
        encoder: &mut Encoder<S>,
        places: &[u32],
    ) -> Result<(), S::Error> {
        encoder.contexts(&self.header())?;
        let placed = |function: CalledFunction| {
            let module = places[function.module] as usize;
            CalledFunction { module, ..function }
        };
        // The numbers of functions that were written
        let (mut numbers, mut next) = (vec![None; self.functions.len()], 0);
        let mut numbered = |id: CalledId| match numbers[id.index()] {
            Some(number) => ContextFunction::Known(number),
            None => {
                numbers[id.index()] = Some(next);
                next += 1;
                let CalledFunction { module, key, slots } = placed(self.functions[id.index()]);
                ContextFunction::New { module: module as u32, key, slots }
            }
        };
        // The depth of the node before
        let mut before = 0;
        let mut order: Vec<ContextId> = Vec::with_capacity(self.len());
        for (id, depth) in self.preorder_by(|parent| self.sorted_children(parent, placed)) {
            let Node { count, error, time, site, function, .. } = *self.node(id);
            let counts = ContextCounts { site, count, error, time };
            encoder.context(before - depth, numbered(function), &counts)?;
            before = depth + 1;
            order.push(id);
        }
        encoder.end_contexts()?;
        if !self.elsewhere_of.is_empty() {
            let mut elsewhere: Vec<_> = self.elsewhere_of.iter().collect();
            elsewhere.sort_unstable_by_key(|(id, _)| placed(self.functions[id.index()]));
            for (&function, &count) in elsewhere {
                encoder.context_elsewhere(numbered(function), count)?;
            }
            encoder.end_contexts_elsewhere()?;
        }
        if !self.has_forests() {
            return Ok(());
        }
        for (&id, context) in order.iter().zip(0..) {
            let mut functions: Vec<&FunctionProfile> = self.forests(id).collect();
            functions.sort_by_key(|function| (places[function.module], function.key));
            for function in functions {
                encoder.context_windows(context, &function.header(places[function.module]))?;
                encode_windows(encoder, function)?;
            }
        }
        encoder.end_context_windows()
    }

    fn header(&self) -> ContextsHeader {
        let Contexts { mode, floor, bursts, time, .. } = *self;
        let known: u64 = self.elsewhere_of.values().sum();
        ContextsHeader {
            mode,
            activations: self.activations - known,
            elsewhere: self.elsewhere - known,
            floor,
            bursts,
            time,
            has_elsewhere: !self.elsewhere_of.is_empty(),
            has_forests: self.has_forests(),
        }
    }

    /// The sum of all counts fits: so all sums of counts do.
    fn check_total(&self) -> Result<(), ContextOverflow> {
        u64::try_from(self.total()).map(|_| ()).map_err(|_| ContextOverflow)
    }

    fn sorted_children(
        &self,
        parent: Option<ContextId>,
        key: impl Fn(CalledFunction) -> CalledFunction,
    ) -> Vec<ContextId> {
        let first = parent.map_or(self.first_root, |id| self.node(id).first_child);
        let siblings = core::iter::successors(some(first), |&id| some(self.node(id).next_sibling));
        let mut ids: Vec<ContextId> = siblings.collect();
        ids.sort_unstable_by_key(|&id| (self.site(id), key(self.function(id))));
        ids
    }

    fn node(&self, id: ContextId) -> &Node {
        &self.nodes[id.index()]
    }
}

fn some(index: u32) -> Option<ContextId> {
    (index != NONE).then_some(ContextId(index))
}

/// Contexts are equal if they count the same calls equally often, in whatever order they were put
/// together.
impl PartialEq for Contexts {
    fn eq(&self, other: &Self) -> bool {
        let flat = |contexts: &Contexts, id| {
            let counts = (contexts.count(id), contexts.error(id), contexts.time(id));
            (contexts.site(id), contexts.function(id), counts)
        };
        let elsewhere = |contexts: &Contexts| {
            let named = |(id, count): (CalledId, _)| (contexts.functions[id.index()], count);
            contexts.elsewhere_of().map(named).collect::<BTreeMap<_, _>>()
        };
        self.header() == other.header()
            && elsewhere(self) == elsewhere(other)
            && self.len() == other.len()
            && self.preorder().zip(other.preorder()).all(|((a, depth_a), (b, depth_b))| {
                depth_a == depth_b
                    && flat(self, a) == flat(other, b)
                    && self.forests(a).eq(other.forests(b))
            })
    }
}

impl Eq for Contexts {}

/// Calling contexts of two runs do not add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::format) enum ContextMergeError {
    /// Counts do not fit.
    Overflow,
    /// A function has another number of slots.
    Slots {
        /// Its key
        key: u64,
    },
    /// Counts of paths do not fit.
    Sum(SumOverflow),
    /// They have counted the paths of a function in different ways.
    Counters {
        /// Its key
        key: u64,
    },
}

/// What was counted of paths in a context does not add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ForestError {
    /// Counts do not fit.
    #[error(transparent)]
    Sum(#[from] SumOverflow),
    /// It was counted in different ways.
    #[error("the paths of a function were counted in different ways")]
    Other,
}

impl ForestError {
    /// The same of a file, where it stands at `at`.
    pub(in crate::format) fn of(self, at: usize) -> ReadError {
        match self {
            ForestError::Sum(error) => error.into(),
            ForestError::Other => other_k(at).into(),
        }
    }
}

impl From<ContextOverflow> for ContextMergeError {
    fn from(ContextOverflow: ContextOverflow) -> Self {
        ContextMergeError::Overflow
    }
}

/// Trees that are being added up.
pub(in crate::format) struct Sum {
    pub contexts: Contexts,
    /// For each node the sum of the floors of the trees that have it, and the number of the last
    /// one
    floors: Vec<(u64, u32)>,
    /// The floor and the number of the tree that is being added
    floor: u64,
    number: u32,
}

impl Sum {
    /// Of no tree as yet.
    pub fn new(mode: ContextMode) -> Self {
        Sum::of(Contexts::new(mode))
    }

    /// Of these alone.
    fn of(contexts: Contexts) -> Self {
        let floors = vec![(contexts.floor, 0); contexts.len()];
        Sum { contexts, floors, floor: 0, number: 0 }
    }

    /// Begins another tree.
    pub fn begin(&mut self, header: &ContextsHeader) -> Result<(), ContextOverflow> {
        let add = |sum: &mut u64, more: u64| {
            *sum = sum.checked_add(more).ok_or(ContextOverflow)?;
            Ok(())
        };
        add(&mut self.contexts.activations, header.activations)?;
        add(&mut self.contexts.elsewhere, header.elsewhere)?;
        add(&mut self.contexts.floor, header.floor)?;
        self.contexts.mode = coarser(self.contexts.mode, header.mode);
        self.contexts.bursts = rarer(self.contexts.bursts, header.bursts);
        self.contexts.time = time_of(self.contexts.time, header.time);
        self.floor = header.floor;
        // A section has fewer than 2^32 items.
        self.number = self.number.wrapping_add(1);
        Ok(())
    }

    /// Adds the counts of a node of the tree begun last. Whether it is the first time that the tree
    /// has this node.
    pub fn add(&mut self, id: ContextId, counts: &ContextCounts) -> Result<bool, ContextOverflow> {
        self.contexts.add(id, counts.count, counts.error)?;
        self.contexts.add_time(id, counts.time);
        if self.floors.len() <= id.index() {
            self.floors.resize(id.index() + 1, (0, 0));
        }
        let (floors, last) = &mut self.floors[id.index()];
        let is_new = core::mem::replace(last, self.number) != self.number;
        if is_new {
            // No more than the sum of all floors, which fits.
            *floors += self.floor;
        }
        Ok(is_new)
    }

    /// The sum: to each node is added what it may have had in the trees that have it not.
    pub fn finish(mut self) -> Result<Contexts, ContextOverflow> {
        for (id, (floors, _)) in self.contexts.ids().zip(&self.floors) {
            let more = self.contexts.floor - floors;
            self.contexts.add(id, more, more)?;
        }
        self.contexts.check_total()?;
        Ok(self.contexts)
    }
}
