//! What a profile has of a forest: its totals, and its counters.

use super::ThreadForest;
use crate::paths::baseline::{Baselines, Counter};
use crate::paths::counter;
use crate::paths::published::Slabs;
use crate::paths::table::{Entry, Node, Table};
use crate::paths::window::Window;
use midflight_abi::memory::{self, WindowKind};
use midflight_abi::{Mode, Totals};
use midflight_profile::format::{Encoder, ForestHeader, Sink};

/// Labels of the counters of a forest that are not of paths: their numbers in [`Totals`].
const TOTALS: [u32; Totals::LEN] = [0, 1, 2];

/// One step of a walk over a k-SF in preorder.
pub struct Visit {
    pub label: u32,
    pub count: u64,
    /// How many children of it follow.
    pub children: u32,
}

impl ThreadForest {
    /// Whether anything was counted; also marks, for [`Self::encode`], what is counted in arrays
    /// and in k-SFs. Marking first makes the numbers of children right even if the thread goes on
    /// counting.
    ///
    /// # Safety
    /// The caller holds the process lock and the context's.
    pub unsafe fn mark(this: *mut Self) -> bool {
        // SAFETY: the caller's.
        unsafe {
            let begun = Self::totals(this) != Totals::default();
            let counted = match (*this).shared.mode {
                Mode::Automaton => {
                    let mut any = false;
                    Self::for_each_entry(this, |entry| any |= Self::told(this, entry) != 0);
                    any
                }
                Mode::Counting => Self::mark_paths(this),
                Mode::Published => Slabs::mark(Self::slabs(this), |counter, count| {
                    Self::baselines(this).told(counter, count)
                }),
            };
            begun || counted
        }
    }

    /// What the profile has of a path in the table of a node.
    unsafe fn told(this: *mut Self, entry: Entry) -> u64 {
        // SAFETY: the caller holds the locks.
        unsafe { Self::baselines(this).told(counter_of(entry), entry.count()) }
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

    fn total_counter(this: *mut Self, label: u32) -> Counter {
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

    unsafe fn baselines<'a>(this: *mut Self) -> &'a Baselines {
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
                    Self::for_each_entry(this, |entry| visit(counter_of(entry), entry.count()));
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

    /// Writes what the profile has of the forest, for a function of the module with that place;
    /// its totals, and how many events were counted at truncated windows.
    ///
    /// # Errors
    /// Those of the sink.
    ///
    /// # Safety
    /// As for [`Self::mark`], which was called under the same locks.
    pub unsafe fn encode<S: Sink>(
        this: *mut Self,
        module: u32,
        encoder: &mut Encoder<S>,
    ) -> Result<Written, S::Error> {
        // SAFETY: the caller's.
        unsafe {
            let header = Self::header(this, module);
            let mut written = Written { totals: header.totals, truncated: 0 };
            match (*this).shared.mode {
                Mode::Automaton | Mode::Counting => {
                    encoder.windows(&header)?;
                    written.truncated = Self::encode_windows(this, encoder)?;
                }
                Mode::Published => {
                    let slabs = Self::slabs(this);
                    let told = |counter, count| Self::baselines(this).told(counter, count);
                    encoder.slabs(&header, Slabs::roots(slabs))?;
                    Slabs::walk(slabs, told, |Visit { label, count, children }| {
                        encoder.node(label, count, children)
                    })?;
                }
            }
            Ok(written)
        }
    }

    /// What precedes its counters in a profile.
    ///
    /// # Safety
    /// As for [`Self::mark`].
    pub unsafe fn header(this: *mut Self, module: u32) -> ForestHeader {
        // SAFETY: the caller's.
        unsafe {
            let memory::ThreadForest { key, k, .. } = (*this).shared;
            ForestHeader { module, key, k, totals: Self::totals(this) }
        }
    }

    /// Writes the windows of a forest that has them, behind its header; how many events were counted
    /// at truncated ones.
    ///
    /// # Errors
    /// Those of the sink.
    ///
    /// # Safety
    /// As for [`Self::encode`].
    pub unsafe fn encode_windows<S: Sink>(
        this: *mut Self,
        encoder: &mut Encoder<S>,
    ) -> Result<u64, S::Error> {
        let mut truncated = 0;
        // SAFETY: the caller's.
        unsafe {
            if (*this).shared.mode == Mode::Counting {
                Self::encode_paths(this, encoder)?;
                return Ok(0);
            }
            for node in Self::nodes(this) {
                let counted = Self::encode_group(this, node, encoder)?;
                if (*node).kind == WindowKind::Truncated {
                    truncated += counted;
                }
            }
        }
        encoder.end()?;
        Ok(truncated)
    }

    /// Writes the paths in the table of a node, if any was counted; how often all were.
    unsafe fn encode_group<S: Sink>(
        this: *mut Self,
        node: *mut Node,
        encoder: &mut Encoder<S>,
    ) -> Result<u64, S::Error> {
        let (mut sum, mut is_begun) = (0u64, false);
        // SAFETY: the caller holds the locks; indices are below the table's size.
        unsafe {
            let table = Table::of(node);
            for index in 0..table.size {
                let Some(label) = table.label(index) else { continue };
                let count = Self::told(this, Entry { node, slot: table.slot(index), label });
                if count == 0 {
                    continue;
                }
                if !is_begun {
                    let window = Window::of(node);
                    let is_anchored = window.kind == WindowKind::Anchored;
                    encoder.group(is_anchored, window.labels().iter().copied())?;
                    is_begun = true;
                }
                encoder.path(label, count)?;
                sum = sum.wrapping_add(count);
            }
        }
        if is_begun {
            encoder.end()?;
        }
        Ok(sum)
    }

    /// Writes the counters of a function in counting mode, whose windows have one path.
    unsafe fn encode_paths<S: Sink>(
        this: *mut Self,
        encoder: &mut Encoder<S>,
    ) -> Result<(), S::Error> {
        // SAFETY: the caller's; each path is below the number of paths.
        unsafe {
            encoder.group((*this).shared.k > 1, core::iter::empty())?;
            for path in (0..(*this).shared.num_paths).filter(|&path| Self::is_marked(this, path)) {
                encoder.path(path, Self::told_of_path(this, path))?;
            }
        }
        encoder.end()?;
        encoder.end()
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
                Mode::Automaton => Self::for_each_entry(this, |entry| entry.clear()),
                Mode::Counting => (0..(*this).shared.num_paths)
                    .for_each(|path| counter::clear(Self::path_counter(this, path))),
                Mode::Published => {
                    Slabs::for_each_counter(Self::slabs(this), |_, place| counter::clear(place));
                }
            }
        }
    }
}

/// What was written of a forest.
pub struct Written {
    pub totals: Totals,
    /// Events that were counted at truncated windows.
    pub truncated: u64,
}

/// What the counter of an entry is called in the baselines.
fn counter_of(entry: Entry) -> Counter {
    Counter { owner: entry.node as usize, label: entry.label }
}
