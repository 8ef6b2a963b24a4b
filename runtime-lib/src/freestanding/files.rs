//! Files, by system calls.

use core::ffi::{c_char, c_int, c_void};
use core::ptr::null_mut;
use libc::{AT_FDCWD, AT_SYMLINK_NOFOLLOW, iovec, mode_t, off_t, size_t, ssize_t, statfs, syscall};

system_calls! {
    fn open(name: *const c_char, flags: c_int, mode: mode_t) -> c_int =
        SYS_openat(AT_FDCWD, name, flags, mode);
    fn openat(at: c_int, name: *const c_char, flags: c_int, mode: mode_t) -> c_int =
        SYS_openat(at, name, flags, mode);
    fn close(file: c_int) -> c_int = SYS_close(file);
    fn read(file: c_int, room: *mut c_void, size: size_t) -> ssize_t = SYS_read(file, room, size);
    fn pread(file: c_int, room: *mut c_void, size: size_t, at: off_t) -> ssize_t =
        SYS_pread64(file, room, size, at);
    fn write(file: c_int, bytes: *const c_void, size: size_t) -> ssize_t =
        SYS_write(file, bytes, size);
    fn pwrite(file: c_int, bytes: *const c_void, size: size_t, at: off_t) -> ssize_t =
        SYS_pwrite64(file, bytes, size, at);
    fn writev(file: c_int, pieces: *const iovec, count: c_int) -> ssize_t =
        SYS_writev(file, pieces, count);
    fn fstat(file: c_int, to: *mut libc::stat) -> c_int = SYS_fstat(file, to);
    fn stat(name: *const c_char, to: *mut libc::stat) -> c_int =
        SYS_newfstatat(AT_FDCWD, name, to, 0);
    fn lstat(name: *const c_char, to: *mut libc::stat) -> c_int =
        SYS_newfstatat(AT_FDCWD, name, to, AT_SYMLINK_NOFOLLOW);
    fn fstatfs(file: c_int, to: *mut statfs) -> c_int = SYS_fstatfs(file, to);
    fn renameat(from_at: c_int, from: *const c_char, to_at: c_int, to: *const c_char) -> c_int =
        SYS_renameat2(from_at, from, to_at, to, 0);
    fn linkat(
        from_at: c_int, from: *const c_char, to_at: c_int, to: *const c_char, flags: c_int,
    ) -> c_int = SYS_linkat(from_at, from, to_at, to, flags);
    fn unlinkat(at: c_int, name: *const c_char, flags: c_int) -> c_int =
        SYS_unlinkat(at, name, flags);
    fn mkdirat(at: c_int, name: *const c_char, mode: mode_t) -> c_int =
        SYS_mkdirat(at, name, mode);
    fn readlinkat(at: c_int, name: *const c_char, room: *mut c_char, size: size_t) -> ssize_t =
        SYS_readlinkat(at, name, room, size);
    fn readlink(name: *const c_char, room: *mut c_char, size: size_t) -> ssize_t =
        SYS_readlinkat(AT_FDCWD, name, room, size);
    fn flock(file: c_int, operation: c_int) -> c_int = SYS_flock(file, operation);
}

/// A directory that is not below the root has no name.
#[unsafe(no_mangle)]
unsafe extern "C" fn getcwd(room: *mut c_char, size: size_t) -> *mut c_char {
    // SAFETY: the caller's.
    let is_named =
        unsafe { syscall(libc::SYS_getcwd, room, size) > 0 && room.cast::<u8>().read() == b'/' };
    if is_named { room } else { null_mut() }
}
