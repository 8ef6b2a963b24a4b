//! Open on-stack replacement (thesis 4.1, Figs. 4.3 and 4.5): versions that are made while the
//! program runs, for what it does then.
//!
//! When an open point fires, emitted code looks whether the version that fired there last is for
//! the key of now, and asks [`midflight_osr_open`] if not (`midflight_abi::open` has the
//! protocol). The runtime never makes it wait: where there is no version yet the function goes on,
//! and a thread of the runtime's own makes one meanwhile. What makes them, the *generator*, is a
//! shared library with LLVM in it, which is loaded when it is first needed, and never before.
//!
//! # Map
//!
//! | module | one concept |
//! |---|---|
//! | `site` | what is known of a point that has fired; what is ignored after exits |
//! | `version` | a version of it for one key, from the wish to the code |
//! | `ask` | a fire that no version is there for |
//! | `handler` | whether a handler of signals may be what runs |
//! | `job` | what the generator is asked, copied; the queue |
//! | `thread` | the thread that makes versions |
//! | `compile` | one thing at a time is made, and published |
//! | `assume` | what versions assume, and others invalidate |
//! | `custom` | generators of the program's own |
//! | `library`, `links` | the generator, and the functions of libc that lead to it |
//! | `test` | guards that fail though they hold |
//! | `events` | what the log has of versions |
//! | `image` | images with open points, and with functions that are keys |
//! | `state`, `settings` | what there is once in a process; `fork`, the end; the environment |
//!
//! # What is asked in which context
//!
//! A point may fire anywhere: in handlers of signals, in constructors, inside `malloc`, with the
//! loader's lock held. All that [`midflight_osr_open`] does by itself is fit for that: it waits for
//! nothing, takes memory from the kernel, and blocks signals meanwhile. There is one thing that is
//! not: a thread is begun by `pthread_create`, which allocates and takes locks of libc. That
//! happens once, at the first fire where no handler of signals may be what runs (`handler`). What
//! remains: the first fire of the program inside an allocator of its own. The compiler leaves
//! functions with names of allocators alone; those that they call it cannot know.
//!
//! `MIDFLIGHT_OSR_COMPILE=now` makes versions in the thread that asks, before it goes on. It is for
//! tests and measurements: where the point is inside `malloc`, or holds a lock that the generator
//! takes, it cannot work.

mod ask;
mod assume;
mod compile;
mod custom;
mod events;
mod handler;
mod image;
mod job;
mod library;
mod links;
mod settings;
mod site;
mod state;
mod test;
mod thread;
mod version;

pub use assume::midflight_invalidate;
pub use custom::midflight_osr_generator;
pub use events::put_versions;
pub use image::{midflight_osr_register_open, midflight_osr_unregister_open};
pub use state::{end, is_started};

use midflight_abi::open::{OpenMade, OpenSite};

/// The version that a point which fires with this key goes on in; null: in the code that it is in.
///
/// It is called where the site's cache is for another key or empty, in any context. It does not
/// wait, and leaves `errno` and the signal mask as they are.
///
/// # Safety
/// `site` is an open point of code that is mapped.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_osr_open(site: *mut OpenSite, key: u64) -> *const OpenMade {
    // SAFETY: the caller's.
    unsafe { site::fire(site, key) }
}

/// A guard of a version has failed, and its activation goes on in the base version.
///
/// From now on calls begin in base, and the point does not lead to the version. If the exit came
/// within 20 µs of the entry, the next 2^n − 1 fires that come to [`midflight_osr_open`] are
/// ignored, where n is the number of such exits in a row: so an activation that is led back and
/// forth between them costs less and less. A fire after these puts the version back, but after
/// eight such exits nothing does.
///
/// It may be called in any context; there is no lock in it.
///
/// # Safety
/// `site` is an open point of code that is mapped, and `made` the record of a version of it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn midflight_osr_left(site: *mut OpenSite, made: *const OpenMade) {
    // SAFETY: the caller's.
    unsafe { site::leave(site, made) };
}
