//! A fire that no version is there for.

use crate::arena::Purpose;
use crate::osr::open::compile::{self, Turn};
use crate::osr::open::handler;
use crate::osr::open::image;
use crate::osr::open::job::Job;
use crate::osr::open::library;
use crate::osr::open::links;
use crate::osr::open::settings::When;
use crate::osr::open::site::{self, Site};
use crate::osr::open::state::{self, OPEN, Open};
use crate::osr::open::thread;
use crate::osr::open::version::{Progress, Version};
use crate::process::signal::Blocked;
use crate::sys;
use core::ptr::null;
use core::sync::atomic::Ordering;
use midflight_abi::open::{OpenMade, OpenSite};

/// Most points that are known. A library that is loaded again has new ones.
const MOST_SITES: usize = 1 << 16;

/// What is to be done outside of the lock.
enum Todo {
    /// The thread has a job.
    Wake,
    /// This thread has one.
    Make(Job, Turn),
    /// There is no loader.
    Tell,
}

/// Wishes for a version, for a key or for all. What the point goes on in, if that is made now.
///
/// # Safety
/// It is the point of code that is mapped.
pub unsafe fn ask(site: *mut OpenSite, key: Option<u64>) -> *const OpenMade {
    if !state::is_open() || state::is_stranger() {
        return null();
    }
    let errno = sys::errno();
    let signals = Blocked::new();
    let open = OPEN.try_lock();
    // SAFETY: the caller's.
    let todo = open.and_then(|mut open| unsafe { wish(&mut open, site, key, &signals) });
    let mut made = null();
    match todo {
        None => {}
        Some(Todo::Wake) => thread::wake(&signals),
        Some(Todo::Tell) => library::tell_of_no_loader(),
        Some(Todo::Make(job, turn)) => {
            drop(signals);
            compile::carry_out(&job, &turn);
            let version = job.version();
            if version.progress() == Progress::Ready {
                // SAFETY: the caller's.
                unsafe { site::install(site, version) };
                made = version.made().cast_const();
            }
        }
    }
    sys::set_errno(errno);
    made
}

/// Under the lock. `None`: nothing is wished for.
///
/// # Safety
/// It is the point of code that is mapped.
unsafe fn wish(
    open: &mut Open,
    emitted: *mut OpenSite,
    key: Option<u64>,
    signals: &Blocked,
) -> Option<Todo> {
    // SAFETY: the caller's.
    let site = unsafe { known(open, emitted) }?;
    // Another thread may have been here.
    if site.made_for(key).is_some() || !site.can_ask(key) {
        return None;
    }
    if links::loader().is_none() {
        state::close();
        return Some(Todo::Tell);
    }
    // SAFETY: the caller's.
    if open.generators.is_missing(unsafe { (*emitted).llvm }) {
        site.close();
        return None;
    }
    let needs_calm = open.settings.when == When::Now || !thread::is_begun();
    if open.queue.is_full()
        || needs_calm && handler::may_be_running(signals.mask(), open.usual_mask)
    {
        site.delay();
        return None;
    }
    if open.settings.when == When::Now {
        let turn = Turn::take()?;
        // SAFETY: the caller's.
        let job = unsafe { add(open, site, key) }?;
        job.version().set_progress(Progress::Compiling);
        return Some(Todo::Make(job, turn));
    }
    // SAFETY: the caller's.
    let job = unsafe { add(open, site, key) }?;
    open.queue.push(job);
    Some(Todo::Wake)
}

/// What is known of a point from now on; `None`: nothing is asked for it.
///
/// # Safety
/// It is the point of code that is mapped.
#[inline(never)]
unsafe fn known(open: &mut Open, emitted: *mut OpenSite) -> Option<&'static Site> {
    // SAFETY: the caller's.
    if let Some(site) = unsafe { Site::of(emitted) } {
        return Some(site);
    }
    if open.settings.when == When::Never || open.site_count >= MOST_SITES {
        // SAFETY: the caller's.
        unsafe { site::close(emitted) };
        return None;
    }
    if !image::has_site(open, emitted) {
        return None;
    }
    let memory = open.arena.allocate(size_of::<Site>(), Purpose::Growth)?.cast::<Site>();
    // SAFETY: the memory is new, large enough and aligned to 16, and never freed.
    let site: &'static Site = unsafe {
        memory.write(Site::new(emitted));
        memory.as_ref()
    };
    site.next.store(open.sites, Ordering::Relaxed);
    open.sites = memory.as_ptr();
    open.site_count += 1;
    // SAFETY: the caller's.
    unsafe { site.hang() };
    Some(site)
}

/// Adds a version to a site, and what makes it. `None`: there is no memory.
///
/// # Safety
/// The site's image is loaded.
unsafe fn add(open: &mut Open, site: &'static Site, key: Option<u64>) -> Option<Job> {
    // SAFETY: the caller's.
    let job = unsafe { create(open, site, key) };
    match &job {
        Some(job) => site.add(job.version()),
        None => site.delay(),
    }
    job
}

/// # Safety
/// The site's image is loaded.
#[inline(never)]
unsafe fn create(open: &mut Open, site: &'static Site, key: Option<u64>) -> Option<Job> {
    let memory = open.arena.allocate(size_of::<Version>(), Purpose::Growth)?.cast::<Version>();
    // SAFETY: the memory is new, large enough and aligned to 16, and never freed. The images that
    // are registered are not unloaded while there is the lock.
    unsafe {
        memory.write(Version::new(key));
        let body = key.and_then(|key| image::body(open, &*site.emitted, key));
        Job::new(site, memory.as_ref(), body, &open.customs)
    }
}
