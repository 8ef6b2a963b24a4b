//! The thread that makes versions.
//!
//! It begins with the first job, and never ends: when the program does, it takes no more jobs
//! (`state::end`), and sleeps until it is gone. If it returned, destructors of what LLVM keeps for
//! each thread would run while those of the program do.

use crate::osr::open::compile::{self, Turn};
use crate::osr::open::job::Job;
use crate::osr::open::library;
use crate::osr::open::links;
use crate::osr::open::state::{self, OPEN};
use crate::osr::open::version::Progress;
use crate::process::ending::OF_LIBC;
use crate::process::signal::Blocked;
use crate::sys;
use core::ffi::c_void;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// Size of its stack.
const STACK: usize = 8 << 20;

/// Whether it was begun.
static BEGUN: AtomicBool = AtomicBool::new(false);

/// How many jobs were given to it.
static POSTED: AtomicU32 = AtomicU32::new(0);

pub fn is_begun() -> bool {
    BEGUN.load(Ordering::Relaxed)
}

/// In the child of a `fork`, which does not have it.
pub fn forget() {
    BEGUN.store(false, Ordering::Relaxed);
}

/// Lets it know of a job in the queue. It is begun if it has not been, with the signals of this
/// thread, all of which are blocked.
pub fn wake(_signals: &Blocked) {
    POSTED.fetch_add(1, Ordering::Release);
    if BEGUN.swap(true, Ordering::Relaxed) {
        sys::wake(&POSTED);
    } else if links::create_thread(run, STACK).is_none() {
        state::close();
        library::tell_of_no_thread();
    }
}

extern "C" fn run(_: *mut c_void) -> *mut c_void {
    // libc's own signals must reach all threads: a thread that sets its user waits for them.
    let of_libc = OF_LIBC.fold(0u64, |set, signal| set | 1 << (signal - 1));
    sys::set_signal_mask(!of_libc);
    // SAFETY: the name is a C string.
    unsafe { libc::syscall(libc::SYS_prctl, libc::PR_SET_NAME, c"midflight-jit".as_ptr()) };
    loop {
        let posted = POSTED.load(Ordering::Acquire);
        match next() {
            Some((job, turn)) => compile::carry_out(&job, &turn),
            None => sys::wait_while(&POSTED, posted),
        }
    }
}

/// The next job, and the turn to do it.
fn next() -> Option<(Job, Turn)> {
    let _signals = Blocked::new();
    let mut open = OPEN.lock()?;
    let turn = Turn::take()?;
    loop {
        let job = open.queue.pop()?;
        if job.version().progress() == Progress::Queued {
            job.version().set_progress(Progress::Compiling);
            return Some((job, turn));
        }
    }
}
