//! The linked images (the executable and shared libraries) whose functions are instrumented.
//!
//! Every image that links this library has a copy of it, with a constructor and a destructor. They
//! call `midflight_register_image` and `midflight_unregister_image` with the bounds of the image's
//! own records, through its dynamic symbol table. So where the executable exports the runtime's
//! functions, the copies in shared libraries lie idle and all counts are in one place.
//!
//! The records of an image that is unloaded are gone; what a profile needs of them was copied.

use crate::arena::{Arena, Purpose};
use crate::contexts::head;
use crate::contexts::recover;
use crate::contexts::time;
use crate::file::live;
use crate::file::output;
use crate::message;
use crate::paths::context::Context;
use crate::paths::fallback;
use crate::paths::forest::ThreadForest;
use crate::process;
use crate::process::ending;
use crate::process::loader::Found;
use crate::process::privilege;
use crate::process::signal::Blocked;
use core::ffi::c_int;
use core::ptr::null_mut;
use core::sync::atomic::{AtomicBool, AtomicPtr, AtomicUsize, Ordering};
use midflight_abi::contexts::FLAG_CONTEXTS;
use midflight_abi::memory;
use midflight_abi::{ABI_VERSION, MAX_K, Mode, RECORD_HEADER_SIZE, RecordHeader};
use midflight_profile::table::image_signature;

/// An image that is or was loaded.
#[repr(C)]
pub struct Image {
    /// What others find of it in a file.
    pub shared: memory::Image,
    /// Whether it is the program itself.
    pub is_program: bool,
}

impl Image {
    /// Whether a record is in the image as it is loaded now.
    pub fn contains(&self, record: *const RecordHeader) -> bool {
        let address = record as usize;
        let memory::Image { start, stop, .. } = &self.shared;
        (start.load(Ordering::Acquire)..stop.load(Ordering::Acquire)).contains(&address)
    }

    /// The image that was registered after it, or null.
    pub fn next(&self) -> *mut Self {
        self.shared.next.cast()
    }

    /// The path of the image's file; empty if it is not known.
    pub fn path(&self) -> &[u8] {
        // SAFETY: the path was copied when the image was registered, and is never freed.
        unsafe { core::slice::from_raw_parts(self.shared.path, self.shared.path_len) }
    }

    fn create(arena: &mut Arena, found: &Found, signature: u64) -> Option<*mut Self> {
        let path = found.path();
        let memory = arena.allocate(path.len(), Purpose::Root)?.as_ptr();
        let this = arena.allocate(size_of::<Self>(), Purpose::Root)?.as_ptr().cast::<Self>();
        // SAFETY: the arena has handed out that much.
        unsafe {
            memory.copy_from_nonoverlapping(path.as_ptr(), path.len());
            let (path, path_len) = (memory.cast_const(), path.len());
            let (start, stop) = (AtomicUsize::new(0), AtomicUsize::new(0));
            let shared = memory::Image { next: null_mut(), start, stop, signature, path, path_len };
            this.write(Self { shared, is_program: found.is_program });
        }
        Some(this)
    }

    fn is_loaded(&self) -> bool {
        self.shared.start.load(Ordering::Acquire) != 0
    }
}

/// Why the records of an image cannot be read.
enum Refusal {
    /// Compiled for another version of the ABI.
    Version(u16),
    /// Not records at all.
    Malformed,
    /// No memory for what the runtime must know of it.
    Memory,
}

/// Whether a function's record can be used; its image may have been refused as a whole.
///
/// # Safety
/// `record` points to a record header.
pub unsafe fn is_usable(record: *const RecordHeader) -> bool {
    // SAFETY: the caller's.
    let header = unsafe { &*record };
    let least = match header.mode() {
        Some(Mode::Automaton | Mode::Counting) => 1,
        Some(Mode::Published) => 2,
        None => return false,
    };
    header.version == ABI_VERSION && (least..=MAX_K).contains(&header.k)
}

/// Whether calling contexts of a function are counted, by a record that can be used.
///
/// # Safety
/// `record` points to a record header.
pub unsafe fn has_contexts(record: *const RecordHeader) -> bool {
    // SAFETY: the caller's.
    let header = unsafe { &*record };
    let is_of_contexts = header.version == ABI_VERSION && header.flags & FLAG_CONTEXTS != 0;
    is_of_contexts && (!head::is_needed(header) || head::are_there())
}

/// Makes the records from `start` to `stop` known. Called by the constructor of each linked image.
///
/// # Safety
/// They are the bounds of an image's section `midflight_tables`, mapped until
/// [`midflight_unregister_image`](crate::midflight_unregister_image) is called.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_register_image(start: *const u8, stop: *const u8) {
    if start.is_null() || start >= stop {
        return;
    }
    // The loader's lock is taken before the process lock, as in a constructor.
    let found = Found::containing(start as usize);
    if privilege::is_raised() {
        // What is counted in vain needs room.
        // SAFETY: the caller's.
        if let Err(refusal @ Refusal::Version(_)) = unsafe { inspect(start, stop) } {
            refuse(&refusal, found.path());
        }
        return privilege::tell();
    }
    let is_in_library = !Found::containing(refuse as *const () as usize).is_program;
    let _signals = Blocked::new();
    process::start(is_in_library);
    if !is_in_library {
        ending::catch_quick_exit();
    }
    // SAFETY: the caller's.
    let result = unsafe { inspect(start, stop) }.and_then(|inspected| {
        let signature = inspected.signature;
        let Some(mut process) = process::lock() else { return Ok(()) };
        process.configure();
        // SAFETY: the list holds images.
        unsafe {
            let (mut image, mut last) = (process.images, null_mut::<Image>());
            while !image.is_null() {
                let same =
                    (*image).shared.signature == signature && (*image).path() == found.path();
                if same && !(*image).is_loaded() {
                    break;
                }
                (image, last) = ((*image).next(), image);
            }
            if image.is_null() {
                output::note_image(&mut process, &inspected, &found);
                image =
                    Image::create(&mut process.arena, &found, signature).ok_or(Refusal::Memory)?;
                if last.is_null() {
                    process.images = image;
                    live::set_images(image.cast());
                } else {
                    let place = AtomicPtr::from_ptr(&raw mut (*last).shared.next);
                    place.store(image.cast(), Ordering::Release);
                }
            }
            (*image).shared.stop.store(stop as usize, Ordering::Release);
            (*image).shared.start.store(start as usize, Ordering::Release);
        }
        Ok(())
    });
    if let Err(refusal) = result {
        refuse(&refusal, found.path());
    }
}

/// What the records of an image tell.
pub struct Inspected {
    pub signature: u64,
    /// Whether some function carries out Algorithm 4 as published, whose k-SF a file has not.
    pub has_published: bool,
    /// Whether calling contexts of some function are counted.
    pub has_contexts: bool,
    /// Whether some function needs heads before nodes of contexts.
    pub needs_heads: bool,
    /// Whether the times are taken that contexts take.
    pub has_times: bool,
}

/// Reads through the records of an image.
unsafe fn inspect(start: *const u8, stop: *const u8) -> Result<Inspected, Refusal> {
    let (mut refusal, mut has_published, mut has_contexts) = (None, false, false);
    let (mut needs_heads, mut has_times) = (false, false);
    // SAFETY: the caller's.
    let records = unsafe { Records::new(start, stop, &mut refusal) };
    let signature = image_signature(records.map(|record| {
        needs_heads |= head::is_needed(record);
        has_times |= time::is_timed(record);
        match record.flags & FLAG_CONTEXTS != 0 {
            true => has_contexts = true,
            false => has_published |= record.mode() == Some(Mode::Published),
        }
        record.key
    }));
    match refusal {
        Some(refusal) => Err(refusal),
        None => Ok(Inspected { signature, has_published, has_contexts, needs_heads, has_times }),
    }
}

/// Whether an image was refused, so that what its functions count is lost.
pub fn any_was_refused() -> bool {
    REFUSED.load(Ordering::Relaxed)
}

static REFUSED: AtomicBool = AtomicBool::new(false);

/// What a process ends with that the dynamic linker cannot start.
const STATUS_OF_LOADER: c_int = 127;

/// Says that an image is refused. Code of another version ends the process: it would read and write
/// forests where they have something else.
fn refuse(refusal: &Refusal, path: &[u8]) {
    REFUSED.store(true, Ordering::Relaxed);
    match refusal {
        Refusal::Version(version) => {
            message::print(&[
                b"'",
                path,
                b"' cannot run: it was compiled for version ",
                message::Decimal::new(u64::from(*version)).bytes(),
                b" of the runtime's interface, and linked with version ",
                message::Decimal::new(u64::from(ABI_VERSION)).bytes(),
                b"; compile all of it with one midflight",
            ]);
            crate::midflight_exit(STATUS_OF_LOADER)
        }
        Refusal::Malformed => message::print(&[
            b"'",
            path,
            b"' is not profiled: its section midflight_tables is damaged; link it again",
        ]),
        Refusal::Memory => message::print(&[
            b"'",
            path,
            b"' is not profiled: there is no memory; raise MIDFLIGHT_MAX_MEMORY or the limit on address space (ulimit -v)",
        ]),
    }
}

/// The records of an image, one after the other.
struct Records<'a> {
    at: usize,
    stop: usize,
    refusal: &'a mut Option<Refusal>,
}

impl<'a> Records<'a> {
    /// # Safety
    /// The bounds are those of a mapped section.
    unsafe fn new(start: *const u8, stop: *const u8, refusal: &'a mut Option<Refusal>) -> Self {
        Self { at: start as usize, stop: stop as usize, refusal }
    }

    /// The header at `self.at`; `None` at the end, or where there is none.
    fn header(&mut self) -> Option<&'static RecordHeader> {
        const PADDING: usize = 8;
        while self.at < self.stop {
            let left = self.stop - self.at;
            if !self.at.is_multiple_of(PADDING) || left < PADDING {
                *self.refusal = Some(Refusal::Malformed);
                return None;
            }
            // SAFETY: the section has that many bytes here, and a header begins with its size.
            let size = unsafe { *(self.at as *const u32) } as usize;
            if size == 0 {
                self.at += PADDING;
                continue;
            }
            if size < RECORD_HEADER_SIZE || size > left || !size.is_multiple_of(PADDING) {
                *self.refusal = Some(Refusal::Malformed);
                return None;
            }
            // SAFETY: a whole header is in the section, aligned to 8.
            return Some(unsafe { &*(self.at as *const RecordHeader) });
        }
        None
    }
}

impl Iterator for Records<'_> {
    type Item = &'static RecordHeader;

    fn next(&mut self) -> Option<Self::Item> {
        let header = self.header()?;
        self.at += header.size as usize;
        let refusal = match header.mode() {
            _ if header.version != ABI_VERSION => Some(Refusal::Version(header.version)),
            Some(Mode::Automaton | Mode::Published) => None,
            Some(Mode::Counting) if fallback::provide_counters(header.num_paths) => None,
            Some(Mode::Counting) => Some(Refusal::Memory),
            None => Some(Refusal::Malformed),
        };
        if refusal.is_some() {
            *self.refusal = refusal;
        }
        Some(header)
    }
}

/// Forgets the records between `start` and its image's end; their counts stay.
pub fn unregister(start: *const u8) {
    let _signals = Blocked::new();
    let Some(process) = process::lock() else { return };
    let mut image = process.images;
    // SAFETY: the lists hold images and contexts, which are never freed; the process lock is held.
    unsafe {
        while !image.is_null() && (*image).shared.start.load(Ordering::Acquire) != start as usize {
            image = (*image).next();
        }
        if image.is_null() {
            return;
        }
        process.contexts().for_each(|context| detach(context, image));
        recover::forget();
        (*image).shared.start.store(0, Ordering::Release);
        (*image).shared.stop.store(0, Ordering::Release);
    }
}

/// Lets go of an image's records in a context.
unsafe fn detach(context: *mut Context, image: *mut Image) {
    // SAFETY: the caller holds the process lock; the context's lock is taken.
    unsafe {
        let _guard = (*context).lock.lock_as_other();
        (*(*context).data.get()).tree.detach(image);
        for forest in ThreadForest::list((*context).forests()) {
            let shared = &raw mut (*forest).shared;
            if (*image).contains((*shared).record) {
                // In this order: a reader of the file looks for the image where none is named.
                AtomicPtr::from_ptr(&raw mut (*shared).image)
                    .store(image.cast(), Ordering::Release);
                (*shared).record = core::ptr::null();
            }
        }
    }
}
