//! Copies of the records of images that are unloaded.

use crate::arena::{Arena, Purpose};
use crate::osr::image::Image;
use crate::osr::record::Function;
use core::ffi::c_char;
use midflight_abi::osr::{OsrFunction, OsrPointInfo};

/// Copies the records with all that they refer to.
pub fn copy_records(image: &Image, arena: &mut Arena) -> Option<*mut u8> {
    let (start, stop) = image.bounds();
    let size = stop - start;
    let copy = arena.allocate(size, Purpose::Growth)?.as_ptr();
    // SAFETY: the image's records are that long, and so is the memory.
    unsafe { copy.copy_from_nonoverlapping(start as *const u8, size) };
    for function in image.functions() {
        let offset = function.record() as usize - start;
        // SAFETY: the copy has the function's head at the same offset.
        unsafe { copy_texts(&mut *copy.add(offset).cast::<OsrFunction>(), function, arena) }?;
    }
    Some(copy)
}

/// Lets the copy of a function's record refer to copies.
///
/// # Safety
/// `copy` is a copy of the record.
unsafe fn copy_texts(copy: &mut OsrFunction, function: Function, arena: &mut Arena) -> Option<()> {
    copy.name = copy_text(function.name(), arena)?;
    copy.file = copy_text(function.file(), arena)?;
    let size = size_of::<OsrPointInfo>();
    let infos = arena.allocate(size * copy.sites as usize, Purpose::Growth)?;
    let infos = infos.as_ptr().cast::<OsrPointInfo>();
    for site in function.sites() {
        let info = site.info();
        let copied = OsrPointInfo {
            name: copy_text(site.name(), arena)?,
            from: copy_text(site.from(), arena)?,
            to: copy_text(site.to(), arena)?,
            ..*info
        };
        // SAFETY: there is room for as many as the function has sites.
        unsafe { infos.add(site.number() as usize).write(copied) };
    }
    copy.infos = infos;
    Some(())
}

/// A C string of the bytes.
fn copy_text(bytes: &[u8], arena: &mut Arena) -> Option<*const c_char> {
    let memory = arena.allocate(bytes.len() + 1, Purpose::Growth)?.as_ptr();
    // SAFETY: the memory is that long, and zero behind the bytes.
    unsafe { memory.copy_from_nonoverlapping(bytes.as_ptr(), bytes.len()) };
    Some(memory.cast())
}
