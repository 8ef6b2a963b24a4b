//! Keeping signal handlers out of the runtime.
//!
//! A handler may be instrumented, and may interrupt the runtime at any instruction. Every
//! structural change is therefore made with all signals blocked, libc's internal ones included
//! (thread cancellation is one). `errno` is kept on the way, since an instrumented program must
//! not see it change.

use crate::sys;

/// While it lives, the calling thread takes no signal; afterwards its signal mask and `errno` are
/// what they were.
pub struct Blocked {
    mask: u64,
    errno: i32,
}

impl Blocked {
    pub fn new() -> Self {
        let errno = sys::errno();
        Self { mask: sys::set_signal_mask(!0), errno }
    }

    /// The signals that were blocked before.
    pub fn mask(&self) -> u64 {
        self.mask
    }

    /// Forgets a `SIGPIPE` or `SIGXFSZ` that a failed write of this thread has left pending: it
    /// would end the program when the mask is restored.
    pub fn discard_write_signal(&self, error: i32) {
        let signal = match error {
            libc::EPIPE => libc::SIGPIPE,
            libc::EFBIG => libc::SIGXFSZ,
            _ => return,
        };
        let set = 1u64 << (signal - 1);
        let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: set and time live through the call; no information is asked for.
        unsafe {
            libc::syscall(
                libc::SYS_rt_sigtimedwait,
                &raw const set,
                0usize,
                &raw const now,
                size_of::<u64>(),
            )
        };
    }
}

impl Drop for Blocked {
    fn drop(&mut self) {
        sys::set_signal_mask(self.mask);
        sys::set_errno(self.errno);
    }
}
