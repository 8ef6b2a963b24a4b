//! What the runtime uses of libc, under libc's names: the packaged library has functions of its
//! own.
//!
//! A program may define functions with libc's names. ISO C leaves `read`, `open` and `link` to it,
//! and many a libc is a program that is instrumented: then its `memcpy` would be entered from
//! within the runtime, and would count what the program never did. So nothing that the runtime does
//! by itself leaves it but through the kernel. Code is written as everywhere, with the `libc`
//! crate, and the compiler calls `memcpy` as it likes: when the library is packaged these functions
//! are linked with the callers and become local to it.
//!
//! What is left are names that a program cannot define, or that are libc's own state. The test
//! `it_needs_nothing_that_a_program_may_define` has the list, and why each is on it.
//!
//! The functions do what the runtime asks of them and no more; each says what it leaves out. None
//! of them is a point where threads are cancelled.

/// Functions that are a system call each. libc's structures are the kernel's.
macro_rules! system_calls {
    ($(fn $name:ident($($parameter:ident: $kind:ty),* $(,)?) -> $result:ty =
        $call:ident($($argument:expr),*);)*) => {
        $(#[unsafe(no_mangle)]
        unsafe extern "C" fn $name($($parameter: $kind),*) -> $result {
            // SAFETY: the caller's.
            unsafe { libc::syscall(libc::$call, $($argument),*) as $result }
        })*
    };
}

mod environment;
mod files;
mod kernel;
mod memory;
