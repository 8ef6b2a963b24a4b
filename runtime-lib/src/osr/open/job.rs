//! What the generator is asked for, and the queue of that.
//!
//! A job has copies of all that it needs, in memory of its own: the image that the point is in may
//! be unloaded at any time.

use crate::arena;
use crate::osr::open;
use crate::osr::open::assume;
use crate::osr::open::custom::Customs;
use crate::osr::open::site::Site;
use crate::osr::open::test;
use crate::osr::open::version::Version;
use core::ffi::{CStr, c_char, c_void};
use core::ptr::{NonNull, null, null_mut};
use midflight_abi::open::{OPEN_VERSION, OpenCode, OpenRequest};

/// Most jobs in the queue.
const MOST_JOBS: usize = 64;

/// What copies are aligned to.
const ALIGNMENT: usize = align_of::<u64>();

/// What a job's memory begins with; the copies follow.
#[repr(C)]
struct Head {
    request: OpenRequest,
    site: &'static Site,
    version: &'static Version,
    llvm: u32,
    size: usize,
    next: *mut Head,
}

/// See the module. It owns its memory.
pub struct Job(NonNull<Head>);

impl Job {
    /// A version that is to be made. `None`: there is no memory.
    ///
    /// # Safety
    /// The images of the point and of the key's IR are loaded, and not unloaded meanwhile.
    pub unsafe fn new(
        site: &'static Site,
        version: &'static Version,
        body: Option<&OpenCode>,
        customs: &Customs,
    ) -> Option<Self> {
        // SAFETY: the caller's; lengths are those of mapped constants.
        unsafe {
            let point = &*site.emitted.cast_const();
            let code = point.code.as_ref();
            let parts = [
                bytes_of(code),
                links_of(code),
                bytes_of(body),
                links_of(body),
                text(point.generator),
                text(point.function),
                text(point.point),
            ];
            let mut size = size_of::<Head>().next_multiple_of(ALIGNMENT);
            for part in parts {
                size = size.checked_add(part.len().checked_next_multiple_of(ALIGNMENT)?)?;
            }
            let memory = arena::map_apart(size)?;
            let places = copy(&parts, memory);
            let [code_bytes, code_links, body_bytes, body_links, generator, function, name] =
                places;
            let custom = text(point.generator).strip_suffix(b"\0");
            let custom = custom.and_then(|name| customs.find(name));
            let request = OpenRequest {
                version: OPEN_VERSION.into(),
                key_kind: point.key_kind.into(),
                site: site.emitted,
                key: version.key(),
                made: version.made(),
                code: copied(code, code_bytes, code_links),
                body: copied(body, body_bytes, body_links),
                generator: generator.cast(),
                function: function.cast(),
                point: name.cast(),
                key_number: point.key,
                at: point.at,
                count: point.count,
                is_generic: version.is_generic().into(),
                open: open::midflight_osr_open as *const c_void,
                left: open::midflight_osr_left as *const c_void,
                guard: if test::is_on() { test::guard as *const c_void } else { null() },
                read: assume::read,
                make: custom.map(|(make, _)| make),
                user: custom.map_or(null_mut(), |(_, user)| user),
            };
            let head = memory.cast::<Head>();
            let llvm = point.llvm;
            head.write(Head { request, site, version, llvm, size, next: null_mut() });
            Some(Self(head))
        }
    }

    fn head(&self) -> &Head {
        // SAFETY: the memory is the job's own.
        unsafe { self.0.as_ref() }
    }

    pub fn request(&self) -> &OpenRequest {
        &self.head().request
    }

    pub fn site(&self) -> &'static Site {
        self.head().site
    }

    pub fn version(&self) -> &'static Version {
        self.head().version
    }

    /// Major version of the LLVM that the bitcode is of.
    pub fn llvm(&self) -> u32 {
        self.head().llvm
    }

    /// Name of the function.
    pub fn function(&self) -> &[u8] {
        // SAFETY: it is a copy of a C string.
        unsafe { CStr::from_ptr(self.request().function) }.to_bytes()
    }

    /// Name of the point.
    pub fn point(&self) -> &[u8] {
        // SAFETY: it is a copy of a C string.
        unsafe { CStr::from_ptr(self.request().point) }.to_bytes()
    }
}

impl Drop for Job {
    fn drop(&mut self) {
        // SAFETY: the memory is the job's own, and of that size.
        unsafe { arena::unmap_apart(self.0.cast(), self.head().size) };
    }
}

/// Copies the parts behind the head; where they are.
///
/// # Safety
/// There is room for them.
unsafe fn copy<const N: usize>(parts: &[&[u8]; N], memory: NonNull<u8>) -> [*const u8; N] {
    let mut at = size_of::<Head>().next_multiple_of(ALIGNMENT);
    parts.map(|part| {
        // SAFETY: the caller's.
        let to = unsafe { memory.add(at) };
        // SAFETY: the memory is new.
        unsafe { to.as_ptr().copy_from_nonoverlapping(part.as_ptr(), part.len()) };
        at += part.len().next_multiple_of(ALIGNMENT);
        to.as_ptr().cast_const()
    })
}

/// The IR with its copies in the place of what it has.
fn copied(code: Option<&OpenCode>, bytes: *const u8, links: *const u8) -> OpenCode {
    match code {
        Some(code) => OpenCode { bytes, links: links.cast(), ..*code },
        None => OpenCode { bytes, length: 0, links: null(), num_links: 0, entry: null_mut() },
    }
}

/// # Safety
/// What it says is mapped as long as the result is used.
unsafe fn bytes_of(code: Option<&OpenCode>) -> &[u8] {
    match code {
        // SAFETY: the caller's.
        Some(code) if !code.bytes.is_null() => unsafe {
            core::slice::from_raw_parts(code.bytes, code.length as usize)
        },
        _ => &[],
    }
}

/// # Safety
/// What it says is mapped as long as the result is used.
unsafe fn links_of(code: Option<&OpenCode>) -> &[u8] {
    match code {
        // SAFETY: the caller's.
        Some(code) if !code.links.is_null() => unsafe {
            let size = (code.num_links as usize).saturating_mul(size_of::<*const c_void>());
            core::slice::from_raw_parts(code.links.cast(), size)
        },
        _ => &[],
    }
}

/// A C string with its end; none is an empty one.
///
/// # Safety
/// It is null or mapped as long as the result is used.
unsafe fn text<'a>(text: *const c_char) -> &'a [u8] {
    if text.is_null() {
        return b"\0";
    }
    // SAFETY: the caller's.
    unsafe { CStr::from_ptr(text) }.to_bytes_with_nul()
}

/// Jobs in the order in which they came.
pub struct Queue {
    first: *mut Head,
    length: usize,
}

impl Queue {
    pub const fn new() -> Self {
        Self { first: null_mut(), length: 0 }
    }

    pub fn is_full(&self) -> bool {
        self.length >= MOST_JOBS
    }

    pub fn push(&mut self, job: Job) {
        let mut place = &raw mut self.first;
        // SAFETY: the queue owns what is in it.
        unsafe {
            while let Some(head) = (*place).as_mut() {
                place = &raw mut head.next;
            }
            *place = job.0.as_ptr();
        }
        core::mem::forget(job);
        self.length += 1;
    }

    pub fn pop(&mut self) -> Option<Job> {
        let first = NonNull::new(self.first)?;
        // SAFETY: as above.
        self.first = unsafe { first.as_ref() }.next;
        self.length -= 1;
        Some(Job(first))
    }
}
