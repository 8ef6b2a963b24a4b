//! What the plugin shows the host: its entry point, and the functions that its C++ calls.

use midflight_bridge::ir::Module;
use midflight_bridge::ir::ModuleRef as LLVMModuleRef;
use midflight_bridge::pass::{
    Analyses, Defect, LLVM_MAJOR, Pass, failed, guard, internal_error, quiet_guarded_panics,
};
use midflight_passes::registry::{ExtensionPoint, by_name, for_pipeline};
use std::borrow::Cow;
use std::ffi::{c_char, c_void};
use std::sync::Once;

unsafe extern "C" {
    fn mfp_register_callbacks(pass_builder: *mut c_void);
}

/// What [`llvmGetPassPluginInfo`] returns, as LLVM lays it out.
#[repr(C)]
pub struct PassPluginLibraryInfo {
    api_version: u32,
    name: *const c_char,
    version: *const c_char,
    register: Option<unsafe extern "C" fn(*mut c_void)>,
    #[cfg(feature = "llvm22-1")]
    pre_code_gen: Option<unsafe extern "C" fn()>,
}

/// LLVM's entry point of a pass plugin.
// SAFETY: the name is LLVM's, and the signature is that of `llvmGetPassPluginInfo`.
#[unsafe(no_mangle)]
pub extern "C" fn llvmGetPassPluginInfo() -> PassPluginLibraryInfo {
    static QUIET: Once = Once::new();
    QUIET.call_once(quiet_guarded_panics);
    PassPluginLibraryInfo {
        // LLVM's `LLVM_PLUGIN_API_VERSION`
        api_version: if LLVM_MAJOR >= 22 { 2 } else { 1 },
        name: c"midflight".as_ptr(),
        version: concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast(),
        register: Some(mfp_register_callbacks),
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
unsafe fn text_of<'a>(text: *const c_char, length: usize) -> Cow<'a, str> {
    if length == 0 {
        return "".into();
    }
    // SAFETY: the caller's contract.
    String::from_utf8_lossy(unsafe { std::slice::from_raw_parts(text.cast(), length) })
}

/// # Safety
/// Called by the plugin's C++ with a string it owns.
#[unsafe(no_mangle)]
unsafe extern "C" fn mf_rust_parse_pass(name: *const c_char, length: usize) -> *mut c_void {
    // SAFETY: the caller passes a StringRef.
    let name = unsafe { text_of(name, length) };
    hand_over(guard(|| by_name(&name)))
}

/// # Safety
/// Called by the plugin's C++ with a string it owns, and a place for the extension point.
#[unsafe(no_mangle)]
unsafe extern "C" fn mf_rust_pipeline_pass(
    options: *const c_char,
    length: usize,
    point: *mut u32,
) -> *mut c_void {
    // SAFETY: the caller passes a StringRef.
    let options = unsafe { text_of(options, length) };
    let made = guard(|| for_pipeline(&options));
    let wanted = made.as_ref().map_or(ExtensionPoint::Start, |(wanted, _)| *wanted);
    // SAFETY: the caller's contract.
    unsafe { point.write(wanted as u32) };
    hand_over(made.map(|(_, pass)| Some(pass)))
}

/// # Safety
/// Called by the plugin's C++ with a pass that `hand_over` made, a live module and its analyses.
#[unsafe(no_mangle)]
unsafe extern "C" fn mf_rust_run_pass(
    pass: *mut c_void,
    module: LLVMModuleRef,
    manager: *mut c_void,
    modules: *mut c_void,
) -> bool {
    // SAFETY: the caller's contract; passes are shared, never mutated.
    let (pass, module, analyses) = unsafe {
        let pass = &*pass.cast::<Box<dyn Pass>>();
        (pass, Module::from_llvm(module), Analyses::of_host(manager, modules))
    };
    guard(|| pass.run(module, &analyses)).unwrap_or_else(|defect| {
        module.error(&format!("midflight: {}", internal_error("running a pass", &defect)));
        true
    })
}

/// # Safety
/// Called by the plugin's C++ once for each pass that `hand_over` made.
#[unsafe(no_mangle)]
unsafe extern "C" fn mf_rust_drop_pass(pass: *mut c_void) {
    // SAFETY: the caller's contract.
    let pass = unsafe { Box::from_raw(pass.cast::<Box<dyn Pass>>()) };
    // A pass that panics when it is dropped has done its work: there is nobody left to tell.
    let _ = guard(|| drop(pass));
}
