//! Functions of the process that compiled code calls by name: `memcpy`, `_Unwind_Resume` and the
//! like.

use object::{Object, ObjectSymbol};
use std::ffi::CString;
use std::mem::zeroed;
use std::ptr::null_mut;

/// What ORC's linker makes.
const OF_LINKER: &str = "_GLOBAL_OFFSET_TABLE_";

/// A name that an object file leaves open.
pub struct Wanted {
    /// The name
    pub name: String,
    /// Its address may be null: `extern_weak`.
    pub is_weak: bool,
}

/// The names that an object file leaves open.
///
/// # Errors
/// If it is no object file.
pub fn wanted(object: &[u8]) -> Result<Vec<Wanted>, String> {
    let file = object::File::parse(object).map_err(|error| error.to_string())?;
    let open = file.symbols().filter(|symbol| symbol.is_undefined());
    let open = open.filter_map(|symbol| {
        Some(Wanted { name: symbol.name().ok()?.to_string(), is_weak: symbol.is_weak() })
    });
    Ok(open.filter(|open| !open.name.is_empty() && open.name != OF_LINKER).collect())
}

/// The address of a function: the program's, or else one of the libraries that this one is linked
/// with.
pub fn address(name: &str) -> Option<u64> {
    let name = CString::new(name).ok()?;
    // SAFETY: the name is a C string; the handles are those of the loader.
    let found = unsafe {
        let found = libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr());
        if found.is_null() { libc::dlsym(own_handle(), name.as_ptr()) } else { found }
    };
    (!found.is_null()).then_some(found as u64)
}

/// The loader's handle of this library, or that of the program.
fn own_handle() -> *mut libc::c_void {
    // SAFETY: zeroes are a valid value; the name that is found is one of the loader's.
    unsafe {
        let mut found: libc::Dl_info = zeroed();
        if libc::dladdr(own_handle as *const libc::c_void, &mut found) == 0 {
            return null_mut();
        }
        libc::dlopen(found.dli_fname, libc::RTLD_NOW | libc::RTLD_NOLOAD)
    }
}
