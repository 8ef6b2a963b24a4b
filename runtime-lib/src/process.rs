//! What there is once in a process, and what `fork` does to it.
//!
//! A forked child begins at zero, and writes a profile of its own: the handlers of `fork` hold all
//! locks across it, so the child finds every structure whole; then the child sets all counters to
//! zero. The forests stay, since live activations hold states in them. Contexts of threads that
//! the child does not have wait for new threads.

use crate::arena::Arena;
use crate::config::Config;
use crate::context::{self, Context};
use crate::ending;
use crate::fallback;
use crate::forest::ThreadForest;
use crate::image::Image;
use crate::lock::ProcessLock;
use crate::signal::Blocked;
use crate::sys;
use core::mem::ManuallyDrop;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, Ordering};

/// The process's state.
pub static PROCESS: ProcessLock<Process> = ProcessLock::new(Process {
    id: 0,
    contexts: null_mut(),
    images: null_mut(),
    arena: Arena::new(),
    config: Config::new(),
    exit: None,
    fork: None,
    is_in_library: false,
    serial: None,
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
    /// The number in the profile's name, see `destination::make_unique`.
    pub serial: Option<u64>,
}

// SAFETY: the pointers are to memory that is never freed and is used under the process lock.
unsafe impl Send for Process {}

/// What the handler before a `fork` leaves for those after it.
struct Fork {
    signals: Blocked,
    /// The context of the forking thread, which is not locked; null if it has none.
    own: *mut Context,
}

static STARTED: AtomicBool = AtomicBool::new(false);

/// Whether this copy of the runtime is the one in use.
pub fn is_started() -> bool {
    STARTED.load(Ordering::Acquire)
}

/// Reads the environment and prepares for threads and `fork`, once.
///
/// Called without the lock: `pthread_atfork` may allocate, and an instrumented allocator enters
/// the runtime.
pub fn start() {
    if STARTED.swap(true, Ordering::AcqRel) {
        return;
    }
    context::create_key();
    if let Some(mut process) = PROCESS.lock() {
        process.id = sys::process_id();
        process.config.read();
        ending::catch(process.config.catches_fatal, process.config.dump);
    }
    // SAFETY: the handlers are functions of this library. If they cannot be registered, a child
    // is recognised by its ID and writes nothing.
    unsafe { libc::pthread_atfork(Some(before_fork), Some(in_parent), Some(in_child)) };
}

impl Process {
    /// Calls `visit` with every context, locked, but for that of the calling thread, which is not
    /// inside the runtime.
    pub fn for_each_forest(&self, mut visit: impl FnMut(*mut ThreadForest)) {
        let own = context::find_own(self.contexts);
        self.for_each_context(|context| {
            // SAFETY: contexts are never freed. The calling thread blocks all signals, so that its
            // own context, in which it is not now, stays as it is.
            unsafe {
                let _guard = (context != own).then(|| (*context).lock.lock_as_other());
                let mut forest = (*(*context).data.get()).forests;
                while !forest.is_null() {
                    visit(forest);
                    forest = (*forest).next;
                }
            }
        });
    }

    fn for_each_context(&self, mut visit: impl FnMut(*mut Context)) {
        let mut context = self.contexts;
        while !context.is_null() {
            visit(context);
            // SAFETY: contexts are never freed; the caller holds the process lock.
            context = unsafe { (*(*context).registration.get()).next };
        }
    }

    /// Sets all counters to zero.
    pub fn clear(&mut self) {
        // SAFETY: both locks are held; contexts are never freed.
        self.for_each_forest(|forest| unsafe {
            ThreadForest::clear(forest);
            (*(*(*forest).context).data.get()).baselines.clear();
        });
        fallback::clear();
    }
}

extern "C" fn before_fork() {
    let signals = Blocked::new();
    let Some(mut process) = PROCESS.lock() else { return };
    let own = context::find_own(process.contexts);
    process.for_each_context(|context| {
        if context != own {
            // SAFETY: contexts are never freed.
            let guard = unsafe { (*context).lock.lock_as_other() };
            _ = ManuallyDrop::new(guard);
        }
    });
    process.fork = Some(Fork { signals, own });
    PROCESS.hold_for_fork(process);
}

extern "C" fn in_parent() {
    after_fork(|_, _| {});
}

extern "C" fn in_child() {
    after_fork(|process, own| {
        process.id = sys::process_id();
        process.serial = None;
        // SAFETY: the process lock is held.
        process
            .for_each_context(|context| unsafe { (*context).reassign_after_fork(context == own) });
        process.clear();
    });
}

fn after_fork(change: impl FnOnce(&mut Process, *mut Context)) {
    let Some(mut process) = PROCESS.resume_after_fork() else { return };
    let Some(Fork { signals, own }) = process.fork.take() else { return };
    process.for_each_context(|context| {
        if context != own {
            // SAFETY: this thread has locked it before the fork.
            unsafe { (*context).lock.release_after_fork() };
        }
    });
    change(&mut process, own);
    drop(process);
    drop(signals);
}
