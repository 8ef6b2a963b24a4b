//! Trees of calling contexts, added up in memory of fixed size, to one.
//!
//! As [`Contexts`](crate::format::Contexts) does: to what a tree has not, its floor is added. But
//! what was counted of paths in contexts is left out.

use super::{AddError, Place};
use crate::checksum::mix64;
use crate::cursor::{Cursor, Malformed};
use crate::format::contexts::{
    ContextCounts, ContextFunction, ContextsHeader, coarser, rarer, time_of, walk, walk_elsewhere,
    walk_forests,
};
use crate::format::encoder::{Encoder, Sink};
use crate::format::error::ReadError;
use crate::format::header::ForestHeader;
use crate::format::windows;

/// Bytes that a context takes at least: its level, its function, its site and its count.
pub(super) const LEAST_CONTEXT: usize = 4;

/// Bytes that a new function takes at least: its number, its module, its key and its slots, behind
/// how many of its activations have no context.
pub(super) const LEAST_FUNCTION: usize = 12;

/// A context of the sum. Zeroes are a valid value.
#[derive(Clone, Copy, Debug, Default)]
pub struct SumContext {
    count: u64,
    error: u64,
    time: u64,
    /// Of the trees that have it
    floors: u64,
    function: u32,
    site: u32,
    parent: u32,
    /// 0: none, since the first context is nobody's child
    first_child: u32,
    next_sibling: u32,
    /// The last tree that has it
    tree: u32,
}

/// A function of the sum. Zeroes are a valid value.
#[derive(Clone, Copy, Debug, Default)]
pub struct SumFunction {
    module: u32,
    key: u64,
    slots: u32,
    /// Its activations that could not be given a context
    elsewhere: u64,
    /// The last tree that has it
    tree: u32,
    /// One more than its number in the sum, once it was written
    written: u32,
    /// The place of the function that has the number of this place in the tree at hand
    of_tree: u32,
}

impl SumFunction {
    /// What names it in the sum, of which so many functions were written.
    fn name(&mut self, written: &mut u32) -> ContextFunction {
        if let Some(number) = self.written.checked_sub(1) {
            return ContextFunction::Known(number);
        }
        *written += 1;
        self.written = *written;
        let SumFunction { module, key, slots, .. } = *self;
        ContextFunction::New { module, key, slots }
    }
}

/// The functions of the tree at hand.
#[derive(Default)]
struct State {
    /// How many there are
    functions: u32,
    /// Whether two of them are one
    has_twins: bool,
}

/// The sum.
pub(super) struct Tree<'a> {
    header: ContextsHeader,
    /// How many trees it has
    trees: u32,
    /// The first is above all roots
    contexts: &'a mut [SumContext],
    used: usize,
    functions: &'a mut [SumFunction],
    known: usize,
    /// Hash tables that find contexts and functions
    context_slots: &'a mut [u32],
    function_slots: &'a mut [u32],
}

/// Slots of a hash table that finds so many.
pub(super) fn slots_for(number: usize) -> usize {
    number.saturating_mul(2).checked_next_power_of_two().unwrap_or(usize::MAX)
}

impl<'a> Tree<'a> {
    /// No tree yet. `None` if there is too little room.
    pub fn new(
        contexts: &'a mut [SumContext],
        functions: &'a mut [SumFunction],
        slots: &'a mut [u32],
    ) -> Option<Self> {
        let (context_slots, rest) = slots.split_at_mut_checked(slots_for(contexts.len()))?;
        let function_slots = rest.get_mut(..slots_for(functions.len()))?;
        context_slots.fill(0);
        function_slots.fill(0);
        *contexts.first_mut()? = SumContext::default();
        Some(Tree {
            header: ContextsHeader::default(),
            trees: 0,
            contexts,
            used: 1,
            functions,
            known: 0,
            context_slots,
            function_slots,
        })
    }

    /// Adds a tree, of whose file the modules have these places in the sum.
    pub fn add<E>(
        &mut self,
        cursor: &mut Cursor<'_>,
        modules: &[Place],
    ) -> Result<(), AddError<E>> {
        let header = ContextsHeader::read(cursor).map_err(ReadError::from)?;
        self.begin(&header);
        // The context before, and the functions that the tree has
        let (mut at, mut state) = (0, State::default());
        let (mut contexts, number) = (0, modules.len() as u32);
        let functions = walk(cursor, &header, number, |node| {
            let parent = self.above(at, node.up).ok_or(AddError::Room)?;
            let function = self.placed(&mut state, node.at, node.function, modules)?;
            if parent != 0 && !self.has_site(parent, node.counts.site) {
                let (what, problem) = ("a context's call site", "is not in the function above");
                return Err(malformed(node.at, what, problem));
            }
            at = self.child(parent, node.counts.site, function).ok_or(AddError::Room)?;
            let is_new = self.count(at, &node.counts, header.floor).ok_or(AddError::Room)?;
            if !is_new && !state.has_twins {
                return Err(malformed(node.at, "a context", "is there twice"));
            }
            contexts += 1;
            Ok(())
        })?;
        walk_elsewhere(cursor, &header, number, functions, |at, function, count| {
            let place = self.placed(&mut state, at, function, modules)?;
            let known = self.function_mut(place).ok_or(AddError::Room)?;
            known.elsewhere = known.elsewhere.saturating_add(count);
            self.header.has_elsewhere = true;
            Ok::<_, AddError<E>>(())
        })?;
        // The sum has none of them.
        let no_context = cursor.malformed("the context of a forest", "is not there");
        walk_forests(cursor, &header, |context, cursor| {
            if context >= contexts {
                return Err(AddError::Read(no_context.into()));
            }
            let header = ForestHeader::read(cursor, modules.len() as u32)?;
            windows::walk(cursor, &header, |_| Ok::<_, AddError<E>>(()))?;
            Ok(())
        })
    }

    /// The place of a function of the tree at hand, which stands at `at` in its file.
    fn placed<E>(
        &mut self,
        state: &mut State,
        at: usize,
        function: ContextFunction,
        modules: &[Place],
    ) -> Result<u32, AddError<E>> {
        let (module, key, slots) = match function {
            ContextFunction::Known(number) => {
                return Ok(self.function(number).ok_or(AddError::Room)?.of_tree);
            }
            ContextFunction::New { module, key, slots } => (module, key, slots),
        };
        let module = modules.get(module as usize).ok_or(AddError::Room)?.place;
        let place = self.find_function(module, key, slots).ok_or(AddError::Room)?;
        let tree = self.trees;
        let known = self.function_mut(place).ok_or(AddError::Room)?;
        if known.slots != slots {
            let what = "the number of a function's call sites";
            return Err(malformed(at, what, "is another elsewhere"));
        }
        state.has_twins |= core::mem::replace(&mut known.tree, tree) == tree;
        self.function_mut(state.functions).ok_or(AddError::Room)?.of_tree = place;
        state.functions += 1;
        Ok(place)
    }

    fn begin(&mut self, header: &ContextsHeader) {
        let sum = &mut self.header;
        sum.mode = coarser(sum.mode, header.mode);
        sum.bursts = rarer(sum.bursts, header.bursts);
        sum.time = time_of(sum.time, header.time);
        sum.activations = sum.activations.saturating_add(header.activations);
        sum.elsewhere = sum.elsewhere.saturating_add(header.elsewhere);
        sum.floor = sum.floor.saturating_add(header.floor);
        self.trees = self.trees.saturating_add(1);
    }

    /// The context so many levels above another.
    fn above(&self, mut at: u32, up: u64) -> Option<u32> {
        for _ in 0..up {
            at = self.context(at)?.parent;
        }
        Some(at)
    }

    fn context(&self, place: u32) -> Option<&SumContext> {
        self.contexts.get(place as usize)
    }

    fn function(&self, place: u32) -> Option<&SumFunction> {
        self.functions.get(place as usize)
    }

    fn function_mut(&mut self, place: u32) -> Option<&mut SumFunction> {
        self.functions.get_mut(place as usize)
    }

    /// Whether the function of a context has so many call sites.
    fn has_site(&self, place: u32, site: u32) -> bool {
        let function = self.context(place).and_then(|context| self.function(context.function));
        function.is_some_and(|function| site < function.slots)
    }

    /// The place of a function, with so many slots if it was not there.
    fn find_function(&mut self, module: u32, key: u64, slots: u32) -> Option<u32> {
        let mut hash = mix64(key ^ u64::from(module)) as usize;
        loop {
            let slot =
                self.function_slots.get_mut(hash & self.function_slots.len().wrapping_sub(1))?;
            let Some(place) = slot.checked_sub(1) else {
                let place = u32::try_from(self.known).ok()?;
                *slot = place.checked_add(1)?;
                let new = self.functions.get_mut(self.known)?;
                // What is of the tree at hand is of another function.
                *new =
                    SumFunction { module, key, slots, of_tree: new.of_tree, ..Default::default() };
                self.known += 1;
                return Some(place);
            };
            let known = self.functions.get(place as usize)?;
            if (known.module, known.key) == (module, key) {
                return Some(place);
            }
            hash = hash.wrapping_add(1);
        }
    }

    /// The context of a call, made if it is not there.
    fn child(&mut self, parent: u32, site: u32, function: u32) -> Option<u32> {
        let call = u64::from(site) << 32 | u64::from(function);
        let mut hash = mix64(mix64(call) ^ u64::from(parent)) as usize;
        loop {
            let slot =
                self.context_slots.get_mut(hash & self.context_slots.len().wrapping_sub(1))?;
            if *slot == 0 {
                let place = u32::try_from(self.used).ok()?;
                *slot = place;
                let above = self.contexts.get_mut(parent as usize)?;
                let next_sibling = core::mem::replace(&mut above.first_child, place);
                *self.contexts.get_mut(self.used)? =
                    SumContext { function, site, parent, next_sibling, ..Default::default() };
                self.used += 1;
                return Some(place);
            }
            let known = self.contexts.get(*slot as usize)?;
            if (known.parent, known.site, known.function) == (parent, site, function) {
                return Some(*slot);
            }
            hash = hash.wrapping_add(1);
        }
    }

    /// Adds the counts of a context of the tree at hand. Whether the tree had not had it before.
    fn count(&mut self, place: u32, counts: &ContextCounts, floor: u64) -> Option<bool> {
        let context = self.contexts.get_mut(place as usize)?;
        context.count = context.count.saturating_add(counts.count);
        context.error = context.error.saturating_add(counts.error);
        context.time = context.time.saturating_add(counts.time);
        let is_new = core::mem::replace(&mut context.tree, self.trees) != self.trees;
        if is_new {
            context.floors = context.floors.saturating_add(floor);
        }
        Some(is_new)
    }

    /// Writes the sum, if there was a tree.
    pub fn write<S: Sink>(mut self, encoder: &mut Encoder<S>) -> Result<(), AddError<S::Error>> {
        if self.trees == 0 {
            return Ok(());
        }
        encoder.contexts(&self.header).map_err(AddError::Sink)?;
        let (mut written, mut at, mut up) = (0, 0, 0);
        while let Some(next) = self.next(at, &mut up) {
            at = next;
            let context = *self.context(at).ok_or(AddError::Room)?;
            let function = self.function_mut(context.function).ok_or(AddError::Room)?;
            let name = function.name(&mut written);
            let more = self.header.floor.saturating_sub(context.floors);
            let counts = ContextCounts {
                site: context.site,
                count: context.count.saturating_add(more),
                error: context.error.saturating_add(more),
                time: context.time,
            };
            encoder.context(up, name, &counts).map_err(AddError::Sink)?;
        }
        encoder.end_contexts().map_err(AddError::Sink)?;
        if !self.header.has_elsewhere {
            return Ok(());
        }
        let known = self.functions.get_mut(..self.known).ok_or(AddError::Room)?;
        for function in known.iter_mut().filter(|function| function.elsewhere != 0) {
            let (name, count) = (function.name(&mut written), function.elsewhere);
            encoder.context_elsewhere(name, count).map_err(AddError::Sink)?;
        }
        encoder.end_contexts_elsewhere().map_err(AddError::Sink)
    }

    /// The context behind another in preorder, and how many levels above that its parent is.
    fn next(&self, at: u32, up: &mut u32) -> Option<u32> {
        *up = 0;
        let mut last = self.context(at)?;
        if last.first_child != 0 {
            return Some(last.first_child);
        }
        loop {
            *up = up.saturating_add(1);
            if last.next_sibling != 0 {
                return Some(last.next_sibling);
            }
            // Above all roots there is nothing.
            if last.parent == 0 {
                return None;
            }
            last = self.context(last.parent)?;
        }
    }
}

fn malformed<E>(at: usize, what: &'static str, problem: &'static str) -> AddError<E> {
    AddError::Read(Malformed { what, at, problem }.into())
}
