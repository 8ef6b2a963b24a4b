//! What the loader knows of the linked images.

use crate::file::text::Text;
use core::ffi::CStr;

/// What the loader knows about the image at an address.
pub struct Found {
    address: usize,
    path: Text,
    /// Whether the image is the program itself.
    pub is_program: bool,
    /// Whether what is at the address may be written to.
    pub is_writable: bool,
}

impl Found {
    pub fn containing(address: usize) -> Self {
        let mut found = Self { address, path: Text::new(), is_program: false, is_writable: false };
        // SAFETY: the callback gets the pointer that is given here.
        unsafe { libc::dl_iterate_phdr(Some(look_at_image), (&raw mut found).cast()) };
        if found.is_program || found.path().is_empty() {
            found.use_program_path();
        }
        found
    }

    /// The path of the image's file; empty if it is not known.
    pub fn path(&self) -> &[u8] {
        self.path.bytes()
    }

    /// The loader may know the program by a name that it was called by, or by none.
    fn use_program_path(&mut self) {
        // SAFETY: the room has that size.
        self.path.fill_with(|room, size| unsafe {
            libc::readlink(c"/proc/self/exe".as_ptr(), room, size) >= 0
        });
    }

    /// A library's path as the loader was given it, made absolute.
    fn use_library_path(&mut self, name: &[u8]) {
        if name.first() != Some(&b'/') {
            // SAFETY: the room has that size.
            let is_known =
                self.path.fill_with(|room, size| unsafe { !libc::getcwd(room, size).is_null() });
            if is_known {
                _ = self.path.push(b"/");
            }
        }
        // What is too long is left out.
        _ = self.path.push(name);
    }
}

/// Whether this library is in the program's namespace, and not in another one (`dlmopen`).
pub fn is_beside_program() -> bool {
    unsafe extern "C" fn look(
        info: *mut libc::dl_phdr_info,
        _size: usize,
        _unused: *mut libc::c_void,
    ) -> libc::c_int {
        // SAFETY: the loader gives valid information.
        unsafe { is_program(info) }.into()
    }
    // SAFETY: the callback takes nothing.
    unsafe { libc::dl_iterate_phdr(Some(look), core::ptr::null_mut()) != 0 }
}

/// # Safety
/// The loader gives the information.
unsafe fn is_program(info: *const libc::dl_phdr_info) -> bool {
    // SAFETY: the caller's.
    unsafe { (*info).dlpi_phdr as u64 == libc::getauxval(libc::AT_PHDR) }
}

/// Called for every image that is loaded in this namespace (`dlmopen`), which need not be the
/// program's; ends at the one that was asked for.
unsafe extern "C" fn look_at_image(
    info: *mut libc::dl_phdr_info,
    _size: usize,
    found: *mut libc::c_void,
) -> libc::c_int {
    // SAFETY: the loader gives valid information; the pointer is that given to it.
    unsafe {
        let found = &mut *found.cast::<Found>();
        let is_program = is_program(info);
        let headers =
            core::slice::from_raw_parts((*info).dlpi_phdr, usize::from((*info).dlpi_phnum));
        let offset = found.address.wrapping_sub((*info).dlpi_addr as usize);
        let segment = headers.iter().find(|header| {
            header.p_type == libc::PT_LOAD
                && offset.wrapping_sub(header.p_vaddr as usize) < header.p_memsz as usize
        });
        let Some(segment) = segment else { return 0 };
        found.is_program = is_program;
        found.is_writable = segment.p_flags & libc::PF_W != 0;
        if !is_program && !(*info).dlpi_name.is_null() {
            found.use_library_path(CStr::from_ptr((*info).dlpi_name).to_bytes());
        }
        1
    }
}
