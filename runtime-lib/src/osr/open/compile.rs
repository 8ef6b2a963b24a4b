//! Versions are made one at a time, and published.

use crate::message;
use crate::osr::open::assume;
use crate::osr::open::job::Job;
use crate::osr::open::library;
use crate::osr::open::site;
use crate::osr::open::state::{self, OPEN};
use crate::osr::open::version::Progress;
use crate::process::signal::Blocked;
use crate::sys;
use core::mem::zeroed;
use core::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};
use midflight_abi::open::{OPEN_MADE, OPEN_NOTHING, OpenAnswer};

/// The thread that has the turn; 0: none.
static HOLDER: AtomicI32 = AtomicI32::new(0);

/// Seconds that the end of the program waits for.
const PATIENCE: u64 = 10;

/// Bytes of code of all versions.
static BYTES: AtomicU64 = AtomicU64::new(0);

/// The right to call the generator.
pub struct Turn(());

impl Turn {
    /// Takes it under the lock, so that a `fork` sees whether it is taken. `None`: another thread
    /// has it, or nothing is made any more.
    pub fn take() -> Option<Self> {
        let thread = sys::thread_id();
        HOLDER.compare_exchange(0, thread, Ordering::SeqCst, Ordering::Relaxed).ok()?;
        let turn = Self(());
        // The end of the program has seen the holder, or is seen here.
        state::is_open().then_some(turn)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        HOLDER.store(0, Ordering::SeqCst);
    }
}

/// Whether something is being made.
pub fn is_under_way() -> bool {
    HOLDER.load(Ordering::SeqCst) != 0
}

/// In the child of a `fork`, where there is no such thread.
pub fn forget() {
    HOLDER.store(0, Ordering::SeqCst);
}

/// Whether what is made at the end of the program must be waited for: a generator is about to go.
static MUST_WAIT: AtomicBool = AtomicBool::new(false);

/// Notes that a generator has objects that are destroyed at the end of the program.
pub fn note_that_it_goes() {
    MUST_WAIT.store(true, Ordering::Relaxed);
}

/// Waits for what another thread is making, if it must, but not for ever.
pub fn wait() {
    if !MUST_WAIT.load(Ordering::Relaxed) {
        return;
    }
    let thread = sys::thread_id();
    let until = seconds() + PATIENCE;
    while ![0, thread].contains(&HOLDER.load(Ordering::SeqCst)) && seconds() < until {
        sys::sleep_a_millisecond();
    }
}

fn seconds() -> u64 {
    sys::microseconds() / 1_000_000
}

fn most_bytes() -> u64 {
    let _signals = Blocked::new();
    OPEN.lock().map_or(0, |open| open.settings.memory)
}

/// Makes a version, outside of the lock, and publishes it.
pub fn carry_out(job: &Job, _turn: &Turn) {
    // SAFETY: zeroes are a valid value.
    let mut answer: OpenAnswer = unsafe { zeroed() };
    let generator = library::generator(job.llvm());
    let is_full = BYTES.load(Ordering::Relaxed) >= most_bytes();
    if is_full {
        library::tell_of_no_room();
    } else if let Some(generate) = generator {
        let begin = sys::microseconds();
        // SAFETY: the job has all that the request points to.
        unsafe { generate(job.request(), &raw mut answer) };
        job.version().note_time(sys::microseconds().saturating_sub(begin));
        BYTES.fetch_add(answer.size, Ordering::Relaxed);
        library::note_use();
    }
    let outcome = match answer.status {
        _ if generator.is_none() || is_full => Outcome::NoGenerator,
        OPEN_MADE if !answer.target.is_null() => Outcome::Made,
        OPEN_NOTHING => Outcome::Nothing,
        _ => Outcome::Failed,
    };
    publish(job, &answer, outcome);
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Made,
    Nothing,
    Failed,
    NoGenerator,
}

#[inline(never)]
fn publish(job: &Job, answer: &OpenAnswer, outcome: Outcome) {
    let (site, version) = (job.site(), job.version());
    {
        let _signals = Blocked::new();
        let Some(_open) = OPEN.lock() else { return };
        if version.progress() == Progress::Purged {
            return;
        }
        match outcome {
            Outcome::Made => {
                version.rely_on(answer);
                // SAFETY: what is not purged is of an image that is loaded as long as there is the
                // lock.
                unsafe {
                    if assume::hold(version.assumptions()) {
                        version.publish(answer);
                        site::begin_calls(site.emitted, version);
                    } else {
                        // It is wished for again, as it is to be now.
                        site.invalidate(version);
                    }
                }
            }
            Outcome::Nothing => version.set_progress(Progress::Nothing),
            Outcome::Failed | Outcome::NoGenerator => {
                version.set_progress(Progress::Nothing);
                site.close();
            }
        }
    }
    if outcome == Outcome::Failed && site.fails_first() {
        tell(job, answer);
    }
}

fn tell(job: &Job, answer: &OpenAnswer) {
    // SAFETY: characters are bytes.
    let message: &[u8] = unsafe {
        core::slice::from_raw_parts(answer.message.as_ptr().cast(), answer.message.len())
    };
    let length = message.iter().position(|&byte| byte == 0).unwrap_or(message.len());
    let message = match message.get(..length) {
        Some(message) if !message.is_empty() => message,
        _ => b"the code generator gives no reason",
    };
    let (function, point) = (job.function(), job.point());
    message::print(&[b"no version of '", function, b"' at point '", point, b"': ", message]);
}
