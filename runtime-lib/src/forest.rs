//! A thread's forest for a function, and the walks over it.

use crate::arena::{Arena, Purpose};
use crate::baseline::{self, Baselines, Counter};
use crate::context::Context;
use crate::counter;
use crate::live;
use crate::node::{self, Builder, Child, Children, Node, START_LEVEL, Word};
use crate::prune::Histogram;
use crate::published::Slabs;
use crate::step;
use core::mem::offset_of;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use midflight_abi::memory;
use midflight_abi::{FLAG_COUNTING, FLAG_PUBLISHED, Forest, MAX_K, RecordHeader, Slot};

/// Lookups in outgrown tables that are put up with in any forest.
const LEAST_STALE: u32 = 64;

/// Of so many detours one is taken to tell where there are many.
pub const DETOURS: u32 = 128;

/// Levels of the deepest forest: 2k−2.
const MAX_LEVELS: usize = 2 * MAX_K as usize - 2;

/// The counters of a [`Forest`] that are not of paths.
#[derive(Clone, Copy)]
pub enum Total {
    /// [`Forest::entries`]
    Entries,
    /// [`Forest::restarts`]
    Restarts,
    /// [`Forest::lost`]
    Lost,
    /// [`Forest::pruned`]
    Pruned,
}

impl Total {
    const ALL: [Self; 4] = [Self::Entries, Self::Restarts, Self::Lost, Self::Pruned];
}

/// A [`Forest`] with what the runtime knows about it besides. Emitted code sees the forest, and in
/// counting mode the counters behind it.
#[repr(transparent)]
pub struct ThreadForest {
    /// All of it, as others find it in a file.
    pub shared: memory::ThreadForest,
}

/// One step of a walk in preorder.
pub struct Visit {
    /// The child's label.
    pub label: u32,
    /// The child's counter.
    pub count: u64,
    /// How many children of it follow.
    pub children: u32,
}

/// A node on the way from the start to where a walk is.
#[derive(Clone, Copy)]
struct Frame {
    node: *mut Node,
    children: Children,
    /// Children left to visit, or found to be counted; in pruning the largest count.
    number: u32,
}

impl ThreadForest {
    /// The forest that emitted code's pointer is to.
    pub fn of(forest: *mut Forest) -> *mut Self {
        forest.wrapping_byte_sub(offset_of!(memory::ThreadForest, forest)).cast()
    }

    /// The context that it belongs to.
    ///
    /// # Safety
    /// `this` is a forest.
    pub unsafe fn context(this: *mut Self) -> *mut Context {
        // SAFETY: the caller's.
        unsafe { (*this).shared.context.cast() }
    }

    /// The next forest of the context, or null.
    ///
    /// # Safety
    /// `this` is a forest.
    pub unsafe fn next(this: *mut Self) -> *mut Self {
        // SAFETY: the caller's.
        unsafe { (*this).shared.next.cast() }
    }

    /// Makes an empty forest. `None`: there is no memory for it.
    ///
    /// # Safety
    /// `record` is a record of this ABI version with a valid k.
    pub unsafe fn create(
        arena: &mut Arena,
        nodes: &mut Arena,
        context: *mut Context,
        record: *const RecordHeader,
    ) -> Option<*mut Self> {
        // SAFETY: the caller's.
        let header = unsafe { &*record };
        let counting = header.flags & FLAG_COUNTING != 0;
        let published = !counting && header.flags & FLAG_PUBLISHED != 0;
        let words = match counting {
            true => header.num_paths as usize + mark_words(header.num_paths),
            false if published => size_of::<Slabs>() / size_of::<u64>(),
            false => 0,
        };
        let bytes = words.checked_mul(size_of::<u64>())?.checked_add(size_of::<Self>())?;
        let purpose = if counting { Purpose::Growth } else { Purpose::Root };
        let this = arena.allocate(bytes, purpose)?.as_ptr().cast::<Self>();
        // SAFETY: the arena has handed out zeroed memory of that size, in which all fields are
        // valid.
        unsafe {
            (*this).shared.context = context.cast();
            (*this).shared.record = record;
            (*this).shared.key = header.key;
            (*this).shared.k = header.k;
            (*this).shared.num_paths = header.num_paths;
            (*this).shared.counting = counting;
            (*this).shared.published = published;
            (*this).shared.forest.step = step::address();
            if published {
                Slabs::begin(&raw mut (*this).shared.forest, header.k);
            } else if !counting {
                Self::begin(this, nodes)?;
            }
        }
        Some(this)
    }

    /// Makes an automaton without nodes.
    unsafe fn begin(this: *mut Self, nodes: &mut Arena) -> Option<()> {
        // SAFETY: the caller's.
        unsafe {
            let mut builder = Self::builder(this, nodes, Purpose::Root);
            builder.new_start().ok()?;
            (*this).shared.start = builder.start;
            Some(())
        }
    }

    /// # Safety
    /// `this` is a forest whose context's lock the caller holds.
    unsafe fn builder(this: *mut Self, arena: &mut Arena, purpose: Purpose) -> Builder<'_> {
        // SAFETY: the caller's.
        unsafe {
            Builder {
                arena,
                start: (*this).shared.start,
                start_word: &raw mut (*this).shared.forest.start,
                k: (*this).shared.k,
                num_paths: (*this).shared.num_paths,
                purpose,
            }
        }
    }

    /// The k-SF, where Algorithm 4 is carried out as published.
    unsafe fn slabs(this: *mut Self) -> Option<*mut Slabs> {
        // SAFETY: the caller gives a forest.
        unsafe {
            let forest = &raw mut (*this).shared.forest;
            (*this).shared.published.then(|| Slabs::of(forest))
        }
    }

    /// The child that an event leads to which emitted code has not found, if it is there all the same.
    ///
    /// # Safety
    /// `table` is one that a state of the forest leads to or has led to.
    #[inline]
    pub unsafe fn look_up(table: *mut Slot, label: u32) -> Option<Child> {
        // SAFETY: the caller's.
        unsafe {
            let node = node::owner(table);
            if node::is_pruned(node) { None } else { Self::known(node, label) }
        }
    }

    /// The child of a node, if it is there and can be counted without the lock.
    #[inline]
    unsafe fn known(node: *mut Node, label: u32) -> Option<Child> {
        // SAFETY: the caller gives a node that is not pruned.
        unsafe { node::find(node, label).filter(|child| !child.has_overflowed()) }
    }

    /// The root that an event leads to whose place is not there, where no nodes are made for the time
    /// being; and whether an activation restarts with it.
    ///
    /// # Safety
    /// As for [`Self::look_up`].
    #[inline]
    pub unsafe fn look_up_root(
        this: *mut Self,
        table: *mut Slot,
        label: u32,
    ) -> Option<(Child, bool)> {
        // SAFETY: the caller's.
        unsafe {
            let root = Self::known((*this).shared.start, label)?;
            Some((root, (*node::owner(table)).level != START_LEVEL))
        }
    }

    /// Counts an event that no lookup has found, or that is one of many that took a detour: builds what is
    /// missing, and returns the state after it. None: there is no room.
    ///
    /// # Safety
    /// `this` is in a context whose lock the caller holds; one of its states leads or has led to `table`.
    pub unsafe fn build(
        this: *mut Self,
        arena: &mut Arena,
        table: *mut Slot,
        label: u32,
    ) -> Option<Word> {
        // SAFETY: the caller's.
        unsafe {
            let node = node::owner(table);
            if node::is_pruned(node) {
                return if (*node).level == START_LEVEL {
                    Self::count_child(this, arena, (*this).shared.start, label, 1, Purpose::Growth)
                } else {
                    None
                };
            }
            if node::table_of(node::word_of(node)) != table {
                Self::note_stale(this);
            } else {
                Self::builder(this, arena, Purpose::Spread).spread(node, label);
            }
            Self::count_child(this, arena, node, label, 1, Purpose::Growth)
        }
    }

    /// Counts an event as if the activation had begun with it, since there is no room for its
    /// history. Where there is none for its root either, the event is lost.
    ///
    /// # Safety
    /// As for [`Self::build`].
    pub unsafe fn restart(
        this: *mut Self,
        arena: &mut Arena,
        table: *mut Slot,
        label: u32,
    ) -> Word {
        // SAFETY: the caller's.
        unsafe {
            let start = (*this).shared.start;
            let mut builder = Self::builder(this, arena, Purpose::Root);
            if let Ok(child) = builder.child(start, label) {
                Self::note_restart(this, node::owner(table));
                if builder.add(child, 1).is_ok() {
                    return child.next();
                }
            }
            counter::increment(&raw mut (*this).shared.forest.lost);
            node::word_of(start)
        }
    }

    /// Notes that an event of an activation that was at `node` is about to be counted at its root. This
    /// comes first: a bound that is one too large for a moment is right, one too small is not.
    unsafe fn note_restart(this: *mut Self, node: *mut Node) {
        // SAFETY: the caller's.
        unsafe {
            if (*node).level != START_LEVEL {
                Self::note_restarts(this, 1);
            }
        }
    }

    /// The same for as many events.
    ///
    /// # Safety
    /// `this` is a forest of the calling thread.
    pub unsafe fn note_restarts(this: *mut Self, n: u64) {
        // SAFETY: the caller's.
        unsafe { counter::add(&raw mut (*this).shared.forest.restarts, n) };
    }

    unsafe fn count_child(
        this: *mut Self,
        arena: &mut Arena,
        node: *mut Node,
        label: u32,
        n: u64,
        purpose: Purpose,
    ) -> Option<Word> {
        // SAFETY: the caller's.
        unsafe { count_child(&mut Self::builder(this, arena, purpose), node, label, n) }
    }

    /// After many lookups that outgrown tables have cost, makes no slot lead to one.
    unsafe fn note_stale(this: *mut Self) {
        // SAFETY: the caller holds the context's lock.
        unsafe {
            (*this).shared.stale += DETOURS;
            if (*this).shared.stale < LEAST_STALE + (*this).shared.slots / 4 {
                return;
            }
            Self::refresh_all(this);
        }
    }

    /// A function of its own, so that a step takes little stack as long as nothing is refreshed.
    #[inline(never)]
    unsafe fn refresh_all(this: *mut Self) {
        // SAFETY: the caller holds the context's lock.
        unsafe {
            (*this).shared.stale = 0;
            (*this).shared.slots = 0;
            Self::for_each_child(this, |_, child| {
                child.refresh();
                (*this).shared.slots += 1;
            });
        }
    }

    /// Visits all children of all nodes, each with what it is called in the baselines.
    ///
    /// # Safety
    /// The caller holds the lock of the forest's context, and it is not in counting mode.
    unsafe fn for_each_child(this: *mut Self, mut visit: impl FnMut(Counter, Child)) {
        let mut stack = Stack::new(this);
        loop {
            // SAFETY: the caller's.
            match unsafe { stack.next_child() } {
                Some(child) => {
                    visit(stack.counter(child.label), child);
                    // SAFETY: the child was just found.
                    unsafe { stack.descend(child) };
                }
                None if stack.pop().is_none() => return,
                None => {}
            }
        }
    }

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
        loop {
            // SAFETY: the caller's.
            match unsafe { stack.next_child() } {
                Some(child) => {
                    // SAFETY: the child was just found.
                    let count = saturated(unsafe { child.count() });
                    stack.heat(count);
                    // SAFETY: as above.
                    if unsafe { stack.descend(child) } {
                        stack.heat(count);
                    } else {
                        note(count);
                    }
                }
                None => {
                    let Some(done) = stack.pop() else { return };
                    // SAFETY: the frame's node is one of the forest.
                    unsafe { (*done.node).marked = done.number };
                    if stack.depth == 0 {
                        return;
                    }
                    note(done.number);
                    stack.heat(done.number);
                }
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
            loop {
                let Some(child) = stack.next_child() else {
                    if stack.pop().is_none() {
                        return;
                    }
                    continue;
                };
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
                    let forest = &raw mut (*this).shared.forest;
                    if root.is_none() {
                        counter::add(&raw mut (*forest).lost, count);
                    } else if parent != start {
                        counter::add(&raw mut (*forest).pruned, count);
                    }
                }
                let number = baselines.number(stack.counter(label));
                if number != 0 {
                    let now = if kept.is_some() { parent } else { start };
                    baselines.add(arena, Counter { owner: now as usize, label }, number);
                    if now != parent && baseline::is_paused() {
                        baselines.add(arena, Self::total_counter(this, Total::Pruned), number);
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

    /// Whether anything was counted; also marks, for [`Self::walk`], the children with a count in
    /// or below them. Marking first makes the walk's numbers of children right even if the thread
    /// goes on counting.
    ///
    /// # Safety
    /// The caller holds the process lock and the context's.
    pub unsafe fn mark(this: *mut Self) -> bool {
        // SAFETY: the caller's.
        unsafe {
            let begun = Total::ALL.into_iter().any(|total| Self::total(this, total) != 0);
            let counted = if let Some(slabs) = Self::slabs(this) {
                Slabs::mark(slabs, |counter, count| Self::baselines(this).told(counter, count))
            } else if (*this).shared.counting {
                Self::mark_paths(this)
            } else {
                Self::mark_nodes(this)
            };
            begun || counted
        }
    }

    /// What the profile has of a counter that is not of a path.
    ///
    /// # Safety
    /// As for [`Self::mark`].
    pub unsafe fn total(this: *mut Self, total: Total) -> u64 {
        // SAFETY: the caller's.
        unsafe {
            let count = counter::read(Self::total_place(this, total));
            Self::baselines(this).told(Self::total_counter(this, total), count)
        }
    }

    unsafe fn total_place(this: *mut Self, total: Total) -> *mut u64 {
        // SAFETY: the caller gives a forest.
        unsafe {
            let forest = &raw mut (*this).shared.forest;
            match total {
                Total::Entries => &raw mut (*forest).entries,
                Total::Restarts => &raw mut (*forest).restarts,
                Total::Lost => &raw mut (*forest).lost,
                Total::Pruned => &raw mut (*forest).pruned,
            }
        }
    }

    fn total_counter(this: *mut Self, total: Total) -> Counter {
        Counter { owner: this as usize, label: total as u32 }
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
            for total in Total::ALL {
                let count = counter::read(Self::total_place(this, total));
                visit(Self::total_counter(this, total), count);
            }
            if (*this).shared.counting {
                for path in 0..(*this).shared.num_paths {
                    let count = counter::read(Self::path_counter(this, path));
                    visit(Self::path_baseline(this, path), count);
                }
                return;
            }
            if let Some(slabs) = Self::slabs(this) {
                return Slabs::for_each_counter(slabs, |name, place| {
                    visit(name, counter::read(place));
                });
            }
            Self::for_each_child(this, |counter, child| visit(counter, child.count()));
        }
    }

    /// Prepares for pausing or resuming: the next X of each counter becomes what it stands at less X.
    /// False: there is no memory.
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
            if !baselines.reserve(arena, counted + counted / 8 + Total::ALL.len()) {
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
        // SAFETY: the caller's.
        for path in 0..unsafe { (*this).shared.num_paths } {
            // SAFETY: the path is below the number of paths.
            unsafe {
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
        // SAFETY: the caller gives a path below the number of paths.
        let (word, bit) = unsafe { Self::path_mark(this, path) };
        // SAFETY: the word is valid; only holders of the locks use it.
        unsafe { *word & bit != 0 }
    }

    unsafe fn path_counter(this: *mut Self, path: u32) -> *mut u64 {
        // SAFETY: in counting mode that many counters follow.
        unsafe { this.add(1).cast::<u64>().add(path as usize) }
    }

    unsafe fn mark_nodes(this: *mut Self) -> bool {
        let mut stack = Stack::new(this);
        loop {
            // SAFETY: the caller holds the locks.
            match unsafe { stack.next_child() } {
                Some(child) => {
                    // SAFETY: the child was just found.
                    unsafe {
                        let counted = stack.told(this, child) != 0;
                        if stack.descend(child) {
                            let node = node::node_of(child.next());
                            (*node).is_marked = counted;
                        } else if counted {
                            stack.count_child();
                        }
                    }
                }
                None => {
                    let Some(done) = stack.pop() else { return false };
                    // SAFETY: the frame's node is one of the forest.
                    unsafe {
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
        }
    }

    /// Number of marked roots.
    ///
    /// # Safety
    /// As for [`Self::mark`], which was called under the same locks.
    pub unsafe fn roots(this: *mut Self) -> u32 {
        // SAFETY: the caller's.
        unsafe {
            if let Some(slabs) = Self::slabs(this) {
                return Slabs::roots(slabs);
            }
            match (*this).shared.counting {
                true => (0..(*this).shared.num_paths)
                    .filter(|&path| Self::is_marked(this, path))
                    .count() as u32,
                false => (*(*this).shared.start).marked,
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
            if (*this).shared.counting {
                return Self::walk_paths(this, visit);
            }
            if let Some(slabs) = Self::slabs(this) {
                let told = |counter, count| Self::baselines(this).told(counter, count);
                return Slabs::walk(slabs, told, visit);
            }
            let mut stack = Stack::new(this);
            stack.visit_marked();
            loop {
                let Some(child) = stack.next_child() else {
                    if stack.pop().is_none() {
                        return Ok(());
                    }
                    continue;
                };
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
        }
    }

    unsafe fn walk_paths<E>(
        this: *mut Self,
        mut visit: impl FnMut(Visit) -> Result<(), E>,
    ) -> Result<(), E> {
        // SAFETY: the caller's.
        for path in 0..unsafe { (*this).shared.num_paths } {
            // SAFETY: the path is below the number of paths.
            unsafe {
                if Self::is_marked(this, path) {
                    let count = Self::told_of_path(this, path);
                    visit(Visit { label: path, count, children: 0 })?;
                }
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
            let forest = &raw mut (*this).shared.forest;
            counter::clear(&raw mut (*forest).entries);
            counter::clear(&raw mut (*forest).restarts);
            counter::clear(&raw mut (*forest).lost);
            counter::clear(&raw mut (*forest).pruned);
            if (*this).shared.counting {
                (0..(*this).shared.num_paths)
                    .for_each(|path| counter::clear(Self::path_counter(this, path)));
                return;
            }
            if let Some(slabs) = Self::slabs(this) {
                return Slabs::for_each_counter(slabs, |_, place| counter::clear(place));
            }
            Self::for_each_child(this, |_, child| child.clear());
        }
    }
}

/// Counts a child, which is made if it is missing; tells the state after it. None: there is no memory.
unsafe fn count_child(
    builder: &mut Builder<'_>,
    node: *mut Node,
    label: u32,
    n: u64,
) -> Option<Word> {
    // SAFETY: the caller gives a node of the builder's forest.
    unsafe {
        let child = builder.child(node, label).ok()?;
        builder.add(child, n).ok()?;
        Some(child.next())
    }
}

fn saturated(count: u64) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Words of marks for that many paths.
fn mark_words(num_paths: u32) -> usize {
    num_paths.div_ceil(64) as usize
}

/// The way from the start of a forest to where a walk is.
struct Stack {
    frames: [Frame; MAX_LEVELS],
    depth: usize,
    k: u32,
}

impl Stack {
    /// At the start.
    ///
    /// The caller holds the lock of the forest's context.
    fn new(forest: *mut ThreadForest) -> Self {
        // SAFETY: the forest is valid.
        unsafe { Self::at((*forest).shared.start, (*forest).shared.k) }
    }

    /// At a start.
    fn at(start: *mut Node, k: u32) -> Self {
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

    fn pop(&mut self) -> Option<Frame> {
        let frame = *self.top()?;
        self.depth -= 1;
        Some(frame)
    }

    /// Level of the children that [`Self::next_child`] gives.
    fn level(&self) -> u32 {
        self.depth as u32 - 1
    }

    /// The next child of the topmost node.
    unsafe fn next_child(&mut self) -> Option<Child> {
        // SAFETY: the caller holds the locks, so the tables stay as they are.
        unsafe { self.top()?.children.next() }
    }

    /// What a child of the topmost node is called in the baselines.
    fn counter(&mut self, label: u32) -> Counter {
        Counter { owner: self.top().map_or(0, |frame| frame.node as usize), label }
    }

    /// What the profile has of a child of the topmost node.
    unsafe fn told(&mut self, forest: *mut ThreadForest, child: Child) -> u64 {
        let counter = self.counter(child.label);
        // SAFETY: the caller holds the locks.
        unsafe { ThreadForest::baselines(forest).told(counter, child.count()) }
    }

    /// Notes a count in or below the topmost node.
    fn heat(&mut self, count: u32) {
        if let Some(frame) = self.top() {
            frame.number = frame.number.max(count);
        }
    }

    /// Notes a counted child of the topmost node.
    fn count_child(&mut self) {
        if let Some(frame) = self.top() {
            frame.number += 1;
        }
    }

    /// Expects as many children of the topmost node as were marked.
    unsafe fn visit_marked(&mut self) {
        if let Some(frame) = self.top() {
            // SAFETY: the frame's node is one of the forest.
            frame.number = unsafe { (*frame.node).marked };
        }
    }

    /// Whether one of the expected children is left.
    fn take_child(&mut self) -> bool {
        let Some(frame) = self.top() else { return false };
        let left = frame.number.checked_sub(1);
        frame.number = left.unwrap_or(0);
        left.is_some()
    }

    /// Goes on with the children of a child, if it has a node of its own.
    unsafe fn descend(&mut self, child: Child) -> bool {
        let has_node = node::has_node(self.level(), self.k);
        if has_node {
            // SAFETY: a child above full depth leads to its own node.
            self.push(unsafe { node::node_of(child.next()) });
        }
        has_node
    }
}
