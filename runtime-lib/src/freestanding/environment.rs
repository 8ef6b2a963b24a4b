//! What there is to know of the process and of the machine.

use core::ffi::{CStr, c_char, c_int, c_long, c_ulong};
use core::mem::zeroed;
use core::ptr::null_mut;
use libc::{clockid_t, rlimit, size_t, syscall, timespec, uid_t, utsname};

unsafe extern "C" {
    #[link_name = "__environ"]
    static mut ENVIRONMENT: *const *mut c_char;
    #[link_name = "__getauxval"]
    fn auxiliary_value(kind: c_ulong) -> c_ulong;
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getauxval(kind: c_ulong) -> c_ulong {
    // SAFETY: takes a number.
    unsafe { auxiliary_value(kind) }
}

#[unsafe(no_mangle)]
unsafe extern "C" fn getenv(name: *const c_char) -> *mut c_char {
    // SAFETY: the caller's; the environment is a list of texts that a null pointer ends.
    unsafe {
        let name = CStr::from_ptr(name).to_bytes();
        let mut at = ENVIRONMENT;
        while !at.is_null() && !(*at).is_null() {
            let value = CStr::from_ptr(*at).to_bytes().strip_prefix(name);
            if value.is_some_and(|value| value.first() == Some(&b'=')) {
                return (*at).add(name.len() + 1);
            }
            at = at.add(1);
        }
    }
    null_mut()
}

/// Knows nothing but the unit of the times in `/proc`.
#[unsafe(no_mangle)]
unsafe extern "C" fn sysconf(name: c_int) -> c_long {
    match name {
        // SAFETY: takes a number.
        libc::_SC_CLK_TCK => unsafe { auxiliary_value(libc::AT_CLKTCK) }.cast_signed(),
        _ => -1,
    }
}

/// Where the name has no room it fails.
#[unsafe(no_mangle)]
unsafe extern "C" fn gethostname(room: *mut c_char, size: size_t) -> c_int {
    // SAFETY: the caller's; zeroes are a valid value, in whose place the names are written.
    unsafe {
        let mut names: utsname = zeroed();
        if syscall(libc::SYS_uname, &raw mut names) != 0 {
            return -1;
        }
        let name = CStr::from_ptr(names.nodename.as_ptr()).to_bytes_with_nul();
        if name.len() > size {
            crate::sys::set_errno(libc::ENAMETOOLONG);
            return -1;
        }
        room.copy_from_nonoverlapping(name.as_ptr().cast(), name.len());
    }
    0
}

system_calls! {
    fn geteuid() -> uid_t = SYS_geteuid();
    // No limit is set.
    fn getrlimit(resource: c_int, limit: *mut rlimit) -> c_int =
        SYS_prlimit64(0, resource, 0usize, limit);
    fn clock_gettime(clock: clockid_t, time: *mut timespec) -> c_int =
        SYS_clock_gettime(clock, time);
}
