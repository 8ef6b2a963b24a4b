//! What a plugin shows the host: its entry point, and the functions that the shim calls.

use crate::ir::Module;
use crate::plugin::{
    Analyses, Defect, ExtensionPoint, GUARDED, LAST_PANIC, Pass, Passes, failed, guard,
    internal_error,
};
use crate::sys;
use crate::sys::prelude::LLVMModuleRef;
use std::ffi::{c_char, c_void};
use std::sync::OnceLock;

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

fn hand_over(pass: Result<Option<Box<dyn Pass>>, Defect>) -> *mut c_void {
    match pass.unwrap_or_else(|defect| Some(failed(internal_error("making a pass", &defect)))) {
        Some(pass) => Box::into_raw(Box::new(pass)).cast(),
        None => std::ptr::null_mut(),
    }
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
/// Called by the shim with a string it owns, and a place for the extension point.
#[unsafe(no_mangle)]
unsafe extern "C" fn mf_rust_pipeline_pass(
    options: *const c_char,
    length: usize,
    point: *mut u32,
) -> *mut c_void {
    // SAFETY: the shim passes a StringRef.
    let options = unsafe { text_of(options, length) };
    let Some(passes) = PASSES.get() else { return std::ptr::null_mut() };
    let made = guard(|| (passes.for_pipeline)(&options));
    let wanted = match &made {
        Ok(Some((wanted, _))) => *wanted,
        _ => ExtensionPoint::Start,
    };
    // SAFETY: the caller's contract.
    unsafe { point.write(wanted as u32) };
    hand_over(made.map(|made| made.map(|(_, pass)| pass)))
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
    let analyses = Analyses::of_host(manager, modules);
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
