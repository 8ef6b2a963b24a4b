//! What pruning leaves of a forest, built anew in fresh memory.

use super::read::PRUNED;
use super::stack::{MAX_LEVELS, Stack};
use super::{ThreadForest, count_child};
use crate::arena::{Arena, Purpose};
use crate::file::live;
use crate::paths::baseline::{self, Counter};
use crate::paths::counter;
use crate::paths::node::{self, Builder, Child, Node, Word};
use crate::paths::prune::Histogram;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

impl ThreadForest {
    /// Notes at each node the largest count below it, and adds the slots up by the largest count in
    /// or below each.
    ///
    /// # Safety
    /// The caller holds the lock of the forest's context, and it is not in counting mode.
    pub unsafe fn weigh(this: *mut Self, histogram: &mut Histogram) {
        let mut stack = Stack::new(this);
        let mut note = |heat: u32| {
            if let Some(slots) =
                histogram.get_mut(heat.checked_ilog2().map_or(0, |l| l as usize + 1))
            {
                *slots += 1;
            }
        };
        // SAFETY: the caller's; a child was just found, and a frame's node is one of the forest.
        unsafe {
            loop {
                if let Some(child) = stack.next_child() {
                    let count = saturated(child.count());
                    stack.heat(count);
                    if stack.descend(child) {
                        stack.heat(count);
                    } else {
                        note(count);
                    }
                    continue;
                }
                let Some(done) = stack.pop() else { return };
                (*done.node).marked = done.number;
                if stack.depth == 0 {
                    return;
                }
                note(done.number);
                stack.heat(done.number);
            }
        }
    }

    /// Builds the forest anew without what was counted less often than `threshold`, after
    /// [`Self::weigh`]. If there is no memory, it stays as it is.
    ///
    /// The old nodes count until the new ones are complete.
    ///
    /// # Safety
    /// As for [`Self::weigh`]; signals are blocked.
    pub unsafe fn rebuild(this: *mut Self, fresh: &mut Arena, threshold: u32) {
        // SAFETY: the caller's; the old nodes stay valid.
        unsafe {
            let old = (*this).shared.start;
            let mut word: Word = 0;
            let mut builder =
                Builder { start_word: &raw mut word, ..Self::builder(this, fresh, Purpose::Root) };
            if builder.new_start().is_err() {
                return;
            }
            Self::copy(this, &mut builder, threshold);
            let start = builder.start;
            live::change(|| {
                AtomicPtr::from_ptr(&raw mut (*this).shared.start).store(start, Ordering::Release);
                let state = AtomicU64::from_ptr(&raw mut (*this).shared.forest.start);
                state.store(word, Ordering::Release);
            });
            Self::leave(this, old);
        }
    }

    /// Copies to the builder's forest what was counted as often as `threshold`, and the rest to its
    /// roots.
    unsafe fn copy(this: *mut Self, builder: &mut Builder<'_>, threshold: u32) {
        let mut stack = Stack::new(this);
        let mut parents = [null_mut::<Node>(); MAX_LEVELS];
        // SAFETY: the caller's.
        unsafe {
            let data = (*Self::context(this)).data.get();
            let (baselines, arena) = (&mut (*data).baselines, &mut (*data).arena);
            let start = builder.start;
            parents[0] = start;
            while let Some(child) = stack.next() {
                let label = child.label;
                let (level, count) = (stack.level() as usize, child.count());
                let parent = parents.get(level).copied().unwrap_or(null_mut());
                let is_hot = parent == start
                    || !parent.is_null() && Self::heat(&stack, child, count) >= threshold;
                builder.purpose = Purpose::Growth;
                let kept = if is_hot { count_child(builder, parent, label, count) } else { None };
                if kept.is_none() && count != 0 {
                    builder.purpose = Purpose::Root;
                    let root = count_child(builder, start, label, count);
                    let totals = &raw mut (*this).shared.forest.totals;
                    if root.is_none() {
                        counter::add(&raw mut (*totals).lost, count);
                    } else if parent != start {
                        counter::add(&raw mut (*totals).pruned, count);
                    }
                }
                let number = baselines.number(stack.counter(label));
                if number != 0 {
                    let now = if kept.is_some() { parent } else { start };
                    baselines.add(arena, Counter { owner: now as usize, label }, number);
                    if now != parent && baseline::is_paused() {
                        baselines.add(arena, Self::total_counter(this, PRUNED), number);
                    }
                }
                if stack.descend(child)
                    && let Some(place) = parents.get_mut(level + 1)
                {
                    *place = kept.map_or(null_mut(), |word| node::node_of(word));
                }
            }
        }
    }

    /// Leaves all nodes behind from `start` on, which is the forest's no more.
    unsafe fn leave(this: *mut Self, start: *mut Node) {
        // SAFETY: the caller's.
        unsafe {
            let baselines = &mut (*(*Self::context(this)).data.get()).baselines;
            let mut stack = Stack::at(start, (*this).shared.k);
            loop {
                let Some(child) = stack.next_child() else {
                    let Some(done) = stack.pop() else { return };
                    node::leave(done.node);
                    continue;
                };
                baselines.forget(stack.counter(child.label));
                stack.descend(child);
            }
        }
    }

    /// The largest count in or below a child.
    unsafe fn heat(stack: &Stack, child: Child, count: u64) -> u32 {
        let below = match node::has_node(stack.level(), stack.k) {
            // SAFETY: a child above full depth leads to its own node.
            true => unsafe { (*node::node_of(child.next())).marked },
            false => 0,
        };
        below.max(saturated(count))
    }
}

fn saturated(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}
