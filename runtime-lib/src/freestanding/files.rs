//! Files, by system calls.

use core::ffi::{c_char, c_int, c_void};
use core::ptr::null_mut;
use libc::{AT_FDCWD, iovec, mode_t, off_t, size_t, ssize_t, stat as Stat, syscall};

/// The most links that lead from one to the next, as for the kernel.
const MAX_LINKS: usize = 40;

#[unsafe(no_mangle)]
unsafe extern "C" fn open(name: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the caller's.
    unsafe { syscall(libc::SYS_openat, AT_FDCWD, name, flags, mode) as c_int }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn close(file: c_int) -> c_int {
    // SAFETY: the caller's.
    unsafe { syscall(libc::SYS_close, file) as c_int }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn read(file: c_int, room: *mut c_void, size: size_t) -> ssize_t {
    // SAFETY: the caller's.
    unsafe { syscall(libc::SYS_read, file, room, size) as ssize_t }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pread(file: c_int, room: *mut c_void, size: size_t, at: off_t) -> ssize_t {
    // SAFETY: the caller's.
    unsafe { syscall(libc::SYS_pread64, file, room, size, at) as ssize_t }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn write(file: c_int, bytes: *const c_void, size: size_t) -> ssize_t {
    // SAFETY: the caller's.
    unsafe { syscall(libc::SYS_write, file, bytes, size) as ssize_t }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn pwrite(file: c_int, bytes: *const c_void, size: size_t, at: off_t) -> ssize_t {
    // SAFETY: the caller's.
    unsafe { syscall(libc::SYS_pwrite64, file, bytes, size, at) as ssize_t }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn writev(file: c_int, pieces: *const iovec, count: c_int) -> ssize_t {
    // SAFETY: the caller's.
    unsafe { syscall(libc::SYS_writev, file, pieces, count) as ssize_t }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fstat(file: c_int, to: *mut Stat) -> c_int {
    // SAFETY: the caller's; libc's structure is the kernel's.
    unsafe { syscall(libc::SYS_fstat, file, to) as c_int }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn stat(name: *const c_char, to: *mut Stat) -> c_int {
    // SAFETY: as above.
    unsafe { syscall(libc::SYS_newfstatat, AT_FDCWD, name, to, 0) as c_int }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn lstat(name: *const c_char, to: *mut Stat) -> c_int {
    // SAFETY: as above.
    unsafe { syscall(libc::SYS_newfstatat, AT_FDCWD, name, to, libc::AT_SYMLINK_NOFOLLOW) as c_int }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    // SAFETY: the caller's.
    unsafe { syscall(libc::SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, 0) as c_int }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn link(from: *const c_char, to: *const c_char) -> c_int {
    // SAFETY: the caller's.
    unsafe { syscall(libc::SYS_linkat, AT_FDCWD, from, AT_FDCWD, to, 0) as c_int }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn unlink(name: *const c_char) -> c_int {
    // SAFETY: the caller's.
    unsafe { syscall(libc::SYS_unlinkat, AT_FDCWD, name, 0) as c_int }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mkdir(name: *const c_char, mode: mode_t) -> c_int {
    // SAFETY: the caller's.
    unsafe { syscall(libc::SYS_mkdirat, AT_FDCWD, name, mode) as c_int }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn readlink(name: *const c_char, room: *mut c_char, size: size_t) -> ssize_t {
    // SAFETY: the caller's.
    unsafe { syscall(libc::SYS_readlinkat, AT_FDCWD, name, room, size) as ssize_t }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn flock(file: c_int, operation: c_int) -> c_int {
    // SAFETY: the caller's.
    unsafe { syscall(libc::SYS_flock, file, operation) as c_int }
}

/// A directory that is not below the root has no name.
#[unsafe(no_mangle)]
unsafe extern "C" fn getcwd(room: *mut c_char, size: size_t) -> *mut c_char {
    // SAFETY: the caller's.
    let is_named =
        unsafe { syscall(libc::SYS_getcwd, room, size) > 0 && room.cast::<u8>().read() == b'/' };
    if is_named { room } else { null_mut() }
}

/// Follows the links that a name of up to `PATH_MAX` bytes stands for; those that its directories stand
/// for are left in it.
#[unsafe(no_mangle)]
unsafe extern "C" fn realpath(name: *const c_char, room: *mut c_char) -> *mut c_char {
    const SIZE: usize = libc::PATH_MAX as usize;
    let mut target = [0u8; SIZE];
    // SAFETY: the caller's. What is put together ends with a zero, and has room.
    unsafe {
        let text = core::ffi::CStr::from_ptr(name).to_bytes_with_nul();
        if text.len() > SIZE {
            return failed(libc::ENAMETOOLONG);
        }
        let path = core::slice::from_raw_parts_mut(room.cast::<u8>(), SIZE);
        path.iter_mut().zip(text).for_each(|(place, &byte)| *place = byte);
        for _ in 0..MAX_LINKS {
            let size = readlink(room, target.as_mut_ptr().cast(), SIZE);
            let Ok(size) = usize::try_from(size) else {
                // EINVAL: it is no link.
                let mut kind: Stat = core::mem::zeroed();
                return if stat(room, &raw mut kind) == 0 { room } else { null_mut() };
            };
            let target = target.get(..size).unwrap_or_default();
            let end = path.iter().position(|&byte| byte == 0).unwrap_or(0);
            let directory = path.get(..end).unwrap_or_default();
            let slash = directory.iter().rposition(|&byte| byte == b'/').map_or(0, |at| at + 1);
            let kept = if target.first() == Some(&b'/') { 0 } else { slash };
            let Some(place) = path.get_mut(kept..).filter(|place| place.len() > size) else {
                return failed(libc::ENAMETOOLONG);
            };
            place.fill(0);
            place.iter_mut().zip(target).for_each(|(to, &from)| *to = from);
        }
    }
    failed(libc::ELOOP)
}

fn failed(error: c_int) -> *mut c_char {
    crate::sys::set_errno(error);
    null_mut()
}
