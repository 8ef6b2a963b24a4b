//! Making all processors see changed code, by membarrier(2).
//!
//! A changed instruction is whole on each processor at any time, old or new, since it is stored at
//! once. The barrier sees to it that none executes the old one when arming returns.

use crate::sys;

const GLOBAL: i32 = 1 << 0;
const PRIVATE: i32 = 1 << 3;
const REGISTER_PRIVATE: i32 = 1 << 4;
const SYNC_CORE: i32 = 1 << 5;
const REGISTER_SYNC_CORE: i32 = 1 << 6;

/// Tells the kernel that [`all_processors`] is going to be called.
pub fn prepare() {
    if !command(REGISTER_SYNC_CORE) {
        command(REGISTER_PRIVATE);
    }
}

/// Returns when no thread of this process executes code as it was before. On kernels without the
/// command that serializes processors, the best that they have: all of them have passed a full
/// memory barrier.
pub fn all_processors() {
    if command(SYNC_CORE) {
        return;
    }
    // The registration may have been refused, or belong to a process that was replaced.
    prepare();
    _ = command(SYNC_CORE) || command(PRIVATE) || command(GLOBAL);
}

fn command(command: i32) -> bool {
    let errno = sys::errno();
    // SAFETY: the call takes two numbers.
    let done = unsafe { libc::syscall(libc::SYS_membarrier, command, 0, 0) } == 0;
    sys::set_errno(errno);
    done
}
