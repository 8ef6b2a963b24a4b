//! Between the host's pass pipeline and Rust.
//!
//! The plugin crate installs its [`Passes`] once, when the host loads it, and the shim asks them
//! for passes by name or for an extension point. [`guard`] turns a panic inside a pass into an
//! ordinary compiler error.

use crate::ir::{Block, Function, Module};
use crate::sys;
use std::cell::RefCell;
use std::ffi::c_void;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};

#[cfg(feature = "plugin")]
pub use crate::entry::{PassPluginLibraryInfo, plugin_info};

/// A pass over modules.
pub trait Pass {
    /// Runs over a module. Returns true if it changed anything.
    fn run(&self, module: Module<'_>, analyses: &Analyses<'_>) -> bool;
}

/// How a plugin makes its passes.
#[derive(Clone, Copy)]
pub struct Passes {
    /// For a name in a pipeline text, with its parameters, as `path-profile-gen<k=8>`. None if the
    /// name is not the plugin's.
    pub by_name: fn(&str) -> Option<Box<dyn Pass>>,
    /// For the standard pipeline, with the options that the host was given: the pass, and where it
    /// runs, if there is one. Asked for once a pipeline.
    pub for_pipeline: fn(options: &str) -> Option<PlacedPass>,
}

/// A pass, and where in the standard pipeline it runs
pub type PlacedPass = (ExtensionPoint, Box<dyn Pass>);

/// Where in the standard pipeline; the shim knows them by their numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum ExtensionPoint {
    /// LLVM's `PipelineStart`: what the front end made, before anything is optimized
    Start,
    /// There too, behind passes that inline small functions
    Inlined,
    /// LLVM's `OptimizerLast`: after all optimizations of the module
    Last,
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
    #[cfg(feature = "plugin")]
    pub(crate) fn of_host(manager: *mut c_void, modules: *mut c_void) -> Self {
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
    pub(crate) static LAST_PANIC: RefCell<Option<String>> = const { RefCell::new(None) };
    pub(crate) static GUARDED: RefCell<u32> = const { RefCell::new(0) };
}

/// Runs `body`; a panic in it becomes a [`Defect`] and prints nothing.
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

/// A function of a module that the host lends, by name; for messages.
pub fn function_named<'m>(module: Module<'m>, name: &str) -> Option<Function<'m>> {
    module.functions().find(|f| f.name() == name)
}
