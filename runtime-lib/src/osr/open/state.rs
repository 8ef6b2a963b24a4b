//! What there is once in a process, what `fork` does to it, and its end.
//!
//! Nobody takes another lock while holding this one, or the other way round, so the handlers of
//! `fork` may take all in any order.
//!
//! **A child of `fork`** has no thread that makes versions, and begins one of its own when it needs
//! it. If the parent was making one, the child finds the locks of LLVM and of the loader as they
//! were then: it makes none, ever. Versions that were made go on working in any case.

use crate::arena::{Arena, Contents};
use crate::lock::{ProcessGuard, ProcessLock};
use crate::osr::open::compile;
use crate::osr::open::custom::Customs;
use crate::osr::open::image::Image;
use crate::osr::open::job::Queue;
use crate::osr::open::library::{self, Generators};
use crate::osr::open::settings::{Settings, When};
use crate::osr::open::site::Site;
use crate::osr::open::test;
use crate::osr::open::thread;
use crate::osr::open::version::Progress;
use crate::process::signal::Blocked;
use crate::sys;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicI32, AtomicU32, Ordering};

/// The state of this copy of the runtime. It is locked with all signals blocked.
pub static OPEN: ProcessLock<Open> = ProcessLock::new(Open {
    images: null_mut(),
    sites: null_mut(),
    site_count: 0,
    arena: Arena::new(Contents::Other),
    settings: Settings::new(),
    usual_mask: 0,
    queue: Queue::new(),
    generators: Generators::new(),
    customs: Customs::new(),
    fork: None,
});

/// What there is once in a process.
pub struct Open {
    /// The first of the list of images.
    pub images: *mut Image,
    /// The first of the list of sites of images that are loaded.
    pub sites: *mut Site,
    pub site_count: usize,
    /// Where images, sites and versions are.
    pub arena: Arena,
    /// What the environment says.
    pub settings: Settings,
    /// Signals that were blocked at the start.
    pub usual_mask: u64,
    /// What is to be made.
    pub queue: Queue,
    pub generators: Generators,
    /// Generators of the program's own.
    pub customs: Customs,
    /// Between the handlers of `fork`.
    fork: Option<Blocked>,
}

// SAFETY: the pointers are to memory that is never freed and is used under the lock.
unsafe impl Send for Open {}

impl Open {
    /// The sites of images that are loaded, as long as there is the lock.
    pub fn sites(&self) -> impl Iterator<Item = &'static Site> {
        // SAFETY: sites are never freed.
        let at = |site: *mut Site| unsafe { site.as_ref() };
        core::iter::successors(at(self.sites), move |site| at(site.next.load(Ordering::Relaxed)))
    }
}

/// The process's ID. A child that was made behind libc's back finds another one here.
static PROCESS: AtomicI32 = AtomicI32::new(0);

/// Whether versions are made: `BEFORE` the start, while it is `OPEN`, and not after.
static PHASE: AtomicU32 = AtomicU32::new(BEFORE);

const BEFORE: u32 = 0;
const STARTING: u32 = 1;
const IS_OPEN: u32 = 2;
const CLOSED: u32 = 3;

/// Whether images have registered open points with this copy of the runtime.
pub fn is_started() -> bool {
    PHASE.load(Ordering::SeqCst) != BEFORE
}

/// Whether versions are made.
pub fn is_open() -> bool {
    PHASE.load(Ordering::SeqCst) == IS_OPEN
}

/// Makes no versions from now on.
pub fn close() {
    PHASE.store(CLOSED, Ordering::SeqCst);
}

/// Whether this is another process than the one that was started.
pub fn is_stranger() -> bool {
    PROCESS.load(Ordering::Relaxed) != sys::process_id()
}

/// Reads the environment and prepares for `fork`, once. Called without the lock, since
/// `pthread_atfork` may allocate, and an allocator may have points.
pub fn start() {
    if PHASE.compare_exchange(BEFORE, STARTING, Ordering::SeqCst, Ordering::SeqCst).is_err() {
        return;
    }
    let mut when = When::Never;
    {
        let signals = Blocked::new();
        if let Some(mut open) = OPEN.lock() {
            open.settings.read();
            test::begin(open.settings.exit);
            open.usual_mask = signals.mask();
            when = open.settings.when;
        }
    }
    PROCESS.store(sys::process_id(), Ordering::Relaxed);
    if when != When::Never {
        library::pin();
    }
    // SAFETY: the handlers are functions of this library. If they cannot be registered, a child
    // is recognised by its ID and makes nothing.
    unsafe { libc::pthread_atfork(Some(before_fork), Some(in_parent), Some(in_child)) };
    PHASE.store(IS_OPEN, Ordering::SeqCst);
}

/// Makes no versions any more, and waits a while for the one that is being made: what the generator
/// is made of is about to go.
pub fn end() {
    if is_stranger() {
        return;
    }
    let errno = sys::errno();
    close();
    compile::wait();
    sys::set_errno(errno);
}

extern "C" fn before_fork() {
    let signals = Blocked::new();
    let Some(mut open) = OPEN.lock() else { return };
    open.fork = Some(signals);
    OPEN.hold_for_fork(open);
}

extern "C" fn in_parent() {
    after_fork(|_| {});
}

extern "C" fn in_child() {
    after_fork(|open| {
        PROCESS.store(sys::process_id(), Ordering::Relaxed);
        if compile::is_under_way() {
            close();
        }
        compile::forget();
        thread::forget();
        // What nobody makes any more is wished for again.
        while let Some(job) = open.queue.pop() {
            if job.version().progress() == Progress::Queued {
                // SAFETY: what is not purged is of an image that is loaded.
                unsafe { job.site().purge(job.version()) };
            }
        }
    });
}

fn after_fork(change: impl FnOnce(&mut Open)) {
    let Some(mut open) = OPEN.resume_after_fork() else { return };
    let signals = open.fork.take();
    change(&mut open);
    drop::<ProcessGuard<Open>>(open);
    drop(signals);
}
