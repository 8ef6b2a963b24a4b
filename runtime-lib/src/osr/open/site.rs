//! What is known of an open point that has fired.
//!
//! It hangs on the point, is read without a lock, and is never freed. What leads to a version, the
//! point's cache and the function's entry, is set where the point fires and cleared where the
//! version must not be used any more ([`purge`](Site::purge)), by threads that do not wait for
//! each other: the one sets and then looks whether the version is still ready, the other makes it
//! not ready and then clears. So one of them sees the other.

use crate::osr::open::ask;
use crate::osr::open::test;
use crate::osr::open::version::{Progress, Version};
use core::ffi::c_void;
use core::ptr::{null, null_mut};
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, Ordering};
use midflight_abi::open::{OPEN_VERSION, OpenMade, OpenSite};

/// Most versions that a point has at a time. One with more keys is not worth any.
const MOST_VERSIONS: usize = 8;

/// Binary logarithm of most fires that are ignored after an exit, and one.
const MOST_IGNORED: u32 = 20;

/// After so many exits in a row that come soon, a version is given up.
const MOST_SOON: u32 = 8;

/// After so many fires for which there is no version, and will be none, one is made for all keys.
const MOST_IN_VAIN: u32 = 8;

/// See the module.
pub struct Site {
    /// The site that was made before it. Under the lock.
    pub next: AtomicPtr<Site>,
    /// The point; it is gone when its image is.
    pub emitted: *mut OpenSite,
    /// The version that was wished for last.
    versions: AtomicPtr<Version>,
    /// Fires to come that are ignored.
    ignored: AtomicU32,
    /// Fires for which there will be no version of their key.
    in_vain: AtomicU32,
    /// Versions that relied on what does not hold any more
    invalid: AtomicU32,
    /// How often it could not be asked for a version.
    delays: AtomicU32,
    /// Whether nothing more is asked for.
    is_closed: AtomicBool,
    /// Whether a version could not be made.
    has_failed: AtomicBool,
}

// SAFETY: the point is used by its own code, or under the lock while its image is registered.
unsafe impl Sync for Site {}

/// What hangs on points for which nothing is asked.
static CLOSED: Site = Site { is_closed: AtomicBool::new(true), ..Site::new(null_mut()) };

impl Site {
    pub const fn new(emitted: *mut OpenSite) -> Self {
        Self {
            next: AtomicPtr::new(null_mut()),
            emitted,
            versions: AtomicPtr::new(null_mut()),
            ignored: AtomicU32::new(0),
            in_vain: AtomicU32::new(0),
            invalid: AtomicU32::new(0),
            delays: AtomicU32::new(0),
            is_closed: AtomicBool::new(false),
            has_failed: AtomicBool::new(false),
        }
    }

    /// What hangs on a point.
    ///
    /// # Safety
    /// It is the point of code that is mapped.
    pub unsafe fn of(site: *mut OpenSite) -> Option<&'static Self> {
        // SAFETY: the caller's; what hangs there is never freed.
        unsafe { runtime(site).load(Ordering::Acquire).cast::<Self>().as_ref() }
    }

    /// Hangs it on its point.
    ///
    /// # Safety
    /// The point's image is loaded.
    pub unsafe fn hang(&'static self) {
        // SAFETY: the caller's.
        unsafe { runtime(self.emitted) }
            .store((&raw const *self).cast_mut().cast(), Ordering::Release);
    }

    /// Asks for nothing any more; versions that there are stay.
    pub fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
    }

    /// Notes that a version could not be made; whether it is the first.
    pub fn fails_first(&self) -> bool {
        !self.has_failed.swap(true, Ordering::Relaxed)
    }

    /// Whether there is a wish that it can have: for a version of a key, or of all.
    #[inline(never)]
    pub fn can_ask(&self, key: Option<u64>) -> bool {
        let counts =
            |version: &&Version| !version.is_generic() && version.progress() != Progress::Invalid;
        let has_room = || self.versions().filter(counts).count() < MOST_VERSIONS;
        (key.is_none() || has_room()) && !self.is_closed.load(Ordering::Relaxed)
    }

    /// The versions, the newest first.
    pub fn versions(&self) -> impl Iterator<Item = &'static Version> + use<> {
        // SAFETY: versions are never freed. One that is taken out of the list still leads on.
        let at = |place: &AtomicPtr<Version>| unsafe { place.load(Ordering::Acquire).as_ref() };
        core::iter::successors(at(&self.versions), move |version| at(&version.next))
    }

    /// The version that was wished for, for a key or for all.
    #[inline(never)]
    pub fn made_for(&self, key: Option<u64>) -> Option<&'static Version> {
        let is_it = |version: &&Version| {
            version.progress() != Progress::Invalid
                && match key {
                    Some(key) => !version.is_generic() && version.key() == key,
                    None => version.is_generic(),
                }
        };
        self.versions().find(is_it)
    }

    /// Adds a version. Under the lock.
    pub fn add(&self, version: &'static Version) {
        version.next.store(self.versions.load(Ordering::Relaxed), Ordering::Relaxed);
        self.versions.store((&raw const *version).cast_mut(), Ordering::Release);
    }

    /// Lets nothing lead to a version any more, and forgets it. Under the lock.
    ///
    /// # Safety
    /// The point's image is loaded.
    #[inline(never)]
    pub unsafe fn purge(&self, version: &Version) {
        version.set_progress(Progress::Purged);
        // SAFETY: the caller's.
        unsafe { withdraw(self.emitted, version) };
        let after = version.next.load(Ordering::Relaxed);
        let mut place = &self.versions;
        // SAFETY: versions are never freed.
        while let Some(at) = unsafe { place.load(Ordering::Relaxed).as_ref() } {
            if core::ptr::eq(at, version) {
                place.store(after, Ordering::Release);
                return;
            }
            place = &at.next;
        }
    }

    /// Lets nothing lead any more to a version that relies on what does not hold any more. Where
    /// that is so again and again the point is not worth any: fires are ignored for longer each
    /// time, so that there are few such versions. Under the lock.
    ///
    /// # Safety
    /// The point's image is loaded.
    pub unsafe fn invalidate(&self, version: &Version) {
        version.invalidate();
        // SAFETY: the caller's.
        unsafe { withdraw(self.emitted, version) };
        let invalid = self.invalid.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        self.ignore_after(invalid);
    }

    /// Ignores fires for a while, longer each time: it was no place to ask.
    pub fn delay(&self) {
        let delays = self.delays.fetch_add(1, Ordering::Relaxed).saturating_add(1);
        self.ignore_after(delays);
    }

    /// Ignores the next 2^`times` − 1 fires.
    #[inline(never)]
    fn ignore_after(&self, times: u32) {
        let fires = (1 << times.min(MOST_IGNORED)) - 1;
        self.ignored.fetch_max(fires, Ordering::Relaxed);
    }

    /// Whether there will be no version for a key, and there have been many such fires.
    #[inline(never)]
    fn fires_in_vain(&self, key: u64) -> bool {
        let is_hopeless = match self.made_for(Some(key)).map(Version::progress) {
            Some(progress) => [Progress::Nothing, Progress::Abandoned].contains(&progress),
            None => !self.can_ask(Some(key)),
        };
        is_hopeless && self.in_vain.fetch_add(1, Ordering::Relaxed) >= MOST_IN_VAIN
    }

    /// Whether this fire is ignored.
    fn ignores(&self) -> bool {
        let less = |left: u32| left.checked_sub(1);
        self.ignored.load(Ordering::Relaxed) != 0
            && self.ignored.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }
}

/// See [`midflight_osr_open`](super::midflight_osr_open).
///
/// # Safety
/// It is the point of code that is mapped.
pub unsafe fn fire(site: *mut OpenSite, key: u64) -> *const OpenMade {
    // SAFETY: the caller's; the version is there before it is all that the compiler has made.
    unsafe {
        if (*site).version != OPEN_VERSION {
            return null();
        }
        let Some(known) = Site::of(site) else { return ask::ask(site, Some(key)) };
        if known.ignores() {
            return null();
        }
        let made = enter(site, known, Some(key));
        if !made.is_null() || !known.fires_in_vain(key) {
            return made;
        }
        enter(site, known, None)
    }
}

/// What the point goes on in, for a key or for all; it is wished for if it is not there yet.
///
/// # Safety
/// As [`fire`].
#[inline(never)]
unsafe fn enter(site: *mut OpenSite, known: &Site, key: Option<u64>) -> *const OpenMade {
    // SAFETY: the caller's.
    unsafe {
        match known.made_for(key) {
            Some(version) if version.progress() == Progress::Ready => {
                install(site, version);
                version.made()
            }
            None if known.can_ask(key) => ask::ask(site, key),
            _ => null(),
        }
    }
}

/// See [`midflight_osr_left`](super::midflight_osr_left).
///
/// # Safety
/// It is the point of code that is mapped, and the record of a version of it.
pub unsafe fn leave(site: *mut OpenSite, made: *const OpenMade) {
    // SAFETY: the caller's.
    unsafe {
        let Some(version) = Version::of(made) else { return };
        let soon = version.count_exit();
        if soon >= MOST_SOON && !test::is_on() {
            version.abandon();
        }
        withdraw(site, version);
        if let Some(known) = Site::of(site).filter(|_| !test::is_on()) {
            known.ignore_after(soon);
        }
    }
}

/// Hangs on a point that nothing is asked for it.
///
/// # Safety
/// Its image is loaded.
pub unsafe fn close(site: *mut OpenSite) {
    // SAFETY: the caller's.
    unsafe { runtime(site) }.store((&raw const CLOSED).cast_mut().cast(), Ordering::Release);
}

/// Lets the point, and calls of the function, lead to a version that was ready just now.
///
/// # Safety
/// The point's image is loaded.
#[inline(never)]
pub unsafe fn install(site: *mut OpenSite, version: &Version) {
    // SAFETY: the caller's.
    unsafe {
        version.note_install();
        cache(site).store(version.made().cast(), Ordering::SeqCst);
        begin_calls(site, version);
    }
}

/// Lets calls of the function lead to a version that was ready just now.
///
/// # Safety
/// The point's image is loaded.
pub unsafe fn begin_calls(site: *mut OpenSite, version: &Version) {
    // SAFETY: the caller's.
    unsafe {
        let entry = version.entry();
        if !entry.is_null()
            && let Some(place) = entry_place(site)
        {
            place.store(entry, Ordering::SeqCst);
        }
        if version.progress() != Progress::Ready {
            withdraw(site, version);
        }
    }
}

/// Lets nothing lead to a version that does.
///
/// # Safety
/// The point's image is loaded.
#[inline(never)]
unsafe fn withdraw(site: *mut OpenSite, version: &Version) {
    let clear = |place: &AtomicPtr<c_void>, what: *mut c_void| {
        _ = place.compare_exchange(what, null_mut(), Ordering::SeqCst, Ordering::SeqCst);
    };
    // SAFETY: the caller's.
    unsafe {
        clear(cache(site), version.made().cast());
        let entry = version.entry();
        if !entry.is_null()
            && let Some(place) = entry_place(site)
        {
            clear(place, entry);
        }
    }
}

unsafe fn runtime(site: *mut OpenSite) -> &'static AtomicPtr<c_void> {
    // SAFETY: the caller's: the point is mapped as long as this is used.
    unsafe { AtomicPtr::from_ptr(&raw mut (*site).runtime) }
}

unsafe fn cache(site: *mut OpenSite) -> &'static AtomicPtr<c_void> {
    // SAFETY: as above.
    unsafe { AtomicPtr::from_ptr((&raw mut (*site).cache).cast()) }
}

/// Where calls of the function look for what to begin in.
unsafe fn entry_place(site: *mut OpenSite) -> Option<&'static AtomicPtr<c_void>> {
    // SAFETY: as above; so is the IR of its function.
    unsafe {
        let entry = (*site).code.as_ref()?.entry;
        (!entry.is_null()).then(|| AtomicPtr::from_ptr(entry.cast()))
    }
}
