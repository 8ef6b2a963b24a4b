//! Between the host's pass pipeline and Rust.
//!
//! The plugin crate installs its [`Passes`] once, when the host loads it, and the shim asks them
//! for passes by name or for an extension point. [`guard`] turns a panic inside a pass into an
//! ordinary compiler error.

use crate::ir::{Block, Function, Module};
use crate::sys;
use crate::sys::prelude::LLVMModuleRef;
use std::cell::RefCell;
use std::ffi::{c_char, c_void};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::OnceLock;

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
    /// For an extension point of the standard pipeline, with the options that the host was given.
    pub for_pipeline: fn(options: &str, point: ExtensionPoint) -> Option<Box<dyn Pass>>,
}

/// Where in the standard pipeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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

fn quiet_guarded_panics() {
    let former = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if GUARDED.with_borrow(|depth| *depth > 0) {
            LAST_PANIC.set(Some(info.to_string().replace('\n', " ")));
        } else {
            former(info);
        }
    }));
}

static PASSES: OnceLock<Passes> = OnceLock::new();

/// What `llvmGetPassPluginInfo` returns, as LLVM lays it out.
#[repr(C)]
pub struct PassPluginLibraryInfo {
    api_version: u32,
    name: *const c_char,
    version: *const c_char,
    register: Option<unsafe extern "C" fn(*mut c_void)>,
    #[cfg(feature = "llvm22-1")]
    pre_code_gen: Option<unsafe extern "C" fn()>,
}

/// Major version of the LLVM that this is built for.
pub const LLVM_MAJOR: u8 = if cfg!(feature = "llvm22-1") { 22 } else { 19 };

/// LLVM's `LLVM_PLUGIN_API_VERSION`
const API_VERSION: u32 = if cfg!(feature = "llvm22-1") { 2 } else { 1 };

/// Installs a plugin's passes and describes it to the host. For `llvmGetPassPluginInfo` only.
pub fn plugin_info(version: &'static std::ffi::CStr, passes: Passes) -> PassPluginLibraryInfo {
    if PASSES.set(passes).is_ok() {
        quiet_guarded_panics();
    }
    PassPluginLibraryInfo {
        api_version: API_VERSION,
        name: c"midflight".as_ptr(),
        version: version.as_ptr(),
        register: Some(sys::mfb_register_callbacks),
        #[cfg(feature = "llvm22-1")]
        pre_code_gen: None,
    }
}

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

fn hand_over(pass: Result<Option<Box<dyn Pass>>, Defect>) -> *mut c_void {
    match pass.unwrap_or_else(|defect| Some(failed(internal_error("making a pass", &defect)))) {
        Some(pass) => Box::into_raw(Box::new(pass)).cast(),
        None => std::ptr::null_mut(),
    }
}

/// The message for a panic inside the plugin.
pub fn internal_error(doing: &str, defect: &Defect) -> String {
    format!(
        "internal error while {doing}: {}; this is a defect of midflight, please report it",
        defect.message
    )
}

/// # Safety
/// `text` is null with length 0, or points to `length` bytes that live as long as the result.
unsafe fn text_of<'a>(text: *const c_char, length: usize) -> std::borrow::Cow<'a, str> {
    if length == 0 {
        return "".into();
    }
    // SAFETY: the caller's contract.
    String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(text.cast(), length) })
}

/// # Safety
/// Called by the shim with a string it owns.
#[unsafe(no_mangle)]
unsafe extern "C" fn mf_rust_parse_pass(name: *const c_char, length: usize) -> *mut c_void {
    // SAFETY: the shim passes a StringRef.
    let name = unsafe { text_of(name, length) };
    let Some(passes) = PASSES.get() else { return std::ptr::null_mut() };
    hand_over(guard(|| (passes.by_name)(&name)))
}

/// # Safety
/// Called by the shim with a string it owns.
#[unsafe(no_mangle)]
unsafe extern "C" fn mf_rust_pipeline_pass(
    options: *const c_char,
    length: usize,
    point: u32,
) -> *mut c_void {
    // SAFETY: the shim passes a StringRef.
    let options = unsafe { text_of(options, length) };
    let Some(passes) = PASSES.get() else { return std::ptr::null_mut() };
    let point = match point {
        0 => ExtensionPoint::Start,
        1 => ExtensionPoint::Inlined,
        _ => ExtensionPoint::Last,
    };
    hand_over(guard(|| (passes.for_pipeline)(&options, point)))
}

/// # Safety
/// Called by the shim with a pass that `hand_over` made, a live module and its analyses.
#[unsafe(no_mangle)]
unsafe extern "C" fn mf_rust_run_pass(
    pass: *mut c_void,
    module: LLVMModuleRef,
    manager: *mut c_void,
    modules: *mut c_void,
) -> bool {
    // SAFETY: the caller's contract; passes are shared, never mutated.
    let (pass, module) = unsafe { (&*pass.cast::<Box<dyn Pass>>(), Module::from_raw(module)) };
    let analyses = Analyses { manager, modules, lifetime: PhantomData };
    guard(|| pass.run(module, &analyses)).unwrap_or_else(|defect| {
        module.error(&format!("midflight: {}", internal_error("running a pass", &defect)));
        true
    })
}

/// # Safety
/// Called by the shim once for each pass that `hand_over` made.
#[unsafe(no_mangle)]
unsafe extern "C" fn mf_rust_drop_pass(pass: *mut c_void) {
    // SAFETY: the caller's contract.
    let pass = unsafe { Box::from_raw(pass.cast::<Box<dyn Pass>>()) };
    // A pass that panics when it is dropped has done its work: there is nobody left to tell.
    let _ = guard(|| drop(pass));
}

/// A function of a module that the host lends, by name; for messages.
pub fn function_named<'m>(module: Module<'m>, name: &str) -> Option<Function<'m>> {
    module.functions().find(|f| f.name() == name)
}
