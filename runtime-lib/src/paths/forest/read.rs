//! What a profile has of a forest: its totals, and its nodes in preorder.

use super::ThreadForest;
use super::stack::Stack;
use crate::paths::baseline::{Baselines, Counter};
use crate::paths::counter;
use crate::paths::node;
use crate::paths::published::Slabs;
use core::mem::offset_of;
use midflight_abi::{Mode, Totals};

/// Labels of the counters of a forest that are not of paths: their numbers in [`Totals`].
const TOTALS: [u32; 4] = [0, 1, 2, 3];

/// That of [`Totals::pruned`].
pub(super) const PRUNED: u32 = (offset_of!(Totals, pruned) / size_of::<u64>()) as u32;

/// One step of a walk in preorder.
pub struct Visit {
    pub label: u32,
    pub count: u64,
    /// How many children of it follow.
    pub children: u32,
}

impl ThreadForest {
    /// Whether anything was counted; also marks, for [`Self::walk`], the children with a count in
    /// or below them. Marking first makes the walk's numbers of children right even if the thread
    /// goes on counting.
    ///
    /// # Safety
    /// The caller holds the process lock and the context's.
    pub unsafe fn mark(this: *mut Self) -> bool {
        // SAFETY: the caller's.
        unsafe {
            let begun = Self::totals(this) != Totals::default();
            let counted = match (*this).shared.mode {
                Mode::Automaton => Self::mark_nodes(this),
                Mode::Counting => Self::mark_paths(this),
                Mode::Published => Slabs::mark(Self::slabs(this), |counter, count| {
                    Self::baselines(this).told(counter, count)
                }),
            };
            begun || counted
        }
    }

    /// What the profile has of the counters that are not of paths.
    ///
    /// # Safety
    /// As for [`Self::mark`].
    pub unsafe fn totals(this: *mut Self) -> Totals {
        // SAFETY: the caller's.
        Totals::new(TOTALS.map(|label| unsafe {
            let count = counter::read(Self::total_place(this, label));
            Self::baselines(this).told(Self::total_counter(this, label), count)
        }))
    }

    unsafe fn total_place(this: *mut Self, label: u32) -> *mut u64 {
        // SAFETY: the caller gives a forest, and a label of its totals, which are one behind the
        // other.
        unsafe { (&raw mut (*this).shared.forest.totals).cast::<u64>().add(label as usize) }
    }

    pub(super) fn total_counter(this: *mut Self, label: u32) -> Counter {
        Counter { owner: this as usize, label }
    }

    /// As [`Self::total_counter`], for a path in counting mode.
    fn path_baseline(this: *mut Self, path: u32) -> Counter {
        // Any address within the forest is its own; the first stands for the totals.
        Counter { owner: this as usize + 1, label: path }
    }

    /// What the profile has of a path in counting mode.
    unsafe fn told_of_path(this: *mut Self, path: u32) -> u64 {
        // SAFETY: the caller gives a path below the number of paths.
        unsafe {
            let count = counter::read(Self::path_counter(this, path));
            let told = Self::baselines(this).told(Self::path_baseline(this, path), count);
            // Emitted code counts a path before it ends, and may undo that after a reset.
            if told > i64::MAX as u64 { 0 } else { told }
        }
    }

    pub(super) unsafe fn baselines<'a>(this: *mut Self) -> &'a Baselines {
        // SAFETY: the caller holds the lock of the forest's context.
        unsafe { &(*(*Self::context(this)).data.get()).baselines }
    }

    /// Calls `visit` with every counter and what it stands at.
    unsafe fn for_each_counter(this: *mut Self, mut visit: impl FnMut(Counter, u64)) {
        // SAFETY: the caller's.
        unsafe {
            for label in TOTALS {
                let count = counter::read(Self::total_place(this, label));
                visit(Self::total_counter(this, label), count);
            }
            match (*this).shared.mode {
                Mode::Automaton => {
                    Self::for_each_child(this, |counter, child| visit(counter, child.count()));
                }
                Mode::Counting => (0..(*this).shared.num_paths).for_each(|path| {
                    let count = counter::read(Self::path_counter(this, path));
                    visit(Self::path_baseline(this, path), count);
                }),
                Mode::Published => Slabs::for_each_counter(Self::slabs(this), |name, place| {
                    visit(name, counter::read(place));
                }),
            }
        }
    }

    /// Prepares for pausing or resuming: the next X of each counter becomes what it stands at less
    /// X. False: there is no memory.
    ///
    /// # Safety
    /// As for [`Self::mark`].
    pub unsafe fn prepare_turn(this: *mut Self) -> bool {
        // SAFETY: the caller's.
        unsafe {
            let data = (*Self::context(this)).data.get();
            let (baselines, arena) = (&mut (*data).baselines, &mut (*data).arena);
            let mut counted = 0;
            Self::for_each_counter(this, |_, count| counted += usize::from(count != 0));
            // More than were counted may be by the time that they are looked at again.
            if !baselines.reserve(arena, counted + counted / 8 + TOTALS.len()) {
                return false;
            }
            Self::for_each_counter(this, |counter, count| {
                let number = baselines.number(counter);
                if count | number != 0 && baselines.reserve(arena, 1) {
                    baselines.set_next(counter, count.wrapping_sub(number));
                }
            });
            true
        }
    }

    unsafe fn mark_paths(this: *mut Self) -> bool {
        let mut any = false;
        // SAFETY: the caller's; each path is below the number of paths.
        unsafe {
            for path in 0..(*this).shared.num_paths {
                let counted = Self::told_of_path(this, path) != 0;
                let (word, bit) = Self::path_mark(this, path);
                *word = if counted { *word | bit } else { *word & !bit };
                any |= counted;
            }
        }
        any
    }

    /// The word and the bit that mark a path, after the counters.
    unsafe fn path_mark(this: *mut Self, path: u32) -> (*mut u64, u64) {
        // SAFETY: in counting mode the words of marks are behind the counters.
        unsafe {
            let marks = Self::path_counter(this, (*this).shared.num_paths);
            (marks.add(path as usize / 64), 1 << (path % 64))
        }
    }

    unsafe fn is_marked(this: *mut Self, path: u32) -> bool {
        // SAFETY: the caller gives a path below the number of paths; only holders of the locks use
        // the word.
        unsafe {
            let (word, bit) = Self::path_mark(this, path);
            *word & bit != 0
        }
    }

    unsafe fn path_counter(this: *mut Self, path: u32) -> *mut u64 {
        // SAFETY: in counting mode that many counters follow.
        unsafe { this.add(1).cast::<u64>().add(path as usize) }
    }

    unsafe fn mark_nodes(this: *mut Self) -> bool {
        let mut stack = Stack::new(this);
        // SAFETY: the caller holds the locks; a child was just found, and a frame's node is one of
        // the forest.
        unsafe {
            loop {
                if let Some(child) = stack.next_child() {
                    let counted = stack.told(this, child) != 0;
                    if stack.descend(child) {
                        (*node::node_of(child.next())).is_marked = counted;
                    } else if counted {
                        stack.count_child();
                    }
                    continue;
                }
                let Some(done) = stack.pop() else { return false };
                (*done.node).marked = done.number;
                (*done.node).is_marked |= done.number != 0;
                if stack.depth == 0 {
                    return done.number != 0;
                }
                if (*done.node).is_marked {
                    stack.count_child();
                }
            }
        }
    }

    /// Number of marked roots.
    ///
    /// # Safety
    /// As for [`Self::mark`], which was called under the same locks.
    pub unsafe fn roots(this: *mut Self) -> u32 {
        // SAFETY: the caller's.
        unsafe {
            match (*this).shared.mode {
                Mode::Automaton => (*(*this).shared.start).marked,
                Mode::Counting => (0..(*this).shared.num_paths)
                    .filter(|&path| Self::is_marked(this, path))
                    .count() as u32,
                Mode::Published => Slabs::roots(Self::slabs(this)),
            }
        }
    }

    /// Visits all marked children in preorder.
    ///
    /// # Safety
    /// As for [`Self::roots`].
    pub unsafe fn walk<E>(
        this: *mut Self,
        mut visit: impl FnMut(Visit) -> Result<(), E>,
    ) -> Result<(), E> {
        // SAFETY: the caller's.
        unsafe {
            match (*this).shared.mode {
                Mode::Automaton => {}
                Mode::Counting => return Self::walk_paths(this, visit),
                Mode::Published => {
                    let told = |counter, count| Self::baselines(this).told(counter, count);
                    return Slabs::walk(Self::slabs(this), told, visit);
                }
            }
            let mut stack = Stack::new(this);
            stack.visit_marked();
            while let Some(child) = stack.next() {
                let (label, count) = (child.label, stack.told(this, child));
                let has_node = node::has_node(stack.level(), (*this).shared.k);
                let node = node::node_of(child.next());
                // A child at full depth that was not counted when its parent was marked may be now.
                let is_marked = if has_node { (*node).is_marked } else { count != 0 };
                if !is_marked || !stack.take_child() {
                    continue;
                }
                let children = if has_node { (*node).marked } else { 0 };
                visit(Visit { label, count, children })?;
                if stack.descend(child) {
                    stack.visit_marked();
                }
            }
            Ok(())
        }
    }

    unsafe fn walk_paths<E>(
        this: *mut Self,
        mut visit: impl FnMut(Visit) -> Result<(), E>,
    ) -> Result<(), E> {
        // SAFETY: the caller's; each path is below the number of paths.
        unsafe {
            for path in (0..(*this).shared.num_paths).filter(|&path| Self::is_marked(this, path)) {
                let count = Self::told_of_path(this, path);
                visit(Visit { label: path, count, children: 0 })?;
            }
        }
        Ok(())
    }

    /// Sets all counters to zero. States and tables stay, so activations can go on.
    ///
    /// # Safety
    /// As for [`Self::mark`].
    pub unsafe fn clear(this: *mut Self) {
        // SAFETY: the caller's.
        unsafe {
            TOTALS.iter().for_each(|&label| counter::clear(Self::total_place(this, label)));
            match (*this).shared.mode {
                Mode::Automaton => Self::for_each_child(this, |_, child| child.clear()),
                Mode::Counting => (0..(*this).shared.num_paths)
                    .for_each(|path| counter::clear(Self::path_counter(this, path))),
                Mode::Published => {
                    Slabs::for_each_counter(Self::slabs(this), |_, place| counter::clear(place));
                }
            }
        }
    }
}
