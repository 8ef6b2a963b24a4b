//! A version of a function for one point and key, from the wish for it to its code.
//!
//! The record that emitted code sees is where it is from the beginning, for versions have its
//! address in them, and is complete before it is seen. Versions are never freed, nor used again
//! for another key: whoever has found the record may read it at any time.

use crate::sys;
use core::cell::UnsafeCell;
use core::ffi::c_void;
use core::ptr::{null, null_mut};
use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering};
use midflight_abi::open::{OpenAnswer, OpenAssumption, OpenMade};

/// An exit comes soon if it is so many microseconds behind the entry, or fewer: what was gained
/// until then is less than what it cost to come and go.
const SOON: u64 = 20;

/// How far a version is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Progress {
    /// It is in the queue.
    Queued,
    /// The generator has it.
    Compiling,
    /// It can be used.
    Ready,
    /// There will be none for this key.
    Nothing,
    /// It was left again and again as soon as it was entered.
    Abandoned,
    /// What it assumes does not hold any more.
    Invalid,
    /// The image of its point or of its key is unloaded: it must not be used any more.
    Purged,
}

impl Progress {
    const fn of(number: u32) -> Self {
        match number {
            0 => Self::Queued,
            1 => Self::Compiling,
            2 => Self::Ready,
            3 => Self::Nothing,
            4 => Self::Abandoned,
            5 => Self::Invalid,
            _ => Self::Purged,
        }
    }
}

/// See the module.
#[repr(C)]
pub struct Version {
    /// What emitted code sees. It is first: its address is that of the version.
    made: UnsafeCell<OpenMade>,
    /// The version of the same point that was wished for before it.
    pub next: AtomicPtr<Version>,
    progress: AtomicU32,
    /// It is for all keys: nothing is assumed in it.
    is_generic: bool,
    /// How often a guard of it has failed.
    exits: AtomicU32,
    /// How many exits there were of late that came soon.
    soon: AtomicU32,
    /// When something was made to lead to it last, in microseconds.
    installed: AtomicU64,
    /// How often its guards were asked where exits are tested.
    checks: AtomicU64,
    /// What calls may begin in; null: nothing.
    entry: AtomicPtr<c_void>,
    /// How long it took to make, in microseconds.
    microseconds: AtomicU64,
    /// Bytes of its code and data.
    bytes: AtomicU64,
    guards: AtomicU32,
    /// What it relies on, and how many: written once, before it is ready.
    assumptions: AtomicPtr<OpenAssumption>,
    num_assumptions: AtomicUsize,
}

// SAFETY: what is not atomic is written before others see the version, or before it is ready.
unsafe impl Sync for Version {}

/// What the log has of a version.
pub struct Figures {
    pub microseconds: u64,
    pub bytes: u64,
    pub guards: u64,
    pub checks: u64,
    pub exits: u64,
}

impl Version {
    /// A version for a key, or for all.
    pub const fn new(key: Option<u64>) -> Self {
        let is_generic = key.is_none();
        let key = match key {
            Some(key) => key,
            None => 0,
        };
        Self {
            is_generic,
            soon: AtomicU32::new(0),
            installed: AtomicU64::new(0),
            made: UnsafeCell::new(OpenMade { key, target: null(), next: null(), invalid: 0 }),
            next: AtomicPtr::new(null_mut()),
            progress: AtomicU32::new(Progress::Queued as u32),
            exits: AtomicU32::new(0),
            checks: AtomicU64::new(0),
            entry: AtomicPtr::new(null_mut()),
            microseconds: AtomicU64::new(0),
            bytes: AtomicU64::new(0),
            guards: AtomicU32::new(0),
            assumptions: AtomicPtr::new(null_mut()),
            num_assumptions: AtomicUsize::new(0),
        }
    }

    /// The version whose record emitted code has.
    ///
    /// # Safety
    /// `made` is null or of [`Self::made`].
    pub unsafe fn of(made: *const OpenMade) -> Option<&'static Self> {
        // SAFETY: the record is the version's first field; versions are never freed.
        unsafe { made.cast::<Self>().as_ref() }
    }

    /// What emitted code sees.
    pub fn made(&self) -> *mut OpenMade {
        self.made.get()
    }

    pub fn key(&self) -> u64 {
        // SAFETY: it is never written to after the version was made.
        unsafe { (*self.made.get()).key }
    }

    /// What it relies on. Under the lock.
    pub fn assumptions(&self) -> &'static [OpenAssumption] {
        let start = self.assumptions.load(Ordering::Relaxed);
        if start.is_null() {
            return &[];
        }
        // SAFETY: it is what a generator gave, which stays.
        unsafe { core::slice::from_raw_parts(start, self.num_assumptions.load(Ordering::Relaxed)) }
    }

    /// Notes that what it assumes does not hold any more, and has those who are in it leave it at
    /// their next point. Under the lock.
    pub fn invalidate(&self) {
        self.set_progress(Progress::Invalid);
        // SAFETY: the field is read by atomic operations only, and in the record for ever.
        let invalid = unsafe { AtomicU64::from_ptr(&raw mut (*self.made.get()).invalid) };
        invalid.store(1, Ordering::SeqCst);
    }

    pub fn is_generic(&self) -> bool {
        self.is_generic
    }

    /// What calls may begin in.
    pub fn entry(&self) -> *mut c_void {
        self.entry.load(Ordering::Acquire)
    }

    pub fn progress(&self) -> Progress {
        Progress::of(self.progress.load(Ordering::SeqCst))
    }

    /// Under the lock.
    pub fn set_progress(&self, progress: Progress) {
        self.progress.store(progress as u32, Ordering::SeqCst);
    }

    /// Gives a version up that is ready. Without the lock: one that is being purged stays so.
    pub fn abandon(&self) {
        let (ready, abandoned) = (Progress::Ready as u32, Progress::Abandoned as u32);
        let order = Ordering::SeqCst;
        _ = self.progress.compare_exchange(ready, abandoned, order, order);
    }

    /// Notes what it relies on. Under the lock, while it is being compiled.
    pub fn rely_on(&self, answer: &OpenAnswer) {
        self.assumptions.store(answer.assumptions.cast_mut(), Ordering::Relaxed);
        self.num_assumptions.store(answer.num_assumptions as usize, Ordering::Relaxed);
    }

    /// Makes it ready. Under the lock, while it is being compiled.
    pub fn publish(&self, answer: &OpenAnswer) {
        let made = self.made.get();
        // SAFETY: nobody reads these fields before the version is ready.
        unsafe {
            (&raw mut (*made).target).write(answer.target);
            (&raw mut (*made).next).write(answer.next);
        }
        self.bytes.store(answer.size, Ordering::Relaxed);
        self.guards.store(answer.guards, Ordering::Relaxed);
        self.entry.store(answer.entry.cast_mut(), Ordering::Release);
        self.set_progress(Progress::Ready);
    }

    /// Notes how long it took to make.
    pub fn note_time(&self, microseconds: u64) {
        self.microseconds.store(microseconds, Ordering::Relaxed);
    }

    /// Figures for the log.
    pub fn figures(&self) -> Figures {
        Figures {
            microseconds: self.microseconds.load(Ordering::Relaxed),
            bytes: self.bytes.load(Ordering::Relaxed),
            guards: self.guards.load(Ordering::Relaxed).into(),
            checks: self.checks.load(Ordering::Relaxed),
            exits: self.exits.load(Ordering::Relaxed).into(),
        }
    }

    /// Counts that a guard was asked; how often that was.
    pub fn count_check(&self) -> u64 {
        self.checks.fetch_add(1, Ordering::Relaxed).saturating_add(1)
    }

    /// Notes that something leads to it from now on.
    pub fn note_install(&self) {
        self.installed.store(sys::microseconds(), Ordering::Relaxed);
    }

    /// Counts an exit; how many came soon since the last one that did not.
    #[inline(never)]
    pub fn count_exit(&self) -> u32 {
        self.exits.fetch_add(1, Ordering::Relaxed);
        let since = sys::microseconds().saturating_sub(self.installed.load(Ordering::Relaxed));
        if since > SOON {
            self.soon.store(0, Ordering::Relaxed);
            return 0;
        }
        self.soon.fetch_add(1, Ordering::Relaxed).saturating_add(1)
    }
}
