//! Files, by system calls.

use core::ffi::{c_char, c_int, c_void};
use core::ptr::null_mut;
use libc::{AT_FDCWD, iovec, mode_t, off_t, size_t, ssize_t, stat as Stat, statfs, syscall};

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
unsafe extern "C" fn openat(at: c_int, name: *const c_char, flags: c_int, mode: mode_t) -> c_int {
    // SAFETY: the caller's.
    unsafe { syscall(libc::SYS_openat, at, name, flags, mode) as c_int }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn fstatfs(file: c_int, to: *mut statfs) -> c_int {
    // SAFETY: the caller's; libc's structure is the kernel's.
    unsafe { syscall(libc::SYS_fstatfs, file, to) as c_int }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn renameat(
    from_at: c_int,
    from: *const c_char,
    to_at: c_int,
    to: *const c_char,
) -> c_int {
    // SAFETY: the caller's.
    unsafe { syscall(libc::SYS_renameat2, from_at, from, to_at, to, 0) as c_int }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn linkat(
    from_at: c_int,
    from: *const c_char,
    to_at: c_int,
    to: *const c_char,
    flags: c_int,
) -> c_int {
    // SAFETY: the caller's.
    unsafe { syscall(libc::SYS_linkat, from_at, from, to_at, to, flags) as c_int }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn unlinkat(at: c_int, name: *const c_char, flags: c_int) -> c_int {
    // SAFETY: the caller's.
    unsafe { syscall(libc::SYS_unlinkat, at, name, flags) as c_int }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn mkdirat(at: c_int, name: *const c_char, mode: mode_t) -> c_int {
    // SAFETY: the caller's.
    unsafe { syscall(libc::SYS_mkdirat, at, name, mode) as c_int }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn readlinkat(
    at: c_int,
    name: *const c_char,
    room: *mut c_char,
    size: size_t,
) -> ssize_t {
    // SAFETY: the caller's.
    unsafe { syscall(libc::SYS_readlinkat, at, name, room, size) as ssize_t }
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
