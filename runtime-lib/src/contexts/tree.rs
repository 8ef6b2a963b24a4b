//! A thread's tree.
//!
//! The children of a call site form a ring, of which the slot leads to the one that was called
//! last. The first that was made is marked, so that the ring can be gone through while the slot
//! changes.
//!
//! A function that calls itself through calls in tail position leaves one frame on the stack: in
//! such a chain of calls each function has one node.
//!
//! Where recursion is folded, the node of a call of a function that is above has no slots: the
//! activation goes on in that above.

use crate::arena::{Arena, Purpose};
use crate::contexts::function::{Function, Functions};
use crate::contexts::head;
use crate::contexts::hot::{self, Hot};
use crate::contexts::outside::Outside;
use crate::contexts::time;
use crate::contexts::walk::Walk;
use crate::file::live;
use crate::lock::ContextGuard;
use crate::paths::baseline::Baselines;
use crate::paths::context::Context;
use crate::paths::room;
use crate::process::image::{self, Image};
use crate::process::signal::Blocked;
use core::ptr::{NonNull, null, null_mut};
use core::sync::atomic::{AtomicPtr, AtomicU64, AtomicUsize, Ordering};
use midflight_abi::RecordHeader;
use midflight_abi::contexts::{
    CACHE_BITS, CONTEXT_NODE_SIZE, ContextHead, ContextNode, EMPTY, MOST_SLOTS, SITE_BITS,
};
use midflight_abi::memory::{ContextTree, IS_FUNCTION};

/// What a slot leads to.
pub type Slot = *mut *mut ContextNode;

/// Noted in [`ContextNode::site`]: the first node that was made at its call site.
pub const FIRST: u16 = 1 << SITE_BITS;
/// Noted in [`ContextNode::site`]: it was called in tail position.
pub const TAIL: u16 = FIRST << 1;
/// Noted in [`ContextNode::site`]: it is written to the profile.
pub const MARK: u16 = FIRST << 2;

pub use midflight_abi::memory::{FREE, MONITORED};

/// The frame of a root's parent, above all others.
const ABOVE_ALL: u64 = i64::MAX as u64;

/// Bytes that are taken from the arena at once.
const LEAST_PIECE: usize = 4 << 10;
const LARGEST_PIECE: usize = 1 << 20;

/// The alignment of nodes.
const ALIGNMENT: usize = 16;

#[repr(C)]
pub struct Tree {
    /// What others find of it in a file.
    pub shared: ContextTree,
    /// What the tree is a part of
    context: *const Context,
    pub functions: Functions,
    /// What is left of the piece that nodes are made in.
    free: AtomicUsize,
    end: AtomicUsize,
    piece: usize,
    /// Where only hot contexts are kept: which are monitored
    pub hot: Hot,
    /// Bytes that nodes have
    bytes: usize,
    /// Whether the unwinder is asked: what it calls, and handlers, do without.
    pub is_asking: bool,
    /// Whether there was no memory for another function.
    is_full: bool,
    /// Whether no more contexts get forests of their own.
    pub has_all_forests: bool,
    /// Activations that have begun between bursts
    pub outside: Outside,
    /// See [`ContextWord::cache`]; null before it is needed
    cache: *mut *mut ContextNode,
}

impl Tree {
    /// A tree that begins with its first node.
    pub const fn new() -> Self {
        Self {
            shared: ContextTree {
                root: AtomicPtr::new(null_mut()),
                functions: AtomicPtr::new(null_mut()),
                monitored: null(),
                floor: AtomicU64::new(0),
                removed_time: AtomicU64::new(0),
            },
            context: null(),
            functions: Functions::new(),
            free: AtomicUsize::new(0),
            end: AtomicUsize::new(0),
            piece: LEAST_PIECE,
            hot: Hot::new(),
            bytes: 0,
            is_asking: false,
            is_full: false,
            has_all_forests: false,
            outside: Outside::new(),
            cache: null_mut(),
        }
    }

    /// The parent of all roots; null in a tree that has not begun.
    pub fn root(&self) -> *mut ContextNode {
        self.shared.root.load(Ordering::Acquire)
    }

    /// Makes the root. `None`: there is no memory.
    ///
    /// # Safety
    /// The lock of the tree's context is held.
    pub unsafe fn begin(&mut self, arena: &mut Arena, context: *const Context) -> Option<()> {
        if self.root().is_null() {
            head::decide();
            let head = head::size();
            let memory = arena.allocate(head + size_of_node(1), Purpose::Root)?.as_ptr();
            let memory = memory.wrapping_add(head).cast::<ContextNode>();
            // SAFETY: the memory has that size, and is zeroed.
            unsafe {
                (*memory).parent = memory;
                (*memory).frame = ABOVE_ALL;
                (*memory).back = slot(memory, 0);
                (*memory).slots = 1;
                empty_slots(memory);
            }
            self.hot.begin(arena)?;
            self.context = context;
            self.shared.monitored = self.hot.shared();
            self.shared.root.store(memory, Ordering::Release);
        }
        Some(())
    }

    /// What is not to be told of its counters.
    ///
    /// # Safety
    /// The tree has begun; the lock of its context is held, or its thread is the caller's and not
    /// in the runtime.
    pub unsafe fn baselines(&self) -> &Baselines {
        // SAFETY: the caller's; contexts are never freed.
        unsafe { &(*(*self.context).data.get()).baselines }
    }

    /// Whether some context has had a forest of its own.
    ///
    /// # Safety
    /// As for [`Self::baselines`].
    pub unsafe fn has_forests(&self) -> bool {
        // SAFETY: the caller's; contexts are never freed.
        unsafe { (*(*self.context).data.get()).of_contexts != 0 }
    }

    /// What is remembered of call sites with several callees. Null: there is no memory for it.
    ///
    /// # Safety
    /// `this` is the calling thread's tree.
    pub unsafe fn cache(this: *mut Self) -> *mut *mut ContextNode {
        // SAFETY: the caller's.
        unsafe {
            if (*this).cache.is_null() {
                let bytes = size_of::<*mut ContextNode>() << CACHE_BITS;
                if let Some(memory) = Self::take_memory(this, bytes) {
                    (*this).cache = memory.as_ptr().cast();
                }
            }
            (*this).cache
        }
    }

    /// Memory that is never given back.
    ///
    /// # Safety
    /// `this` is the calling thread's tree.
    pub unsafe fn take_memory(this: *mut Self, bytes: usize) -> Option<NonNull<u8>> {
        // SAFETY: the caller's.
        unsafe { Self::locked(this, |_, arena| arena.allocate(bytes, Purpose::Growth)) }
    }

    /// The node of a function at a call site, if it is there. `frame` is that of its activation.
    ///
    /// # Safety
    /// `at` is a slot of `parent`, a node of the calling thread's tree; likewise below.
    pub unsafe fn find(
        parent: *mut ContextNode,
        at: Slot,
        record: *const RecordHeader,
        frame: u64,
    ) -> Option<*mut ContextNode> {
        // SAFETY: the caller's; nodes are never freed.
        unsafe {
            let at = AtomicPtr::from_ptr(at);
            if let Some(known) = find(at.load(Ordering::Acquire), parent, record) {
                at.store(known, Ordering::Release);
                return Some(known);
            }
            // It has its caller's frame.
            if (*parent).frame == frame + 1 { find_in_chain(parent, record) } else { None }
        }
    }

    /// Makes the node of a function at a call site; `code` is where the code begins that it runs,
    /// or 0. `None`: there is no memory.
    ///
    /// # Safety
    /// `this` is the calling thread's tree, and `function` one of its functions, which is loaded.
    pub unsafe fn make(
        this: *mut Self,
        parent: *mut ContextNode,
        at: Slot,
        function: *mut Function,
        code: u32,
    ) -> Option<*mut ContextNode> {
        // SAFETY: the caller's; nodes are never freed.
        unsafe {
            let at_slot = AtomicPtr::from_ptr(at);
            let record = (*function).record.load(Ordering::Relaxed).cast_const();
            let all_slots = (*record).num_paths.min(MOST_SLOTS);
            let is_folded = head::is_folded(&*record);
            let above = if is_folded { find_above(parent, record) } else { None };
            let slots = if above.is_some() { 0 } else { all_slots };
            let is_hot = (*this).hot.is_kept();
            let mut new = if is_hot { hot::take_free(function) } else { null_mut() };
            if new.is_null() {
                let head = head::size();
                // Memory that is used again is that of any node of the function.
                let size = head + size_of_node(if is_hot { all_slots } else { slots });
                if is_hot && is_folded && !Self::has_room(this, size) {
                    hot::sweep(this, parent);
                    new = hot::take_free(function);
                }
                if new.is_null() {
                    new = Self::allocate(this, size)?.wrapping_byte_add(head);
                }
            }
            if head::are_there() {
                let goes_on = if is_folded { above.unwrap_or(new) } else { null_mut() };
                let forest = null_mut();
                head::of(new).write(ContextHead { reserved: 0, forest, goes_on, time: 0 });
            }
            let is_tail = (*parent).frame & 1 != 0;
            let site = number_of(at, parent) as u16 | if is_tail { TAIL } else { 0 };
            new.write(ContextNode {
                count: 0,
                // Where only hot contexts are kept, it is not monitored yet.
                record: if is_hot { tagged(function) } else { record },
                back: if is_tail { (*parent).back } else { at },
                parent,
                frame: 0,
                next: new,
                site: site | FIRST,
                slots: slots as u16,
                code,
                error: 0,
            });
            empty_slots(new);
            if !is_hot {
                live::before_publication();
            }
            // A handler may make a node here at any time. All are put behind the first, so that
            // this is noticed.
            loop {
                let content = at_slot.load(Ordering::Acquire);
                if is_empty(content, parent) {
                    let put =
                        at_slot.compare_exchange(content, new, Ordering::AcqRel, Ordering::Acquire);
                    if put.is_ok() {
                        return Some(new);
                    }
                    continue;
                }
                (*new).site = site;
                let next = AtomicPtr::from_ptr(&raw mut (*first(content)).next);
                let old = next.load(Ordering::Acquire);
                if let Some(known) = find(content, parent, record) {
                    // What was made for this is lost.
                    return Some(known);
                }
                (*new).next = old;
                if next.compare_exchange(old, new, Ordering::AcqRel, Ordering::Acquire).is_ok() {
                    at_slot.store(new, Ordering::Release);
                    return Some(new);
                }
            }
        }
    }

    /// Takes the lock of the tree's context. `None`: the thread has it, in what it is interrupted
    /// in.
    ///
    /// # Safety
    /// `this` is the calling thread's tree.
    pub unsafe fn lock(this: *mut Self) -> Option<ContextGuard<'static>> {
        // SAFETY: the caller's; contexts are never freed.
        unsafe { (*(*this).context).lock.lock_as_owner() }
    }

    /// Makes a function known. `None`: there is no memory, or its record is none of contexts.
    ///
    /// # Safety
    /// `this` is the calling thread's tree.
    pub unsafe fn know(this: *mut Self, record: *const RecordHeader) -> Option<*mut Function> {
        // SAFETY: the caller's.
        unsafe {
            if let Some(known) = Functions::find(&raw const (*this).functions, record) {
                return Some(known);
            }
            if !image::has_contexts(record) {
                return None;
            }
            Self::locked(this, |tree, arena| {
                let function = tree.functions.find_or_make(arena, record, &tree.shared.functions);
                tree.is_full = function.is_none();
                function
            })
        }
    }

    /// The same, where the thread may be in the runtime: then none is made known. Does not ask for
    /// memory again, of which there was none for another function.
    ///
    /// # Safety
    /// As for [`Self::know`].
    pub unsafe fn know_anywhere(
        this: *mut Self,
        record: *const RecordHeader,
    ) -> Option<*mut Function> {
        // SAFETY: the caller's.
        unsafe {
            if let Some(known) = Functions::find(&raw const (*this).functions, record) {
                return Some(known);
            }
            if (*this).is_full {
                return None;
            }
            let _guard = if (*this).hot.is_kept() { Some(Self::lock(this)?) } else { None };
            Self::know(this, record)
        }
    }

    /// Whether the piece that nodes are made in has room for one.
    unsafe fn has_room(this: *mut Self, size: usize) -> bool {
        // SAFETY: the caller's.
        unsafe {
            (*this).free.load(Ordering::Relaxed) + size <= (*this).end.load(Ordering::Relaxed)
        }
    }

    /// Memory for a node.
    unsafe fn allocate(this: *mut Self, size: usize) -> Option<*mut ContextNode> {
        // SAFETY: the caller's.
        unsafe {
            loop {
                let free = (*this).free.load(Ordering::Relaxed);
                let end = (*this).end.load(Ordering::Relaxed);
                if free + size > end {
                    Self::locked(this, |tree, arena| tree.take_piece(arena, size))?;
                    continue;
                }
                // Fails where a handler was first.
                let after = free + size;
                let taken = (*this).free.compare_exchange(
                    free,
                    after,
                    Ordering::Relaxed,
                    Ordering::Relaxed,
                );
                if taken.is_ok() {
                    return Some(free as *mut ContextNode);
                }
            }
        }
    }

    /// Does something with the tree and its memory that must not be interrupted.
    unsafe fn locked<T>(
        this: *mut Self,
        act: impl FnOnce(&mut Self, &mut Arena) -> Option<T>,
    ) -> Option<T> {
        let _signals = Blocked::new();
        // SAFETY: the caller's; the lock is held, and no handler comes.
        unsafe {
            let context = &*(*this).context;
            // Where only hot contexts are kept, who enters has the lock.
            let is_locked = (*this).hot.is_kept();
            let _guard = if is_locked { None } else { Some(context.lock.lock_as_owner()?) };
            let arena = &raw mut (*context.data.get()).arena;
            act(&mut *this, &mut *arena)
        }
    }

    fn take_piece(&mut self, arena: &mut Arena, size: usize) -> Option<()> {
        if *self.free.get_mut() + size <= *self.end.get_mut() {
            // A handler was here.
            return Some(());
        }
        let mut piece = size.max(self.piece);
        if self.hot.is_kept() {
            let left = room::budget_for(1).saturating_sub(self.bytes);
            piece = piece.min(left);
            if piece < size {
                return None;
            }
            self.bytes += piece;
        }
        let start = arena.allocate(piece, Purpose::Growth)?.as_ptr() as usize;
        self.piece = (self.piece * 2).min(LARGEST_PIECE);
        // In this order: whoever reads the two together finds no more than there is.
        *self.free.get_mut() = start;
        *self.end.get_mut() = start + piece;
        Some(())
    }

    /// Sets all counts to zero.
    ///
    /// # Safety
    /// The lock of the tree's context is held.
    pub unsafe fn clear(&mut self) {
        // SAFETY: the caller's.
        unsafe {
            let mut walk = Walk::new(self.root());
            while let Some((node, _)) = walk.next(|_| true) {
                AtomicU64::from_ptr(&raw mut (*node).count).store(0, Ordering::Relaxed);
                (*node).error = 0;
                if time::are_taken() {
                    time::of(node).store(0, Ordering::Relaxed);
                }
            }
        }
        for function in self.functions.iter() {
            // SAFETY: functions are never freed.
            unsafe { &(*function).elsewhere }.store(0, Ordering::Relaxed);
        }
        self.shared.removed_time.store(0, Ordering::Relaxed);
        self.hot.clear();
        self.shared.floor.store(0, Ordering::Relaxed);
    }

    /// Lets go of the records of an image that is about to be unloaded.
    ///
    /// # Safety
    /// The lock of the tree's context is held; none of the image's functions is called any more.
    pub unsafe fn detach(&mut self, image: *mut Image) {
        // SAFETY: the caller's.
        unsafe {
            let is_of_image =
                |record: *const RecordHeader| is_record(record) && (*image).contains(record);
            let mut walk = Walk::new(self.root());
            while let Some((node, _)) = walk.next(|_| true) {
                let record = (*node).record;
                if is_of_image(record)
                    && let Some(function) = Functions::find(&raw const self.functions, record)
                {
                    AtomicPtr::from_ptr((&raw mut (*node).record).cast())
                        .store(tagged(function).cast_mut(), Ordering::Release);
                }
            }
            for function in self.functions.iter() {
                if (*image).contains((*function).record.load(Ordering::Relaxed)) {
                    (*function).image.store(image.cast(), Ordering::Release);
                    (*function).record.store(null_mut(), Ordering::Release);
                }
            }
        }
    }

    /// The function of a node; `None` of the root.
    ///
    /// # Safety
    /// `node` is a node of this tree, whose context's lock is held.
    pub unsafe fn function(&self, node: *mut ContextNode) -> Option<*mut Function> {
        // SAFETY: the caller's.
        unsafe {
            let record = (*node).record;
            if is_record(record) {
                return Functions::find(&raw const self.functions, record);
            }
            let function = record.wrapping_byte_sub(IS_FUNCTION).cast_mut().cast::<Function>();
            (!record.is_null()).then_some(function)
        }
    }
}

/// What a node has for a record of which the activations come to the runtime.
fn tagged(function: *mut Function) -> *const RecordHeader {
    function.wrapping_byte_add(IS_FUNCTION).cast::<RecordHeader>().cast_const()
}

/// Lets emitted code count at a node of a function that is loaded.
///
/// # Safety
/// `node` is a node of the tree, whose context's lock is held.
pub unsafe fn resume(tree: *const Tree, node: *mut ContextNode) {
    // SAFETY: the caller's.
    unsafe {
        if let Some(function) = (*tree).function(node) {
            let record = (*function).record.load(Ordering::Relaxed).cast_const();
            (*node).record = if record.is_null() { tagged(function) } else { record };
        }
    }
}

/// Lets activations at a node come to the runtime.
///
/// # Safety
/// As for [`resume`].
pub unsafe fn suspend(tree: *const Tree, node: *mut ContextNode) {
    // SAFETY: the caller's.
    unsafe {
        if let Some(function) = (*tree).function(node) {
            (*node).record = tagged(function);
        }
    }
}

fn is_record(record: *const RecordHeader) -> bool {
    !record.is_null() && record as usize & IS_FUNCTION == 0
}

/// Size in bytes of a node with so many slots.
fn size_of_node(slots: u32) -> usize {
    (CONTEXT_NODE_SIZE + slots as usize * size_of::<Slot>()).next_multiple_of(ALIGNMENT)
}

/// A slot of a node.
///
/// # Safety
/// The node has such a slot.
pub unsafe fn slot(node: *mut ContextNode, number: u32) -> Slot {
    // SAFETY: the caller's.
    unsafe { node.add(1).cast::<*mut ContextNode>().add(number as usize) }
}

/// What an empty slot of a node has.
pub fn empty(node: *mut ContextNode) -> *mut ContextNode {
    node.wrapping_byte_add(EMPTY)
}

/// Whether a slot of a node that has this is empty.
pub fn is_empty(content: *mut ContextNode, node: *mut ContextNode) -> bool {
    content == empty(node)
}

/// The number of a slot of a node.
fn number_of(at: Slot, node: *mut ContextNode) -> u32 {
    ((at as usize - node as usize - CONTEXT_NODE_SIZE) / size_of::<Slot>()) as u32
}

/// Whether a node is the parent of all roots, or what a new thread begins with.
///
/// # Safety
/// It is a node.
pub unsafe fn is_root(node: *mut ContextNode) -> bool {
    // SAFETY: the caller's.
    unsafe { (*node).parent == node }
}

/// The slot that a node was called from.
///
/// # Safety
/// It is a node, and not a root's parent.
pub unsafe fn slot_of(node: *mut ContextNode) -> Slot {
    // SAFETY: the caller's.
    unsafe { slot((*node).parent, site(node)) }
}

/// The number of the slot that a node was called from.
///
/// # Safety
/// It is a node.
pub unsafe fn site(node: *mut ContextNode) -> u32 {
    // SAFETY: the caller's.
    u32::from(unsafe { (*node).site }) & (MOST_SLOTS - 1)
}

/// How many slots a node has.
///
/// # Safety
/// It is a node.
pub unsafe fn slots(node: *mut ContextNode) -> u32 {
    // SAFETY: the caller's.
    u32::from(unsafe { (*node).slots } & !FREE)
}

/// The slot of a call and its node, where an activation may have gone on in one that was removed,
/// and may have become another without slots: then what is above it is taken.
///
/// # Safety
/// `at` is a slot of `node`.
pub unsafe fn kept(mut at: Slot, mut node: *mut ContextNode) -> (Slot, *mut ContextNode) {
    // SAFETY: the caller's; nodes are never unmapped, and the parent of all roots is never removed.
    unsafe {
        while (*node).slots & FREE != 0 || number_of(at, node) >= slots(node) {
            (at, node) = (slot_of(node), (*node).parent);
        }
    }
    (at, node)
}

/// Empties all slots of a node.
///
/// # Safety
/// Nobody uses the node yet, or it stands in for all and nobody reads it.
pub unsafe fn empty_slots(node: *mut ContextNode) {
    // SAFETY: the caller's; the node has so many slots.
    unsafe { (0..slots(node)).for_each(|number| *slot(node, number) = empty(node)) };
}

/// The node that a slot with this content is of.
///
/// # Safety
/// It was read from a slot.
pub unsafe fn owner(content: *mut ContextNode) -> *mut ContextNode {
    if content as usize % ALIGNMENT == EMPTY {
        return content.wrapping_byte_sub(EMPTY);
    }
    // SAFETY: the caller's.
    unsafe { (*content).parent }
}

/// The first node that was made at the call site that a slot with this content is of.
///
/// # Safety
/// It was read from the slot, which is not empty.
pub unsafe fn first(content: *mut ContextNode) -> *mut ContextNode {
    let mut node = content;
    // SAFETY: rings consist of nodes, which are never freed, and have a first one.
    unsafe {
        while (*node).site & FIRST == 0 {
            node = AtomicPtr::from_ptr(&raw mut (*node).next).load(Ordering::Acquire);
        }
    }
    node
}

/// The node of a function in the ring that a slot of `parent` with this content leads to.
///
/// # Safety
/// It was read from the slot.
unsafe fn find(
    content: *mut ContextNode,
    parent: *mut ContextNode,
    record: *const RecordHeader,
) -> Option<*mut ContextNode> {
    if is_empty(content, parent) {
        return None;
    }
    let mut node = content;
    loop {
        // SAFETY: rings consist of nodes, which are never freed.
        unsafe {
            if is_of(node, record) {
                return Some(node);
            }
            node = AtomicPtr::from_ptr(&raw mut (*node).next).load(Ordering::Acquire);
        }
        if node == content {
            return None;
        }
    }
}

/// Whether a node is of a function; also where the function's image was loaded anew.
///
/// # Safety
/// They are a node, and a record that is loaded.
pub unsafe fn is_of(node: *mut ContextNode, record: *const RecordHeader) -> bool {
    // SAFETY: the caller gives a node and a record.
    unsafe {
        let its = (*node).record;
        if its == record {
            return true;
        }
        if is_record(its) || its.is_null() {
            return false;
        }
        // That of an image that was unloaded, unless that is loaded again, as this record says.
        let function = &*its.wrapping_byte_sub(IS_FUNCTION).cast::<Function>();
        let is_it = function.record.load(Ordering::Relaxed).cast_const() == record;
        if is_it && !hot::is_wanted() {
            (*node).record = record;
        }
        is_it
    }
}

/// The node in which an activation of a function goes on that is called in the context of `node`,
/// where recursion is folded: that of the function, if it is under way there.
unsafe fn find_above(
    mut node: *mut ContextNode,
    record: *const RecordHeader,
) -> Option<*mut ContextNode> {
    // SAFETY: the caller gives a node.
    unsafe {
        while !is_root(node) {
            if is_of(node, record) {
                return Some(node);
            }
            node = (*node).parent;
        }
        None
    }
}

/// The node of a function in the chain of calls in tail position that has led to `node`.
unsafe fn find_in_chain(
    mut node: *mut ContextNode,
    record: *const RecordHeader,
) -> Option<*mut ContextNode> {
    // SAFETY: the caller gives a node.
    unsafe {
        loop {
            if is_of(node, record) {
                return Some(node);
            }
            if (*node).site & TAIL == 0 {
                return None;
            }
            node = (*node).parent;
        }
    }
}
