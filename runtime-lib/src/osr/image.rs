//! The linked images whose functions have OSR points.
//!
//! The records of an image that is unloaded are gone with it, so they are copied before; whoever
//! walks over the images finds the copy in their place. When the image is loaded again its counts
//! go on.

use crate::arena::{Arena, Purpose};
use crate::message::{self, Decimal};
use crate::osr::arm;
use crate::osr::barrier;
use crate::osr::choice;
use crate::osr::copy::copy_records;
use crate::osr::index::Index;
use crate::osr::patch::{self, Place, Places};
use crate::osr::record::{self, Function, Functions, Refusal, Site};
use crate::osr::state::{self, STATE, State};
use crate::process::loader::Found;
use crate::process::privilege;
use crate::process::signal::Blocked;
use core::ptr::null_mut;
use core::sync::atomic::Ordering;
use midflight_abi::osr::{OSR_VERSION, OsrPatch};
use midflight_profile::table::image_signature;

/// An image that is or was loaded.
pub struct Image {
    next: *mut Image,
    /// Bounds of its records, or of their copy.
    start: usize,
    stop: usize,
    /// Its places in the code; none while it is not loaded.
    pub places: Places,
    /// Its sites by their identities, if it has places.
    pub index: Index,
    /// Whether its code is mapped so that it can be written to.
    pub is_code_writable: bool,
    is_loaded: bool,
    /// Whether it is the program itself.
    is_program: bool,
    /// Identity of its points.
    signature: u64,
    /// A copy of the records that was made when it was unloaded; null if it never was.
    copy: *mut u8,
}

impl Image {
    /// Bounds of its records, or of their copy.
    pub fn bounds(&self) -> (usize, usize) {
        (self.start, self.stop)
    }

    pub fn functions(&self) -> Functions {
        // SAFETY: the records were checked, and are mapped or copied as long as they stand here.
        unsafe { Functions::new(self.start, self.stop) }
    }

    pub fn sites(&self) -> impl Iterator<Item = Site> + Clone {
        self.functions().flat_map(Function::sites)
    }

    /// Whether its records are laid out as those of another, with the same sites in the same order.
    fn has_sites_of(&self, other: &Self) -> bool {
        let id = |site: Site| site.info().id;
        self.signature == other.signature
            && self.stop - self.start == other.stop - other.start
            && self.sites().map(id).eq(other.sites().map(id))
    }

    /// Makes its places known; `None` if there is no memory, then it has none.
    fn fill_index(&mut self, arena: &mut Arena) -> Option<&Self> {
        if !self.places.is_empty() {
            let mut index = self.index;
            let filled = index.fill(self.sites(), self.places, arena);
            self.index = index;
            if filled.is_none() {
                self.places = &[];
                return None;
            }
            barrier::prepare();
        }
        Some(self)
    }
}

pub fn loaded(state: &State) -> impl Iterator<Item = &Image> + Clone {
    all(state).filter(|image| image.is_loaded)
}

/// All images, in the order of their registration.
pub fn all(state: &State) -> impl Iterator<Item = &Image> + Clone {
    // SAFETY: images are never freed; whoever has the state holds its lock.
    unsafe { core::iter::successors(state.images.as_ref(), |image| image.next.as_ref()) }
}

/// What `%m` stands for: the signature of the program or, if it has no points, of the first
/// library that has.
pub fn program_signature(state: &State) -> u64 {
    let program = all(state).find(|image| image.is_program);
    program.or(all(state).next()).map_or(0, |image| image.signature)
}

/// Makes the OSR points of an image known. Called by the constructor of each linked image.
///
/// # Safety
/// They are the bounds of the image's sections `midflight_osr` and `midflight_osr_patch`, mapped
/// until [`midflight_osr_unregister`](super::midflight_osr_unregister) is called; those of the
/// second may be null.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_osr_register(
    start: *mut u8,
    stop: *mut u8,
    patch_start: *const OsrPatch,
    patch_stop: *const OsrPatch,
) {
    if start.is_null() || start >= stop {
        return;
    }
    if privilege::is_raised() {
        return privilege::tell();
    }
    // The loader's lock is taken before that of the state, as in a constructor.
    // SAFETY: the caller's.
    let places = unsafe { patch::places(patch_start, patch_stop) };
    let first_place = places.ok().and_then(|places| places.first()).map(Place::of);
    let is_code_writable =
        first_place.is_some_and(|place| Found::containing(place.address).is_writable);
    let found = Found::containing(start as usize);
    state::start(!Found::containing(report as *const () as usize).is_program);
    let _signals = Blocked::new();
    // SAFETY: the caller's.
    let result = unsafe { record::check(start as usize, stop as usize) }.and_then(|()| {
        let Some(mut state) = STATE.lock() else { return Ok(()) };
        let mut new = Image {
            next: null_mut(),
            start: start as usize,
            stop: stop as usize,
            places: places?,
            index: Index::empty(),
            is_code_writable,
            is_loaded: true,
            is_program: found.is_program,
            signature: 0,
            copy: null_mut(),
        };
        new.signature = image_signature(new.sites().map(|site| site.info().id));
        let image = add(&mut state, new).ok_or(Refusal::Memory)?;
        arm::as_environment_says(&state, image);
        Ok(())
    });
    if let Err(refusal) = result {
        report(refusal, found.path());
    }
}

/// Puts an image in the list, in the place of the one that it was before it was unloaded.
fn add(state: &mut State, mut new: Image) -> Option<&'static Image> {
    let mut place = &raw mut state.images;
    // SAFETY: the list holds images, which are never freed; the caller holds the lock.
    unsafe {
        while let Some(image) = (*place).as_mut() {
            if !image.is_loaded && image.has_sites_of(&new) {
                move_counts(image, &new);
                new.next = image.next;
                new.copy = image.copy;
                new.index = image.index;
                *image = new;
                return image.fill_index(&mut state.arena);
            }
            place = &raw mut image.next;
        }
        let memory = state.arena.allocate(size_of::<Image>(), Purpose::Growth)?;
        let memory = memory.as_ptr().cast::<Image>();
        memory.write(new);
        *place = memory;
        (*memory).fill_index(&mut state.arena)
    }
}

/// Adds the counts of one image to another with the same sites, and takes them from the first.
fn move_counts(from: &Image, to: &Image) {
    for (from, to) in from.sites().zip(to.sites()) {
        let (hits, transitions) = (from.hits(), from.transitions());
        to.hits().fetch_add(hits.swap(0, Ordering::Relaxed), Ordering::Relaxed);
        to.transitions().fetch_add(transitions.swap(0, Ordering::Relaxed), Ordering::Relaxed);
    }
}

fn report(refusal: Refusal, path: &[u8]) {
    const BEGIN: &[u8] = b"the OSR points of '";
    match refusal {
        Refusal::Version(version) => message::print(&[
            BEGIN,
            path,
            b"' cannot be controlled: they were compiled for version ",
            Decimal::new(u64::from(version)).bytes(),
            b" of the runtime's interface, and linked with version ",
            Decimal::new(u64::from(OSR_VERSION)).bytes(),
            b"; compile all of it with one midflight",
        ]),
        Refusal::Malformed => message::print(&[
            BEGIN,
            path,
            b"' cannot be controlled: its sections midflight_osr* are damaged; link it again",
        ]),
        Refusal::Memory => message::print(&[
            BEGIN,
            path,
            b"' cannot be controlled: there is no memory; raise MIDFLIGHT_MAX_MEMORY or the limit on address space (ulimit -v)",
        ]),
    }
}

/// Lets go of the records that begin at `start`; their counts stay.
pub fn unregister(start: *const u8) {
    let _signals = Blocked::new();
    let Some(mut state) = STATE.lock() else { return };
    let state = &mut *state;
    let mut place = &raw mut state.images;
    // SAFETY: the list holds images, which are never freed; the lock is held.
    unsafe {
        while let Some(image) = (*place).as_mut() {
            if image.is_loaded && image.start == start as usize {
                if unload(image, &mut state.arena).is_none() {
                    message::print(&[
                        b"the OSR counts of a library that is unloaded are lost: there is no memory; raise MIDFLIGHT_MAX_MEMORY",
                    ]);
                    // An image without sites.
                    (image.start, image.stop) = (0, 0);
                }
                image.is_loaded = false;
                image.places = &[];
                return;
            }
            place = &raw mut image.next;
        }
    }
}

/// Puts a copy of the records in the place of those that go; `None` if there is no memory.
fn unload(image: &mut Image, arena: &mut Arena) -> Option<()> {
    let size = image.stop - image.start;
    let is_new = image.copy.is_null();
    if is_new {
        image.copy = copy_records(image, arena)?;
    }
    let start = image.copy as usize;
    let old = Image { next: null_mut(), places: &[], copy: null_mut(), ..*image };
    (image.start, image.stop) = (start, start + size);
    if !is_new {
        move_counts(&old, image);
    }
    Some(())
}

/// How often the points with a name have fired.
pub fn transitions(point: &[u8]) -> u64 {
    let _signals = Blocked::new();
    let Some(state) = STATE.lock() else { return 0 };
    let sites = all(&state).flat_map(Image::sites).filter(|&site| choice::means(point, site));
    sites.fold(0, |sum, site| sum.wrapping_add(site.transitions().load(Ordering::Relaxed)))
}

/// Sets the counts of all sites to zero.
pub fn clear_counts(state: &State) {
    for site in all(state).flat_map(Image::sites) {
        site.hits().store(0, Ordering::Relaxed);
        site.transitions().store(0, Ordering::Relaxed);
    }
}

/// Number of hits and transitions of all sites.
pub fn total(state: &State) -> u64 {
    all(state).flat_map(Image::sites).fold(0, |sum, site| {
        sum.wrapping_add(site.hits().load(Ordering::Relaxed))
            .wrapping_add(site.transitions().load(Ordering::Relaxed))
    })
}
