//! A thread's forest for a function, and the walks over it.

use crate::arena::{Arena, Purpose};
use crate::context::Context;
use crate::counter;
use crate::image::Image;
use crate::node::{self, Builder};
use core::ptr::null_mut;
use midflight_abi::{FLAG_COUNTING, Forest, MAX_K, Node, RecordHeader, START_LEVEL, Slot};

/// Levels of the deepest forest: 2k−2.
const MAX_LEVELS: usize = 2 * MAX_K as usize - 2;

/// A [`Forest`] with what the runtime knows about it besides. Emitted code sees the forest, which
/// is the first field.
#[repr(C)]
pub struct ThreadForest {
    /// What emitted code works on.
    pub forest: Forest,
    first: Slot,
    /// The context that it belongs to; null in the forest that stands in for all.
    pub context: *mut Context,
    /// The function's record; null after its image was unloaded.
    pub record: *const RecordHeader,
    /// The image of the record; null until it is looked up.
    pub image: *mut Image,
    /// The next forest of the context.
    pub next: *mut ThreadForest,
    /// Identity of the function.
    pub key: u64,
    /// The function's k.
    pub k: u32,
    /// The function's number of paths.
    pub num_paths: u32,
    /// Whether `forest.start.slots` is an array of counters.
    pub counting: bool,
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
    /// The next slot to look at.
    index: u32,
    /// Whether a child below was found to be counted.
    counted: bool,
}

impl ThreadForest {
    /// Makes an empty forest. `None`: there is no memory for it.
    ///
    /// # Safety
    /// `record` is a record of this ABI version with a valid k.
    pub unsafe fn create(
        arena: &mut Arena,
        context: *mut Context,
        record: *const RecordHeader,
    ) -> Option<*mut Self> {
        // SAFETY: the caller's.
        let header = unsafe { &*record };
        let this = arena.allocate(size_of::<Self>(), Purpose::Root)?.as_ptr().cast::<Self>();
        let counting = header.flags & FLAG_COUNTING != 0;
        let counters = match counting {
            true => {
                let words = header.num_paths as usize + mark_words(header.num_paths);
                let memory =
                    arena.allocate(words.checked_mul(size_of::<u64>())?, Purpose::Growth)?;
                memory.as_ptr().cast::<Slot>()
            }
            false => null_mut(),
        };
        // SAFETY: the arena has handed out zeroed memory of that size, in which all fields are
        // valid; the forest and its first slot lie as in a block of a node.
        unsafe {
            (*this).context = context;
            (*this).record = record;
            (*this).key = header.key;
            (*this).k = header.k;
            (*this).num_paths = header.num_paths;
            (*this).counting = counting;
            let start = &raw mut (*this).forest.start;
            (*start).slots = if counting { counters } else { &raw mut (*this).first };
            (*start).forest = this.cast();
            (*start).level = START_LEVEL;
        }
        Some(this)
    }

    /// Counts an event that no lookup has found: builds what is missing, and returns the state
    /// after it.
    ///
    /// Where memory runs out, the stream restarts at the event's root; where not even that can be
    /// made, the event is lost. Both are counted.
    ///
    /// # Safety
    /// `this` is in a context whose lock the caller holds, with signals blocked; `state` is one of
    /// its states.
    pub unsafe fn build(
        this: *mut Self,
        arena: &mut Arena,
        state: *mut Node,
        label: u32,
    ) -> *mut Node {
        // SAFETY: the caller's.
        unsafe {
            let start = &raw mut (*this).forest.start;
            let mut builder = Builder { arena, start, k: (*this).k, purpose: Purpose::Growth };
            if let Ok(slot) = builder.child(state, label) {
                counter::increment(&raw mut (*slot).count);
                return node::next(slot);
            }
            builder.purpose = Purpose::Root;
            let Ok(slot) = builder.child(start, label) else {
                counter::increment(&raw mut (*this).forest.lost);
                return start;
            };
            if state != start {
                counter::increment(&raw mut (*this).forest.restarts);
            }
            counter::increment(&raw mut (*slot).count);
            node::next(slot)
        }
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
            let forest = &raw mut (*this).forest;
            let totals =
                [&raw mut (*forest).entries, &raw mut (*forest).restarts, &raw mut (*forest).lost];
            let begun = totals.into_iter().any(|counter| counter::read(counter) != 0);
            let counted =
                if (*this).counting { Self::mark_paths(this) } else { Self::mark_nodes(this) };
            begun || counted
        }
    }

    unsafe fn mark_paths(this: *mut Self) -> bool {
        let mut any = false;
        // SAFETY: the caller's.
        for path in 0..unsafe { (*this).num_paths } {
            // SAFETY: the path is below the number of paths.
            unsafe {
                let counted = counter::read(Self::path_counter(this, path)) != 0;
                let (word, bit) = Self::path_mark(this, path);
                *word = if counted { *word | bit } else { *word & !bit };
                any |= counted;
            }
        }
        any
    }

    /// The word and the bit that mark a path, after the counters.
    unsafe fn path_mark(this: *mut Self, path: u32) -> (*mut u64, u64) {
        // SAFETY: in counting mode the slots are that many counters and that many words of marks.
        unsafe {
            let marks = (*this).forest.start.slots.cast::<u64>().add((*this).num_paths as usize);
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
        // SAFETY: in counting mode the slots are an array of that many counters.
        unsafe { (*this).forest.start.slots.cast::<u64>().add(path as usize) }
    }

    unsafe fn mark_nodes(this: *mut Self) -> bool {
        let mut stack = Stack::new(this);
        loop {
            // SAFETY: the caller holds the locks.
            match unsafe { stack.next_slot() } {
                Some((node, slot)) => {
                    // SAFETY: the slot is in use; `reserved` belongs to walks.
                    unsafe {
                        let counted = node::count(node, slot) != 0;
                        (*slot).reserved = u32::from(counted);
                        stack.descend(slot, counted);
                    }
                }
                None => {
                    let Some(done) = stack.pop() else { return false };
                    let Some(parent) = stack.top() else { return done.counted };
                    parent.counted |= done.counted;
                    // SAFETY: the slot before the parent's next one is that of the finished node.
                    unsafe {
                        let slot = node::slots(parent.node).0.add(parent.index as usize - 1);
                        (*slot).reserved |= u32::from(done.counted);
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
            match (*this).counting {
                true => (0..(*this).num_paths).filter(|&path| Self::is_marked(this, path)).count()
                    as u32,
                false => marked(&raw mut (*this).forest.start),
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
            if (*this).counting {
                return Self::walk_paths(this, visit);
            }
            let k = (*this).k;
            let mut stack = Stack::new(this);
            loop {
                let Some((node, slot)) = stack.next_slot() else {
                    if stack.pop().is_none() {
                        return Ok(());
                    }
                    continue;
                };
                if (*slot).reserved == 0 {
                    continue;
                }
                let children = match node::has_node(stack.level(), k) {
                    true => marked(node::next(slot)),
                    false => 0,
                };
                visit(Visit { label: (*slot).label, count: node::count(node, slot), children })?;
                stack.descend(slot, false);
            }
        }
    }

    unsafe fn walk_paths<E>(
        this: *mut Self,
        mut visit: impl FnMut(Visit) -> Result<(), E>,
    ) -> Result<(), E> {
        // SAFETY: the caller's.
        for path in 0..unsafe { (*this).num_paths } {
            // SAFETY: the path is below the number of paths.
            unsafe {
                if Self::is_marked(this, path) {
                    let count = counter::read(Self::path_counter(this, path));
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
            let forest = &raw mut (*this).forest;
            counter::clear(&raw mut (*forest).entries);
            counter::clear(&raw mut (*forest).restarts);
            counter::clear(&raw mut (*forest).lost);
            if (*this).counting {
                (0..(*this).num_paths)
                    .for_each(|path| counter::clear(Self::path_counter(this, path)));
                return;
            }
            let mut stack = Stack::new(this);
            loop {
                match stack.next_slot() {
                    Some((node, slot)) => {
                        node::clear(node, slot);
                        stack.descend(slot, false);
                    }
                    None if stack.pop().is_none() => return,
                    None => {}
                }
            }
        }
    }
}

/// Words of marks for that many paths.
fn mark_words(num_paths: u32) -> usize {
    num_paths.div_ceil(64) as usize
}

/// Number of marked children.
unsafe fn marked(node: *mut Node) -> u32 {
    // SAFETY: the caller holds the locks.
    let (slots, len) = unsafe { node::slots(node) };
    // SAFETY: the index is below the table's length.
    (0..len as usize).filter(|&index| unsafe { (*slots.add(index)).reserved } != 0).count() as u32
}

/// The way from the start of a forest to where a walk is.
struct Stack {
    frames: [Frame; MAX_LEVELS],
    depth: usize,
    k: u32,
}

impl Stack {
    fn new(forest: *mut ThreadForest) -> Self {
        let empty = Frame { node: null_mut(), index: 0, counted: false };
        let mut this = Self { frames: [empty; MAX_LEVELS], depth: 1, k: 0 };
        // SAFETY: the forest is valid.
        unsafe {
            this.k = (*forest).k;
            this.frames[0].node = &raw mut (*forest).forest.start;
        }
        this
    }

    fn top(&mut self) -> Option<&mut Frame> {
        self.frames.get_mut(self.depth.checked_sub(1)?)
    }

    fn pop(&mut self) -> Option<Frame> {
        let frame = *self.top()?;
        self.depth -= 1;
        Some(frame)
    }

    /// Level of the slots that [`Self::next_slot`] gives.
    fn level(&self) -> u32 {
        self.depth as u32 - 1
    }

    /// The next slot in use of the topmost node.
    unsafe fn next_slot(&mut self) -> Option<(*mut Node, *mut Slot)> {
        let frame = self.top()?;
        // SAFETY: the caller holds the locks, so the table stays as it is.
        let (slots, len) = unsafe { node::slots(frame.node) };
        while frame.index < len {
            // SAFETY: the index is below the table's length.
            let slot = unsafe { slots.add(frame.index as usize) };
            frame.index += 1;
            // SAFETY: the slot is in the table.
            if !unsafe { node::next(slot) }.is_null() {
                return Some((frame.node, slot));
            }
        }
        None
    }

    /// Goes on with the children of a slot; `counted` says that the slot has a count, which those
    /// above it are told of at the end.
    unsafe fn descend(&mut self, slot: *mut Slot, counted: bool) {
        if node::has_node(self.level(), self.k) {
            // SAFETY: a slot above full depth leads to its own node.
            let node = unsafe { node::next(slot) };
            if let Some(frame) = self.frames.get_mut(self.depth) {
                *frame = Frame { node, index: 0, counted };
                self.depth += 1;
            }
        } else if let Some(frame) = self.top() {
            frame.counted |= counted;
        }
    }
}
