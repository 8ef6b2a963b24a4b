//! What there is once in a process, and what `fork` does to it.
//!
//! Nobody takes the lock of the counting of paths while holding this one, or the other way round,
//! so the handlers of `fork` may take both in any order.

use crate::arena::{Arena, Contents};
use crate::lock::{ProcessGuard, ProcessLock};
use crate::osr::hit;
use crate::osr::image::{self, Image};
use crate::osr::settings::Settings;
use crate::osr::toggle;
use crate::process::signal::Blocked;
use crate::sys;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, Ordering};

/// The state of this copy of the runtime. It is locked with all signals blocked.
pub static STATE: ProcessLock<State> = ProcessLock::new(State {
    process: 0,
    images: null_mut(),
    arena: Arena::new(Contents::Other),
    settings: Settings::new(),
    is_child: false,
    is_in_library: false,
    all_armed: false,
    handled: None,
    written: None,
    serial: None,
    fork: None,
});

/// What there is once in a process.
pub struct State {
    /// The process's ID. A child that was made behind libc's back finds another one here.
    pub process: i32,
    /// The first of the list of images, in the order of their registration.
    pub images: *mut Image,
    /// Where the images are, and what stays of those that were unloaded.
    pub arena: Arena,
    /// What the environment says.
    pub settings: Settings,
    /// Whether the process was made by `fork` after the start.
    pub is_child: bool,
    /// Whether this copy of the runtime is in a shared library, which may be unloaded.
    pub is_in_library: bool,
    /// Whether the signal has armed all points.
    pub all_armed: bool,
    /// The signal that is caught, and what was done about it before.
    pub handled: Option<(i32, libc::sigaction)>,
    /// After the log was written at exit: the number of hits and transitions then.
    pub written: Option<u64>,
    /// The number in the log's name, see `destination::make_unique`.
    pub serial: Option<u64>,
    /// Between the handlers of `fork`.
    fork: Option<Blocked>,
}

// SAFETY: the pointers are to memory that is never freed and is used under the lock.
unsafe impl Send for State {}

static STARTED: AtomicBool = AtomicBool::new(false);

/// Whether images have registered points with this copy of the runtime.
pub fn is_started() -> bool {
    STARTED.load(Ordering::Acquire)
}

/// Reads the environment and prepares for `fork`, once. Called without the lock, since
/// `pthread_atfork` may allocate, and an allocator may have points.
pub fn start(is_in_library: bool) {
    if STARTED.swap(true, Ordering::AcqRel) {
        return;
    }
    {
        let _signals = Blocked::new();
        if let Some(mut state) = STATE.lock() {
            state.process = sys::process_id();
            state.is_in_library = is_in_library;
            state.settings.read();
            hit::begin(&state.settings.fire());
            state.handled = state.settings.signal.map(|signal| (signal, toggle::install(signal)));
        }
    }
    // SAFETY: the handlers are functions of this library. If they cannot be registered, a child
    // is recognised by its ID and writes nothing.
    unsafe { libc::pthread_atfork(Some(before_fork), Some(in_parent), Some(in_child)) };
}

extern "C" fn before_fork() {
    let signals = Blocked::new();
    let Some(mut state) = STATE.lock() else { return };
    state.fork = Some(signals);
    STATE.hold_for_fork(state);
}

extern "C" fn in_parent() {
    after_fork(|_| {});
}

/// A child begins at zero.
extern "C" fn in_child() {
    after_fork(|state| {
        state.process = sys::process_id();
        state.is_child = true;
        state.serial = None;
        image::clear_counts(state);
    });
}

fn after_fork(change: impl FnOnce(&mut State)) {
    let Some(mut state) = STATE.resume_after_fork() else { return };
    let signals = state.fork.take();
    change(&mut state);
    drop::<ProcessGuard<State>>(state);
    drop(signals);
}
