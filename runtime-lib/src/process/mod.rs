//! What there is once in a process, and what `fork` does to it.
//!
//! A forked child begins at zero, and writes a profile of its own: the handlers of `fork` hold all
//! locks across it, so the child finds every structure whole; then the child sets all counters to
//! zero. The forests stay, since live activations hold states in them. Contexts of threads that
//! the child does not have wait for new threads.

pub mod disposition;
pub mod ending;
pub mod handler_stack;
pub mod hooks;
pub mod image;
pub mod loader;
pub mod privilege;
pub mod sanitizer;
pub mod signal;
pub mod signal_name;

use crate::arena::{Arena, Contents};
use crate::config::Config;
use crate::contexts;
use crate::contexts::tree::Tree;
use crate::file::live;
use crate::file::output;
use crate::lock::{ProcessGuard, ProcessLock};
use crate::paths::baseline;
use crate::paths::context::{self, Context};
use crate::paths::fallback;
use crate::paths::forest::ThreadForest;
use crate::process::image::Image;
use crate::process::signal::Blocked;
use crate::sys;
use core::mem::ManuallyDrop;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use midflight_abi::RecordHeader;
use midflight_profile::format::{FLAG_BEGAN_WITHIN, FLAG_WENT_ON};

pub static PROCESS: ProcessLock<Process> = ProcessLock::new(Process {
    id: 0,
    contexts: null_mut(),
    images: null_mut(),
    arena: Arena::new(Contents::Profile),
    config: Config::new(),
    exit: None,
    fork: None,
    is_in_library: false,
    signature: 0,
    serial: None,
    began_within: false,
});

/// What there is once in a process.
pub struct Process {
    /// Its ID. A child that was made behind libc's back finds another one here than its own.
    pub id: i32,
    /// The first of the list of contexts.
    pub contexts: *mut Context,
    /// The first of the list of images, in the order of their registration.
    pub images: *mut Image,
    /// Where the images are.
    pub arena: Arena,
    /// What the environment says.
    pub config: Config,
    /// After the profile was written at exit: the number of activations then.
    pub exit: Option<u64>,
    /// Between the handlers of `fork`.
    fork: Option<Fork>,
    /// Whether this copy of the runtime is in a shared library, which may be unloaded.
    pub is_in_library: bool,
    /// What `%m` stands for: the signature of the program or, if it is not instrumented, of the
    /// first library that is.
    pub signature: u64,
    /// The number in the profile's name, see `destination::make_unique`.
    pub serial: Option<u64>,
    /// Whether activations were under way when counting began, at a fork or a reset.
    began_within: bool,
}

// SAFETY: the pointers are to memory that is never freed and is used under the process lock.
unsafe impl Send for Process {}

/// What the handler before a `fork` leaves for those after it.
struct Fork {
    signals: Blocked,
    /// The context of the forking thread, which is not locked; null if it has none.
    own: *mut Context,
    /// What was in the file that this process counts in.
    memory: Option<live::Copy>,
}

static STARTED: AtomicBool = AtomicBool::new(false);

/// The process's ID, as in the state, for those that must not lock.
static ID: AtomicI32 = AtomicI32::new(0);

/// Whether this is another process than the one that counts: a child of `vfork`, or one that was
/// made behind libc's back.
pub fn is_stranger() -> bool {
    ID.load(Ordering::Relaxed) != sys::process_id()
}

/// Whether this copy of the runtime is the one in use.
pub fn is_started() -> bool {
    STARTED.load(Ordering::Acquire)
}

/// The process's state, locked. `None`: the calling thread has locked it already, or the state is
/// another process's.
pub fn lock() -> Option<ProcessGuard<'static, Process>> {
    if live::is_stranger() {
        return None;
    }
    PROCESS.lock()
}

/// Prepares for threads and `fork`, once. `is_in_library`: this copy of the runtime is in a shared
/// library.
///
/// Called without the lock: `pthread_atfork` may allocate, and an instrumented allocator enters
/// the runtime.
pub fn start(is_in_library: bool) {
    // Miri has no signals, no `fork`, and no list of what is loaded.
    if STARTED.swap(true, Ordering::AcqRel) || cfg!(miri) {
        return;
    }
    context::create_key();
    if !is_in_library {
        sanitizer::catch_death();
    }
    if let Some(mut process) = PROCESS.lock() {
        process.is_in_library = is_in_library;
        process.configure();
    }
    // SAFETY: the handlers are functions of this library. If they cannot be registered, a child
    // is recognised by its ID and writes nothing.
    unsafe { libc::pthread_atfork(Some(before_fork), Some(in_parent), Some(in_child)) };
}

impl Process {
    fn set_id(&mut self, id: i32) {
        self.id = id;
        ID.store(id, Ordering::Relaxed);
    }

    /// Reads the environment, once.
    pub fn configure(&mut self) {
        if self.id == 0 {
            self.set_id(sys::process_id());
            if cfg!(miri) {
                // The environment is not asked either.
                return;
            }
            self.config.read();
            ending::catch(self.config.catches_fatal, self.config.dump);
        }
    }

    /// Calls `visit` with every context, locked, but for that of the calling thread, which is not
    /// inside the runtime.
    pub fn for_each_context(&self, mut visit: impl FnMut(*mut Context)) {
        let own = context::find_own(self.contexts);
        for context in self.contexts() {
            // SAFETY: contexts are never freed. The calling thread blocks all signals, so that its
            // own context, in which it is not now, stays as it is.
            let _guard = (context != own).then(|| unsafe { (*context).lock.lock_as_other() });
            visit(context);
        }
    }

    /// The same with every forest.
    pub fn for_each_forest(&self, mut visit: impl FnMut(*mut ThreadForest)) {
        // SAFETY: the context is locked, or the calling thread's own.
        self.for_each_context(|context| unsafe {
            ThreadForest::list((*context).forests()).for_each(&mut visit);
        });
    }

    /// The same with every tree of calling contexts.
    pub fn for_each_tree(&self, mut visit: impl FnMut(&Tree)) {
        // SAFETY: the context is locked, or the calling thread's own.
        self.for_each_context(|context| unsafe { visit(&(*(*context).data.get()).tree) });
    }

    /// The place in the list of an image: the one that is known or, where that is null, the one
    /// that a record is in.
    pub fn place_of(&self, known: *mut Image, record: *const RecordHeader) -> Option<u32> {
        let is_it = |image: &Image| match known.is_null() {
            true => image.contains(record),
            false => core::ptr::eq(known, image),
        };
        self.images().position(is_it).map(|index| index as u32)
    }

    pub fn contexts(&self) -> impl Iterator<Item = *mut Context> + use<> {
        // SAFETY: it is the list of contexts.
        unsafe { Context::list(self.contexts) }
    }

    /// All images, in the order of their registration.
    pub fn images(&self) -> impl Iterator<Item = &Image> {
        // SAFETY: images are never freed; the caller holds the process lock.
        unsafe { core::iter::successors(self.images.as_ref(), |image| image.next().as_ref()) }
    }

    /// Counts from zero, in activations that are under way.
    pub fn begin_within(&mut self) {
        self.began_within = true;
        live::note_beginning();
        self.clear();
    }

    /// What is to be known of a profile that is written now, but for what memory was short for.
    pub fn flags(&self) -> u32 {
        let began_within = self.began_within || baseline::was_turned();
        let flags = [
            (began_within, FLAG_BEGAN_WITHIN),
            // SAFETY: the process is locked.
            (unsafe { context::others_count(self.contexts) }, FLAG_WENT_ON),
        ];
        flags.into_iter().filter_map(|(holds, flag)| holds.then_some(flag)).sum()
    }

    /// Sets all counters to zero.
    pub fn clear(&mut self) {
        live::clear(|| {
            // SAFETY: both locks are held; contexts are never freed.
            self.for_each_context(|context| unsafe {
                ThreadForest::list((*context).forests()).for_each(|forest| {
                    ThreadForest::clear(forest);
                });
                (*(*context).data.get()).baselines.clear();
                (*(*context).data.get()).tree.clear();
            });
            fallback::clear();
            contexts::fallback::clear();
            contexts::time::begin();
        });
    }
}

extern "C" fn before_fork() {
    let signals = Blocked::new();
    let Some(mut process) = lock() else { return };
    let own = context::find_own(process.contexts);
    for context in process.contexts().filter(|&context| context != own) {
        // SAFETY: contexts are never freed.
        let guard = unsafe { (*context).lock.lock_as_other() };
        _ = ManuallyDrop::new(guard);
    }
    let memory = live::Copy::make();
    process.fork = Some(Fork { signals, own, memory });
    PROCESS.hold_for_fork(process);
}

extern "C" fn in_parent() {
    let Some(mut process) = PROCESS.resume_after_fork() else { return };
    let Some(fork) = process.fork.take() else { return };
    release(&process, fork.own);
    drop(process);
    drop(fork.signals);
    ending::after_fork_in_parent();
}

extern "C" fn in_child() {
    let Some(mut process) = PROCESS.resume_after_fork() else { return };
    let Some(Fork { signals, own, memory }) = process.fork.take() else { return };
    process.set_id(sys::process_id());
    process.serial = None;
    contexts::calls::after_fork_in_child();
    contexts::burst::after_fork_in_child();
    output::renew_file(&mut process, memory, |process| {
        release(process, own);
        for context in process.contexts() {
            // SAFETY: the process lock is held.
            unsafe { (*context).reassign_after_fork(context == own) };
        }
        process.begin_within();
    });
    drop(process);
    drop(signals);
}

/// Unlocks the contexts that this thread has locked before the fork: all but its own.
fn release(process: &Process, own: *mut Context) {
    for context in process.contexts().filter(|&context| context != own) {
        // SAFETY: as above.
        unsafe { (*context).lock.release_after_fork() };
    }
}
