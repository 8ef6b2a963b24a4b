//! Passes, and what the host's pipeline gives them. [`guard`] turns a panic inside a pass into an
//! ordinary compiler error.

use crate::ir::{Block, Module};
use crate::sys;
use std::cell::RefCell;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A pass over modules.
pub trait Pass {
    /// Runs over a module. Returns true if it changed anything.
    fn run(&self, module: Module<'_>, analyses: &Analyses<'_>) -> bool;
}

/// The host's analyses.
pub struct Analyses<'m> {
    pub(crate) manager: *mut c_void,
    pub(crate) modules: *mut c_void,
    lifetime: PhantomData<&'m ()>,
}

/// What LLVM estimates of a block.
#[derive(Clone, Debug)]
pub struct BlockWeights {
    /// For each successor of the terminator, its probability as a numerator over 2^31
    pub probabilities: Vec<u32>,
    /// Frequency relative to the function's entry, in 1/1024
    pub frequency: u64,
}

impl Analyses<'_> {
    /// What the host's managers of functions and of modules have.
    ///
    /// # Safety
    /// Both are LLVM's analysis managers for what is run over, and live as long as the result.
    pub unsafe fn of_host(manager: *mut c_void, modules: *mut c_void) -> Self {
        Analyses { manager, modules, lifetime: PhantomData }
    }

    /// LLVM's estimates for a block.
    pub fn block_weights(&self, block: Block<'_>) -> BlockWeights {
        let mut probabilities = vec![0; block.successors().len()];
        // SAFETY: the manager is the host's and alive while the pass runs; the array has a place
        // for each successor.
        let frequency =
            unsafe { sys::mfb_block_weights(self.manager, block.0, probabilities.as_mut_ptr()) };
        BlockWeights { probabilities, frequency }
    }
}

/// A panic that [`guard`] caught.
#[derive(Debug)]
pub struct Defect {
    /// The panic's message and place
    pub message: String,
}

thread_local! {
    static LAST_PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
    static GUARDED: RefCell<u32> = const { RefCell::new(0) };
}

/// Has panics in [`guard`] leave their message to the [`Defect`], and print nothing. For a plugin,
/// once: the hook of panics is the whole process's.
pub fn quiet_guarded_panics() {
    let former = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if GUARDED.with_borrow(|depth| *depth > 0) {
            LAST_PANIC.set(Some(info.to_string().replace('\n', " ")));
        } else {
            former(info);
        }
    }));
}

/// Runs `body`; a panic in it becomes a [`Defect`].
///
/// # Errors
/// If `body` panics.
pub fn guard<R>(body: impl FnOnce() -> R) -> Result<R, Defect> {
    GUARDED.with_borrow_mut(|depth| *depth += 1);
    let result = catch_unwind(AssertUnwindSafe(body));
    GUARDED.with_borrow_mut(|depth| *depth -= 1);
    result.map_err(|_| Defect {
        message: LAST_PANIC.take().unwrap_or_else(|| "unknown cause".to_string()),
    })
}

/// Major version of the LLVM that this is built for.
pub const LLVM_MAJOR: u8 = if cfg!(feature = "llvm22-1") { 22 } else { 19 };

/// A pass that does nothing but report why it cannot be made.
struct Failed(String);

impl Pass for Failed {
    fn run(&self, module: Module<'_>, _: &Analyses<'_>) -> bool {
        module.error(&format!("midflight: {}", self.0));
        false
    }
}

/// A pass that fails with `message` when it runs: how bad options become a compiler error.
pub fn failed(message: String) -> Box<dyn Pass> {
    Box::new(Failed(message))
}

/// The message for a panic inside the plugin.
pub fn internal_error(doing: &str, defect: &Defect) -> String {
    format!(
        "internal error while {doing}: {}; this is a defect of midflight, please report it",
        defect.message
    )
}
