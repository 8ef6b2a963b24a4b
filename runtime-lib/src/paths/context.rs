//! What one thread counts: its forests and the memory they are in.
//!
//! A context outlives its thread. When the thread has ended, the next new thread takes it over with
//! all that is in it: adding up the two threads' counts costs nothing, and a program that starts a
//! million threads has no more contexts than it ever had threads at once.
//!
//! A thread finds its context by `pthread_getspecific`. Where that fails (there is no key left, or
//! the thread is so far in ending that its keys are gone) it finds it by its thread ID.
//!
//! When has a thread ended? Destructors of other keys, and even `free` called by libc afterwards,
//! may be instrumented and run after our key's destructor, and emitted code still has this thread's
//! forests in its thread-local slots then. So the destructor only marks the context; it is taken
//! over once the kernel does not know the thread any more, and until then it is the thread's own.

use crate::arena::{self, Arena, Contents, Purpose};
use crate::contexts::tree::Tree;
use crate::file::live;
use crate::lock::ContextLock;
use crate::paths::baseline::Baselines;
use crate::paths::forest::ThreadForest;
use crate::paths::room::{self, Room};
use crate::process;
use crate::process::handler_stack;
use crate::process::image::Image;
use crate::process::loader;
use crate::process::signal::Blocked;
use crate::sys;
use core::cell::UnsafeCell;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicI64, AtomicPtr, Ordering};
use midflight_abi::contexts::ContextNode;
use midflight_abi::{Mode, RecordHeader, memory};

/// Slots of the first table of forests.
const FIRST_TABLE: usize = 32;

#[repr(C)]
pub struct Context {
    /// What others find of it in a file. `forests` is used under `lock`; the rest stays as it is.
    shared: UnsafeCell<memory::Context>,
    /// Guards `data` and the structure of the forests.
    pub lock: ContextLock,
    /// ID of the thread that counts here; 0: none. Used under the process lock.
    owner: UnsafeCell<i32>,
    /// Set when the thread's keys are destroyed.
    ending: AtomicBool,
    /// Where handlers of its thread run; used by that thread alone.
    pub stack: UnsafeCell<handler_stack::Memory>,
    /// Used under `lock`.
    pub data: UnsafeCell<Data>,
}

pub struct Data {
    /// Where all of it is but nodes.
    pub arena: Arena,
    /// Where nodes and their tables are.
    pub room: Room,
    /// What is not to be told of the counters.
    pub baselines: Baselines,
    /// Calling contexts.
    pub tree: Tree,
    /// Hash table of the forests by key.
    table: *mut *mut ThreadForest,
    size: usize,
    used: usize,
    /// Bytes of forests that count in one calling context, without their nodes
    pub of_contexts: usize,
}

/// The pthread key of contexts; negative before there is one.
static KEY: AtomicI64 = AtomicI64::new(-1);

/// Makes the key. Without one, contexts are found by thread ID.
///
/// In a namespace of its own (`dlmopen`) a library has a libc of its own, which gives out the same
/// keys a second time while the threads are the same: with a key, it would find the contexts of the
/// program's runtime.
pub fn create_key() {
    if !loader::is_beside_program() {
        return;
    }
    let mut key: libc::pthread_key_t = 0;
    // SAFETY: the destructor's argument is the value that `remember` sets: a context.
    if unsafe { libc::pthread_key_create(&raw mut key, Some(thread_ends)) } == 0 {
        KEY.store(i64::from(key), Ordering::Release);
    }
}

/// Deletes the key: the code of its destructor may be about to go.
pub fn delete_key() {
    let key = KEY.swap(-1, Ordering::AcqRel);
    if let Ok(key) = libc::pthread_key_t::try_from(key) {
        // SAFETY: the key was made here and is deleted once.
        unsafe { libc::pthread_key_delete(key) };
    }
}

/// The key's destructor, see the module. Sets the key again, so that destructors which run later
/// find the context by it.
extern "C" fn thread_ends(context: *mut libc::c_void) {
    if live::is_stranger() {
        return;
    }
    // SAFETY: the key's values are contexts, which are never freed.
    unsafe { (*context.cast::<Context>()).ending.store(true, Ordering::Release) };
    // ThreadSanitizer's own key goes in the last round, and no code that it watches may run then.
    if !cfg!(feature = "tsan") {
        remember(context.cast());
    }
}

fn remember(context: *mut Context) {
    if let Ok(key) = libc::pthread_key_t::try_from(KEY.load(Ordering::Acquire)) {
        // SAFETY: the key exists. On failure the context is found by thread ID.
        unsafe { libc::pthread_setspecific(key, context.cast()) };
    }
}

/// The calling thread's context if its key says.
fn remembered() -> *mut Context {
    match libc::pthread_key_t::try_from(KEY.load(Ordering::Acquire)) {
        // SAFETY: the key exists.
        Ok(key) => unsafe { libc::pthread_getspecific(key).cast() },
        Err(_) => null_mut(),
    }
}

/// The calling thread's context if it has one.
///
/// `first` is the list of all, read under the process lock.
#[inline(never)]
pub fn find_own(first: *mut Context) -> *mut Context {
    let known = remembered();
    if !known.is_null() {
        return known;
    }
    let thread = sys::thread_id();
    // SAFETY: the caller holds the process lock.
    unsafe { search(first, |owner, _| owner == thread) }
}

/// The calling thread's context, taken over or made if it has none. `None`: there is no memory, or
/// the runtime was entered from a function that it has called.
pub fn own(_signals: &Blocked) -> Option<&'static Context> {
    let mut context = remembered();
    if context.is_null() {
        let assigned = assign()?;
        context = assigned.context;
        if assigned.is_new {
            // Outside of the lock: it may allocate by the program's own, instrumented `calloc`,
            // which finds the context by thread ID then.
            remember(context);
            // SAFETY: the context is the calling thread's, and nobody else uses its stack.
            handler_stack::give(unsafe { &mut *(*context).stack.get() });
        }
    }
    // SAFETY: contexts are never freed.
    Some(unsafe { &*context })
}

/// A context for the calling thread.
struct Assigned {
    context: *mut Context,
    /// Whether it was not the thread's before.
    is_new: bool,
}

fn assign() -> Option<Assigned> {
    process::start(false);
    let mut process = process::lock()?;
    process.configure();
    let thread = sys::thread_id();
    // SAFETY: the process lock is held.
    unsafe {
        let context = search(process.contexts, |owner, _| owner == thread);
        if !context.is_null() {
            return Some(Assigned { context, is_new: false });
        }
        let mut context = search(process.contexts, |owner, ending| {
            owner == 0 || ending && !sys::thread_is_alive(owner)
        });
        if context.is_null() {
            context = Context::create(process.contexts)?;
            process.contexts = context;
            live::set_contexts(context.cast());
        }
        (*context).ending.store(false, Ordering::Relaxed);
        *(*context).owner.get() = thread;
        Some(Assigned { context, is_new: true })
    }
}

/// The first context that `wanted` wants, or null.
///
/// # Safety
/// The caller holds the process lock.
unsafe fn search(first: *mut Context, wanted: impl Fn(i32, bool) -> bool) -> *mut Context {
    // SAFETY: the caller's; the list holds contexts.
    let found = unsafe {
        Context::list(first)
            .find(|&at| wanted(*(*at).owner.get(), (*at).ending.load(Ordering::Acquire)))
    };
    found.unwrap_or(null_mut())
}

/// Whether another thread than the caller's may be counting. One that is ending is not taken for
/// such: the kernel still knows it for a while after it was joined.
///
/// # Safety
/// The caller holds the process lock; `first` is the list of all contexts.
pub unsafe fn others_count(first: *mut Context) -> bool {
    let own = sys::thread_id();
    // SAFETY: the caller's.
    let other = unsafe {
        search(first, |owner, ending| {
            !ending && owner != 0 && owner != own && sys::thread_is_alive(owner)
        })
    };
    !other.is_null()
}

impl Context {
    fn create(next: *mut Context) -> Option<*mut Context> {
        let mut arena = Arena::new(Contents::Profile);
        let this = arena.allocate(size_of::<Self>(), Purpose::Root)?.as_ptr().cast::<Self>();
        arena::add_sharer();
        let room = Room::new();
        let data = Data {
            arena,
            room,
            baselines: Baselines::new(),
            tree: Tree::new(),
            table: null_mut(),
            size: 0,
            used: 0,
            of_contexts: 0,
        };
        // SAFETY: the arena has handed out aligned memory of that size.
        unsafe {
            let data_place = (&raw const (*this).data).cast::<Data>();
            let shared = memory::Context {
                next: next.cast(),
                forests: null_mut(),
                baselines: &raw const (*data_place).baselines.shared,
                tree: &raw const (*data_place).tree.shared,
            };
            this.write(Self {
                shared: UnsafeCell::new(shared),
                lock: ContextLock::new(),
                owner: UnsafeCell::new(0),
                ending: AtomicBool::new(false),
                stack: UnsafeCell::new(handler_stack::Memory::new()),
                data: UnsafeCell::new(data),
            });
        }
        Some(this)
    }

    /// A context and all that follow it, which are never freed; none where it is null.
    ///
    /// # Safety
    /// `first` is a context or null.
    pub unsafe fn list(first: *mut Self) -> impl Iterator<Item = *mut Self> {
        let some = |context: *mut Self| (!context.is_null()).then_some(context);
        // SAFETY: the caller's; the list holds contexts, whose field stays as it is.
        let next = move |&at: &*mut Self| some(unsafe { (*(*at).shared.get()).next.cast() });
        core::iter::successors(some(first), next)
    }

    /// As if the thread had no forests yet: what ran before in the process may have left many.
    #[cfg(test)]
    pub unsafe fn forget_forests(&self) {
        // SAFETY: the caller holds the lock, and its forests are not used any more.
        unsafe { (*self.shared.get()).forests = null_mut() };
    }

    /// The first of the list of forests.
    ///
    /// # Safety
    /// The context's lock is held, or its thread is the caller's and not in the runtime.
    pub unsafe fn forests(&self) -> *mut ThreadForest {
        // SAFETY: the caller's.
        unsafe { (*self.shared.get()).forests.cast() }
    }

    /// Puts a forest before all others, once it is whole.
    ///
    /// # Safety
    /// The context's lock is held.
    unsafe fn add_forest(&self, forest: *mut ThreadForest) {
        // SAFETY: the caller's.
        unsafe {
            let first = &raw mut (*self.shared.get()).forests;
            (*forest).shared.next = *first;
            AtomicPtr::from_ptr(first).store(forest.cast(), Ordering::Release);
        }
    }

    /// In a forked child: the context is the calling thread's, or nobody's.
    ///
    /// # Safety
    /// The caller holds the process lock.
    pub unsafe fn reassign_after_fork(&self, own: bool) {
        // SAFETY: the caller's.
        unsafe { *self.owner.get() = if own { sys::thread_id() } else { 0 } };
    }
}

impl Data {
    /// The forest for a record, made if it is missing.
    ///
    /// # Safety
    /// The context's lock is held; `record` is a record of this version.
    pub unsafe fn forest(
        &mut self,
        context: *mut Context,
        record: *const RecordHeader,
    ) -> Option<*mut ThreadForest> {
        // SAFETY: the caller's.
        unsafe {
            if let Some(forest) = self.find(record) {
                return Some(forest);
            }
            self.make_room((*context).forests())?;
            let room = &mut self.room;
            if (*record).mode() == Some(Mode::Automaton) {
                room.raise_for((*record).k);
            }
            let forest = ThreadForest::create(&mut self.arena, room, context, record)?;
            (*context).add_forest(forest);
            *self.vacancy((*forest).shared.key) = forest;
            self.used += 1;
            Some(forest)
        }
    }

    /// A forest for one calling context. `None`: memory is short, or may become so.
    ///
    /// # Safety
    /// As for [`Self::forest`].
    pub unsafe fn forest_of_context(
        &mut self,
        context: *mut Context,
        record: *const RecordHeader,
        node: *mut ContextNode,
    ) -> Option<*mut ThreadForest> {
        // SAFETY: the caller's.
        unsafe {
            let has_room = match (*record).mode()? {
                Mode::Automaton => self.room.has_plenty(),
                Mode::Counting => true,
                Mode::Published => false,
            };
            let size = ThreadForest::size(record)?;
            let bytes = self.of_contexts.checked_add(size)?;
            // Half of the thread's memory is for forests that are all contexts'.
            let most = room::budget_for((*record).k) / 2;
            if !has_room || !arena::has_plenty() || bytes > most {
                return None;
            }
            self.of_contexts = bytes;
            let forest = ThreadForest::create(&mut self.arena, &mut self.room, context, record)?;
            (*forest).shared.node = node;
            (*context).add_forest(forest);
            Some(forest)
        }
    }

    unsafe fn find(&self, record: *const RecordHeader) -> Option<*mut ThreadForest> {
        if self.size == 0 {
            return None;
        }
        // SAFETY: the caller's; the table has an empty slot, and holds forests.
        unsafe {
            let key = (*record).key;
            let mut index = key as usize & (self.size - 1);
            loop {
                let forest = *self.table.add(index);
                if forest.is_null() {
                    return None;
                }
                if (*forest).shared.record == record || is_reloaded(forest, record) {
                    (*forest).shared.record = record;
                    return Some(forest);
                }
                index = (index + 1) & (self.size - 1);
            }
        }
    }

    unsafe fn vacancy(&self, key: u64) -> *mut *mut ThreadForest {
        let mut index = key as usize & (self.size - 1);
        // SAFETY: the index is below the size; the table is never full.
        unsafe {
            while !(*self.table.add(index)).is_null() {
                index = (index + 1) & (self.size - 1);
            }
            self.table.add(index)
        }
    }

    /// Keeps half of the table of these forests empty.
    fn make_room(&mut self, forests: *mut ThreadForest) -> Option<()> {
        if self.used < self.size / 2 {
            return Some(());
        }
        let size = if self.size == 0 { FIRST_TABLE } else { self.size.checked_mul(2)? };
        let bytes = size.checked_mul(size_of::<*mut ThreadForest>())?;
        self.table = self.arena.allocate(bytes, Purpose::Growth)?.as_ptr().cast();
        self.size = size;
        // SAFETY: the list holds forests, fewer than half of the table's size.
        unsafe {
            ThreadForest::list(forests)
                .filter(|&at| (*at).shared.node.is_null())
                .for_each(|at| *self.vacancy((*at).shared.key) = at);
        }
        Some(())
    }
}

/// Whether a forest of an image that was unloaded belongs to this record of the same image, which
/// was loaded again.
unsafe fn is_reloaded(forest: *mut ThreadForest, record: *const RecordHeader) -> bool {
    // SAFETY: the caller gives a forest and a record; images are never freed.
    unsafe {
        let shared = &(*forest).shared;
        let (key, image): (u64, *mut Image) = (shared.key, shared.image.cast());
        shared.record.is_null()
            && key == (*record).key
            && !image.is_null()
            && (*image).contains(record)
    }
}
