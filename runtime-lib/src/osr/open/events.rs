//! What the log has of versions that were made.

use crate::osr::log::{put_number, put_text};
use crate::osr::open::site::Site;
use crate::osr::open::state::OPEN;
use crate::osr::open::version::{Progress, Version};
use crate::sys;
use core::ffi::{CStr, c_char};
use midflight_profile::format::Sink;

/// How often the lock is tried, a millisecond apart.
const TRIES: u32 = 100;

/// Writes a line for each version of points of images that are loaded. The caller has another lock,
/// and a `fork` takes both in any order: so this one is not waited for without end.
pub fn put_versions<S: Sink>(to: &mut S) -> Result<(), S::Error> {
    let attempt = |number: u32| {
        if number > 0 {
            sys::sleep_a_millisecond();
        }
        OPEN.try_lock()
    };
    let Some(open) = (0..TRIES).find_map(attempt) else { return Ok(()) };
    for site in open.sites() {
        for version in site.versions() {
            put_version(site, version, to)?;
        }
    }
    Ok(())
}

fn put_version<S: Sink>(site: &Site, version: &Version, to: &mut S) -> Result<(), S::Error> {
    // SAFETY: the site's image is loaded as long as there is the lock.
    let point = unsafe { &*site.emitted.cast_const() };
    let figures = version.figures();
    to.put(b"{\"event\":\"version\"")?;
    // SAFETY: as above: they are texts of the image.
    unsafe {
        put_text(b"point", text(point.point), to)?;
        put_text(b"file", text(point.file), to)?;
        put_text(b"function", text(point.function), to)?;
        put_text(b"generator", text(point.generator), to)?;
    }
    if version.is_generic() {
        put_text(b"kind", b"generic", to)?;
    } else {
        put_text(b"kind", b"special", to)?;
        put_number(b"key", version.key(), to)?;
    }
    let state: &[u8] = match version.progress() {
        Progress::Queued => b"queued",
        Progress::Compiling => b"compiling",
        Progress::Ready => b"ready",
        Progress::Nothing => b"nothing",
        Progress::Abandoned => b"abandoned",
        Progress::Invalid => b"invalidated",
        Progress::Purged => b"purged",
    };
    put_text(b"state", state, to)?;
    put_number(b"microseconds", figures.microseconds, to)?;
    put_number(b"bytes", figures.bytes, to)?;
    put_number(b"guards", figures.guards, to)?;
    put_number(b"checks", figures.checks, to)?;
    put_number(b"exits", figures.exits, to)?;
    to.put(b"}\n")
}

/// The characters of a text; none if there is none.
///
/// # Safety
/// It is null or a C string.
pub unsafe fn text<'a>(text: *const c_char) -> &'a [u8] {
    // SAFETY: the caller's.
    unsafe { if text.is_null() { b"" } else { CStr::from_ptr(text).to_bytes() } }
}
