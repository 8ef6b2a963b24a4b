//! What the runtime asks for, and the IR that the program carries.

use midflight_abi::open::{OPEN_VERSION, OpenCode, OpenRequest};
use midflight_passes::osr::open::generator::Generator;
use midflight_passes::osr::open::version::{NoVersion, Request};
use std::ffi::{CStr, c_char};

/// IR with the addresses of what it refers to.
pub struct Carried<'r> {
    /// Compressed bitcode
    pub bytes: &'r [u8],
    /// Addresses, by number
    pub links: &'r [u64],
}

impl<'r> Carried<'r> {
    /// # Safety
    /// The code's bytes and links stay for `'r`.
    pub unsafe fn read(code: &'r OpenCode) -> Self {
        // SAFETY: the caller's; addresses are read as numbers.
        unsafe {
            Carried {
                bytes: slice(code.bytes, code.length),
                links: slice(code.links.cast(), code.num_links),
            }
        }
    }
}

/// # Safety
/// As for a slice of so many, unless the pointer is null.
unsafe fn slice<'r, T>(start: *const T, length: u64) -> &'r [T] {
    if start.is_null() {
        return &[];
    }
    // SAFETY: the caller's.
    unsafe { std::slice::from_raw_parts(start, length as usize) }
}

/// What is asked for.
///
/// # Errors
/// If the program was compiled for another version, or for a generator that does not exist.
///
/// # Safety
/// The request is one of the runtime's.
pub unsafe fn read(request: &OpenRequest) -> Result<Request, NoVersion> {
    if request.version != u32::from(OPEN_VERSION) {
        return Err(NoVersion::Failed(format!(
            "the runtime asks as of version {} of the interface, and the code generator is of \
             version {OPEN_VERSION}",
            request.version
        )));
    }
    // SAFETY: the caller's.
    let name = unsafe { text(request.generator) };
    let generator = Generator::named(&name)
        .ok_or_else(|| NoVersion::Failed(format!("there is no generator '{name}'")))?;
    Ok(Request {
        generator,
        at: request.at,
        key_kind: request.key_kind,
        key_number: request.key_number,
        key: request.key,
        count: request.count,
        is_generic: request.is_generic != 0,
        site: request.site as u64,
        made: request.made as u64,
        is_tested: !request.guard.is_null(),
    })
}

/// # Safety
/// A C string or null.
pub unsafe fn text(text: *const c_char) -> String {
    if text.is_null() {
        return String::new();
    }
    // SAFETY: the caller's.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
