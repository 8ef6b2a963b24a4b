//! The generator: a shared library with LLVM in it.
//!
//! **The end of the program.** LLVM has objects that are destroyed when the program ends, some of
//! which are made while it compiles: no function that the runtime asks to be called at the end
//! would surely come before that. So the library has a `__cxa_atexit` of its own that does nothing,
//! and is loaded so that LLVM finds that one first (`RTLD_DEEPBIND`), and nothing is waited for.
//! Sanitizers do not allow that; under them, and for other generators, the runtime asks to be
//! called after it has loaded the library, and once more after the first version was made, and
//! waits then for what is being made ([`state::end`]).

use crate::file::text::Text;
use crate::message::{self, Decimal};
use crate::osr::open::compile;
use crate::osr::open::links::{self, Loader};
use crate::osr::open::state::{self, OPEN};
use crate::process::loader::Found;
use crate::process::sanitizer;
use crate::process::signal::Blocked;
use core::ffi::{CStr, c_void};
use core::sync::atomic::{AtomicBool, Ordering};
use midflight_abi::open::{OPEN_COMPILE_SYMBOL, OPEN_STAYS_SYMBOL, OpenAnswer, OpenRequest};

/// What a generator exports.
pub type Generate = unsafe extern "C" fn(*const OpenRequest, *mut OpenAnswer);

/// Most generators of a process: each is for one LLVM.
const MOST_GENERATORS: usize = 4;

/// What is known of the generators for each LLVM that was asked for; `None` of one that there is
/// none of.
pub struct Generators([Option<(u32, Option<Generate>)>; MOST_GENERATORS]);

impl Generators {
    pub const fn new() -> Self {
        Self([None; MOST_GENERATORS])
    }

    fn of(&self, llvm: u32) -> Option<Option<Generate>> {
        let known = self.0.iter().flatten().find(|known| known.0 == llvm);
        known.map(|&(_, generate)| generate)
    }

    /// Whether there is known to be none.
    pub fn is_missing(&self, llvm: u32) -> bool {
        match self.of(llvm) {
            Some(generate) => generate.is_none(),
            None => self.0.iter().all(Option::is_some),
        }
    }

    fn note(&mut self, llvm: u32, generate: Option<Generate>) {
        if let Some(free) = self.0.iter_mut().find(|known| known.is_none()) {
            *free = Some((llvm, generate));
        }
    }
}

/// The generator for an LLVM, loaded if it is not yet. One thread at a time calls this.
pub fn generator(llvm: u32) -> Option<Generate> {
    let mut name = <Text>::new();
    {
        let _signals = Blocked::new();
        let open = OPEN.lock()?;
        if let Some(known) = open.generators.of(llvm) {
            return known;
        }
        _ = name.push(open.settings.generator.bytes());
    }
    if name.bytes().is_empty() {
        _ = name.push(b"libmidflight_jit-");
        _ = name.push(Decimal::new(llvm.into()).bytes());
        _ = name.push(b".so");
    }
    let generate = links::loader().and_then(|loader| load(&loader, &name));
    let _signals = Blocked::new();
    OPEN.lock()?.generators.note(llvm, generate);
    generate
}

fn load(loader: &Loader, name: &Text) -> Option<Generate> {
    let mut symbol = Text::<64>::new();
    symbol.push(OPEN_COMPILE_SYMBOL.as_bytes()).ok()?;
    // SAFETY: the texts are C strings. The symbol is of the type that the ABI says.
    unsafe {
        let first_its_own = if sanitizer::is_there() { 0 } else { libc::RTLD_DEEPBIND };
        let flags = libc::RTLD_NOW | libc::RTLD_LOCAL | first_its_own;
        let library = (loader.open)(name.c_str().as_ptr(), flags);
        if library.is_null() {
            let error = (loader.error)();
            let why = if error.is_null() { c"no reason is known" } else { CStr::from_ptr(error) };
            tell_of_library(name, why.to_bytes());
            return None;
        }
        let generate = (loader.symbol)(library, symbol.c_str().as_ptr());
        symbol.clear();
        symbol.push(OPEN_STAYS_SYMBOL.as_bytes()).ok()?;
        let stays = !(loader.symbol)(library, symbol.c_str().as_ptr()).is_null();
        if !stays || first_its_own == 0 {
            compile::note_that_it_goes();
        }
        if generate.is_null() {
            tell_of_library(name, b"it does not export midflight_jit_compile");
            return None;
        }
        links::call_at_exit(end);
        Some(core::mem::transmute::<*mut c_void, Generate>(generate))
    }
}

extern "C" fn end(_: *mut c_void) {
    state::end();
}

/// Called after each version that was made.
pub fn note_use() {
    static USED: AtomicBool = AtomicBool::new(false);
    if !USED.swap(true, Ordering::Relaxed) {
        links::call_at_exit(end);
    }
}

/// Says of a program that nothing can be loaded into that there will be no versions, once.
pub fn tell_of_no_loader() {
    tell(&[b"the program has no dynamic loader; do not link it statically"]);
}

/// The same, where the thread cannot be begun.
pub fn tell_of_no_thread() {
    tell(&[
        b"the thread for that cannot be begun; raise the limits on threads and address space (ulimit -u, ulimit -v), and link the program with threads",
    ]);
}

/// Says that there is no room for the code of more versions, once.
pub fn tell_of_no_room() {
    tell(&[b"all memory for their code is in use; raise MIDFLIGHT_JIT_MEMORY"]);
}

/// Says that a library is none, and why.
fn tell_of_library(name: &Text, why: &[u8]) {
    tell(&[
        b"cannot load '",
        name.bytes(),
        b"': ",
        why,
        b"; install midflight's code generator, or set MIDFLIGHT_JIT to its file",
    ]);
}

/// Says in a line, once, why there will be no versions.
#[inline(never)]
fn tell(why: &[&[u8]]) {
    static TOLD: AtomicBool = AtomicBool::new(false);
    const MOST: usize = 6;
    if !TOLD.swap(true, Ordering::Relaxed) {
        let mut parts: [&[u8]; MOST] = [b""; MOST];
        let begin: &[u8] = b"no versions are made at run time: ";
        let texts = [begin].into_iter().chain(why.iter().copied());
        parts.iter_mut().zip(texts).for_each(|(part, text)| *part = text);
        message::print(&parts);
    }
}

/// Keeps this library from being unloaded, if it is one: its thread runs in it. Called in the
/// constructor of an image, where the calling thread has the loader's lock.
pub fn pin() {
    let found = Found::containing(pin as *const () as usize);
    let mut name = <Text>::new();
    if found.is_program || name.push(found.path()).is_err() {
        return;
    }
    if let Some(loader) = links::loader() {
        // SAFETY: the name is a C string; the library is loaded already.
        unsafe {
            (loader.open)(
                name.c_str().as_ptr(),
                libc::RTLD_NOW | libc::RTLD_NOLOAD | libc::RTLD_NODELETE,
            )
        };
    }
}
