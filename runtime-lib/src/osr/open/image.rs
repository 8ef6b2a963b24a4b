//! The linked images with open points, or with functions whose address may be a key.
//!
//! When one is unloaded, nothing may lead any more to versions of its points, or to such for which
//! IR of its functions was inlined; nor may one be published that is being made. All that refers to
//! them is purged while the image's code is still mapped. A thread that has read a point's cache
//! just before may still go on in a version for a function of the image, whose address it then
//! compares with what it is about to call, as ever.

use crate::arena::Purpose;
use crate::message::{self, Decimal};
use crate::osr::open::site;
use crate::osr::open::state::{self, OPEN, Open};
use crate::process::loader::Found;
use crate::process::privilege;
use crate::process::signal::Blocked;
use core::ptr::null;
use core::sync::atomic::Ordering;
use midflight_abi::open::{OPEN_NO_KEY, OPEN_VERSION, OpenBody, OpenCode, OpenSite};

/// An image that is loaded, or the room for one.
pub struct Image {
    next: *mut Image,
    sites: (*const OpenSite, *const OpenSite),
    bodies: (*const OpenBody, *const OpenBody),
}

impl Image {
    fn bodies(&self) -> &[OpenBody] {
        let (start, stop) = self.bodies;
        let size = (stop as usize).saturating_sub(start as usize);
        if start.is_null() {
            return &[];
        }
        // SAFETY: they are the bounds of a section that is mapped as long as it stands here.
        unsafe { core::slice::from_raw_parts(start, size / size_of::<OpenBody>()) }
    }

    fn has_site(&self, site: *const OpenSite) -> bool {
        let (start, stop) = self.sites;
        (start..stop).contains(&site)
    }

    fn has_function(&self, key: u64) -> bool {
        self.bodies().iter().any(|body| body.function as u64 == key)
    }
}

fn all(open: &Open) -> impl Iterator<Item = &Image> {
    // SAFETY: images are never freed; whoever has the state holds its lock.
    unsafe { core::iter::successors(open.images.as_ref(), |image| image.next.as_ref()) }
}

/// Whether a point is of an image that is loaded.
pub fn has_site(open: &Open, site: *const OpenSite) -> bool {
    all(open).any(|image| image.has_site(site))
}

/// The IR of the function whose address a point's key is, if it is known.
pub fn body<'a>(open: &'a Open, site: &OpenSite, key: u64) -> Option<&'a OpenCode> {
    if site.key_kind == OPEN_NO_KEY {
        return None;
    }
    let body = all(open).flat_map(Image::bodies).find(|body| body.function as u64 == key)?;
    // SAFETY: the image is loaded.
    unsafe { body.code.as_ref() }
}

/// Makes the open points of an image known, and its functions with IR. Called by the constructor of
/// each linked image.
///
/// # Safety
/// They are the bounds of the image's sections `midflight_open` and `midflight_open_body`, mapped
/// until [`midflight_osr_unregister_open`] is called; those of either may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_osr_register_open(
    sites_start: *mut OpenSite,
    sites_stop: *mut OpenSite,
    bodies_start: *const OpenBody,
    bodies_stop: *const OpenBody,
) {
    if sites_start >= sites_stop && bodies_start >= bodies_stop {
        return;
    }
    if privilege::is_raised() {
        return privilege::tell();
    }
    // SAFETY: the caller's. All versions have their number at the same place.
    let version = unsafe { sites_start.as_ref() }.map_or(OPEN_VERSION, |site| site.version);
    if version != OPEN_VERSION {
        return refuse(version, Found::containing(sites_start as usize).path());
    }
    state::start();
    let _signals = Blocked::new();
    let Some(mut open) = OPEN.lock() else { return };
    let image = Image {
        next: open.images,
        sites: (sites_start, sites_stop),
        bodies: (bodies_start, bodies_stop),
    };
    // Without memory nothing is inlined, and its points are not asked for.
    _ = add(&mut open, image);
}

fn add(open: &mut Open, mut new: Image) -> Option<()> {
    let mut image = open.images;
    // SAFETY: the list holds images, which are never freed; the caller holds the lock.
    unsafe {
        while let Some(free) = image.as_mut() {
            if free.sites.0.is_null() && free.bodies.0.is_null() {
                new.next = free.next;
                *free = new;
                return Some(());
            }
            image = free.next;
        }
        let memory = open.arena.allocate(size_of::<Image>(), Purpose::Growth)?.cast::<Image>();
        memory.write(new);
        open.images = memory.as_ptr();
    }
    Some(())
}

fn refuse(version: u16, path: &[u8]) {
    message::print(&[
        b"no versions of '",
        path,
        b"' are made at run time: it was compiled for version ",
        Decimal::new(version.into()).bytes(),
        b" of the runtime's interface, and linked with version ",
        Decimal::new(OPEN_VERSION.into()).bytes(),
        b"; compile all of it with one midflight",
    ]);
}

/// Forgets an image, by the starts that it was registered with. Called by the destructor of each
/// linked image but the one that has the runtime's state.
#[unsafe(no_mangle)]
pub extern "C" fn midflight_osr_unregister_open(
    sites_start: *mut OpenSite,
    bodies_start: *const OpenBody,
) {
    let _signals = Blocked::new();
    let Some(mut open) = OPEN.lock() else { return };
    let mut image = open.images;
    // SAFETY: the list holds images, which are never freed; the lock is held.
    while let Some(found) = unsafe { image.as_mut() } {
        if found.sites.0 == sites_start.cast_const() && found.bodies.0 == bodies_start {
            // SAFETY: the image is still loaded.
            unsafe { purge(&mut open, found) };
            (found.sites, found.bodies) = ((null(), null()), (null(), null()));
            return;
        }
        image = found.next;
    }
}

/// Lets nothing lead to what an image has to do with.
///
/// # Safety
/// It is still loaded.
unsafe fn purge(open: &mut Open, image: &Image) {
    let mut place = &raw mut open.sites;
    // SAFETY: sites are never freed; the caller holds the lock, and all images are loaded whose
    // sites are in the list.
    unsafe {
        while let Some(site) = (*place).as_ref() {
            let is_own = image.has_site(site.emitted);
            let is_callee = (*site.emitted).key_kind != OPEN_NO_KEY;
            for version in site.versions() {
                if is_own || is_callee && image.has_function(version.key()) {
                    site.purge(version);
                }
            }
            if is_own {
                site::close(site.emitted);
                *place = site.next.load(Ordering::Relaxed);
                open.site_count -= 1;
            } else {
                place = site.next.as_ptr();
            }
        }
    }
}
