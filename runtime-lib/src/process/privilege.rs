//! Programs that run with more rights than their user has: set-user-ID, set-group-ID, file
//! capabilities.
//!
//! Whoever runs such a program chooses its environment and the directory that it is started in, and
//! is to get nothing done with its rights. So there it counts nothing, writes nothing, and arms no
//! points.

use crate::message;
use core::sync::atomic::{AtomicBool, Ordering};

/// Whether this is such a program, as the kernel says.
pub fn is_raised() -> bool {
    // SAFETY: takes a number.
    unsafe { libc::getauxval(libc::AT_SECURE) != 0 }
}

/// Says so in a line, once.
pub fn tell() {
    static TOLD: AtomicBool = AtomicBool::new(false);
    if !TOLD.swap(true, Ordering::Relaxed) {
        message::print(&[
            b"nothing is profiled, logged or armed, since the program runs with more rights than its user has (set-user-ID, set-group-ID, file capabilities); run it as a user who has these rights",
        ]);
    }
}
